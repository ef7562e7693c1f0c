"""Judges side by side: who may stand in one table, and how far two judges are apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from builders_judge_compare import ALPHA, BASIS, BETA, flagged, judged, result, scored
from metaeval import near

from touchstone.agreement import LEVELS, Table
from touchstone.gui.judge_meta.compare import (
    Comparison,
    compare_judges,
    comparison_json,
)
from touchstone.gui.judge_meta.compare_md import render_comparison_md
from touchstone.gui.judge_meta.ratings import RatedReference, rated_reference
from touchstone.gui.judge_meta.results import Figures, Result


def bundles_in(comparison: Comparison) -> list[list[str]]:
    return [[one.judged.bundle for one in group.entries] for group in comparison.groups]


# --- who may be compared with whom ---------------------------------------------------------


def test_judges_on_the_same_basis_stand_together_best_skill_first() -> None:
    found = compare_judges(
        [
            judged("a", result(None)),
            judged("b", result(-0.5)),
            judged("c", result(0.9)),
            judged("d", result(0.0)),
        ]
    )
    assert bundles_in(found) == [["c", "d", "b", "a"]]
    assert found.differences == ()


def test_equal_skill_is_ordered_by_distance_then_by_name() -> None:
    far = replace(result(), figures=Figures(n=4, mae=1.0, skill=0.5))
    found = compare_judges([judged("a", far), judged("c", result()), judged("b", result())])
    assert bundles_in(found) == [["b", "c", "a"]]


DIFFERENCES: dict[str, tuple[Any, Any, Any]] = {
    "suite": ("t" * 64, "s" * 64, "t" * 64),
    "answers": ("b" * 64, "a" * 64, "b" * 64),
    "rubric": ("v1", "v2", "v1"),
    "references": (("bob", "eva"), ["eva"], ["bob", "eva"]),
    "blind": (False, True, False),
    "mode": ("map-reduce", "single", "map-reduce"),
}


@pytest.mark.parametrize("what", DIFFERENCES)
def test_one_difference_in_the_basis_keeps_judges_apart_and_is_named(what: str) -> None:
    other, first, second = DIFFERENCES[what]
    found = compare_judges(
        [judged("a", result()), judged("b", result(basis=replace(BASIS, **{what: other})))]
    )
    assert bundles_in(found) == [["a"], ["b"]]
    (difference,) = found.differences
    assert difference.groups == (0, 1)
    assert [vars(one) for one in difference.what] == [
        {"what": what, "first": first, "second": second}
    ]


def test_several_differences_are_all_named() -> None:
    other = replace(BASIS, blind=False, mode=None, references=("bob",))
    found = compare_judges([judged("a", result()), judged("b", result(basis=other))])
    assert [one.what for one in found.differences[0].what] == ["references", "blind", "mode"]


def test_every_two_groups_have_their_difference() -> None:
    modes = ["single", "map-reduce", None]
    found = compare_judges(
        [judged(str(at), result(basis=replace(BASIS, mode=mode))) for at, mode in enumerate(modes)]
    )
    assert [one.groups for one in found.differences] == [(0, 1), (0, 2), (1, 2)]


def test_references_are_told_apart_whatever_their_case_and_order() -> None:
    one = replace(BASIS, references=("Eva", "bob"))
    two = replace(BASIS, references=("bob", "eva "))
    found = compare_judges([judged("a", result(basis=one)), judged("b", result(basis=two))])
    assert bundles_in(found) == [["a", "b"]]


def test_two_judges_without_a_mode_are_alike_in_that() -> None:
    no_mode = result(basis=replace(BASIS, mode=None))
    assert bundles_in(compare_judges([judged("a", no_mode), judged("b", no_mode)])) == [["a", "b"]]


@pytest.mark.parametrize(
    "unsaid",
    [{"blind": None}, {"rubric": None}, {"references": ()}],
    ids=["blind", "rubric", "who"],
)
def test_what_is_unsaid_equals_nothing(unsaid: dict[str, Any]) -> None:
    unknown = result(basis=replace(BASIS, **unsaid))
    found = compare_judges([judged("a", unknown), judged("b", unknown)])
    assert bundles_in(found) == [["a"], ["b"]]
    assert [group.obstacle for group in found.groups] == ["unsaid", "unsaid"]
    assert [one.what for one in found.differences[0].what] == ["obstacle"]


OBSTACLES: dict[str, dict[str, Any]] = {
    "changed": {"is_stale": True},
    "unbound": {"is_stale": True, "is_bound": False},
    "other_judge": {"judge": "print of somebody else"},
}


@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_a_result_about_something_else_is_marked_and_compared_with_nothing(obstacle: str) -> None:
    found = compare_judges(
        [judged("a", result()), judged("b", result(**OBSTACLES[obstacle])), judged("c", result())]
    )
    assert bundles_in(found) == [["a", "c"], ["b"]]
    assert [group.obstacle for group in found.groups] == [None, obstacle]
    (marked,) = comparison_json(found)["groups"][1]["judges"]
    assert marked["obstacle"] == obstacle
    assert marked["stale"] is (obstacle != "unbound")
    assert found.differences[0].what[0].second == obstacle


def test_a_result_that_is_about_the_bundle_is_about_its_suite_and_answers() -> None:
    silent = replace(BASIS, suite=None, answers=None)
    found = compare_judges([judged("a", result()), judged("b", result(basis=silent))])
    assert bundles_in(found) == [["a", "b"]]


def test_a_judge_without_a_result_takes_part_in_the_matrix_only() -> None:
    found = compare_judges(
        [judged("a", result(), scored(1, 2, 3, 4)), judged("b", None, scored(1, 2, 3, 4))]
    )
    assert bundles_in(found) == [["a"]]
    assert [one.bundle for one in found.without_quality] == ["b"]
    assert [one.bundle for one in found.matrices[0].judged] == ["a", "b"]


def test_a_bundle_that_nobody_judged_is_not_in_it() -> None:
    found = compare_judges([judged("a", result()), judged("b")])
    assert found.without_quality == ()
    assert bundles_in(found) == [["a"]]


def test_nothing_at_all_gives_an_empty_comparison() -> None:
    assert compare_judges([]) == Comparison((), (), (), ())


# --- the best constant ---------------------------------------------------------------------


def table(*pairs: tuple[int, int]) -> Table[int]:
    """Count (judge, reference) pairs."""
    counts = [[sum(pair == (one, two) for pair in pairs) for two in LEVELS] for one in LEVELS]
    return Table(LEVELS, tuple(map(tuple, counts)))


def with_table(of: Table[int]) -> Result:
    return result(figures=Figures(n=of.n, skill=0.0, table=of))


def test_the_best_constant_is_a_row_with_figures_of_its_own() -> None:
    # The reference gave 1, 2, 2, 5: lower median 2, off by 1, 0, 0, 3.
    found = compare_judges([judged("a", with_table(table((5, 1), (5, 2), (4, 2), (4, 5))))])
    (constant,) = found.groups[0].constants
    assert (constant.score, constant.bundles) == (2, ("a",))
    assert constant.figures.n == 4
    assert constant.figures.exact == 0.5
    assert constant.figures.within_1 == 0.75
    assert constant.figures.mae == 1.0
    assert constant.figures.bias == -0.5
    assert constant.figures.skill == 0
    assert constant.figures.qwk == 0
    assert constant.figures.coverage is None


def test_judges_compared_on_the_same_ratings_share_a_constant_and_others_do_not() -> None:
    same_ratings = [table((5, 1), (5, 2)), table((1, 1), (2, 2))]
    found = compare_judges(
        [
            *(judged(name, with_table(one)) for name, one in zip("ab", same_ratings, strict=True)),
            judged("c", with_table(table((5, 1)))),
        ]
    )
    assert [(one.score, one.bundles) for one in found.groups[0].constants] == [
        (1, ("a", "b")),
        (1, ("c",)),
    ]


def test_a_constant_reference_has_a_perfect_constant_and_no_skill() -> None:
    found = compare_judges([judged("a", with_table(table((5, 3), (4, 3))))])
    (constant,) = found.groups[0].constants
    assert (constant.score, constant.figures.mae) == (3, 0)
    assert constant.figures.skill is None
    assert constant.figures.qwk is None


def test_without_counts_the_stored_constant_stands_there_with_what_is_known() -> None:
    found = compare_judges([judged("a", result(constant=(4, 0.71))), judged("b", result())])
    (constant,) = found.groups[0].constants
    assert (constant.score, constant.bundles) == (4, ("a",))
    assert (constant.figures.mae, constant.figures.exact) == (0.71, None)


# --- references with each other ------------------------------------------------------------


def rated(name: str, *scores: int | None, **more: Any) -> RatedReference:
    by_pair: dict[tuple[str, str], dict[str, int]] = {}
    for (model, variant, dimension), score in scored(*scores).items():
        by_pair.setdefault((model, variant), {})[dimension] = score
    return RatedReference(
        **{"id": name, "kind": "human", "scores": by_pair, "knock_outs": {}, **more}
    )


def test_two_references_are_compared_with_each_other() -> None:
    ada = rated("ada", 4, 3, 2, None, knock_outs={ALPHA: False, BETA: True})
    bob = rated("bob", 5, 3, 4, 1, knock_outs={ALPHA: False, BETA: False})
    found = compare_judges([judged("a", result(), references=(ada, bob)), judged("b", result())])
    (between,) = found.groups[0].references
    assert between.ids == ("ada", "bob")
    assert between.kinds == ("human", "human")
    figures = between.figures
    assert (figures.n, figures.coverage) == (3, 0.75)
    assert figures.exact == near(1 / 3)
    assert figures.within_1 == near(2 / 3)
    assert figures.mae == near(1.0)
    # By model: alpha (1 + 0) / 2, beta 2 / 1; two models give a range.
    assert figures.mae_ci == (0.5, 2.0)
    # Ada: alpha (4·3 + 3) / 20 = 75 %, beta 6 / 20 = 30 %; Bob: 90 % and 65 %.
    assert (figures.concordant, figures.ranked_pairs) == (1, 1)
    assert (figures.ko_agree, figures.ko_n) == (1, 2)
    assert (figures.bias, figures.skill, figures.ko_missed) == (None, None, None)


def test_three_references_make_three_rows_whichever_bundles_they_come_from() -> None:
    one, two, three = (rated(name, 1, 2, 3, 4) for name in ("c", "a", "b"))
    found = compare_judges(
        [
            judged("x", result(), references=(one, two)),
            judged("y", result(), references=(two, three)),
        ]
    )
    assert [row.ids for row in found.groups[0].references] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert {row.figures.qwk for row in found.groups[0].references} == {1.0}


def test_the_references_of_a_stale_result_are_not_taken() -> None:
    both = (rated("a", 1, 2, 3, 4), rated("b", 1, 2, 3, 4))
    found = compare_judges([judged("x", result(is_stale=True), references=both)])
    assert found.groups[0].references == ()


FORM = """\
format: 1
evaluator: {id: eva, kind: ai}
reports:
  - model: alpha
    variant: default
    knock_out: false
    fresh:
      Q1: {score: 4, rationale: "x"}
      Q2: {score: null, rationale: "not seen"}
  - model: beta
    variant: default
    knock_out: null
    fresh: {Q1: {score: 9}, Q2: {score: true}, Q3: 5, Q4: {}}
  - model: [beta]
    variant: other
  - just a string
"""


def test_ratings_are_read_from_a_response_and_what_is_none_is_left_out() -> None:
    found = rated_reference("eva", "ai", FORM)
    assert found == RatedReference("eva", "ai", {ALPHA: {"Q1": 4}}, {ALPHA: False})


@pytest.mark.parametrize("text", ["", "[]", "reports: 5", "reports: [{}]", "a: [", "\0", "- &a *a"])
def test_a_response_that_says_nothing_rates_nothing(text: str) -> None:
    assert rated_reference("eva", "ai", text) is None


# --- judge × judge -------------------------------------------------------------------------


def test_two_judges_of_the_same_answers_are_compared_without_any_reference() -> None:
    # |4−5|, |3−3|, |2−4|; beta's Q2 has one score only.
    found = compare_judges(
        [
            judged("b", None, scored(5, 3, 4, None), flagged("green", "red")),
            judged("a", None, scored(4, 3, 2, 1), flagged("green", "yellow")),
        ]
    )
    (matrix,) = found.matrices
    assert [one.bundle for one in matrix.judged] == ["a", "b"]
    cell = matrix.cell(0, 1)
    assert cell is not None
    assert cell == matrix.cell(1, 0)
    assert cell.mae.n == 3
    assert cell.mae.value == near(1.0)
    # Squares 1 + 0 + 4 = 5 in three pairs; over all nine of (4, 3, 2) × (5, 3, 4) they are 21.
    assert cell.qwk.value == near(1 - 3 * 5 / 21)
    assert (cell.flags.count, cell.flags.n) == (1, 2)
    assert matrix.cell(0, 0) is None


def test_judges_of_other_answers_or_another_suite_are_in_no_matrix_together() -> None:
    scores = scored(1, 2, 3, 4)
    found = compare_judges(
        [
            judged("a", None, scores),
            judged("b", None, scores, answers_sha256="b" * 64),
            judged("c", None, scores, suite_sha256="t" * 64),
        ]
    )
    assert found.matrices == ()


def test_where_nothing_is_common_or_all_is_equal_the_reason_is_given() -> None:
    found = compare_judges(
        [
            judged("a", None, scored(1, 1, None, None)),
            judged("b", None, scored(1, 1, None, None)),
            judged("c", None, scored(None, None, 1, 1), flagged("green")),
        ]
    )
    (matrix,) = comparison_json(found)["matrices"]
    assert matrix["mean_abs_delta"] == [[None, 0, None], [0, None, None], [None, None, None]]
    assert matrix["n"] == [[None, 2, 0], [2, None, 0], [0, 0, None]]
    assert matrix["qwk"][0] == [None, None, None]
    assert matrix["qwk_reason"][0] == [None, "both_constant", "no_pairs"]
    assert matrix["flags_equal"] == [[None] * 3] * 3
    assert matrix["flags_n"][0] == [None, 0, 0]


def test_a_stale_result_does_not_keep_a_judge_out_of_the_matrix() -> None:
    stale = judged("a", result(is_stale=True), scored(1, 2, 3, 4))
    found = compare_judges([stale, judged("b", None, scored(1, 2, 3, 4))])
    assert [one.bundle for one in found.matrices[0].judged] == ["a", "b"]


# --- JSON ----------------------------------------------------------------------------------


def test_json_says_on_what_basis_each_group_is_comparable() -> None:
    (group,) = comparison_json(compare_judges([judged("a", result())]))["groups"]
    assert group["comparable"] == {
        "suite": "s" * 64,
        "answers": "a" * 64,
        "rubric": "v2",
        "references": ["eva"],
        "blind": True,
        "mode": "single",
    }
    (judge,) = group["judges"]
    assert (judge["bundle"], judge["judge"], judge["judge_id"]) == ("a", "print of a", "judge of a")
    assert (judge["mean_abs_delta"], judge["skill"]) == (0.5, 0.5)
    assert judge["exact"] is None


# --- Markdown ------------------------------------------------------------------------------


def rows_of(markdown: str) -> list[list[str]]:
    """Return the cells of every table row, heads and rules included."""
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    return [line[2:-2].replace("\\|", "/").split(" | ") for line in lines]


def full_comparison() -> Comparison:
    both = (rated("ada", 4, 3, 2, 1), rated("bob", 5, 3, 4, 1))
    one = with_table(table((5, 1), (4, 2)))
    return compare_judges(
        [
            judged("a", replace(one, headline="judge-meta v2 | a"), scored(1, 2, 3, 4)),
            judged("b", result(0.25), scored(2, 2, 3, 4), flagged("green"), references=both),
            judged("c", result(basis=replace(BASIS, blind=False)), scored(1, 1, 1, 1)),
            judged("d", result(is_stale=True)),
            judged("e", None, scored(1, 1, 1, 1), flagged("green")),
        ]
    )


def test_markdown_holds_every_part_of_the_comparison() -> None:
    text = render_comparison_md(full_comparison())
    assert "## 1\\. Small, against eva" in text
    assert "| judge of b | b | AI | print of b | 4 |" in text
    assert "| best constant: always 1 |" in text
    assert "| ada and bob | – | human–human |" in text
    assert "- Table 2 differs from table 1: not blind instead of blind" in text
    assert "stale: the bundle has changed since" in text
    assert "only judge by judge: e" in text
    assert "| judge of a (a) | · | 0.25, κ 0.88 (4) |" in text
    assert "κ –: both judges gave one and the same score throughout" in text
    assert "```text\njudge-meta v2 | a\n```" in text
    assert "| judge of e (e) | – (0) | 100 % (1) |" in text


def test_markdown_is_german_where_asked() -> None:
    text = render_comparison_md(full_comparison(), "de")
    assert "## 1\\. Klein, gegen eva" in text
    assert "| judge of a (a) | · | 0,25, κ 0,88 (4) |" in text
    assert "nicht blind statt blind" in text
    assert "Mensch–Mensch" in text


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_row_of_a_table_has_as_many_cells_as_its_head(language: str) -> None:
    rows = rows_of(render_comparison_md(full_comparison(), language))
    width = 0
    for at, row in enumerate(rows):
        if at + 1 < len(rows) and rows[at + 1][0] == "---":
            width = len(row)
        assert len(row) == width, row


def test_hostile_names_stay_in_their_cells() -> None:
    evil = "a | b\n# <img src=x onerror=y> `x` [l](javascript:x)"
    hostile = judged(
        evil,
        result(headline=f"```\n{evil}", basis=replace(BASIS, references=(evil,), mode=evil)),
        scored(1, 2, 3, 4),
        judge=evil,
    )
    text = render_comparison_md(compare_judges([hostile, judged("b", None, scored(1, 2, 3, 4))]))
    outside = "".join(part for at, part in enumerate(text.split("````")) if at % 2 == 0)
    assert "<img" not in outside.replace("\\<img", "")
    assert "\n# <" not in text
    assert {len(row) for row in rows_of(outside)} == {19, 3}


def test_without_two_judges_of_the_same_answers_that_is_said() -> None:
    assert "No two judges" in render_comparison_md(compare_judges([judged("a", result())]))
