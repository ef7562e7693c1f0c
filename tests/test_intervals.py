"""Intervals: Wilson's against published values, the bootstrap against distributions by hand."""

from __future__ import annotations

import random
from collections.abc import Sequence
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from metaeval import expected_values, near, reference_formulas

from touchstone.intervals import (
    NO_INTERVAL,
    UNDEFINED,
    Interval,
    Rate,
    cluster_bootstrap,
    error_rates,
    rate,
    wilson,
)

WILSON = [
    "81/263",
    "15/148",
    "0/20",
    "1/29",
    "0/10",
    "8/10",
    "10/10",
    "30/40",
    "78/80",
]


# --- Wilson ---------------------------------------------------------------------------------------


def test_a_wilson_interval_worked_by_hand() -> None:
    """1 of 2 with z = 1.959964 and z² / n = 1.920729.

    The middle is (.5 + .960365) / 2.920729 = .5, half the width
    1.959964 · √(.125 + .240091) / 2.920729 = .405469.
    """
    assert wilson(1, 2) == pytest.approx((0.094531, 0.905469), abs=1e-6)


@pytest.mark.parametrize("share", WILSON)
def test_wilson_gives_the_published_bounds(share: str) -> None:
    count, n = map(int, share.split("/"))

    assert wilson(count, n) == pytest.approx(expected_values()["wilson95"][share], abs=5e-5)


def test_wilson_equals_the_reference_formula() -> None:
    formula = reference_formulas()["wilson"]
    rng = random.Random(31)
    for _ in range(300):
        n = rng.randint(1, 400)
        count = rng.randint(0, n)
        level = rng.choice((0.8, 0.9, 0.95, 0.99))
        expected = formula(count, n, level)
        assert wilson(count, n, level) == pytest.approx(expected, abs=1e-12), (count, n, level)


@pytest.mark.parametrize(
    ("count", "n", "expected"),
    [
        (0, 0, Rate(0, 0, None, None)),
        (0, 10, Rate(0, 10, 0.0, (0.0, near(0.277533, 1e-6)))),
        (10, 10, Rate(10, 10, 1.0, (near(0.722467, 1e-6), 1.0))),
    ],
)
def test_a_rate_of_nothing_is_undefined_and_its_ends_are_exact(
    count: int, n: int, expected: Rate
) -> None:
    assert rate(count, n) == expected


@pytest.mark.parametrize(("count", "n"), [(-1, 3), (4, 3), (1, 0), (0, -1)])
def test_a_rate_that_cannot_be_is_refused(count: int, n: int) -> None:
    with pytest.raises(ValueError, match="0 ≤ count ≤ n"):
        rate(count, n)


def test_a_bool_is_no_count() -> None:
    with pytest.raises(TypeError, match="counts things"):
        wilson(True, 2)
    with pytest.raises(TypeError, match="counts things"):
        wilson(1, True)


@pytest.mark.parametrize("level", [0, 1, -0.1, 95])
def test_a_level_lies_between_0_and_1(level: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        wilson(1, 2, level)
    with pytest.raises(ValueError, match="between 0 and 1"):
        cluster_bootstrap([1.0] * 5, fmean, seed=1, level=level)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_bounds_hold_the_rate_and_mirror_each_other(share: tuple[int, int]) -> None:
    count, n = share
    bounds = wilson(count, n)
    mirrored = wilson(n - count, n)

    assert bounds is not None
    assert mirrored is not None
    assert 0 <= bounds[0] <= count / n <= bounds[1] <= 1
    assert bounds[0] < bounds[1]
    assert (1 - mirrored[1], 1 - mirrored[0]) == pytest.approx(bounds, abs=1e-12)


def test_more_confidence_and_fewer_cases_widen() -> None:
    def width(count: int, n: int, level: float = 0.95) -> float:
        bounds = wilson(count, n, level)
        assert bounds is not None
        return bounds[1] - bounds[0]

    assert width(5, 10, 0.99) > width(5, 10) > width(5, 10, 0.8)
    assert width(5, 10) > width(50, 100)


def test_error_rates_by_hand() -> None:
    """The reference has 4 positives, 1 missed, and 16 negatives, 2 taken for positives."""
    rates = error_rates(both=3, missed=1, false=2, neither=14)

    assert (rates.fnr.count, rates.fnr.n, rates.fnr.value) == (1, 4, 0.25)
    assert (rates.fpr.count, rates.fpr.n, rates.fpr.value) == (2, 16, 0.125)


def test_an_error_rate_without_positives_is_undefined_and_not_0() -> None:
    rates = error_rates(both=0, missed=0, false=0, neither=5)

    assert (rates.fnr.value, rates.fnr.bounds) == (None, None)
    assert rates.fpr.value == 0


# --- the cluster bootstrap ------------------------------------------------------------------------


def test_a_bootstrap_interval_worked_by_hand() -> None:
    """One of five clusters is 1, so that the sum of a draw is binomial (5, 1/5).

    P(0) = .33 > .025, P(≤ 2) = .94 and P(≤ 3) = .993: the bounds of the mean are 0 and 3/5.
    """
    interval = cluster_bootstrap([0, 0, 0, 0, 1], fmean, seed=1)

    assert interval == Interval("interval", (0.0, 0.6), 5, 0, 1, 0.95, 2000)


def test_the_bounds_are_the_values_that_far_from_either_end() -> None:
    """Drawn again here, literally: of 40 sorted values, .05 · 40 = 2 lie outside each bound."""
    clusters = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0]
    rng = random.Random(9)
    draws = [[clusters[int(rng.random() * 6)] for _ in range(6)] for _ in range(40)]
    means = sorted(fmean(draw) for draw in draws)

    interval = cluster_bootstrap(clusters, fmean, seed=9, repetitions=40, level=0.9)

    assert interval.bounds == (means[2], means[37])


def test_the_bootstrap_comes_close_to_the_reference_one() -> None:
    formula = reference_formulas()["cluster_bootstrap"]
    rng = random.Random(4)
    clusters = [[(rng.randint(1, 5), 3) for _ in range(7)] for _ in range(40)]

    def mae(pairs: Sequence[tuple[int, int]]) -> float:
        return fmean(abs(one - two) for one, two in pairs)

    low, high, _ = formula(clusters, mae)
    interval = cluster_bootstrap(clusters, lambda drawn: mae(sum(drawn, [])), seed=0)  # noqa: RUF017

    assert interval.bounds == pytest.approx((low, high), abs=0.02)


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=9), st.integers(0, 2**40))
def test_a_seed_decides_the_interval(clusters: list[float], seed: int) -> None:
    first = cluster_bootstrap(clusters, fmean, seed=seed, repetitions=50)

    assert first == cluster_bootstrap(clusters, fmean, seed=seed, repetitions=50)
    if first.bounds is not None:
        assert min(clusters) - 1e-9 <= first.bounds[0] <= first.bounds[1] <= max(clusters) + 1e-9


def test_another_seed_draws_other_samples() -> None:
    rng = random.Random(2)
    clusters = [rng.random() for _ in range(12)]
    bounds = {cluster_bootstrap(clusters, fmean, seed=seed).bounds for seed in range(5)}

    assert len(bounds) == 5


def test_clusters_that_do_not_differ_leave_no_doubt() -> None:
    assert cluster_bootstrap([2.5] * 6, fmean, seed=3).bounds == (2.5, 2.5)


@pytest.mark.parametrize(
    ("clusters", "kind", "bounds", "reason"),
    [
        ([], "none", None, "no_clusters"),
        ([1.0], "none", None, "one_value"),
        ([3.0, 1.0], "range", (1.0, 3.0), None),
        ([3.0, 1.0, 2.0, 2.5], "range", (1.0, 3.0), None),
        ([3.0] * 4, "range", (3.0, 3.0), None),
        ([3.0] * 5, "interval", (3.0, 3.0), None),
    ],
)
def test_under_five_clusters_there_is_only_a_range(
    clusters: list[float], kind: str, bounds: tuple[float, float] | None, reason: str | None
) -> None:
    interval = cluster_bootstrap(clusters, fmean, seed=1)

    assert (interval.kind, interval.bounds, interval.reason) == (kind, bounds, reason)
    assert (interval.clusters, interval.undefined) == (len(clusters), 0)
    assert (interval.seed is None) == (kind != "interval")


def without_ones(drawn: Sequence[float]) -> float | None:
    return None if all(value == 1 for value in drawn) else fmean(drawn)


def test_a_range_leaves_out_clusters_without_a_value_and_counts_them() -> None:
    interval = cluster_bootstrap([1, 2, 3], without_ones, seed=1)

    assert interval == Interval("range", (2, 3), 3, undefined=1)
    assert cluster_bootstrap([1, 1, 3], without_ones, seed=1).reason == "one_value"


def test_draws_without_a_value_are_counted() -> None:
    """A draw of 1 alone has a chance of (3/5)⁵ = .078, about 156 of 2,000."""
    interval = cluster_bootstrap([1, 1, 1, 2, 3], without_ones, seed=1)

    assert interval.kind == "interval"
    assert 110 < interval.undefined < 200


def test_an_interval_is_withheld_when_draws_are_often_without_a_value() -> None:
    """A draw of 1 alone now has a chance of (4/5)⁵ = .33."""
    interval = cluster_bootstrap([1, 1, 1, 1, 3], without_ones, seed=1)

    assert (interval.kind, interval.bounds, interval.reason) == ("none", None, "often_undefined")
    assert 550 < interval.undefined < 760
    never = cluster_bootstrap([1] * 5, without_ones, seed=1)
    assert (never.bounds, never.undefined) == (None, 2000)


def test_no_repetitions_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one repetition"):
        cluster_bootstrap([1.0] * 5, fmean, seed=1, repetitions=0)
    assert cluster_bootstrap([1.0] * 5, fmean, seed=1, repetitions=1).bounds == (1, 1)


def test_reasons_can_stand_in_a_sentence() -> None:
    for reason in (*NO_INTERVAL.values(), *UNDEFINED.values()):
        assert reason[0].islower()
        assert reason[-1] != "."
