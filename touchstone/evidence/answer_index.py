"""A bundle's answers: read when needed, levelled when needed, and found by the words they hold."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from functools import cached_property
from typing import Generic, Protocol, TypeVar

from touchstone.evidence.levelling import CJK, Levelled, level

Pair = tuple[str, str]
TextOf = Callable[[Pair, str], str | None]
"""Gives the text of a (model, variant)'s answer to a prompt id, or None where there is none."""

KEPT_ANSWERS = 1_000_000
"""Characters of single answers that are kept, levelled as far as needed: 10 bytes each."""
KEPT_MODELS = 8_000_000
"""Characters of whole models' answers whose words are kept: 2 to 3 bytes each."""
_ENOUGH_WORDS = 12
_WORD = re.compile(rf"[{CJK}]|[^\W{CJK}]+")
# What levelling takes away wherever it stands, and marks that it takes away in some places.
_DROPPED = re.compile(
    r"[*_`~\\\u00ad\u0600-\u0605\u061c\u06dd\u070f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\ufe00-\ufe0f\ufeff\ufff9-\ufffb]+"
)


class _Sized(Protocol):
    @property
    def size(self) -> int: ...


KeyT = TypeVar("KeyT", bound=Hashable)
KeptT = TypeVar("KeptT", bound=_Sized)


class Kept(Generic[KeyT, KeptT]):
    """What was used last, up to ``room`` characters; the newest stays whatever its size."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._used = 0
        self._kept: OrderedDict[KeyT, KeptT] = OrderedDict()

    def get(self, key: KeyT, make: Callable[[], KeptT]) -> KeptT:
        """Return what is kept under this key, made now if it isn't there."""
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        made = make()
        self._kept[key] = made
        self._used += made.size
        while self._used > self._room and len(self._kept) > 1:
            self._used -= self._kept.popitem(last=False)[1].size
        return made


class CheckedText:
    """A text that quotes are looked for in."""

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self.size = 1 + len(raw)

    @cached_property
    def levelled(self) -> Levelled:
        """The text levelled, made when it is first asked for."""
        return level(self.raw)


class _NoText:
    size = 1


class ModelWords:
    """Which answers of a (model, variant) hold which words.

    Much cheaper than levelling them all, which can wait until all words of a quote are there.
    """

    def __init__(self, answers: Iterable[tuple[str, str]]) -> None:
        """Take prompt ids with the raw texts of the answers to them, one after the other."""
        self.size = 1
        self._prompt_ids: list[str] = []
        self._holding: dict[str, array[int]] = {}
        for number, (prompt_id, text) in enumerate(answers):
            self._prompt_ids.append(prompt_id)
            self.size += len(text)
            for word in set(_words_of(text)):
                self._holding.setdefault(word, array("i")).append(number)

    def candidates(self, needle: str) -> list[str]:
        """Return the ids of the prompts whose answers hold the words of a quote, in suite order.

        The first and last word may be parts of longer ones. A quote without words is in none.
        """
        words = _words_of(needle)
        inner = set(words[1:-1])
        if inner:
            found = self._holding_all(inner)
        elif words:
            found = self._holding_parts(words[0], words[-1], alone=len(words) == 1)
        else:
            found = set()
        return [self._prompt_ids[number] for number in sorted(found)]

    def _holding_all(self, words: Iterable[str]) -> set[int]:
        rarest_first = sorted((self._holding.get(word, array("i")) for word in words), key=len)
        found = set(rarest_first[0])
        for numbers in rarest_first[1:_ENOUGH_WORDS]:
            if not found:
                break
            found.intersection_update(numbers)
        return found

    def _holding_parts(self, first: str, last: str, *, alone: bool) -> set[int]:
        found: set[int] = set()
        for word, numbers in self._holding.items():
            if first in word if alone else word.endswith(first):
                found.update(numbers)
        if not alone:
            ending = (numbers for word, numbers in self._holding.items() if word.startswith(last))
            found.intersection_update(number for numbers in ending for number in numbers)
        return found


def _words_of(text: str) -> list[str]:
    """Return the words of a text without case, marks and invisible characters, in order.

    Of two passages that are the same once levelled, these are the same too.
    """
    if text.isascii():
        folded = text.lower()
    else:
        composed = unicodedata.normalize("NFKC", text)
        folded = unicodedata.normalize("NFKC", composed.casefold())
    return _WORD.findall(_DROPPED.sub("", folded))


class AnswerTexts:
    """The answers of all models, kept as long as room lasts.

    Memory grows with the largest model's answers, not with the bundle.
    """

    def __init__(self, prompt_ids: Iterable[str], text_of: TextOf) -> None:
        self._prompt_ids = list(prompt_ids)
        self._known = frozenset(self._prompt_ids)
        self._text_of = text_of
        self._answers: Kept[tuple[Pair, str], CheckedText | _NoText] = Kept(KEPT_ANSWERS)
        self._models: Kept[Pair, ModelWords] = Kept(KEPT_MODELS)

    def answer(self, pair: Pair, prompt_id: str) -> CheckedText | None:
        """Return one answer, or None where there is none to a prompt of the suite."""
        if prompt_id not in self._known:
            return None

        def read() -> CheckedText | _NoText:
            raw = self._text_of(pair, prompt_id)
            return _NoText() if raw is None else CheckedText(raw)

        kept = self._answers.get((pair, prompt_id), read)
        return kept if isinstance(kept, CheckedText) else None

    def words_of(self, pair: Pair) -> ModelWords:
        """Return which words stand in which answers of a (model, variant)."""

        def read() -> ModelWords:
            texts = ((one, self._text_of(pair, one)) for one in self._prompt_ids)
            return ModelWords((one, text) for one, text in texts if text is not None)

        return self._models.get(pair, read)
