"""What is indexed of a text, what words ask for, and how a snippet is read back."""

from __future__ import annotations

import sqlite3

from hypothesis import given, settings
from hypothesis import strategies as st

from touchstone.search_store.query import (
    HIT_CLOSES,
    HIT_OPENS,
    indexed_text,
    match_expression,
    snippet_of,
)


@settings(max_examples=60)
@given(words=st.text(max_size=60) | st.text(alphabet='"*-:^(){}+, aäNEARDOT\0\ud800🎉東\u0301'))
def test_no_query_is_a_syntax_error(words: str) -> None:
    expression = match_expression(words, prefix=len(words) % 2 == 0)
    if expression is not None:
        connection = sqlite3.connect(":memory:")
        connection.execute("CREATE VIRTUAL TABLE texts USING fts5 (text)")
        connection.execute("SELECT * FROM texts WHERE texts MATCH ?", (expression,)).fetchall()
        connection.close()


@given(text=st.text(), opens=st.integers(0, 40), length=st.integers(1, 40))
def test_a_snippet_is_one_line_of_the_text_with_its_hit(text: str, opens: int, length: int) -> None:
    made = indexed_text(text)
    closes = opens + length
    marks = f"{made[:opens]}{HIT_OPENS}{made[opens:closes]}{HIT_CLOSES}{made[closes:]}"
    snippet, spans = snippet_of(marks, 30)

    assert len(snippet) <= 32
    assert not set(snippet) & set("\n\t\x02\x03\x04")
    assert all(0 <= start <= end <= len(snippet) for start, end in spans)
    snippet.encode()


def test_a_long_snippet_is_cut_about_its_first_hit() -> None:
    text = "a" * 100 + f" {HIT_OPENS}zebra{HIT_CLOSES} " + "b" * 100
    snippet, ((opens, closes),) = snippet_of(text, 40)

    assert snippet == "…" + "a" * 9 + " zebra " + "b" * 24 + "…"
    assert snippet[opens:closes] == "zebra"


def test_words_become_phrases_that_all_must_occur() -> None:
    assert match_expression('a "b c"d a') == '"a" "b c" "d"'
    assert match_expression("a b", prefix=True) == '"a" "b" *'
    assert match_expression("東京 x") == '"東\x04京" "x"'
    assert match_expression('🎉 " - *') is None


def test_a_text_without_such_scripts_is_indexed_as_it_is() -> None:
    assert indexed_text("Plain text.\n") == "Plain text.\n"
    assert indexed_text("Gru\u0308ße 🎉") == "Grüße 🎉"
    assert indexed_text("a東b") == "a\x04東\x04b"
    assert indexed_text("\0\x02\x03\x04\ud800") == "\ufffd" * 5
