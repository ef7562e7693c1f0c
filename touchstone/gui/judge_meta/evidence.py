"""A judge's evidence in a meta-evaluation: what became of it, and what else it shows (ADR-0013)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from touchstone.evidence_audit import ClassCounts, EvidenceAudit, ModelAudit, audit_evidence
from touchstone.gui.report_md import ReportData
from touchstone.intervals import Rate
from touchstone.scorecard import tidy

Pair = tuple[str, str]


def audit_of(data: ReportData, order: Sequence[str] | None = None) -> EvidenceAudit:
    """Look up all evidence of the judge's reports.

    ``order`` are the prompt ids as the judge read them, the suite's order unless given.
    """

    def has_answer(pair: Pair, prompt_id: str) -> bool:
        return data.answer(pair, prompt_id) is not None

    red = {key for key, flag in data.flags.items() if flag.flag == "red"}
    reports = [row.report for row in data.rows if row.report]
    return audit_evidence(data.suite, reports, data.checker, has_answer, red, order)


def counts_json(counts: ClassCounts) -> dict[str, Any]:
    """Return evidence by class as it stands in judge_quality.json."""
    given = counts.as_dict()
    fidelity = counts.fidelity
    return {**given, "fidelity": _number(fidelity.value), "fidelity_ci": _bounds(fidelity)}


def audit_json(audit: EvidenceAudit) -> dict[str, Any]:
    """Return what stands beside fidelity: what is cited, reused, contradicted. None: not known.

    ``prose`` are the quotes in the rationales that a prompt id stands near, ``unattributed``
    counts the others. ``position`` is 0 for the first answer that the judge read, 1 for the last.
    """
    return {
        "cited": _rate(audit.cited),
        "red_cited": _rate(audit.red_cited),
        "position": _number(audit.position),
        "reused": [
            {
                "model": one.pair[0],
                "variant": one.pair[1],
                "prompt_id": one.prompt_id,
                "quote": one.quote,
                "dimensions": list(one.dimensions),
            }
            for one in audit.reused
        ],
        "contradictions": [
            {
                "kind": one.kind,
                "model": one.pair[0],
                "variant": one.pair[1],
                "dimensions": list(one.dimensions),
                "only_in_rationale": list(one.only_in_rationale),
                "only_in_evidence": list(one.only_in_evidence),
            }
            for one in audit.contradictions
        ],
        "prose": counts_json(audit.prose),
        "unattributed": audit.unattributed,
        "models": [_model(one) for one in audit.models],
    }


def _model(of: ModelAudit) -> dict[str, Any]:
    return {
        "model": of.pair[0],
        "variant": of.pair[1],
        **counts_json(of.counts),
        "cited": len(of.cited),
        "uncited": list(of.uncited),
        "red_cited": list(of.red_cited),
        "red_uncited": list(of.red_uncited),
        "position": _number(of.position),
    }


def _rate(of: Rate) -> dict[str, Any]:
    return {"count": of.count, "n": of.n, "share": _number(of.value), "ci": _bounds(of)}


def _number(value: float | None) -> float | int | None:
    return None if value is None else tidy(value)


def _bounds(of: Rate) -> list[float | int] | None:
    return None if of.bounds is None else [tidy(bound) for bound in of.bounds]
