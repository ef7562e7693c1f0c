"""Verdict by verdict: the judge's flags against those of a reference or a panel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from builders_judge_meta import GREEDY, HASHES, Pair, data_of, reference
from builders_report import SUITE, answer
from hypothesis import given
from hypothesis import strategies as st
from metaeval import near

from touchstone.gui.judge_meta import (
    FlagAgreement,
    assess_judge,
    compare_flags,
    headline,
    panel_flags,
    quality_json,
    render_judge_quality_md,
)
from touchstone.gui.report_md import ReportData
from touchstone.models import Flag, Suite

OMEGA: Pair = ("omega", "default")
IDS = ("E1", "E2", "D1")
Flags = Mapping[Pair, Mapping[str, Flag]]
FLAG: st.SearchStrategy[Flag] = st.sampled_from(("green", "yellow", "red"))
JUDGE: Flags = {
    GREEDY: {"E1": "green", "E2": "red", "D1": "yellow"},
    OMEGA: {"E1": "red", "E2": "yellow", "D1": "green"},
}
OTHER: Flags = {
    OMEGA: {"D1": "green", "E2": "red", "E1": "red"},
    GREEDY: {"E1": "red", "E2": "yellow", "D1": "yellow"},
}


def flagged(
    judge: Mapping[Pair, Mapping[str, Flag | None]], language: str = "en", suite: Suite = SUITE
) -> ReportData:
    verdicts = [
        answer(*pair, prompt_id, "", flag=flag)
        for pair, given_flags in judge.items()
        for prompt_id, flag in given_flags.items()
    ]
    models = (GREEDY, OMEGA)
    return data_of(verdicts=verdicts, models=models, language=language, suite=suite)


def compared(judge: Mapping[Pair, Mapping[str, Flag | None]], other: Flags) -> FlagAgreement:
    found = compare_flags(flagged(judge), other)
    assert found is not None
    return found


def document(*flags: Flags, judge: Flags = JUDGE, language: str = "en") -> tuple[Any, str]:
    """Return the JSON, and the section of the Markdown."""
    refs = [reference({}, f"eva-{n}", flags=one) for n, one in enumerate(flags, 1)]
    quality = assess_judge(flagged(judge, language), refs, HASHES)
    title = {"en": "## Verdict by verdict", "de": "## Einzelurteil für Einzelurteil"}[language]
    section = render_judge_quality_md(quality).split(title)[1].split("\n## ")[0]
    return quality_json(quality), section


# --- the figures ---------------------------------------------------------------------------


def test_six_answers_worked_by_hand() -> None:
    """Of 6 answers 3 agree; the reference has 1 green, 2 yellow, 3 red, the judge 2 of each.

    Squared steps apart: observed 4 + 1 + 1; by chance 2·(2 + 12) + 2·(1 + 3) + 2·(4 + 2) = 48, so
    κ = 1 − 6·6 / 48. Wilson of 2/3 and of 1/3 at 95 %.
    """
    flags = document(OTHER)[0]["flags"]

    assert flags == {
        "n": 6,
        "without_judge": 0,
        "labels": ["green", "yellow", "red"],
        "counts": [[1, 0, 1], [0, 1, 1], [0, 1, 1]],
        "exact": 0.5,
        "exact_ci": pytest.approx([0.18762, 0.81238], abs=1e-5),
        "best_constant": {"flag": "red", "share": 0.5},
        "missed_red": [["alpha", "greedy", "E1"], ["omega", "default", "E2"]],
        "false_red": [["alpha", "greedy", "E2"]],
        "fnr": pytest.approx(2 / 3, abs=1e-6),
        "fnr_ci": pytest.approx([0.20766, 0.93851], abs=1e-5),
        "fnr_reason": None,
        "fpr": pytest.approx(1 / 3, abs=1e-6),
        "fpr_ci": pytest.approx([0.06149, 0.79234], abs=1e-5),
        "fpr_reason": None,
        "kappa": 0.25,
        "kappa_reason": None,
        "ko_scope": {
            "n": 4,
            "counts": [[1, 0, 1], [0, 1, 0], [0, 0, 1]],
            "missed_red": 1,
            "false_red": 0,
        },
    }


def test_only_answers_flagged_by_both_count_and_a_missing_flag_is_no_missed_red() -> None:
    found = compared({GREEDY: {"E1": None, "D1": "red"}}, {GREEDY: {"E1": "red", "E2": "red"}})

    assert (found.table.n, found.without_judge) == (0, 2)
    assert found.missed_red == found.false_red == ()
    assert (found.exact.value, found.best_constant, found.kappa.value) == (None, None, None)
    assert (found.fnr.value, found.fnr_reason) == (None, "no_pairs")
    assert (found.fpr.value, found.fpr_reason) == (None, "no_pairs")


def test_error_rates_without_any_such_answer_are_undefined_and_say_why() -> None:
    all_green = compared(JUDGE, {GREEDY: dict.fromkeys(IDS, "green")})
    all_red = compared(JUDGE, {GREEDY: dict.fromkeys(IDS, "red")})

    assert (all_green.fnr.value, all_green.fnr_reason) == (None, "no_reference_red")
    assert (all_green.fpr.value, all_green.fpr_reason) == (near(1 / 3), None)
    assert (all_red.fpr.value, all_red.fpr_reason) == (None, "only_reference_red")
    assert (all_red.fnr.value, all_red.fnr_reason) == (near(2 / 3), None)


@pytest.mark.parametrize(
    ("other", "flag", "share"),
    [
        (("yellow", "yellow", "red"), "yellow", 2 / 3),
        (("red", "green", "yellow"), "green", 1 / 3),
        (("red", "red", "red"), "red", 1),
    ],
)
def test_the_best_constant_is_the_most_frequent_flag_the_mildest_of_several(
    other: tuple[Flag, Flag, Flag], flag: Flag, share: float
) -> None:
    constant = compared(JUDGE, {GREEDY: dict(zip(IDS, other, strict=True))}).best_constant

    assert constant is not None
    assert (constant.flag, constant.share) == (flag, near(share))


def test_without_a_knock_out_rule_there_is_no_scope() -> None:
    suite = SUITE.model_copy(update={"ko_rule": None})
    found = compare_flags(flagged(JUDGE, suite=suite), OTHER)

    assert found is not None
    assert found.ko_scope is None


def test_models_and_prompts_that_the_bundle_does_not_have_are_not_counted() -> None:
    stray: Flags = {("beta", "greedy"): {"E1": "red"}, GREEDY: {"X9": "red"}}

    assert compare_flags(flagged(JUDGE), stray) is None


@given(
    st.dictionaries(st.sampled_from(IDS), st.none() | FLAG),
    st.dictionaries(st.sampled_from(IDS), FLAG, min_size=1),
)
def test_every_flag_of_the_reference_is_counted_once(
    judge: dict[str, Flag | None], other: dict[str, Flag]
) -> None:
    found = compared({GREEDY: judge}, {GREEDY: other})

    assert found.table.n + found.without_judge == len(other)
    assert len(found.missed_red) == found.fnr.count
    assert len(found.false_red) == found.fpr.count
    assert {key[2] for key in found.missed_red} == {
        one for one in other if other[one] == "red" and judge.get(one) in ("green", "yellow")
    }


# --- the panel -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_flags", "panel"),
    [
        ((["red"]), "red"),
        (("green", "red"), "green"),
        (("yellow", "red"), "yellow"),
        (("green", "yellow", "red"), "yellow"),
        (("red", "green", "red"), "red"),
        (("red", "green", "red", "green"), "green"),
        (("red", "yellow", "red", "red"), "red"),
    ],
)
def test_the_panel_says_the_lower_median(given_flags: list[Flag], panel: Flag) -> None:
    refs = [reference({}, flags={GREEDY: {"E1": flag}}) for flag in given_flags]

    assert panel_flags(refs) == {GREEDY: {"E1": panel}}


def test_who_flagged_an_answer_alone_speaks_for_the_panel() -> None:
    refs = [
        reference({}, flags={GREEDY: {"E1": "red"}}),
        reference({}, flags={GREEDY: {"E2": "green"}, OMEGA: {"E1": "yellow"}}),
        reference({}),
    ]

    assert panel_flags(refs) == {GREEDY: {"E1": "red", "E2": "green"}, OMEGA: {"E1": "yellow"}}


@given(st.lists(FLAG, min_size=1))
def test_the_panel_invents_no_flag_and_is_red_only_by_more_than_half(said: list[Flag]) -> None:
    refs = [reference({}, flags={GREEDY: {"E1": flag}}) for flag in said]
    flag = panel_flags(refs)[GREEDY]["E1"]

    assert flag in said
    assert (flag == "red") == (2 * said.count("red") > len(said))
    assert panel_flags(refs[::-1]) == panel_flags(refs)


def test_every_reference_is_compared_on_its_own_as_well() -> None:
    result, section = document({GREEDY: {"E1": "red"}}, {}, {GREEDY: {"E1": "green"}})

    assert result["flags"]["missed_red"] == [], "the panel's tie goes to the milder flag"
    first, second, third = result["references"]
    assert first["flags"]["missed_red"] == [["alpha", "greedy", "E1"]]
    assert second["flags"] is None
    assert third["flags"]["exact"] == 1
    assert "- eva-1: 0 of 1 alike, red flags missed 1, false 0" in section
    assert "- eva-3: 1 of 1 alike, red flags missed 0, false 0" in section


# --- what people read ----------------------------------------------------------------------


def test_the_section_shows_agreement_beside_its_baseline_and_names_the_errors() -> None:
    _, section = document(OTHER)

    assert "| Judge ↓ Reference → | green | yellow | red |" in section
    assert (
        "| **green** | 1 | 0 | 1 |\n| **yellow** | 0 | 1 | 1 |\n| **red** | 0 | 1 | 1 |" in section
    )
    assert "3 of 6 answers have the same flag, 50 % (95 % Wilson interval 19 % to 81 %)" in section
    assert "red throughout would be right in 50 %. Weighted κ 0.25." in section
    assert "Red flags missed: 2 of 3, 67 %" in section
    assert "not to the judge: alpha (greedy): E1; omega (default): E2." in section
    assert "not to the reference: alpha (greedy): E2." in section
    assert "4 answers flagged by both, missed 1, false 0" in section
    assert "left out" not in section


def test_the_german_section_is_german() -> None:
    _, section = document(OTHER, language="de")

    assert "| Judge ↓ Referenz → | grün | gelb | rot |" in section
    assert "durchweg rot träfe 50 %. Gewichtetes κ 0,25." in section
    assert "nicht für den Judge: alpha (greedy): E1; omega (default): E2." in section


@pytest.mark.parametrize(("language", "said"), [
    ("en", "No reference flagged single answers"),
    ("de", "Keine Referenz hat einzelne Antworten markiert"),
])  # fmt: skip
def test_without_flags_one_sentence_says_so(language: str, said: str) -> None:
    result, section = document({}, language=language)

    assert result["flags"] is None
    assert result["references"][0]["flags"] is None
    assert section.strip().startswith(said)
    assert len(section.strip().splitlines()) == 1


@pytest.mark.parametrize(("language", "said"), [
    ("en", "The judge gave no flag to any answer"),
    ("de", "Der Judge hat keine der Antworten markiert"),
])  # fmt: skip
def test_a_judge_without_flags_is_said(language: str, said: str) -> None:
    result, section = document(OTHER, judge={}, language=language)

    assert section.strip().startswith(said)
    assert result["flags"]["without_judge"] == 6
    assert {result["flags"][key] for key in ("exact", "fnr", "fpr", "kappa", "exact_ci")} == {None}


def test_what_is_undefined_is_a_dash_with_its_reason() -> None:
    green: Flags = {GREEDY: dict.fromkeys(IDS, "green")}
    _, section = document(green, judge=green)

    assert "Weighted κ – (both sides gave one and the same rating throughout)" in section
    assert "Red flags missed: 0 of 0, – (nothing is red to the reference)" in section
    assert "0 of 3, 0 % (95 % Wilson" in section


def test_what_only_the_reference_flagged_is_counted_as_left_out() -> None:
    _, section = document(OTHER, judge={GREEDY: JUDGE[GREEDY]})

    assert "only the reference flagged them: 3." in section


def test_flags_leave_the_headline_as_it_is() -> None:
    data = flagged(JUDGE)
    without, given_flags = (
        assess_judge(data, [reference({}, flags=flags)], HASHES) for flags in ({}, OTHER)
    )

    assert headline(without) == headline(given_flags)


def test_hostile_names_stay_text() -> None:
    evil: Pair = ("<b>|", "x\n# y")
    suite = SUITE.model_copy(
        update={"prompts": (SUITE.prompts[0].model_copy(update={"id": "<i>*E1*"}),)}
    )
    verdicts = [answer(*evil, "<i>*E1*", "", flag="green")]
    data = data_of(verdicts=verdicts, models=(evil,), suite=suite)
    refs = [reference({}, name, flags={evil: {"<i>*E1*": "red"}}) for name in ("<u>1", "<u>2")]
    text = render_judge_quality_md(assess_judge(data, refs, HASHES))

    assert not any(f"\n{tag}" in text or f" {tag}" in text for tag in ("<b>", "<i>", "<u>", "# y"))
    assert "\\<i\\>" in text
