"""Agreement of ratings: worked by hand, published, random, and at the edges."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from metaeval import expected_values, near, reference_formulas

from touchstone.agreement import (
    LEVELS,
    BestConstant,
    Table,
    agreement_of,
    best_constant,
    bias,
    exact_share,
    judge_mean,
    kappa_interval,
    lower_median,
    mean_absolute_error,
    ordinal_alpha,
    pooled,
    quadratic_kappa,
    reference_mean,
    score_table,
    share_within_1,
    skill,
    spread_ratio,
    table_alpha,
    table_interval,
)
from touchstone.intervals import Statistic

Pairs = list[tuple[int | None, int | None]]
SEVEN: Pairs = list(zip((1, 2, 3, 4, 5, 3, 2), (2, 2, 3, 4, 4, 3, 1), strict=True))
STATISTICS: dict[str, Callable[[Table[int]], Statistic]] = {
    "exact": exact_share,
    "within_1": share_within_1,
    "mae": mean_absolute_error,
    "bias": bias,
    "spread_ratio": spread_ratio,
    "skill": skill,
    "qwk": quadratic_kappa,
    "alpha": table_alpha,
}
scores = st.none() | st.integers(1, 5)
some_pairs = st.lists(st.tuples(scores, scores), max_size=40)


def values_of(pairs: Pairs) -> dict[str, float | None]:
    table = score_table(pairs)
    return {name: statistic(table).value for name, statistic in STATISTICS.items()}


def reasons_of(pairs: Pairs) -> dict[str, str | None]:
    table = score_table(pairs)
    return {name: statistic(table).reason for name, statistic in STATISTICS.items()}


# --- numbers worked by hand -----------------------------------------------------------------------


def test_seven_dimensions_worked_by_hand() -> None:
    """Differences −1 0 0 0 1 0 1. The reference's best constant is 3 with 2+1+1+0+0+1+1 = 6.

    n² · variance: judge 7·68 − 20² = 76, reference 7·59 − 19² = 52.
    κ: Σd² = 3, and over all 49 pairings 7·(68 + 59) − 2·20·19 = 129, so 1 − 7·3/129.
    α: levels occur 2 4 4 3 1 times; four times the squared ordinal distance is 36 from 1 to 2
    and 16 from 4 to 5: within 2·(36 + 16 + 36) = 176, between 24080, so 1 − 13·176/24080.
    """
    found = agreement_of(score_table(SEVEN))

    assert found.exact == Statistic(4 / 7, 7)
    assert found.within_1 == Statistic(1.0, 7)
    assert found.mae == Statistic(3 / 7, 7)
    assert found.bias == Statistic(1 / 7, 7)
    assert found.spread_ratio == Statistic(near(math.sqrt(76 / 52)), 7)
    assert found.best_constant == BestConstant(3, 6 / 7)
    assert found.skill == Statistic(0.5, 7)
    assert found.qwk == Statistic(near(1 - 21 / 129), 7)
    assert found.alpha == Statistic(near(1 - 13 * 176 / 24080), 7)
    assert judge_mean(found.table) == Statistic(20 / 7, 7)
    assert reference_mean(found.table) == Statistic(19 / 7, 7)


def test_seven_dimensions_as_published() -> None:
    published = expected_values()["seven_dims"]
    pairs: Pairs = list(zip(published["judge"], published["ref"], strict=True))
    ours = values_of(pairs)

    for name, key in [
        ("exact", "exact"),
        ("within_1", "within1"),
        ("mae", "mae"),
        ("bias", "bias"),
        ("qwk", "kappa_quadratic"),
        ("alpha", "alpha_ordinal"),
    ]:
        assert ours[name] == pytest.approx(published[key], abs=1e-6), name


def test_alpha_of_three_raters_with_gaps_worked_by_hand() -> None:
    """The lone 5 counts for nothing, so there are four 1, three 2 and one distance, which cancels.

    Ordered pairs that differ, over raters − 1: 4/2 in (1, 1, 2) and 2/1 in each (1, 2), 6 in all;
    of any two ratings 2 · 4 · 3 = 24 would. α = 1 − (7 − 1) · 6 / 24.
    """
    raters = [[1, 1, None, 5], [1, 2, 1, None], [2, None, 2, None]]

    assert ordinal_alpha(raters) == Statistic(near(-0.5), 3)


@pytest.mark.parametrize("name", ["krippendorff_3x15", "krippendorff_4x12"])
def test_alpha_as_published(name: str) -> None:
    case = expected_values()[name]

    assert ordinal_alpha(case["rows"]).value == pytest.approx(case["ordinal"], abs=5e-5)


@pytest.mark.parametrize(
    ("counts", "suffix"), [("e0_x_e1", ""), ("gpt4omini_x_median", "_j")], ids=["experts", "judge"]
)
def test_1600_published_summaries(counts: str, suffix: str) -> None:
    published = expected_values()["summeval_relevance_1600"]
    table = Table(LEVELS, tuple(map(tuple, published[counts])))
    found = agreement_of(table)

    assert table.n == 1600
    for name in ("qwk", "exact", "mae", "bias"):
        value: Statistic = getattr(found, name)
        assert value.value == pytest.approx(published[name + suffix], abs=1e-6), name
    if suffix:
        assert found.within_1.value == pytest.approx(published["within1_j"])


@pytest.mark.parametrize("name", ["constant_raters", "one_off_constant"])
def test_constant_raters_as_published(name: str) -> None:
    published = expected_values()[name]
    ours = values_of([tuple(pair) for pair in published["pairs"]])

    assert ours["exact"] == pytest.approx(published["exact"], abs=1e-6)
    assert ours["qwk"] == published["kappa_quadratic"]
    assert ours["alpha"] == pytest.approx(published["alpha_ordinal"], abs=1e-6)


def test_random_cases_equal_the_reference_formulas() -> None:
    formulas = reference_formulas()
    rng = random.Random(13)
    for case in range(400):
        top, n = rng.randint(2, 5), rng.randint(1, 30)
        draw = [None, *range(1, top + 1)]
        pairs: Pairs = [(rng.choice(draw), rng.choice(draw)) for _ in range(n)]
        complete = formulas["pairs"]([one for one, _ in pairs], [two for _, two in pairs])
        if not complete:
            continue
        ours = values_of(pairs)
        assert ours["exact"] == pytest.approx(formulas["exact"](complete)), case
        assert ours["within_1"] == pytest.approx(formulas["adjacent"](complete)), case
        assert ours["mae"] == pytest.approx(formulas["mae"](complete)), case
        assert ours["bias"] == pytest.approx(formulas["bias"](complete)), case
        alpha = formulas["krippendorff"](list(zip(*complete, strict=True)))
        assert ours["alpha"] == pytest.approx(alpha), case
        if any(len(set(side)) > 1 for side in zip(*complete, strict=True)):
            assert ours["qwk"] == pytest.approx(formulas["weighted_kappa"](complete)), case


def test_random_panels_equal_the_reference_alpha() -> None:
    formula = reference_formulas()["krippendorff"]
    rng = random.Random(14)
    for case in range(300):
        raters = [[rng.choice([None, *LEVELS]) for _ in range(8)] for _ in range(rng.randint(2, 6))]
        units = [unit for unit in zip(*raters, strict=True) if sum(r is not None for r in unit) > 1]
        if not units:
            assert ordinal_alpha(raters) == Statistic(None, 0, "no_pairs"), case
            continue
        assert ordinal_alpha(raters).value == pytest.approx(formula(raters)), case


# --- edges ----------------------------------------------------------------------------------------


NOTHING: dict[str, float | None] = dict.fromkeys(STATISTICS)


@pytest.mark.parametrize(
    ("pairs", "values", "reasons"),
    [
        ([], {}, dict.fromkeys(STATISTICS, "no_pairs")),
        ([(None, 3), (4, None), (None, None)], {}, dict.fromkeys(STATISTICS, "no_pairs")),
        (
            [(3, 3)],
            {"exact": 1, "within_1": 1, "mae": 0, "bias": 0},
            {
                "spread_ratio": "reference_constant",
                "skill": "reference_constant",
                "qwk": "both_constant",
                "alpha": "one_value",
            },
        ),
        (
            [(4, 4)] * 7,
            {"exact": 1, "within_1": 1, "mae": 0, "bias": 0},
            {
                "spread_ratio": "reference_constant",
                "skill": "reference_constant",
                "qwk": "both_constant",
                "alpha": "one_value",
            },
        ),
        (  # α: two values, 3 times each; every pair differs: 1 − 5 · 6 / (2 · 9)
            [(5, 4)] * 3,
            {"exact": 0, "within_1": 1, "mae": 1, "bias": 1, "alpha": 1 - 30 / 18},
            {
                "spread_ratio": "reference_constant",
                "skill": "reference_constant",
                "qwk": "both_constant",
            },
        ),
        (  # skill: 5/3 over the best constant's 2/3; α: distances 64, 25, 25 within
            [(5, 2), (5, 4), (5, 4), (None, 1)],
            {
                "exact": 0,
                "within_1": 2 / 3,
                "mae": 5 / 3,
                "bias": 5 / 3,
                "spread_ratio": 0,
                "skill": -1.5,
                "qwk": 0,
                "alpha": 1 - 5 * (64 + 25 + 25) / (2 * 9 + 3 * 64 + 6 * 25),
            },
            {},
        ),
        (  # turned round
            [(1, 5), (5, 1)],
            {
                "exact": 0,
                "within_1": 0,
                "mae": 4,
                "bias": 0,
                "spread_ratio": 1,
                "skill": -1,
                "qwk": -1,
                "alpha": -0.5,
            },
            {},
        ),
        (
            [(1, 1), (5, 5)],
            {
                "exact": 1,
                "within_1": 1,
                "mae": 0,
                "bias": 0,
                "spread_ratio": 1,
                "skill": 1,
                "qwk": 1,
                "alpha": 1,
            },
            {},
        ),
    ],
)
def test_edges(pairs: Pairs, values: dict[str, float], reasons: dict[str, str]) -> None:
    assert values_of(pairs) == pytest.approx({**NOTHING, **values})
    assert reasons_of(pairs) == {**NOTHING, **reasons}
    table = score_table(pairs)
    assert {statistic(table).n for statistic in STATISTICS.values()} == {table.n}


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ([], None),
        ([3], BestConstant(3, 0.0)),
        ([1, 5], BestConstant(1, 2.0)),
        ([2, 4, 5, 5], BestConstant(4, 1.0)),
        ([1, 1, 1, 5], BestConstant(1, 1.0)),
        ([4, 5, 5], BestConstant(5, 1 / 3)),
    ],
)
def test_the_best_constant_is_the_lower_median(
    reference: list[int], expected: BestConstant[int] | None
) -> None:
    assert best_constant(score_table([(1, score) for score in reference])) == expected
    if expected:
        assert expected.score == lower_median(reference)


@pytest.mark.parametrize(
    ("panel", "expected"),
    [
        ([], None),
        ([None, None], None),
        ([3], 3),
        ([2, 3], 2),
        ([5, None, 1], 1),
        ([4, 2, 3], 3),
        ([5, 5, 1, 1], 1),
    ],
)
def test_a_panels_reference_is_the_lower_median(
    panel: list[int | None], expected: int | None
) -> None:
    assert lower_median(panel) == expected


@pytest.mark.parametrize(
    ("raters", "n", "reason"),
    [
        ([], 0, "one_rater"),
        ([[1, 2]], 0, "one_rater"),
        ([[], []], 0, "no_pairs"),
        ([[1, None], [None, 2]], 0, "no_pairs"),
        ([[None] * 3] * 3, 0, "no_pairs"),
        ([[4, 4, 1], [4, None, None], [None, 4, None]], 2, "one_value"),
    ],
)
def test_an_undefined_alpha_has_a_reason(
    raters: Sequence[Sequence[int | None]], n: int, reason: Any
) -> None:
    assert ordinal_alpha(raters) == Statistic(None, n, reason)


def test_raters_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="one entry per thing"):
        ordinal_alpha([[1, 2], [1]])


# --- properties -----------------------------------------------------------------------------------


@given(some_pairs, st.randoms(use_true_random=False))
def test_the_order_of_pairs_does_not_matter(pairs: Pairs, rng: random.Random) -> None:
    assert values_of(rng.sample(pairs, len(pairs))) == values_of(pairs)


@given(some_pairs)
def test_sides_may_be_swapped_but_for_bias_spread_and_skill(pairs: Pairs) -> None:
    ours, swapped = values_of(pairs), values_of([(two, one) for one, two in pairs])

    for name in ("exact", "within_1", "mae", "qwk", "alpha"):
        assert ours[name] == swapped[name], name
    if ours["bias"] is not None:
        assert ours["bias"] == -(swapped["bias"] or 0)


@given(some_pairs)
def test_a_scale_turned_over_changes_only_the_sign_of_bias(pairs: Pairs) -> None:
    turned = values_of([(one and 6 - one, two and 6 - two) for one, two in pairs])
    ours = values_of(pairs)

    assert turned == pytest.approx({**ours, "bias": ours["bias"] and -ours["bias"]})


@given(some_pairs)
def test_values_stay_in_their_bounds(pairs: Pairs) -> None:
    found = agreement_of(score_table(pairs))
    values = values_of(pairs)
    if found.exact.value is None or found.within_1.value is None or found.mae.value is None:
        assert found.table.n == 0
        return

    assert 0 <= found.exact.value <= found.within_1.value <= 1
    assert abs(found.bias.value or 0) <= found.mae.value <= 4
    assert all(values[name] is None or -1 <= (values[name] or 0) <= 1 for name in ("qwk", "alpha"))
    assert found.skill.value is None or found.skill.value <= 1
    assert found.table.n + found.table.left_out == len(pairs)


@given(st.lists(st.integers(1, 5), min_size=2).filter(lambda given: len(set(given)) > 1))
def test_no_constant_has_skill_and_the_best_one_has_0(reference: list[int]) -> None:
    best = best_constant(score_table([(1, score) for score in reference]))
    assert best is not None
    for level in LEVELS:
        found = skill(score_table([(level, score) for score in reference])).value
        assert found is not None
        assert found <= 0
        if level == best.score:
            assert found == 0


@given(st.lists(st.lists(scores, min_size=6, max_size=6), min_size=2, max_size=5))
def test_alpha_knows_neither_raters_nor_the_order_of_things(
    raters: list[list[int | None]],
) -> None:
    found = ordinal_alpha(raters)

    assert ordinal_alpha(raters[::-1]) == found
    assert ordinal_alpha([rater[::-1] for rater in raters]) == found
    if len(raters) == 2:
        assert found == table_alpha(score_table(zip(*raters, strict=True)))


# --- intervals ------------------------------------------------------------------------------------


def models(count: int, pairs: int = 7, seed: int = 8) -> list[Table[int]]:
    rng = random.Random(seed)
    drawn = [[(rng.randint(1, 5), rng.randint(1, 5)) for _ in range(pairs)] for _ in range(count)]
    return [score_table(one) for one in drawn]


@pytest.mark.parametrize("name", STATISTICS)
def test_an_interval_knows_neither_names_nor_order_of_models(name: str) -> None:
    tables = models(9)
    interval = table_interval(STATISTICS[name], tables, seed=7, repetitions=200)

    assert interval == table_interval(STATISTICS[name], tables[::-1], seed=7, repetitions=200)
    assert interval.bounds is not None
    value = STATISTICS[name](pooled(tables)).value
    assert value is not None
    assert interval.bounds[0] < value < interval.bounds[1]


def test_whole_models_are_drawn_not_pairs() -> None:
    """Within a model all pairs agree or none does; of drawn pairs the share would lie at .5."""
    agree, differ = score_table([(3, 3)] * 50), score_table([(1, 3)] * 50)
    interval = table_interval(exact_share, [agree, differ] * 3, seed=2)

    assert interval.bounds == (near(1 / 6), near(5 / 6))


def test_a_few_models_have_a_range_of_their_own_values() -> None:
    tables = [score_table(SEVEN), score_table([(5, 3)] * 4), score_table([(None, 3)])]
    interval = table_interval(mean_absolute_error, tables, seed=1)

    assert (interval.kind, interval.bounds) == ("range", (3 / 7, 2.0))
    assert (interval.clusters, interval.seed) == (2, None)


@pytest.mark.parametrize(
    ("tables", "reason"),
    [
        ([], "no_clusters"),
        ([score_table([(None, 3)])] * 6, "no_clusters"),
        ([score_table(SEVEN)], "one_value"),
    ],
)
def test_without_models_that_differ_there_is_no_interval(
    tables: list[Table[int]], reason: str
) -> None:
    interval = table_interval(exact_share, tables, seed=1)

    assert (interval.kind, interval.bounds, interval.reason) == ("none", None, reason)


@pytest.mark.parametrize(
    ("counts", "kind"), [((10, 9), "none"), ((10, 10), "range"), ((4,) * 5, "interval")]
)
def test_kappa_has_an_interval_from_20_pairs(counts: tuple[int, ...], kind: str) -> None:
    tables = [models(1, count, seed)[0] for seed, count in enumerate(counts)]
    interval = kappa_interval(tables, seed=1)

    assert (interval.kind, interval.clusters) == (kind, len(counts))
    assert interval.reason == ("too_few_pairs" if kind == "none" else None)


def test_kappa_without_any_model_says_so() -> None:
    assert kappa_interval([], seed=1).reason == "no_clusters"


def test_many_pairs_and_bootstraps_take_less_than_three_seconds() -> None:
    rng = random.Random(6)
    pairs: Pairs = [(rng.randint(1, 5), rng.randint(1, 5)) for _ in range(20_000)]
    tables = models(40)
    began = time.process_time()
    found = agreement_of(score_table(pairs))
    intervals = [table_interval(one, tables, seed=1) for one in STATISTICS.values()]

    assert time.process_time() - began < 3
    assert found.table.n == 20_000
    assert all(one.repetitions == 2000 for one in intervals)
