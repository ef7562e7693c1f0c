"""The figures of an evidence audit, worked by hand on a small bundle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from builders_evidence import ALPHA, BETA, checker_of, suite_of

from touchstone.evidence import CLASSES
from touchstone.evidence_audit import (
    ClassCounts,
    Contradiction,
    EvidenceAudit,
    Reuse,
    audit_evidence,
)
from touchstone.models import Evidence, ModelReport

SUITE = suite_of("E1", "E2", "E3", "E4", "E5")
BOILER = "The boiler has been cold since Monday."
ANSWERS = {
    ALPHA: {"E1": BOILER, "E2": "Thank you, Thursday suits us well.", "E3": "42", "E5": ""},
    BETA: {"E1": "Beta writes quite another answer to it."},
}


def report(
    scores: Mapping[str, int | None],
    rationales: Mapping[str, str] | None = None,
    evidence: Mapping[str, Sequence[Evidence]] | None = None,
    pair: tuple[str, str] = ALPHA,
) -> ModelReport:
    return ModelReport(
        model=pair[0],
        variant=pair[1],
        dim_scores=dict(scores),
        dim_rationales=dict(rationales or {}),
        evidence={key: tuple(items) for key, items in (evidence or {}).items()},
    )


def quote(prompt_id: str, words: str, **more: Any) -> Evidence:
    return Evidence(prompt_id=prompt_id, quote=words, **more)


def audit(*reports: ModelReport, **options: Any) -> EvidenceAudit:
    return audit_evidence(
        SUITE,
        reports,
        checker_of(SUITE, ANSWERS),
        lambda pair, prompt_id: prompt_id in ANSWERS.get(pair, {}),
        **options,
    )


def contradictions(
    score: int | None, *evidence: Evidence, rationale: str = ""
) -> list[Contradiction]:
    given = report({"Q1": score}, {"Q1": rationale}, {"Q1": evidence})
    return list(audit(given).contradictions)


# --- counts --------------------------------------------------------------------------------


def test_counts_and_fidelity_worked_by_hand() -> None:
    items = [
        quote("E1", BOILER),
        quote("E1", BOILER.upper()),
        quote("E1", "The boiler has … since Monday."),
        quote("E2", "The boiler has been cold"),
        quote("E3", "no"),
        quote("E9", "points at nothing at all"),
        Evidence(prompt_id="E1", kind="absence", absent_terms=("boiler",)),
        Evidence(prompt_id="E1", kind="absence", absent_terms=("deadline",)),
        Evidence(prompt_id="E8", kind="absence", absent_terms=("deadline",)),
        Evidence(prompt_id="E1", kind="paraphrase"),
        quote("E1", "  "),
    ]
    counts = audit(report({"Q1": 3}, {}, {"Q1": items})).counts

    assert {one: n for one, n in counts.classes.items() if n} == {
        "verbatim": 1,
        "normalised": 1,
        "in_parts": 1,
        "misattributed": 1,
        "too_short": 1,
        "dangling": 2,
        "absence_failed": 1,
        "absence_passed": 1,
        "paraphrase": 2,
    }
    assert (counts.items, counts.quotes) == (11, 6)
    # Wilson for 3 of 6, z = 1.96: (0.5 + 0.3201 ± 0.5122) / 1.6402.
    assert counts.fidelity.value == 0.5
    assert counts.fidelity.bounds == pytest.approx((0.1876, 0.8124), abs=5e-5)


def test_counts_as_json_name_every_class_and_leave_out_what_cannot_be_computed() -> None:
    counted = audit(report({"Q1": 3})).counts.as_dict()
    assert list(counted) == ["items", "quotes", *CLASSES, "fidelity", "fidelity_ci"]
    assert (counted["verbatim"], counted["fidelity"], counted["fidelity_ci"]) == (0, None, None)
    one = ClassCounts(1, 1, dict.fromkeys(CLASSES, 0) | {"verbatim": 1}).as_dict()
    assert one["fidelity"] == 1.0
    assert one["fidelity_ci"] == pytest.approx([0.2065, 1.0], abs=5e-5)


def test_quotes_in_prose_are_counted_apart_and_short_ones_are_none() -> None:
    said = {
        "Q1": "E1 says “The boiler has been cold” and “cold”. E2 says “it suits nobody at all”.",
        "Q2": "“belongs to no answer at all”",
    }
    found = audit(report({"Q1": 3}, said))

    assert found.counts.items == 0
    assert (found.prose.items, found.prose.quotes) == (3, 2)
    assert found.prose.classes["too_short"] == 1
    assert found.prose.fidelity.value == 0.5
    assert found.unattributed == 1


def test_ids_that_a_rationale_makes_up_are_named() -> None:
    found = audit(report({"Q1": 3}, {"Q1": "E1, E2–E3; E12 and E7 don't exist, nor does E7."}))
    assert [one.prompt_ids for one in found.rationales] == [("E1", "E2", "E3")]
    assert [one.dangling for one in found.rationales] == [("E12", "E7")]


def test_evidence_of_a_dimension_the_suite_lacks_is_left_out() -> None:
    found = audit(report({"Q9": 3}, {"Q9": "E1"}, {"Q9": [quote("E1", BOILER)]}))
    assert (found.items, found.rationales) == ((), ())


# --- what is cited -------------------------------------------------------------------------


def test_cited_and_uncited_answers_and_red_flagged_ones() -> None:
    alpha = report({"Q1": 3}, {"Q1": "weak at E2"}, {"Q2": [quote("E1", BOILER)]})
    beta = report({"Q1": 3}, pair=BETA)
    red = {(*ALPHA, "E2"), (*ALPHA, "E3"), (*ALPHA, "E4"), (*BETA, "E1"), ("delta", "x", "E1")}

    found = audit(alpha, beta, red_flagged=red)

    first, second = found.models
    assert (first.cited, first.uncited) == (("E1", "E2"), ("E3", "E5"))
    assert (second.cited, second.uncited) == ((), ("E1",))
    assert (first.red_cited, first.red_uncited, second.red_uncited) == (("E2",), ("E3",), ("E1",))
    assert (found.cited.count, found.cited.n) == (2, 5)
    assert (found.red_cited.count, found.red_cited.n) == (1, 3)


def test_the_mean_position_of_what_is_cited_in_the_order_shown() -> None:
    given = report({}, {"Q1": "E1, E2 and E1", "Q2": "E5 and E9"}, {"Q1": [quote("E2", "x")]})

    # Alpha answered E1, E2, E3 and E5: places 0, 1/3, 2/3 and 1.
    assert sorted(audit(given).models[0].positions) == pytest.approx([0, 1 / 3, 1])
    assert audit(given).position == pytest.approx(4 / 9)
    turned = audit(given, order=["E5", "E4", "E3", "E2", "E1"])
    assert turned.position == pytest.approx(5 / 9)
    assert turned.models[0].cited == ("E1", "E2", "E5")


def test_without_citations_or_with_one_answer_there_is_no_position() -> None:
    assert audit(report({})).position is None
    assert audit(report({}, {"Q1": "E1"}, pair=BETA)).models[0].position is None
    assert audit().position is None
    assert audit().cited.value is None


# --- reuse ---------------------------------------------------------------------------------


def test_words_that_three_dimensions_rest_on_are_reused() -> None:
    evidence = {
        "Q1": [quote("E1", BOILER), quote("E2", "Thank you, Thursday suits")],
        "Q2": [quote("E1", "boiler has been cold"), quote("E1", "made up words of no answer")],
        "Q3": [quote("E1", "BEEN COLD SINCE MONDAY"), quote("E2", "suits us well.")],
    }
    assert audit(report({}, {}, evidence)).reused == (
        Reuse(ALPHA, "E1", BOILER, ("Q1", "Q2", "Q3")),
    )


def test_the_same_made_up_words_are_reused_too_and_different_ones_are_not() -> None:
    made_up = [quote("E1", f"made {up} words of no answer") for up in ("up", "UP", "**up**")]
    evidence = dict(zip(("Q1", "Q2", "Q3"), ([one] for one in made_up), strict=True))
    (one,) = audit(report({}, {}, evidence)).reused
    assert one.dimensions == ("Q1", "Q2", "Q3")

    apart = {"Q1": ["The boiler has been"], "Q2": ["cold since Monday."], "Q3": [BOILER[:19]]}
    parts = {key: [quote("E1", words) for words in value] for key, value in apart.items()}
    assert audit(report({}, {}, parts)).reused == ()
    assert audit(report({}, {}, {"Q1": [quote("E1", BOILER)] * 3})).reused == ()


# --- contradictions ------------------------------------------------------------------------

DEFECT = quote("E1", BOILER, polarity="defect", severity="minor")
FATAL = quote("E1", BOILER, polarity="defect", severity="fatal")
STRENGTH = quote("E1", BOILER, polarity="strength")


@pytest.mark.parametrize(
    ("score", "evidence", "kinds"),
    [
        (5, [DEFECT], ["only_defects"]),
        (4, [DEFECT, FATAL], ["only_defects"]),
        (5, [FATAL], ["only_defects", "fatal_at_5"]),
        (5, [FATAL, STRENGTH], ["fatal_at_5"]),
        (4, [DEFECT, STRENGTH], []),
        (4, [DEFECT, quote("E1", BOILER)], []),
        (3, [FATAL], []),
        (5, [STRENGTH.model_copy(update={"severity": "fatal"})], []),
        (5, [], []),
        (None, [FATAL], []),
    ],
)
def test_a_high_score_and_its_evidence(
    score: int | None, evidence: list[Evidence], kinds: list[str]
) -> None:
    assert [one.kind for one in contradictions(score, *evidence)] == kinds


def test_one_rationale_for_several_dimensions() -> None:
    said = {
        "Q1": "All is well at E1.",
        "Q2": " all is **well**\nat E1.",
        "Q3": "All is well at E2.",
    }
    assert audit(report({}, said)).contradictions == (
        Contradiction("same_rationale", ALPHA, ("Q1", "Q2")),
    )
    assert audit(report({}, {"Q1": "", "Q2": " "})).contradictions == ()


@pytest.mark.parametrize(
    ("rationale", "cited", "differing"),
    [
        ("E1 and E2", ["E1", "E2"], None),
        ("E1–E3", ["E1", "E3", "E2", "E1"], None),
        ("E1 and E2", ["E1"], (("E2",), ())),
        ("E1", ["E2", "E3"], (("E1",), ("E2", "E3"))),
        ("E1 and E9", ["E1"], (("E9",), ())),
        ("no id here", ["E1"], None),
        ("E1", [], None),
    ],
)
def test_ids_in_prose_and_in_evidence(
    rationale: str, cited: list[str], differing: tuple[tuple[str, ...], tuple[str, ...]] | None
) -> None:
    found = contradictions(3, *(quote(one, "x") for one in cited), rationale=rationale)

    expected = [Contradiction("ids_differ", ALPHA, ("Q1",), *differing)] if differing else []
    assert found == expected
