"""Every class of evidence, in the order in which they are tried, with its place in the answer."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from builders_evidence import ALPHA, BETA, GAMMA, checker_of, suite_of

from touchstone.evidence import CLASSES, FOUND, QUOTE_CLASSES, EvidenceChecker, Finding
from touchstone.models import Evidence

SUITE = suite_of(
    {
        "id": "E1",
        "title": "A note to the landlord",
        "system": "You write for a firm of three.",
        "text": "Tell the landlord that the boiler has been cold since Monday.",
        "expectation": {"de": "Nennt den Montag und die Frist.", "en": "Names Monday and a term."},
        "forbidden": "Any threat to stop paying the rent.",
    },
    {"id": "E2", "text": "Answer his reply in one sentence.", "follows": "E1"},
    "E3",
    "E4",
)
E1 = (
    "Dear Mr Falk,\n\nthe boiler has been **cold** since Monday. You should not wait with the "
    "repair; please send someone by 12 March.\n\n- Phone: 500 12\n- Mail: none\n"
)
E2 = "Thank you, Thursday suits us. Thank you, Thursday suits us."
E3 = "42"
ANSWERS = {
    ALPHA: {"E1": E1, "E2": E2, "E3": E3, "E4": ""},
    BETA: {
        "E1": "Beta says nothing about a boiler here.",
        "E2": "Come whenever it suits you, then.",
    },
    GAMMA: {
        "E2": "Come whenever it suits you, then.",
        "E3": "Gamma counts to forty-two and stops.",
    },
}


@pytest.fixture
def checker() -> EvidenceChecker:
    return checker_of(SUITE, ANSWERS)


def check(checker: EvidenceChecker, prompt_id: str, quote: str) -> Finding:
    return checker.check_quote(ALPHA, prompt_id, quote)


def words(finding: Finding, text: str) -> list[str]:
    return [text[start:end] for start, end in finding.spans]


# --- one case of each class ----------------------------------------------------------------

COLD, SHOULD = E1.index("the boiler"), E1.index("should")


@pytest.mark.parametrize(
    ("prompt_id", "quote", "expected"),
    [
        ("E9", "the boiler has been", Finding("dangling")),
        ("E3", "Monday", Finding("too_short")),
        ("E1", "Dear Mr Falk", Finding("too_short", ((0, 12),), None, 1)),
        ("E1", "the boiler has been **cold**", Finding("verbatim", ((COLD, COLD + 28),), None, 1)),
        (
            "E1",
            "The boiler has been cold since",
            Finding("normalised", ((COLD, COLD + 34),), None, 1),
        ),
        (
            "E1",
            "the boiler has been […] since Monday",
            Finding("in_parts", ((COLD, COLD + 19), (COLD + 29, COLD + 41)), None, 1),
        ),
        (
            "E1",
            "should not waits with the repairs; please send someone",
            Finding("near", ((SHOULD, SHOULD + 52),), None, 1),
        ),
        ("E1", "Any threat to stop paying", Finding("from_prompt")),
        (
            "E1",
            "Thursday suits us. Thank you",
            Finding("misattributed", ((11, 39),), (*ALPHA, "E2"), 1),
        ),
        (
            "E1",
            "Beta says nothing about a boiler",
            Finding("cross_model", ((0, 32),), (*BETA, "E1"), 1),
        ),
        ("E1", "the heating has been off for a week", Finding("unverifiable")),
    ],
)
def test_each_class_of_quote(
    checker: EvidenceChecker, prompt_id: str, quote: str, expected: Finding
) -> None:
    assert check(checker, prompt_id, quote) == expected


def test_a_quote_in_parts_has_a_span_for_each(checker: EvidenceChecker) -> None:
    found = check(checker, "E1", "the boiler has been […] please send someone ... Phone: 500 12")

    assert found.kind == "in_parts"
    assert words(found, E1) == ["the boiler has been", "please send someone", "Phone: 500 12"]


def test_a_near_quote_has_the_span_of_what_is_meant(checker: EvidenceChecker) -> None:
    found = check(checker, "E1", "You should not waits with the repairs; please send someone")

    assert found.kind == "near"
    assert words(found, E1) == ["You should not wait with the repair; please send someone"]


def test_the_classes_are_those_of_the_design_in_its_order() -> None:
    assert (
        *("dangling", "too_short", "verbatim", "normalised", "in_parts", "near"),
        *("from_prompt", "misattributed", "cross_model", "unverifiable"),
    ) == QUOTE_CLASSES
    assert CLASSES[10:] == ("absence_passed", "absence_failed", "paraphrase")
    assert {"verbatim", "normalised", "in_parts"} == FOUND
    assert [one for one in CLASSES if Finding(one).is_found] == [*CLASSES[2:5]]


# --- dangling, short, paraphrase -----------------------------------------------------------


@pytest.mark.parametrize("kind", ["quote", "paraphrase", "absence"])
def test_what_points_at_no_answer_dangles_whatever_it_is(
    checker: EvidenceChecker, kind: Any
) -> None:
    item = Evidence(prompt_id="E9", kind=kind, quote="x", absent_terms=("y",))
    assert checker.check(ALPHA, item) == Finding("dangling")
    assert checker.check(GAMMA, item.model_copy(update={"prompt_id": "E1"})).kind == "dangling"
    assert checker.check(("delta", "x"), item).kind == "dangling"


def test_an_answer_to_a_prompt_the_suite_lacks_is_none() -> None:
    checker = checker_of(suite_of("E1"), {ALPHA: {"E1": "a", "E7": "a stray answer to nothing"}})
    assert checker.check_quote(ALPHA, "E7", "a stray answer to nothing").kind == "dangling"


@pytest.mark.parametrize(
    ("quote", "kind"),
    [
        ("nineteen characters", "too_short"),
        ("19 characters, 4 ww", "verbatim"),
        ("twenty characters ww", "verbatim"),
        ("three short words", "too_short"),
        ("a b c d", "verbatim"),
        ("一二三", "too_short"),
        ("一二三四", "verbatim"),
    ],
)
def test_short_is_below_twenty_characters_and_four_words(quote: str, kind: str) -> None:
    checker = checker_of(suite_of("E1"), {ALPHA: {"E1": f"It is: {quote}. And more."}})
    found = checker.check_quote(ALPHA, "E1", f" {quote}\n")
    assert (found.kind, found.spans) == (kind, ((7, 7 + len(quote)),))


def test_a_short_quote_that_is_the_whole_answer_is_not_too_short(checker: EvidenceChecker) -> None:
    assert check(checker, "E3", "42") == Finding("verbatim", ((0, 2),), None, 1)
    assert check(checker, "E3", "**42**") == Finding("normalised", ((0, 2),), None, 1)
    assert check(checker, "E4", "***").kind == "too_short"


def test_a_short_quote_is_shown_where_it_is_a_word() -> None:
    checker = checker_of(suite_of("E1"), {ALPHA: {"E1": "I know: nothing. No, 5 or 50."}})
    assert checker.check_quote(ALPHA, "E1", "no").spans == ((17, 19),)
    assert checker.check_quote(ALPHA, "E1", "kno").spans == ((2, 5),)
    assert checker.check_quote(ALPHA, "E1", "0").spans == ()


@pytest.mark.parametrize(
    "item",
    [
        Evidence(prompt_id="E1", kind="paraphrase", quote="the boiler has been invented"),
        Evidence(prompt_id="E1", quote=" \n\u00a0"),
        Evidence(prompt_id="E1", kind="absence"),
        Evidence(prompt_id="E1", kind="absence", absent_terms=("", " ")),
    ],
)
def test_what_holds_no_words_to_look_up_is_a_paraphrase(
    checker: EvidenceChecker, item: Evidence
) -> None:
    assert checker.check(ALPHA, item) == Finding("paraphrase")


# --- in the answer -------------------------------------------------------------------------

GERMAN = (
    "Sehr geehrte Frau Grüßmann,\n\nder »Mietvertrag« endet am 30.\u00a0Juni – Straße und "
    "Haus\u00adnummer stehen im Anhang. Für die Rückgabe gilt: Schlüssel bis 12 Uhr."
)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("quote_form", ["NFC", "NFD"])
@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("der „Mietvertrag“ endet am 30. Juni", "der »Mietvertrag« endet am 30.\u00a0Juni"),
        ("Sehr geehrte Frau Grüssmann", "Sehr geehrte Frau Grüßmann"),
        ("STRASSE UND HAUSNUMMER STEHEN", "Straße und Haus\u00adnummer stehen"),
        ("Für die Rückgabe gilt: Schlüssel", "Für die Rückgabe gilt: Schlüssel"),
        ("30. Juni - Straße und", "30.\u00a0Juni – Straße und"),
    ],
)
def test_german_is_found_in_any_form(form: Any, quote_form: Any, quote: str, found: str) -> None:
    text = unicodedata.normalize(form, GERMAN)
    checker = checker_of(suite_of("E1"), {ALPHA: {"E1": text}})

    finding = checker.check_quote(ALPHA, "E1", unicodedata.normalize(quote_form, quote))

    assert finding.is_found
    assert words(finding, text) == [unicodedata.normalize(form, found)]


@pytest.mark.parametrize(
    ("quote", "text", "found"),
    [
        (
            "first point second point",
            "- first point\n- second point\n",
            "first point\n- second point",
        ),
        (
            "1. one step 2. next step",
            "1. one step\n2. **next** step",
            "1. one step\n2. **next** step",
        ),
        ("Net total Gross total", "| Net total | Gross total |", "Net total | Gross total"),
        (
            "Head cell 12 euros",
            "|Head|cell|\n|:--|---|\n|12|euros|",
            "Head|cell|\n|:--|---|\n|12|euros",
        ),
        ("run this: print(x) now", "Run this:\n```py\nprint(x)\n```\nnow", None),
        ("a very bold and slanted word", "a **very *bold*** and _slanted_ word", None),
        ("“said in other quotes today”", "he said in other quotes today, twice", None),
        ('"He said: »yes, of course«"', "He said: “yes, of course”", None),
        ("To do: - pay her * call him", "To do:\n- pay her\n* call him", None),
        ("Done. ## Next --- the rest", "Done.\n## Next\n\n---\n\nthe rest", None),
        ("wait for it... and go", "wait for it… and go", None),
    ],
)
def test_what_markdown_and_typography_change_is_the_same(
    quote: str, text: str, found: str | None
) -> None:
    checker = checker_of(suite_of("E1"), {ALPHA: {"E1": text}})
    finding = checker.check_quote(ALPHA, "E1", quote)
    assert finding.kind == "normalised"
    if found is not None:
        assert words(finding, text) == [found]


def test_a_minus_is_no_list_mark() -> None:
    checker = checker_of(suite_of("E1"), {ALPHA: {"E1": "the sum of it is 5 at least"}})
    assert checker.check_quote(ALPHA, "E1", "the sum of it is - 5 at least").kind == "unverifiable"


def test_the_first_of_several_places_counts_and_the_others_are_counted(
    checker: EvidenceChecker,
) -> None:
    assert check(checker, "E2", "Thursday suits us.") == Finding("too_short", ((11, 29),), None, 2)
    assert check(checker, "E2", "Thank you, Thursday suits") == Finding(
        "verbatim", ((0, 25),), None, 2
    )
    assert check(checker, "E2", "thank you, thursday suits") == Finding(
        "normalised", ((0, 25),), None, 2
    )


# --- elsewhere -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "quote",
    [
        *("boiler has been cold since Monday.", "A note to the landlord", "a firm of three, write"),
        *(
            "Nennt den Montag und die Frist",
            "names monday and a term",
            "the landlord that … since Monday",
        ),
    ],
)
def test_words_of_the_prompt_are_known_as_such(quote: str) -> None:
    checker = checker_of(SUITE, {ALPHA: {"E1": "Something else is written here."}})
    expected = "unverifiable" if "write" in quote else "from_prompt"
    assert checker.check_quote(ALPHA, "E1", quote).kind == expected


def test_earlier_turns_belong_to_the_prompt(checker: EvidenceChecker) -> None:
    assert check(checker, "E2", "Tell the landlord that the boiler").kind == "from_prompt"
    assert check(checker, "E1", "Answer his reply in one sentence").kind == "unverifiable"


def test_turns_that_follow_each_other_in_a_circle_end() -> None:
    suite = suite_of(
        {"id": "E1", "text": "one turn of it", "follows": "E2"},
        {"id": "E2", "text": "the other turn of it", "follows": "E1"},
        {"id": "E3", "text": "a turn of nothing", "follows": "E9"},
    )
    checker = checker_of(suite, {ALPHA: {"E1": "x", "E3": "x"}})
    assert checker.check_quote(ALPHA, "E1", "the other turn of it").kind == "from_prompt"
    assert checker.check_quote(ALPHA, "E3", "the other turn of it").kind == "unverifiable"


def test_the_answer_goes_before_the_prompt_and_the_prompt_before_other_answers() -> None:
    same = "This is the task of E1."
    checker = checker_of(suite_of("E1", "E2"), {ALPHA: {"E1": "x", "E2": same}})
    assert checker.check_quote(ALPHA, "E1", same).kind == "from_prompt"
    assert checker.check_quote(ALPHA, "E2", same).kind == "verbatim"


def test_another_model_s_answer_to_the_same_prompt_goes_before_any_other() -> None:
    words = "Come whenever it suits you"
    answers = {
        ALPHA: {"E1": "x"},
        BETA: {"E2": f"Beta: {words}."},
        GAMMA: {"E2": words, "E1": f"Gamma: {words}, {words}."},
    }
    checker = checker_of(suite_of("E1", "E2"), answers)
    assert checker.check_quote(ALPHA, "E1", words.upper()) == Finding(
        "cross_model", ((7, 33),), (*GAMMA, "E1"), 2
    )
    del answers[GAMMA]["E1"]
    found = checker_of(suite_of("E1", "E2"), answers).check_quote(ALPHA, "E1", words)
    assert found == Finding("cross_model", ((6, 32),), (*BETA, "E2"), 1)


def test_of_another_model_s_answers_the_one_to_the_same_prompt_counts() -> None:
    words = "Come whenever it suits you"
    answers = {ALPHA: {"E2": "x"}, BETA: {"E1": words, "E2": words, "E3": words}}
    found = checker_of(suite_of("E1", "E2", "E3"), answers).check_quote(ALPHA, "E2", words)
    assert found.place == (*BETA, "E2")


def test_the_model_s_own_answers_go_before_another_model_s() -> None:
    words = "Come whenever it suits you"
    answers = {BETA: {"E1": words}, ALPHA: {"E1": "x", "E2": f"- {words}"}}
    found = checker_of(suite_of("E1", "E2"), answers).check_quote(ALPHA, "E1", words)
    assert found == Finding("misattributed", ((2, 28),), (*ALPHA, "E2"), 1)


def test_a_number_is_not_found_in_another_answer_s_longer_number() -> None:
    answers = {ALPHA: {"E1": "x", "E2": "The total comes to 1,500 euros."}}
    checker = checker_of(suite_of("E1", "E2"), answers)
    assert checker.check_quote(ALPHA, "E1", "The total comes to 1").kind == "unverifiable"


def test_all_at_once_gives_what_one_by_one_gives(checker: EvidenceChecker) -> None:
    quotes = ["Thursday suits us. Thank you", "nowhere at all to be found", E1[:40], "Falk"]
    items = [
        (pair, Evidence(prompt_id=prompt_id, quote=quote))
        for pair in (ALPHA, BETA, GAMMA)
        for prompt_id in ("E1", "E2", "E3", "E4", "E9")
        for quote in quotes
    ]
    fresh = checker_of(SUITE, ANSWERS)
    assert fresh.check_all(items) == [checker.check(*item) for item in items]
    assert fresh.check_all([]) == []


# --- absence -------------------------------------------------------------------------------

FIGURES = "The total is £60.50, 15% of 1,200. Tomorrow | Bath; no Über\u00adweisung, STRASSE."


@pytest.mark.parametrize(
    ("term", "found"),
    [
        *(("Tom", ""), ("60", ""), ("200", ""), ("60.50", "60.50"), ("£60.50", "£60.50")),
        *(
            ("£ 60.50", "£60.50"),
            ("15 %", "15%"),
            ("15%", "15%"),
            ("5%", ""),
            ("15% o", ""),
            ("bath", "Bath"),
        ),
        *(("Straße", "STRASSE"), ("Überweisung", "Über\u00adweisung"), ("weisung", "")),
        *(("|", "|"), ("**", ""), ("the TOTAL  is", "The total is"), ("total £", ""), (".*", "")),
    ],
)
def test_a_missing_term_is_looked_up_as_whole_words_and_numbers(term: str, found: str) -> None:
    checker = checker_of(suite_of("E1"), {ALPHA: {"E1": FIGURES}})
    item = Evidence(prompt_id="E1", kind="absence", absent_terms=("nothing like it", term))

    finding = checker.check(ALPHA, item)

    assert finding.kind == ("absence_failed" if found else "absence_passed")
    assert words(finding, FIGURES) == ([found] if found else [])
    assert finding.terms == ((term,) if found else ())


def test_in_an_empty_answer_everything_is_missing(checker: EvidenceChecker) -> None:
    item = Evidence(prompt_id="E4", kind="absence", absent_terms=("a",))
    assert checker.check(ALPHA, item) == Finding("absence_passed")


# --- in prose ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rationale", "prompt_id", "kind"),
    [
        ("E1 says “please send someone by 12 March,” which is polite.", "E1", "verbatim"),
        ("E1 and E2 differ: “Thank you, Thursday suits us”", "E2", "verbatim"),
        ("E2 (not E1) says “please send someone by 12 March”", "E1", "verbatim"),
        ("E2 says “please send someone by 12 March.”", "E2", "misattributed"),
        ("E2 says “please send someone at once.”", "E2", "unverifiable"),
        ("E1 wünscht „nichts“", "E1", "too_short"),
        ("E1 quotes “Any threat to stop paying”", "E1", "from_prompt"),
        ("“please send someone by 12 March”", None, None),
    ],
)
def test_a_quote_in_prose_is_taken_at_the_id_where_it_is_found(
    checker: EvidenceChecker, rationale: str, prompt_id: str | None, kind: str | None
) -> None:
    (one,) = checker.check_prose(ALPHA, rationale)
    assert one.prompt_id == prompt_id
    assert (one.finding and one.finding.kind) == kind


def test_ids_and_rationales_without_quotes_give_none(checker: EvidenceChecker) -> None:
    assert checker.check_all_prose([(ALPHA, ""), (ALPHA, 'See "E1" and Q1.')]) == [[], []]
    assert [m.prompt_ids for m in checker.prompt_ids.mentions("E1, Q1")] == [("E1",)]
