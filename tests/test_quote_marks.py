from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strict_page import RLO, TEXTS, Page, characters

from touchstone.gui.quote_marks import Span, find_places
from touchstone.gui.safe_html import answer_html, visible

QUOTES: dict[str, tuple[str, str, str]] = {
    "plain": ("He said no to it.", "said no", "said no"),
    "with its punctuation": ("He said: “No!” (twice).", "“No!” (twice).", "“No!” (twice)."),
    "emphasis inside": ("He **said** no", "He **said** no", "He said no"),
    "starts inside emphasis": ("He **said** no", "said** n", "said n"),
    "only markup": ("He **said** no", "**", ""),
    "across blocks": ("- one\n- two\n\nthree", "one\n- two\n\nthree", "onetwothree"),
    "line break": ("one\ntwo", "one\ntwo", "one\ntwo"),
    "code": ("run `a * b` now", "a * b", "a * b"),
    "fence": ("```py\nx = 1\n```\nend", "x = 1\n```\nend", "x = 1\nend"),
    "fence's language": ("```py\nx = 1\n```", "py", ""),
    "table cells": ("|a|b|\n|-|-|\n|1|2|", "1|2", "12"),
    "link text": ("see [the page](https://a.example) now", "the page", "the page"),
    "into a link's target": ("see [page](https://a.example) now", "page](https://a", "page"),
    "inside a link's target": ("see [page](https://a.example) now", "a.example", ""),
    "autolink": ("see <https://a.example/x> now", "https://a.example/x", "https://a.example/x"),
    "numbers alone": ("The total:\n\n**42**", "42", "42"),
    "list number": ("7. seven\n8. eight", "8. eight", "eight"),
    "symbols alone": ("a ✓ b", "✓", "✓"),
    "entity": ("a &amp; b", "&amp;", "&"),
    "escaped": (r"2 \* 3", r"2 \* 3", "2 * 3"),
    "raw html": ("a <b>c</b> d", "<b>c</b>", "<b>c</b>"),
    "same words twice": ("no and no", "no and no"[:2], "no"),
    "umlauts and marks": ("Größe e\u0301 हिन्दी", "हिन्दी", "हिन्दी"),
    "emoji": ("ok 👍🏽 fine", "👍🏽 fine", "👍🏽 fine"),
    "private use": ("\U000f0000\U000f0001 abc \U00100000", "abc \U00100000", "abc \U00100000"),
    "windows lines": ("one\r\ntwo three", "two", "two"),
    "raw answer": ("|a|\n|-|\n|1|lost|", "1|lost", "1|lost"),
    "control": ("a\0b c", "a\0b", "a␀b"),
    "heading": ("# Title\ntext", "Title\ntext", "Titletext"),
}


@pytest.mark.parametrize(("text", "quote", "marked"), QUOTES.values(), ids=QUOTES)
def test_the_quoted_words_are_marked(text: str, quote: str, marked: str) -> None:
    start = text.index(quote)
    page = Page(answer_html(text, spans=[Span(start, start + len(quote), "q")]), marks=True)
    assert page.marked == marked
    assert page.values("id") == ["q"]
    assert page.text == Page(answer_html(text)).text


def test_a_span_over_several_blocks_has_its_id_on_the_first_mark_only() -> None:
    html = answer_html("one\n\ntwo", spans=[Span(0, 8, "q", "Q3")])
    assert html == (
        '<p><mark class="ts-q" id="q" title="Q3">one</mark></p>\n'
        '<p><mark class="ts-q" title="Q3">two</mark></p>\n'
    )


def test_nested_and_overlapping_spans_each_keep_their_words() -> None:
    spans = [Span(4, 13, "b"), Span(0, 7, "a"), Span(4, 7, "c")]
    assert answer_html("one two three", spans=spans) == (
        '<p><mark class="ts-q" id="a">one <mark class="ts-q" id="b"><mark class="ts-q" id="c">two'
        '</mark></mark></mark><mark class="ts-q"> three</mark></p>\n'
    )


def test_spans_over_the_same_words_share_a_mark() -> None:
    html = answer_html("one two", spans=[Span(0, 3, "a", "Q1"), Span(0, 3, "b", "Q2")])
    assert html == (
        '<p><span class="ts-a" id="b"></span>'
        '<mark class="ts-q" id="a" title="Q1, Q2">one</mark> two</p>\n'
    )


def test_an_id_that_is_asked_for_twice_is_given_once() -> None:
    spans = [Span(0, 3, "q"), Span(4, 7, "q"), Span(90, 91, "q")]
    assert Page(answer_html("one two", spans=spans), marks=True).values("id") == ["q"]


@pytest.mark.parametrize("second", [None, "<p>one</p>", "<p>one two</p><p>more</p>"])
def test_no_place_is_claimed_that_the_second_parse_does_not_prove(second: str | None) -> None:
    assert find_places("one two", "<p>one two</p>", lambda _: second) == [-1] * 7


def test_a_span_that_cannot_be_placed_leaves_an_anchor_before_the_answer() -> None:
    for start, end in ((90, 99), (-5, 0), (2, 2), (3, 1), (3, 4)):
        html = answer_html("one two", spans=[Span(start, end, "q")])
        assert html == '<span class="ts-a" id="q"></span><p>one two</p>\n'


def test_links_back_follow_the_quote_and_never_stand_inside_a_link() -> None:
    spans = [Span(0, 3, "a", "Q1", "../m.html#q1"), Span(5, 8, "b", "Q<2>", "#q2")]
    assert answer_html("one [two](https://a.example)", spans=spans) == (
        '<p><mark class="ts-q" id="a" title="Q1">one</mark>'
        '<a class="ts-back" href="../m.html#q1">Q1</a> '
        '<a href="https://a.example" rel="noopener noreferrer nofollow ugc">'
        '<mark class="ts-q" id="b" title="Q&lt;2&gt;">two</mark></a>'
        '<a class="ts-back" href="#q2">Q&lt;2&gt;</a></p>\n'
    )


def test_ids_and_labels_are_escaped() -> None:
    html = answer_html("one", spans=[Span(0, 3, '"><script>', f'"{RLO}<b>')])
    page = Page(html, marks=True)
    assert page.values("id") == ['"><script>']
    assert page.values("title") == ['"\ufffd<b>']


SPANS = st.lists(st.tuples(st.integers(-3, 120), st.integers(-3, 120)), max_size=6)


@settings(max_examples=400, deadline=None)
@given(TEXTS, SPANS)
def test_marks_change_nothing_but_marks(text: str, edges: list[tuple[int, int]]) -> None:
    spans = [Span(start, end, f"i{n}") for n, (start, end) in enumerate(edges)]
    marked = answer_html(text, spans=spans)
    page = Page(marked, marks=True)
    assert sorted(page.values("id")) == sorted(span.id for span in spans)
    assert re.sub(r"</?mark\b[^>]*>|<span\b[^>]*></span>", "", marked) == answer_html(text)
    asked = "".join(visible(text)[max(s, 0) : max(e, 0)] for s, e in edges)
    unescaped = re.search(r"&#?\w+;", asked) is None
    assert not unescaped or not characters(page.marked) - characters(asked)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text("abcäöü字", min_size=1, max_size=8), min_size=1, max_size=12), st.data())
def test_words_are_marked_exactly(words: list[str], data: st.DataObject) -> None:
    joints = st.sampled_from([" ", " **", "** ", "\n", "\n\n- ", "\n\n> ", "\n# ", "`", " | "])
    text = "".join(word + data.draw(joints) for word in words)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    page = Page(answer_html(text, spans=[Span(start, end, "q")]), marks=True)
    letters = [c for c in text[start:end] if c.isalpha()]
    assert [c for c in page.marked if c.isalpha()] == letters
