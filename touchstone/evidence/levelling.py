"""Levelled text: what reads the same becomes the same, and every place leads back to the source."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

Span = tuple[int, int]
"""A passage of a text: code points, from the first to the one after the last."""

CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
"""Letters that are written without spaces between words, as part of a character class."""
_WITHIN_WORD = re.compile(rf"[^\W{CJK}]{{2}}")
_QUOTATION = dict.fromkeys("„“”‟«»‹›‘’‚‛´′″'", '"')
_LEVELLED = {**_QUOTATION, **dict.fromkeys("‐‑‒–—―−", "-"), "…": "...", "|": " "}
_ASCII = str.maketrans({"'": '"', "|": " "})
# Characters that only need lower case: ASCII and accented letters, spaces one at a time.
_SIMPLE = "[!-{}~À-ÖØ-Þà-öø-ÿ]"
_PLAIN = re.compile(f"{_SIMPLE}+(?: {_SIMPLE}+)*")

_VARIATION = re.compile(r"[\ufe00-\ufe0f]")

_LINE_MARKS = re.compile(r"(?m)^[ \t]*(?:>[ \t]*|#{1,6}[ \t]+|[*+•–-][ \t]+)+")
_FENCE = re.compile(r"(?m)^[ \t]*(?:`{3,}|~{3,})[ \t]*(?:[^\W\d]{1,20})?[ \t]*$")
_RULE = re.compile(r"(?m)^[ \t:|=-]{3,}$")
_INLINE = re.compile(r"\\[!-/:-@\[-`{-~]|[*_`]+|~{2,}|</?[a-z]{1,6}[ ]?/?>")
# Tags of HTML that are common in Markdown, and what they are in plain text.
_TAGS = {**dict.fromkeys(("p", "br", "div", "li", "ul", "ol"), " ")} | dict.fromkeys(
    ("b", "i", "u", "em", "strong", "span"), ""
)


@dataclass(frozen=True)
class Levelled:
    """A levelled text and which code points of ``raw`` each of its characters stands for."""

    raw: str = field(repr=False)
    text: str
    starts: array[int] = field(repr=False)
    ends: array[int] = field(repr=False)

    def source(self, start: int, end: int) -> Span:
        """Return the code points of the source that a passage which isn't empty comes from."""
        return self.starts[start], self.ends[end - 1]

    def is_whole(self, start: int, end: int) -> bool:
        """Say whether a passage cuts no letter of the source in two (ß is ss), and no number."""
        starts, ends = self.starts, self.ends
        cuts_first = start > 0 and starts[start - 1] == starts[start]
        cuts_last = end < len(starts) and ends[end] == ends[end - 1]
        return not cuts_first and not cuts_last and keeps_numbers(self.text, start, end)


def keeps_words(text: str, start: int, end: int) -> bool:
    """Say whether a passage cuts no word in two; ideographs and kana stand for themselves."""
    return not _cuts_word(text, start) and not _cuts_word(text, end)


def _cuts_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and _WITHIN_WORD.fullmatch(text, at - 1, at + 1) is not None


def keeps_numbers(text: str, start: int, end: int) -> bool:
    """Say whether a passage cuts no number in two: "500", "1,500" and "0.5" are one each."""
    return not _cuts_number(text, start) and not _cuts_number(text, end)


def _cuts_number(text: str, at: int) -> bool:
    before, after = text[max(0, at - 2) : at], text[at : at + 2]
    if not before or not after:
        return False
    if before[-1].isdecimal():
        next_digit = after[1:] if after[0] in ".," else after[0]
        return next_digit.isdecimal()
    return before[-1] in ".," and before[0].isdecimal() and after[0].isdecimal()


def level(text: str) -> Levelled:
    """Return a text levelled, with the places of its characters.

    Levelled are composed, decomposed and compatible letters (NFKC), kinds of quotation marks,
    dashes and ellipses, case, white space, invisible characters such as soft hyphens, and Markdown
    marks. A mark that carries meaning stays (``3*4``, ``snake_case``), as does a digit that is more
    than a digit: ``10²`` is not ``102``.
    """
    out = _Writer()
    at = 0
    for start, end, instead in _marks(text):
        out.copy(text, at, start)
        out.put(instead, start, end)
        at = end
    out.copy(text, at, len(text))
    return Levelled(text, "".join(out.pieces), out.starts, out.ends)


def level_text(text: str) -> str:
    """Return a text levelled, without outer white space."""
    return level(text).text.strip()


class _Writer:
    """Puts levelled characters together and keeps white space single."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.starts: array[int] = array("i")
        self.ends: array[int] = array("i")

    def copy(self, text: str, start: int, end: int) -> None:
        """Level ``text[start:end]``, in which no marks are."""
        at = start
        while at < end:
            plain = _PLAIN.match(text, at, end)
            until = plain.end() if plain else at
            if plain and until < len(text) and _combines(text[until]):
                until -= 1
            if until > at:
                self.pieces.append(text[at:until].translate(_ASCII).lower())
                self.starts.extend(range(at, until))
                self.ends.extend(range(at + 1, until + 1))
            at = until
            if at < end:
                until = _cluster_end(text, at, end)
                self.put(_level_cluster(text[at:until]), at, until)
                at = until

    def put(self, levelled: str, start: int, end: int) -> None:
        """Add characters that all come from ``start`` to ``end``."""
        for char in levelled:
            if char == " " and (not self.pieces or self.pieces[-1][-1] == " "):
                continue
            self.pieces.append(char)
            self.starts.append(start)
            self.ends.append(end)


def _marks(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield what Markdown doesn't show, in order and apart, with what stands there instead.

    A mark inside a word or between spaces is none: ``snake_case``, ``3*4``, ``3 * 4``. Two stars
    inside a word are: ``**Miet**vertrag``.
    """
    found = [(*one.span(), "") for one in _LINE_MARKS.finditer(text)]
    found += [(*one.span(), "") for one in _FENCE.finditer(text)]
    found += [(*one.span(), "") for one in _RULE.finditer(text) if _is_rule(one[0])]
    found += [one for match in _INLINE.finditer(text) if (one := _inline_mark(match))]
    at = 0
    for start, end, instead in sorted(found, key=lambda one: (one[0], -one[1])):
        if start >= at:
            yield start, end, instead
            at = end


def _is_rule(line: str) -> bool:
    return "---" in line or "===" in line or ("|" in line and "-" in line)


def _inline_mark(match: re.Match[str]) -> tuple[int, int, str] | None:
    text, start, end = match.string, match.start(), match.end()
    if match[0].startswith("<"):
        tag = match[0].strip("</ >")
        return (start, end, _TAGS[tag]) if tag in _TAGS else None
    if match[0].startswith("\\"):
        return start, start + 1, ""
    before, after = text[start - 1 : start], text[end : end + 1]
    in_word = (before.isalnum() or _combines(before)) and after.isalnum()
    if in_word and match[0] == "**":
        in_word = before.isdigit() or after.isdigit()
    alone = before.isspace() and after.isspace()
    return None if in_word or alone else (start, end, "")


def _cluster_end(text: str, start: int, limit: int) -> int:
    """Return where a base character with all that combines with it ends."""
    end = start + 1
    while end < limit and _combines(text[end]):
        end += 1
    return end


def clusters(text: str) -> Iterator[Span]:
    """Yield start and end of each base character with what combines with it."""
    at = 0
    while at < len(text):
        end = _cluster_end(text, at, len(text))
        yield at, end
        at = end


def _combines(char: str) -> bool:
    if char < "\u0300":  # the empty string too
        return False
    # Vowels and final consonants of a decomposed Hangul syllable are letters of their own, and
    # so are the halfwidth voicing marks.
    return (
        "\u1160" <= char <= "\u11ff"
        or char in "\uff9e\uff9f"
        or unicodedata.category(char)[0] == "M"
    )


@lru_cache(maxsize=4096)
def _level_cluster(cluster: str) -> str:
    composed = unicodedata.normalize(
        "NFC", cluster if len(cluster) == 1 else _VARIATION.sub("", cluster)
    )
    if composed in _LEVELLED:
        return _LEVELLED[composed]
    if composed.isspace():
        return " "
    if not composed or _is_invisible(composed[0]):
        return ""
    compatible = unicodedata.normalize("NFKC", composed)
    if any(char.isdecimal() for char in compatible) and not composed[0].isdecimal():
        compatible = composed
    folded = unicodedata.normalize("NFC", compatible.casefold()).translate(_ASCII)
    return "".join(" " if char.isspace() else char for char in folded)


def _is_invisible(char: str) -> bool:
    return unicodedata.category(char) == "Cf" or _VARIATION.match(char) is not None
