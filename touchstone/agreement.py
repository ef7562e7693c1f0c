"""Statistics of judge quality: how far a judge agrees with a reference (ADR-0013). Pure.

Ratings are scores 1–5 or flags; None is a missing rating. A pair is (judge, reference), and a
pair with a None is left out and counted. What is undefined is None with a reason, never 0.
"""

from __future__ import annotations

import math
import reprlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median_low
from typing import Generic, TypeVar

from touchstone.intervals import (
    REPETITIONS,
    ErrorRates,
    Interval,
    Statistic,
    cluster_bootstrap,
    error_rates,
    no_interval,
)
from touchstone.models import Flag

LabelT = TypeVar("LabelT", bound=int | str)
ValueT = TypeVar("ValueT")
KeyT = TypeVar("KeyT", bound=Hashable)

LEVELS = (1, 2, 3, 4, 5)
FLAGS: tuple[Flag, ...] = ("green", "yellow", "red")
MIN_PAIRS_FOR_KAPPA_INTERVAL = 20
"""With fewer pairs κ stands without an interval."""


# --- pairs and tables ----------------------------------------------------------------------


@dataclass(frozen=True)
class Table(Generic[LabelT]):
    """How often each pair of ratings occurs.

    One row per rating of the judge, one column per rating of the reference, both in the order of
    ``labels``; distances are counted in steps of it. ``left_out``: how many pairs hold a None.
    """

    labels: tuple[LabelT, ...]
    counts: tuple[tuple[int, ...], ...]
    left_out: int = 0

    def __post_init__(self) -> None:
        size = len(self.labels)
        if len(self.counts) != size or any(len(row) != size for row in self.counts):
            raise ValueError(f"a table of {size} ratings has {size} rows of {size} counts")
        if any(min(row) < 0 for row in self.counts):
            raise ValueError("a table counts pairs: no count is below 0")

    @cached_property
    def n(self) -> int:
        """The number of pairs counted."""
        return sum(map(sum, self.counts))

    @cached_property
    def judge_totals(self) -> tuple[int, ...]:
        """How often the judge gave each rating."""
        return tuple(map(sum, self.counts))

    @cached_property
    def reference_totals(self) -> tuple[int, ...]:
        """How often the reference gave each rating."""
        return tuple(map(sum, zip(*self.counts, strict=True)))

    @property
    def coverage(self) -> float | None:
        """The share of all pairs that could be counted; None where there are no pairs."""
        return self.n / (self.n + self.left_out) if self.n + self.left_out else None

    def cells(self) -> Iterator[tuple[int, int, int]]:
        """Yield (row, column, count) of every cell that isn't empty."""
        for row, counts in enumerate(self.counts):
            for column, count in enumerate(counts):
                if count:
                    yield row, column, count


def paired(
    judge: Mapping[KeyT, ValueT | None], reference: Mapping[KeyT, ValueT | None]
) -> list[tuple[ValueT | None, ValueT | None]]:
    """Return the pairs of two mappings from the rated things to ratings; an absent key is None."""
    return [(judge.get(key), reference.get(key)) for key in {**judge, **reference}]


def score_table(pairs: Iterable[tuple[int | None, int | None]]) -> Table[int]:
    """Count pairs of scores in a 5×5 table.

    Raise TypeError for what is no integer (True is no score), ValueError outside 1–5.
    """
    return _table(LEVELS, pairs)


def flag_table(pairs: Iterable[tuple[Flag | None, Flag | None]]) -> Table[Flag]:
    """Count pairs of flags in a 3×3 table; raise TypeError or ValueError for what is no flag."""
    return _table(FLAGS, pairs)


def pooled(tables: Sequence[Table[LabelT]]) -> Table[LabelT]:
    """Return the sum of one or more tables over the same ratings, such as one per model."""
    labels = tables[0].labels
    if any(table.labels != labels for table in tables):
        raise ValueError("tables over different ratings can't be added")
    rows = zip(*(table.counts for table in tables), strict=True)
    counts = tuple(tuple(map(sum, zip(*row, strict=True))) for row in rows)
    return Table(labels, counts, sum(table.left_out for table in tables))


def _table(
    labels: tuple[LabelT, ...], pairs: Iterable[tuple[LabelT | None, LabelT | None]]
) -> Table[LabelT]:
    counts = [[0] * len(labels) for _ in labels]
    left_out = 0
    for judge, reference in pairs:
        row, column = _position(judge, labels), _position(reference, labels)
        if row is None or column is None:
            left_out += 1
        else:
            counts[row][column] += 1
    return Table(labels, tuple(map(tuple, counts)), left_out)


def _position(rating: LabelT | None, labels: tuple[LabelT, ...]) -> int | None:
    if rating is None:
        return None
    if isinstance(rating, bool) or not isinstance(rating, type(labels[0])):
        kinds = ", ".join(map(str, labels))
        raise TypeError(f"a rating is one of {kinds} or None, not {reprlib.repr(rating)}")
    if rating not in labels:
        kinds = ", ".join(map(str, labels))
        raise ValueError(f"a rating is one of {kinds} or None, not {reprlib.repr(rating)}")
    return labels.index(rating)


def _score(rating: int | None) -> int | None:
    _position(rating, LEVELS)
    return rating


# --- level: how close the ratings are ------------------------------------------------------


def exact_share(table: Table[LabelT]) -> Statistic:
    """Return the share of pairs with the same rating, 0–1."""
    return _share_within(table, 0)


def share_within_1(table: Table[LabelT]) -> Statistic:
    """Return the share of pairs at most one step apart, 0–1."""
    return _share_within(table, 1)


def _share_within(table: Table[LabelT], steps: int) -> Statistic:
    return _mean(table, lambda judge, reference: abs(judge - reference) <= steps)


def mean_absolute_error(table: Table[LabelT]) -> Statistic:
    """Return MAE = Σ|j − r| / n in steps of the scale."""
    return _mean(table, lambda judge, reference: abs(judge - reference))


def bias(table: Table[LabelT]) -> Statistic:
    """Return Σ(j − r) / n in steps: above 0 the judge gives more than the reference."""
    return _mean(table, lambda judge, reference: judge - reference)


def judge_mean(table: Table[int]) -> Statistic:
    """Return the mean score the judge gave in the pairs counted."""
    return _mean(table, lambda judge, _: table.labels[judge])


def reference_mean(table: Table[int]) -> Statistic:
    """Return the mean score the reference gave in the pairs counted."""
    return _mean(table, lambda _, reference: table.labels[reference])


def _mean(table: Table[LabelT], of_cell: Callable[[int, int], int]) -> Statistic:
    if not table.n:
        return Statistic(None, 0, "no_pairs")
    total = sum(count * of_cell(row, column) for row, column, count in table.cells())
    return Statistic(total / table.n, table.n)


def spread_ratio(table: Table[LabelT]) -> Statistic:
    """Return the judge's standard deviation over the reference's.

    Below 1 the judge spreads its ratings less than the reference does. Undefined where the
    reference is constant; 0 where only the judge is.
    """
    if not table.n:
        return Statistic(None, 0, "no_pairs")
    reference = _spread(table.reference_totals)
    if not reference:
        return Statistic(None, table.n, "reference_constant")
    return Statistic(math.sqrt(_spread(table.judge_totals) / reference), table.n)


def _spread(totals: Sequence[int]) -> int:
    """Return n² times the variance of the steps, in whole numbers."""
    total = sum(step * count for step, count in enumerate(totals))
    squares = sum(step * step * count for step, count in enumerate(totals))
    return sum(totals) * squares - total * total


@dataclass(frozen=True)
class BestConstant(Generic[LabelT]):
    """The rating that, given throughout, comes closest to the reference, and its MAE in steps."""

    score: LabelT
    mae: float


def best_constant(table: Table[LabelT]) -> BestConstant[LabelT] | None:
    """Return the constant with the least MAE, the lowest of several; None without pairs.

    It is the reference's lower median, known only once the reference is: what a judge has to
    beat to have told anything apart.
    """
    if not table.n:
        return None
    distances = [
        sum(count * abs(at - step) for step, count in enumerate(table.reference_totals))
        for at in range(len(table.labels))
    ]
    least = min(distances)
    return BestConstant(table.labels[distances.index(least)], least / table.n)


def skill(table: Table[LabelT]) -> Statistic:
    """Return 1 − MAE / MAE of the best constant: 1 is perfect, 0 no closer than the constant.

    Undefined where the reference is constant: the best constant is then perfect, and nothing can
    be told about a judge from it. The form is Murphy's skill score, "Skill scores based on the
    mean square error" (1988), with absolute errors.
    """
    constant = best_constant(table)
    mae = mean_absolute_error(table)
    if constant is None or mae.value is None:
        return Statistic(None, 0, "no_pairs")
    if not constant.mae:
        return Statistic(None, table.n, "reference_constant")
    return Statistic(1 - mae.value / constant.mae, table.n)


# --- agreement beyond chance ---------------------------------------------------------------


def quadratic_kappa(table: Table[LabelT]) -> Statistic:
    """Return Cohen's κ with quadratic weights on all levels of the scale, −1 to 1.

    Cohen, "Weighted kappa" (1968). Undefined where both raters are constant: without any
    variation agreement can't be told from chance (where the two constants differ the formula
    would yield 0). Where one of them is constant it is 0.
    """
    if not table.n:
        return Statistic(None, 0, "no_pairs")
    judge, reference = table.judge_totals, table.reference_totals
    if table.n in judge and table.n in reference:
        return Statistic(None, table.n, "both_constant")
    observed = sum(count * (row - column) ** 2 for row, column, count in table.cells())
    expected = sum(
        here * there * (row - column) ** 2
        for row, here in enumerate(judge)
        for column, there in enumerate(reference)
    )
    return Statistic(1 - table.n * observed / expected, table.n)


def ordinal_alpha(raters: Sequence[Sequence[int | None]]) -> Statistic:
    """Return Krippendorff's α with the ordinal metric; ``n`` counts things rated at least twice.

    ``raters``: two or more sequences of scores 1–5, equally long, None for a gap. Undefined where
    all scores are the same. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011).
    """
    if len(raters) < 2:
        return Statistic(None, 0, "one_rater")
    if len({len(rater) for rater in raters}) > 1:
        raise ValueError("every rater has one entry per thing rated: a score, or None for a gap")
    checked = [[_score(rating) for rating in rater] for rater in raters]
    units = zip(*checked, strict=True)
    return _alpha(Counter(tuple(sorted(r for r in unit if r is not None)) for unit in units))


def table_alpha(table: Table[LabelT]) -> Statistic:
    """Return ``ordinal_alpha`` of judge and reference as two raters."""
    units: Counter[tuple[int, ...]] = Counter()
    for row, column, count in table.cells():
        units[min(row, column), max(row, column)] += count
    return _alpha(units)


def _alpha(units: Mapping[tuple[int, ...], int]) -> Statistic:
    """Return α of units, each the sorted ratings of one thing, and how often each occurs."""
    units = {unit: count for unit, count in units.items() if len(unit) > 1}
    n_units = sum(units.values())
    totals: Counter[int] = Counter()
    for unit, count in units.items():
        for rating in unit:
            totals[rating] += count
    if len(totals) < 2:
        return Statistic(None, n_units, "one_value" if n_units else "no_pairs")
    distance = _ordinal_distances(totals)
    # Whole numbers per number of raters: the sum then can't depend on the order of the things.
    observed: Counter[int] = Counter()
    for unit, count in units.items():
        observed[len(unit)] += count * sum(distance[one, two] for one in unit for two in unit)
    within = math.fsum(total / (size - 1) for size, total in observed.items())
    between = sum(totals[one] * totals[two] * distance[one, two] for one, two in distance)
    return Statistic(1 - (totals.total() - 1) * within / between, n_units)


def _ordinal_distances(totals: Mapping[int, int]) -> dict[tuple[int, int], int]:
    """Return four times the squared ordinal distance of each two ratings that occur."""
    return {
        (one, two): (
            2 * sum(totals[g] for g in totals if min(one, two) <= g <= max(one, two))
            - totals[one]
            - totals[two]
        )
        ** 2
        for one in totals
        for two in totals
    }


def lower_median(scores: Iterable[int | None]) -> int | None:
    """Return the lower median of a panel's scores 1–5, a score itself; None where all are None."""
    given = [score for score in map(_score, scores) if score is not None]
    return median_low(given) if given else None


# --- all at once ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Agreement(Generic[LabelT]):
    """Every statistic of one table of pairs; see the function of each."""

    table: Table[LabelT]
    exact: Statistic
    within_1: Statistic
    mae: Statistic
    bias: Statistic
    spread_ratio: Statistic
    best_constant: BestConstant[LabelT] | None
    skill: Statistic
    qwk: Statistic
    alpha: Statistic


def agreement_of(table: Table[LabelT]) -> Agreement[LabelT]:
    """Return every statistic of level and of agreement beyond chance."""
    return Agreement(
        table=table,
        exact=exact_share(table),
        within_1=share_within_1(table),
        mae=mean_absolute_error(table),
        bias=bias(table),
        spread_ratio=spread_ratio(table),
        best_constant=best_constant(table),
        skill=skill(table),
        qwk=quadratic_kappa(table),
        alpha=table_alpha(table),
    )


def flag_error_rates(table: Table[Flag], positive: Sequence[Flag] = ("red",)) -> ErrorRates:
    """Return FNR and FPR of the flags in ``positive``, the reference being right."""
    is_positive = [label in positive for label in table.labels]
    counts = Counter[tuple[bool, bool]]()
    for row, column, count in table.cells():
        counts[is_positive[row], is_positive[column]] += count
    return error_rates(
        both=counts[True, True],
        missed=counts[False, True],
        false=counts[True, False],
        neither=counts[False, False],
    )


# --- intervals -----------------------------------------------------------------------------


def table_interval(
    statistic: Callable[[Table[LabelT]], Statistic],
    tables: Iterable[Table[LabelT]],
    *,
    seed: int,
    repetitions: int = REPETITIONS,
) -> Interval:
    """Return the interval of a statistic over models, given one table per model.

    Models without a pair are left out. Neither the models' names nor their order count.
    """
    models = sorted((table for table in tables if table.n), key=lambda table: table.counts)
    return cluster_bootstrap(
        models, lambda drawn: statistic(pooled(drawn)).value, seed=seed, repetitions=repetitions
    )


def kappa_interval(
    tables: Sequence[Table[LabelT]], *, seed: int, repetitions: int = REPETITIONS
) -> Interval:
    """Return ``table_interval`` of κ; none under ``MIN_PAIRS_FOR_KAPPA_INTERVAL`` pairs."""
    models = sum(1 for table in tables if table.n)
    if models and sum(table.n for table in tables) < MIN_PAIRS_FOR_KAPPA_INTERVAL:
        return no_interval("too_few_pairs", models)
    return table_interval(quadratic_kappa, tables, seed=seed, repetitions=repetitions)
