"""Published figures of judge agreement are recomputed, and a difference is never passed over."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from pathlib import Path

import metaeval_values
import published_figures
import pytest
from judge_data import AnswerKey, ChatReply, RatedSummary, StoryScores
from metaeval import DATA, near
from reproduce_judges import main
from reproduction_table import HEADINGS, Row, agrees, digits_of, render_table, summary

from touchstone.errors import InputError

# --- the table ------------------------------------------------------------------------------------


def row(published: str, ours: float | None, remark: str = "", explains: float = 0.0) -> Row:
    return Row("paper", "kappa", (published,), (ours,), remark, explains)


@pytest.mark.parametrize(
    ("printed", "digits"), [("0.443666", 6), ("0.430", 3), ("141", 0), ("-1.5", 1), ("1E+2", 0)]
)
def test_a_printed_figure_says_how_precise_it_is(printed: str, digits: int) -> None:
    assert digits_of(printed) == digits


@pytest.mark.parametrize("bad", ["NaN", "Infinity"])
def test_what_is_not_finite_was_not_published(bad: str) -> None:
    with pytest.raises(ValueError, match="finite"):
        digits_of(bad)


@pytest.mark.parametrize(
    ("published", "ours", "digits", "expected"),
    [
        (0.43, 0.4349, 2, True),
        (0.43, 0.4351, 2, False),
        (0.43, 0.425, 2, True),
        (0.43, 0.4249, 2, False),
        (141, 141, 0, True),
        (141, 142, 0, False),
        (0.5, None, 1, False),
    ],
)
def test_figures_agree_within_half_a_digit(
    published: float, ours: float | None, digits: int, expected: bool
) -> None:
    assert agrees(published, ours, digits) is expected


@pytest.mark.parametrize(
    ("one", "reproduced", "holds"),
    [
        (row("0.43", 0.4301), True, True),
        (row("0.43", 0.44), False, False),
        (row("0.43", 0.44, "fewer systems"), False, False),
        (row("0.43", 0.44, "fewer systems", 0.02), False, True),
        (row("0.43", 0.46, "fewer systems", 0.02), False, False),
        (row("0.43", None, "fewer systems", 0.02), False, False),
    ],
)
def test_a_remark_explains_a_difference_only_up_to_its_bound(
    one: Row, reproduced: bool, holds: bool
) -> None:
    assert (one.reproduced, one.holds) == (reproduced, holds)
    assert one.cells()[-1].startswith("DIFFERS") is not holds


def test_every_figure_of_a_row_counts_and_the_largest_difference_is_shown() -> None:
    both = Row("paper", "range", ("0.31", "0.45"), (0.3104, 0.4), between="-")

    assert not both.holds
    assert both.difference == near(-0.05)
    assert both.cells() == ("paper", "range", "0.31-0.45", "0.31-0.40", "-0.050", "DIFFERS.")
    undefined = Row("paper", "range", ("0.31", "0.45"), (0.31, None))
    assert undefined.difference is None
    assert undefined.cells()[3:5] == ("0.31/-", "-")


@pytest.mark.parametrize(("published", "ours"), [((), ()), (("1", "2"), (1.0,))])
def test_a_row_needs_one_figure_of_ours_per_published_one(
    published: tuple[str, ...], ours: tuple[float, ...]
) -> None:
    with pytest.raises(ValueError, match="one figure"):
        Row("paper", "kappa", published, ours)


def test_a_difference_is_not_excused_without_a_remark() -> None:
    with pytest.raises(ValueError, match="by a remark"):
        row("0.43", 0.44, explains=0.02)


def test_the_table_lines_up_and_the_summary_counts() -> None:
    rows = [row("0.4", 0.41), row("0.43", 0.44, "why", 0.02), row("141", 7)]

    lines = render_table(rows).splitlines()

    assert lines[0] == "| source | what  | published | ours | difference | remark |"
    assert lines[1] == "| ------ | ----- | --------- | ---- | ---------- | ------ |"
    assert lines[3] == "| paper  | kappa | 0.43      | 0.44 | +0.010     | why |"
    assert lines[4] == "| paper  | kappa | 141       | 7    | -134       | DIFFERS. |"
    assert lines[0].count("|") == len(HEADINGS) + 1
    assert summary(rows) == (
        "3 rows: 1 reproduced to the printed precision, 1 differ for a stated reason, "
        "1 differ without one."
    )


RATER = {"coherence": 1, "consistency": 5, "fluency": 4, "relevance": 2}

# --- figures by hand ------------------------------------------------------------------------------


def test_chat_rows_correlate_the_metric_with_people() -> None:
    """Ranks 1 2 3 against 1 3 2: r = 1/2 of both, and of three pairs two agree: (2 - 1) / 3."""
    values = list(zip((0.1, 0.2, 0.3), (1, 3, 2), strict=True))
    replies = [
        ChatReply(
            dict.fromkeys(published_figures.CHAT_TABLE, one),
            dict.fromkeys(published_figures.CHAT_TABLE, two),
        )
        for one, two in values
    ]

    rows = published_figures.chat_rows(replies)

    assert len(rows) == 6
    assert all(one.ours == (near(0.5), near(0.5), near(1 / 3)) for one in rows)
    assert not any(one.holds for one in rows)


def summaries_of(systems: int) -> list[RatedSummary]:
    """Summaries on which experts differ in relevance alone: 2, 3, 2."""
    experts = (RATER, {**RATER, "relevance": 3}, RATER)
    return [RatedSummary(f"M{number}", experts, (RATER,) * 5) for number in range(systems)]


def test_missing_systems_are_named_and_whole_data_excuse_nothing() -> None:
    grid = tuple((9,) * 5 for _ in range(5))

    some, whole = (published_figures.summary_rows(summaries_of(n), grid) for n in (3, 16))

    assert some[0].remark.startswith("the data hold 3 of 16 systems")
    assert {one.explains for one in some} == {0.01, 0.05, 0.0}
    assert {one.explains for one in whole} == {0.0}
    assert [one.ours for one in some[1:]] == [(1.0,), (None, 0.0), (25,)]
    assert whole[3].ours == (24,), "16 pairs in a cell that holds 9 of all"


def story_scores(**judges: list[float]) -> StoryScores:
    """Four stories on which people agree: 1, 2, 3, 4; one column per judge, and one for others."""
    people = [1.0, 2.0, 3.0, 4.0]
    columns: dict[str, list[float]] = {}
    for name in published_figures.story_columns():
        judge = name.partition(" ")[0].partition("-")[0]
        columns[name] = judges.get(judge, people)
    return StoryScores({"GPT": columns, "Human": {name: [9.0] for name in columns}})


def test_story_rows_range_over_four_judges_and_name_the_fifth() -> None:
    stories = story_scores(Llama=[4, 3, 2, 1], OrcaPlatypus=[1, 1, 1, 1], chrF=[2, 1, 4, 3])

    rows = published_figures.story_rows(stories)

    # With the human story, on which all agree: ranks 4 3 2 1 5 against 1 2 3 4 5.
    assert [one.ours for one in rows[:3]] == [(near(0), near(1))] * 3
    # Four ties at rank 2.5 and the human story at 5: r = 5 / sqrt(5 * 10).
    assert rows[0].remark.endswith("OrcaPlatypus 0.71")
    assert rows[3].ours == (near(1),) * 3
    assert rows[4].ours == (near(0.6),) * 3, "without the human story: 1 - 6 * 4 / 60"


@pytest.mark.parametrize(
    ("value", "printed", "expected"),
    [
        (0.1746, "0.18", True),
        (0.1744, "0.18", False),
        (0.1751, "0.18", True),
        (0.1746, "0.17", False),
        (None, "0.18", False),
    ],
)
def test_rounding_twice_is_recognised(value: float | None, printed: str, expected: bool) -> None:
    assert published_figures._rounded_twice(value, printed) is expected


def test_repeats_count_the_answers_scored_alike_three_times() -> None:
    answers = [(5, 5, 5), (3, 2, 3), (1, 1, 1), (4, 4, 5)]

    assert published_figures.repeats_row("vicuna_eval", answers).ours == (2, 4)


def test_judgment_rows_leave_out_what_could_not_be_read() -> None:
    one, two = "gpt-4o-mini", "Gemma-4-12B-it"
    scores: dict[str, dict[AnswerKey, float | None]] = {
        one: {("m", n, 1): score for n, score in enumerate([1.0, 2.0, 3.0, 9.0])},
        two: {("m", n, 1): score for n, score in enumerate([4.0, 6.0, 8.0, None])},
    }

    rows = {row.what: row for row in published_figures.judgment_rows(scores)}

    assert rows[f"{two}: mean/number of English scores"].ours == (6.0, 3)
    assert list(rows["Qwen2.5-7B-Instruct: mean/number of English scores"].ours) == [None, 0]
    pair = rows[f"{one} against {two}: Spearman"]
    assert pair.ours == (near(1),)
    assert pair.remark.startswith("3 answers")


def test_expected_values_that_fail_are_counted_and_named() -> None:
    checks = metaeval_values.Checks(
        (
            metaeval_values.Check("good", Decimal("0.5"), 0.50004, 4),
            metaeval_values.Check("bad", Decimal("0.5"), 0.5001, 4),
            metaeval_values.Check("undefined", None, None, 4),
            metaeval_values.Check("not undefined", None, 0.0, 4),
            metaeval_values.Check("not defined", Decimal("0.5"), None, 4),
        )
    )

    counted = published_figures.expected_row(checks)

    assert counted.what == "2 of 5 values reproduced"
    assert (counted.published, counted.ours, counted.holds) == (("5",), (2,), False)
    assert "not: bad, not undefined, not defined; " in counted.remark


# --- the real data --------------------------------------------------------------------------------


@cache
def real_rows() -> dict[str, Row]:
    return {row.what: row for row in published_figures.rows_of(DATA)}


real_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="needs the folder shared/data beside the project"
)
SIX_DIGITS = {
    "naturalness": (0.443666, 0.513986, 0.373973),
    "coherence": (0.595143, 0.612942, 0.465915),
    "engagingness": (0.556510, 0.604739, 0.455941),
    "groundedness": (0.536209, 0.574954, 0.451533),
    "understandability": (0.380038, 0.467807, 0.360741),
    "overall": (0.632796, 0.662583, 0.487272),
}


@real_data
@pytest.mark.parametrize("dimension", SIX_DIGITS)
def test_unievals_table_comes_out_to_six_digits(dimension: str) -> None:
    ours = real_rows()[f"{dimension}: Pearson/Spearman/Kendall"].ours

    assert ours == pytest.approx(SIX_DIGITS[dimension], abs=5.01e-7)


@real_data
@pytest.mark.parametrize(
    ("dimension", "lowest", "highest"),
    [
        ("coherence", 0.31, 0.45),
        ("complexity", 0.34, 0.50),
        # Noted as 0.18: 0.1746 by way of 0.175.
        ("surprise", 0.1746, 0.30),
    ],
)
def test_hannas_judges_range_as_noted(dimension: str, lowest: float, highest: float) -> None:
    found = real_rows()[f"{dimension}: judges against human mean, Spearman"]

    assert found.ours[0] == pytest.approx(lowest, abs=5e-5 if dimension == "surprise" else 5e-3)
    assert found.ours[1] == pytest.approx(highest, abs=5e-3)
    assert ("rounded twice" in found.remark) is (dimension == "surprise")


@real_data
def test_other_figures_come_out_as_noted() -> None:
    rows = real_rows()

    assert list(rows["mt_bench_eval: the same score in all three repeats"].ours) == [141, 320]
    assert list(rows["vicuna_eval: the same score in all three repeats"].ours) == [199, 320]
    qwens = rows["Qwen2.5-14B-Instruct against Qwen2.5-32B-Instruct: Spearman"]
    assert qwens.ours == (near(0.594, 5e-4),)
    others = rows["gpt-4o-mini against Gemma-4-12B-it: Spearman"]
    assert others.ours == (near(0.430, 5e-4),)
    experts = rows["experts: Krippendorff's alpha, four dimensions together"]
    assert experts.ours == (near(0.7135, 5e-5),)
    assert "12 of 16 systems" in experts.remark
    text_length = rows["Text length: Spearman, coherence/surprise/complexity"]
    assert text_length.ours == pytest.approx((0.224169, 0.271389, 0.473860), abs=5.01e-7)


@real_data
def test_every_row_holds_and_every_expected_value_comes_out() -> None:
    rows = real_rows()

    assert [row.what for row in rows.values() if not row.holds] == []
    assert "86 of 86 values reproduced" in rows


# --- the command ----------------------------------------------------------------------------------


@real_data
def test_the_command_prints_one_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", str(DATA)]) == 0

    printed = capsys.readouterr()
    assert printed.out.startswith("| source ")
    assert "0 differ without one." in printed.out
    assert printed.out.isascii(), "a terminal of any encoding can show it"
    assert printed.err == ""


@pytest.mark.parametrize(
    ("name", "message"), [("nowhere", "There is no folder"), ("", "is missing"), ("x" * 5000, "")]
)
def test_absent_data_end_with_a_message_and_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, message: str
) -> None:
    assert main(["--data", str(tmp_path / name)]) == 2

    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert "Traceback" not in printed.err


@real_data
def test_a_figure_that_differs_ends_with_exit_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for source in DATA.iterdir():
        if source.name != published_figures.REPEATED[0]:
            (tmp_path / source.name).symlink_to(source)
    for name in published_figures.EQUAL_REPEATS:
        path = tmp_path.joinpath(*published_figures.REPEATED, f"{name}.json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('[{"gpt4_score": [5, 5, 5]}]', encoding="utf-8")

    assert main(["--data", str(tmp_path)]) == 1

    printed = capsys.readouterr().out
    assert printed.count("DIFFERS.") == 2
    assert "2 differ without one." in printed


@pytest.mark.parametrize("section", [None, 7, [], {"e0_x_e1": 3}, {"e0_x_e1": [[1]]}])
def test_expected_values_of_another_form_are_refused(section: object) -> None:
    expected = {"summeval_relevance_1600": section, "krippendorff_3x15": section}

    with pytest.raises(InputError, match="summeval_relevance_1600 can't be used"):
        metaeval_values.summary_grid(expected)
    with pytest.raises(InputError, match="krippendorff_3x15 can't be used"):
        metaeval_values.checks_of(expected, [])
