"""JSON as a model wrote it: numbers keep their characters, broken syntax is repaired.

Nothing is invented: a repaired value counts only where it stands alone behind its key, and a key
that is given twice keeps both of its values.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TypeAlias

import json_repair

QUOTE = "[\"'“”„‘’]"
"""What models put around strings, as a regular expression."""


@dataclass(frozen=True)
class Number:
    """A number with the characters it was written with: ``4``, ``4.0``, ``4e0``, ``NaN``."""

    literal: str


@dataclass(frozen=True)
class Conflict:
    """Different values that one object gives for the same key."""

    values: tuple[Tree, ...]


@dataclass(frozen=True)
class Unsure:
    """A value that only the repair could tell apart from its surroundings.

    ``text`` is what the repair made of it, ``raw`` what stands in the reply.
    """

    text: str
    raw: str


Tree: TypeAlias = "bool | str | Number | Unsure | Conflict | list[Tree] | dict[str, Tree] | None"
"""A JSON value as it was written."""


def normal_key(key: str) -> str:
    """Return a key without case, punctuation and white space, umlauts spelt out.

    ``"Q1 – Vollständigkeit"`` gives ``"q1vollstaendigkeit"``.
    """
    folded = unicodedata.normalize("NFKC", key[:200]).casefold().translate(_UMLAUTS)
    return "".join(char for char in folded if char.isalnum())


_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


def read_json(source: str, *, strict: bool = True) -> Tree:
    """Return the value of valid JSON, keys given twice and numbers as they are written.

    Not ``strict`` lets control characters stand in strings. Raises ValueError for anything else,
    and RecursionError where it is nested too deeply.
    """
    value: Tree = json.loads(
        source,
        strict=strict,
        object_pairs_hook=_object,
        parse_int=Number,
        parse_float=Number,
        parse_constant=Number,
    )
    return value


def _object(pairs: Iterable[tuple[str, Tree]]) -> dict[str, Tree]:
    """Return an object in which a key that is given twice with different values keeps them."""
    given: dict[str, list[Tree]] = {}
    for key, value in pairs:
        values = given.setdefault(key, [])
        if len(values) < 8 and value not in values:
            values.append(value)
    return {
        key: values[0] if len(values) == 1 else Conflict(tuple(values))
        for key, values in given.items()
    }


# --- repair --------------------------------------------------------------------------------

_MARKABLE = re.compile(
    rf"(?P<key>(?<=[\w.)\]])(?={QUOTE}?\s{{0,8}}:))"
    r"|(?P<value>(?<!\w)(?:[0-9]+(?:\.[0-9]+)?|[Nn]ull|NULL|[Nn]one)(?!\w|\.[0-9]))"
)
_KEY = rf"(?:{QUOTE}[^\"“”:{{}}\[\]\n]{{1,60}}{QUOTE}|(?<=[\s,;])[^\W\d][\w-]{{0,60}})\s*:"
_END = r"[}\]]|//|/\*|#"
_BETWEEN = re.compile(rf"{QUOTE}?\s*:\s*{QUOTE}?\s*")
_FOLLOWS = re.compile(rf"\s*{QUOTE}?\s*(?:{_END}|{_KEY}|[,;]\s*(?:{_END}|{_KEY}|,|\.\.|…))")
_SHORT = 40
"""Longer strings are words, not values that must be traced."""


def repair_json(source: str, *, ended: bool, telling: Collection[str] = ()) -> Tree:
    """Return the value of broken JSON; raises whatever the repair raises.

    ``ended``: the source ends where its writer ended, so that a number may end there too.
    ``telling`` names keys (as ``normal_key`` gives them): a ValueError if one of them would end
    up inside a string.
    """
    return _Repair(source, ended, frozenset(telling)).value()


class _Repair:
    """One object whose syntax is repaired by json_repair, with every value traced to the source.

    The repair is generous: ``{"score": 4 or 5}`` becomes 4, ``4_0`` becomes 40, and of a key
    given twice the last one wins. So each number and ``null`` is replaced by a unique integer
    before, and each key gets a unique ending; afterwards they lead back to where they stood.
    """

    def __init__(self, source: str, ended: bool, telling: frozenset[str]) -> None:
        self.source = source
        self.ended = ended
        self.telling = telling
        self.spans: list[tuple[int, int]] = []
        self.prefix = _absent_number(source)
        self.marker = re.compile(rf"(k?){self.prefix}([0-9]{{6}})")

    def value(self) -> Tree:
        """Return the repaired value; raises whatever the repair raises."""
        marked = _MARKABLE.sub(self._mark, self.source)
        return self._restore(json_repair.loads(marked, skip_json_loads=True, strict=True), None)

    def _mark(self, match: re.Match[str]) -> str:
        self.spans.append(match.span())
        kind = "k" if match.lastgroup == "key" else ""
        return f"{kind}{self.prefix}{len(self.spans) - 1:06d}"

    def _restore(self, value: object, key_end: int | None) -> Tree:
        """Return a value as it was written; ``key_end`` is where its key ends, if it has one."""
        if isinstance(value, dict):
            return _object(
                (self._text(key), self._restore(item, self._end(key)))
                for key, item in value.items()
            )
        if isinstance(value, list):
            return [self._restore(item, None) for item in value]
        if isinstance(value, str):
            return self._string(value, key_end)
        if isinstance(value, bool):
            return value
        marker = self.marker.fullmatch(str(value))
        if marker is None:
            text = self._text(str(value))
            return Unsure(text, text)
        start, end = self.spans[int(marker[2])]
        literal = self.source[start:end]
        if not self._stands_alone(start, end, key_end):
            return Unsure(literal, self._snippet(start))
        return Number(literal) if literal[0].isdigit() else None

    def _string(self, value: str, key_end: int | None) -> Tree:
        """Return a string; a short one behind a key must be all that stands there."""
        text = self._text(value)
        for marker in self.marker.finditer(value):
            if marker[1] and self._tells(self.spans[int(marker[2])][1]):
                raise ValueError("a key ended up inside a string")
        if key_end is None or len(text) > _SHORT:
            return text
        between = _BETWEEN.match(self.source, key_end)
        start = between.end() if between is not None else key_end
        bare = text.strip()
        end = start + len(bare)
        if self.source[start:end] == bare and self._stands_alone(start, end, key_end):
            return text
        return Unsure(text, self._snippet(start))

    def _end(self, marked_key: str) -> int | None:
        ends = [self.spans[int(m[2])][1] for m in self.marker.finditer(marked_key) if m[1]]
        return ends[-1] if ends else None

    def _text(self, marked: str) -> str:
        return self.marker.sub(self._original, marked)

    def _original(self, marker: re.Match[str]) -> str:
        start, end = self.spans[int(marker[2])]
        return self.source[start:end]

    def _tells(self, end: int) -> bool:
        """Say whether the key that ends here, in quotes, is one that must not be lost."""
        key = re.search(rf"{QUOTE}([\w .–-]{{1,60}})\Z", self.source[max(0, end - 62) : end])
        return key is not None and normal_key(key[1]) in self.telling

    def _stands_alone(self, start: int, end: int, key_end: int | None) -> bool:
        """Say whether nothing stands between the key and the value, nor behind it."""
        if key_end is None or not _BETWEEN.fullmatch(self.source, key_end, start):
            return False
        if not self.source[end:].strip(" \t\r\n\"'”’,;"):
            return self.ended
        return _FOLLOWS.match(self.source, end) is not None

    def _snippet(self, start: int) -> str:
        return re.split(r"[,}\n]", self.source[start : start + 40], maxsplit=1)[0].strip()


def _absent_number(text: str) -> str:
    """Return ten digits that don't occur in the text; the same for the same text."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
    while True:
        number = f"9{int(digest.hexdigest(), 16) % 10**9:09d}"
        if number not in text:
            return number
        digest.update(b"again")
