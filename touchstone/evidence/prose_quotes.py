"""Finds the words a rationale quotes, and which of the ids it names they are said to come from."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from touchstone.evidence.levelling import Span

MAX_QUOTE = 10_000
"""Characters after which an opening mark has no closing one."""
MAX_IDS = 30
"""Prompt ids that a quote may come from."""
_NEARBY = 12

# Opening marks and what closes them: what is right first, then what people type instead.
_CLOSED_BY: Mapping[str, tuple[str, ...]] = {
    "“": ("”", "“", '"'),
    "„": ("“”", '"'),
    "»": ("«", "»"),
    "«": ("»", "«"),
    "›": ("‹", "›"),
    "‹": ("›", "‹"),
    "‘": ("’",),
    "‚": ("‘’",),
    '"': ('"',),
    "'": ("'",),
    "「": ("」",),
    "『": ("』",),
}
_OPENING = re.compile(f"`+|[{''.join(_CLOSED_BY)}]")
_SURELY_OPENING, _SURELY_CLOSING = frozenset("“„‚‘«‹「『"), frozenset("”」』")
_BEFORE_OPENING = frozenset("([{<*_–—-/:;,=>|~…\"'“„«»‘")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_FENCE_INFO = re.compile(r"\w{0,20}[ \t]*\n")

_STOP = re.compile(r"(?<![.!?…])[.!?…]++[\"'”“’‘»«)\]*_]*+(?=\s)|\n")
_ABBREVIATED = re.compile(
    r"(?i)(?<!\w)(?:[^\W\d_]|\d{1,2}|e\.g|i\.e|z\.\s?b|d\.\s?h|u\.\s?a|o\.\s?ä|bzw|ca|vgl|cf|vs|nr"
    r"|no|mr|mrs|ms|dr|prof|st|abs|art|sog|ggf|evtl|inkl|incl|approx|max|min|resp|pp?)$"
)
_GOES_ON = re.compile(r"\s+[\w\"'“„»(]")
_CAPITAL = re.compile(r"[)\]*_]*\s+[A-ZÄÖÜ]")
_IN_BRACKET = re.compile(r"[\s.,]*[(\[][^()\[\]]*")
_JOINERS = re.compile(r"(?i)\b(?:und|and|or|oder|bis|to|through|sowie|prompts?|tasks?)\b|[\W_]+")


OneT = TypeVar("OneT", bound="Named | Quoted")


class Named(Protocol):
    """A mention of prompt ids in a text."""

    @property
    def start(self) -> int: ...  # noqa: D102
    @property
    def end(self) -> int: ...  # noqa: D102
    @property
    def prompt_ids(self) -> tuple[str, ...]: ...  # noqa: D102


@dataclass(frozen=True)
class Quoted:
    """Words between quotation marks or in code; ``start`` to ``end`` is with the marks."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class ProseQuote:
    """Quoted words of a rationale and the prompt ids they may come from, likeliest first."""

    start: int
    end: int
    text: str
    prompt_ids: tuple[str, ...]


# --- quotation marks -----------------------------------------------------------------------


def find_quoted(text: str) -> list[Quoted]:
    """Return what stands between quotation marks of any kind or in code, left to right.

    Marks are paired strictly from left to right. A mark before whose closing one the same mark
    opens another quote, or a blank line comes, is unmatched. An apostrophe is no mark. Quotes
    within a quote are part of it.
    """
    blank_lines = [match.start() for match in _BLANK_LINE.finditer(text)]
    found: list[Quoted] = []
    at = 0
    while (opening := _OPENING.search(text, at)) is not None:
        mark, start = opening[0], opening.start()
        next_blank = bisect_left(blank_lines, start)
        limit = min([len(text), start + MAX_QUOTE, *blank_lines[next_blank : next_blank + 1]])
        end = _code_end(text, opening, limit) if mark[0] == "`" else _quote_end(text, start, limit)
        at = opening.end() if end is None else end
        if end is not None:
            inner = text[opening.end() : end - len(mark)]
            info = _FENCE_INFO.match(inner) if len(mark) >= 3 else None
            inner = inner[info.end() :] if info else inner
            if inner.strip():
                found.append(Quoted(start, end, inner.strip()))
    return found


def _code_end(text: str, opening: re.Match[str], limit: int) -> int | None:
    ticks = opening[0]
    if len(ticks) >= 3:  # a fence goes on over blank lines
        limit = min(len(text), opening.start() + MAX_QUOTE)
    closing = re.compile(rf"(?<!`){ticks}(?!`)").search(text, opening.end(), limit)
    return closing.end() if closing else None


def _quote_end(text: str, start: int, limit: int) -> int | None:
    """Return where the quote ends that begins with the mark at ``start``, if one does."""
    mark = text[start]
    if not _opens(text, start):
        return None
    for closing in _CLOSED_BY[mark]:
        for at in range(start + 1, limit):
            char = text[at]
            if char in closing and _closes(text, at, mark):
                return at + 1
            if char == mark and _opens(text, at):
                break
    return None


def _opens(text: str, at: int) -> bool:
    mark, before, after = text[at], text[at - 1 : at], text[at + 1 : at + 2]
    if mark in _SURELY_OPENING:
        return mark != "‘" or not before.isalnum()
    is_free = not before or before.isspace() or before in _BEFORE_OPENING
    return is_free and bool(after.strip()) and after not in ",;:!?)]"


def _closes(text: str, at: int, opened_by: str) -> bool:
    mark, before, after = text[at], text[at - 1], text[at + 1 : at + 2]
    if mark in _SURELY_CLOSING or (opened_by in "«»‹›" and mark != opened_by):
        return True
    return not before.isspace() and not after.isalnum()


# --- which ids they belong to --------------------------------------------------------------


def find_prose_quotes(text: str, mentions: Sequence[Named]) -> list[ProseQuote]:
    """Return the quotes of a rationale, each with the prompt ids it may come from.

    Those are the ids that its sentence names: first one in brackets right behind the quote, then
    those of its clause (up to a semicolon), then the others, the nearer before the farther and one
    in brackets behind another quote last. If the sentence names none, the last one before it in
    the paragraph that names any speaks for it. At most 30 ids, of twelve mentions on either side.
    Ids between marks (``"E1"``) are no quote, and ids within a quote belong to its words.
    """
    quoted = [one for one in find_quoted(text) if not _is_only_ids(one, text, mentions)]
    inside = [
        any(q.start <= m.start < q.end for q in _before(m.start + 1, quoted)) for m in mentions
    ]
    outer = [m for m, is_inside in zip(mentions, inside, strict=True) if not is_inside]
    layout = _Layout(text, quoted)
    return [
        ProseQuote(one.start, one.end, one.text, _ids_for(one, outer, quoted, layout))
        for one in quoted
    ]


def _ids_for(
    quote: Quoted, mentions: Sequence[Named], quoted: Sequence[Quoted], layout: _Layout
) -> tuple[str, ...]:
    near = _of_sentence(quote.start, quote.end, mentions, layout)
    last = _before(quote.start, mentions)
    if not near and last and last[0].start >= layout.paragraph_start(quote.start):
        near = _of_sentence(last[0].start, last[0].end, mentions, layout)
    clause = layout.clause(quote.start, quote.end)

    def likelihood(mention: Named) -> tuple[int, bool, int, bool]:
        claimed = _claimed_by(mention, quoted, layout.text)
        rank = 1 if claimed is None else 0 if claimed is quote else 2
        is_elsewhere = not clause[0] <= mention.start < clause[1]
        is_after = mention.start >= quote.end
        distance = mention.start - quote.end if is_after else quote.start - mention.end
        return rank, is_elsewhere, distance, is_after

    ids = (one for mention in sorted(near, key=likelihood) for one in mention.prompt_ids)
    return tuple(dict.fromkeys(ids))[:MAX_IDS]


def _of_sentence(
    start: int, end: int, mentions: Sequence[Named], layout: _Layout
) -> Sequence[Named]:
    first, last = layout.sentence(start, end)
    here = bisect_left(mentions, start, key=_start_of)
    low = max(here - _NEARBY, bisect_left(mentions, first, key=_start_of))
    high = min(here + _NEARBY, bisect_left(mentions, last, key=_start_of))
    return mentions[low:high]


def _start_of(one: Named | Quoted) -> int:
    return one.start


def _before(at: int, ones: Sequence[OneT]) -> Sequence[OneT]:
    """Return the last one that starts before a place, if there is one."""
    index = bisect_left(ones, at, key=_start_of)
    return ones[max(0, index - 1) : index]


def _is_inside(mention: Named, quoted: Sequence[Quoted]) -> bool:
    return any(mention.start < quote.end for quote in _before(mention.start, quoted))


def _is_only_ids(quote: Quoted, text: str, mentions: Sequence[Named]) -> bool:
    first = bisect_left(mentions, quote.start, key=_start_of)
    last = bisect_left(mentions, quote.end, key=_start_of)
    if first == last:
        return False
    at, rest = quote.start, ""
    for mention in mentions[first:last]:
        rest += text[at : mention.start] + " "
        at = mention.end
    return not _JOINERS.sub("", rest + text[at : quote.end])


def _claimed_by(mention: Named, quoted: Sequence[Quoted], text: str) -> Quoted | None:
    """Return the quote behind which a mention stands in brackets."""
    for quote in _before(mention.start, quoted):
        between = text[quote.end : mention.start]
        if len(between) <= 80 and _IN_BRACKET.fullmatch(between):
            return quote
    return None


class _Layout:
    """Where sentences, clauses and paragraphs of a rationale begin; stops in quotes are none."""

    def __init__(self, text: str, quoted: Sequence[Quoted]) -> None:
        self.text = text
        self._quoted = quoted
        self._paragraphs = [match.end() for match in _BLANK_LINE.finditer(text)]
        stops = [match.end() for match in _STOP.finditer(text) if self._ends_sentence(match)]
        stops += [q.end for q in quoted if q.text[-1] in ".!?" and _CAPITAL.match(text, q.end)]
        self._sentences = sorted(stops)
        self._clauses = [match.end() for match in re.finditer(";", text) if self._is_outside(match)]

    def sentence(self, start: int, end: int) -> Span:
        """Return the sentence around a passage."""
        return self._around(self._sentences, start, end)

    def clause(self, start: int, end: int) -> Span:
        """Return the part of the sentence around a passage that no semicolon divides."""
        first, last = self._around(self._clauses, start, end)
        around = self.sentence(start, end)
        return max(first, around[0]), min(last, around[1])

    def paragraph_start(self, at: int) -> int:
        """Return where the paragraph begins that a place is in."""
        index = bisect_right(self._paragraphs, at)
        return self._paragraphs[index - 1] if index else 0

    def _around(self, breaks: Sequence[int], start: int, end: int) -> Span:
        before, after = bisect_right(breaks, start), bisect_left(breaks, end)
        first = breaks[before - 1] if before else 0
        return first, breaks[after] if after < len(breaks) else len(self.text)

    def _is_outside(self, match: re.Match[str]) -> bool:
        return not any(match.start() < quote.end for quote in _before(match.start(), self._quoted))

    def _ends_sentence(self, stop: re.Match[str]) -> bool:
        if not self._is_outside(stop):
            return False
        if stop[0] != ".":
            return True
        before = self.text[max(0, stop.start() - 12) : stop.start()]
        return not (_ABBREVIATED.search(before) and _GOES_ON.match(self.text, stop.end()))
