"""What must not differ where two passages nearly agree: numbers, dates and negations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rapidfuzz.distance import Indel

TOKEN = re.compile(r"(?:(?<!\w)[-+])?\d+(?:[.,:/]\d+)*|[^\W\d_]+(?:\"[^\W\d_]+)?|[%‰€£$¥<>=≤≥≠±°]")
"""Numbers, words and signs of levelled text."""

_NEGATION = re.compile(
    r"nicht\w*|nie(?:mals|mand\w*)?|nirgend\w*|kein\w*|ohne|weder|nein|kaum|ausser"
    r"|not|no|nor|none|never|nobody|nothing|nowhere|neither|without|cannot|hardly|except|unless"
    r"|\w+n\"t|(?:do|does|did|is|was|are|were|has|have|had|ca|wo|should|could|would|must|need)nt"
)
_NUMBER_WORD = re.compile(
    r"zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w{3,5}teen|twenty|thirty"
    r"|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion|half|double|twice"
    r"|once|first|second|third|fourth"
    r"|null|eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|\w{0,6}zehn|elf|zwölf|zwanzig|dreissig"
    r"|\w{4,6}zig|hundert|tausend|million(?:en)?|milliarden?|halb|halbe|doppelt|einmal|zweimal"
)
_DATE_WORD = re.compile(
    r"january|february|march|april|may|june|july|august|september|october|november|december"
    r"|januar|februar|märz|mai|juni|juli|oktober|dezember"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch"
)
_OPPOSING_STARTS = ("un", "in", "im", "il", "ir", "non", "dis", "mis", "miss")
_OPPOSING_ENDS = ("less", "los", "lose", "loser", "losen", "loses", "losem", "frei", "free")


@dataclass(frozen=True)
class Word:
    """A word, number or sign of a levelled text and where it stands."""

    text: str
    start: int
    end: int

    @property
    def is_critical(self) -> bool:
        """True if another word in this place means another thing: a number or a negation."""
        text = self.text
        if not text[-1].isalpha():
            return True
        return any(one.fullmatch(text) for one in (_NEGATION, _NUMBER_WORD, _DATE_WORD))


def words_of(levelled: str, start: int = 0, end: int | None = None) -> list[Word]:
    """Return the words, numbers and signs of a levelled text between two places."""
    found = TOKEN.finditer(levelled, start, len(levelled) if end is None else end)
    return [Word(one[0], *one.span()) for one in found]


def same_meaning(quote: Sequence[Word], window: Sequence[Word]) -> tuple[int, int] | None:
    """Return where a nearly equal quote starts and ends in a window, or None if meanings differ.

    The two are aligned word by word. Nothing that differs may be a number, a date, a negation or a
    word and its opposite (able, unable); and where such a word agrees, so does one beside it: a
    "not" that was put in must not pass for the next sentence's. The window may be longer than the
    quote at both ends.
    """
    texts, others = [one.text for one in quote], [one.text for one in window]
    blocks = Indel.opcodes(texts, others).as_matching_blocks()
    matched = [(b.a + i, b.b + i) for b in blocks for i in range(b.size)]
    if not matched:
        return None
    if any(quote[i].is_critical and not _agrees_beside(texts, others, i, j) for i, j in matched):
        return None
    for left, right in _differences(matched, len(texts), len(others)):
        words = [*quote[slice(*left)], *window[slice(*right)]]
        if any(word.is_critical for word in words):
            return None
        if _are_opposed(texts[slice(*left)], others[slice(*right)]):
            return None
    return window[matched[0][1]].start, window[matched[-1][1]].end


def _agrees_beside(texts: Sequence[str], others: Sequence[str], i: int, j: int) -> bool:
    before = i > 0 and j > 0 and texts[i - 1] == others[j - 1]
    after = texts[i + 1 : i + 2] == others[j + 1 : j + 2] != []
    return before or after or len(texts) == 1


def _differences(
    matched: Sequence[tuple[int, int]], quoted: int, available: int
) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield what stands between the words that agree: in the quote, and in the window.

    At either end the window counts only as far as the quote has words left.
    """
    first, last = matched[0], matched[-1]
    yield (0, first[0]), (max(0, first[1] - first[0]), first[1])
    for before, after in pairwise(matched):
        yield (before[0] + 1, after[0]), (before[1] + 1, after[1])
    left = quoted - last[0] - 1
    yield (last[0] + 1, quoted), (last[1] + 1, min(available, last[1] + 1 + left))


def _are_opposed(texts: Sequence[str], others: Sequence[str]) -> bool:
    return any(
        _is_opposite(one, other) or _is_opposite(other, one) for one in texts for other in others
    )


def _is_opposite(longer: str, shorter: str) -> bool:
    if len(shorter) < 3:
        return False
    return longer in {start + shorter for start in _OPPOSING_STARTS} | {
        shorter + end for end in _OPPOSING_ENDS
    }


def has_negation(levelled: str) -> bool:
    """Say whether a levelled passage holds a negation."""
    return any(_NEGATION.fullmatch(one[0]) for one in TOKEN.finditer(levelled))
