"""Texts of a bundle's answers, levelled and kept as long as room lasts; search over a model's."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, Protocol, TypeVar

from touchstone.evidence.levelling import Levelled, level

Pair = tuple[str, str]
TextOf = Callable[[Pair, str], str | None]
"""Gives the text of a (model, variant)'s answer to a prompt id, or None where there is none."""

KEPT_LEVELLED = 2_000_000
"""Characters of levelled answers that are kept with their places: 9 bytes a character."""
KEPT_MODELS = 8_000_000
"""Characters of whole models' levelled answers that are kept: about 4 bytes a character."""
_SCANNED = 50
_WORD = re.compile(r"\w+")


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


class LevelledAnswer:
    """One answer, levelled, or that there is none."""

    def __init__(self, raw: str | None) -> None:
        self.levelled: Levelled | None = None if raw is None else level(raw)
        self.size = 1 + len(raw or "")


class ModelAnswers:
    """The levelled answers of one (model, variant), searched for passages by their words."""

    def __init__(self, prompt_ids: Sequence[str], texts: Sequence[str]) -> None:
        """Take the levelled texts of the answers to these prompts."""
        self.prompt_ids = prompt_ids
        self._texts = texts
        self._by_word: dict[str, list[int]] = {}
        for number, text in enumerate(self._texts):
            for word in set(_WORD.findall(text)):
                self._by_word.setdefault(word, []).append(number)
        self.size = sum(map(len, texts))

    def holding(self, needle: str) -> list[str]:
        """Return the ids of the prompts whose answers hold a levelled needle, in suite order."""
        return [
            self.prompt_ids[number]
            for number in self._candidates(needle)
            if needle in self._texts[number]
        ]

    def _candidates(self, needle: str) -> Sequence[int]:
        """Return the answers that have all words of a needle.

        Its first and last word may be parts of longer ones, so they are left out.
        """
        words = set(_WORD.findall(needle)[1:-1])
        if not words:
            return range(len(self._texts))
        by_rarity = sorted((self._by_word.get(word, []) for word in words), key=len)
        found = by_rarity[0]
        for numbers in by_rarity[1:]:
            if len(found) < _SCANNED:
                break
            found = sorted(set(found).intersection(numbers))
        return found


class AnswerTexts:
    """The answers of all models: read when needed, levelled once while they are in use.

    Memory grows with the largest model's answers, not with the bundle.
    """

    def __init__(self, prompt_ids: Sequence[str], text_of: TextOf) -> None:
        self._prompt_ids = list(prompt_ids)
        self._known = frozenset(prompt_ids)
        self._text_of = text_of
        self._answers: Kept[tuple[Pair, str], LevelledAnswer] = Kept(KEPT_LEVELLED)
        self._models: Kept[Pair, ModelAnswers] = Kept(KEPT_MODELS)

    def levelled(self, pair: Pair, prompt_id: str) -> Levelled | None:
        """Return one answer levelled, or None where there is none to a prompt of the suite."""
        if prompt_id not in self._known:
            return None
        key = pair, prompt_id
        return self._answers.get(key, lambda: LevelledAnswer(self._text_of(*key))).levelled

    def of_model(self, pair: Pair) -> ModelAnswers:
        """Return all answers of a (model, variant), levelled."""
        return self._models.get(pair, lambda: self._read(pair))

    def _read(self, pair: Pair) -> ModelAnswers:
        found = [(one, self.levelled(pair, one)) for one in self._prompt_ids]
        there = [(one, levelled.text) for one, levelled in found if levelled is not None]
        return ModelAnswers([one for one, _ in there], [text for _, text in there])
