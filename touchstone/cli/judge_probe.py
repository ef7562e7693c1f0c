"""``touchstone judge-probe``: what moves a bundle's judge, and how much it varies by itself."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from touchstone.bundle import Bundle, BundleWriter, write_bundle
from touchstone.cli.common import (
    BUNDLE_PATH,
    Limits,
    base_url_for,
    counting_progress,
    endpoint_options,
    open_endpoint,
    print_json,
    say,
    shown,
)
from touchstone.cli.judge_exchange import answered
from touchstone.cli.judge_meta import refresh_quality
from touchstone.cli.score import MODELS
from touchstone.endpoints import LOCAL_MODELS, Endpoint
from touchstone.errors import BundleError, UsageError
from touchstone.gui.judge_meta.probes_md import render_probes_md
from touchstone.judge import RawReply, Work
from touchstone.judge_config import JudgeConfig, judge_fingerprint
from touchstone.judge_probe import (
    ProbeOptions,
    Question,
    count_notes,
    open_questions,
    plan_probes,
    probe_judge,
)
from touchstone.judge_prompt import template_sha256
from touchstone.model_specs import LOCAL_PREFIX, ModelSpec
from touchstone.models import JudgeEntry, ModelEntry, Verdict, Weights
from touchstone.probe_records import PROBES, Probe, basis_of
from touchstone.probe_summary import ProbeSummary, summarise

INCOMPLETE = 5
_CONFIGURED = ("max_tokens", "calls", "order_seed", "asks_again")


@dataclass(frozen=True)
class ProbeRun:
    """What a run of probes was asked to do, and of which judge."""

    spec: ModelSpec
    entry: JudgeEntry
    config: JudgeConfig
    plan: tuple[Question, ...]
    basis: str
    context: int | None
    base_url: str | None
    api_key_env: str | None
    limits: Limits


@click.command(
    "judge-probe",
    epilog="Examples: touchstone judge-probe bundles/office-2026-12 --dry-run · touchstone "
    "judge-probe bundles/office-2026-12 --base-url http://127.0.0.1:11434/v1 --probe reverse",
)
@click.argument("path", metavar="BUNDLE", type=BUNDLE_PATH)
@click.option(
    "--judge",
    "judge_name",
    metavar="NAME",
    help="The bundle's judge, sent verbatim; local:smollm2-135m is embedded. Default: the model "
    "named in bundle.yaml.",
)
@click.option(
    "--probe",
    "probes",
    multiple=True,
    type=click.Choice(PROBES),
    help="Only this probe, with the repeats it is read against. Repeatable. Default: all.",
)
@click.option(
    "--repeat",
    type=click.IntRange(2, 100),
    default=3,
    show_default=True,
    help="How often the very same is asked: the noise floor.",
)
@MODELS
@click.option(
    "--dimension",
    "dimensions",
    multiple=True,
    metavar="ID",
    help="Only scores of this dimension. Repeatable. Default: all.",
)
@click.option(
    "--canaries",
    type=click.IntRange(0),
    default=2,
    show_default=True,
    help="How many answers of a model get planted defects, and how many get instructions.",
)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Seed of the choice of these answers and of the other order.",
)
@click.option(
    "--context",
    type=click.IntRange(512),
    metavar="TOKENS",
    help="The judge's context window, where the server does not say it.",
)
@click.option("--dry-run", is_flag=True, help="Say how many requests would be made; make none.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@endpoint_options
def command(path: Path, dry_run: bool, as_json: bool, **options: Any) -> int:
    """Ask the judge of BUNDLE the same again and slightly different, to see what moves it.

    Everything is read against the judge's own noise: repeats of the very same question. Orders,
    names and padding should leave scores as they are; planted defects should be noticed, and
    instructions inside an answer should not be obeyed. The judgement in the bundle stays as it is.
    The same command goes on after a crash or Ctrl-C; what has been answered is never asked again.
    """
    bundle = Bundle.open(path)
    if dry_run:
        run = _prepare(bundle, options)
        _print_plan(run, _open(bundle, run), as_json)
        return 0
    with write_bundle(path) as writer:
        mended = writer.repair_tails()
        if mended:
            say(f"A crash had cut off the last line of {', '.join(mended)}; it was dropped.")
        run = _prepare(writer.bundle, options)
        left = _open(writer.bundle, run)
        if left:
            asyncio.run(_probe(writer, run, left))
        else:
            say("All of this has been asked already.")
        bundle = writer.bundle
        if refresh_quality(writer):
            say(f"Wrote the judge quality of {path} again, with what the probes showed.")
    summary = summarise(bundle.observations, judge=run.entry.fingerprint, basis=run.basis)
    _print_summary(bundle, summary, as_json)
    lost = sum(len(question.blanks("", "")) for question in _open(bundle, run))
    if lost:
        say(f"Scores and flags that are still missing: {lost}. The same command asks again.")
    return INCOMPLETE if lost else 0


# --- what is to be done --------------------------------------------------------------------


def _prepare(bundle: Bundle, options: dict[str, Any]) -> ProbeRun:
    """Check that this bundle's judge can be asked again, and plan what to ask."""
    for file in (bundle.answers, bundle.verdicts, bundle.observations):
        file.require_clean()
    entry = _judge_of(bundle)
    spec = _spec_of(entry, options["judge_name"], options["base_url"])
    # An embedded model has one processor thread: two requests at once only slow each other.
    config = _config_of(entry, 1 if spec.local_id else options["concurrency"] or 2)
    if spec.name != entry.model:
        raise _not_this_judge(bundle, entry, spec.name, None)
    _refuse_other_texts(bundle, entry, config)
    plan = plan_probes(
        bundle.suite,
        _work(bundle, options["models"]),
        _probe_options(bundle, options),
        one_call=config.calls == "one",
        names=[one.model for one in bundle.manifest.models],
    )
    return ProbeRun(
        spec=spec,
        entry=entry,
        config=config,
        plan=tuple(plan),
        basis=basis_of(bundle.suite_sha256, bundle.answers_sha256),
        context=options["context"],
        base_url=options["base_url"],
        api_key_env=options["api_key_env"],
        limits=Limits(
            options["concurrency"], options["rpm"], options["timeout"], options["max_retries"]
        ),
    )


def _judge_of(bundle: Bundle) -> JudgeEntry:
    entry = bundle.manifest.judge
    if entry is None or not (len(bundle.verdicts) or len(bundle.reports)):
        raise BundleError(
            f"{bundle.path} was not judged yet: there is no judge to probe.",
            hint=f"Judge it first: touchstone judge {bundle.path} --judge NAME",
        )
    if entry.via == "exchange" or entry.kind == "human" or not entry.model:
        raise BundleError(
            f"{bundle.path} was judged by {entry.id}, not through an endpoint: nobody is there to "
            "be asked again.",
            hint="To probe a model, have it judge the same answers: touchstone judge "
            f"{bundle.path} --into NEW --judge NAME",
        )
    return entry


def _config_of(entry: JudgeEntry, concurrency: int) -> JudgeConfig:
    """Return how the judge worked, from what bundle.yaml recorded of it."""
    recorded = dict(entry.parameters)
    known = {key: recorded.pop(key) for key in _CONFIGURED if key in recorded}
    seed = known.get("order_seed")
    calls = known.get("calls", "per-dimension")
    numbers = [known[key] for key in ("max_tokens", "asks_again") if key in known]
    right = calls in ("per-dimension", "one") and (seed is None or type(seed) is int)
    if not right or not all(type(number) is int and number >= 0 for number in numbers):
        raise BundleError(
            f"bundle.yaml does not say in a usable way how {entry.id} judged: "
            f"{', '.join(f'{key} {known[key]}' for key in known)}."
        )
    return JudgeConfig(
        mode=entry.mode or "single", parameters=recorded, concurrency=concurrency, **known
    )


def _work(bundle: Bundle, models: Sequence[str]) -> list[Work]:
    verdicts: dict[tuple[str, str], dict[str, Verdict]] = {}
    for verdict in bundle.verdicts:
        verdicts.setdefault(verdict.pair, {})[verdict.prompt_id] = verdict
    return [
        Work(entry.pair, answered(bundle, entry.pair), verdicts.get(entry.pair, {}))
        for entry in _chosen_entries(bundle, models)
    ]


def _chosen_entries(bundle: Bundle, models: Sequence[str]) -> list[ModelEntry]:
    names = {entry.pair: {entry.model, "/".join(entry.pair)} for entry in bundle.manifest.models}
    unknown = set(models).difference(*names.values())
    if unknown:
        known = ", ".join("/".join(pair) for pair in names)
        raise UsageError(
            f"The bundle has no model {shown(', '.join(sorted(unknown)))}.",
            hint=f"It has {shown(known)}.",
        )
    chosen = set(models)
    return [one for one in bundle.manifest.models if not chosen or names[one.pair] & chosen]


def _probe_options(bundle: Bundle, options: dict[str, Any]) -> ProbeOptions:
    ids = [dimension.id for dimension in bundle.suite.dimensions]
    unknown = [one for one in options["dimensions"] if one not in ids]
    if unknown:
        raise UsageError(
            f"The suite has no dimension {shown(', '.join(unknown))}.",
            hint=f"It has {shown(', '.join(ids))}.",
        )
    probes: tuple[Probe, ...] = tuple(one for one in PROBES if one in options["probes"])
    return ProbeOptions(
        dimensions=tuple(one for one in ids if one in (options["dimensions"] or ids)),
        probes=probes or PROBES,
        repeat=options["repeat"],
        canaries=options["canaries"],
        seed=options["seed"],
    )


def _spec_of(entry: JudgeEntry, name: str | None, base_url: str | None) -> ModelSpec:
    """Return whom to ask; an embedded judge goes by its name where no server is given."""
    if name is None:
        name = entry.model or ""
        served = base_url_for(ModelSpec(model="any"), base_url)
        if served is None and name in LOCAL_MODELS:
            name = LOCAL_PREFIX + name
    if not name.removeprefix(LOCAL_PREFIX).strip():
        raise UsageError("--judge must not be empty.")
    return ModelSpec(model=name)


# --- who is asked --------------------------------------------------------------------------


def _fingerprint(bundle: Bundle, name: str, weights: Weights | None, config: JudgeConfig) -> str:
    return judge_fingerprint(
        model=name,
        weights_sha256=weights.sha256 if weights else None,
        parameters=config.recorded(),
        template_sha256=template_sha256(bundle.suite.language),
        mode=config.mode,
        kind="ai",
    )


def _not_this_judge(
    bundle: Bundle, entry: JudgeEntry, name: str, fingerprint: str | None
) -> BundleError:
    other = f"{name} (fingerprint {fingerprint})" if fingerprint else name
    return BundleError(
        f"{bundle.path} was judged by {entry.id} (fingerprint {entry.fingerprint}); {other} is "
        "another judge, and what it says can't be filed under that one.",
        hint="Probe the judge of the bundle, with the weights it had; or have the other one judge "
        f"the same answers, and probe that: touchstone judge {bundle.path} --into NEW --judge NAME",
    )


def _refuse_other_texts(bundle: Bundle, entry: JudgeEntry, config: JudgeConfig) -> None:
    """Raise BundleError if the judge would not be asked as it was when it judged."""
    found = _fingerprint(bundle, entry.model or "", entry.weights, config)
    if found != entry.fingerprint:
        raise BundleError(
            f"The judge of {bundle.path}, {entry.id} (fingerprint {entry.fingerprint}), can't be "
            f"asked again: what bundle.yaml says of it gives the fingerprint {found}.",
            hint="This version of touchstone asks in other words, or bundle.yaml was edited. Have "
            "the answers judged into a new bundle, and probe that: touchstone judge "
            f"{bundle.path} --into NEW --judge NAME",
        )


async def _probe(writer: BundleWriter, run: ProbeRun, left: Sequence[Question]) -> None:
    opening = open_endpoint(
        run.spec,
        run.limits,
        base_url=run.base_url,
        api_key_env=run.api_key_env,
        context=run.context,
    )
    async with opening as endpoint:
        facts = await endpoint.describe()
        weights = Weights.model_validate(facts["weights"]) if facts.get("weights") else None
        bundle = writer.bundle
        found = _fingerprint(bundle, run.spec.name, weights, run.config)
        if found != run.entry.fingerprint:
            raise _not_this_judge(bundle, run.entry, run.spec.name, found)
        say(f"Judge {shown(run.entry.id)}, fingerprint {found}, mode {run.config.mode}")
        await _write_all(writer, run, left, endpoint)


async def _write_all(
    writer: BundleWriter, run: ProbeRun, left: Sequence[Question], endpoint: Endpoint
) -> None:
    bundle = writer.bundle
    records = probe_judge(
        bundle.suite,
        left,
        endpoint,
        run.config,
        fingerprint=run.entry.fingerprint,
        basis=run.basis,
        answers_sha256=bundle.answers_sha256,
        context=run.context or await endpoint.context_window(),
    )
    total = sum(len(question.blanks("", "")) for question in left)
    with counting_progress() as progress:
        bar = progress.add_task("Probing", total=total, note="")
        async with contextlib.aclosing(records):
            async for record in records:
                if isinstance(record, RawReply):
                    about = shown(f"{' '.join(record.pair)} · {record.subject}")
                    progress.update(bar, note=about)
                else:
                    writer.append_observation(record)
                    progress.update(bar, advance=1)


def _open(bundle: Bundle, run: ProbeRun) -> list[Question]:
    settled = {one.key for one in bundle.observations if one.is_settled}
    return open_questions(run.plan, settled, judge=run.entry.fingerprint, basis=run.basis)


# --- what came out -------------------------------------------------------------------------


def _print_plan(run: ProbeRun, left: Sequence[Question], as_json: bool) -> None:
    """Print how many requests would be made of which kind; none is asked again in this count."""
    notes = count_notes(left) if run.config.mode == "map-reduce" else 0
    scores = Counter(one.probe for one in left if one.prompt_id is None)
    flags = Counter(one.probe for one in left if one.prompt_id is not None)
    total = len(left) + notes
    if as_json:
        print_json(
            {"requests": total, "notes": notes, "scores": dict(scores), "flags": dict(flags)}
        )
        return
    for probe in PROBES:
        if scores[probe] or flags[probe]:
            click.echo(f"{probe:<10} {scores[probe]:>5} for scores {flags[probe]:>5} for flags")
    if notes:
        click.echo(f"{'evidence':<10} {notes:>5} to note evidence (mode map-reduce)")
    again = run.config.asks_again
    click.echo(f"{total} requests; an unusable reply is asked for again, {again} times at most.")


def _print_summary(bundle: Bundle, summary: ProbeSummary | None, as_json: bool) -> None:
    if as_json:
        print_json(summary.as_dict() if summary else None)
    elif summary is not None:
        click.echo(render_probes_md(summary, "en"))
    if summary is not None and summary.ignored:
        say(f"{bundle.path}: observations of another judge or of other answers, left out: "
            f"{summary.ignored}")  # fmt: skip
