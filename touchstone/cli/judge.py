"""``touchstone judge``: verdicts and holistic reports, by an endpoint or by file exchange."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from touchstone.bundle import Bundle, BundleWriter, copy_answers, write_bundle
from touchstone.cli.common import (
    BUNDLE_PATH,
    Limits,
    counting_progress,
    endpoint_options,
    open_endpoint,
    parameter_option,
    parse_parameters,
    say,
    shown,
    timestamp,
)
from touchstone.cli.judge_exchange import (
    answered,
    export_requests,
    ingest_responses,
    other_judge,
)
from touchstone.endpoints import Endpoint
from touchstone.errors import BundleError, UsageError
from touchstone.judge import JudgeRecord, RawReply, Work, judge_bundle
from touchstone.judge_config import JudgeConfig, choose_mode, judge_fingerprint
from touchstone.judge_prompt import PROMPT_VERSION, template_sha256
from touchstone.model_specs import LOCAL_PREFIX, ModelSpec
from touchstone.models import JudgeEntry, JudgingMode, Verdict, Weights


@dataclass(frozen=True)
class JudgeOptions:
    """What a judge run was asked to do."""

    spec: ModelSpec
    config: JudgeConfig
    mode: JudgingMode | None
    context: int | None
    redo: bool
    base_url: str | None
    api_key_env: str | None
    limits: Limits


@click.command(
    "judge",
    epilog="Examples: touchstone judge bundles/office-2026-12 --judge "
    "qwen2.5:32b --base-url http://127.0.0.1:11434/v1 · touchstone judge "
    "bundles/office-2026-12 --export",
)
@click.argument("path", metavar="BUNDLE", type=BUNDLE_PATH)
@click.option(
    "--judge",
    "judge_name",
    metavar="NAME",
    help="Model that judges, sent verbatim; local:smollm2-135m is embedded.",
)
@click.option(
    "--into", type=BUNDLE_PATH, metavar="NEW", help="Judge the same answers into another bundle."
)
@click.option(
    "--export",
    "export",
    is_flag=True,
    help="Write a request and an empty form per model, for an outside judge.",
)
@click.option(
    "--ingest",
    "ingest",
    is_flag=True,
    help="Take the filled forms: all in the bundle, or the FILES given.",
)
@click.argument("files", metavar="[FILES]...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--mode",
    type=click.Choice(["auto", "single", "map-reduce"]),
    default="auto",
    show_default=True,
    help="All answers at once, or evidence answer by answer first.",
)
@click.option("--one-call", is_flag=True, help="All dimensions in one reply (another judge).")
@click.option(
    "--context",
    type=click.IntRange(512),
    metavar="TOKENS",
    help="The judge's context window, where the server does not say it.",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(64),
    default=1200,
    show_default=True,
    help="Longest judge reply.",
)
@click.option(
    "--temperature",
    type=click.FloatRange(0),
    default=0.0,
    show_default=True,
    help="The judge's sampling temperature.",
)
@click.option("--seed", type=int, help="Seed of the judge's sampling.")
@click.option(
    "--order-seed",
    type=int,
    default=0,
    show_default=True,
    help="Seed of the order in which the judge reads the answers.",
)
@click.option("--redo", is_flag=True, help="Forget what this bundle's judge said, judge anew.")
@parameter_option
@endpoint_options
def command(
    path: Path,
    judge_name: str | None,
    into: Path | None,
    export: bool,
    ingest: bool,
    files: tuple[Path, ...],
    **options: Any,
) -> int:
    """Judge the answers of BUNDLE: a verdict for each, then one holistic report a model.

    With --export and --ingest an outside AI or a person judges by file: no key, no network.
    The same command goes on after a crash or Ctrl-C; a verdict or score that is there is kept.
    """
    if sum((judge_name is not None, export, ingest)) != 1:
        raise UsageError(
            "Say how to judge: --judge NAME, or --export and later --ingest.",
            hint="To try it: --judge local:smollm2-135m",
        )
    if files and not ingest:
        raise UsageError("FILES are for --ingest.")
    if judge_name is not None and not judge_name.removeprefix(LOCAL_PREFIX).strip():
        raise UsageError("--judge must not be empty.")
    Bundle.open(path)
    if into is not None:
        with write_bundle(into) as writer:
            copy_answers(Bundle.open(path), writer, created=timestamp())
        path = into
    if export:
        return export_requests(path)
    if ingest:
        return ingest_responses(path, files, redo=options["redo"])
    code = judge_with_endpoint(path, _options(judge_name or "", options))
    say(f"Next: touchstone score {path}")
    return code


def _options(judge_name: str, options: dict[str, Any]) -> JudgeOptions:
    parameters: dict[str, Any] = {"temperature": options["temperature"]}
    if options["seed"] is not None:
        parameters["seed"] = options["seed"]
    parameters |= parse_parameters(options["parameters"])
    config = JudgeConfig(
        calls="one" if options["one_call"] else "per-dimension",
        order_seed=options["order_seed"],
        max_tokens=options["max_tokens"],
        parameters=parameters,
        concurrency=options["concurrency"] or 2,
    )
    limits = Limits(
        options["concurrency"], options["rpm"], options["timeout"], options["max_retries"]
    )
    return JudgeOptions(
        ModelSpec(model=judge_name),
        config,
        None if options["mode"] == "auto" else options["mode"],
        options["context"],
        options["redo"],
        options["base_url"],
        options["api_key_env"],
        limits,
    )


def judge_with_endpoint(path: Path, options: JudgeOptions) -> int:
    """Judge what is open, write it to the bundle, seal it; return the exit code."""
    with write_bundle(path) as writer:
        mended = writer.repair_tails()
        if mended:
            say(f"A crash had cut off the last line of {', '.join(mended)}; it was dropped.")
        bundle = writer.bundle
        bundle.answers.require_clean()
        bundle.verdicts.require_clean()
        bundle.reports.require_clean()
        if not len(bundle.answers):
            raise BundleError(
                f"{path} holds no answers to judge.",
                hint="Run the suite first: touchstone run SUITE … -o BUNDLE",
            )
        asyncio.run(_judge_with(writer, options))
        writer.compact()
        writer.seal()
        unusable = _unusable(writer.bundle)
    failed = f"; {unusable} verdicts or scores are missing (see raw/ and reasons)"
    say(f"{path}: judged by {shown(options.spec.name)}{failed if unusable else ''}")
    return 5 if unusable else 0


async def _judge_with(writer: BundleWriter, options: JudgeOptions) -> None:
    opening = open_endpoint(
        options.spec,
        options.limits,
        base_url=options.base_url,
        api_key_env=options.api_key_env,
        context=options.context,
    )
    async with opening as endpoint:
        context = options.context or await endpoint.context_window()
        bundle = writer.bundle
        mode = _mode(bundle, options, context)
        # An embedded model has one processor thread: two requests at once only slow each other.
        width = 1 if options.spec.local_id else options.config.concurrency
        config = replace(options.config, mode=mode, concurrency=width)
        entry = await _entry(options.spec, endpoint, config, bundle)
        _register(writer, entry, options.redo)
        say(
            f"Judge {shown(entry.id)}, fingerprint {entry.fingerprint}, mode {mode}"
            + (f", context {context} tokens" if context else ", context unknown")
        )
        await _write_all(writer, endpoint, config, entry.fingerprint, context)


def _mode(bundle: Bundle, options: JudgeOptions, context: int | None) -> JudgingMode:
    """Return how to judge; what was begun is finished in the same way.

    Otherwise an answer more, or a server that says its context this time, would make another
    judge of the same one.
    """
    present = bundle.manifest.judge
    begun = len(bundle.verdicts) + len(bundle.reports) and not options.redo
    if options.mode is None and begun and present is not None and present.mode is not None:
        return present.mode
    most = options.config.max_tokens
    return options.mode or choose_mode(bundle.suite, bundle.answers, context, most)


async def _write_all(
    writer: BundleWriter,
    endpoint: Endpoint,
    config: JudgeConfig,
    fingerprint: str,
    context: int | None,
) -> None:
    _forget_outdated_reports(writer)
    bundle = writer.bundle
    work = _work(bundle)
    left = sum(len(one.open_verdicts) + len(one.open_dimensions(bundle.suite)) for one in work)
    records = judge_bundle(
        bundle.suite,
        work,
        endpoint,
        config,
        fingerprint=fingerprint,
        answers_sha256=bundle.answers_sha256,
        context=context,
    )
    with counting_progress() as progress:
        bar = progress.add_task("Judging", total=left, note="")
        async with contextlib.aclosing(records):
            async for record in records:
                _write(writer, record)
                if isinstance(record, RawReply):
                    about = shown(f"{' '.join(record.pair)} · {record.subject}")
                    progress.update(bar, note=about)
                else:
                    progress.update(bar, advance=1)


def _write(writer: BundleWriter, record: JudgeRecord) -> None:
    if isinstance(record, RawReply):
        writer.write_raw(record.pair, record.subject, record.content)
    elif isinstance(record, Verdict):
        writer.append_verdict(record)
    else:
        writer.append_report(record)


def _unusable(bundle: Bundle) -> int:
    """Return how many verdicts and scores are missing for want of a usable reply."""
    lost = {"missing", "error"}
    verdicts = sum(verdict.flag is None and verdict.parse in lost for verdict in bundle.verdicts)
    return verdicts + sum(
        score is None and report.parse.get(dimension, "missing") in lost
        for report in bundle.reports
        for dimension, score in report.dim_scores.items()
    )


def _work(bundle: Bundle) -> list[Work]:
    """Return what there is to judge, model by model, without what stands already."""
    finished: dict[tuple[str, str], dict[str, Verdict]] = {}
    for verdict in bundle.verdicts:
        if verdict.parse != "error":
            finished.setdefault(verdict.pair, {})[verdict.prompt_id] = verdict
    return [
        Work(
            entry.pair,
            answered(bundle, entry.pair),
            finished.get(entry.pair, {}),
            bundle.reports.get(entry.pair),
        )
        for entry in bundle.manifest.models
    ]


def _forget_outdated_reports(writer: BundleWriter) -> None:
    """Drop the reports of models with an open verdict: a report rests on all verdicts."""
    bundle = writer.bundle
    outdated = {one.pair for one in _work(bundle) if one.report and one.open_verdicts}
    if outdated:
        writer.keep(reports=[report for report in bundle.reports if report.pair not in outdated])
        names = ", ".join(shown(f"{model} ({variant})") for model, variant in sorted(outdated))
        say(f"Verdicts are open, so these reports are made anew: {names}")


async def _entry(
    spec: ModelSpec, endpoint: Endpoint, config: JudgeConfig, bundle: Bundle
) -> JudgeEntry:
    facts = await endpoint.describe()
    weights = Weights.model_validate(facts["weights"]) if facts.get("weights") else None
    fingerprint = judge_fingerprint(
        model=spec.name,
        weights_sha256=weights.sha256 if weights else None,
        parameters=config.recorded(),
        template_sha256=template_sha256(bundle.suite.language),
        mode=config.mode,
        kind="ai",
    )
    return JudgeEntry(
        fingerprint=fingerprint,
        id=spec.name,
        kind="ai",
        model=spec.name,
        parameters=config.recorded(),
        prompt_version=PROMPT_VERSION,
        mode=config.mode,
        via="endpoint",
        weights=weights,
        engine=facts.get("engine"),
    )


def _register(writer: BundleWriter, entry: JudgeEntry, redo: bool) -> None:
    """Make this the bundle's judge, unless another one is it already."""
    bundle = writer.bundle
    present = bundle.manifest.judge
    judged = len(bundle.verdicts) or len(bundle.reports)
    is_other = present is not None and present.fingerprint != entry.fingerprint
    if judged and (present is None or is_other) and not redo:
        raise other_judge(bundle, entry.id)
    writer.unseal()
    if redo and judged:
        say(f"Forgetting {len(bundle.verdicts)} verdicts and {len(bundle.reports)} reports.")
        writer.forget_judgement()
    writer.write_manifest(bundle.manifest.model_copy(update={"judges": (entry,), "sealed": None}))
