"""Finds the prompt ids that a rationale names.

Rules:

* An id counts as a whole word only: ``E1`` is not in ``E10``, ``XE1``, ``file_E1_a``. Longer ids go
  before shorter ones. Composed and decomposed letters are the same; where two ids differ only in
  that, the one that is spelt alike counts.
* Upper and lower case may differ (``e1``) for ids of letters and a number if only one is meant.
* ``E1–E3``, ``E1-3``, ``E1 bis E3``, ``E1 to E3`` name all between, in the suite's order.
* An id that is a dimension's as well is the dimension, except after a word for prompt: "task Q3".
* Letters and a number are no id where their neighbours say so: DIN A4, A4 paper, E10 petrol,
  room B2, cell C3, Vitamin B12, Q1 2027.
* An id that could be any word (``a``, ``summary``), sign (``#``) or number (``81``) needs a cue: a
  word for prompt or answer before it, brackets, code or bold type around it, the start of a line
  with a colon after it, or another id to which it is joined ("tasks 81, 83 and 90").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from touchstone.evidence.levelling import Span, clusters
from touchstone.evidence.naming import (
    SHAPE,
    follows_prompt_word,
    has_cue,
    is_joined,
    is_no_prompt,
    is_range,
    is_whole,
    needed_cue,
    short_range_end,
)
from touchstone.evidence.prose_quotes import find_quoted

_SPACE = re.compile(r"[^\S\n]")
_FOREIGN_SHAPE = re.compile(r"[A-Z]{1,3}[-._]?\d{1,3}")


@dataclass(frozen=True)
class Mention:
    """A prompt id named in a text: ``text[start:end]`` stands for ``prompt_ids``.

    A range such as ``E1–E3`` is one mention of all prompts from one to the other.
    """

    start: int
    end: int
    prompt_ids: tuple[str, ...]


def find_mentions(
    text: str, prompt_ids: Sequence[str], dimension_ids: Sequence[str] = ()
) -> list[Mention]:
    """Return every mention of a prompt id, left to right, in a rationale.

    ``prompt_ids`` are in suite order. The module says what counts as a mention.
    """
    return _reader(tuple(prompt_ids), tuple(dimension_ids)).mentions(text)


def find_dangling_mentions(
    text: str, prompt_ids: Sequence[str], dimension_ids: Sequence[str] = ()
) -> list[Mention]:
    """Return what is written like an id of these but is none: ``E99`` where E1 to E8 exist.

    That is letters that ids begin with and a number of about as many digits; after a word for
    prompt, or beside an id in a list, any capitals and number ("task G2"). Words that a rationale
    quotes are left out.
    """
    return _reader(tuple(prompt_ids), tuple(dimension_ids)).dangling(text)


@lru_cache(maxsize=8)
def _reader(prompt_ids: tuple[str, ...], dimension_ids: tuple[str, ...]) -> PromptIds:
    return PromptIds(prompt_ids, dimension_ids)


class PromptIds:
    """The prompt ids of a suite, in its order, as they are read in prose."""

    def __init__(self, prompt_ids: Sequence[str], dimension_ids: Sequence[str] = ()) -> None:
        self._ids = list(dict.fromkeys(filter(None, prompt_ids)))
        self._order = {one: index for index, one in enumerate(self._ids)}
        self._dimensions = {unicodedata.normalize("NFC", one) for one in dimension_ids}
        self._spellings: dict[str, list[str]] = {}
        self._folded: dict[str, set[str]] = {}
        self._lengths: dict[str, list[int]] = {}
        self._digits: dict[tuple[str, str], int] = {}
        for one in self._ids:
            self._add(one)

    def _add(self, prompt_id: str) -> None:
        composed = _SPACE.sub(" ", unicodedata.normalize("NFC", prompt_id)).replace("\n", " ")
        self._spellings.setdefault(composed, []).append(prompt_id)
        starts = {composed[0]}
        shape = SHAPE.fullmatch(composed)
        if shape:
            key = shape[1], shape[2]
            self._digits[key] = max(self._digits.get(key, 0), len(shape[3]))
            self._folded.setdefault(composed.casefold(), set()).add(composed)
            starts |= {composed[0].lower(), composed[0].upper()}
        for char in starts:
            lengths = {len(composed), *self._lengths.get(char, ())}
            self._lengths[char] = sorted(lengths, reverse=True)

    # --- ids that exist ---

    def mentions(self, text: str) -> list[Mention]:
        """Return every mention of a prompt id, left to right."""
        prose = _Prose(text)
        named = list(self._named(prose))
        found: list[Mention] = []
        at = 0
        while at < len(named):
            start, end, one = named[at]
            ids: tuple[str, ...] = (one,)
            if at + 1 < len(named) and is_range(prose.text, end, named[at + 1][0]):
                ids = self._between(one, named[at + 1][2]) or ids
                end = named[at + 1][1] if len(ids) > 1 else end
                at += len(ids) > 1
            elif short := self._short_range(prose.text, one, end):
                ids, end = short
            found.append(Mention(*prose.source(start, end), ids))
            at += 1
        return found

    def _named(self, prose: _Prose) -> Iterator[tuple[int, int, str]]:
        text, at, last_end = prose.text, 0, -1
        while at < len(text):
            found = self._id_at(prose, at) if text[at] in self._lengths else None
            if found is None:
                at += 1
                continue
            end, prompt_id = found
            if self._is_cited(text, at, end, last_end):
                yield at, end, prompt_id
                last_end = end
            at = end

    def _id_at(self, prose: _Prose, start: int) -> tuple[int, str] | None:
        """Return the longest id that stands at a place, and its end there."""
        text = prose.text
        for length in self._lengths[text[start]]:
            end = start + length
            spellings = self._spellings_of(text[start:end].replace("\n", " "))
            if spellings and end <= len(text) and is_whole(text, start, end):
                written = prose.raw[slice(*prose.source(start, end))]
                return end, written if written in spellings else spellings[0]
        return None

    def _spellings_of(self, written: str) -> list[str]:
        if written in self._spellings:
            return self._spellings[written]
        meant = self._folded.get(written.casefold(), set())
        return self._spellings[next(iter(meant))] if len(meant) == 1 else []

    def _is_cited(self, text: str, start: int, end: int, last_end: int) -> bool:
        written = text[start:end]
        if self._is_dimension(written) and not follows_prompt_word(text, start):
            return False
        if SHAPE.fullmatch(written):
            return not is_no_prompt(text, start, end)
        cue = needed_cue(written)
        if cue == "none" or has_cue(text, start, end, cue):
            return True
        return last_end >= 0 and is_joined(text, last_end, start)

    def _is_dimension(self, written: str) -> bool:
        if written in self._dimensions:
            return True
        return written not in self._spellings and written.upper() in self._dimensions

    def _between(self, first: str, last: str) -> tuple[str, ...]:
        start, end = self._order[first], self._order[last]
        return tuple(self._ids[start : end + 1]) if start < end else ()

    def _short_range(self, text: str, first: str, end: int) -> tuple[tuple[str, ...], int] | None:
        """Return the ids that ``E1–3`` names and where it ends."""
        shape, until = SHAPE.fullmatch(first), short_range_end(text, end)
        if shape is None or until is None:
            return None
        last = self._spellings.get(f"{shape[1]}{shape[2]}{until[0]}")
        ids = self._between(first, last[0]) if last else ()
        return (ids, until[1]) if ids else None

    # --- ids that don't ---

    def dangling(self, text: str) -> list[Mention]:
        """Return what is written like an id of the suite but is none, left to right."""
        mentions = _Passed([(one.start, one.end) for one in self.mentions(text)])
        quoted = _Passed([(one.start, one.end) for one in find_quoted(text)])
        found: list[Mention] = []
        last_end = -1
        for match in SHAPE.finditer(text):
            start, end = match.span()
            is_taken = mentions.overlaps(start, end) or quoted.overlaps(start, end)
            last_end = max(last_end, mentions.last_end)
            is_beside = last_end >= 0 and is_joined(text, last_end, start)
            if not is_taken and self._is_dangling(match, is_beside):
                found.append(Mention(start, end, (match[0],)))
                last_end = end
        return found

    def _is_dangling(self, match: re.Match[str], is_beside: bool) -> bool:
        text, start, end, written = match.string, match.start(), match.end(), match[0]
        if self._spellings_of(written) or self._is_dimension(written):
            return False
        if not is_whole(text, start, end) or is_no_prompt(text, start, end):
            return False
        digits = self._digits.get((match[1], match[2]))
        if digits is not None:
            return len(match[3]) <= digits + 1
        is_cited = is_beside or follows_prompt_word(text, start)
        return bool(self._digits and is_cited and _FOREIGN_SHAPE.fullmatch(written))


class _Passed:
    """Spans in order, walked along once from left to right."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = spans
        self._next = 0
        self.last_end = -1

    def overlaps(self, start: int, end: int) -> bool:
        """Say whether a passage overlaps a span; each passage must start behind the last one."""
        while self._next < len(self._spans) and self._spans[self._next][1] <= start:
            self.last_end = self._spans[self._next][1]
            self._next += 1
        return self._next < len(self._spans) and self._spans[self._next][0] < end


class _Prose:
    """A text with composed letters and plain spaces, and where its characters come from.

    Line breaks stay: an id at the start of a line may be a heading.
    """

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self._places: list[Span] | None = None
        if unicodedata.is_normalized("NFC", raw):
            self.text = raw
        else:
            pieces: list[str] = []
            self._places = []
            for start, end in clusters(raw):
                composed = unicodedata.normalize("NFC", raw[start:end])
                pieces.append(composed)
                self._places += [(start, end)] * len(composed)
            self.text = "".join(pieces)
        self.text = _SPACE.sub(" ", self.text)

    def source(self, start: int, end: int) -> Span:
        """Return the code points of the raw text that a passage comes from."""
        if self._places is None:
            return start, end
        return self._places[start][0], self._places[end - 1][1]
