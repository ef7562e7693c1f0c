"""Judge against reference on whole models: their ranking, the K.-o. gate, Quality %. Pure.

Both sides are mappings from a model's key to what they say of it; None and an absent key are
missing, and models that one side lacks are left out and named (ADR-0013).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Generic, TypeVar

from touchstone.correlation import checked_number, pair_order, tau_b_of
from touchstone.intervals import (
    REPETITIONS,
    ErrorRates,
    Interval,
    Rate,
    Statistic,
    cluster_bootstrap,
    error_rates,
    rate,
)

KeyT = TypeVar("KeyT", bound=Hashable)

MIN_MODELS_FOR_TAU = 4
"""With fewer models the pairs are counted and τ_b is not given."""
TOTAL = "total"
"""The name of the whole gate beside its branches."""


# --- ranking -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ranking(Generic[KeyT]):
    """How judge and reference order each two models; ``tied``: at least one side leaves it open.

    ``tied_by_judge`` and ``tied_by_reference`` are pairs that only this side leaves open.
    """

    concordant: int
    discordant: int
    tied: int
    tied_by_judge: int
    tied_by_reference: int
    tau_b: Statistic
    left_out: tuple[KeyT, ...] = ()

    @property
    def pairs(self) -> int:
        """The number of all pairs of models."""
        return self.concordant + self.discordant + self.tied


def ranking(
    judge: Mapping[KeyT, float | None], reference: Mapping[KeyT, float | None]
) -> Ranking[KeyT]:
    """Compare the order in which two sides put the models by a total such as Quality %.

    Totals are compared with six decimals, as on the scorecard, so that floating point makes no
    order. Raise TypeError for what is no number, ValueError for NaN and infinity.
    """
    common, left_out = _common(judge, reference)
    order = pair_order((_total(judge, key), _total(reference, key)) for key in common)
    few = 0 < order.n < MIN_MODELS_FOR_TAU
    return Ranking(
        concordant=order.concordant,
        discordant=order.discordant,
        tied=order.tied,
        tied_by_judge=order.tied_first,
        tied_by_reference=order.tied_second,
        tau_b=Statistic(None, order.n, "too_few_models") if few else tau_b_of(order),
        left_out=left_out,
    )


def _total(side: Mapping[KeyT, float | None], key: KeyT) -> float | None:
    total = checked_number(side[key])
    return None if total is None else round(total, 6)


def _common(
    judge: Mapping[KeyT, object], reference: Mapping[KeyT, object]
) -> tuple[list[KeyT], tuple[KeyT, ...]]:
    """Return the keys both sides have something for, and the others."""
    keys = list({**judge, **reference})
    known = {k for k in keys if judge.get(k) is not None and reference.get(k) is not None}
    return [k for k in keys if k in known], tuple(k for k in keys if k not in known)


# --- the K.-o. gate ------------------------------------------------------------------------


@dataclass(frozen=True)
class KnockOuts(Generic[KeyT]):
    """The 2×2 table of knock-outs, each cell with the models in it.

    ``both``: knocked out by judge and reference; ``missed``: by the reference alone; ``false``:
    by the judge alone; ``neither``; ``left_out``: one side could not tell.
    """

    both: tuple[KeyT, ...]
    missed: tuple[KeyT, ...]
    false: tuple[KeyT, ...]
    neither: tuple[KeyT, ...]
    left_out: tuple[KeyT, ...] = ()

    @property
    def agreement(self) -> Rate:
        """The share of the models on which both sides say the same, with a Wilson interval."""
        agree = len(self.both) + len(self.neither)
        return rate(agree, agree + len(self.missed) + len(self.false))

    @property
    def error_rates(self) -> ErrorRates:
        """FNR = missed / (missed + both) and FPR = false / (false + neither)."""
        return error_rates(
            both=len(self.both),
            missed=len(self.missed),
            false=len(self.false),
            neither=len(self.neither),
        )


def knock_outs(
    judge: Mapping[KeyT, bool | None], reference: Mapping[KeyT, bool | None]
) -> KnockOuts[KeyT]:
    """Compare who is knocked out (True), of one branch of the gate or in total.

    None is "not assessable". Raise TypeError for what is neither a bool nor None.
    """
    for outcome in (*judge.values(), *reference.values()):
        _check_outcome(outcome)
    common, left_out = _common(judge, reference)
    cells: dict[tuple[bool, bool], list[KeyT]] = {}
    for key in common:
        cells.setdefault((judge[key] is True, reference[key] is True), []).append(key)
    both, missed, false, neither = (
        tuple(cells.get(cell, ()))
        for cell in ((True, True), (False, True), (True, False), (False, False))
    )
    return KnockOuts(both, missed, false, neither, left_out)


def knock_outs_by_branch(
    judge: Mapping[KeyT, Mapping[str, bool | None]],
    reference: Mapping[KeyT, Mapping[str, bool | None]],
) -> dict[str, KnockOuts[KeyT]]:
    """Return the 2×2 table of each branch, and under ``TOTAL``, which comes first, of the gate.

    Both sides map models to ``{branch: outcome}``. An absent branch is no part of that side's
    gate; a None in it is "not assessable". A side that gives ``TOTAL`` itself is taken at its
    word, else it is ``any_branch`` of its branches.
    """
    sides = [
        {key: {TOTAL: any_branch(outcomes.values()), **outcomes} for key, outcomes in side.items()}
        for side in (judge, reference)
    ]
    named = (branch for side in sides for outcomes in side.values() for branch in outcomes)
    return {
        branch: knock_outs(
            *({key: outcomes.get(branch) for key, outcomes in side.items()} for side in sides)
        )
        for branch in dict.fromkeys((TOTAL, *named))
    }


def any_branch(outcomes: Iterable[bool | None]) -> bool | None:
    """Return what the gate says when its branches say this: a knock-out beats what is unknown.

    Without any branch nothing is known.
    """
    given = list(outcomes)
    for outcome in given:
        _check_outcome(outcome)
    if any(given):
        return True
    return None if None in given or not given else False


def _check_outcome(outcome: bool | None) -> None:
    if outcome is not None and not isinstance(outcome, bool):
        raise TypeError(f"a K.-o. outcome is True, False or None, not {type(outcome).__name__}")


# --- Quality % -----------------------------------------------------------------------------


@dataclass(frozen=True)
class QualityDelta:
    """Quality % of one model, judge minus reference, in percentage points.

    ``delta`` counts a missing score 0, as the published total does; ``common`` names the
    dimensions scored by both, and ``delta_common`` is over these alone.
    """

    delta: float | None
    delta_common: float | None
    common: tuple[str, ...]


def quality_delta(
    judge: Mapping[str, int | None],
    reference: Mapping[str, int | None],
    weights: Mapping[str, float],
) -> QualityDelta:
    """Return the difference of two Quality % (ADR-0007) of one model.

    ``weights``: dimension id → weight above 0; scores 1–5 or None, those of other dimensions are
    ignored. A reference without any score is no reference, and then both are None; a judge
    without any has published 0 %. Raise TypeError or ValueError for what is no score or weight.
    """
    for weight in weights.values():
        if not checked_number(weight) or weight <= 0:
            raise ValueError(f"the weight of a dimension is a number above 0, not {weight}")
    scores = {d: (_score(judge.get(d)), _score(reference.get(d))) for d in weights}
    common = {d: weights[d] for d, (one, two) in scores.items() if one and two}
    if not any(two for _, two in scores.values()):
        return QualityDelta(None, None, ())
    return QualityDelta(
        delta=_points_apart(scores, weights),
        delta_common=_points_apart(scores, common) if common else None,
        common=tuple(common),
    )


def _points_apart(
    scores: Mapping[str, tuple[int | None, int | None]], weights: Mapping[str, float]
) -> float:
    apart = {d: (scores[d][0] or 0) - (scores[d][1] or 0) for d in weights}
    return (
        100
        * math.fsum(w * apart[d] for d, w in weights.items())
        / (5 * math.fsum(weights.values()))
    )


def _score(score: int | None) -> int | None:
    if score is not None and (isinstance(score, bool) or not isinstance(score, int)):
        raise TypeError(f"a score is an integer from 1 to 5 or None, not {type(score).__name__}")
    if score is not None and not 1 <= score <= 5:
        raise ValueError(f"a score is an integer from 1 to 5 or None, not {score}")
    return score


def mean_over_models(values: Iterable[float | None]) -> Statistic:
    """Return the mean of one value per model, such as ``delta``; models with None are left out."""
    known = _known(values)
    return Statistic(fmean(known), len(known)) if known else Statistic(None, 0, "no_pairs")


def mean_interval(
    values: Iterable[float | None], *, seed: int, repetitions: int = REPETITIONS
) -> Interval:
    """Return the interval of ``mean_over_models``; see ``cluster_bootstrap``."""
    return cluster_bootstrap(_known(values), fmean, seed=seed, repetitions=repetitions)


def _known(values: Iterable[float | None]) -> list[float]:
    """Return the values that are there, sorted: the order of the models must not count."""
    return sorted(value for value in map(checked_number, values) if value is not None)
