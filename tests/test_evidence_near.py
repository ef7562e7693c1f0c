"""Quotes with omissions and quotes that are nearly right: found only if they mean the same."""

from __future__ import annotations

import pytest
from builders_evidence import ALPHA, checker_of, suite_of

from touchstone.evidence import Finding


def words(finding: Finding, text: str) -> list[str]:
    return [text[start:end] for start, end in finding.spans]


# --- in parts ------------------------------------------------------------------------------

TEXT = "The new boiler is not safe for children under six. It was tested in May. It has a lock."


@pytest.mark.parametrize(
    ("quote", "parts"),
    [
        ("The new boiler … under six. It was", ["The new boiler", "under six. It was"]),
        ("It was tested [...] It has a lock", ["It was tested", "It has a lock"]),
        ("It was tested (…) It has a lock", ["It was tested", "It has a lock"]),
        ("… for children under six…", ["for children under six"]),
        ("THE NEW BOILER… it was tested…", ["The new boiler", "It was tested"]),
    ],
)
def test_parts_are_found_in_order(quote: str, parts: list[str]) -> None:
    checker = checker_of(suite_of("E1"), {ALPHA: {"E1": TEXT.replace("not ", "")}})
    finding = checker.check_quote(ALPHA, "E1", quote)
    assert finding.kind == "in_parts"
    assert words(finding, TEXT.replace("not ", "")) == parts


@pytest.mark.parametrize(
    "quote",
    [
        "It has a lock … The new boiler",  # the other way round
        "The new boiler … is cheap for all",  # one of them made up
        "The new … lock",  # nothing but crumbs
        "It was … It has a lock",
        "The new boiler is … safe for children",  # the "not" is what was left out
        "… … ...",
        "[...]" * 30,
    ],
)
def test_parts_that_prove_nothing_are_not_found(quote: str) -> None:
    checker = checker_of(suite_of("E1"), {ALPHA: {"E1": TEXT}})
    assert checker.check_quote(ALPHA, "E1", quote).kind in {"unverifiable", "too_short"}


def test_a_negation_in_another_sentence_may_be_left_out() -> None:
    text = "We deliver twelve desks. This is not an offer. All prices are net of tax."
    checker = checker_of(suite_of("E1"), {ALPHA: {"E1": text}})
    quote = "We deliver twelve desks … prices are net of tax"
    assert checker.check_quote(ALPHA, "E1", quote).kind == "in_parts"


def test_a_later_place_counts_if_the_first_hides_a_negation() -> None:
    text = "It is said it is not safe for all. It is said it is surely safe for all."
    checker = checker_of(suite_of("E1"), {ALPHA: {"E1": text}})
    finding = checker.check_quote(ALPHA, "E1", "It is said it is … safe for all")
    assert finding.spans == ((35, 51), (59, 71))


# --- near ----------------------------------------------------------------------------------

ADVICE = (
    "You should take this medicine with a full glass of water. Take 500 mg a day, never more. "
    "Der Vertrag endet am 12. März und wird nicht verlängert. You are able to claim it back."
)


@pytest.mark.parametrize(
    ("quote", "kind"),
    [
        ("You should take this medcine with a full glass of watr", "near"),
        ("You should not take this medicine with a full glass of water", "unverifiable"),
        ("You shouldn't take this medicine with a full glass of water", "unverifiable"),
        ("a full glass of water. Take 50 mg a day, never moore", "unverifiable"),
        ("a full glass of water. Take 500 mg a day, never moore", "near"),
        ("a full glass of water. Take 500 mg a day, ever more", "unverifiable"),
        ("a full glass of water. Take 5.00 mg a day, never more", "unverifiable"),
        ("Der Vertrag endet zum 12. März und wird nicht verlängert", "near"),
        ("Der Vertrag endet am 12. März und wird verlängert. You", "unverifiable"),
        ("Der Vertrag endet am 12. März und wird nie verlängert", "unverifiable"),
        ("Der Vertrag endet am 12. Mai und wird nicht verlängert", "unverifiable"),
        ("wird nicht verlängert. You are unable to claim it back", "unverifiable"),
        ("wird nicht verlängert. You are abel to claim it back", "near"),
        ("this medcine with a full glass of water.", "near"),
        ("this medcine with a full glass of water", "unverifiable"),
    ],
)
def test_near_quotes_mean_the_same(quote: str, kind: str) -> None:
    checker = checker_of(suite_of("E1"), {ALPHA: {"E1": ADVICE}})
    assert checker.check_quote(ALPHA, "E1", quote).kind == kind


def test_a_long_made_up_quote_is_not_near_a_short_answer() -> None:
    checker = checker_of(suite_of("E1"), {ALPHA: {"E1": "42"}})
    quote = "The model explains at length why the answer must be 42 and nothing else."
    assert checker.check_quote(ALPHA, "E1", quote).kind == "unverifiable"


def test_a_quote_that_says_more_than_the_whole_answer_is_not_near_it() -> None:
    text = "The boiler has been cold since we moved in here."
    checker = checker_of(suite_of("E1"), {ALPHA: {"E1": text}})
    quote = f"It says: {text} And much else was said about it on that day."
    assert checker.check_quote(ALPHA, "E1", quote).kind == "unverifiable"


def test_an_inserted_negation_does_not_pass_for_the_next_sentence_s() -> None:
    text = "You should take this medicine with water every day. Not with milk, please."
    checker = checker_of(suite_of("E1"), {ALPHA: {"E1": text}})
    for quote in (
        "You should take this medicine with water every not day.",
        "You should take this medicine with water not every day",
    ):
        assert checker.check_quote(ALPHA, "E1", quote).kind == "unverifiable"


def test_beyond_the_limits_no_near_match_is_looked_for_and_that_is_said() -> None:
    near = "You should take this medcine with a full glass of water"
    long = ADVICE + " x" * 10_000
    checker = checker_of(suite_of("E1", "E2"), {ALPHA: {"E1": long, "E2": ADVICE}})
    assert checker.check_quote(ALPHA, "E1", near) == Finding("unverifiable", near_skipped=True)
    assert checker.check_quote(ALPHA, "E2", near).kind == "near"
    assert checker.check_quote(ALPHA, "E1", ADVICE[:60]).near_skipped is False
