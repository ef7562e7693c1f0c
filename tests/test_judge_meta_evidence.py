"""A judge's evidence in judge_quality.json and .md: classes, and what stands beside fidelity."""

from __future__ import annotations

import random
from typing import Any

import pytest
from builders_judge_meta import GREEDY, HASHES, Pair, data_of, item, reference
from builders_report import SUITE, answer

from touchstone.cli.judge_meta import reading_order
from touchstone.evidence import CLASSES
from touchstone.gui.judge_figures import JudgeFigures
from touchstone.gui.judge_meta import JudgeQuality, assess_judge, quality_json
from touchstone.gui.judge_meta import render_judge_quality_md as render
from touchstone.gui.judge_meta.evidence_md import SHOWN
from touchstone.models import JudgeEntry

BOLD: Pair = ("alpha", "bold")
QUOTE = "Mr Novak is off sick"
ITEMS = [
    item(quote=QUOTE),
    item(quote="MR NOVAK is off sick"),
    item(quote="nowhere to be found at all"),
    item("X9", quote=QUOTE),
    item(kind="absence", absent_terms=["sum"]),
    item(kind="absence", absent_terms=["Monday"]),
    item(kind="paraphrase", observation="Short."),
]


def assessed(*reports: dict[str, Any], **more: Any) -> JudgeQuality:
    order = more.pop("order", None)
    return assess_judge(data_of(*reports, **more), [reference({})], HASHES, order=order)


def evidence_section(quality: JudgeQuality) -> str:
    head = {"en": "## Evidence fidelity", "de": "## Belegtreue"}[quality.data.language]
    return render(quality).split(head)[1].split("\n## ")[0]


# --- classes -------------------------------------------------------------------------------


def test_evidence_is_counted_by_class_and_gives_a_fidelity() -> None:
    found = quality_json(assessed({"dim_scores": {"Q1": 3}, "evidence": {"Q1": ITEMS}}))["evidence"]

    assert (found["items"], found["quotes"]) == (7, 4)
    counted = {key: found[key] for key in CLASSES if found[key]}
    assert counted == {
        "dangling": 1,
        "verbatim": 1,
        "normalised": 1,
        "unverifiable": 1,
        "absence_passed": 1,
        "absence_failed": 1,
        "paraphrase": 1,
    }
    assert found["fidelity"] == 0.5
    # Wilson, 2 of 4: 0.5 ± 0.35, worked out by hand.
    assert found["fidelity_ci"] == pytest.approx([0.15, 0.85], abs=0.001)


def test_the_contract_has_all_its_keys_and_no_other_class() -> None:
    found = quality_json(assessed({"dim_scores": {"Q1": 3}}))["evidence"]

    assert found.keys() == {"items", "quotes", *CLASSES, "fidelity", "fidelity_ci"}
    assert (found["fidelity"], found["fidelity_ci"]) == (None, None)


def test_classes_without_evidence_are_left_out_of_the_table_but_for_some() -> None:
    text = evidence_section(assessed({"dim_scores": {"Q1": 3}, "evidence": {"Q1": ITEMS}}))

    assert set(SHOWN) == set(CLASSES)
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert rows == [
        "| Class | Count |",
        "| --- | --- |",
        "| verbatim | 1 |",
        "| normalised | 1 |",
        "| unverifiable | 1 |",
        "| dangling (no such answer) | 1 |",
        "| absence that holds | 1 |",
        "| absence that does not hold | 1 |",
        "| paraphrase (not checked) | 1 |",
    ]
    assert "told apart" not in text


# --- beside fidelity -----------------------------------------------------------------------

AUDITED = {
    "dim_scores": {"Q1": 5, "Q3": 4},
    "dim_rationales": {"Q1": "See D1 for it.", "Q3": f"“{QUOTE}” (E1)."},
    "evidence": {
        "Q1": [item(quote=QUOTE, polarity="defect", severity="fatal")],
        "Q3": [item(quote=QUOTE)],
    },
}


def test_what_is_cited_reused_and_contradicted_stands_beside_fidelity() -> None:
    red = [answer(*GREEDY, one, "", flag="red") for one in ("E1", "E2")]
    audit = quality_json(assessed(AUDITED, verdicts=red))["evidence_audit"]

    # Of E1, E2 and D1 the evidence names E1, the rationale D1.
    assert (audit["cited"]["count"], audit["cited"]["n"]) == (2, 3)
    assert audit["cited"]["share"] == pytest.approx(2 / 3)
    assert (audit["red_cited"]["count"], audit["red_cited"]["n"]) == (1, 2)
    assert (audit["prose"]["verbatim"], audit["prose"]["fidelity"]) == (1, 1)
    assert audit["reused"] == [], "two dimensions are fewer than three"
    assert [(one["kind"], one["dimensions"]) for one in audit["contradictions"]] == [
        ("only_defects", ["Q1"]),
        ("fatal_at_5", ["Q1"]),
        ("ids_differ", ["Q1"]),
    ]
    assert audit["contradictions"][2]["only_in_rationale"] == ["D1"]
    assert audit["contradictions"][2]["only_in_evidence"] == ["E1"]
    (model,) = audit["models"]
    assert (model["model"], model["cited"], model["uncited"]) == ("alpha", 2, ["E2"])


@pytest.mark.parametrize(
    ("order", "position"),
    # Cited: E1 and D1 for Q1, E1 for Q3; places 0, 1/2, 1 in the order read.
    [(None, 1 / 3), (["D1", "E2", "E1"], 2 / 3), (["E2", "E1", "D1"], 2 / 3)],
)
def test_the_place_of_what_is_cited_is_that_in_the_order_read(
    order: list[str] | None, position: float
) -> None:
    assert [prompt.id for prompt in SUITE.prompts] == ["E1", "E2", "D1"]
    audit = quality_json(assessed(AUDITED, order=order))["evidence_audit"]

    assert audit["position"] == pytest.approx(position, abs=1e-6)


def test_the_document_lists_contradictions_by_kind() -> None:
    text = evidence_section(assessed(AUDITED))

    assert "- **Answers cited:** 2 of 3, 67 % (95 % Wilson interval 21 % to 94 %)" in text
    assert "- **Red-flagged answers cited:** –" in text
    assert "- **Mean place of what is cited:** 0.33, from 0" in text
    assert "- **Contradictions:** 3" in text
    assert (
        "- The rationale names other prompts than the evidence beside it: alpha (greedy) Q1 "
        "(only the rationale: D1, only the evidence: E1)." in text
    )
    assert "- A score of 5 with a fatal defect: alpha (greedy) Q1." in text
    assert "One rationale" not in text


def test_the_document_is_german_where_the_data_is() -> None:
    text = evidence_section(assessed(AUDITED, language="de"))

    assert "- **Mittlerer Ort des Zitierten:** 0,33, von 0" in text
    assert "- 5 Punkte trotz eines fatalen Mangels: alpha (greedy) Q1." in text


def test_a_judge_without_evidence_has_no_rates_and_no_lists() -> None:
    quality = assessed({"dim_scores": {"Q1": 3}})
    audit = quality_json(quality)["evidence_audit"]
    text = evidence_section(quality)

    assert (audit["position"], audit["red_cited"]["share"], audit["cited"]["count"]) == (
        None,
        None,
        0,
    )
    assert "The judge quotes nothing" in text
    assert "###" not in text


# --- what the site reads -------------------------------------------------------------------


def test_the_gate_counts_those_alike_and_dimensions_carry_their_evidence() -> None:
    data = data_of(
        {"dim_scores": {"Q1": 4, "Q3": 1}, "evidence": {"Q1": [item(quote=QUOTE)]}},
        {"variant": "bold", "dim_scores": {"Q1": 3, "Q3": 5}},
        models=(GREEDY, BOLD),
    )
    quality = assess_judge(data, [reference({}, knock_outs={GREEDY: True, BOLD: False})], HASHES)
    result = quality_json(quality)

    gate = result["knock_out"]
    assert (gate["agree"], gate["n"], gate["both"], gate["neither"]) == (2, 2, 1, 1)
    assert result["per_dimension"]["Q1"]["evidence_level"] == 1.5, "3 and 0"
    assert result["per_dimension"]["Q3"]["evidence_level"] == 0
    read = JudgeFigures.model_validate(result)
    assert read.knock_out is not None
    assert read.knock_out.both == 1
    assert {key: one and one.evidence_level for key, one in read.per_dimension.items()} == {
        "Q1": 1.5,
        "Q3": 0,
    }


def test_a_dimension_nobody_scored_has_no_evidence_level() -> None:
    result = quality_json(assessed({"dim_scores": {"Q1": 3}}))

    assert result["per_dimension"]["Q3"]["evidence_level"] is None


# --- the order read ------------------------------------------------------------------------


def entry(**parameters: Any) -> JudgeEntry:
    return JudgeEntry.model_validate({"fingerprint": "f1", "id": "j", "parameters": parameters})


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_the_order_read_is_the_suites_shuffled_with_the_judges_seed(seed: int) -> None:
    expected = [prompt.id for prompt in SUITE.prompts]
    random.Random(seed).shuffle(expected)

    assert reading_order(SUITE, entry(order_seed=seed)) == expected


@pytest.mark.parametrize(
    "judge", [None, entry(), entry(order_seed=None), entry(order_seed="0"), entry(order_seed=True)]
)
def test_without_a_seed_the_order_read_is_the_suites(judge: JudgeEntry | None) -> None:
    assert reading_order(SUITE, judge) == ["E1", "E2", "D1"]
