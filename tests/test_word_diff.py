"""Word diffs: what differs is told word by word, nothing is lost, and no text takes forever."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from touchstone.gui.word_diff import (
    CONTEXT,
    LONGEST_DIFF,
    LONGEST_PIECE,
    MOST_CHARACTERS,
    MOST_EDITS,
    MOST_UNITS,
    Piece,
    common_places,
    count_words,
    diff_texts,
    fold,
)

MARKS = {"same": "", "deleted": "-", "inserted": "+"}


def told(before: str, after: str) -> str:
    """Return a diff on one line: ``[-removed][+added]``."""
    return "".join(
        piece.text if piece.kind == "same" else f"[{MARKS[piece.kind]}{piece.text}]"
        for piece in diff_texts(before, after).pieces
    )


@pytest.mark.parametrize(
    ("before", "after", "diff"),
    [
        ("", "", ""),
        ("same words", "same words", "same words"),
        ("", "new", "[+new]"),
        ("old", "", "[-old]"),
        ("a red car", "a blue car", "a [-red][+blue] car"),
        ("foo bar baz", "foo baz", "foo[- bar] baz"),
        ("foo baz", "foo bar baz", "foo[+ bar] baz"),
        ("one two", "one two three", "one two[+ three]"),
        ("We agree.", "We agree!", "We agree[-.][+!]"),
        ("I can't go", "I can't go now", "I can't go[+ now]"),
        ("costs 1.234,50 €", "costs 1.334,50 €", "costs [-1.234,50][+1.334,50] €"),
        ("cafe\u0301 one", "cafe one", "[-cafe\u0301][+cafe] one"),
        ("snake_case is", "snake_cases is", "[-snake_case][+snake_cases] is"),
    ],
)
def test_words_are_told_apart(before: str, after: str, diff: str) -> None:
    assert told(before, after) == diff


@pytest.mark.parametrize(
    ("before", "after", "diff"),
    [
        ("a b", "a\nb", "a[- ][+\n]b"),
        ("a\nb", "a\n\nb", "a\n[+\n]b"),
        ("a b", "a  b", "a [+ ]b"),
        ("a", "a ", "a[+ ]"),
        ("a\r\nb", "a\nb", "a[-\r\n][+\n]b"),
        ("- one\n- two", "- one\n- two\n- three", "- one\n- two[+\n- three]"),
    ],
)
def test_white_space_alone_is_a_difference(before: str, after: str, diff: str) -> None:
    assert told(before, after) == diff


@pytest.mark.parametrize(
    ("before", "after", "diff"),
    [
        (
            "Die Rechnung über 200 € ist am 3. März fällig.",
            "Die Rechnung über 250 € ist am 5. März fällig.",
            "Die Rechnung über [-200][+250] € ist am [-3][+5]. März fällig.",
        ),
        ("Der Betrag ist zu zahlen.", "Den Betrag zahlen wir.", None),
        ("これは猫です。", "これは犬です。", "これは[-猫][+犬]です。"),
        ("我们明天下午开会。", "我们后天下午开会。", "我们[-明][+后]天下午开会。"),
        ("สวัสดีครับ", "สวัสดีค่ะ", "สวัสดี[-ครับ][+ค่ะ]"),
        ("नमस्ते दुनिया", "नमस्ते भारत", "नमस्ते [-दुनिया][+भारत]"),
        ("안녕하세요 여러분", "안녕하세요 친구들", "안녕하세요 [-여러분][+친구들]"),
    ],
)
def test_german_and_scripts_without_spaces_read_well(
    before: str, after: str, diff: str | None
) -> None:
    if diff is not None:
        assert told(before, after) == diff
    assert len(diff_texts(before, after).pieces) <= 7


def test_a_short_island_between_changes_counts_as_changed() -> None:
    before = "The delivery arrived on Monday morning at our warehouse in Hamburg."
    after = "The invoice reached us on Friday evening at our warehouse in Hamburg."
    assert told(before, after) == (
        "The [-delivery arrived on Monday morning][+invoice reached us on Friday evening]"
        " at our warehouse in Hamburg."
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        (" \n", 0),
        ("...!", 0),
        ("one two", 2),
        ("don't", 1),
        ("1.234,50 €", 1),
        ("E-Mail", 2),
        ("猫です", 3),
    ],
)
def test_words_are_counted(text: str, words: int) -> None:
    assert count_words(text) == words


def test_a_diff_counts_its_words() -> None:
    diff = diff_texts("one two three four", "one 2 three four five six")
    assert (diff.unit, diff.deleted, diff.inserted) == ("words", 1, 3)


# --- too much to compare word by word ------------------------------------------------------


def test_texts_that_have_little_in_common_are_compared_by_sentences() -> None:
    before = "All is well here. The order was sent on Tuesday with two parcels."
    after = "All is well here. Nothing could be shipped yet, sorry for that delay."
    diff = diff_texts(before, after)
    assert diff.unit == "sentences"
    assert told(before, after) == (
        "All is well here. [-The order was sent on Tuesday with two parcels.]"
        "[+Nothing could be shipped yet, sorry for that delay.]"
    )


def test_lines_and_sentences_are_compared_where_there_are_too_many_words() -> None:
    line = "This is one line of many. "
    lines = [f"{line}Number {number}.\n" for number in range(MOST_UNITS // 5)]
    changed = [*lines[:7], "Another line!\n", *lines[7:]]
    diff = diff_texts("".join(lines), "".join(changed))
    assert diff.unit == "sentences"
    assert [piece.text for piece in diff.pieces if piece.kind != "same"] == ["\nAnother line!"]


def test_a_text_that_is_far_too_long_is_not_compared() -> None:
    diff = diff_texts("word " * (MOST_CHARACTERS // 5 + 1), "word")
    assert (diff.unit, diff.pieces) == ("none", ())
    assert diff_texts("x" * MOST_CHARACTERS, "y").unit != "none"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a b " * 1900, "a c " * 1900),
        ("a b " * (MOST_EDITS // 2 - 1), "a c " * (MOST_EDITS // 2 - 1)),
        ("x " * 3000, "x " * 2000),
        ("x" * MOST_CHARACTERS, "x" * (MOST_CHARACTERS - 1)),
        ("! " * 30_000, "? " * 30_000),
        ("。" * MOST_CHARACTERS, "。" * 9_999),
        ("\n" * MOST_CHARACTERS, " " * MOST_CHARACTERS),
        ("a " * 2000 + "b " * 2000, "b " * 2000 + "a " * 2000),
    ],
)
def test_no_text_takes_forever(before: str, after: str) -> None:
    start = time.perf_counter()
    diff = diff_texts(before, after)
    fold(diff.pieces)
    assert time.perf_counter() - start < 10
    assert_whole(before, after, diff.pieces)


def assert_whole(before: str, after: str, pieces: Sequence[Piece]) -> None:
    assert "".join(one.text for one in pieces if one.kind != "inserted") == before
    assert "".join(one.text for one in pieces if one.kind != "deleted") == after
    kinds = [one.kind for one in pieces]
    assert all(one.text for one in pieces)
    assert not [
        pair for pair in pairwise(kinds) if pair in {("same", "same"), ("inserted", "deleted")}
    ]


TEXTS = st.text(st.sampled_from("ab c.\n\r1,'é漢\u0301\ud800\u202e<&"), max_size=60) | st.text(
    max_size=80
)


@given(TEXTS, TEXTS)
@example("a b", "a\u2028b")
@example("\u0301a", "a")
@example("x.\x1cy", "x.\x1dy")
def test_both_texts_can_be_read_from_a_diff(before: str, after: str) -> None:
    pieces = diff_texts(before, after).pieces
    assert_whole(before, after, pieces)


SMALL = st.lists(st.sampled_from("abc"), max_size=8)


@given(SMALL, SMALL)
def test_as_much_as_possible_is_common(before: list[str], after: list[str]) -> None:
    """Compared with the longest common subsequence, found the slow way."""
    longest = [[0] * (len(after) + 1) for _ in range(len(before) + 1)]
    for i, one in enumerate(before):
        for k, other in enumerate(after):
            best = max(longest[i][k + 1], longest[i + 1][k])
            longest[i + 1][k + 1] = longest[i][k] + 1 if one == other else best
    places = common_places(before, after)
    assert places is not None
    assert len(places) == longest[-1][-1]
    assert all(before[i] == after[k] for i, k in places)
    assert all(i < j and k < m for (i, k), (j, m) in pairwise(places))


def test_the_search_ends_where_too_much_differs() -> None:
    different = [f"w{number}" for number in range(MOST_EDITS // 2)]
    assert common_places(different, [word.upper() for word in different]) == []
    assert common_places([*different, "x"], [word.upper() for word in different]) is None


# --- folding -------------------------------------------------------------------------------


def numbered(start: int, end: int) -> str:
    return " ".join(f"w{number}" for number in range(start, end))


def test_long_unchanged_stretches_are_folded_and_counted() -> None:
    before = f"{numbered(0, 100)} old {numbered(100, 200)} last"
    after = f"{numbered(0, 100)} new {numbered(100, 200)} end"
    first, start, gone, come, rest, hidden, end, *_ = fold(diff_texts(before, after).pieces)
    assert (first.kind, first.words) == ("hidden", 100 - CONTEXT)
    assert start.text == f" {numbered(100 - CONTEXT, 100)} "
    assert (gone.text, come.text) == ("old", "new")
    assert rest.text == f" {numbered(100, 100 + CONTEXT)}"
    assert (hidden.kind, hidden.words) == ("hidden", 100 - 2 * CONTEXT)
    assert end.text.startswith(f" w{200 - CONTEXT} ")


def test_short_unchanged_stretches_stay() -> None:
    pieces = diff_texts("a b c d old e", "a b c d new e").pieces
    assert fold(pieces) == list(pieces)


def test_a_long_change_shows_its_beginning() -> None:
    pieces = diff_texts("", numbered(0, 1000)).pieces
    shown, hidden = fold(pieces)
    assert len(shown.text) == LONGEST_PIECE
    assert hidden.kind == "hidden"
    assert count_words(shown.text) + hidden.words in (1000, 1001)


def test_of_very_many_changes_the_rest_is_counted() -> None:
    before = [f"w{number}" for number in range(2000)]
    after = [f"x{word}" if number % 8 == 0 else word for number, word in enumerate(before)]
    pieces = fold(diff_texts(" ".join(before), " ".join(after)).pieces)
    last = pieces[-1]
    assert last.kind == "rest"
    shown = sum(count_words(one.text) for one in pieces if one.kind in ("deleted", "inserted"))
    assert shown + last.words == 500
    assert sum(len(one.text) for one in pieces) < 2 * LONGEST_DIFF


@given(TEXTS, TEXTS)
def test_folding_invents_no_words(before: str, after: str) -> None:
    for piece in fold(diff_texts(before, after).pieces):
        assert piece.text in (before if piece.kind == "deleted" else after)


def test_an_endless_word_is_cut() -> None:
    pieces = fold(diff_texts("x" * 50_000 + " old", "x" * 50_000 + " new").pieces)
    assert sum(len(one.text) for one in pieces) < 2 * LONGEST_PIECE
    assert [one.text for one in pieces if one.kind in ("deleted", "inserted")] == ["old", "new"]
