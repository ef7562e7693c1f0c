"""Pairs of ratings are counted in a table; what is no rating is refused."""

from __future__ import annotations

from typing import Any

import pytest

from touchstone.agreement import (
    FLAGS,
    BestConstant,
    Table,
    agreement_of,
    bias,
    flag_error_rates,
    flag_table,
    lower_median,
    mean_absolute_error,
    ordinal_alpha,
    paired,
    pooled,
    score_table,
)
from touchstone.intervals import Statistic
from touchstone.models import Flag

# --- tables ---------------------------------------------------------------------------------------


def test_pairs_are_counted_by_row_and_column() -> None:
    table = score_table([(1, 2), (1, 2), (5, 1), (3, 3), (None, 3), (4, None), (None, None)])

    assert table.counts == (
        (0, 2, 0, 0, 0),
        (0, 0, 0, 0, 0),
        (0, 0, 1, 0, 0),
        (0, 0, 0, 0, 0),
        (1, 0, 0, 0, 0),
    )
    assert (table.n, table.left_out, table.coverage) == (4, 3, 4 / 7)
    assert table.judge_totals == (2, 0, 1, 0, 1)
    assert table.reference_totals == (1, 2, 1, 0, 0)
    assert list(table.cells()) == [(0, 1, 2), (2, 2, 1), (4, 0, 1)]


def test_flags_are_counted_from_green_to_red() -> None:
    table = flag_table([("green", "green"), ("green", "red"), ("yellow", "red"), ("red", None)])

    assert table.labels == ("green", "yellow", "red")
    assert table.counts == ((1, 0, 1), (0, 0, 1), (0, 0, 0))
    assert (table.n, table.left_out) == (3, 1)
    assert mean_absolute_error(table) == Statistic(1.0, 3)
    assert bias(table) == Statistic(-1.0, 3)


def test_no_pairs_have_no_coverage() -> None:
    assert score_table([]).coverage is None
    assert score_table([(None, 1)]).coverage == 0
    assert score_table([(None, 1), (1, 1)]).coverage == 0.5
    assert Table((1, 2), ((1, 0), (0, 2))).coverage == 1


@pytest.mark.parametrize("bad", [True, False, 3.0, "3", [3]])
@pytest.mark.parametrize("side", [0, 1])
def test_what_is_no_integer_is_no_score(bad: Any, side: int) -> None:
    pair = (bad, 3) if side == 0 else (3, bad)

    with pytest.raises(TypeError, match="one of 1, 2, 3, 4, 5 or None"):
        score_table([(3, 3), pair])
    with pytest.raises(TypeError, match="one of 1, 2, 3, 4, 5 or None"):
        ordinal_alpha(([pair[0]], [pair[1]]))
    with pytest.raises(TypeError, match="one of 1, 2, 3, 4, 5 or None"):
        lower_median(pair)


@pytest.mark.parametrize("bad", [0, 6, -1, 10**30])
def test_a_score_beyond_the_scale_is_refused(bad: int) -> None:
    with pytest.raises(ValueError, match="one of 1, 2, 3, 4, 5 or None"):
        score_table([(bad, 3)])
    with pytest.raises(ValueError, match="one of 1, 2, 3, 4, 5 or None"):
        ordinal_alpha(([bad], [3]))
    with pytest.raises(ValueError, match="one of 1, 2, 3, 4, 5 or None"):
        lower_median([bad])


def test_what_is_no_flag_is_refused_and_not_shown_at_length() -> None:
    hostile: Any = "purple" * 10_000
    with pytest.raises(ValueError, match="green, yellow, red") as refused:
        flag_table([(hostile, "red")])
    assert len(str(refused.value)) < 200
    number: Any = 1
    with pytest.raises(TypeError, match="green, yellow, red"):
        flag_table([(number, "red")])


def test_two_mappings_are_paired_over_all_keys() -> None:
    judge = {"Q1": 4, "Q2": None, "Q3": 2}
    reference = {"Q4": 1, "Q3": 3, "Q1": 5}

    pairs = paired(judge, reference)

    assert pairs == [(4, 5), (None, None), (2, 3), (None, 1)]
    assert (score_table(pairs).n, score_table(pairs).left_out) == (2, 2)
    assert paired(judge, {}) == [(4, None), (None, None), (2, None)]


def test_tables_are_pooled() -> None:
    first: list[tuple[int | None, int | None]] = [(1, 2), (1, 2), (None, 3)]
    second: list[tuple[int | None, int | None]] = [(1, 2), (5, 4), (None, None)]

    assert pooled([score_table(first)]) == score_table(first)
    together = pooled([score_table(part) for part in (first, [], second)])
    assert together == score_table([*first, *second])
    assert (together.counts[0][1], together.left_out) == (3, 2)
    with pytest.raises(ValueError, match="different ratings"):
        pooled([Table((1, 2), ((0, 0), (0, 0))), Table((1,), ((0,),))])


@pytest.mark.parametrize("counts", [((1, 2),), ((1,), (2,)), ((1, 2, 3), (1, 2, 3)), ()])
def test_a_table_that_is_not_square_is_refused(counts: tuple[tuple[int, ...], ...]) -> None:
    with pytest.raises(ValueError, match="2 rows of 2 counts"):
        Table((1, 2), counts)


def test_a_table_has_no_negative_counts() -> None:
    with pytest.raises(ValueError, match="below 0"):
        Table((1, 2), ((1, 0), (-1, 2)))


# --- flags ----------------------------------------------------------------------------------------


def test_error_rates_of_flags_by_hand() -> None:
    """The reference has 3 red: 1 found. Of its 5 others 2 were called red."""
    rows = ((2, 0, 1), (0, 1, 1), (1, 1, 1))
    table = Table(FLAGS, rows)
    rates = flag_error_rates(table)

    assert (rates.fnr.count, rates.fnr.n) == (2, 3)
    assert (rates.fpr.count, rates.fpr.n) == (2, 5)
    assert rates.fpr.bounds is not None
    not_green = flag_error_rates(table, positive=("yellow", "red"))
    assert (not_green.fnr.count, not_green.fnr.n) == (1, 5)
    assert (not_green.fpr.count, not_green.fpr.n) == (1, 3)


def test_a_flag_table_has_every_statistic() -> None:
    flags: list[tuple[Flag | None, Flag | None]] = [
        ("green", "green"),
        ("yellow", "red"),
        ("red", "red"),
        ("green", "yellow"),
    ]
    found = agreement_of(flag_table(flags))
    as_scores = agreement_of(score_table([(1, 1), (2, 3), (3, 3), (1, 2)]))

    assert (found.exact, found.mae, found.bias) == (
        as_scores.exact,
        as_scores.mae,
        as_scores.bias,
    )
    assert (found.qwk, found.alpha, found.skill) == (
        as_scores.qwk,
        as_scores.alpha,
        as_scores.skill,
    )
    assert found.best_constant == BestConstant("yellow", 0.75)
