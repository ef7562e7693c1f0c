"""Citations are found where they stand, and quotes in answers to the exact code point."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from touchstone.evidence import Mention, Place, find_mentions, locate_quote

IDS = ["E1", "E2", "E3", "E10", "C1", "C3", "D4"]


def named(text: str, prompt_ids: list[str] = IDS) -> list[tuple[str, tuple[str, ...]]]:
    """Return the words of each mention and what they stand for."""
    return [(text[m.start : m.end], m.prompt_ids) for m in find_mentions(text, prompt_ids)]


# --- mentions ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Weak at E1.", [("E1", ("E1",))]),
        ("E10 is fine", [("E10", ("E10",))]),
        ("schwach bei C3, sonst gut", [("C3", ("C3",))]),
        ("as seen (E1, C3)", [("E1", ("E1",)), ("C3", ("C3",))]),
        ("**E1**: good; _C3_ too", [("E1", ("E1",)), ("C3", ("C3",))]),
        ("E1/E2 and [D4]", [("E1", ("E1",)), ("E2", ("E2",)), ("D4", ("D4",))]),
        ("E1–E3", [("E1–E3", ("E1", "E2", "E3"))]),
        ("E1-E3", [("E1-E3", ("E1", "E2", "E3"))]),
        ("E1 – E3 are weak", [("E1 – E3", ("E1", "E2", "E3"))]),
        ("E1 bis E3", [("E1 bis E3", ("E1", "E2", "E3"))]),
        ("E1 to E3", [("E1 to E3", ("E1", "E2", "E3"))]),
        ("E1 through E3", [("E1 through E3", ("E1", "E2", "E3"))]),
        ("E1, E2–E10", [("E1", ("E1",)), ("E2–E10", ("E2", "E3", "E10"))]),
        ("E3–E1", [("E3", ("E3",)), ("E1", ("E1",))]),
        ("E1–E1", [("E1", ("E1",)), ("E1", ("E1",))]),
        ("E1–E9", [("E1", ("E1",))]),
        ("E1 and E3", [("E1", ("E1",)), ("E3", ("E3",))]),
    ],
)
def test_a_mention_is_a_whole_id_or_a_range(
    text: str, expected: list[tuple[str, tuple[str, ...]]]
) -> None:
    assert named(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "on A4 paper", "E11 and E100", "XE1", "E1st", "e1", "E 1", "file_E1_x", "EE1", "ÄE1ß"],
)
def test_what_only_looks_like_an_id_is_none(text: str) -> None:
    assert find_mentions(text, IDS) == []


@pytest.mark.parametrize(
    ("prompt_ids", "text", "expected"),
    [
        (["C#", "C"], "C# beats C", [("C#", ("C#",)), ("C", ("C",))]),
        (["a.b", "a"], "a.b, a", [("a.b", ("a.b",)), ("a", ("a",))]),
        (["E1", "E1-b"], "E1-b or E1", [("E1-b", ("E1-b",)), ("E1", ("E1",))]),
        (["(x)", "[y]*"], "(x) [y]*", [("(x)", ("(x)",)), ("[y]*", ("[y]*",))]),
        (["mail to Bo"], "the mail to Bo", [("mail to Bo", ("mail to Bo",))]),
        (["Ü1"], "bei Ü1", [("Ü1", ("Ü1",))]),
        (["NO", "12:30"], "NO 12:30", [("NO", ("NO",)), ("12:30", ("12:30",))]),
        ([""], "anything", []),
        ([], "E1", []),
    ],
)
def test_ids_may_hold_any_character(
    prompt_ids: list[str], text: str, expected: list[tuple[str, tuple[str, ...]]]
) -> None:
    assert named(text, prompt_ids) == expected


@settings(deadline=None)
@given(
    st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=5, unique=True),
    st.text(max_size=30),
)
def test_mentions_are_in_order_apart_and_hold_what_they_name(ids: list[str], text: str) -> None:
    mentions = find_mentions(text, ids)

    end = 0
    for one in mentions:
        assert end <= one.start < one.end <= len(text)
        end = one.end
        assert text[one.start : one.end].startswith(one.prompt_ids[0])
        assert set(one.prompt_ids) <= set(ids)


def test_a_lone_id_is_its_own_mention() -> None:
    assert find_mentions("E1", ["E1"]) == [Mention(0, 2, ("E1",))]


# --- quotes --------------------------------------------------------------------------------


def found(quote: str, text: str) -> tuple[str, str]:
    """Return the class of a quote and the words of the raw text it was found as."""
    place = locate_quote(quote, text)
    if place.start is None:
        assert place == Place("unverifiable")
        return place.kind, ""
    return place.kind, text[place.start : place.end]


@pytest.mark.parametrize(
    ("quote", "text", "words"),
    [
        ("four plain words here", "x four plain words here y", "four plain words here"),
        ("  padded  ", "is padded out", "padded"),
        ("a\nb", "a\nb", "a\nb"),
        ("\ud800", "x\ud800y", "\ud800"),
    ],
)
def test_letter_for_letter_is_verbatim(quote: str, text: str, words: str) -> None:
    assert found(quote, text) == ("verbatim", words)


@pytest.mark.parametrize(
    ("quote", "text", "words"),
    [
        ('says "yes" twice', "He says „yes“ twice.", "says „yes“ twice"),
        ("says 'yes'", "says «yes»", "says «yes»"),
        ("it's fine", "it’s fine", "it’s fine"),
        ("a - b", "so a – b now", "a – b"),
        ("wait...", "wait… what", "wait…"),
        ("THE Whole Thing", "not the whole thing", "the whole thing"),
        ("one two three", "one\n  two\tthree", "one\n  two\tthree"),
        ("no break", "no\u00a0break", "no\u00a0break"),
        ("bold and code", "so **bold** and `code` here", "bold** and `code"),
        ("first second", "- first\n- second", "first\n- second"),
        ("Title\nText", "## Title\n\nText", "Title\n\nText"),
        ("quoted line", "> quoted\n> line", "quoted\n> line"),
        ("cell one cell two", "| cell one | cell two |", "cell one | cell two"),
        ("snake_case name", "SNAKE_CASE name", "SNAKE_CASE name"),
        ("Silbentrennung", "Silben\u00adtrennung", "Silben\u00adtrennung"),
        ("zero width", "zero\u200b width\ufeff", "zero\u200b width"),
        ("direction", "\u2067dir\u200eection\u2069", "dir\u200eection"),
        ("heart ❤ it", "heart ❤\ufe0f it", "heart ❤\ufe0f it"),
        ("für", "fu\u0308r", "fu\u0308r"),
        ("fu\u0308r", "für", "für"),
        ("Stra\u00dfe", "STRASSE", "STRASSE"),
        ("strasse", "die Straße", "Straße"),
        ("한글", unicodedata.normalize("NFD", "한글"), unicodedata.normalize("NFD", "한글")),
        ("Café", "CAFE\u0301s", "CAFE\u0301"),
    ],
)
def test_what_reads_the_same_is_found_after_levelling(quote: str, text: str, words: str) -> None:
    assert found(quote, text) == ("normalised", words)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("", "anything"),
        ("   ", "anything"),
        ("***", "anything"),
        ("anything", ""),
        ("pay 170 pounds", "pay 180 pounds"),
        ("pay 170 pounds", "pay 17 0 pounds"),
        ("34 chairs", "3*4 Chairs"),
        ("3 4 chairs", "3 * 4 Chairs"),
        ("102 Chairs", "10² chairs"),
        ("is 12 Euros", "is ½ euros"),
        ("fur Leute", "für Leute"),
        ("GROS", "groß"),
        ("not good", "good, not bad"),
        ("left ... out", "left something out"),
        ("invented words", "other words"),
    ],
)
def test_a_changed_word_or_digit_is_not_found(quote: str, text: str) -> None:
    assert found(quote, text) == ("unverifiable", "")


def test_the_first_place_is_taken() -> None:
    assert locate_quote("ab", "ab ab") == Place("verbatim", 0, 2)
    assert locate_quote("AB", "x ab ab") == Place("normalised", 2, 4)


def test_a_place_that_would_cut_a_letter_in_two_is_passed_over_for_a_later_one() -> None:
    assert locate_quote("S Ende", "groß Ende, Los ende") == Place("normalised", 13, 19)


@settings(deadline=None)
@given(st.text(min_size=1, max_size=60), st.data())
def test_any_passage_cut_out_of_a_text_is_found_letter_for_letter(
    text: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    quote = text[start:end]
    assume(quote.strip())

    place = locate_quote(quote, text)

    assert place.kind == "verbatim"
    assert text[place.start : place.end] == quote.strip()


WORDS = st.lists(
    st.text(st.sampled_from("abzÄöüßéñ0123456789한字Ωğ"), min_size=1, max_size=6),
    min_size=3,
    max_size=12,
)
SPACES = st.sampled_from([" ", "\n", "  ", "\t", "\u00a0", " \u00ad"])
MARKS = st.sampled_from(["", "", "**", "_", "`"])


@settings(deadline=None)
@given(WORDS, st.data())
def test_a_passage_is_found_again_in_other_dress(words: list[str], data: st.DataObject) -> None:
    """Other white space, marks, composition and case: the same words, at the right place."""
    parts = []
    for word in words:
        mark = data.draw(MARKS)
        parts.append(f"{mark}{data.draw(FORMS)(word)}{mark}")
    text = "".join(part + data.draw(SPACES) for part in parts)
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    quote = data.draw(FORMS)(" ".join(words[start:end]))

    place = locate_quote(quote, text)

    assert place.start is not None
    marked = text[place.start : place.end]
    bare = "".join(char for char in marked if char not in "*_`\u00ad")
    assert level(bare) == level(quote)


def composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def decomposed(text: str) -> str:
    return unicodedata.normalize("NFD", text)


FORMS = st.sampled_from([composed, decomposed, str.upper, str.lower])


def level(text: str) -> str:
    return composed(" ".join(text.split())).casefold()


@settings(deadline=None)
@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=8, unique=True), st.data())
def test_a_changed_number_is_never_found(numbers: list[int], data: st.DataObject) -> None:
    text = "".join(f"Item «{number}» costs {number} euros. " for number in numbers)
    other = data.draw(st.integers(0, 10**6))
    assume(other not in numbers)

    assert locate_quote(f'ITEM "{other}" costs', text).kind == "unverifiable"


@settings(deadline=None)
@given(st.text(max_size=40), st.text(max_size=40))
def test_offsets_point_into_the_raw_text_or_there_are_none(quote: str, text: str) -> None:
    place = locate_quote(quote, text)

    if place.kind == "unverifiable":
        assert (place.start, place.end) == (None, None)
    else:
        assert place.start is not None
        assert place.end is not None
        assert 0 <= place.start < place.end <= len(text)
