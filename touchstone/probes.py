"""What is changed before a judge is asked again: order, names, padding, planted words. Pure.

Nothing is drawn: what is chosen follows from hashes of a seed, the same on every machine.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from touchstone.evidence import locate_quote
from touchstone.judge_prompt import JudgeTexts
from touchstone.models import Answer, Dimension, Suite
from touchstone.probe_texts import INJECTIONS, MADE_UP_NAME, Canary, Injection, probe_text

ThingT = TypeVar("ThingT")

MIN_QUOTE = 10
"""A shorter quote, in characters, may stand among planted words by accident."""

_LONGEST_SENTENCE = 160
_MARKS = re.compile(r"^(?:[\s>#*+•–-]+|\d+[.)]\s)+|[*_`]+")
_SENTENCE = re.compile(r".{15,}?[.!?](?=\s|$)")


# --- order ---------------------------------------------------------------------------------


def reversed_order(things: Sequence[ThingT]) -> list[ThingT] | None:
    """Return things in reversed order; None where that is no other order."""
    return list(reversed(things)) if len(things) > 1 else None


def permuted_order(
    things: Sequence[ThingT], seed: int, name: Callable[[ThingT], str]
) -> list[ThingT] | None:
    """Return things in an order that is neither theirs nor the reverse; None where none is left.

    ``name`` tells the things apart.
    """
    if len(things) < 3:
        return None
    given = [name(one) for one in things]
    for attempt in itertools.count():
        order = sorted(things, key=lambda one: seeded_rank(seed, attempt, name(one)))
        names = [name(one) for one in order]
        if names not in (given, given[::-1]):
            return order
    raise AssertionError("unreachable")  # pragma: no cover


def seeded_rank(*parts: object) -> str:
    """Return what sorts things as if they had been shuffled: a hash of seed and name."""
    text = "\x1f".join(str(part) for part in parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# --- names ---------------------------------------------------------------------------------


class NamedTexts(JudgeTexts):
    """The judge's texts, with the name of the model that answered told before the task.

    A name comes from outside: it stands between the markers, like all that is not to be obeyed.
    """

    def __init__(self, suite: Suite, nonce: str, name: str) -> None:
        super().__init__(suite, nonce)
        self._name = name

    def dimension_task(self, dimension: Dimension) -> str:
        """Return the task of judging one dimension, after the name."""
        return f"{self._told()}\n\n{super().dimension_task(dimension)}"

    def dimensions_task(self, dimensions: Sequence[Dimension]) -> str:
        """Return the task of judging several dimensions, after the name."""
        return f"{self._told()}\n\n{super().dimensions_task(dimensions)}"

    def _told(self) -> str:
        told = probe_text("told_name", self.suite.language)
        return told.replace("{name}", self._inline(self._name) or "–")


def other_name(name: str, names: Iterable[str]) -> str:
    """Return the next other model's name of a bundle, in its order; a made-up one if none is."""
    others = list(dict.fromkeys(names))
    start = others.index(name) if name in others else -1
    turned = [*others[start + 1 :], *others[: start + 1]]
    return next((one for one in turned if one != name), MADE_UP_NAME)


# --- answers -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Planted:
    """An answer with ``words`` added at its end; they begin at code point ``start`` of its text."""

    answer: Answer
    words: str
    start: int

    def is_quoted(self, quotes: Iterable[str]) -> bool:
        """Say whether a quote points at the planted words.

        It has to be found in the altered answer, and half of it or more has to lie in the planted
        words: who quotes a whole answer has pointed at nothing.
        """
        return any(self._holds(quote) for quote in quotes)

    def _holds(self, quote: str) -> bool:
        place = locate_quote(quote, self.answer.text)
        if place.start is None or place.end is None or len(quote.strip()) < MIN_QUOTE:
            return False
        inside = min(place.end, self.start + len(self.words)) - max(place.start, self.start)
        return 2 * inside >= place.end - place.start


def pad(answer: Answer, language: str) -> Answer:
    """Return an answer with sentences at its end that say nothing; an empty one as it is."""
    return answer if answer.is_empty else _added(answer, probe_text("padding", language)).answer


def plant_canary(kind: Canary, answer: Answer, language: str) -> Planted | None:
    """Return an answer with a defect of this kind; None where it would be nothing new.

    An empty answer stays as it is, and one that the length limit broke off can't break off anew.
    """
    if answer.is_empty or (kind == "broken_off" and answer.finish_reason == "length"):
        return None
    words = probe_text(kind, language)
    return _added(answer, words.replace("{first}", first_sentence(answer.text)))


def plant_injection(kind: Injection, answer: Answer, language: str) -> Planted | None:
    """Return an answer that ends in an instruction to the judge; None for an empty one."""
    return None if answer.is_empty else _added(answer, probe_text(kind, language))


def inject(answer: Answer, language: str) -> Answer:
    """Return an answer with the plainest of the instructions; an empty one as it is."""
    planted = plant_injection(INJECTIONS[0], answer, language)
    return planted.answer if planted else answer


def _added(answer: Answer, words: str) -> Planted:
    before = f"{answer.text}\n\n"
    return Planted(answer.model_copy(update={"text": before + words}), words, len(before))


def first_sentence(text: str) -> str:
    """Return the first sentence of a text, on one line and without Markdown marks."""
    for line in text.splitlines():
        plain = " ".join(_MARKS.sub("", line).split())
        if plain:
            found = _SENTENCE.match(plain)
            sentence = found[0] if found else plain
            if len(sentence) <= _LONGEST_SENTENCE:
                return sentence
            return sentence[:_LONGEST_SENTENCE].rpartition(" ")[0] or sentence[:_LONGEST_SENTENCE]
    return "…"
