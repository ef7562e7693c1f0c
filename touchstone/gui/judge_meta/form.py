"""The response form of a meta-evaluation: what is asked for, and how a filled one is checked.

The hash of part A covers suite and answers alone, so that one blind rating serves every judge of
the same answers; that of part B covers the judge's reports too (ADR-0013).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictInt

from touchstone.errors import ExchangeError, Problem
from touchstone.exchange import parse_form
from touchstone.fields import Flag, Kind, RawStr, Score, Written
from touchstone.models import FORMAT, JudgeEntry, ModelReport, Suite
from touchstone.records import dump_record
from touchstone.yaml_source import Finding, Loc, dump_yaml, parse_yaml

Pair = tuple[str, str]
Part = Literal["a", "b", "both"]
V1_FLAGS = ("cites_evidence", "names_improvement", "justifies_level", "catches_safety")
V2_AXES = ("evidence_relevant", "defect_named", "fix_named", "level_justified")
_CUT_AFTER_KEY = re.compile(r"(?m)^[^#\n]*:[ \t]*\Z")

Level = Annotated[StrictInt, Field(ge=0, le=3)]


class Evaluator(Written):
    """Who filled the form: not the judge whose work is looked at."""

    id: RawStr
    kind: Kind


class Fresh(Written):
    """Part A: the evaluator's own score of a dimension."""

    rationale: RawStr = ""
    score: Score | None


class Critique(Written):
    """Part B: how the judge reasoned in a dimension; None is "does not apply"."""

    cites_evidence: StrictBool | None
    names_improvement: StrictBool | None
    justifies_level: StrictBool | None
    catches_safety: StrictBool | None
    evidence_relevant: Level | None
    defect_named: Level | None
    fix_named: Level | None
    level_justified: Level | None
    comment: RawStr | None = ""


class ReportForm(Written):
    """What the evaluator says of one (model, variant).

    ``flags`` are of part A, by prompt id. They alone may be absent: older forms have none.
    """

    model: RawStr
    variant: RawStr
    flags: dict[RawStr, Flag | None] | None = None
    fresh: dict[str, Fresh] | None = None
    knock_out: StrictBool | None = None
    critique: dict[str, Critique] | None = None

    @property
    def pair(self) -> Pair:
        """The (model, variant) this is about."""
        return self.model, self.variant


class ResponseForm(Written):
    """A filled ``judge_meta_response.yaml``; ``bundle`` is only informational."""

    format: StrictInt
    bundle: RawStr | None = None
    request_sha256: RawStr
    part: Part
    evaluator: Evaluator
    reports: tuple[ReportForm, ...]

    @property
    def key(self) -> str:
        """The evaluator's id as responses are told apart by it, whatever its case."""
        return self.evaluator.id.strip().casefold()


@dataclass(frozen=True)
class Asked:
    """What a response must fit: the suite, the answers, the hash of each part.

    ``answered`` has every model there are answers of, with the prompts whose answer isn't empty.
    """

    suite: Suite
    answered: Mapping[Pair, Sequence[str]]
    hashes: Mapping[Part, str]
    judge: JudgeEntry | None

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The (model, variant) to be rated."""
        return tuple(self.answered)


def request_hashes(
    suite_sha256: str, answers_sha256: str, reports: Iterable[ModelReport]
) -> dict[Part, str]:
    """Return the hash a response to each part must carry (SHA-256, hex)."""
    judged = sorted(dump_record(report, terse=True) for report in reports)
    with_reports = [suite_sha256, answers_sha256, judged]
    return {
        "a": _digest(["a", suite_sha256, answers_sha256]),
        "b": _digest(["b", *with_reports]),
        "both": _digest(["both", *with_reports]),
    }


def _digest(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def render_response_form(asked: Asked, part: Part, bundle_id: str, head: str) -> str:
    """Return the empty form of a part; ``head`` is the comment above it, a line or more."""
    dimensions = [dimension.id for dimension in asked.suite.dimensions]
    critique = {**dict.fromkeys((*V1_FLAGS, *V2_AXES)), "comment": ""}
    part_a = {
        "fresh": {one: {"rationale": "", "score": None} for one in dimensions},
        "knock_out": None,
    }
    part_b = {"critique": {one: dict(critique) for one in dimensions}}
    # The optional flags stand first, so that a file that was cut lacks something required too.
    reports: list[dict[str, Any]] = [
        {
            "model": model,
            "variant": variant,
            **({"flags": dict.fromkeys(prompt_ids), **part_a} if part != "b" else {}),
            **(part_b if part != "a" else {}),
        }
        for (model, variant), prompt_ids in asked.answered.items()
    ]
    # Copied, because YAML would write what two reports share as an anchor and an alias.
    form = {
        "format": FORMAT,
        "bundle": bundle_id,
        "request_sha256": asked.hashes[part],
        "part": part,
        "evaluator": {"id": "", "kind": "ai"},
        "reports": [json.loads(json.dumps(report)) for report in reports],
    }
    return "".join(f"# {line}\n" for line in head.splitlines()) + dump_yaml(form)


def is_unfilled(text: str) -> bool:
    """Say whether nobody has written into a form, whichever request it belongs to."""
    try:
        form = parse_yaml(text, "", ExchangeError).data
    except ExchangeError:
        return False
    if not isinstance(form, dict):
        return not form
    evaluator, reports = form.get("evaluator"), form.get("reports")
    signed = not isinstance(evaluator, dict) or not _is_blank(evaluator.get("id"))
    known = {"model", "variant"}
    return not signed and all(
        isinstance(report, dict) and _is_blank([v for k, v in report.items() if k not in known])
        for report in (reports if isinstance(reports, list) else ())
    )


def _is_blank(value: object) -> bool:
    if isinstance(value, dict):
        return all(map(_is_blank, value.values()))
    if isinstance(value, list):
        return all(map(_is_blank, value))
    return value is None or (isinstance(value, str) and not value.strip())


def read_response(text: str, name: str, asked: Asked) -> ResponseForm:
    """Return a filled form, or refuse it as a whole.

    Raises:
        ExchangeError: with every problem, each with file, line and key.
    """
    document, form = parse_form(text, name, ResponseForm)
    problems = [
        Problem(code, document.where(loc), message) for loc, code, message in _check(form, asked)
    ]
    if _CUT_AFTER_KEY.search(text):
        where = f"{name}:{len(text.splitlines())}"
        message = "the last line ends after its key, as if cut (if it is whole, add a line break)"
        problems.append(Problem("truncated", where, message))
    if problems:
        raise ExchangeError(
            f"{name} can't be taken:",
            problems,
            hint="Nothing of it was taken. Mend it and ingest it again.",
        )
    return form


def _check(form: ResponseForm, asked: Asked) -> Iterator[Finding]:
    if form.format != FORMAT:
        yield ("format",), "format", f"must be {FORMAT}"
    if form.request_sha256 != asked.hashes[form.part]:
        since = "suite or answers" if form.part == "a" else "suite, answers or the judge's reports"
        message = f"belongs to another request: {since} differ; export again"
        yield ("request_sha256",), "other_request", message
    yield from _check_evaluator(form, asked.judge)
    seen: set[Pair] = set()
    for index, report in enumerate(form.reports):
        here: Loc = ("reports", index)
        if report.pair in seen:
            yield (*here, "model"), "repeated", f"stands here twice: {_named(report.pair)}"
        elif report.pair not in asked.pairs:
            message = f"the request has no {_named(report.pair)}"
            yield (*here, "model"), "unknown_model", message
        else:
            yield from _check_report(form.part, report, here, asked)
        seen.add(report.pair)
    for pair in asked.pairs:
        if pair not in seen:
            yield ("reports",), "missing_model", f"there is none on {_named(pair)}"
    if form.part == "b" and not any(map(_says_anything, form.reports)):
        yield ("reports",), "empty", "is not filled in: every part of the critique is null"


def _named(pair: Pair) -> str:
    return f"{pair[0]} ({pair[1]})"


def _check_evaluator(form: ResponseForm, judge: JudgeEntry | None) -> Iterator[Finding]:
    place = ("evaluator", "id")
    if not form.key:
        yield place, "empty", "must say who evaluated, e.g. outside-evaluator-1"
    elif form.key in {"a", "b"} or form.key.endswith((".a", ".b")):
        yield place, "reserved_id", "must not be or end in a part's name: choose another"
    elif judge is not None and form.key in {judge.id.casefold(), (judge.model or "").casefold()}:
        yield place, "is_the_judge", "is the judge of this bundle, who can't evaluate itself"


def _check_report(part: Part, report: ReportForm, here: Loc, asked: Asked) -> Iterator[Finding]:
    given, suite = report.model_fields_set, asked.suite
    for key, parts in (("flags", "a"), ("fresh", "a"), ("knock_out", "a"), ("critique", "b")):
        asked_for = part in ("both", parts)
        if asked_for and key not in given and key != "flags":
            yield (*here, key), "missing", "is required"
        elif not asked_for and key in given:
            yield (*here, key), "other_part", f"belongs to part {parts.upper()}, not into this form"
    if part != "b":
        yield from _check_flags(report.flags or {}, (*here, "flags"), asked, report.pair)
    if part != "b" and "fresh" in given:
        yield from _check_dimensions(report.fresh or {}, (*here, "fresh"), suite)
        for dimension, fresh in (report.fresh or {}).items():
            if fresh.score is None and not fresh.rationale.strip():
                message = "is not filled in (where there is no score, the rationale says why)"
                yield (*here, "fresh", dimension, "score"), "empty", message
    if part != "a" and "critique" in given:
        yield from _check_dimensions(report.critique or {}, (*here, "critique"), suite)


def _check_flags(
    given: Mapping[str, object], here: Loc, asked: Asked, pair: Pair
) -> Iterator[Finding]:
    for prompt_id in given:
        if asked.suite.prompt(prompt_id) is None:
            yield (*here, prompt_id), "unknown_prompt", "is no prompt of this suite"
        elif prompt_id not in asked.answered[pair]:
            message = f"there is no answer to it by {_named(pair)}"
            yield (*here, prompt_id), "no_answer", message


def _check_dimensions(given: Mapping[str, object], here: Loc, suite: Suite) -> Iterator[Finding]:
    ids = [dimension.id for dimension in suite.dimensions]
    for dimension in ids:
        if dimension not in given:
            yield here, "missing_dimension", f"there is no {dimension}"
    for dimension in given:
        if dimension not in ids:
            yield (*here, dimension), "unknown_dimension", "is no dimension of this suite"


def _says_anything(report: ReportForm) -> bool:
    return any(
        getattr(critique, key) is not None
        for critique in (report.critique or {}).values()
        for key in (*V1_FLAGS, *V2_AXES)
    )


@dataclass(frozen=True)
class Reference:
    """One evaluator's view: scores, K.-o. and flags (part A), critique (part B).

    ``blind``: part A came alone. ``sources`` names what it was read from, with the SHA-256 of each
    file. ``flags`` holds the answers that were flagged; a model without any isn't in it.
    """

    id: str
    kind: Kind
    blind: bool
    scores: Mapping[Pair, Mapping[str, int | None]]
    rationales: Mapping[Pair, Mapping[str, str]]
    knock_outs: Mapping[Pair, bool | None]
    critiques: Mapping[Pair, Mapping[str, Critique]]
    sources: Mapping[Part, str]
    flags: Mapping[Pair, Mapping[str, Flag]] = field(default_factory=dict)


def references_of(responses: Sequence[tuple[ResponseForm, str]]) -> list[Reference]:
    """Return the references in responses, each with the SHA-256 of its file, sorted by id.

    Of one evaluator there is either ``both``, or ``a`` with or without ``b``.
    """
    by_key: dict[str, dict[Part, tuple[ResponseForm, str]]] = {}
    for form, sha256 in responses:
        by_key.setdefault(form.key, {})[form.part] = form, sha256
    return [_reference(by_key[key]) for key in sorted(by_key)]


def _reference(parts: Mapping[Part, tuple[ResponseForm, str]]) -> Reference:
    rated = (parts.get("both") or parts["a"])[0]
    criticised = parts.get("both") or parts.get("b")
    fresh = {report.pair: report.fresh or {} for report in rated.reports}
    return Reference(
        id=rated.evaluator.id.strip(),
        kind=rated.evaluator.kind,
        blind="both" not in parts,
        scores={pair: {key: one.score for key, one in of.items()} for pair, of in fresh.items()},
        rationales={
            pair: {key: one.rationale.strip() for key, one in of.items()}
            for pair, of in fresh.items()
        },
        knock_outs={report.pair: report.knock_out for report in rated.reports},
        critiques={
            report.pair: report.critique or {}
            for report in (criticised[0].reports if criticised else ())
        },
        sources={part: sha256 for part, (_, sha256) in parts.items()},
        flags={report.pair: given for report in rated.reports if (given := _flags_in(report))},
    )


def _flags_in(report: ReportForm) -> dict[str, Flag]:
    return {key: flag for key, flag in (report.flags or {}).items() if flag is not None}
