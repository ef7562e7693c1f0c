"""Texts that try to get out of their place in the portable report, and can't."""

from __future__ import annotations

import re

import pytest
from builders_report import MARKDOWN, as_shown, fences, hostile_report, words_in
from hypothesis import given
from hypothesis import strategies as st

from touchstone.gui.report_md import fenced, plain, quoted, render_report_md

HARMLESS = {
    *("heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "fence"),
    *("blockquote_open", "blockquote_close", "bullet_list_open", "bullet_list_close"),
    *("list_item_open", "list_item_close", "ordered_list_open", "ordered_list_close"),
    *(
        f"{part}_{side}"
        for part in ("table", "thead", "tbody", "tr", "th", "td")
        for side in ("open", "close")
    ),
}
INLINE = {"text", "text_special", "strong_open", "strong_close", "code_inline"}


@pytest.mark.parametrize("language", ["en", "de"])
def test_hostile_texts_stay_in_their_places(language: str) -> None:
    data = hostile_report(language)
    text = render_report_md(data)
    tokens = MARKDOWN.parse(text)

    text.encode("utf-8")
    assert {token.type for token in tokens} <= HARMLESS
    children = [child for token in tokens for child in token.children or []]
    assert {child.type for child in children} <= INLINE
    models, prompts = len(data.entries), len(data.suite.prompts)
    expected = {"h1": 1, "h2": 6 + models, "h4": models * prompts + 2}
    headings = [token.tag for token in tokens if token.type == "heading_open"]
    assert {tag: headings.count(tag) for tag in expected} == expected


def test_every_hostile_answer_comes_back_from_exactly_one_fence() -> None:
    data = hostile_report("en")
    found = fences(render_report_md(data))

    expected = [
        content
        for prompt in data.suite.prompts
        for content in (
            prompt.system or "",
            prompt.text or "",
            *(data.answers[(*entry.pair, prompt.id)].text for entry in data.entries),
        )
    ]
    assert found[: len(expected)] == [as_shown(content) + "\n" for content in expected]
    assert found[len(expected) :][: len(data.entries)] == ["Be brief.\n"] * len(data.entries)
    assert len(found) == len(expected) + len(data.entries) + 1


ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)
MARKS = st.text(st.sampled_from([*"`~\n\r\t >-#a1.=|\\\x00\ud800"]), max_size=40)
WALLS = st.lists(st.sampled_from(["```", "````text", "~~~", "`" * 9, "a", "", "    ", "\r"])).map(
    "\n".join
)


@given(ANY_TEXT | MARKS | WALLS)
def test_any_text_survives_its_fence(text: str) -> None:
    document = f"before\n\n{fenced(text)}\n\nafter\n"
    tokens = MARKDOWN.parse(document)

    document.encode("utf-8")
    assert [token.type for token in tokens] == [
        *("paragraph_open", "inline", "paragraph_close", "fence"),
        *("paragraph_open", "inline", "paragraph_close"),
    ]
    assert tokens[3].content == as_shown(text) + "\n"
    assert tokens[3].info == "text"


@pytest.mark.parametrize(
    ("text", "fence"),
    [
        ("plain", "```"),
        ("", "```"),
        ("a `b`", "```"),
        ("```", "````"),
        ("~~~~~", "``````"),
        ("x" * 10 + "`" * 300, "`" * 301),
    ],
)
def test_a_fence_is_longer_than_any_run_in_the_text(text: str, fence: str) -> None:
    assert fenced(text) == f"{fence}text\n{text}\n{fence}"


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("a\r\nb\rc\n", "a\nb\nc\n\n"),
        ("NUL \x00, ESC \x1b[31m", "NUL ␀, ESC ␛[31m\n"),
        ("lone \ud800, \u202edrow", "lone \ufffd, \ufffddrow\n"),
        ("\ttab\n    four", "\ttab\n    four\n"),
    ],
)
def test_what_has_no_picture_is_shown(text: str, content: str) -> None:
    assert fences(fenced(text)) == [content]


LINES = st.text(st.sampled_from([*"ab1.)(-+=:#>|`~*_[]<&! \t\n\r\\"]), max_size=30)


@given(LINES | ANY_TEXT)
def test_plain_text_is_a_paragraph_wherever_it_stands(text: str) -> None:
    shown = plain(text)
    if not shown:
        return
    paragraph = ["paragraph_open", "inline", "paragraph_close"]
    for before, around in (("", []), ("- ", ["list_item", "bullet_list"]), ("> ", ["blockquote"])):
        tokens = MARKDOWN.parse(f"first\n\n{before}{shown}\n")[3:]
        opened = [f"{name}_open" for name in reversed(around)]
        closed = [f"{name}_close" for name in around]
        assert [token.type for token in tokens] == [*opened, *paragraph, *closed]
        (inline,) = [token for token in tokens if token.type == "inline"]
        assert {child.type for child in inline.children or []} <= {"text", "text_special"}
    if all(char.isprintable() for char in text if not char.isspace()):
        assert words_in(inline) == " ".join(text.split())


@given(LINES | ANY_TEXT)
def test_a_quoted_text_is_one_block_quote(text: str) -> None:
    tokens = MARKDOWN.parse(f"first\n\n{quoted(text)}\n\nafter\n")
    kinds = [token.type for token in tokens]
    paragraph = ["paragraph_open", "inline", "paragraph_close"]
    lines = [line for line in re.split(r"\r\n?|\n", text) if line.strip()]

    inside = ["blockquote_open", *paragraph * len(lines), "blockquote_close"] if lines else []
    assert kinds == [*paragraph, *inside, *paragraph]
