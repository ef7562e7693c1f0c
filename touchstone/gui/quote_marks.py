"""Marks quoted passages in rendered HTML: where a character of the source went, and back.

Knows nothing of Markdown: the parser comes as an argument. The HTML is the sanitiser's, in which
every angle bracket that isn't a tag is an entity.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape, unescape
from itertools import pairwise

_PIECE = re.compile(r"<[^>]*>|[^<]+")
_UNIT = re.compile(r"&[a-z]+;|[\s\S]")
# Letters that mean something to the parser: in entities, link targets and automatic links, on the
# line of a code fence, and before a list item or a quote.
_MEANINGFUL = re.compile(
    r"&[#\w]{1,33};|\]\(\s*<?[^\s<>]*|<[^<>\s]*>|^[ \t>*+\d.)-]*(?:`{3,}|~{3,}).*$"
    r"|^[ \t>*+\d.)-]+",
    re.MULTILINE,
)
_PRIVATE_USE = (*range(0xF0000, 0xFFFFE), *range(0x100000, 0x10FFFE))


@dataclass(frozen=True, slots=True)
class Span:
    """A passage to mark: code points ``start`` to ``end`` of the raw text.

    ``id`` becomes the anchor ("" for none), ``label`` the tooltip. With ``href`` a link back,
    named ``label``, follows the passage.
    """

    start: int
    end: int
    id: str
    label: str = ""
    href: str = ""


def find_places(source: str, html: str, parse: Callable[[str], str | None]) -> list[int]:
    """Return for each character of the HTML's text its offset in the source, or -1.

    The parser does not say. So it parses the source a second time, in which each letter is a
    private-use character of its own: to Markdown, one letter is as good as another. That this
    second text turned back is the first HTML is checked, and proves every place.
    """
    meaningful = {i for match in _MEANINGFUL.finditer(source) for i in range(*match.span())}
    taken = set(source)
    spare = (char for char in map(chr, _PRIVATE_USE) if char not in taken)
    ordinary = (i for i, char in enumerate(source) if char.isalnum() and i not in meaningful)
    stand_ins = dict(zip(spare, ordinary, strict=False))
    letters = list(source)
    for stand_in, i in stand_ins.items():
        letters[i] = stand_in
    second = parse("".join(letters))
    turned_back = {ord(stand_in): source[i] for stand_in, i in stand_ins.items()}
    if second is None or second.translate(turned_back) != html:
        return [-1] * sum(len(units) for units in _text_units(html))
    places = [stand_ins.get(unit, -1) for units in _text_units(second) for unit in units]
    _fill_gaps(source, html, places)
    return places


def text_nodes(html: str) -> list[str]:
    """Return what stands between the tags, with its entities."""
    return [piece for piece in _PIECE.findall(html) if not piece.startswith("<")]


def _text_units(html: str) -> Iterator[list[str]]:
    """Yield each text node as a list of characters, some of them written as entities."""
    return map(_UNIT.findall, text_nodes(html))


def _fill_gaps(source: str, html: str, places: list[int]) -> None:
    """Place punctuation and the like between the letters whose places are known."""
    chars: list[str] = []
    starts: set[int] = set()
    for units in _text_units(html):
        starts.add(len(chars))
        chars.extend(map(unescape, units))
    known = [i for i, place in enumerate(places) if place >= 0]
    for before, after in pairwise([-1, *known, len(places)]):
        if after - before > 1:
            left = places[before] + 1 if before >= 0 else 0
            right = places[after] if after < len(places) else len(source)
            gap = _Gap(before + 1, after, left, right)
            gap.grow(source, chars, starts, places)
            gap.search(source, chars, starts, places)


@dataclass(slots=True)
class _Gap:
    """Characters ``first`` to ``last`` of the text, from somewhere in ``source[left:right]``."""

    first: int
    last: int
    left: int
    right: int

    def grow(self, source: str, chars: list[str], starts: set[int], places: list[int]) -> None:
        """Follow the text from both sides as long as it is the source's, within one node."""
        while self.first < self.last and self.first not in starts and self.left < self.right:
            if chars[self.first] != source[self.left]:
                break
            places[self.first] = self.left
            self.first, self.left = self.first + 1, self.left + 1
        while self.first < self.last < len(chars) and self.last not in starts:
            if self.left == self.right or chars[self.last - 1] != source[self.right - 1]:
                break
            self.last, self.right = self.last - 1, self.right - 1
            places[self.last] = self.right

    def search(self, source: str, chars: list[str], starts: set[int], places: list[int]) -> None:
        """Take each node's text for the only place where the source has it."""
        edges = sorted({self.first, self.last, *starts.intersection(range(self.first, self.last))})
        for first, last in pairwise(edges):
            words = "".join(chars[first:last])
            bare = words.strip()
            if bare and source.count(bare, self.left, self.right) == 1:
                self.left = source.index(bare, self.left, self.right)
                first += words.index(bare)
                places[first : first + len(bare)] = range(self.left, self.left + len(bare))
                self.left += len(bare)


@dataclass(slots=True, eq=False)
class _Mark:
    """Characters ``start`` to ``end`` of an HTML's text and the spans that ask for them."""

    start: int
    end: int
    spans: list[Span] = field(default_factory=list)


def mark_spans(html: str, places: list[int], spans: Sequence[Span]) -> str:
    """Return the HTML with ``<mark class="ts-q">`` around the text of each span.

    One span over several nodes becomes several marks. Spans that can't be placed leave an
    anchor at the start.
    """
    chars = [unescape(unit) for units in _text_units(html) for unit in units]
    known: list[tuple[int, int]] = []
    for i, place in enumerate(places):
        if place >= 0 and (not known or place > known[-1][0]):
            known.append((place, i))
    marks: dict[tuple[int, int], _Mark] = {}
    lost: list[Span] = []
    for span in spans:
        first, last = (bisect_left(known, (edge, -1)) for edge in (span.start, span.end))
        held = [i for _, i in known[first:last] if not chars[i].isspace()]
        if held:
            edges = held[0], held[-1] + 1
            marks.setdefault(edges, _Mark(*edges)).spans.append(span)
        else:
            lost.append(span)
    writer = _MarkWriter(sorted(marks.values(), key=lambda mark: (mark.start, -mark.end)))
    writer.anchors(lost)
    for piece in _PIECE.findall(html):
        writer.write(piece)
    return "".join(writer.out)


class _MarkWriter:
    """Copies HTML piece by piece and opens and closes marks in its text."""

    def __init__(self, marks: list[_Mark]) -> None:
        self.marks = marks
        self.out: list[str] = []
        self._ids: set[str] = set()
        self._at = 0
        self._in_link = False
        self._links_back: list[str] = []

    def anchors(self, spans: Sequence[Span]) -> None:
        """Write an empty anchor for each id that isn't on the page yet."""
        for name in (span.id for span in spans if span.id and span.id not in self._ids):
            self._ids.add(name)
            self.out.append(f'<span class="ts-a" id="{escape(name)}"></span>')

    def write(self, piece: str) -> None:
        """Copy a tag or a text node; the text node gets its marks."""
        if not piece.startswith("<"):
            self._write_text(_UNIT.findall(piece))
            return
        self.out.append(piece)
        if piece.startswith("<a "):
            self._in_link = True
        elif piece == "</a>":
            self._in_link = False
            self._write_links_back()

    def _write_text(self, units: list[str]) -> None:
        start, end = self._at, self._at + len(units)
        self._at = end
        marks = [mark for mark in self.marks if mark.start < end and mark.end > start]
        if not "".join(units).strip():  # between blocks a mark would be no valid HTML
            marks = []
        edges = {edge for mark in marks for edge in (mark.start, mark.end) if start < edge < end}
        opened: list[_Mark] = []
        for low, high in pairwise(sorted({start, end, *edges})):
            wanted = [mark for mark in marks if mark.start <= low and mark.end >= high]
            while opened != wanted[: len(opened)]:
                self._close(opened.pop(), low)
            self._write_links_back()
            for mark in wanted[len(opened) :]:
                self._open(mark, low)
                opened.append(mark)
            self.out.append("".join(units[low - start : high - start]))
        while opened:
            self._close(opened.pop(), end)
        self._write_links_back()

    def _open(self, mark: _Mark, at: int) -> None:
        name = ""
        if at == mark.start:
            self.anchors(mark.spans[1:])
            first = mark.spans[0].id
            name = first if first not in self._ids else ""
            self._ids.add(first)
        title = ", ".join(dict.fromkeys(span.label for span in mark.spans if span.label))
        attributes = f' id="{escape(name)}"' * bool(name)
        attributes += f' title="{escape(title)}"' * bool(title)
        self.out.append(f'<mark class="ts-q"{attributes}>')

    def _close(self, mark: _Mark, at: int) -> None:
        self.out.append("</mark>")
        if at == mark.end:
            self._links_back += [
                f'<a class="ts-back" href="{escape(span.href)}">{escape(span.label)}</a>'
                for span in mark.spans
                if span.href
            ]

    def _write_links_back(self) -> None:
        if not self._in_link:
            self.out += self._links_back
            self._links_back = []
