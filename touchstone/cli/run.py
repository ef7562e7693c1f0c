"""``touchstone run``: ask models the prompts of a suite."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from touchstone.bundle import Bundle, BundleWriter, create_bundle, is_bundle, write_bundle
from touchstone.cli.common import (
    Limits,
    counting_progress,
    endpoint_options,
    hardware,
    open_endpoint,
    parameter_option,
    parse_parameters,
    say,
    shown,
    timestamp,
    utc_now,
)
from touchstone.endpoints import Endpoint, public_url
from touchstone.errors import UsageError
from touchstone.model_specs import ModelSpec, load_model_specs
from touchstone.models import Answer, ModelEntry, Suite, Weights
from touchstone.run import Plan, Target, expand_repeats, needs_asking, plan_run, run
from touchstone.suite import LoadedSuite, load_suite

AnswerKey = tuple[str, str, str]


@dataclass(frozen=True)
class RunOptions:
    """What a run was asked to do, apart from the models."""

    prompts: tuple[str, ...] | None
    repeat: int
    dry_run: bool
    redo: bool
    base_url: str | None
    api_key_env: str | None
    limits: Limits


@click.command(
    "run",
    epilog="Example: touchstone run office-en --model llama3.2:3b "
    "--base-url http://127.0.0.1:11434/v1 -o bundles/office-2026-12",
)
@click.argument("suite_name", metavar="SUITE")
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME",
    help="Model to ask, sent verbatim; local:smollm2-135m is embedded. Repeatable.",
)
@click.option("--variant", default="default", show_default=True, help="Name of the configuration.")
@click.option(
    "--config",
    "config_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Models file (YAML): several models and variants with their parameters.",
)
@click.option(
    "-o",
    "--output",
    "output",
    required=True,
    type=click.Path(path_type=Path),
    metavar="BUNDLE",
    help="Bundle folder; the same command resumes it.",
)
@click.option("--system", help="System message of this variant.")
@click.option("--temperature", type=click.FloatRange(0), help="Sampling temperature.")
@click.option("--top-p", type=click.FloatRange(0, 1), help="Nucleus sampling.")
@click.option("--seed", type=int, help="Seed of the sampling.")
@click.option(
    "--max-tokens",
    type=click.IntRange(1),
    help="Longest answer, in tokens, where the prompt sets none.",
)
@click.option("--prompts", metavar="IDS", help="Only these prompts, e.g. E1,C3,group:D.")
@click.option("--limit", type=click.IntRange(1), help="Only the first N prompts.")
@click.option(
    "--repeat",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Ask everything k times; repeats are variants NAME#k.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be asked, and stop.")
@click.option(
    "--redo",
    is_flag=True,
    help="Ask again what is finished; dependent verdicts and reports are dropped.",
)
@parameter_option
@endpoint_options
def command(
    suite_name: str,
    output: Path,
    models: tuple[str, ...],
    config_file: Path | None,
    prompts: str | None,
    limit: int | None,
    **options: Any,
) -> int:
    """Ask models the prompts of SUITE (a path, or the name of one that ships).

    Every answer is on disk before the next is asked for. The same command goes on after a crash
    or Ctrl-C and asks nothing twice. A failed answer is recorded with its error (exit code 5).
    """
    suite = load_suite(suite_name)
    specs = _specs(models, config_file, options)
    run_options = RunOptions(
        prompts=_chosen(suite.suite, prompts, limit),
        repeat=options["repeat"],
        dry_run=options["dry_run"],
        redo=options["redo"],
        base_url=options["base_url"],
        api_key_env=options["api_key_env"],
        limits=Limits(
            options["concurrency"], options["rpm"], options["timeout"], options["max_retries"]
        ),
    )
    if run_options.dry_run:
        return _dry_run(suite, specs, output, run_options)
    return run_suite(suite, specs, output, run_options)


def _specs(
    models: tuple[str, ...], config_file: Path | None, options: dict[str, Any]
) -> list[ModelSpec]:
    if bool(models) == (config_file is not None):
        raise UsageError(
            "Say which models to ask: either --model NAME or --config FILE.",
            hint="An embedded model to try it with: --model local:smollm2-135m",
        )
    if config_file is not None:
        return load_model_specs(config_file)
    names = ("temperature", "top_p", "seed", "max_tokens")
    parameters = {name: options[name] for name in names if options[name] is not None}
    parameters |= parse_parameters(options["parameters"])
    return [
        ModelSpec(
            model=name, variant=options["variant"], parameters=parameters, system=options["system"]
        )
        for name in dict.fromkeys(models)
    ]


def _chosen(suite: Suite, prompts: str | None, limit: int | None) -> tuple[str, ...] | None:
    """Return the ids of the prompts to ask, or None for all."""
    if prompts is None and limit is None:
        return None
    chosen = [prompt.id for prompt in suite.prompts]
    if prompts is not None:
        wanted = {part.strip() for part in prompts.split(",") if part.strip()}
        known = {f"group:{prompt.group}" for prompt in suite.prompts} | set(chosen)
        unknown = sorted(wanted - known)
        if unknown:
            raise UsageError(
                f"The suite {suite.id} has no prompt {', '.join(unknown)}.",
                hint=f"It has {', '.join(chosen)}.",
            )
        chosen = [p.id for p in suite.prompts if {p.id, f"group:{p.group}"} & wanted]
    return tuple(chosen[:limit])


def _dry_run(
    suite: LoadedSuite, specs: Sequence[ModelSpec], output: Path, options: RunOptions
) -> int:
    find = Bundle.open(output).answers.get if is_bundle(output) else lambda key: None
    wanted = options.prompts or tuple(prompt.id for prompt in suite.suite.prompts)
    for spec in specs:
        for entry in expand_repeats([_entry(spec, {}, None)], options.repeat):
            done = (
                0
                if options.redo
                else sum(not needs_asking(find((*entry.pair, prompt_id))) for prompt_id in wanted)
            )
            left = len(wanted) - done
            say(f"{shown(entry.model)} ({shown(entry.variant)}): {left} to ask, {done} done")
    return 0


def run_suite(
    suite: LoadedSuite, specs: Sequence[ModelSpec], output: Path, options: RunOptions
) -> int:
    """Ask everything that is open, write it to the bundle, seal it; return the exit code."""
    with write_bundle(output) as writer:
        failed, asked = asyncio.run(_run(suite, specs, writer, options))
        writer.compact()
        writer.seal()
        total = len(writer.bundle.answers)
    say(
        f"{output}: {asked} asked, {total} answers in the bundle"
        + (f", {failed} failed (the same command tries passing failures again)" if failed else "")
        + f". Next: touchstone judge {output} --judge NAME"
    )
    return 5 if failed else 0


async def _run(
    suite: LoadedSuite, specs: Sequence[ModelSpec], writer: BundleWriter, options: RunOptions
) -> tuple[int, int]:
    async with contextlib.AsyncExitStack() as stack:
        targets = await _open_targets(specs, options, stack)
        bundle = create_bundle(
            writer, suite, [target.entry for target in targets], created=timestamp()
        )
        mended = writer.repair_tails()
        if mended:
            say(f"A crash had cut off the last line of {', '.join(mended)}; it was dropped.")
            bundle = writer.bundle
        bundle.answers.require_clean("Mend these lines by hand, or write to a new bundle.")
        if options.redo:
            _drop(writer, targets, options.prompts, suite.suite)
            bundle = writer.bundle
        plans = plan_run(suite.suite, targets, bundle.answers.get, options.prompts)
        writer.unseal()
        return await _ask_all(suite.suite, plans, bundle, writer)


async def _ask_all(
    suite: Suite, plans: Sequence[Plan], bundle: Bundle, writer: BundleWriter
) -> tuple[int, int]:
    earlier = bundle.answers
    failed = asked = 0
    stale: list[Answer] = []
    with counting_progress() as progress:
        bars = {
            plan.target.entry.pair: progress.add_task(
                shown(" ".join(plan.target.entry.pair)), total=plan.size, note=""
            )
            for plan in plans
            if plan.size
        }
        failures = dict.fromkeys(bars, 0)
        async for answer in run(suite, plans, earlier.get, now=utc_now):
            writer.append_answer(answer)
            asked += 1
            if answer.error is not None:
                failed += 1
                failures[answer.pair] += 1
            if (*answer.pair, answer.prompt_id) in earlier:
                stale.append(answer)
            count = failures[answer.pair]
            progress.update(bars[answer.pair], advance=1, note=f"{count} failed" if count else "")
    _drop_judgements(writer, {(*a.pair, a.prompt_id) for a in stale if a.error is None})
    return failed, asked


async def _open_targets(
    specs: Sequence[ModelSpec], options: RunOptions, stack: contextlib.AsyncExitStack
) -> list[Target]:
    """Open every endpoint once (variants of an embedded model share its server)."""
    local: dict[str, Endpoint] = {}
    targets = []
    for spec in specs:
        endpoint = local.get(spec.local_id or "")
        if endpoint is None:
            endpoint = await stack.enter_async_context(
                open_endpoint(
                    spec, options.limits, base_url=options.base_url, api_key_env=options.api_key_env
                )
            )
            if spec.local_id is not None:
                local[spec.local_id] = endpoint
        facts = await endpoint.describe()
        width = 1 if spec.local_id else spec.concurrency or options.limits.concurrency or 2
        entries = expand_repeats([_entry(spec, facts, options.base_url)], options.repeat)
        targets += [Target(entry, endpoint, width) for entry in entries]
    return targets


def _entry(spec: ModelSpec, facts: Any, base_url: str | None) -> ModelEntry:
    url = spec.base_url or base_url
    return ModelEntry(
        model=spec.name,
        variant=spec.variant,
        label=spec.label,
        endpoint="embedded" if spec.local_id else public_url(url) if url else None,
        parameters={**spec.parameters, **spec.extra_body},
        system=spec.system,
        weights=Weights.model_validate(facts["weights"]) if facts.get("weights") else None,
        engine=facts.get("engine"),
        hardware=hardware() if spec.local_id else None,
    )


def _drop(
    writer: BundleWriter, targets: Iterable[Target], prompts: tuple[str, ...] | None, suite: Suite
) -> None:
    """Forget finished answers that are to be asked again, and what was judged from them."""
    wanted = prompts or tuple(prompt.id for prompt in suite.prompts)
    keys = {(*target.entry.pair, prompt_id) for target in targets for prompt_id in wanted}
    writer.keep(answers=[a for a in writer.bundle.answers if (*a.pair, a.prompt_id) not in keys])
    _drop_judgements(writer, keys)


def _drop_judgements(writer: BundleWriter, keys: set[AnswerKey]) -> None:
    bundle = writer.bundle
    pairs = {key[:2] for key in keys}
    verdicts = [v for v in bundle.verdicts if (*v.pair, v.prompt_id) not in keys]
    reports = [r for r in bundle.reports if r.pair not in pairs]
    gone_verdicts = len(bundle.verdicts) - len(verdicts)
    gone_reports = [r.pair for r in bundle.reports if r.pair in pairs]
    if gone_verdicts or gone_reports:
        writer.keep(verdicts=verdicts, reports=reports)
        names = ", ".join(shown(f"{model} ({variant})") for model, variant in gone_reports)
        say(
            f"Dropped, because the answers are new: {gone_verdicts} verdicts"
            + (f" and the reports of {names}" if names else "")
            + ". Judge again."
        )
