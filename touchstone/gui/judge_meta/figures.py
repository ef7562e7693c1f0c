"""How far a judge agrees with a reference, or with the panel of several (ADR-0013)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from touchstone.agreement import (
    Agreement,
    agreement_of,
    kappa_interval,
    lower_median,
    mean_absolute_error,
    ordinal_alpha,
    pooled,
    score_table,
    table_interval,
)
from touchstone.gui.judge_meta.form import Pair, Reference
from touchstone.intervals import Interval, Statistic
from touchstone.model_agreement import (
    TOTAL,
    KnockOuts,
    Ranking,
    knock_outs_by_branch,
    mean_over_models,
    quality_delta,
    ranking,
)
from touchstone.models import Suite
from touchstone.scorecard import MasterRow, weighted_total

SEED = 20260628
"""Seed of every bootstrap here; it is printed beside the intervals."""


@dataclass(frozen=True)
class DimensionDelta:
    """One dimension over all models: means of judge and reference, and judge − reference."""

    judge: float | None
    reference: float | None
    delta: float | None
    n: int


@dataclass(frozen=True)
class Disagreement:
    """A score at least 2 apart."""

    pair: Pair
    dimension: str
    judge: int
    reference: int


@dataclass(frozen=True)
class JudgeAgreement:
    """Judge against one reference: level, ranking, K.-o. gate, Quality %.

    ``possible`` counts the pairs (model, dimension) there could be; ``models`` those with a pair.
    """

    level: Agreement[int]
    mae_interval: Interval
    qwk_interval: Interval
    per_dimension: Mapping[str, DimensionDelta]
    ranking: Ranking[Pair]
    knock_outs: Mapping[str, KnockOuts[Pair]]
    quality_delta: Statistic
    quality_delta_common: Statistic
    disagreements: tuple[Disagreement, ...]
    models: int
    possible: int


def compute_agreement(
    suite: Suite,
    rows: Sequence[MasterRow],
    scores: Mapping[Pair, Mapping[str, int | None]],
    knock_outs: Mapping[Pair, bool | None],
) -> JudgeAgreement:
    """Compare the judge's rows with a reference's scores and K.-o. opinions, by (model, variant).

    The rows are those of all models, without anybody's later decisions. The gate is compared in
    total with the evaluator's free opinion, and in its dimension branch with its fresh score.
    """
    judge = judge_scores(rows)
    ids = [dimension.id for dimension in suite.dimensions]
    pairs = sorted(judge)
    tables = [
        score_table((judge[pair].get(one), scores.get(pair, {}).get(one)) for one in ids)
        for pair in pairs
    ]
    deltas = [
        quality_delta(judge[row.pair], scores.get(row.pair, {}), _weights(suite))
        for row in rows
        if row.report
    ]
    return JudgeAgreement(
        level=agreement_of(pooled(tables)),
        mae_interval=table_interval(mean_absolute_error, tables, seed=SEED),
        qwk_interval=kappa_interval(tables, seed=SEED),
        per_dimension={one: _dimension(judge, scores, one) for one in ids},
        ranking=ranking(_totals(suite, judge), _totals(suite, scores)),
        knock_outs=_gates(suite, rows, scores, knock_outs),
        quality_delta=mean_over_models(one.delta for one in deltas),
        quality_delta_common=mean_over_models(one.delta_common for one in deltas),
        disagreements=tuple(_far_apart(ids, [row.pair for row in rows], judge, scores)),
        models=sum(1 for table in tables if table.n),
        possible=len(pairs) * len(ids),
    )


def judge_scores(rows: Sequence[MasterRow]) -> dict[Pair, dict[str, int | None]]:
    """Return the judge's scores by model and dimension; a model without a report has none."""
    return {row.pair: dict(row.dim_scores) if row.report else {} for row in rows}


def _weights(suite: Suite) -> dict[str, float]:
    return {dimension.id: dimension.weight for dimension in suite.dimensions}


def _totals(
    suite: Suite, scores: Mapping[Pair, Mapping[str, int | None]]
) -> dict[Pair, float | None]:
    """Return Quality % of every model that has any score."""
    return {
        pair: weighted_total(of, suite.dimensions).quality_pct
        for pair, of in scores.items()
        if any(score is not None for score in of.values())
    }


def _dimension(
    judge: Mapping[Pair, Mapping[str, int | None]],
    scores: Mapping[Pair, Mapping[str, int | None]],
    dimension: str,
) -> DimensionDelta:
    both = [
        (one, two)
        for pair in judge
        if (one := judge[pair].get(dimension)) is not None
        and (two := scores.get(pair, {}).get(dimension)) is not None
    ]
    if not both:
        return DimensionDelta(None, None, None, 0)
    means = fmean(one for one, _ in both), fmean(two for _, two in both)
    return DimensionDelta(*means, fmean(one - two for one, two in both), len(both))


def _gates(
    suite: Suite,
    rows: Sequence[MasterRow],
    scores: Mapping[Pair, Mapping[str, int | None]],
    knock_outs: Mapping[Pair, bool | None],
) -> dict[str, KnockOuts[Pair]]:
    rule = suite.ko_rule
    outcome = {"failed": True, "passed": False}
    judge: dict[Pair, dict[str, bool | None]] = {}
    reference: dict[Pair, dict[str, bool | None]] = {}
    for row in rows:
        score = row.ko.dimension_score
        fresh = scores.get(row.pair, {}).get(rule.dimension) if rule else None
        judge[row.pair] = {TOTAL: outcome.get(row.ko.state) if row.report else None}
        reference[row.pair] = {TOTAL: knock_outs.get(row.pair)}
        if rule:
            judge[row.pair]["dimension"] = None if score is None else score <= rule.threshold
            reference[row.pair]["dimension"] = None if fresh is None else fresh <= rule.threshold
    return knock_outs_by_branch(judge, reference)


def _far_apart(
    ids: Sequence[str],
    pairs: Sequence[Pair],
    judge: Mapping[Pair, Mapping[str, int | None]],
    scores: Mapping[Pair, Mapping[str, int | None]],
) -> list[Disagreement]:
    found = []
    for pair in pairs:
        for dimension in ids:
            one, two = judge[pair].get(dimension), scores.get(pair, {}).get(dimension)
            if one is not None and two is not None and abs(one - two) >= 2:
                found.append(Disagreement(pair, dimension, one, two))
    return sorted(found, key=lambda each: -abs(each.judge - each.reference))


# --- the panel -----------------------------------------------------------------------------


def panel_scores(
    suite: Suite, references: Sequence[Reference]
) -> dict[Pair, dict[str, int | None]]:
    """Return the lower median of several references' scores, by model and dimension."""
    pairs = {pair for reference in references for pair in reference.scores}
    return {
        pair: {
            one.id: lower_median(each.scores.get(pair, {}).get(one.id) for each in references)
            for one in suite.dimensions
        }
        for pair in sorted(pairs)
    }


def panel_knock_outs(references: Sequence[Reference]) -> dict[Pair, bool | None]:
    """Return what most of the references say; None where as many say one thing as the other."""
    pairs = {pair for reference in references for pair in reference.knock_outs}
    outcomes: dict[Pair, bool | None] = {}
    for pair in sorted(pairs):
        said = [each.knock_outs.get(pair) for each in references]
        out, stays = said.count(True), said.count(False)
        outcomes[pair] = None if out == stays else out > stays
    return outcomes


def rater_alpha(
    suite: Suite,
    references: Sequence[Reference],
    rows: Sequence[MasterRow] = (),
) -> Statistic:
    """Return Krippendorff's ordinal α of the references, and of the judge where rows are given."""
    pairs = sorted({pair for each in references for pair in each.scores})
    things = [(pair, one.id) for pair in pairs for one in suite.dimensions]
    judge = {row.pair: row.dim_scores for row in rows}
    raters = [[each.scores.get(pair, {}).get(d) for pair, d in things] for each in references]
    if rows:
        raters.append([judge.get(pair, {}).get(d) for pair, d in things])
    return ordinal_alpha(raters)
