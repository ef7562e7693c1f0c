"""Where quoted words stand in a text: letter for letter, levelled, in parts, or nearly."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from rapidfuzz import fuzz

from touchstone.evidence.levelling import (
    CJK,
    Levelled,
    Span,
    keeps_numbers,
    keeps_words,
    level,
    level_text,
)
from touchstone.evidence.meaning import has_negation, same_meaning, words_of

QuoteClass = Literal["verbatim", "normalised", "unverifiable"]
FoundAs = Literal["verbatim", "normalised", "in_parts"]

SHORT_CHARACTERS, SHORT_WORDS = 20, 4
"""A quote below both says too little: the same words stand in most answers."""
PART_CHARACTERS, PART_WORDS = 12, 3
"""The same for each part of a quote with omissions."""
MAX_PARTS = 20
MAX_TRIES = 1000
"""Places that are looked at: counting ends there, and the search in one endless number."""
NEAR_SCORE = 90.0
"""Least similarity of a near match, 0 to 100 (rapidfuzz's ``partial_ratio_alignment``)."""
NEAR_CHARACTERS = 40
"""Least length of a quote that is looked up as near: shorter ones are too easily alike."""
NEAR_MAX_QUOTE, NEAR_MAX_TEXT = 1000, 20_000
"""Beyond these lengths no near match is looked for: hostile input would take minutes."""
_SLACK = 40

_WORD = re.compile(rf"[{CJK}]|[^\W{CJK}]+")
_OMISSION = re.compile(
    r"\[\s*(?:…|\.{3,}|\. \. \.)\s*\]|\(\s*(?:…|\.{3,}|\. \. \.)\s*\)|…|\.{3,}|\. \. \."
)
_MARKS_IN_LINE = re.compile(r"(?<= )(?:[-*•]|-{3,}|#{1,6}|>|`{3,}\w*) (?=[^\d ])")
_SENTENCE_END = re.compile(r"[.!?](?:\s|$)|\n")


@dataclass(frozen=True)
class Place:
    """Where quoted words stand in an answer: code points ``start`` to ``end`` of its raw text."""

    kind: QuoteClass
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True)
class Passage:
    """How and where words were found: one span, or one for each part, of the raw text.

    ``occurrences`` counts the places; the spans are those of the first.
    """

    kind: FoundAs
    spans: tuple[Span, ...]
    occurrences: int = 1


def is_short(quote: str) -> bool:
    """Say whether a quote is too short to prove anything: < 20 characters and < 4 words."""
    return _is_below(quote, SHORT_CHARACTERS, SHORT_WORDS)


def _is_below(text: str, characters: int, words: int) -> bool:
    return len(text) < characters and len(_WORD.findall(text)) < words


def locate_quote(quote: str, text: str) -> Place:
    """Return where a quote stands in an answer: letter for letter, else after levelling.

    What is not found is unverifiable; nothing is guessed.
    """
    passage = find_as_written(quote, text) or find_words(quote, needles_of(quote), level(text))
    if passage is None:
        return Place("unverifiable")
    kind: QuoteClass = "verbatim" if passage.kind == "verbatim" else "normalised"
    return Place(kind, *passage.spans[0])


def stands_in(quote: str, text: str) -> bool:
    """Say whether the words of a quote stand in a text: as written, levelled, or in parts."""
    levelled = level(text)
    return bool(find_words(quote, needles_of(quote), levelled) or find_parts(quote, levelled))


def needles_of(quote: str) -> list[str]:
    """Return the levelled forms in which a quote is looked for.

    As it is; without quotation marks that stand around all of it; without the marks of list items
    and headings, which stay in the line when several lines are written as one. Before a number
    such a mark may be a minus, and isn't left out.
    """
    levelled = level_text(quote)
    unwrapped = levelled.strip('" ')
    is_wrapped = levelled.startswith('"') and levelled.endswith('"') and unwrapped
    forms = [levelled, unwrapped] if is_wrapped else [levelled]
    one_line = _MARKS_IN_LINE.sub("", forms[-1])
    return [*forms, one_line] if one_line != forms[-1] else forms


def find_words(
    quote: str, needles: Sequence[str], text: Levelled, *, whole_words: bool = False
) -> Passage | None:
    """Return where a quote stands, all of it in one place: letter for letter, else levelled.

    ``needles`` are its levelled forms. A place that cuts a number in two is none, nor with
    ``whole_words`` one that cuts a word.
    """
    as_written = find_as_written(quote, text.raw, whole_words=whole_words)
    levelled = (find_levelled(needle, text, whole_words=whole_words) for needle in needles)
    return as_written or next(filter(None, levelled), None)


def find_as_written(quote: str, text: str, *, whole_words: bool = False) -> Passage | None:
    """Return where a quote stands letter for letter in a raw text; see ``find_words``."""

    def keeps_all(start: int, end: int) -> bool:
        return keeps_numbers(text, start, end) and (
            not whole_words or keeps_words(text, start, end)
        )

    wanted = quote.strip()
    place = _first_place(wanted, text, keeps_all)
    if place is None:
        return None
    start, occurrences = place
    return Passage("verbatim", ((start, start + len(wanted)),), occurrences)


def find_levelled(needle: str, text: Levelled, *, whole_words: bool = False) -> Passage | None:
    """Return where a levelled needle stands in a levelled text; see ``find_words``."""

    def keeps_all(start: int, end: int) -> bool:
        return text.is_whole(start, end) and (not whole_words or keeps_words(text.text, start, end))

    place = _first_place(needle, text.text, keeps_all)
    if place is None:
        return None
    start, occurrences = place
    return Passage("normalised", (text.source(start, start + len(needle)),), occurrences)


def _first_place(
    needle: str, text: str, is_place: Callable[[int, int], bool], after: int = 0
) -> tuple[int, int] | None:
    """Return the first place of a needle and how many there are."""
    first, count = -1, 0
    at = text.find(needle, after) if needle else -1
    for _ in range(MAX_TRIES):
        if at < 0:
            break
        end = at + len(needle)
        if is_place(at, end):
            first = at if first < 0 else first
            count += 1
        else:
            end = at + 1
        at = text.find(needle, end)
    return (first, count) if count else None


# --- with omissions ------------------------------------------------------------------------


def has_omissions(quote: str) -> bool:
    """Say whether a quote leaves something out: …, ..., […], [...], (…)."""
    return _OMISSION.search(quote) is not None


def find_parts(quote: str, text: Levelled) -> Passage | None:
    """Return where all parts of a quote with omissions stand, in order and apart.

    A part that is all but empty proves nothing, so such a quote isn't found at all. What was left
    out within a sentence must hold no negation: it would turn the sentence round.
    """
    parts = [part for one in _OMISSION.split(quote) if (part := level_text(one))]
    if not parts or len(parts) > MAX_PARTS or not has_omissions(quote):
        return None
    if any(_is_below(part, PART_CHARACTERS, PART_WORDS) for part in parts):
        return None
    after = 0
    for _ in range(MAX_PARTS):
        places = _places_in_order(parts, text, after)
        if places is None:
            return None
        gaps = [(a[1], b[0]) for a, b in pairwise(places) if a[1] < b[0]]
        if not any(_hides_negation(text, *gap) for gap in gaps):
            return Passage("in_parts", tuple(text.source(*place) for place in places))
        after = places[0][0] + 1
    return None


def _places_in_order(parts: list[str], text: Levelled, after: int) -> list[Span] | None:
    places: list[Span] = []
    for part in parts:
        place = _first_place(part, text.text, text.is_whole, after)
        if place is None:
            return None
        after = place[0] + len(part)
        places.append((place[0], after))
    return places


def _hides_negation(text: Levelled, start: int, end: int) -> bool:
    omitted = text.raw[slice(*text.source(start, end))]
    return not _SENTENCE_END.search(omitted) and has_negation(text.text[start:end])


# --- nearly --------------------------------------------------------------------------------


def is_too_long_for_near(needle: str, text: Levelled) -> bool:
    """Say whether a near match could be there and is not looked for, as the two are too long."""
    is_too_long = len(needle) > NEAR_MAX_QUOTE or len(text.text) > NEAR_MAX_TEXT
    return is_too_long and _could_be_near(needle, text)


def _could_be_near(needle: str, text: Levelled) -> bool:
    return NEAR_CHARACTERS <= len(needle) <= len(text.text)


def find_near(needle: str, text: Levelled) -> Span | None:
    """Return the passage that nearly is the levelled needle and means the same, or None.

    Only for needles of 40 characters and more that are not longer than the text. Similar letters
    are not enough: of a made-up long quote and the answer "42", rapidfuzz says 100. Numbers, dates
    and negations must agree (see ``same_meaning``).
    """
    if not _could_be_near(needle, text) or is_too_long_for_near(needle, text):
        return None
    best = fuzz.partial_ratio_alignment(needle, text.text, score_cutoff=NEAR_SCORE)
    if best is None:
        return None
    start = _word_edge(text.text, max(0, best.dest_start - _SLACK), -1)
    end = _word_edge(text.text, min(len(text.text), best.dest_end + _SLACK), 1)
    place = same_meaning(words_of(needle), words_of(text.text, start, end))
    return text.source(*place) if place else None


def _word_edge(text: str, at: int, step: int) -> int:
    """Return the next place from ``at`` on that is white space or an end of the text."""
    while 0 < at < len(text) and not text[at if step > 0 else at - 1].isspace():
        at += step
    return at
