"""Finds citations in rationales and the quoted words in answers. Pure.

A citation is a prompt id that a rationale names; a quote is looked up in the raw text of the
answer it is said to come from, and its offsets are code points of that text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

QuoteClass = Literal["verbatim", "normalised", "unverifiable"]

_LEVELLED = {
    **dict.fromkeys("„“”‟«»‹›‘’‚‛´′″", '"'),
    **dict.fromkeys("‐‑‒–—―−", "-"),
    "'": '"',
    "…": "...",
    "|": " ",
}
_LINE_MARKS = re.compile(r"(?m)^[ \t]*(?:>[ \t]*|#{1,6}[ \t]+|[*+•–-][ \t]+)+")
_INLINE_MARKS = re.compile(r"[*_~`]+")
# An underscore is part of a word inside it, and emphasis around it: ``file_E1_a``, ``_E1_``.
_NO_WORD_BEFORE, _NO_WORD_AFTER = r"(?<![^\W_])(?<![^\W_]_)", r"(?![^\W_])(?!_[^\W_])"
_RANGE = re.compile(r"\s*(?:–|-|—|bis|to|through)\s*")


@dataclass(frozen=True)
class Mention:
    """A prompt id named in a text: ``text[start:end]`` stands for ``prompt_ids``.

    A range such as ``E1–E3`` is one mention of all prompts from one to the other.
    """

    start: int
    end: int
    prompt_ids: tuple[str, ...]


@dataclass(frozen=True)
class Place:
    """Where quoted words stand in an answer: code points ``start`` to ``end`` of its raw text."""

    kind: QuoteClass
    start: int | None = None
    end: int | None = None


def find_mentions(text: str, prompt_ids: Sequence[str]) -> list[Mention]:
    """Return every mention of a prompt id, left to right, in a rationale.

    ``prompt_ids`` are in suite order. An id counts only as a whole word (``E1`` is not found in
    ``E10``), a longer id before a shorter one; ``E1–E3`` and ``E1 bis E3`` name all between.
    """
    longest_first = sorted(filter(None, prompt_ids), key=lambda one: (-len(one), one))
    if not longest_first:
        return []
    alternatives = "|".join(re.escape(one) for one in longest_first)
    pattern = re.compile(rf"{_NO_WORD_BEFORE}(?:{alternatives}){_NO_WORD_AFTER}")
    found = list(pattern.finditer(text))
    mentions: list[Mention] = []
    index = 0
    while index < len(found):
        match = found[index]
        after = found[index + 1] if index + 1 < len(found) else None
        if after is not None and _RANGE.fullmatch(text, match.end(), after.start()):
            between = _between(match[0], after[0], prompt_ids)
            if between:
                mentions.append(Mention(match.start(), after.end(), between))
                index += 2
                continue
        mentions.append(Mention(match.start(), match.end(), (match[0],)))
        index += 1
    return mentions


def _between(first: str, last: str, prompt_ids: Sequence[str]) -> tuple[str, ...]:
    start, end = prompt_ids.index(first), prompt_ids.index(last)
    return tuple(prompt_ids[start : end + 1]) if start < end else ()


def locate_quote(quote: str, text: str) -> Place:
    """Return where a quote stands in an answer: letter for letter, else after levelling.

    Levelled are composed and decomposed letters, kinds of quotation marks and dashes, case, white
    space, invisible characters and Markdown marks (not those that carry meaning, as in ``3*4``).
    What is not found is unverifiable; nothing is guessed.
    """
    wanted = quote.strip()
    if not wanted:
        return Place("unverifiable")
    start = text.find(wanted)
    if start >= 0:
        return Place("verbatim", start, start + len(wanted))
    needle = _level(wanted).text.strip()
    haystack = _level(text)
    at = haystack.text.find(needle) if needle else -1
    while at >= 0 and not haystack.is_whole(at, at + len(needle)):
        at = haystack.text.find(needle, at + 1)
    if at < 0:
        return Place("unverifiable")
    return Place("normalised", haystack.starts[at], haystack.ends[at + len(needle) - 1])


@dataclass(frozen=True)
class _Levelled:
    """Levelled text and, for each of its characters, where it comes from: ``start`` to ``end``."""

    text: str
    starts: list[int]
    ends: list[int]

    def is_whole(self, start: int, end: int) -> bool:
        """Say whether a passage cuts no character of the source in two (ß is ss)."""
        cuts_first = start > 0 and self.starts[start - 1] == self.starts[start]
        cuts_last = end < len(self.starts) and self.starts[end] == self.starts[end - 1]
        return not cuts_first and not cuts_last


def _level(text: str) -> _Levelled:
    marks = _markdown_marks(text)
    out: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for start, end in _clusters(text):
        if start in marks:
            continue
        for char in _level_cluster(text[start:end]):
            if char == " " and (not out or out[-1] == " "):
                continue
            out.append(char)
            starts.append(start)
            ends.append(end)
    return _Levelled("".join(out), starts, ends)


def _markdown_marks(text: str) -> set[int]:
    """Return where marks stand that Markdown doesn't show.

    A mark inside a word or between spaces is none: ``snake_case``, ``3*4``, ``3 * 4``.
    """
    marks: set[int] = set()
    for match in _LINE_MARKS.finditer(text):
        marks.update(range(match.start(), match.end()))
    for match in _INLINE_MARKS.finditer(text):
        before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
        in_word = before.isalnum() and after.isalnum()
        alone = not before.strip() and not after.strip()
        if not in_word and not alone:
            marks.update(range(match.start(), match.end()))
    return marks


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each base character with what combines with it."""
    start = 0
    for index in range(1, len(text) + 1):
        if index == len(text) or not _combines(text[index]):
            yield start, index
            start = index


def _combines(char: str) -> bool:
    # Vowels and final consonants of a decomposed Hangul syllable have no combining class.
    return bool(unicodedata.combining(char)) or "\u1160" <= char <= "\u11ff"


def _level_cluster(cluster: str) -> str:
    if cluster in _LEVELLED:
        return _LEVELLED[cluster]
    if unicodedata.category(cluster[0]) == "Cf" or "\ufe00" <= cluster <= "\ufe0f":
        return ""
    folded = unicodedata.normalize("NFC", cluster).casefold()
    return " " if folded.isspace() else folded
