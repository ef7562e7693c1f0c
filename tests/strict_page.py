"""A strict reader of rendered texts, and texts to render: nothing the module says is believed."""

from __future__ import annotations

import re
import string
from collections import Counter
from html.parser import HTMLParser

from hypothesis import strategies as st

from touchstone.gui.safe_html import visible

RLO, PDF, RLI, PDI = "\u202e", "\u202c", "\u2067", "\u2069"
LONE = chr(0xD83D)


# What a page may contain, written down once more.
PLAIN = ["p", "br", "hr", "strong", "em", "s", "blockquote", "h3", "h4", "h5", "h6", "ul", "ol"]
ELEMENTS: dict[str, set[str]] = {
    **{tag: set() for tag in PLAIN},
    **{tag: set() for tag in ("table", "thead", "tbody", "tr", "th", "td")},
    "a": {"href", "rel"},
    "li": {"value"},
    "code": {"class"},
    "pre": {"class", "tabindex"},
    "div": {"class", "tabindex"},
}
MARKS = {"mark": {"class", "id", "title"}, "span": {"class", "id"}}
VALUES = {
    "href": r"(?i:https?://[^/]|mailto:[^/]).*",
    "rel": "noopener noreferrer nofollow ugc",
    "value": r"\d{1,9}",
    "class": r"language-[\w+#.-]+|ts-raw|ts-tbl|ts-q|ts-a",
    "tabindex": "0",
}
VOID = {"br", "hr"}


class Page(HTMLParser):
    """Reads HTML strictly: every tag closed in order, every element and attribute known."""

    def __init__(self, html: str, *, marks: bool = False) -> None:
        super().__init__(convert_charrefs=True)
        self.allowed = ELEMENTS | (MARKS if marks else {})
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text = ""
        self.marked = ""
        html.encode("utf-8")
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in self.allowed
        for name, value in attrs:
            assert name in self.allowed[tag], f"{name} on {tag}"
            assert re.fullmatch(VALUES.get(name, ".*"), value or "", re.DOTALL), (name, value)
            self.attributes.append((tag, name, value or ""))
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if "mark" in self.open:
            self.marked += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"comment {data!r}")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(f"declaration {decl!r}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"processing instruction {data!r}")

    def values(self, name: str) -> list[str]:
        return [value for _, attribute, value in self.attributes if attribute == name]


def characters(text: str) -> Counter[str]:
    """Count what a reader sees and what can't be Markdown's own."""
    return Counter(c for c in text if not c.isspace() and c not in string.punctuation)


def assert_nothing_lost(source: str, page: Page) -> None:
    needed = characters(re.sub(r"&#?\w{1,32};", " ", visible(source)))
    links, numbers, classes = map(page.values, ("href", "value", "class"))
    languages = [name.removeprefix("language-") for name in classes if name[:3] != "ts-"]
    shown = characters("".join([page.text, *links, *numbers, *languages]))
    assert needed - shown == Counter()


PIECES = st.sampled_from(
    [
        *(
            "*",
            "**",
            "_",
            "~~",
            "`",
            "```",
            "~~~",
            "[",
            "](",
            ")",
            "![",
            "|",
            "|-|-|",
            "---",
            "===",
        ),
        *("#", "##", ">", "- ", "1. ", "2) ", ":", '"', "'", "(", "\\", "^", "{{", "{%", "[a]: "),
        *("<b>", "</b>", "<!--", "-->", "<think>", "<https://a.example>", "https://a.example"),
        *(
            "javascript:",
            "&amp;",
            "&#x202e;",
            "&nosuch;",
            "word",
            "Wört",
            "42",
            "字",
            "🙂",
            "e\u0301",
        ),
        *("\n", "\n\n", " ", "  \n", "\t", "    ", "\r\n", "\0", RLO, LONE),
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=5), max_size=40).map("".join) | st.text(
    st.characters(), max_size=200
)
