from __future__ import annotations

import pickle
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strict_page import LONE, PDF, PIECES, RLI, RLO, TEXTS, Page, assert_nothing_lost

from touchstone.gui.safe_html import (
    Part,
    SafeHtml,
    Span,
    answer_html,
    raw_html,
    renderer_key,
    share_spans,
    split_thinking,
    text_html,
    visible,
)

# name: (text, what a reader must see)
HOSTILE: dict[str, tuple[str, list[str]]] = {
    "script": ("<script>alert(1)</script>", ["<script>alert(1)</script>"]),
    "script in capitals, split": ("<ScR\nIpT>alert(1)</sCrIpT >", ["alert(1)"]),
    "svg onload": ("<svg/onload=alert(1)>", ["<svg/onload=alert(1)>"]),
    "img onerror": ('<img src=x onerror="alert(1)">', ['<img src=x onerror="alert(1)">']),
    "event handler in a block": ("<div onclick=alert(1)>\nText\n</div>", ["onclick", "Text"]),
    "javascript link": ("[x](javascript:alert(1))", ["[x](javascript:alert(1))"]),
    "javascript link in capitals": ("[x](JaVaScRiPt:alert(1))", ["JaVaScRiPt:alert(1)"]),
    "javascript link by entities": ("[x](&#106;avascript:alert(1))", ["avascript:alert(1)"]),
    "javascript link by colon entity": ("[x](javascript&colon;alert(1))", ["alert(1)"]),
    "javascript link with a tab": ("[x](java\tscript:alert(1))", ["alert(1)"]),
    "javascript link with a tab entity": ("[x](java&Tab;script:alert(1))", ["alert(1)"]),
    "javascript link with a control": ("[x](\x01javascript:alert(1))", ["␁javascript:alert(1)"]),
    "javascript link in angle brackets": ("[x](<javascript:alert(1)>)", ["alert(1)"]),
    "javascript autolink": ("<javascript:alert(1)>", ["<javascript:alert(1)>"]),
    "vbscript link": ("[x](vbscript:msgbox(1))", ["vbscript:msgbox(1)"]),
    "data link": ("[x](data:text/html;base64,PHNjcmlwdD4=)", ["data:text/html"]),
    "file link": ("[x](file:///etc/passwd)", ["file:///etc/passwd"]),
    "relative link": ("[x](../../index.html)", ["[x](../../index.html)"]),
    "protocol-relative link": ("[x](//evil.example)", ["[x](//evil.example)"]),
    "backslash host": (r"[x](https:\\evil.example)", ["evil.example"]),
    "credentials in a link": ("[x](https://bank.example@evil.example)", ["bank.example@evil"]),
    "quote in a link": ('[x](https://a.example/"onclick="alert(1))', ['"onclick="alert(1)']),
    "link title": ('[x](https://a.example "the title")', ['x "the title"']),
    "link without words": ("see [](https://a.example/page)", ["https://a.example/page"]),
    "link without target": ("[x]()", ["[x]()"]),
    "image beacon": ("![pixel](https://evil.example/p.png?q=1)", ["!pixel"]),
    "image data": ("![a](data:image/png;base64,AAAA)", ["data:image/png"]),
    "attribute list": ("# Title {: onclick=alert(1) }", ["{: onclick=alert(1) }"]),
    "snippet": ('--8<-- "pyproject.toml"', ['--8<-- "pyproject.toml"']),
    "front matter": ("---\ntitle: x\ntemplate: evil.html\n---\nText", ["template: evil.html"]),
    "template": ("{{ config }} {% include 'x' %} {# c #}", ["{{ config }} {% include 'x' %}"]),
    "unclosed tag": ("before <div class='x'", ["before <div class='x'"]),
    "unclosed fence": ("```python\nprint(1)\n# still code", ["# still code"]),
    "text on a fence's line": ("```The answer is 42", ["The answer is 42"]),
    "only a fence's language": ("```Paris\n```", ["Paris"]),
    "fence that closes the page": ("~~~\n</code></pre><script>x</script>", ["<script>x</script>"]),
    "think tag": ("<think>secret</think>\n\nanswer", ["<think>secret</think>", "answer"]),
    "bidi override": (f"user{RLO}nimda{PDF}!", ["user\ufffdnimda\ufffd!"]),
    "bidi override by entity": ("user&#x202e;nimda", ["user\ufffdnimda"]),
    "bidi isolate left open": (f"a {RLI}b", ["a \ufffdb"]),
    "bidi in a link": (f"[x](https://a.example/{RLO}gpj)", ["x"]),
    "NUL": ("a\0b", ["a␀b"]),
    "escape sequence": ("\x1b[31mred\x1b[0m \x7f", ["␛[31mred␛[0m ␡"]),
    "C1 controls": ("a\x85b\x9bc", ["a\ufffdb\ufffdc"]),
    "lone surrogates": (f"a{LONE}b\udc00", ["a\ufffdb\ufffd"]),
    "zero width": ("pass\u200bword\ufeff", ["pass\u200bword\ufeff"]),
    "25-fold nesting": (">" * 25 + " deep", ["deep"]),
    "150-fold quotes": (">" * 150 + " deep", ["deep"]),
    "80-fold list": ("- " * 80 + "deep", ["deep"]),
    "300-fold emphasis": ("*a " * 300 + "x" + " b*" * 300, ["a x b"]),
    "duplicate headings": ("# Same\n\n# Same\n\n## Same", ["Same"]),
    "empty heading": ("#\n\n##", ["#", "##"]),
    "style attribute": ('<p style="position:fixed">x</p>', ['style="position:fixed"']),
    "style element": ("<style>*{display:none}</style>", ["*{display:none}"]),
    "comment": ("a <!-- hidden --> b", ["a <!-- hidden --> b"]),
    "unclosed comment": ("<!-- \nrest of the answer", ["rest of the answer"]),
    "CDATA": ("<![CDATA[ x ]]>", ["<![CDATA[ x ]]>"]),
    "processing instruction": ("<?php echo 1 ?>", ["<?php echo 1 ?>"]),
    "meta refresh": ('<meta http-equiv="refresh" content="0;url=//e">', ["http-equiv"]),
    "base": ('<base href="https://evil.example/">', ['<base href="https://evil.example/">']),
    "form": ('<form action="//e"><input name=q></form>', ["<form action", "<input name=q>"]),
    "iframe": ("<iframe srcdoc='<script>1</script>'></iframe>", ["<iframe srcdoc"]),
    "mathml": ('<math><mtext><a xlink:href="javascript:1">x</a></mtext></math>', ["<math>"]),
    "autolink": ("<https://a.example/ü%20b>", ["https://a.example/ü%20b"]),
    "mail autolink": ("<someone@example.org>", ["someone@example.org"]),
    "bare address": ("https://a.example/x", ["https://a.example/x"]),
    "entities": ("&lt;script&gt; &amp;amp; &copy; &nosuch;", ["<script> &amp; © &nosuch;"]),
    "reference definition": (
        "[id]: https://a.example 'words'\n\nText [id]",
        ["[id]: https", "words"],
    ),
    "footnote": ("Text[^1]\n\n[^1]: The note.", ["[^1]: The note."]),
    "checkbox": ("- [x] done\n- [ ] open", ["[x] done", "[ ] open"]),
    "table": ("|a|b|\n|:-|-:|\n|1|<b>2</b>|", ["<b>2</b>"]),
    "table with more cells than columns": ("|a|b|\n|-|-|\n|1|2|lost?|", ["lost?"]),
    "table without a head": ("||b|\n|-|-|\n|1|2|", ["b", "1", "2"]),
    "raw pre": ("<pre>\n\n</pre>", ["<pre>", "</pre>"]),
    "closing tags": ("</div></article></body></html>", ["</div></article></body></html>"]),
    "id and name": ('<a id="q3" name="x">x</a>', ['id="q3"']),
    "plain angle brackets": ("if a < b and b > c: a <b", ["if a < b and b > c: a <b"]),
}


@pytest.mark.parametrize(("text", "seen"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_harmless_and_stays_visible(text: str, seen: list[str]) -> None:
    page = Page(answer_html(text))
    for words in seen:
        assert words in re.sub(r"\s+", " ", page.text) or words in page.text
    assert_nothing_lost(text, page)


@pytest.mark.parametrize(("text", "seen"), HOSTILE.values(), ids=HOSTILE)
def test_plain_and_raw_texts_show_every_character(text: str, seen: list[str]) -> None:
    shown = re.sub(r"\r\n?", "\n", visible(text))
    assert Page(raw_html(text)).text.lstrip("\n") == shown.lstrip("\n")
    assert Page(text_html(text)).text == shown


WELL_MEANT: dict[str, tuple[str, str]] = {
    "one line break": ("a\nb", "<p>a<br>\nb</p>\n"),
    "emphasis": ("*a* **b**", "<p><em>a</em> <strong>b</strong></p>\n"),
    "code and deletion": ("~~c~~ `d`", "<p><s>c</s> <code>d</code></p>\n"),
    "link": (
        "[a](HTTPS://b.example/?c=1&d=2)",
        '<p><a href="HTTPS://b.example/?c=1&amp;d=2" rel="noopener noreferrer nofollow ugc">a</a>'
        "</p>\n",
    ),
    "numbers as given": ("3. a\n3. b", '<ol>\n<li value="3">a</li>\n<li value="3">b</li>\n</ol>\n'),
    "language": (
        "```c++\nx\n```",
        '<pre tabindex="0"><code class="language-c++">x\n</code></pre>\n',
    ),
    "rule": ("a\n\n---", "<p>a</p>\n<hr>\n"),
    "nothing": ("", ""),
}


@pytest.mark.parametrize(("text", "html"), WELL_MEANT.values(), ids=WELL_MEANT)
def test_markdown_is_rendered(text: str, html: str) -> None:
    assert answer_html(text) == html


@pytest.mark.parametrize(
    ("text", "first", "levels"),
    [
        ("# a", 4, "h4"),
        ("### a\n# b\n## c\n### d", 4, "h4 h4 h5 h6"),
        ("# a\n### b", 4, "h4 h5"),
        ("# a\n## b\n### c\n#### d\n##### e", 4, "h4 h5 h6 h6 h6"),
        ("# a\n## b", 3, "h3 h4"),
        ("> ## a\n\n- # b\n\nc\n===", 4, "h4 h4 h4"),
    ],
)
def test_headings_never_skip_a_level(text: str, first: int, levels: str) -> None:
    tags = Page(answer_html(text, first_heading=first)).tags
    assert [tag for tag in tags if tag.startswith("h")] == levels.split()


def test_tables_and_code_scroll_in_their_own_box() -> None:
    html = answer_html("|a|\n|-|\n|1|\n\n    code\n")
    assert '<div class="ts-tbl" tabindex="0"><table>' in html
    assert '<pre tabindex="0"><code>code' in html


@pytest.mark.parametrize(
    ("text", "raw"),
    [
        ("|a|b|\n|-|-|\n|1|2|lost|", True),  # Markdown would drop the third cell
        (">" * 150 + "x", True),  # the parser stops at a depth of 100
        (">" * 40 + "x", False),
        ("*a " * 150 + "x" + " b*" * 150, True),
        ("*a " * 50 + "x" + " b*" * 50, False),
        ("[id]: https://a.example 'words'\n\nText [id]", False),
        ("x" * 60_001, True),
        ("x" * 60_000, False),
        ("|" + "a|" * 1000 + "\n|" + "-|" * 1000 + "\n" + "|b\n" * 100, True),
        ("|" + "a|" * 30 + "\n|" + "-|" * 30 + "\n" + "|b\n" * 100, False),
    ],
)
def test_what_markdown_would_lose_or_blow_up_is_shown_raw(text: str, raw: bool) -> None:
    assert answer_html(text).startswith('<pre class="ts-raw">') is raw


SLOW = {
    "line of 200 kB": "word " * 40_000,
    "line of 200 kB without a space": "x" * 200_000,
    "open brackets": "[" * 10_000,
    "open image brackets": "![" * 20_000,
    "brackets and a long line": "--![@" * 100 + "***--" * 10_000,
    "link starts": "[a](" * 15_000,
    "stars": "*" * 10_000,
    "openers": "*a **b _c " * 6_000,
    "closers": "a* b** c_ " * 6_000,
    "quotes": ">" * 10_000,
    "lazy quotes": ">>#\na\n" * 10_000,
    "lazy nested quotes": ">" * 90 + "a\n" + "b\n" * 29_000,
    "unclosed fences in quotes": ">>~~~\n===\n" * 6_000,
    "nested lists": ("- " * 45 + "a\n") * 640,
    "indented lists": "\n".join(" " * 2 * i + "- a" for i in range(240)),
    "backticks": "".join("`" * i + " " for i in range(340)),
    "angle brackets": "<a:" * 20_000,
    "entities": "&#1" * 20_000,
    "lines": "a\n" * 30_000,
    "wide table": "|a" * 1000 + "|\n" + "|-" * 1000 + "|\n" + "|b\n" * 1000,
    "many wide tables": ("|a" * 60 + "|\n" + "|-" * 60 + "|\n" + "|b\n" * 60 + "\n") * 100,
}


@pytest.mark.parametrize("text", SLOW.values(), ids=SLOW)
def test_rendering_takes_bounded_time(text: str) -> None:
    start = time.process_time()
    html = answer_html(text)
    assert time.process_time() - start < 2
    assert len(html) < 30 * len(text) + 1000
    assert_nothing_lost(text, Page(html))


def test_raw_text_keeps_the_line_break_that_html_parsers_drop() -> None:
    assert raw_html("\na") == '<pre class="ts-raw">\n\na</pre>'
    assert raw_html("\r\na") == '<pre class="ts-raw">\n\na</pre>'
    assert raw_html("a\n") == '<pre class="ts-raw">a\n</pre>'


def test_visible_keeps_the_length_and_what_right_to_left_texts_need() -> None:
    text = "".join(map(chr, (*range(0x3000), *range(0xD800, 0xE000), 0x1F600)))
    shown = visible(text)
    assert len(shown) == len(text)
    assert visible(shown) == shown
    assert visible("\t\r\n\u200e\u200f\u061c\u200d ä") == "\t\r\n\u200e\u200f\u061c\u200d ä"
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)
    shown.encode("utf-8")


def test_plain_text_is_escaped_for_text_and_attributes() -> None:
    assert text_html("a<b> & \"c\" 'd'\r\ne\rf\ng") == (
        "a&lt;b&gt; &amp; &quot;c&quot; &#x27;d&#x27;<br>\ne<br>\nf<br>\ng"
    )


def test_template_engines_take_safe_html_as_it_is_and_escape_what_is_made_of_it() -> None:
    html = answer_html("a")
    assert html.__html__() == html
    assert isinstance(text_html("a"), SafeHtml)
    assert not hasattr(html + "<b>", "__html__")
    assert pickle.loads(pickle.dumps(html)) == html


def test_renderer_key_names_what_the_html_depends_on() -> None:
    assert re.fullmatch(r"\d+\+markdown-it-py-[\w.]+\+nh3-[\w.]+\+[0-9a-f]{12}", renderer_key())


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_any_text_becomes_allowed_html_that_shows_all_of_it(text: str) -> None:
    html = answer_html(text)
    assert_nothing_lost(text, Page(html))
    assert answer_html(text) == html


THINKING: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "none": ("answer", [("answer", "answer")]),
    "closed": ("<think>\nhm\n</think>\nyes", [("thinking", "\nhm\n"), ("answer", "\nyes")]),
    "unclosed": ("yes\n<think>hm", [("answer", "yes\n"), ("thinking", "hm")]),
    "without its opening tag": ("hm\n</think>\nyes", [("thinking", "hm\n"), ("answer", "\nyes")]),
    "twice": (
        "<think>a</think>b\n<think>c</think>d",
        [("thinking", "a"), ("answer", "b\n"), ("thinking", "c"), ("answer", "d")],
    ),
    "empty block": ("<think>\n\n</think>\n\nyes", [("answer", "\n\nyes")]),
    "capitals, other name": ("<Thinking>a</THINKING>b", [("thinking", "a"), ("answer", "b")]),
    "in a sentence": ("The tag <think> opens it.", [("answer", "The tag <think> opens it.")]),
    "in code": ("```\n<think>\n```\nb", [("answer", "```\n<think>\n```\nb")]),
    "after code": ("```\nx\n```\n<think>a", [("answer", "```\nx\n```\n"), ("thinking", "a")]),
    "code inside": ("<think>```\na</think>b", [("thinking", "```\na"), ("answer", "b")]),
    "closed twice": ("<think>a</think></think>b", [("thinking", "a"), ("answer", "</think>b")]),
    "blank": (" \n", []),
    "nothing": ("", []),
}


@pytest.mark.parametrize(("text", "parts"), THINKING.values(), ids=THINKING)
def test_reasoning_is_split_off(text: str, parts: list[tuple[str, str]]) -> None:
    split = split_thinking(text)
    assert [(part.kind, part.text) for part in split] == parts
    assert all(text[part.start :].startswith(part.text) for part in split)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES | st.sampled_from(["\n<think>", "</think>", "</think>\n"])).map("".join))
def test_splitting_loses_nothing_but_tags_and_blanks(text: str) -> None:
    parts = split_thinking(text)
    at, between = 0, ""
    for part in parts:
        assert part.start >= at
        between += text[at : part.start]
        at = part.start + len(part.text)
    assert re.sub(r"\s|</?think(ing)?>", "", between + text[at:]) == ""


def test_spans_are_shared_out_with_each_id_and_link_once() -> None:
    text = "<think>abc</think>def"
    parts = split_thinking(text)
    assert parts == [Part("thinking", "abc", 7), Part("answer", "def", 18)]
    across = Span(8, 20, "q", "Q1", "#q1")
    inside_a_tag = Span(0, 4, "t")
    assert share_spans(parts, [across, inside_a_tag]) == [
        [Span(1, 3, "q", "Q1", ""), Span(0, 0, "t")],
        [Span(0, 2, "", "Q1", "#q1")],
    ]
    assert share_spans([], [across]) == []
