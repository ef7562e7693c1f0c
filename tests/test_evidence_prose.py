"""Quotes in rationales: which words they are, and which of the ids beside them they belong to."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from touchstone.evidence import find_mentions, find_prose_quotes
from touchstone.evidence.prose_quotes import find_quoted

IDS = ["E1", "E2", "E3", "C1", "C3"]


def quoted(text: str) -> list[str]:
    return [one.text for one in find_quoted(text)]


def attributed(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return each quote with the ids it may come from."""
    quotes = find_prose_quotes(text, find_mentions(text, IDS))
    return [(one.text, one.prompt_ids) for one in quotes]


# --- quotation marks -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "written",
    [
        *("“a b”", "„a b“", "„a b”", '„a b"', "“a b“", "»a b«", "«a b»", "« a b »", "»a b»"),
        *("›a b‹", "‹a b›", "‘a b’", "‚a b‘", "‚a b’", '"a b"', "'a b'", "`a b`", "``a b``"),
        *("「a b」", "```\na b\n```", "```text\na b\n```"),
    ],
)
def test_every_kind_of_mark_quotes(written: str) -> None:
    text = f"It says {written}, and more."

    (one,) = find_quoted(text)

    assert one.text == "a b"
    assert text[one.start : one.end] == written


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("“a” and “b”", ["a", "b"]),
        ("(“a”); **“b”**—“c”", ["a", "b", "c"]),
        ("“says ‘yes’ twice”", ["says ‘yes’ twice"]),
        ('„sagt "ja" dazu“', ['sagt "ja" dazu']),
        ("'it's fine' and 'the rest'", ["it's fine", "the rest"]),
        ("‘it’s fine’", ["it’s fine"]),
        ("it's the users' data, don't", []),
        ("rock 'n' roll", ["n"]),
        ('5" by 7" and 3\' high', []),
        ("“don't” or “can't”", ["don't", "can't"]),
        ('"x = `y`"', ["x = `y`"]),
        ("“a\nb”", ["a\nb"]),
        ('"" “” ``', []),
        ('"', []),
        ("", []),
    ],
)
def test_marks_are_paired_from_left_to_right(text: str, expected: list[str]) -> None:
    assert quoted(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('He said "hello and left. Then "bye" came.', ["bye"]),
        ("“never closed. “closed”", ["closed"]),
        ("„nie zu. „zu“ hier", ["zu"]),
        ("a “ b ” c ” “d”", ["b", "d"]),
        ("“open\n\n“closed” next", ["closed"]),
        ('"open\n\nnext"', []),
        ("`open and `closed`", ["open and"]),
        ("stray ” and » here, «d»", ["d"]),
        ("in '90s and '80s, 'all of it'", ["all of it"]),
        ('"quote"s and "second"', ["second"]),
    ],
)
def test_an_unmatched_mark_pairs_with_nothing_of_another(text: str, expected: list[str]) -> None:
    assert quoted(text) == expected


@settings(deadline=None)
@given(st.text(st.sampled_from("ab .\n“”„»«‹›‘’‚\"'`|"), max_size=40))
def test_quotes_are_in_order_apart_and_hold_their_words(text: str) -> None:
    end = 0
    for one in find_quoted(text):
        assert end <= one.start < one.end <= len(text)
        end = one.end
        assert one.text
        assert one.text in text[one.start + 1 : one.end - 1]


@settings(deadline=None)
@given(st.lists(st.text(st.sampled_from("abc "), min_size=1, max_size=9), max_size=6), st.data())
def test_what_is_between_matching_marks_is_quoted_whatever_stands_around(
    parts: list[str], data: st.DataObject
) -> None:
    kinds = st.sampled_from(["“”", "„“", "»«", "«»", "‹›", "‘’", '""', "''", "``"])
    words = [part.strip() or "a" for part in parts]
    marks = [data.draw(kinds) for _ in words]
    text = " x ".join(f"{m[0]}{w}{m[1]}" for w, m in zip(words, marks, strict=True))

    assert quoted(text) == words


# --- which ids they belong to --------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("E1 says “a b”.", [("a b", ("E1",))]),
        ("“a b” (E1), “c d” (E2)", [("a b", ("E1", "E2")), ("c d", ("E2", "E1"))]),
        ("“a b” (see E1), “c d”, as in E2", [("a b", ("E1", "E2")), ("c d", ("E2", "E1"))]),
        ("E1: “a b”; “c d” – E2", [("a b", ("E1", "E2")), ("c d", ("E2", "E1"))]),
        ("“a b” [E1, E2] “c d”", [("a b", ("E1", "E2")), ("c d", ("E2", "E1"))]),
        ("E1 is weak. E2 says “a b”. C1 too.", [("a b", ("E2",))]),
        ("E1 is weak. It says “a b”.", [("a b", ("E1",))]),
        ("E1 is weak.\n\nIt says “a b”.", [("a b", ())]),
        ("It says “a b”. E1 is weak.", [("a b", ())]),
        ("- E1: “a b”\n- E2: “c d”", [("a b", ("E1",)), ("c d", ("E2",))]),
        ("E1 says “Done. Gone.” and stops", [("Done. Gone.", ("E1",))]),
        ("E1 says “Done.” E2 says “Gone.”", [("Done.", ("E1",)), ("Gone.", ("E2",))]),
        ("In E1, z. B. „a b“, vgl. Nr. 5", [("a b", ("E1",))]),
        ("E1 nennt den 12. März „a b“", [("a b", ("E1",))]),
        ("E1–E3 say “a b”", [("a b", ("E1", "E2", "E3"))]),
        ("“see E2 for more” (E1)", [("see E2 for more", ("E1",))]),
        ('"E1" and `E2, E3` say “a b”', [("a b", ("E3", "E2", "E1"))]),
        ("“a b”", [("a b", ())]),
    ],
)
def test_a_quote_belongs_to_the_ids_of_its_sentence_likeliest_first(
    text: str, expected: list[tuple[str, tuple[str, ...]]]
) -> None:
    assert attributed(text) == expected


def test_a_range_of_many_prompts_is_not_followed_to_its_end() -> None:
    ids = [f"E{number}" for number in range(1, 101)]
    text = "E1–E100 say “a b”"

    (one,) = find_prose_quotes(text, find_mentions(text, ids))

    assert one.prompt_ids == tuple(ids[:30])
