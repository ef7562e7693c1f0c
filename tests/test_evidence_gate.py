"""Whether evidence is as good as demanded: what counts, what is missed, and what is said of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from builders_judge_meta import GREEDY, Pair, data_of, item
from builders_report import answer
from hypothesis import given
from hypothesis import strategies as st

from touchstone.evidence_audit import EvidenceAudit
from touchstone.evidence_gate import (
    BadCitation,
    EvidenceDemand,
    EvidenceStanding,
    evidence_shortfalls,
    evidence_standings,
    standing_of,
)
from touchstone.gui.judge_meta.evidence import audit_of

BOLD: Pair = ("alpha", "bold")
TEXT = "Mr Novak is off sick and will be back on Monday."
LETTER = "The letter has gone out with the second post."
SUM = "Two and two make four, as far as I can tell."
GOOD = item(quote="Mr Novak is off sick")
NOWHERE = item(quote="words that nobody has ever said")
DANGLING = item("X9", quote="words of an answer that is not there")
PLAIN = EvidenceDemand()


def audited(
    *items: Mapping[str, Any], rationale: str = "", others: Sequence[Mapping[str, Any]] = ()
) -> EvidenceAudit:
    data = data_of(
        {
            "dim_scores": {"Q1": 3},
            "dim_rationales": {"Q1": rationale},
            "evidence": {"Q1": list(items)},
        },
        *others,
        answers=[
            answer(*GREEDY, "E1", TEXT),
            answer(*GREEDY, "E2", LETTER),
            answer(*BOLD, "D1", SUM),
        ],
        models=(GREEDY, BOLD),
    )
    return audit_of(data)


def kinds(audit: EvidenceAudit, demand: EvidenceDemand = PLAIN) -> list[str]:
    return [one.kind for one in evidence_shortfalls(audit, demand)]


@pytest.mark.parametrize(
    ("items", "missed"),
    [
        ([GOOD], []),
        ([item(quote="MR NOVAK is off sick")], []),
        ([item(quote="Mr Novak is off … back on Monday")], []),
        ([item(kind="absence", absent_terms=["Tuesday"])], []),
        ([GOOD, NOWHERE], ["fidelity"]),
        ([GOOD, item(quote=LETTER)], ["fidelity"]),
        ([GOOD, item(quote=SUM)], ["fidelity"]),
        ([GOOD, item(kind="absence", absent_terms=["Monday"])], ["fidelity"]),
        ([GOOD, DANGLING], ["dangling"]),
        ([DANGLING], ["dangling"]),
        ([NOWHERE, DANGLING], ["dangling", "fidelity"]),
        ([GOOD, item(quote="off sick")], []),
        ([GOOD, item(quote="Mr Novak is off sick and will be home on Monday.")], []),
        ([GOOD, item(kind="paraphrase", observation="Short.")], []),
        ([], ["no_evidence"]),
        ([item(quote="off sick")], ["no_evidence"]),
        ([item(kind="paraphrase", observation="Short.")], ["no_evidence"]),
    ],
)
def test_what_misses_the_plain_demand(items: list[dict[str, Any]], missed: list[str]) -> None:
    assert kinds(audited(*items)) == missed


@pytest.mark.parametrize(
    ("rationale", "missed"),
    [
        ("As E1 shows.", []),
        ("As E1 and E9 show.", ["dangling"]),
        ("As D1 shows.", ["dangling"]),  # D1 is a prompt, and this model did not answer it
    ],
)
def test_an_id_that_a_rationale_names_is_a_citation_too(rationale: str, missed: list[str]) -> None:
    assert kinds(audited(GOOD, rationale=rationale)) == missed


def test_an_id_in_rationale_and_evidence_of_a_dimension_counts_once() -> None:
    standing = evidence_standings(audited(GOOD, DANGLING, rationale="See prompt X9."))[GREEDY]

    assert len(standing.dangling) == 1
    assert standing.dangling[0].quote != ""


@pytest.mark.parametrize(
    ("demand", "missed"),
    [
        (EvidenceDemand(min_fidelity=66.6), []),
        (EvidenceDemand(min_fidelity=66.7), ["fidelity"]),
        (EvidenceDemand(min_fidelity=0), []),
        (EvidenceDemand(), ["fidelity"]),
    ],
)
def test_a_share_that_must_hold_may_be_lower(demand: EvidenceDemand, missed: list[str]) -> None:
    """2 of 3 hold: 66.67 %. What is too short is not among the three."""
    audit = audited(GOOD, GOOD, NOWHERE, item(quote="off sick"))

    assert kinds(audit, demand) == missed


@pytest.mark.parametrize(("most", "missed"), [(0, ["dangling"]), (1, ["dangling"]), (2, [])])
def test_some_dangling_citations_may_be_allowed(most: int, missed: list[str]) -> None:
    assert kinds(audited(GOOD, DANGLING, DANGLING), EvidenceDemand(max_dangling=most)) == missed


def test_the_message_names_the_first_citations_and_counts_the_rest() -> None:
    words = "words that nobody has ever said, and that go on and on without end"
    audit = audited(item(quote=words), *[NOWHERE] * 4)
    (found,) = evidence_shortfalls(audit, PLAIN)

    assert found.pair == GREEDY
    assert found.message == (
        "0 of 5 quotes and absences hold, which is 0.0 % and below 100 %: "
        f"Q1 at E1: unverifiable, “{words[:59]}…”; "
        "Q1 at E1: unverifiable, “words that nobody has ever said”; "
        "Q1 at E1: unverifiable, “words that nobody has ever said”; and 2 more"
    )


def test_a_share_just_below_the_demand_is_not_shown_as_the_demand() -> None:
    bad = (BadCitation("Q1", "E1", "unverifiable", "x"),)
    (found,) = EvidenceStanding(GREEDY, held=9999, bad=bad).shortfalls(PLAIN)

    assert "which is 99.9 % and below 100 %" in found.message


def test_dangling_citations_are_said_with_how_many_are_allowed() -> None:
    audit = audited(GOOD, DANGLING, DANGLING)
    (found,) = evidence_shortfalls(audit, EvidenceDemand(max_dangling=1))

    assert found.message.startswith("2 citations lead to no answer (1 allowed): Q1 at X9: dangling")


def test_only_models_with_a_report_are_looked_at_unless_others_are_named() -> None:
    audit = audited(GOOD)

    assert evidence_shortfalls(audit, PLAIN) == []
    found = evidence_shortfalls(audit, PLAIN, [GREEDY, BOLD])
    assert [(one.pair, one.kind) for one in found] == [(BOLD, "no_evidence")]


def test_models_are_told_apart() -> None:
    other = {
        "variant": "bold",
        "dim_scores": {"Q1": 3},
        "evidence": {"Q1": [item("E1", quote=TEXT)]},
    }
    standings = evidence_standings(audited(GOOD, others=[other]))

    assert standings[GREEDY] == EvidenceStanding(GREEDY, held=1)
    assert [one.kind for one in standings[BOLD].dangling] == ["dangling"]


def test_a_standing_says_in_json_what_is_missed() -> None:
    standing = standing_of(evidence_standings(audited(GOOD, NOWHERE, DANGLING)), GREEDY)
    found = standing.as_dict(PLAIN)

    assert (found["ok"], found["held"], found["bad"], found["dangling"]) == (False, 1, 1, 1)
    assert found["held_pct"] == 50
    assert [one["kind"] for one in found["shortfalls"]] == ["dangling", "fidelity"]
    assert [one["class"] for one in found["citations"]] == ["dangling", "unverifiable"]
    empty = EvidenceStanding(BOLD).as_dict(PLAIN)
    assert (empty["held_pct"], empty["shortfalls"][0]["kind"]) == (None, "no_evidence")


@given(
    held=st.integers(0, 50), bad=st.integers(0, 50), low=st.floats(0, 100), high=st.floats(0, 100)
)
def test_what_meets_a_demand_meets_every_lower_one(
    held: int, bad: int, low: float, high: float
) -> None:
    standing = EvidenceStanding(
        GREEDY, held, tuple(BadCitation("Q1", "E1", "near", "x") for _ in range(bad))
    )
    low, high = sorted((low, high))
    if not standing.shortfalls(EvidenceDemand(min_fidelity=high)):
        assert not standing.shortfalls(EvidenceDemand(min_fidelity=low))
