"""Quoted words are found in an answer to the exact code point, whatever dress they wear."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from touchstone.evidence import Place, locate_quote, stands_in
from touchstone.evidence.levelling import keeps_numbers, level


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
        ("ﬁnal ５ ㎏", "Final 5 kg", "Final 5 kg"),
        ("Mietvertrag", "der **Miet**vertrag", "Miet**vertrag"),
        ("Head\nText", "Head\n====\nText", "Head\n====\nText"),
        ("a b\n1 2", "| a | b |\n|---|:-:|\n| 1 | 2 |", "a | b |\n|---|:-:|\n| 1 | 2"),
        ("see: x = 1", "see:\n```python\nx = 1\n```", "see:\n```python\nx = 1"),
        ("a*b and c_d", r"a\*b and c\_d", r"a\*b and c\_d"),
        ("one two", "<p>one<br/>two</p>", "one<br/>two"),
        ("so bold", "so <b>bold</b>", "so <b>bold"),
        ("gone now", "~~gone~~ now", "gone~~ now"),
        ("run it as `", "Run it as `x`", "Run it as"),
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
        ("102 Chairs", "10<sup>2</sup> chairs"),
        ("1 Chair", "① chair"),
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


@pytest.mark.parametrize(
    ("quote", "text", "stands"),
    [
        ("as written", "it is as written", True),
        ("“As written”", "it is **as** written", True),
        ("it is there […] or so, as written", "It is there, or so, as written.", True),
        ("it is there … as printed", "It is there, or so, as written.", False),
        ("", "anything", False),
    ],
)
def test_a_quote_stands_there_as_written_levelled_or_in_parts(
    quote: str, text: str, stands: bool
) -> None:
    assert stands_in(quote, text) is stands


def test_the_first_place_is_taken() -> None:
    assert locate_quote("ab", "ab ab") == Place("verbatim", 0, 2)
    assert locate_quote("AB", "x ab ab") == Place("normalised", 2, 4)


def test_a_place_that_would_cut_a_letter_in_two_is_passed_over_for_a_later_one() -> None:
    assert locate_quote("S Ende", "groß Ende, Los ende") == Place("normalised", 13, 19)


@pytest.mark.parametrize(
    ("quote", "text", "place"),
    [
        ("costs 50", "costs 500, costs 50.", Place("verbatim", 11, 19)),
        ("costs 1", "costs 1,500 or costs 1.5", Place("unverifiable")),
        ("500 euros", "1,500 euros, 0.500 euros", Place("unverifiable")),
        ("00 euros", "100 euros", Place("unverifiable")),
        ("COSTS 5", "costs 50, costs 5", Place("normalised", 10, 17)),
        ("on 12.", "on 12. March", Place("verbatim", 0, 6)),
        ("1, 2", "1, 2, 3", Place("verbatim", 0, 4)),
    ],
)
def test_no_number_is_cut_in_two(quote: str, text: str, place: Place) -> None:
    assert locate_quote(quote, text) == place


@settings(deadline=None)
@given(st.text(min_size=1, max_size=60), st.data())
def test_any_passage_cut_out_of_a_text_is_found_letter_for_letter(
    text: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    quote = text[start:end]
    assume(quote.strip())
    lead = len(quote) - len(quote.lstrip())
    assume(keeps_numbers(text, start + lead, start + lead + len(quote.strip())))

    place = locate_quote(quote, text)

    assert place.kind == "verbatim"
    assert text[place.start : place.end] == quote.strip()


@settings(deadline=None)
@given(st.text(st.characters(max_codepoint=0x2FFF, exclude_characters="\u1fef\u0345"), max_size=40))
def test_composed_or_not_a_text_levels_alike_and_every_place_leads_back(text: str) -> None:
    levelled = level(text)

    assert levelled.text == level(composed(text)).text == level(decomposed(text)).text
    assert len(levelled.text) == len(levelled.starts) == len(levelled.ends)
    assert "  " not in levelled.text
    places = list(zip(levelled.starts, levelled.ends, strict=True))
    assert places == sorted(places)
    assert all(0 <= start < end <= len(text) for start, end in places)


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
    assert readable(bare) == readable(quote)


def composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def decomposed(text: str) -> str:
    return unicodedata.normalize("NFD", text)


FORMS = st.sampled_from([composed, decomposed, str.upper, str.lower])


def readable(text: str) -> str:
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
