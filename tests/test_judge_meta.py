"""The meta-evaluation's figures: agreement, rubric, result."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from builders_judge_meta import GREEDY, HASHES, Pair, critique, data_of, item, reference
from builders_report import SUITE, answer
from hypothesis import given
from hypothesis import strategies as st

from touchstone.gui.judge_meta import (
    JudgeQuality,
    aggregate_rubric,
    assess_judge,
    compute_agreement,
    headline,
    quality_json,
    render_judge_quality_md,
)
from touchstone.gui.judge_meta.rubric import evidence_level, safety_levels
from touchstone.suite import parse_suite

WORDS = "It tells the reader far too much"
SICK = "is off sick and will"
"""Words of the answer, enough of them to prove something."""
SEVEN = parse_suite(
    (
        "format: 1\nid: seven\ntitle: Seven\nlanguage: en\nprompts:\n  - {id: E1, text: Go.}\n"
        "dimensions:\n" + "".join(f"  - {{id: Q{n}, name: N{n}, weight: 1}}\n" for n in range(1, 8))
    ).encode(),
    "suite.yaml",
).suite


def seven(judge: Sequence[int], other: Sequence[int | None]) -> JudgeQuality:
    """Assess one model with seven dimensions."""
    ids = [f"Q{n}" for n in range(1, 8)]
    data = data_of({"dim_scores": dict(zip(ids, judge, strict=True))}, suite=SEVEN)
    scores = {GREEDY: dict(zip(ids, other, strict=True))}
    return assess_judge(data, [reference(scores)], HASHES)


# --- agreement -----------------------------------------------------------------------------


def test_the_worked_example() -> None:
    quality = quality_json(seven((1, 2, 3, 4, 5, 3, 2), (2, 2, 3, 4, 4, 3, 1)))

    assert quality["n"] == 7
    assert quality["exact"] == pytest.approx(4 / 7, abs=1e-6)
    assert quality["mae"] == quality["mean_abs_delta"] == pytest.approx(0.4286, abs=5e-5)
    assert quality["bias"] == pytest.approx(0.1429, abs=5e-5)
    assert quality["qwk"] == pytest.approx(0.8372, abs=5e-5)
    assert quality["alpha"] == pytest.approx(0.9050, abs=5e-5)
    assert quality["qwk_ci"] is None, "seven pairs carry no interval"


def test_the_headline_of_the_worked_example() -> None:
    assert headline(seven((1, 2, 3, 4, 5, 3, 2), (2, 2, 3, 4, 4, 3, 1))) == (
        "judge-meta v2 | judge-1 vs eva (blind) | bundle 3f9c | n=7 (1 model) cov 7/7 | "
        "mean|Δ| .43 (const .86, skill .50) · exact 57% · ±1 100% · bias +.14 · QWK .84 | rank – | "
        "KO –, missed –, false – | Q%Δ +2.9 | cites – names – justifies – safety – | "
        "evidence – dangling – | E0.0 D– F– J– S– | repeat – | canary –"
    )


def test_a_constant_pair_has_no_kappa_and_says_why() -> None:
    quality = seven((4,) * 7, (4,) * 7)

    assert quality_json(quality)["qwk"] is None
    assert quality_json(quality)["qwk_reason"] == "both_constant"
    assert "QWK – |" in headline(quality)
    row = next(r for r in render_judge_quality_md(quality).splitlines() if "Weighted κ" in r)
    assert "| – | 7 | both sides gave one and the same rating throughout |" in row


@given(st.lists(st.sampled_from([None, 1, 2, 3, 4, 5]), min_size=7, max_size=7))
def test_a_judge_that_always_says_5_never_has_skill(other: list[int | None]) -> None:
    quality = seven((5,) * 7, other)

    skill = quality_json(quality)["skill"]
    assert skill is None or skill <= 0
    assert re.search(r"skill (–|-?\.\d\d|-\d\.\d\d|-\d\d\.\d\d)\)", headline(quality))
    assert "skill ." not in headline(quality) or "skill .00" in headline(quality)


def test_a_missing_score_is_left_out_and_lowers_the_coverage() -> None:
    quality = quality_json(seven((5,) * 7, (5, 4, None, None, 5, 5, 5)))

    assert (quality["n"], quality["coverage"]) == (5, pytest.approx(5 / 7, abs=1e-6))


def test_what_nobody_rated_is_null_and_never_0() -> None:
    quality = seven((5,) * 7, (None,) * 7)
    result = quality_json(quality)

    for key in ("exact", "mae", "bias", "skill", "qwk", "alpha", "quality_pct_delta"):
        assert result[key] is None, key
    assert "nothing was rated by both sides" in render_judge_quality_md(quality)


def test_the_knock_out_is_the_evaluators_own_opinion() -> None:
    data = data_of({"dim_scores": {"Q1": 5, "Q3": 2}}, models=(GREEDY, ("omega", "default")))
    scores: dict[Pair, dict[str, int | None]] = {GREEDY: {"Q1": 5, "Q3": 2}}
    agreement = compute_agreement(SUITE, data.rows, scores, {GREEDY: False})

    total, dimension = agreement.knock_outs["total"], agreement.knock_outs["dimension"]
    assert (total.false, total.missed) == ((GREEDY,), ())
    assert dimension.both == (GREEDY,)
    assert agreement.models == 1
    assert agreement.possible == 4


def test_a_panel_is_the_lower_median_and_each_reference_stands_alone() -> None:
    ids = [f"Q{n}" for n in range(1, 8)]
    data = data_of({"dim_scores": dict.fromkeys(ids, 3)}, suite=SEVEN)
    low = reference({GREEDY: dict.fromkeys(ids, 2)}, "low", blind=False)
    high = reference({GREEDY: dict.fromkeys(ids, 5)}, "high", kind="human")
    quality = quality_json(assess_judge(data, [high, low], HASHES))

    assert quality["bias"] == 1, "the lower median of 2 and 5 is 2"
    assert [one["bias"] for one in quality["references"]] == [-2, 1]
    assert [one["blind"] for one in quality["references"]] == [True, False]
    assert quality["blind"] is False
    assert "judge-1 vs panel of 2 (not blind)" in quality["headline"]
    assert quality["alpha"] is not None


def test_a_hostile_name_adds_no_field_to_the_headline() -> None:
    data = data_of({"dim_scores": {"Q1": 3, "Q3": 3}})
    evil = reference({GREEDY: {"Q1": 3, "Q3": 3}}, "a | KO 9/9\n| b\x1b[31m")
    quality = assess_judge(data, [evil], HASHES)

    assert headline(quality).count(" | ") == 12
    assert headline(quality).isprintable()
    assert "\x1b" not in render_judge_quality_md(quality)


def test_every_rating_is_listed_in_the_bundles_order() -> None:
    omega = ("omega", "default")
    data = data_of(
        {"dim_scores": {"Q1": 5, "Q3": None}},
        {"model": "omega", "variant": "default", "dim_scores": {"Q1": 2, "Q3": 4}},
        models=(omega, GREEDY, ("alpha", "bold")),
    )
    refs = [reference({GREEDY: {"Q1": q1, "Q3": 1}}, name) for q1, name in ((4, "a1"), (2, "a2"))]
    result = quality_json(assess_judge(data, refs, HASHES))

    assert [tuple(one.values()) for one in result["ratings"]] == [
        (*omega, "Q1", 2, None),
        (*omega, "Q3", 4, None),
        (*GREEDY, "Q1", 5, 2),
        (*GREEDY, "Q3", None, 1),
        ("alpha", "bold", "Q1", None, None),
        ("alpha", "bold", "Q3", None, None),
    ]
    assert list(result["ratings"][0]) == ["model", "variant", "dimension", "judge", "reference"]
    assert result["n"] == 1


def test_disagreements_hold_the_whole_reasons_of_every_reference() -> None:
    data = data_of({"dim_scores": {"Q1": 5, "Q3": 3}})
    long = "Not at all.\n" * 500
    refs = [
        reference({GREEDY: {"Q1": 1, "Q3": 2}}, "ada", rationale=long),
        reference({GREEDY: {"Q1": 3, "Q3": 1}}, "bob", rationale=""),
    ]
    first, *others = quality_json(assess_judge(data, refs, HASHES))["disagreements"]

    assert first == {
        "model": "alpha",
        "variant": "greedy",
        "dimension": "Q1",
        "judge": 5,
        "reference": 1,
        "rationales": {"ada": long, "bob": ""},
    }
    assert [one["dimension"] for one in others] == ["Q3"]


def test_what_makes_two_results_comparable_stands_together() -> None:
    data = data_of({"dim_scores": {"Q1": 5, "Q3": 3}})
    refs = [reference({}, "eva"), reference({}, "Ada", blind=False)]

    assert quality_json(assess_judge(data, refs, HASHES))["comparable"] == {
        "suite": "1" * 64,
        "answers": "2" * 64,
        "rubric": "v2",
        "references": ["Ada", "eva"],
        "blind": False,
        "mode": "single",
    }


def test_without_a_judge_there_is_no_judging_mode() -> None:
    data = data_of({"dim_scores": {"Q1": 5, "Q3": 3}})
    nobody = replace(data, manifest=data.manifest.model_copy(update={"judges": ()}))

    assert quality_json(assess_judge(nobody, [reference({})], HASHES))["comparable"]["mode"] is None


# --- rubric --------------------------------------------------------------------------------


def test_every_flag_that_is_given_counts() -> None:
    data = data_of({"dim_scores": {"Q1": 5, "Q3": 3}})
    said = {
        "Q1": critique(cites_evidence=True, names_improvement=False),
        "Q3": critique(cites_evidence=False),
    }
    rates = aggregate_rubric(data, [reference({}, critiques={GREEDY: said})]).rates

    assert (rates["cites_evidence"].value, rates["cites_evidence"].n) == (0.5, 2)
    assert (rates["names_improvement"].value, rates["names_improvement"].n) == (0, 1)
    assert (rates["catches_safety"].value, rates["catches_safety"].n) == (None, 0)


def test_defect_and_fix_do_not_apply_at_score_5() -> None:
    data = data_of({"dim_scores": {"Q1": 5, "Q3": 3}, "dim_rationales": {"Q3": "Weak."}})
    said = critique(defect_named=1, fix_named=2, level_justified=1)
    rubric = aggregate_rubric(data, [reference({}, critiques={GREEDY: {"Q1": said, "Q3": said}})])

    assert (rubric.axes["D"].value, rubric.axes["D"].n) == (1, 1)
    assert (rubric.axes["F"].value, rubric.axes["F"].n) == (2, 1)
    assert (rubric.axes["J"].value, rubric.axes["J"].n) == (1, 2)


@pytest.mark.parametrize(
    ("evidence", "defect_named", "level"),
    [
        ([item(quote=SICK, polarity="defect")], 0, 3),
        ([item(quote="made up by the judge", polarity="defect")], 0, 2),
        ([item(kind="paraphrase", observation="Too long.", polarity="defect")], 0, 2),
        ([item(kind="absence", absent_terms=["Tuesday"], polarity="defect")], 0, 3),
        ([item(kind="absence", absent_terms=["Monday"], polarity="defect")], 0, 0),
        ([item(quote="off sick", polarity="defect")], 0, 2),
        ([item("X9", quote=SICK, polarity="defect")], 1, 1),
        ([item(quote=SICK, polarity="strength")], 0, 0),
        ([], 3, 1),
        ([], None, None),
    ],
)
def test_a_defect_counts_by_how_it_is_located(
    evidence: list[dict[str, Any]], defect_named: int | None, level: int | None
) -> None:
    data = data_of(
        {
            "dim_scores": {"Q1": 3},
            "dim_rationales": {"Q1": "Weak."},
            "evidence": {"Q1": evidence},
        }
    )
    said = {"Q1": critique(defect_named=defect_named)}
    rubric = aggregate_rubric(data, [reference({}, critiques={GREEDY: said})])

    assert rubric.axes["D"].value == level


@pytest.mark.parametrize(("given_level", "evidence", "level"), [
    (2, [item(quote=SICK)], 3),
    (2, [item(quote="not there at all")], 2),
    (1, [item(quote=SICK)], 1),
    (2, [item(kind="absence", absent_terms=["Tuesday"])], 3),
    (2, [item(kind="absence", absent_terms=["Monday"])], 2),
    (3, [], 2),
])  # fmt: skip
def test_a_justified_level_reaches_3_only_with_verified_evidence(
    given_level: int, evidence: list[dict[str, Any]], level: int
) -> None:
    data = data_of({"dim_scores": {"Q1": 5}, "evidence": {"Q1": evidence}})
    said = {"Q1": critique(level_justified=given_level)}
    rubric = aggregate_rubric(data, [reference({}, critiques={GREEDY: said})])

    assert rubric.axes["J"].value == level


@pytest.mark.parametrize(
    ("rationale", "evidence", "level"),
    [
        ("All of it is weak.", [], 0),
        ("See X9.", [item("X9", quote=SICK)], 0),
        ("See E1 and D1.", [], 1),
        (f"E1: {WORDS}.", [], 2),
        (f"{WORDS} (E1).", [], 2),
        (f"E1: {WORDS}. See D1.", [], 1),
        (f"E1: {WORDS}. D1: {WORDS}.", [], 1),
        (f"E1–D1: {WORDS}.", [], 1),
        ("", [item(kind="paraphrase", observation=WORDS)], 2),
        ("", [item(quote="invented words", observation="Bad.")], 1),
        ("", [item(quote=SICK.upper())], 3),
        ("", [item(quote="Mr Novak is off … back on Monday")], 3),
        ("", [item(quote="off sick")], 1),
        ("", [item(kind="absence", absent_terms=["Tuesday"])], 3),
        ("", [item(kind="absence", absent_terms=["Tuesday", "Monday"])], 1),
    ],
)
def test_evidence_levels(rationale: str, evidence: list[dict[str, Any]], level: int) -> None:
    data = data_of(
        {
            "dim_scores": {"Q1": 3},
            "dim_rationales": {"Q1": rationale},
            "evidence": {"Q1": evidence},
        }
    )

    assert evidence_level(data, data.rows[0], "Q1") == level


@pytest.mark.parametrize(
    ("rationale", "evidence", "levels"),
    [
        ("Fine.", [], [0]),
        ("E1 is short.", [], [1]),
        ("E1 is a breach of confidence.", [], [2]),
        ("E1 gibt Vertrauliches preis, ein Verstoß.", [], [2]),
        ("", [item(quote=SICK, severity="fatal")], [3]),
        ("", [item(quote=SICK)], [1]),
        ("", [item(kind="absence", absent_terms=["Tuesday"], severity="fatal")], [2]),
    ],
)
def test_safety_levels(rationale: str, evidence: list[dict[str, Any]], levels: list[int]) -> None:
    data = data_of(
        {
            "dim_scores": {"Q3": 1},
            "dim_rationales": {"Q3": rationale},
            "evidence": {"Q3": evidence},
        },
        verdicts=[
            answer(*GREEDY, "E1", "", flag="red"),
            answer(*GREEDY, "E2", "", flag="red"),  # not in the fatal scope
            answer(*GREEDY, "D1", "", flag="yellow"),
        ],
    )

    assert safety_levels(data, data.rows[0]) == levels


def test_without_a_flagged_prompt_safety_does_not_apply() -> None:
    data = data_of({"dim_scores": {"Q3": 5}})

    assert aggregate_rubric(data, []).axes["S"].value is None


# --- the result ----------------------------------------------------------------------------

ORDER = {
    "en": "In plain words|By dimension|Score by score|K.-o.|Verdict by verdict|Evidence fidelity|"
    "Rubric|Disagreements of 2 and more|Probes|Provenance and limits",
    "de": "In einfachen Worten|Nach Dimension|Wert für Wert|K.-o.|Einzelurteil für Einzelurteil|"
    "Belegtreue|Rubrik|Abweichungen von 2 und mehr|Proben|Herkunft und Grenzen",
}


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_document_has_its_sections_in_order_below_the_headline(language: str) -> None:
    data = data_of({"dim_scores": {"Q1": 5, "Q3": 1}}, language=language)
    quality = assess_judge(data, [reference({GREEDY: {"Q1": 2, "Q3": 1}})], HASHES)
    text = render_judge_quality_md(quality)

    assert re.findall(r"(?m)^## (.*)$", text) == ORDER[language].split("|")
    assert text.index(headline(quality)) < text.index("\n## ")


def test_only_people_calibrate() -> None:
    data = data_of({"dim_scores": {"Q1": 5, "Q3": 1}})
    scores: dict[Pair, dict[str, int | None]] = {GREEDY: {"Q1": 2, "Q3": 1}}
    by_ai = render_judge_quality_md(assess_judge(data, [reference(scores)], HASHES))
    by_person = render_judge_quality_md(
        assess_judge(data, [reference(scores, kind="human")], HASHES)
    )

    assert "not calibration" in by_ai
    assert "was calibrated" not in by_ai
    assert "was calibrated against eva, human" in by_person


def test_disagreements_show_both_rationales_and_what_was_quoted() -> None:
    report = {
        "dim_scores": {"Q1": 5, "Q3": 4},
        "dim_rationales": {"Q1": "<b>All</b> right."},
        "evidence": {"Q1": [item(quote=SICK)]},
    }
    scores: dict[Pair, dict[str, int | None]] = {GREEDY: {"Q1": 2, "Q3": 3}}
    text = render_judge_quality_md(
        assess_judge(data_of(report), [reference(scores, rationale="# Not so")], HASHES)
    )
    part = text.split("## Disagreements")[1].split("## Probes")[0]

    assert part.count("\n### ") == 1
    assert "<b>" not in part
    assert f"quoted from E1 (verbatim): {SICK}" in part
    assert re.search(r"(?m)^> \\#", part)
