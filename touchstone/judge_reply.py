"""What a judge said in its reply: scores by dimension, a verdict, or evidence items (ADR-0007).

Tolerant of how it is written, never inventive about what is meant: a score that doesn't stand
there once, plainly and literally, stays missing, with a reason.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from touchstone.models import Dimension, Evidence, Flag
from touchstone.reply_claims import (
    Claim,
    DimensionNames,
    Parse,
    ScoreWalk,
    flag_claims,
    flag_lines,
    flag_nodes,
    score_lines,
    settle,
    why_nothing,
)
from touchstone.reply_json import CUT_OFF, Reply, open_reply
from touchstone.reply_syntax import Conflict, Tree, normal_key
from touchstone.reply_values import (
    EVIDENCE_KEYS,
    FLAG_KEYS,
    METRIC_KEYS,
    SCORE_KEYS,
    WRAPPER_KEYS,
    Reading,
    foreign_scale_in,
    is_evidence_item,
    members,
    read_evidence,
    read_metrics,
    shown,
)


def _object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_EVIDENCE_LIST: dict[str, Any] = {
    "type": "array",
    "items": _object_schema(
        {
            "prompt_id": {"type": "string"},
            "kind": {"enum": ["quote", "paraphrase", "absence"]},
            "quote": {"type": "string"},
            "observation": {"type": "string"},
            "polarity": {"enum": ["strength", "defect", "neutral"]},
            "severity": {"enum": ["minor", "major", "fatal", None]},
        }
    ),
}
DIMENSION_SCHEMA: dict[str, Any] = _object_schema(
    {
        "evidence": _EVIDENCE_LIST,
        "rationale": {"type": "string"},
        "score": {"enum": [1, 2, 3, 4, 5, None]},
    }
)
VERDICT_SCHEMA: dict[str, Any] = _object_schema(
    {
        "quotes": {"type": "array", "items": {"type": "string"}},
        "rationale": {"type": "string"},
        "flag": {"enum": ["green", "yellow", "red", None]},
    }
)
EVIDENCE_SCHEMA: dict[str, Any] = _object_schema({"evidence": _EVIDENCE_LIST})
"""What is sent for structured output: the subset that every server understands, reasons before
the value. ``null`` is allowed, because without it constrained decoding makes a value up."""


def report_schema(dimension_ids: Sequence[str]) -> dict[str, Any]:
    """Return the schema of one reply for all dimensions: ``DIMENSION_SCHEMA`` under each id."""
    return _object_schema(dict.fromkeys(dimension_ids, DIMENSION_SCHEMA))


@dataclass(frozen=True)
class DimensionResult:
    """What a reply says about one dimension.

    ``score`` is 1 to 5, or None with the ``reason``. ``honest_null``: the judge said that it
    can't tell, which is an answer. ``from_reasoning``: the reply's content was empty.
    """

    score: int | None = None
    rationale: str = ""
    evidence: tuple[Evidence, ...] = ()
    reason: str | None = None
    parse: Parse = "missing"
    honest_null: bool = False
    from_reasoning: bool = False


@dataclass(frozen=True)
class VerdictResult:
    """What a reply says about one answer.

    ``flag`` is None with the ``reason``. ``metrics`` holds the usable QualityJudge metrics by the
    field names of ``models.Metrics``; ``metric_reasons`` says why others were dropped.
    """

    flag: Flag | None = None
    category: str | None = None
    rationale: str = ""
    quotes: tuple[str, ...] = ()
    reason: str | None = None
    parse: Parse = "missing"
    metrics: Mapping[str, int | float | str] | None = None
    metric_reasons: tuple[str, ...] = ()
    from_reasoning: bool = False


def parse_dimension_report(
    text: str,
    dimensions: Sequence[Dimension],
    *,
    prompt_ids: Collection[str],
    finish_reason: str | None = None,
    reasoning: str | None = None,
    asked: str | None = None,
) -> dict[str, DimensionResult]:
    """Return what a judge's reply says about each dimension that was asked for (ADR-0007).

    ``asked`` is the one dimension of the call, or None for all ``dimensions`` in one call; only
    with one may a score stand there without a name. ``prompt_ids`` are the answers shown to the
    judge. Never raises because of ``text``; an ``asked`` that is no dimension is a ValueError.
    """
    names = DimensionNames(dimensions)
    if asked is not None and asked not in names.ids:
        raise ValueError(f"{asked!r} is not one of the dimensions {names.ids}")
    telling = {*SCORE_KEYS, *map(normal_key, names.ids)}
    reply = open_reply(text, finish_reason=finish_reason, reasoning=reasoning, telling=telling)
    # Beside what is left of a broken object, a score without a name may have lost its name.
    unnamed = None if any(found.fragment for found in reply.objects) else asked
    walk = ScoreWalk(names, prompt_ids, unnamed)
    claims = [claim for found in reply.objects for claim in walk.claims(found)]
    stated = any(claim.reading.said != "nothing" for claim in claims)
    claims += score_lines(reply, names, asked, beside_objects=stated)
    results: dict[str, DimensionResult] = {}
    if asked is not None:
        others = sorted({claim.subject for claim in claims} - {asked})
        walk.unknown.extend(f"only one for {shown(other)}" for other in others)
    for dimension_id in names.ids if asked is None else [asked]:
        about = [claim for claim in claims if claim.subject == dimension_id]
        claim = settle(about) if about else None
        results[dimension_id] = _dimension_result(claim, reply, walk.unknown)
    return results


def _dimension_result(claim: Claim | None, reply: Reply, unknown: Sequence[str]) -> DimensionResult:
    if claim is None:
        reason = why_nothing(reply, "score", unknown)
        return DimensionResult(reason=reason, from_reasoning=reply.from_reasoning)
    reading = _believed(claim.reading, reply)
    scale = foreign_scale_in(reply.prose)
    if reading.said == "value" and scale is not None:
        reading = Reading("wrong", reason=f"another scale {shown(scale)}")
    return DimensionResult(
        score=reading.score,
        rationale=claim.rationale,
        evidence=claim.evidence,
        reason=reading.reason,
        parse=_parse(claim, reading, reply),
        honest_null=reading.said == "null",
        from_reasoning=reply.from_reasoning,
    )


def _believed(reading: Reading, reply: Reply) -> Reading:
    if reply.doubtful and reading.said in {"value", "null"}:
        return Reading("wrong", reason=f"ambiguous: beside the answer, {reply.unreadable[0]}")
    return reading


def _parse(claim: Claim, reading: Reading, reply: Reply) -> Parse:
    if reading.said not in {"value", "null"}:
        return "missing"
    return "tolerant" if reply.from_reasoning and claim.parse == "strict" else claim.parse


def parse_verdict(
    text: str, *, finish_reason: str | None = None, reasoning: str | None = None
) -> VerdictResult:
    """Return what a judge's reply says about one answer; never raises because of ``text``.

    The flag is read from a flag key, or from a line that holds nothing else; never from prose.
    """
    reply = open_reply(
        text, finish_reason=finish_reason, reasoning=reasoning, telling=frozenset(FLAG_KEYS)
    )
    claims = [claim for found in reply.objects for claim in flag_claims(found)]
    stated = any(claim.reading.said != "nothing" for claim in claims)
    claims += flag_lines(reply, beside_objects=stated)
    metrics, metric_reasons = _metrics(reply)
    if not claims:
        return VerdictResult(
            reason=why_nothing(reply, "flag"),
            metrics=metrics,
            metric_reasons=metric_reasons,
            from_reasoning=reply.from_reasoning,
        )
    claim = settle(claims)
    reading = _believed(claim.reading, reply)
    return VerdictResult(
        flag=reading.flag,
        category=claim.category,
        rationale=claim.rationale,
        quotes=claim.quotes,
        reason=reading.reason,
        parse=_parse(claim, reading, reply),
        metrics=metrics,
        metric_reasons=metric_reasons,
        from_reasoning=reply.from_reasoning,
    )


def _metrics(reply: Reply) -> tuple[Mapping[str, int | float | str] | None, tuple[str, ...]]:
    """Return the metrics of a reply; two different sets are no metrics."""
    sets: list[dict[str, int | float | str]] = []
    reasons: list[str] = []
    for node in (node for found in reply.objects for node in flag_nodes(found.value)):
        inner = [value for _, value in members(node, METRIC_KEYS) if isinstance(value, dict)]
        for holder in inner or [node]:
            metrics, dropped = read_metrics(holder)
            reasons += dropped
            if metrics and metrics not in sets:
                sets.append(metrics)
    if len(sets) > 1:
        return None, (*reasons, "ambiguous: two different sets of metrics")
    return (sets[0] if sets else None), tuple(reasons)


def parse_evidence_items(
    text: str,
    *,
    prompt_ids: Collection[str],
    finish_reason: str | None = None,
    reasoning: str | None = None,
) -> tuple[tuple[Evidence, ...], str | None]:
    """Return the evidence items a reply lists for one answer, or none and the reason.

    An empty list is an answer. A list that may be cut off is none: half of the evidence would
    pass for all of it. Never raises because of ``text``.
    """
    reply = open_reply(text, finish_reason=finish_reason, reasoning=reasoning)
    if any(not found.closed for found in reply.objects):
        return (), CUT_OFF if reply.cut_off else "the list of evidence is not closed"
    lists = [items for found in reply.objects for items in _evidence_lists(found.value)]
    if not lists:
        return (), why_nothing(reply, "evidence")
    if all(isinstance(items, dict) for items in lists):
        lists = [list(lists)]
    if any(items != lists[0] for items in lists):
        return (), "ambiguous: two different lists of evidence"
    items = lists[0]
    if items is None:
        return (), "the judge gave null"
    evidence, _ = read_evidence(items, prompt_ids)
    if items != [] and not evidence:
        return (), "no item of the evidence names a prompt_id"
    return evidence, None


def _evidence_lists(node: Tree) -> list[Tree]:
    """Return what stands under an evidence key, or the objects that are evidence items."""
    if isinstance(node, Conflict):
        return [found for value in node.values for found in _evidence_lists(value)]
    if isinstance(node, list):
        items = [item for item in node if isinstance(item, dict)]
        if items and all(is_evidence_item(item) for item in items):
            return [node]
        return [found for item in items for found in _evidence_lists(item)]
    if not isinstance(node, dict):
        return []
    if is_evidence_item(node):
        return [node]
    found: list[Tree] = []
    for _, value in members(node, EVIDENCE_KEYS):
        found += value.values if isinstance(value, Conflict) else [value]
    if not found:
        for _, value in members(node, WRAPPER_KEYS):
            found += _evidence_lists(value)
    return found
