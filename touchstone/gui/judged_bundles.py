"""Reads from a bundle what the comparison of judges needs: what was judged, and how well."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from touchstone.agreement import LEVELS, Table
from touchstone.bundle import Bundle
from touchstone.gui.judge_figures import (
    FOUND,
    EvidenceFigures,
    Gate,
    JudgeFigures,
    Ranking,
    ReferenceFigures,
)
from touchstone.gui.judge_meta.compare import Judged
from touchstone.gui.judge_meta.ratings import RatedReference, rated_reference
from touchstone.gui.judge_meta.results import Basis, Figures, Result
from touchstone.gui.judge_quality import MOST_BYTES, JudgeQualityFiles, judge_quality_of
from touchstone.intervals import Bounds

MOST_TEXT = 2000
"""Characters kept of a text from a result; a headline needs 500."""
_REPEAT = re.compile(r"\| repeat (\d{1,3})%")


def judged_bundle(bundle: Bundle, quality: JudgeQualityFiles | None = None) -> Judged:
    """Return what a bundle's judge said, without anybody's later decisions.

    ``quality`` is the judge's quality where it has been read already.

    Raises:
        BundleError: a verdict or a report can't be read.
    """
    bundle.verdicts.require_clean()
    bundle.reports.require_clean()
    quality = quality or judge_quality_of(bundle)
    judge = bundle.manifest.judge
    pairs = dict.fromkeys(entry.pair for entry in bundle.manifest.models)
    return Judged(
        bundle=bundle.id,
        judge=judge.id if judge else _named(quality, "judge_id") or "",
        kind=judge.kind if judge else None,
        fingerprint=judge.fingerprint if judge else _named(quality, "judge"),
        suite=bundle.suite,
        pairs=tuple(pairs),
        suite_sha256=bundle.suite_sha256,
        answers_sha256=bundle.answers_sha256,
        scores={
            (*report.pair, one.id): score
            for report in bundle.reports
            for one in bundle.suite.dimensions
            if report.pair in pairs and (score := report.dim_scores.get(one.id)) is not None
        },
        # A rule is no judge: it would agree with itself in every bundle.
        flags={
            (one.model, one.variant, one.prompt_id): one.flag
            for one in bundle.verdicts
            if one.flag is not None and one.source != "rule" and (one.model, one.variant) in pairs
        },
        result=result_of(quality, judge.mode if judge else None) if quality else None,
        references=tuple(_references(bundle, quality.checked.references)) if quality else (),
    )


def _named(quality: JudgeQualityFiles | None, key: str) -> str | None:
    return _text(quality.figures.get(key)) if quality else None


# --- what a result says --------------------------------------------------------------------


def result_of(quality: JudgeQualityFiles, mode: str | None) -> Result:
    """Return a result; what can't be such a figure is None. ``mode``: how the bundle says."""
    of = quality.checked
    constant = of.best_constant
    stored = (
        (constant.score, constant.mae)
        if constant and constant.score is not None and constant.mae is not None
        else None
    )
    return Result(
        figures=_figures(quality),
        basis=_basis(quality, mode),
        constant=stored,
        headline=_text(of.headline),
        judge=_text(of.judge),
        is_bound=quality.is_bound,
        is_stale=quality.is_stale,
    )


def _figures(quality: JudgeQualityFiles) -> Figures:
    of = quality.checked
    order, gate = of.ranking or Ranking(), of.knock_out or Gate()
    evidence = of.evidence or EvidenceFigures()
    orders = (order.concordant, order.discordant, order.tied)
    pairs = sum(one or 0 for one in orders) if None not in orders else None
    agree, of_models = _part(gate.agree, gate.n)
    # A file need not list who was missed; then the counts don't add up, and nothing is said.
    adds_up = of_models == (agree or 0) + len(gate.missed) + len(gate.false)
    classes = [getattr(evidence, kind) for kind in FOUND]
    found, quotes = _part(None if None in classes else sum(classes), evidence.quotes)
    concordant, ranked_pairs = _part(order.concordant, pairs)
    return Figures(
        n=of.n,
        models=of.models,
        coverage=of.coverage,
        exact=of.exact,
        within_1=of.within_1,
        mae=_within(quality.number("mean_abs_delta"), 0, 4) if of.mae is None else of.mae,
        mae_ci=_bounds(of.mae_ci, 0, 4),
        skill=_within(of.skill, -1e6, 1),
        bias=of.bias,
        qwk=_within(of.qwk, -1, 1),
        qwk_ci=_bounds(of.qwk_ci, -1, 1),
        concordant=concordant,
        ranked_pairs=ranked_pairs,
        ko_agree=agree,
        ko_n=of_models,
        ko_missed=len(gate.missed) if adds_up else None,
        ko_false=len(gate.false) if adds_up else None,
        quality_delta=of.quality_pct_delta,
        found=found,
        quotes=quotes,
        fidelity=evidence.fidelity,
        fidelity_ci=_bounds(evidence.fidelity_ci, 0, 1),
        repeat=_repeat(quality),
        table=_table(of),
    )


def _repeat(quality: JudgeQualityFiles) -> float | None:
    """Return the share of equal ratings on repetition: as a number, else from the headline."""
    given = _within(quality.number("probes", "repeat", "equal", "value"), 0, 1)
    found = _REPEAT.search(quality.checked.headline or "")
    if given is None and found:
        return _within(int(found[1]) / 100, 0, 1)
    return given


def _table(of: JudgeFigures) -> Table[int] | None:
    if of.counts is None:
        return None
    table = Table(LEVELS, of.counts)
    return table if table.n == of.n else None


def _basis(quality: JudgeQualityFiles, mode: str | None) -> Basis:
    """Return what a result rests on: as its key ``comparable`` says, else from its other keys."""
    of = quality.checked
    stated = quality.figures.get("comparable")
    given: dict[str, Any] = stated if isinstance(stated, dict) else {}
    listed = given.get("references")
    ids = [one for one in map(_text, listed if isinstance(listed, list) else ()) if one]
    blind = given.get("blind")
    rubric = "v2" if of.rubric_v2 else "v1" if of.rubric else None
    return Basis(
        suite=_text(given.get("suite")) or _text(of.hashes.get("suite")),
        answers=_text(given.get("answers")) or _text(of.hashes.get("answers")),
        rubric=_text(given.get("rubric")) or rubric,
        references=tuple(sorted(ids or [one.id for one in _nameable(of.references)])),
        blind=blind if isinstance(blind, bool) else of.blind,
        mode=_text(given.get("mode")) or mode,
    )


def _nameable(references: Sequence[ReferenceFigures]) -> list[ReferenceFigures]:
    return [one for one in references if one.id.strip()]


def _text(value: object) -> str | None:
    """Return a text that is not blank, cut where it is absurdly long; else None."""
    return value[:MOST_TEXT] if isinstance(value, str) and value.strip() else None


def _within(value: float | None, low: float, high: float) -> float | None:
    return value if value is not None and low <= value <= high else None


def _bounds(bounds: Bounds | None, low: float, high: float) -> Bounds | None:
    return bounds if bounds is not None and low <= bounds[0] <= bounds[1] <= high else None


def _part(part: int | None, whole: int | None) -> tuple[int | None, int | None]:
    """Return both counts if the first can be a part of the second."""
    fits = part is not None and whole is not None and whole > 0 and part <= whole
    return (part, whole) if fits else (None, None)


# --- what its references rated -------------------------------------------------------------


def _references(bundle: Bundle, references: Sequence[ReferenceFigures]) -> list[RatedReference]:
    """Return the references whose responses are still there, byte for byte as ingested.

    Read only where there are several: one alone agrees with nobody.
    """
    named = _nameable(references)
    if len(named) < 2:
        return []
    stored = {}
    for path in bundle.meta_responses():
        content = _read(path)
        if content is not None:
            stored[hashlib.sha256(content).hexdigest()] = content
    found = []
    for one in named:
        for sha256 in one.responses.values():
            text = stored[sha256].decode("utf-8", "replace") if sha256 in stored else ""
            rated = rated_reference(one.id, one.kind, text) if text else None
            if rated is not None:
                found.append(rated)
                break
    return found


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes() if path.stat().st_size <= MOST_BYTES else None
    except OSError:
        return None
