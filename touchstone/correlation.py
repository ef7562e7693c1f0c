"""Correlation of paired numbers: Pearson, Spearman, Kendall. Pure.

For rankings, and for reproducing published tables. A pair with a None is left out; ``n`` of a
result says how many were not.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from touchstone.intervals import Statistic

NumberPairs = Iterable[tuple[float | None, float | None]]


def checked_number(value: float | None) -> float | None:
    """Return a finite number or None as it is; raise TypeError or ValueError for all else."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"a number or None is wanted, not {type(value).__name__}")
    if not math.isfinite(value):
        raise ValueError(f"a finite number or None is wanted, not {value}")
    return value


def _both_sides(pairs: NumberPairs) -> tuple[list[float], list[float]]:
    complete = [
        (one, two)
        for one, two in ((checked_number(a), checked_number(b)) for a, b in pairs)
        if one is not None and two is not None
    ]
    return [one for one, _ in complete], [two for _, two in complete]


def pearson(pairs: NumberPairs) -> Statistic:
    """Return Pearson's product-moment correlation r (1895), −1 to 1; undefined if one is constant.

    Raise TypeError for what is no number, a bool included, ValueError for NaN and infinity.
    """
    return _product_moment(*_both_sides(pairs))


def spearman(pairs: NumberPairs) -> Statistic:
    """Return Spearman's ρ (1904): Pearson's r of the ranks, tied values sharing their mean rank."""
    one, two = _both_sides(pairs)
    return _product_moment(average_ranks(one), average_ranks(two))


def average_ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value, from 1 for the lowest; tied values share their mean rank."""
    ordered = sorted(values)
    return [(bisect_left(ordered, one) + bisect_right(ordered, one) + 1) / 2 for one in values]


def _product_moment(one: Sequence[float], two: Sequence[float]) -> Statistic:
    n = len(one)
    if not n:
        return Statistic(None, 0, "no_pairs")
    first, second = _centred(one), _centred(two)
    if first is None or second is None:
        return Statistic(None, n, "one_constant")
    product = math.fsum(a * b for a, b in zip(first, second, strict=True))
    squares = math.fsum(a * a for a in first) * math.fsum(b * b for b in second)
    return Statistic(max(-1.0, min(1.0, product / math.sqrt(squares))), n)


def _centred(values: Sequence[float]) -> list[float] | None:
    """Return the deviations from the mean in units of the largest; None if all are equal."""
    if min(values) == max(values):
        return None
    mean = math.fsum(values) / len(values)
    largest = max(abs(value - mean) for value in values)
    return [(value - mean) / largest for value in values]


# --- order ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class PairOrder:
    """How two sides order each two of ``n`` things.

    ``concordant`` and ``discordant`` pairs are ordered by both sides, the same or the other way
    round; the rest are tied on the first side alone, on the second alone, or on both.
    """

    n: int
    concordant: int
    discordant: int
    tied_first: int
    tied_second: int
    tied_both: int

    @property
    def tied(self) -> int:
        """The number of pairs that at least one side leaves tied."""
        return self.tied_first + self.tied_second + self.tied_both

    @property
    def pairs(self) -> int:
        """The number of all pairs, n · (n − 1) / 2."""
        return self.concordant + self.discordant + self.tied


def pair_order(pairs: NumberPairs) -> PairOrder:
    """Count in O(n log n) how two sides order each two things, values being tied when equal.

    Knight, "A computer method for calculating Kendall's tau with ungrouped data" (1966).
    """
    one, two = _both_sides(pairs)
    n = len(one)
    ties_first, ties_second = _ties(Counter(one)), _ties(Counter(two))
    ties_both = _ties(Counter(zip(one, two, strict=True)))
    discordant = _inversions([second for _, second in sorted(zip(one, two, strict=True))])
    untied = n * (n - 1) // 2 - ties_first - ties_second + ties_both
    return PairOrder(
        n=n,
        concordant=untied - discordant,
        discordant=discordant,
        tied_first=ties_first - ties_both,
        tied_second=ties_second - ties_both,
        tied_both=ties_both,
    )


def _ties(counts: Counter[float] | Counter[tuple[float, float]]) -> int:
    return sum(count * (count - 1) // 2 for count in counts.values())


def _inversions(values: Iterable[float]) -> int:
    """Count the pairs of which the greater value comes first."""
    seen: list[float] = []
    found = 0
    for value in values:
        found += len(seen) - bisect_right(seen, value)
        insort(seen, value)
    return found


def kendall_tau_b(pairs: NumberPairs) -> Statistic:
    """Return Kendall's τ_b, −1 to 1, which corrects for ties; undefined if one side ties all.

    Kendall, "The treatment of ties in ranking problems" (1945).
    """
    return tau_b_of(pair_order(pairs))


def tau_b_of(order: PairOrder) -> Statistic:
    """Return τ_b of pairs that are counted already."""
    if not order.n:
        return Statistic(None, 0, "no_pairs")
    ordered = order.concordant + order.discordant
    by_second, by_first = ordered + order.tied_first, ordered + order.tied_second
    if not by_first or not by_second:
        return Statistic(None, order.n, "one_constant")
    difference = order.concordant - order.discordant
    return Statistic(difference / math.sqrt(by_first * by_second), order.n)
