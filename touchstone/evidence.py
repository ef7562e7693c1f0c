"""Finds citations in rationales and the quoted words in answers. Pure.

A citation is a prompt id that a rationale names; a quote is looked up in the raw text of the
answer it is said to come from, and its offsets are code points of that text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

QuoteClass = Literal["verbatim", "normalised", "unverifiable"]

_LEVELLED = {
    **dict.fromkeys("„“”‟«»‹›‘’‚‛`´′″", '"'),
    **dict.fromkeys("‐‑‒–—―−", "-"),
    "'": '"',
    "…": "...",
}
_MARKS = "*_#>|~"
_INVISIBLE = {"\u00ad", "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff"}
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
    if not prompt_ids:
        return []
    longest_first = sorted(prompt_ids, key=lambda one: (-len(one), one))
    alternatives = "|".join(re.escape(one) for one in longest_first if one)
    pattern = re.compile(rf"(?<![\w])(?:{alternatives})(?![\w])")
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

    Levelled are Unicode form, kinds of quotation marks and dashes, case, Markdown marks and white
    space. What is not found is unverifiable; nothing is guessed.
    """
    wanted = quote.strip()
    if not wanted:
        return Place("unverifiable")
    start = text.find(wanted)
    if start >= 0:
        return Place("verbatim", start, start + len(wanted))
    level_quote, _ = _level(wanted)
    needle = level_quote.strip()
    haystack, origin = _level(text)
    start = haystack.find(needle) if needle else -1
    if start < 0:
        return Place("unverifiable")
    return Place("normalised", origin[start], origin[start + len(needle) - 1] + 1)


def _level(text: str) -> tuple[str, list[int]]:
    """Return levelled text and, for each of its characters, the index it came from."""
    out: list[str] = []
    origin: list[int] = []
    for index, cluster in _clusters(text):
        for char in _level_cluster(cluster):
            if char == " " and (not out or out[-1] == " "):
                continue
            out.append(char)
            origin.append(index)
    return "".join(out), origin


def _clusters(text: str) -> Iterable[tuple[int, str]]:
    """Yield each base character with its combining marks, and where it starts."""
    start = 0
    for index in range(1, len(text) + 1):
        if index == len(text) or not unicodedata.combining(text[index]):
            yield start, text[start:index]
            start = index


def _level_cluster(cluster: str) -> str:
    if cluster in _INVISIBLE or cluster in _MARKS:
        return ""
    if cluster in _LEVELLED:
        return _LEVELLED[cluster]
    folded = unicodedata.normalize("NFKC", cluster).casefold()
    return " " if folded.isspace() else folded
