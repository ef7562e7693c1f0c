"""Judge against reference on whole models: ranking, K.-o. gate, Quality %."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from metaeval import near, reference_formulas

from touchstone.intervals import Statistic
from touchstone.model_agreement import (
    TOTAL,
    KnockOuts,
    QualityDelta,
    any_branch,
    knock_outs,
    knock_outs_by_branch,
    mean_interval,
    mean_over_models,
    quality_delta,
    ranking,
)
from touchstone.models import Dimension
from touchstone.scorecard import weighted_total

Totals = Mapping[str, float | None]


def named(*totals: float | None) -> dict[str, float | None]:
    return {f"m{number}": total for number, total in enumerate(totals, start=1)}


# --- ranking --------------------------------------------------------------------------------------


def test_a_ranking_worked_by_hand() -> None:
    """The judge ties m2 and m3, the reference m1 and m2; m3 and m4 run against each other.

    3 of 6 pairs agree, so τ_b = (3 − 1) / √(5 · 5).
    """
    found = ranking(named(10, 20, 20, 30), named(1, 1, 5, 4))

    assert (found.concordant, found.discordant, found.tied, found.pairs) == (3, 1, 2, 6)
    assert (found.tied_by_judge, found.tied_by_reference) == (1, 1)
    assert found.tau_b == Statistic(near(0.4), 4)


@pytest.mark.parametrize(
    ("judge", "reference", "counts", "tau_b"),
    [
        ({}, {}, (0, 0, 0), Statistic(None, 0, "no_pairs")),
        (named(None), named(5), (0, 0, 0), Statistic(None, 0, "no_pairs")),
        (named(5), named(5), (0, 0, 0), Statistic(None, 1, "too_few_models")),
        (named(1, 2, 3), named(1, 2, 3), (3, 0, 0), Statistic(None, 3, "too_few_models")),
        (named(1, 2, 3, 4), named(1, 2, 3, None), (3, 0, 0), Statistic(None, 3, "too_few_models")),
        (named(1, 2, 3, 4), named(1, 2, 3, 4), (6, 0, 0), Statistic(1.0, 4)),
        (named(1, 2, 3, 4), named(4, 3, 2, 1), (0, 6, 0), Statistic(-1.0, 4)),
        (named(7, 7, 7, 7), named(4, 3, 2, 1), (0, 0, 6), Statistic(None, 4, "one_constant")),
        (named(7, 7, 7, 7), named(1, 1, 1, 1), (0, 0, 6), Statistic(None, 4, "one_constant")),
    ],
)
def test_rankings(
    judge: Totals, reference: Totals, counts: tuple[int, int, int], tau_b: Statistic
) -> None:
    found = ranking(judge, reference)

    assert (found.concordant, found.discordant, found.tied) == counts
    assert found.tau_b == tau_b


def test_models_of_one_side_are_named() -> None:
    found = ranking({"a": 1, "b": None, "c": 3}, {"c": 2, "b": 1, "d": 5})

    assert found.left_out == ("a", "b", "d")
    assert found.pairs == 0


def test_floating_point_makes_no_order() -> None:
    """0.1 + 0.2 is a hair more than 0.3; the scorecard compares six decimals."""
    assert ranking(named(0.1 + 0.2, 0.3), named(1, 2)).tied == 1
    assert ranking(named(60.0000004, 60), named(1, 2)).tied == 1
    assert ranking(named(60.000001, 60), named(1, 2)).tied == 0


def test_a_bool_is_no_total() -> None:
    with pytest.raises(TypeError, match="number or None"):
        ranking(named(True, 2), named(1, 2))
    with pytest.raises(ValueError, match="finite"):
        ranking(named(1, 2), named(1, float("nan")))


def test_random_rankings_equal_the_reference_formula() -> None:
    formula = reference_formulas()["kendall_tau_b"]
    rng = random.Random(3)
    for case in range(200):
        n = rng.randint(4, 12)
        one, two = ([rng.randint(1, 6) for _ in range(n)] for _ in range(2))
        found = ranking(named(*one), named(*two))
        assert found.tau_b.value == pytest.approx(formula(one, two)), case
        assert found.pairs == n * (n - 1) // 2


# --- the K.-o. gate -------------------------------------------------------------------------------


def test_every_cell_names_its_models() -> None:
    judge = {"a": True, "b": False, "c": True, "d": False, "e": None, "f": False, "g": True}
    reference = {"a": True, "b": True, "c": False, "d": False, "e": True, "f": None, "h": True}
    found = knock_outs(judge, reference)

    assert found == KnockOuts(
        both=("a",), missed=("b",), false=("c",), neither=("d",), left_out=("e", "f", "g", "h")
    )
    assert (found.agreement.count, found.agreement.n, found.agreement.value) == (2, 4, 0.5)
    assert (found.error_rates.fnr.count, found.error_rates.fnr.n) == (1, 2)
    assert (found.error_rates.fpr.count, found.error_rates.fpr.n) == (1, 2)
    assert found.error_rates.fnr.bounds == pytest.approx((0.094531, 0.905469), abs=1e-6)


@pytest.mark.parametrize(
    ("judge", "reference"), [({}, {}), ({"a": None}, {"a": True}), ({"a": True}, {"b": True})]
)
def test_a_gate_nobody_can_compare_has_no_rates(
    judge: dict[str, bool | None], reference: dict[str, bool | None]
) -> None:
    found = knock_outs(judge, reference)

    assert (found.agreement.value, found.agreement.bounds) == (None, None)
    assert (found.error_rates.fnr.value, found.error_rates.fpr.value) == (None, None)
    assert set(found.left_out) == judge.keys() | reference.keys()


@pytest.mark.parametrize("bad", [1, 0, "true", "failed", 0.0])
def test_an_outcome_is_a_bool(bad: Any) -> None:
    with pytest.raises(TypeError, match="True, False or None"):
        knock_outs({"a": bad}, {"a": True})
    with pytest.raises(TypeError, match="True, False or None"):
        knock_outs({"a": True}, {"a": bad})
    with pytest.raises(TypeError, match="True, False or None"):
        any_branch([True, bad])


@pytest.mark.parametrize(
    ("branches", "expected"),
    [
        ([], None),
        ([None], None),
        ([False], False),
        ([True], True),
        ([False, False], False),
        ([False, None], None),
        ([None, True], True),
        ([True, False], True),
    ],
)
def test_a_knock_out_beats_what_is_unknown(
    branches: list[bool | None], expected: bool | None
) -> None:
    assert any_branch(branches) is expected
    assert any_branch(branches[::-1]) is expected


def test_branches_and_total() -> None:
    """The judge sees b's red flag and not its low score: right in total, wrong in a branch."""
    judge: dict[str, dict[str, bool | None]] = {
        "a": {"red_flag": False, "dimension": False},
        "b": {"red_flag": True, "dimension": False},
        "c": {"red_flag": None, "dimension": False},
    }
    reference: dict[str, dict[str, bool | None]] = {
        "a": {"red_flag": False, "dimension": False},
        "b": {"red_flag": True, "dimension": True},
        "c": {"red_flag": True, "dimension": False},
    }
    found = knock_outs_by_branch(judge, reference)

    assert list(found) == [TOTAL, "red_flag", "dimension"]
    assert found[TOTAL] == KnockOuts(("b",), (), (), ("a",), left_out=("c",))
    assert found["red_flag"] == KnockOuts(("b",), (), (), ("a",), left_out=("c",))
    assert found["dimension"] == KnockOuts((), ("b",), (), ("a", "c"))


def test_a_total_that_is_given_is_taken_at_its_word() -> None:
    judge: dict[str, dict[str, bool | None]] = {"a": {"dimension": True}, "b": {"dimension": False}}
    free: dict[str, dict[str, bool | None]] = {
        "a": {TOTAL: False, "dimension": True},
        "b": {TOTAL: None, "dimension": False},
    }
    found = knock_outs_by_branch(judge, free)

    assert found[TOTAL] == KnockOuts((), (), ("a",), (), left_out=("b",))
    assert found["dimension"] == KnockOuts(("a",), (), (), ("b",))


def test_a_branch_that_one_side_lacks_compares_nothing() -> None:
    judge: dict[str, dict[str, bool | None]] = {"a": {"red_flag": True, "dimension": True}}
    reference: dict[str, dict[str, bool | None]] = {"a": {"dimension": True}}
    found = knock_outs_by_branch(judge, reference)

    assert found["red_flag"].left_out == ("a",)
    assert found[TOTAL].both == found["dimension"].both == ("a",)
    assert list(knock_outs_by_branch({}, {})) == [TOTAL]


# --- Quality % ------------------------------------------------------------------------------------


def test_a_quality_delta_worked_by_hand() -> None:
    """Weights 3 2 1. Missing 0: (12 + 0 + 5) − (9 + 4 + 2) = 2 of 30. Common: 17 − 11 = 6 of 20."""
    found = quality_delta(
        {"Q1": 4, "Q2": None, "Q3": 5}, {"Q1": 3, "Q2": 2, "Q3": 2}, {"Q1": 3, "Q2": 2, "Q3": 1}
    )

    assert found.delta == pytest.approx(100 * 2 / 30)
    assert found.delta_common == pytest.approx(100 * 6 / 20)
    assert found.common == ("Q1", "Q3")


@pytest.mark.parametrize(
    ("judge", "reference", "expected"),
    [
        ({}, {}, QualityDelta(None, None, ())),
        ({"Q1": 5, "Q2": 5}, {}, QualityDelta(None, None, ())),
        ({"Q1": 5}, {"Q1": None, "Q9": 3}, QualityDelta(None, None, ())),
        ({}, {"Q1": 5, "Q2": 5}, QualityDelta(-100.0, None, ())),
        ({"Q1": 2}, {"Q2": 3}, QualityDelta(-10.0, None, ())),
        ({"Q1": 4}, {"Q1": 4}, QualityDelta(0.0, 0.0, ("Q1",))),
        ({"Q1": 5, "Q2": 1, "Q9": 5}, {"Q1": 1, "Q2": 5}, QualityDelta(0.0, 0.0, ("Q1", "Q2"))),
    ],
)
def test_what_has_no_reference_has_no_delta(
    judge: dict[str, int | None], reference: dict[str, int | None], expected: QualityDelta
) -> None:
    assert quality_delta(judge, reference, {"Q1": 1, "Q2": 1}) == expected


def test_a_suite_without_weights_has_no_delta() -> None:
    assert quality_delta({"Q1": 1}, {"Q1": 2}, {}) == QualityDelta(None, None, ())


@pytest.mark.parametrize(
    ("bad", "error"), [(True, TypeError), (3.5, TypeError), (0, ValueError), (6, ValueError)]
)
def test_what_is_no_score_is_refused(bad: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="integer from 1 to 5"):
        quality_delta({"Q1": bad}, {"Q1": 3}, {"Q1": 1})
    with pytest.raises(error, match="integer from 1 to 5"):
        quality_delta({"Q1": 3}, {"Q1": bad}, {"Q1": 1})


@pytest.mark.parametrize(
    ("bad", "error"),
    [(0, ValueError), (-1, ValueError), (float("nan"), ValueError), (True, TypeError)],
)
def test_what_is_no_weight_is_refused(bad: float, error: type[Exception]) -> None:
    with pytest.raises(error):
        quality_delta({"Q1": 3}, {"Q1": 3}, {"Q1": bad})


four_scores = st.fixed_dictionaries(
    {f"Q{number}": st.none() | st.integers(1, 5) for number in (1, 2, 3, 4)}
)
four_weights = st.fixed_dictionaries({f"Q{n}": st.floats(0.01, 100) for n in (1, 2, 3, 4)})


@given(four_scores, four_scores, four_weights)
def test_a_delta_is_the_difference_of_two_scorecards(
    judge: dict[str, int | None], reference: dict[str, int | None], weights: dict[str, float]
) -> None:
    dimensions = [Dimension(id=one, name=one, weight=weight) for one, weight in weights.items()]
    found = quality_delta(judge, reference, weights)
    if found.delta is None:
        assert set(reference.values()) == {None}
        return

    ours, theirs = (weighted_total(side, dimensions) for side in (judge, reference))
    assert found.delta == pytest.approx(ours.quality_pct - theirs.quality_pct, abs=1e-9)
    if found.delta_common is None:
        assert found.common == ()
        return
    common = [one for one in dimensions if one.id in found.common]
    ours, theirs = (weighted_total(side, common) for side in (judge, reference))
    assert not ours.missing
    assert not theirs.missing
    assert found.delta_common == pytest.approx(ours.quality_pct - theirs.quality_pct, abs=1e-9)


def test_the_mean_over_models_leaves_out_what_is_missing() -> None:
    assert mean_over_models([2.0, None, -1.0, 5.0]) == Statistic(2.0, 3)
    assert mean_over_models([None]) == Statistic(None, 0, "no_pairs")
    assert mean_over_models([]) == Statistic(None, 0, "no_pairs")


def test_the_interval_of_a_mean_does_not_know_the_order_of_models() -> None:
    deltas = [2.0, None, -1.0, 5.0, 0.5, 3.0, 0.0]
    interval = mean_interval(deltas, seed=5)

    assert interval == mean_interval(deltas[::-1], seed=5)
    assert (interval.kind, interval.clusters, interval.seed) == ("interval", 6, 5)
    assert mean_interval([4.0, None, 1.0], seed=5).bounds == (1.0, 4.0)
    assert mean_interval([], seed=5).reason == "no_clusters"
