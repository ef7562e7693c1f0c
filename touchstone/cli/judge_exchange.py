"""The file exchange of ``touchstone judge``: requests out, filled forms in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from touchstone.bundle import Bundle, BundleWriter, write_bundle
from touchstone.cli.common import say, shown
from touchstone.errors import BundleError, ExchangeError, Problem
from touchstone.exchange import (
    Judgement,
    is_unfilled,
    read_judge_form,
    render_judge_form,
    render_judge_request,
)
from touchstone.models import Answer, Prompt
from touchstone.yaml_source import read_text

Pair = tuple[str, str]


def export_requests(path: Path) -> int:
    """Write one request and one empty form per (model, variant); a filled form is kept."""
    with write_bundle(path) as writer:
        bundle = writer.bundle
        bundle.answers.require_clean()
        for entry in bundle.manifest.models:
            request, form = bundle.exchange_paths(entry.pair)
            material = answered(bundle, entry.pair)
            if not material:
                say(f"{shown(' '.join(entry.pair))}: no answers, no request")
                continue
            args = (bundle.suite, bundle.suite_sha256, entry.pair, material)
            writer.write_exchange(request, render_judge_request(*args, form.name))
            if form.exists() and not _is_unfilled(form):
                say(f"{form}: kept, because it is filled in (move it away to get an empty one)")
            else:
                writer.write_exchange(form, render_judge_form(*args))
            say(f"{request}: {len(material)} answers to judge")
    say(f"Give each request to the judge, fill its form, then: touchstone judge {path} --ingest")
    return 0


def _is_unfilled(form: Path) -> bool:
    try:
        return is_unfilled(read_text(form, ExchangeError))
    except ExchangeError:
        return False


def ingest_responses(path: Path, files: Sequence[Path], *, redo: bool = False) -> int:
    """Take filled forms, all of them or none, as the judgement of the bundle's judge."""
    with write_bundle(path) as writer:
        writer.repair_tails()
        bundle = writer.bundle
        bundle.answers.require_clean()
        bundle.verdicts.require_clean()
        bundle.reports.require_clean()
        judgements = _read_all(bundle, list(files) or _filled_forms(bundle))
        _check_one_judge(judgements)
        if not redo:
            _refuse_other_judge(bundle, judgements[0])
        writer.unseal()
        if redo:
            writer.forget_judgement()
        _store(writer, judgements)
    for judgement in judgements:
        for warning in judgement.warnings:
            say(f"Note: {shown(str(warning))}")
    judge = judgements[0].judge
    say(
        f"{path}: {len(judgements)} reports by {shown(judge.id)} ({judge.kind}), fingerprint "
        f"{judge.fingerprint}. Next: touchstone score {path}"
    )
    return 0


def _filled_forms(bundle: Bundle) -> list[Path]:
    forms = bundle.responses()
    if not forms:
        raise ExchangeError(
            f"{bundle.path} holds no response forms.",
            hint=f"Write them first: touchstone judge {bundle.path} --export",
        )
    filled = [form for form in forms if not _is_unfilled(form)]
    if not filled:
        raise ExchangeError(f"None of the response forms in {bundle.path} is filled in.")
    for form in forms:
        if form not in filled:
            say(f"{form}: skipped, nobody has filled it in")
    return filled


def answered(bundle: Bundle, pair: Pair) -> tuple[tuple[Prompt, Answer], ...]:
    """Return a model's answers with their prompts, in suite order."""
    found: list[tuple[Prompt, Answer]] = []
    for prompt in bundle.suite.prompts:
        answer = bundle.answers.get((*pair, prompt.id))
        if answer is not None:
            found.append((prompt, answer))
    return tuple(found)


def _read_all(bundle: Bundle, forms: Sequence[Path]) -> list[Judgement]:
    material = {entry.pair: answered(bundle, entry.pair) for entry in bundle.manifest.models}
    judgements: list[Judgement] = []
    problems: list[Problem] = []
    for form in forms:
        try:
            text = read_text(form, ExchangeError)
            judgements.append(
                read_judge_form(text, form.name, bundle.suite, bundle.suite_sha256, material)
            )
        except ExchangeError as failure:
            problems += failure.problems or [Problem("form", form.name, failure.message)]
    problems += _repeated(judgements)
    if problems:
        raise ExchangeError(
            "The response forms can't be taken; nothing was changed:",
            problems,
            hint="Mend these lines and run the same command again.",
        )
    return judgements


def _repeated(judgements: Sequence[Judgement]) -> list[Problem]:
    seen: set[Pair] = set()
    problems = []
    for judgement in judgements:
        pair = judgement.report.pair
        if pair in seen:
            problems.append(Problem("repeated", "", f"two forms judge {pair[0]} ({pair[1]})"))
        seen.add(pair)
    return problems


def _check_one_judge(judgements: Sequence[Judgement]) -> None:
    judges = {(one.judge.fingerprint, one.judge.id) for one in judgements}
    if len(judges) > 1:
        names = ", ".join(sorted(judge_id for _, judge_id in judges))
        raise ExchangeError(
            f"The forms are by different judges ({names}); a bundle has one.",
            hint="Judge the same answers into another bundle with --into NEW.",
        )


def _refuse_other_judge(bundle: Bundle, judgement: Judgement) -> None:
    present, judge = bundle.manifest.judge, judgement.judge
    known = present and (present.fingerprint, present.id)
    if (len(bundle.verdicts) or len(bundle.reports)) and known != (judge.fingerprint, judge.id):
        raise other_judge(bundle, judge.id)


def other_judge(bundle: Bundle, judge_id: str) -> BundleError:
    """Return the error that a bundle has a judge already."""
    present = bundle.manifest.judge
    name = f"{present.id} (fingerprint {present.fingerprint})" if present else "somebody else"
    return BundleError(
        f"{bundle.path} was judged by {name}; a bundle has one judge, and {judge_id} in this "
        "configuration is another.",
        hint="Judge the same answers into a new bundle with --into NEW, or replace the judgement "
        "with --redo.",
    )


def _store(writer: BundleWriter, judgements: Sequence[Judgement]) -> None:
    """Replace what was judged of these models before, and keep the rest."""
    bundle = writer.bundle
    fresh = {judgement.report.pair for judgement in judgements}
    order = {entry.pair: number for number, entry in enumerate(bundle.manifest.models)}
    reports = [r for r in bundle.reports if r.pair not in fresh]
    reports += [judgement.report for judgement in judgements]
    verdicts = [v for v in bundle.verdicts if v.pair not in fresh]
    verdicts += [verdict for judgement in judgements for verdict in judgement.verdicts]
    writer.write_manifest(
        bundle.manifest.model_copy(update={"judges": (judgements[0].judge,), "sealed": None})
    )
    writer.keep(
        verdicts=sorted(verdicts, key=lambda v: order.get(v.pair, len(order))),
        reports=sorted(reports, key=lambda r: order.get(r.pair, len(order))),
    )
    writer.seal()
