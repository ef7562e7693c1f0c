"""The only way from text that somebody else wrote to HTML that is safe to publish.

Model answers, judge texts, prompts and names are hostile: they pass through the functions of this
module and through nothing else. Markdown goes markdown-it-py (raw HTML, images, relative links
and reference definitions off) → nh3 (an allow-list) → marks and scroll boxes made here. Where
Markdown would hide some of the text, the text is shown as it is, in ``<pre class="ts-raw">``.

- A single line break in a paragraph stays one: addresses, poems and lists without markup.
- Characters without a picture are shown: C0 controls as control pictures; C1 controls, lone
  surrogates and bidi embeddings, overrides and isolates, which only mislead, as U+FFFD. The marks
  LRM, RLM and ALM stay, right-to-left texts need them. The caller isolates a block with
  ``dir="auto"`` and words in a line with ``<bdi>``.
- Headings rank below the page's own and skip no level. List items keep the numbers they have.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from dataclasses import replace
from functools import cache
from html import escape, unescape
from importlib.metadata import version
from typing import Any, Literal, NamedTuple

import nh3
from markdown_it import MarkdownIt
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from touchstone.gui.quote_marks import Span, find_places, mark_spans, text_nodes

__all__ = [
    "ALLOWED",
    "Part",
    "SafeHtml",
    "Span",
    "answer_html",
    "raw_html",
    "renderer_key",
    "share_spans",
    "split_thinking",
    "text_html",
    "visible",
]

RENDERER_VERSION = 1
"""Raised whenever the same text would come out differently."""

MAX_MARKDOWN = 60_000
"""Code points; a longer text is shown raw."""
MAX_STEPS = 100_000
"""Block rules tried and tokens looked ahead at (five the first time, when all inline rules are
tried). Lazy quotes and open brackets make them grow with the square of a text's length. A step
takes 1 to 2 µs, 15 where Python's stack is at an edge; an ordinary answer needs 35."""
MAX_TOKENS = 40_000
"""Tags and text blocks; and lines times columns, as short table rows get empty cells."""
MAX_DEPTH = 100
"""Elements inside one another; parsers drop and browsers flatten what lies deeper."""

LINK_REL = "noopener noreferrer nofollow ugc"
ALLOWED: dict[str, set[str]] = {
    **{tag: set() for tag in ("p", "br", "hr", "strong", "em", "s", "pre", "blockquote")},
    **{tag: set() for tag in ("h3", "h4", "h5", "h6", "ul", "ol")},
    **{tag: set() for tag in ("table", "thead", "tbody", "tr", "th", "td")},
    "a": {"href"},
    "li": {"value"},
    "code": {"class"},
}
"""Every element that Markdown can become, with its attributes (links get ``rel`` as well)."""

_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_LINK = re.compile(
    r"https?://[^\s/?#@\\<>\"]+(?:[/?#][^\s\\<>\"]*)?|mailto:[^\s/\\<>\"@]+@[^\s/\\<>\"@]+",
    re.IGNORECASE,
)
_LANGUAGE = re.compile(r"[A-Za-z][A-Za-z0-9_+#.-]{0,31}")
_VALUES = {
    "href": _LINK,
    "value": re.compile(r"[0-9]{1,9}"),
    "class": re.compile(rf"language-{_LANGUAGE.pattern}"),
}
_ENTITY = re.compile(r"&(?:#(?:x[0-9a-f]{1,6}|[0-9]{1,7})|[a-z][a-z0-9]{1,31});", re.IGNORECASE)
_SYNTAX = re.compile(r"[\s!-/:-@\[-`{-~]+")
_DELIMITER_ROW = re.compile(r"^[ \t|:>*+\d.)-]+$", re.MULTILINE)
_ATTRIBUTE = re.compile(r' (?:href|value|class)="(?:language-)?([^"]*)"')
_FLAGS = re.MULTILINE | re.IGNORECASE
_THINKING = re.compile(r"^[ \t]*(?:(?P<fence>`{3,}|~{3,})|<(?P<tag>think|thinking)>)", _FLAGS)
_STRAY_END = re.compile(r"</think(?:ing)?>[ \t]*$", _FLAGS)


class SafeHtml(str):
    """HTML that was made here; template engines leave it as it is.

    Joined or formatted it becomes a plain ``str``, which they escape again.
    """

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)


class Part(NamedTuple):
    """A stretch of an answer, without think tags; ``start`` is its offset in the whole."""

    kind: Literal["answer", "thinking"]
    text: str
    start: int


@cache
def renderer_key() -> str:
    """Return what rendered HTML depends on beside the text, for the key of a cache."""
    rules = repr(sorted((tag, sorted(names)) for tag, names in ALLOWED.items())) + LINK_REL
    digest = hashlib.sha256(rules.encode()).hexdigest()[:12]
    libraries = "+".join(f"{name}-{version(name)}" for name in ("markdown-it-py", "nh3"))
    return f"{RENDERER_VERSION}+{libraries}+{digest}"


def visible(text: str) -> str:
    """Replace each character that has no picture or reorders its line; the length stays.

    Tabs and line breaks stay as they are. The result can be encoded as UTF-8.
    """
    return _UNSEEN.sub(_picture, text)


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"


def text_html(text: str) -> SafeHtml:
    """Return a plain text (rationale, name, reason) as HTML; line breaks become ``<br>``."""
    return SafeHtml(re.sub(r"\r\n?|\n", "<br>\n", escape(visible(text))))


def raw_html(text: str, *, spans: Sequence[Span] = ()) -> SafeHtml:
    """Return a text exactly as it is, in ``<pre class="ts-raw">``, with ``spans`` marked."""
    shown = visible(text)
    # An HTML parser drops the first line break of a <pre>.
    start = "\n" if shown[:1] in {"\r", "\n"} else ""
    lines = start + re.sub(r"\r\n?", "\n", shown)
    html = f'<pre class="ts-raw">{escape(lines, quote=False)}</pre>'
    if not spans:
        return SafeHtml(html)
    places = [-1] * len(start) + [match.start() for match in re.finditer(r"\r\n|[\s\S]", shown)]
    return SafeHtml(visible(mark_spans(html, places, spans)))


def answer_html(text: str, *, spans: Sequence[Span] = (), first_heading: int = 4) -> SafeHtml:
    """Return the Markdown of a model answer as safe HTML.

    Args:
        text: the answer exactly as the model gave it.
        spans: quoted passages to mark, as code point offsets in ``text``. Every id ends up on
            exactly one element: around the first words that could be marked, or on an empty
            anchor before the answer.
        first_heading: level (3 to 6) of the answer's topmost headings, one below the heading
            that the page puts above the answer.
    """
    shown = visible(text)
    html = _parse(shown, first_heading)
    if html is None or not _keeps_text(shown, html):
        return raw_html(text, spans=spans)
    if spans:
        places = find_places(shown, html, lambda source: _parse(source, first_heading))
        html = visible(mark_spans(html, places, spans))
    # Attributes hold no angle brackets, so these are tags. What scrolls must be reachable by key.
    html = html.replace("<pre>", '<pre tabindex="0">').replace("</table>", "</table></div>")
    return SafeHtml(html.replace("<table>", '<div class="ts-tbl" tabindex="0"><table>'))


# ---------------------------------------------------------------------------------------------
# Markdown


class _TooManyStepsError(Exception):
    """Parsing this text would take too long."""


def _count_steps(env: MutableMapping[str, Any], steps: int) -> None:
    env["steps"] = env.get("steps", 0) + steps
    if env["steps"] > MAX_STEPS:
        raise _TooManyStepsError


def _counted(rule: Callable[[StateBlock, int, int, bool], bool]) -> Any:
    def count_and_try(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        _count_steps(state.env, 1)
        return rule(state, start, end, silent)

    return count_and_try


class _CountedInline(ParserInline):
    """Counts the steps that inline rules look ahead."""

    def skipToken(self, state: StateInline) -> None:  # noqa: N802
        _count_steps(state.env, 1 if state.pos in state.cache else 5)
        super().skipToken(state)


class _AnswerMarkdown(MarkdownIt):
    """CommonMark whose links are absolute or stay text, and are shown as written."""

    def __init__(self) -> None:
        super().__init__()
        self.inline = _CountedInline()
        options = {"html": False, "linkify": False, "maxNesting": MAX_DEPTH, "breaks": True}
        self.configure("commonmark", options)
        for rule in self.block.ruler.__rules__:  # before enable(), which makes them take effect
            rule.fn = _counted(rule.fn)
        self.enable(["table", "strikethrough"])
        self.disable(["reference", "image", "html_block", "html_inline"])

    def normalizeLink(self, url: str) -> str:  # noqa: N802
        return url

    def normalizeLinkText(self, link: str) -> str:  # noqa: N802
        return link

    def validateLink(self, url: str) -> bool:  # noqa: N802
        return _LINK.fullmatch(url) is not None


_PARSER = _AnswerMarkdown()


def _is_too_much(text: str) -> bool:
    columns = max((row.count("|") + 1 for row in _DELIMITER_ROW.findall(text)), default=0)
    return len(text) > MAX_MARKDOWN or (text.count("\n") + 1) * columns > MAX_TOKENS


def _parse(text: str, first_heading: int) -> str | None:
    """Return allow-listed HTML, or None where parsing takes too long or elements lie too deep."""
    if _is_too_much(text):
        return None
    try:
        tokens = _PARSER.parse(text)
    except _TooManyStepsError:
        return None
    _rank_headings(tokens, first_heading)
    for i, token in enumerate(tokens):
        if token.type == "fence":
            _keep_info(token)
        elif token.type == "list_item_open" and token.info:
            token.attrs = {"value": token.info}
        elif token.type == "th_open" and not tokens[i + 1].content.strip():
            token.tag = tokens[i + 2].tag = "td"  # an empty header names nothing
        elif token.type == "inline":
            token.children = list(_adapt_links(token.children or []))
    if len(tokens) > MAX_TOKENS or _depth(tokens) > MAX_DEPTH:
        return None
    cleaned = _CLEANER.clean(_PARSER.renderer.render(tokens, _PARSER.options, {}))
    return visible(cleaned)  # entities bring characters back


def _filter_attribute(tag: str, name: str, value: str) -> str | None:
    """Check a value once more. Must not raise: nh3 would let the attribute through."""
    if name == "rel":
        return LINK_REL
    pattern = _VALUES.get(name)
    return value if pattern and pattern.fullmatch(value) else None


_CLEANER = nh3.Cleaner(
    tags=set(ALLOWED),
    attributes=ALLOWED,
    attribute_filter=_filter_attribute,
    link_rel=LINK_REL,
    url_schemes={"http", "https", "mailto"},
)


def _text_token(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _rank_headings(tokens: list[Token], first: int) -> None:
    """Give headings the levels from ``first`` on without a gap; an empty one becomes text."""
    used = sorted({token.tag for token in tokens if token.type == "heading_open"})
    last = first - 1
    for i, token in enumerate(tokens):
        if token.type != "heading_open":
            continue
        tag, inline = "p", tokens[i + 1]
        if inline.content.strip():
            last = min(first + used.index(token.tag), last + 1, 6)
            tag = f"h{last}"
        else:
            inline.children = [_text_token(token.markup)]
        token.tag = tokens[i + 2].tag = tag


def _keep_info(token: Token) -> None:
    """Keep what stands on the line of a fence: as the block's class, else as its first line."""
    info = token.info.strip()
    if info and not (_LANGUAGE.fullmatch(info) and token.content.strip()):
        token.content, token.info = f"{info}\n{token.content}", ""


def _adapt_links(tokens: list[Token]) -> Iterator[Token]:
    """Show a link's title behind it, the address of one without words, and one without address."""
    title, address, words = "", "", False
    for token in tokens:
        if token.type == "link_open":
            title, address = str(token.attrs.pop("title", "")), str(token.attrs["href"])
            words = False
            yield token if address else _text_token("[")
        elif token.type == "link_close":
            if address and not words:
                yield _text_token(address)
            yield token if address else _text_token("]()")
            if title:
                yield _text_token(f' "{title}"')
        else:
            words = words or bool(token.content.strip())
            yield token


def _depth(tokens: Sequence[Token]) -> int:
    depth = deepest = 0
    for token in tokens:
        depth += token.nesting
        deepest = max(deepest, depth + (_depth(token.children) if token.children else 0))
    return deepest


def _keeps_text(source: str, html: str) -> bool:
    """Tell whether every character that isn't Markdown's own is in the text or an attribute.

    Not counted are white space, ASCII punctuation and entities, as they can be syntax.
    """
    needed = _SYNTAX.sub("", _ENTITY.sub(" ", source))
    texts = " ".join((*text_nodes(html), *_ATTRIBUTE.findall(html)))
    shown = _SYNTAX.sub("", unescape(texts))
    return needed == shown or Counter(needed) <= Counter(shown)


# ---------------------------------------------------------------------------------------------
# Reasoning inside an answer


def split_thinking(text: str) -> list[Part]:
    """Split an answer at its ``<think>`` blocks; blank parts are left out.

    A block opens at the start of a line outside code. Unclosed, it reaches to the end. A closing
    tag at the end of a line without an opening one ends a block that began with the answer.
    """
    parts: list[Part] = []

    def add(kind: Literal["answer", "thinking"], start: int, end: int) -> None:
        if text[start:end].strip():
            parts.append(Part(kind, text[start:end], start))

    begin = at = 0
    stray, first = _STRAY_END.search(text), _THINKING.search(text)
    if stray and (first is None or first["fence"] or stray.start() < first.start()):
        add("thinking", 0, stray.start())
        begin = at = stray.end()
    while found := _THINKING.search(text, at):
        if fence := found["fence"]:
            close = re.compile(rf"^[ \t]*{fence}{fence[0]}*[ \t]*$", re.MULTILINE).search(
                text, found.end()
            )
            at = close.end() if close else len(text)
            continue
        add("answer", begin, found.start())
        close = re.compile(rf"</{found['tag']}>", re.IGNORECASE).search(text, found.end())
        add("thinking", found.end(), close.start() if close else len(text))
        begin = at = close.end() if close else len(text)
    add("answer", begin, len(text))
    return parts


def share_spans(parts: Sequence[Part], spans: Sequence[Span]) -> list[list[Span]]:
    """Return for each part its share of the spans, with offsets in the part.

    The id goes to the part where the span begins and the link back to the one where it ends, so
    that each is on the page once.
    """
    shared: list[list[Span]] = [[] for _ in parts]
    for span in spans:
        inside = [
            n
            for n, part in enumerate(parts)
            if part.start < span.end and span.start < part.start + len(part.text)
        ]
        for n in inside or range(len(parts))[:1]:
            start, length = parts[n].start, len(parts[n].text)
            cut = replace(
                span,
                start=min(max(span.start - start, 0), length),
                end=min(max(span.end - start, 0), length),
                id=span.id if n == (inside or [0])[0] else "",
                href=span.href if n == (inside or [0])[-1] else "",
            )
            shared[n].append(cut)
    return shared
