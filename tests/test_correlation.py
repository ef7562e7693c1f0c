"""Correlations: published figures reproduced, ties and gaps by hand."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from metaeval import data_file, expected_values, near, reference_formulas

from touchstone.correlation import (
    PairOrder,
    average_ranks,
    kendall_tau_b,
    pair_order,
    pearson,
    spearman,
)
from touchstone.intervals import Statistic

Pairs = list[tuple[float | None, float | None]]
SEVEN: Pairs = list(zip((1, 2, 3, 4, 5, 3, 2), (2, 2, 3, 4, 4, 3, 1), strict=True))
ALL = {"pearson": pearson, "spearman": spearman, "kendall": kendall_tau_b}
each = pytest.mark.parametrize("correlation", ALL.values(), ids=list(ALL))


def zipped(one: list[float], two: list[float]) -> Pairs:
    return list(zip(one, two, strict=True))


def test_seven_scores_worked_by_hand() -> None:
    """Of 21 pairs the judge ties 2, the reference 3, both 1; (1, 2) and (2, 1) alone are opposed.

    τ_b = (16 − 1) / √(19 · 18), and r = (7·62 − 20·19) / √(76 · 52).
    """
    assert pair_order(SEVEN) == PairOrder(7, 16, 1, tied_first=1, tied_second=2, tied_both=1)
    assert kendall_tau_b(SEVEN) == Statistic(near(15 / (19 * 18) ** 0.5), 7)
    assert pearson(SEVEN) == Statistic(near(54 / (76 * 52) ** 0.5), 7)
    assert average_ranks([1, 2, 3, 4, 5, 3, 2]) == [1, 2.5, 4.5, 6, 7, 4.5, 2.5]
    assert spearman(SEVEN).value == pytest.approx(0.906582, abs=1e-6)


def test_values_of_scipys_documentation() -> None:
    values = expected_values()["scipy_docs"]

    tau = kendall_tau_b(zipped([12, 2, 1, 12, 2], [1, 4, 7, 1, 0]))
    assert tau.value == pytest.approx(values["kendalltau_[12,2,1,12,2]_[1,4,7,1,0]"], abs=1e-6)
    rho = spearman(zipped([1, 2, 3, 4, 5], [5, 6, 7, 8, 7]))
    assert rho.value == pytest.approx(values["spearmanr_[1..5]_[5,6,7,8,7]"], abs=1e-6)


@pytest.mark.parametrize(
    "dimension",
    ["naturalness", "coherence", "engagingness", "groundedness", "understandability", "overall"],
)
def test_a_published_table_comes_out_to_six_digits(dimension: str) -> None:
    path = data_file(
        *("unieval-topicalchat", "reproduce", "unieval_predict"),
        *("dialogue", "topical_chat_result.json"),
    )
    replies: list[Any] = json.loads(path.read_text(encoding="utf-8"))
    table = expected_values()["unieval"]["topical_chat_turn_level_pearson_spearman_kendall"]
    pairs: Pairs = [
        (reply["predict_scores"][dimension], reply["scores"][dimension]) for reply in replies
    ]

    ours = [correlation(pairs) for correlation in ALL.values()]

    assert [one.value for one in ours] == pytest.approx(table[dimension], abs=1e-6)
    assert {one.n for one in ours} == {360}


def test_random_cases_equal_the_reference_formulas() -> None:
    formulas = reference_formulas()
    rng = random.Random(17)
    for case in range(300):
        n, top = rng.randint(2, 14), rng.randint(1, 6)
        one = [rng.randint(1, top) / 7 for _ in range(n)]
        two = [rng.randint(1, top) for _ in range(n)]
        pairs: Pairs = list(zip(one, two, strict=True))
        assert kendall_tau_b(pairs).value == pytest.approx(formulas["kendall_tau_b"](one, two)), (
            case
        )
        if len(set(one)) > 1:  # the mean of equal sevenths is a hair off in the plain formula
            assert pearson(pairs).value == pytest.approx(formulas["pearson"](one, two)), case
            assert spearman(pairs).value == pytest.approx(formulas["spearman"](one, two)), case


@each
@pytest.mark.parametrize(
    ("pairs", "n", "reason"),
    [
        ([], 0, "no_pairs"),
        ([(None, None)], 0, "no_pairs"),
        ([(1, None), (None, 2)], 0, "no_pairs"),
        ([(1, 2)], 1, "one_constant"),
        ([(1, 2), (1, 3)], 2, "one_constant"),
        ([(1, 2), (3, 2)], 2, "one_constant"),
        ([(0.1, 1), (0.1, 2), (0.1, 3)], 3, "one_constant"),
        ([(1, 2), (3, None), (1, 4)], 2, "one_constant"),
    ],
)
def test_what_is_undefined_has_a_reason(
    correlation: Callable[[Pairs], Statistic], pairs: Pairs, n: int, reason: Any
) -> None:
    assert correlation(pairs) == Statistic(None, n, reason)


@each
def test_two_points_are_a_line_and_gaps_are_left_out(
    correlation: Callable[[Pairs], Statistic],
) -> None:
    assert correlation([(1, 5), (None, 0), (2, 9), (0, None)]) == Statistic(1, 2)
    assert correlation([(1, 9), (2, 5)]) == Statistic(-1, 2)


@each
@pytest.mark.parametrize("bad", [True, False, "3", 3 + 0j])
def test_what_is_no_number_is_refused(correlation: Callable[[Any], Statistic], bad: object) -> None:
    with pytest.raises(TypeError, match="number or None"):
        correlation([(1, 2), (bad, 3)])


@each
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_what_is_not_finite_is_refused(correlation: Callable[[Any], Statistic], bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        correlation([(1, 2), (3, bad)])


@pytest.mark.parametrize("scale", [1e-200, 1e150])
def test_size_does_not_matter(scale: float) -> None:
    pairs = [(one and one * scale, two) for one, two in SEVEN]

    assert pearson(pairs).value == pytest.approx(pearson(SEVEN).value)


values = st.integers(-6, 6).map(lambda whole: whole / 4)
some_pairs = st.lists(st.tuples(st.none() | values, st.none() | values), max_size=25)


@given(some_pairs, st.randoms(use_true_random=False))
def test_sides_and_order_do_not_matter(pairs: Pairs, rng: random.Random) -> None:
    shuffled = rng.sample(pairs, len(pairs))
    swapped = [(two, one) for one, two in pairs]
    for correlation in ALL.values():
        result = correlation(pairs)
        assert correlation(shuffled) == result
        assert correlation(swapped) == result
        assert result.value is None or -1 <= result.value <= 1


@given(some_pairs)
def test_pairs_add_up_and_turn_with_a_side(pairs: Pairs) -> None:
    order = pair_order(pairs)
    turned = pair_order([(None if one is None else -one, two) for one, two in pairs])

    assert order.pairs == order.n * (order.n - 1) // 2
    assert (turned.concordant, turned.discordant) == (order.discordant, order.concordant)
    assert (turned.tied_first, turned.tied_second, turned.tied_both) == (
        order.tied_first,
        order.tied_second,
        order.tied_both,
    )


def test_twenty_thousand_pairs_take_less_than_three_seconds() -> None:
    rng = random.Random(5)
    pairs: Pairs = [(rng.random(), rng.randint(1, 5)) for _ in range(20_000)]
    began = time.process_time()
    results = [correlation(pairs) for correlation in ALL.values()]

    assert time.process_time() - began < 3
    assert all(one.value is not None and abs(one.value) < 0.05 for one in results)
