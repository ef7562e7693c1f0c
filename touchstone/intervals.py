"""Values that may be undefined, and how sure they are: Wilson and cluster bootstrap intervals.

Randomness enters as a seed; the same seed gives the same interval on every machine.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, TypeVar

ClusterT = TypeVar("ClusterT")
Bounds = tuple[float, float]

LEVEL = 0.95
"""Confidence level of every interval, unless another is asked for."""
REPETITIONS = 2000
"""Bootstrap samples that are drawn."""
MIN_CLUSTERS = 5
"""Fewer clusters than this are shown as a range: resampling so few only looks like inference."""
MAX_UNDEFINED = 0.1
"""Share of bootstrap samples that may be without a value before the interval is withheld."""

NoInterval = Literal["no_clusters", "one_value", "too_few_pairs", "often_undefined"]
NO_INTERVAL: Mapping[NoInterval, str] = {
    "no_clusters": "no model was rated by both sides",
    "one_value": "only one model has a value of its own",
    "too_few_pairs": "too few pairs of ratings for an interval",
    "often_undefined": "the value was undefined in too many of the samples drawn",
}
"""Why there is no interval, as the end of a sentence in English."""


# --- values --------------------------------------------------------------------------------

Undefined = Literal[
    "no_pairs",
    "both_constant",
    "reference_constant",
    "one_constant",
    "one_value",
    "one_rater",
    "too_few_models",
]
UNDEFINED: Mapping[Undefined, str] = {
    "no_pairs": "nothing was rated by both sides",
    "both_constant": "both sides gave one and the same rating throughout",
    "reference_constant": "the reference gave one and the same rating throughout",
    "one_constant": "one side gave one and the same value throughout",
    "one_value": "all ratings are the same",
    "one_rater": "there is only one rater",
    "too_few_models": "there are too few models",
}
"""Why a statistic is undefined, as the end of a sentence in English."""


@dataclass(frozen=True)
class Statistic:
    """A value and the ``n`` pairs (things, models) it rests on; None comes with a ``reason``."""

    value: float | None
    n: int
    reason: Undefined | None = None


# --- rates ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rate:
    """A share ``count`` / ``n`` between 0 and 1 with its Wilson interval; None where n is 0."""

    count: int
    n: int
    value: float | None
    bounds: Bounds | None


def rate(count: int, n: int, level: float = LEVEL) -> Rate:
    """Return ``count`` of ``n`` as a rate; raise ValueError unless 0 ≤ count ≤ n."""
    return Rate(count, n, count / n if n else None, wilson(count, n, level))


@dataclass(frozen=True)
class ErrorRates:
    """The rates of both kinds of error, the reference being right.

    ``fnr``: the share of its positives that were missed. ``fpr``: the share of its negatives that
    were taken for positives.
    """

    fnr: Rate
    fpr: Rate


def error_rates(*, both: int, missed: int, false: int, neither: int) -> ErrorRates:
    """Return FNR and FPR from the four counts of a 2×2 table."""
    return ErrorRates(fnr=rate(missed, both + missed), fpr=rate(false, false + neither))


def wilson(count: int, n: int, level: float = LEVEL) -> Bounds | None:
    """Return the score interval of the rate ``count`` / ``n``, within 0 and 1; None where n is 0.

    Wilson, "Probable inference, the law of succession, and statistical inference" (1927), without
    continuity correction. It stays usable at 0 of n and n of n.
    """
    if isinstance(count, bool) or isinstance(n, bool):
        raise TypeError("a rate counts things: give integers, not True or False")
    if not 0 <= count <= n:
        raise ValueError(f"a rate needs 0 ≤ count ≤ n, not {count} of {n}")
    if n == 0:
        return None
    z = _two_sided_z(level)
    share, z_squared_per_n = count / n, z * z / n
    middle = share + z_squared_per_n / 2
    half = z * math.sqrt(share * (1 - share) / n + z_squared_per_n / (4 * n))
    low, high = (middle - half) / (1 + z_squared_per_n), (middle + half) / (1 + z_squared_per_n)
    # At the ends the formula gives 0 and 1, and floating point something beside them.
    return (0.0 if count == 0 else low), (1.0 if count == n else high)


def _two_sided_z(level: float) -> float:
    _check_level(level)
    return NormalDist().inv_cdf((1 + level) / 2)


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"a confidence level lies between 0 and 1, not at {level}")


# --- resampling ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Interval:
    """How far a statistic would move with other models.

    ``kind``: ``interval`` is a bootstrap interval; ``range`` is the lowest and the highest value
    of single clusters, where there are too few for inference; ``none`` comes with a ``reason``.
    ``clusters``: how many were resampled. ``undefined``: how many of the ``repetitions`` (in a
    range: of the clusters) gave no value and were left out. ``seed``, ``level`` and
    ``repetitions`` are None where nothing was drawn.
    """

    kind: Literal["interval", "range", "none"]
    bounds: Bounds | None
    clusters: int
    undefined: int = 0
    seed: int | None = None
    level: float | None = None
    repetitions: int | None = None
    reason: NoInterval | None = None


def no_interval(reason: NoInterval, clusters: int) -> Interval:
    """Return the interval that is not there, with the reason (a key of ``NO_INTERVAL``)."""
    return Interval("none", None, clusters, reason=reason)


def cluster_bootstrap(
    clusters: Sequence[ClusterT],
    statistic: Callable[[Sequence[ClusterT]], float | None],
    *,
    seed: int,
    repetitions: int = REPETITIONS,
    level: float = LEVEL,
) -> Interval:
    """Return the percentile interval of a statistic under resampling of whole clusters.

    A cluster is everything that hangs together, such as all ratings of one model. Each of the
    ``repetitions`` draws as many clusters as there are, with replacement; the bounds are the
    values at rank ⌊tail × defined⌋ from either end. Draws without a value are left out and
    counted; if they are more than ``MAX_UNDEFINED`` there is no interval.

    Below ``MIN_CLUSTERS`` there is no interval but a range: the statistic of each cluster alone.
    These are values that can be looked up, and unlike the leave-one-out values, which lie close
    together by construction, they hide nothing of how much the clusters differ.

    The order of ``clusters`` counts, so give them sorted. Efron, "Bootstrap methods" (1979);
    resampling of clusters alone: Davison and Hinkley, "Bootstrap Methods" (1997), section 3.8.
    """
    _check_level(level)
    if repetitions < 1:
        raise ValueError(f"a bootstrap needs at least one repetition, not {repetitions}")
    count = len(clusters)
    if count < MIN_CLUSTERS:
        return _range(clusters, statistic)
    values = _drawn_values(clusters, statistic, random.Random(seed), repetitions)  # noqa: S311
    undefined = repetitions - len(values)
    if undefined > MAX_UNDEFINED * repetitions:
        return Interval(
            "none", None, count, undefined, seed, level, repetitions, reason="often_undefined"
        )
    # Rounded first: 0.05 × 2000 is a hair under 100 in floating point.
    rank = math.floor(round((1 - level) / 2 * len(values), 9))
    bounds = values[rank], values[-1 - rank]
    return Interval("interval", bounds, count, undefined, seed, level, repetitions)


def _drawn_values(
    clusters: Sequence[ClusterT],
    statistic: Callable[[Sequence[ClusterT]], float | None],
    rng: random.Random,
    repetitions: int,
) -> list[float]:
    # random() is the one generator Python promises never to change; choices() is not.
    pick, count = rng.random, len(clusters)
    drawn = (
        statistic([clusters[int(pick() * count)] for _ in range(count)]) for _ in range(repetitions)
    )
    return sorted(value for value in drawn if value is not None)


def _range(
    clusters: Sequence[ClusterT], statistic: Callable[[Sequence[ClusterT]], float | None]
) -> Interval:
    alone = (statistic([cluster]) for cluster in clusters)
    values = [value for value in alone if value is not None]
    if len(values) < 2:
        return no_interval("one_value" if clusters else "no_clusters", len(clusters))
    undefined = len(clusters) - len(values)
    return Interval("range", (min(values), max(values)), len(clusters), undefined)
