"""``touchstone run``: ask models the prompts of a suite."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

from touchstone.bundle import Bundle, BundleWriter, create_bundle, is_bundle, write_bundle
from touchstone.cli.common import (
    Limits,
    base_url_for,
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
from touchstone.endpoints import Endpoint, UnreachableEndpoint, public_url
from touchstone.errors import BundleError, EndpointError, UsageError
from touchstone.model_specs import ModelSpec, load_model_specs
from touchstone.models import Answer, ModelEntry, Suite, Weights
from touchstone.run import (
    AnswerKey,
    FindAnswer,
    Plan,
    Target,
    expand_repeats,
    needs_asking,
    open_chains,
    plan_run,
    run,
    with_followers,
)
from touchstone.suite import LoadedSuite, load_suite


@dataclass(frozen=True)
class RunOptions:
    """What a run was asked to do, apart from the models."""

    prompts: tuple[str, ...]
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
@click.option("--variant", help="Name of the configuration.", show_default="default")
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

    Every answer is on disk as soon as it is there. The same command goes on after a crash or
    Ctrl-C and asks nothing twice. A failed answer is recorded with its error (exit code 5).
    """
    suite = load_suite(suite_name)
    specs = _specs(models, config_file, options)
    chosen = _chosen(suite.suite, prompts, limit)
    run_options = RunOptions(
        prompts=with_followers(suite.suite, chosen) if options["redo"] else chosen,
        repeat=options["repeat"],
        dry_run=options["dry_run"],
        redo=options["redo"],
        base_url=options["base_url"],
        api_key_env=options["api_key_env"],
        limits=Limits(
            options["concurrency"], options["rpm"], options["timeout"], options["max_retries"]
        ),
    )
    _refuse_twins(specs, run_options)
    if run_options.dry_run:
        return _dry_run(suite, specs, output, run_options)
    code = run_suite(suite, specs, output, run_options)
    say(f"Next: touchstone judge {output} --judge NAME")
    return code


def _specs(
    models: tuple[str, ...], config_file: Path | None, options: dict[str, Any]
) -> list[ModelSpec]:
    if bool(models) == (config_file is not None):
        raise UsageError(
            "Say which models to ask: either --model NAME or --config FILE.",
            hint="An embedded model to try it with: --model local:smollm2-135m",
        )
    names = ("temperature", "top_p", "seed", "max_tokens")
    parameters = {name: options[name] for name in names if options[name] is not None}
    parameters |= parse_parameters(options["parameters"])
    if config_file is not None:
        if parameters or options["variant"] is not None or options["system"] is not None:
            raise UsageError("Variant, system message and parameters stand in the --config FILE.")
        return load_model_specs(config_file)
    variant = "default" if options["variant"] is None else options["variant"]
    if not all(name.strip() for name in (*models, variant)):
        raise UsageError("--model and --variant must not be empty.")
    return [
        ModelSpec(model=name, variant=variant, parameters=parameters, system=options["system"])
        for name in models
    ]


def _chosen(suite: Suite, prompts: str | None, limit: int | None) -> tuple[str, ...]:
    """Return the ids of the prompts to ask, in suite order."""
    chosen = [prompt.id for prompt in suite.prompts]
    if prompts is not None:
        wanted = {part.strip() for part in prompts.split(",") if part.strip()}
        known = {f"group:{prompt.group}" for prompt in suite.prompts} | set(chosen)
        unknown = sorted(wanted - known)
        if unknown or not wanted:
            raise UsageError(
                f"The suite {suite.id} has no prompt {', '.join(unknown) or repr(prompts)}.",
                hint=f"It has {', '.join(chosen)}.",
            )
        chosen = [p.id for p in suite.prompts if {p.id, f"group:{p.group}"} & wanted]
    return tuple(chosen[:limit])


def _entries(
    spec: ModelSpec, options: RunOptions, facts: Mapping[str, Any] = MappingProxyType({})
) -> list[ModelEntry]:
    """Return what the bundle says about a model and its repeats; ``facts`` as far as known."""
    url = base_url_for(spec, options.base_url)
    parameters = {**spec.parameters, **spec.extra_body}
    entry = ModelEntry(
        model=spec.name,
        variant=spec.variant,
        label=spec.label,
        endpoint="embedded" if spec.local_id else public_url(url) if url else None,
        parameters={name: value for name, value in parameters.items() if value is not None},
        system=spec.system,
        weights=Weights.model_validate(facts["weights"]) if facts.get("weights") else None,
        engine=facts.get("engine"),
        hardware=hardware() if spec.local_id else None,
    )
    return expand_repeats([entry], options.repeat)


def _refuse_twins(specs: Sequence[ModelSpec], options: RunOptions) -> None:
    seen: set[tuple[str, str]] = set()
    for entry in (entry for spec in specs for entry in _entries(spec, options)):
        if entry.pair in seen:
            raise UsageError(
                f"{entry.model} ({entry.variant}) is asked for twice.",
                hint="Give each configuration a variant name of its own.",
            )
        seen.add(entry.pair)


def _dry_run(
    suite: LoadedSuite, specs: Sequence[ModelSpec], output: Path, options: RunOptions
) -> int:
    bundle = Bundle.open(output) if is_bundle(output) else None
    if bundle is not None and bundle.suite_sha256 != suite.sha256:
        raise BundleError(f"{output} was made with another version of suite {suite.suite.id!r}.")
    find = bundle.answers.get if bundle is not None and not options.redo else _nothing
    for entry in (entry for spec in specs for entry in _entries(spec, options)):
        chains = open_chains(suite.suite, entry, find, options.prompts)
        left = sum(len(chain) for chain in chains)
        done = sum(not needs_asking(find((*entry.pair, one))) for one in options.prompts)
        say(f"{shown(entry.model)} ({shown(entry.variant)}): {left} to ask, {done} done")
    return 0


def _nothing(key: AnswerKey) -> Answer | None:
    return None


def run_suite(
    suite: LoadedSuite, specs: Sequence[ModelSpec], output: Path, options: RunOptions
) -> int:
    """Ask everything that is open, write it to the bundle, seal it; return the exit code."""
    is_new = not output.exists()
    try:
        with write_bundle(output) as writer:
            asked = asyncio.run(_run(suite, specs, writer, options))
            writer.compact()
            writer.seal()
            bundle = writer.bundle
    finally:
        if is_new:
            # Nothing came of it: no empty folder stays.
            with contextlib.suppress(OSError):
                output.rmdir()
    pairs = {entry.pair for spec in specs for entry in _entries(spec, options)}
    errors = [
        answer.error
        for answer in bundle.answers
        if answer.error and answer.pair in pairs and answer.prompt_id in options.prompts
    ]
    again = sum(error.retryable for error in errors)
    failed = f", {len(errors)} failed (the same command asks {again} of them again, --redo all)"
    say(
        f"{output}: {asked} asked, {len(bundle.answers)} answers in the bundle"
        f"{failed if errors else ''}"
    )
    return 5 if errors else 0


async def _run(
    suite: LoadedSuite, specs: Sequence[ModelSpec], writer: BundleWriter, options: RunOptions
) -> int:
    find = _find_answers(suite, specs, writer, options)
    async with contextlib.AsyncExitStack() as stack:
        targets = await _open_targets(suite.suite, specs, find, options, stack)
        entries = [target.entry for target in targets]
        _refuse_other_settings(writer, entries)
        create_bundle(writer, suite, entries, created=timestamp())
        if not targets:
            return 0
        writer.unseal()
        if options.redo:
            _drop_answers(
                writer, {(*entry.pair, one) for entry in entries for one in options.prompts}
            )
        bundle = writer.bundle
        plans = plan_run(suite.suite, targets, bundle.answers.get, options.prompts)
        return await _ask_all(suite.suite, plans, bundle, writer)


def _find_answers(
    suite: LoadedSuite, specs: Sequence[ModelSpec], writer: BundleWriter, options: RunOptions
) -> FindAnswer:
    """Return what finds the answers that stand; mends and checks the bundle, if there is one."""
    if not is_bundle(writer.path):
        return _nothing
    create_bundle(writer, suite, (), created=timestamp())
    mended = writer.repair_tails()
    if mended:
        say(f"A crash had cut off the last line of {', '.join(mended)}; it was dropped.")
    bundle = writer.bundle
    for file in (bundle.answers, bundle.verdicts, bundle.reports):
        file.require_clean("Mend these lines by hand, or write to a new bundle.")
    _refuse_other_settings(writer, [e for spec in specs for e in _entries(spec, options)])
    return _nothing if options.redo else bundle.answers.get


def _refuse_other_settings(writer: BundleWriter, entries: Iterable[ModelEntry]) -> None:
    """Raise BundleError if a (model, variant) would be asked in another way than before."""
    if not is_bundle(writer.path):
        return
    present = {entry.pair: entry for entry in writer.bundle.manifest.models}
    for entry in entries:
        known = present.get(entry.pair)
        change = known and _change(known, entry)
        if change:
            raise BundleError(
                f"{writer.path} holds {entry.model} ({entry.variant}) with other settings: "
                f"{change}.",
                hint="Give this configuration a name of its own with --variant.",
            )


def _change(known: ModelEntry, entry: ModelEntry) -> str:
    """Return what differs between two descriptions of a model, or an empty string."""
    if known.parameters != entry.parameters:
        return f"parameters {known.parameters} there, {entry.parameters} now"
    if known.system != entry.system:
        return f"system message {known.system!r} there, {entry.system!r} now"
    before, now = known.weights, entry.weights
    if before and now and before.sha256 and now.sha256 and before.sha256 != now.sha256:
        return f"weights {before.sha256[:12]}… there, {now.sha256[:12]}… now"
    return ""


async def _open_targets(
    suite: Suite,
    specs: Sequence[ModelSpec],
    find: FindAnswer,
    options: RunOptions,
    stack: contextlib.AsyncExitStack,
) -> list[Target]:
    """Open the endpoints that have something to do; variants of an embedded model share one."""
    local: dict[str, Endpoint] = {}
    targets = []
    for spec in specs:
        if not any(
            open_chains(suite, entry, find, options.prompts) for entry in _entries(spec, options)
        ):
            continue
        endpoint = local.get(spec.local_id or "")
        if endpoint is None:
            endpoint = await _open(spec, options, stack)
            if spec.local_id is not None:
                local[spec.local_id] = endpoint
        width = 1 if spec.local_id else spec.concurrency or options.limits.concurrency or 2
        entries = _entries(spec, options, await endpoint.describe())
        targets += [Target(entry, endpoint, width) for entry in entries]
    return targets


async def _open(spec: ModelSpec, options: RunOptions, stack: contextlib.AsyncExitStack) -> Endpoint:
    opening = open_endpoint(
        spec, options.limits, base_url=options.base_url, api_key_env=options.api_key_env
    )
    try:
        return await stack.enter_async_context(opening)
    except EndpointError as failure:
        if spec.local_id is not None:
            raise
        # Nothing listens there: said once, and recorded for every prompt without trying each.
        say(f"{shown(spec.model)}: {failure}")
        return UnreachableEndpoint(spec.model, failure)


async def _ask_all(
    suite: Suite, plans: Sequence[Plan], bundle: Bundle, writer: BundleWriter
) -> int:
    asked = 0
    void = VoidJudgements(writer)
    with void, counting_progress() as progress:
        bars = {
            plan.target.entry.pair: progress.add_task(
                shown(" ".join(plan.target.entry.pair)), total=plan.size, note=""
            )
            for plan in plans
            if plan.size
        }
        failures = dict.fromkeys(bars, 0)
        async with contextlib.aclosing(
            run(suite, plans, bundle.answers.get, now=utc_now)
        ) as answers:
            async for answer in answers:
                key = (*answer.pair, answer.prompt_id)
                if answer.error is None or key not in bundle.answers:
                    void.drop({key})
                writer.append_answer(answer)
                asked += 1
                failures[answer.pair] += answer.error is not None
                count = failures[answer.pair]
                note = f"{count} failed" if count else ""
                progress.update(bars[answer.pair], advance=1, note=note)
    return asked


def _drop_answers(writer: BundleWriter, keys: set[AnswerKey]) -> None:
    """Forget finished answers that are to be asked again, and what was judged from them."""
    with VoidJudgements(writer) as void:
        void.drop(keys)
    writer.keep(answers=[a for a in writer.bundle.answers if (*a.pair, a.prompt_id) not in keys])


class VoidJudgements:
    """Drops what was judged from answers that are no longer there, and names it at the end.

    Dropped before the new answer is written: a crash in between leaves no judgement of another
    answer behind.
    """

    def __init__(self, writer: BundleWriter) -> None:
        self._writer = writer
        self._verdicts = {(*v.pair, v.prompt_id) for v in writer.bundle.verdicts}
        self._reports = {report.pair for report in writer.bundle.reports}
        self._dropped: dict[tuple[str, str], list[str]] = {}

    def drop(self, keys: set[AnswerKey]) -> None:
        """Drop the verdicts on these answers, and the reports of their models."""
        verdicts = self._verdicts & keys
        reports = self._reports & {key[:2] for key in keys}
        if not verdicts and not reports:
            return
        bundle = self._writer.bundle
        self._writer.keep(
            verdicts=[v for v in bundle.verdicts if (*v.pair, v.prompt_id) not in verdicts],
            reports=[report for report in bundle.reports if report.pair not in reports],
        )
        self._verdicts -= verdicts
        self._reports -= reports
        for pair in reports:
            self._dropped.setdefault(pair, []).append("the report")
        for model, variant, prompt_id in sorted(verdicts):
            self._dropped.setdefault((model, variant), []).append(prompt_id)

    def __enter__(self) -> VoidJudgements:
        return self

    def __exit__(self, *exc_info: object) -> None:
        for (model, variant), what in self._dropped.items():
            names = ", ".join(shown(name) for name in what[:20])
            more = f" and {len(what) - 20} more" if len(what) > 20 else ""
            say(
                f"{shown(model)} ({shown(variant)}): dropped what was judged from earlier answers "
                f"({names}{more}). Judge again."
            )
