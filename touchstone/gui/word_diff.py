"""What differs between two texts, word by word, and short enough to be read. Pure.

Words are aligned by Myers' algorithm (E. W. Myers, "An O(ND) Difference Algorithm and Its
Variations", 1986), whose work grows with the number of differences and is bounded here. White
space is compared with the words around it, so that a line break alone shows up as what it is.
Where there are too many words or differences, whole sentences are compared instead.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

Kind = Literal["same", "deleted", "inserted", "hidden", "rest"]
Unit = Literal["words", "sentences", "none"]

MOST_CHARACTERS = 60_000
"""Of a longer text nothing but its length is told."""
MOST_UNITS = 4_000
"""Words (about 3,000 and their punctuation) or sentences of one text that are compared."""
MOST_EDITS = 600
"""Words or sentences deleted and inserted, at most; memory and time grow with their square."""
LEAST_COMMON = 0.5
"""Share of the shorter text's words that both must have, to be compared word by word."""
LONGEST_ISLAND = 3
"""Words between two changes that may count as changed, too: a patchwork is hard to read."""
CONTEXT = 8
"""Words of an unchanged stretch that are shown beside a change."""
LONGEST_PIECE = 1_500
"""Characters of a deletion or an insertion that are shown."""
LONGEST_DIFF = 6_000
"""Characters that are shown of all pieces together, about; then changes are counted."""

_UNSPACED = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF))
"""Scripts without spaces between words: Thai, Lao, Burmese, Khmer, Kana. Han is told by name."""
_JOINERS = "\u200c\u200d"
_STOPS = ".!?…。！？"


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a diff. ``hidden`` and ``rest`` stand for ``words`` that are left out.

    ``hidden`` is part of the stretch before it, ``rest`` all changes that follow.
    """

    kind: Kind
    text: str
    words: int = 0


@dataclass(frozen=True)
class TextDiff:
    """Two texts compared by words, else by sentences; by none if they are too long.

    ``pieces`` without the inserted ones are the text before, without the deleted ones the text
    after. ``deleted`` and ``inserted`` count words.
    """

    pieces: tuple[Piece, ...]
    unit: Unit
    deleted: int = 0
    inserted: int = 0


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Units ``a_start`` to ``a_end`` of one text beside those of the other; equal, or changed."""

    is_same: bool
    a_start: int
    a_end: int
    b_start: int
    b_end: int


def diff_texts(before: str, after: str) -> TextDiff:
    """Return what differs between two texts; word by word where that can be read."""
    if max(len(before), len(after)) > MOST_CHARACTERS:
        return TextDiff((), "none")
    found = _compared(_spaced_words(before), _spaced_words(after), least_common=LEAST_COMMON)
    unit: Unit = "words"
    if found is None:
        unit = "sentences"
        found = _compared(_sentences(before), _sentences(after), least_common=0)
    if found is None:
        found = _pieces_of([before], [after])
    return TextDiff(
        tuple(found),
        unit,
        sum(count_words(piece.text) for piece in found if piece.kind == "deleted"),
        sum(count_words(piece.text) for piece in found if piece.kind == "inserted"),
    )


def count_words(text: str) -> int:
    """Return how many words a text has; a character of Chinese, Japanese or Thai counts as one."""
    return sum(word[0].isalnum() or word[0] == "_" for _, word in _spaced_words(text) if word)


# --- units: a word or a sentence, and the white space before it ----------------------------

_Spaced = tuple[str, str]


def _spaced_words(text: str) -> list[_Spaced]:
    """Return words and punctuation marks, each with the white space before it.

    All of them joined are the text; the last one is empty and has the space at the end.
    """
    found: list[_Spaced] = []
    space = at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        end = _end_of_word(text, at)
        found.append((text[space:at], text[at:end]))
        space = at = end
    found.append((text[space:], ""))
    return found


def _end_of_word(text: str, start: int) -> int:
    """Return where the word, the character of a script without spaces, or the mark ends."""
    is_word = _class(text[start]) == "word"
    at = start + 1
    while at < len(text):
        kind = _class(text[at])
        if kind == "mark" or (is_word and kind == "word"):
            at += 1
        elif is_word and _joins(text, at):
            at += 2
        else:
            break
    return at


def _joins(text: str, at: int) -> bool:
    """Say whether a mark stands within a word (``don't``) or a number (``1.234,50``)."""
    around = text[at - 1 : at + 2]
    if len(around) < 3 or _class(around[2]) != "word":
        return False
    return around[1] in "'’" or (around[1] in ".,:" and around[0].isdigit() and around[2].isdigit())


@lru_cache(maxsize=1 << 12)
def _class(char: str) -> Literal["word", "single", "mark"]:
    if char in _JOINERS or unicodedata.category(char)[0] == "M":
        return "mark"
    if not (char.isalnum() or char == "_"):
        return "single"
    code = ord(char)
    if any(first <= code <= last for first, last in _UNSPACED):
        return "single"
    return "single" if unicodedata.name(char, "").startswith("CJK") else "word"


def _sentences(text: str) -> list[_Spaced]:
    """Return lines, and sentences within them, in the form of ``_spaced_words``."""
    found: list[_Spaced] = []
    space = ""
    for line in text.splitlines(keepends=True):
        start = 0
        for end in _ends_of_sentences(line):
            sentence = line[start:end]
            bare = sentence.strip()
            if bare:
                lead = sentence[: sentence.index(bare)]
                found.append((space + lead, bare))
                space = sentence[len(lead) + len(bare) :]
            else:
                space += sentence
            start = end
    found.append((space, ""))
    return found


def _ends_of_sentences(line: str) -> Iterator[int]:
    for at, char in enumerate(line[:-1]):
        if char in _STOPS and (line[at + 1].isspace() or char in "。！？"):
            yield at + 1
    yield len(line)


# --- comparing -----------------------------------------------------------------------------


def _compared(
    before: Sequence[_Spaced], after: Sequence[_Spaced], *, least_common: float
) -> list[Piece] | None:
    """Return the pieces, or None if there are too many units or too many of them differ."""
    if max(len(before), len(after)) - 1 > MOST_UNITS:
        return None
    a, b = [unit for _, unit in before[:-1]], [unit for _, unit in after[:-1]]
    needed = least_common * min(len(a), len(b))
    common = (Counter(a) & Counter(b)).total()
    if common < needed or len(a) + len(b) - 2 * common > MOST_EDITS:
        return None
    places = common_places(a, b)
    if places is None or len(places) < needed:
        return None
    stretches = _without_islands(list(_stretches(places, len(a), len(b))), a, b)
    writer = _Writer()
    for one in stretches:
        if one.is_same:
            for unit, other in zip(
                before[one.a_start : one.a_end], after[one.b_start : one.b_end], strict=True
            ):
                writer.keep(unit, other)
        else:
            writer.change(before[one.a_start : one.a_end], after[one.b_start : one.b_end])
    writer.keep(before[-1], after[-1])
    return writer.finish()


def _pieces_of(deleted: Iterable[str], inserted: Iterable[str]) -> list[Piece]:
    pieces = [Piece("deleted", "".join(deleted)), Piece("inserted", "".join(inserted))]
    return [piece for piece in pieces if piece.text]


def common_places(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]] | None:
    """Return the places in both of a longest common subsequence, first to last.

    None if more than ``MOST_EDITS`` units would have to be deleted and inserted.
    """
    numbers: dict[str, int] = {}
    first = [numbers.setdefault(unit, len(numbers)) for unit in a]
    second = [numbers.setdefault(unit, len(numbers)) for unit in b]
    shorter = min(len(first), len(second))
    head = 0
    while head < shorter and first[head] == second[head]:
        head += 1
    tail = 0
    while tail < shorter - head and first[-1 - tail] == second[-1 - tail]:
        tail += 1
    inner = _myers(first[head : len(first) - tail], second[head : len(second) - tail])
    if inner is None:
        return None
    ends = ((len(first) - n, len(second) - n) for n in range(tail, 0, -1))
    return [*((n, n) for n in range(head)), *((i + head, j + head) for i, j in inner), *ends]


def _myers(a: Sequence[int], b: Sequence[int]) -> list[tuple[int, int]] | None:
    """Return the places of a longest common subsequence, found greedily edit by edit.

    ``reach[k]`` is how far into ``a`` a way with so many edits gets on diagonal k (the place in
    ``a`` minus the one in ``b``).
    """
    n, m = len(a), len(b)
    middle = min(n + m, MOST_EDITS) + 1
    reach = [-1] * (2 * middle + 1)
    reach[middle + 1] = 0
    trace: list[list[int]] = []
    for edits in range(middle):
        trace.append(reach[middle - edits - 1 : middle + edits + 2])
        for k in range(2 * max(0, edits - m) - edits, edits - 2 * max(0, edits - n) + 1, 2):
            left, right = reach[middle + k - 1], reach[middle + k + 1]
            x = right if k == -edits or (k != edits and left < right) else left + 1
            y = x - k
            while x < n and y < m and a[x] == b[y]:
                x += 1
                y += 1
            reach[middle + k] = x
            if k == n - m and x >= n:
                return _way_back(trace, n, m)
    return None


def _way_back(trace: Sequence[Sequence[int]], n: int, m: int) -> list[tuple[int, int]]:
    """Return the pairs of equal units on the way that was found, first to last."""
    found: list[tuple[int, int]] = []
    x, y = n, m
    for edits in range(len(trace) - 1, -1, -1):
        reach, k = trace[edits], x - y
        middle = edits + 1
        left, right = reach[middle + k - 1], reach[middle + k + 1]
        is_down = k == -edits or (k != edits and left < right)
        old_k = k + 1 if is_down else k - 1
        old_x = right if is_down else left
        start = (old_x if is_down else old_x + 1) if edits else 0
        while x > start:
            x -= 1
            y -= 1
            found.append((x, y))
        x, y = old_x, old_x - old_k
    return found[::-1]


def _stretches(places: Sequence[tuple[int, int]], n: int, m: int) -> Iterator[_Stretch]:
    """Yield equal and changed stretches in turn, the whole of both texts."""
    a = b = 0
    index = 0
    while index < len(places):
        i, j = places[index]
        if (i, j) != (a, b):
            yield _Stretch(False, a, i, b, j)
        length = 1
        while index + length < len(places) and places[index + length] == (i + length, j + length):
            length += 1
        a, b = i + length, j + length
        yield _Stretch(True, i, a, j, b)
        index += length
    if (a, b) != (n, m):
        yield _Stretch(False, a, n, b, m)


def _without_islands(
    stretches: Sequence[_Stretch], a: Sequence[str], b: Sequence[str]
) -> list[_Stretch]:
    """Return the stretches with short equal ones between longer changes counted as changed."""

    def size(one: _Stretch) -> int:
        parts = (a[one.a_start : one.a_end], b[one.b_start : one.b_end])
        return max(sum(map(len, part)) for part in parts)

    kept: list[_Stretch] = []
    for one in stretches:
        kept.append(one)
        while len(kept) > 2 and not kept[-1].is_same and kept[-2].is_same:
            first, island, last = kept[-3:]
            is_short = island.a_end - island.a_start <= LONGEST_ISLAND
            if not is_short or size(island) > min(size(first), size(last)):
                break
            kept[-3:] = [replace(first, a_end=last.a_end, b_end=last.b_end)]
    return kept


def _common_start(text: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    pairs = zip(text, other, strict=False)
    return next(
        (at for at, (one, two) in enumerate(pairs) if one != two), min(len(text), len(other))
    )


class _Writer:
    """Joins units to pieces; what is deleted stands before what is inserted there."""

    def __init__(self) -> None:
        self._pieces: list[Piece] = []
        self._same: list[str] = []
        self._deleted: list[str] = []
        self._inserted: list[str] = []

    def keep(self, unit: _Spaced, other: _Spaced) -> None:
        """Add a unit that both texts have, perhaps with other space before it."""
        if unit[0] != other[0]:
            is_change = bool(self._deleted or self._inserted)
            alike = 0 if is_change else _common_start(unit[0], other[0])
            self._same.append(unit[0][:alike])
            self._flush_same()
            self._deleted.append(unit[0][alike:])
            self._inserted.append(other[0][alike:])
        self._flush()
        if unit[0] == other[0]:
            self._same.append(unit[0])
        self._same.append(unit[1])

    def change(self, deleted: Sequence[_Spaced], inserted: Sequence[_Spaced]) -> None:
        """Add units that only one of the texts has."""
        if deleted and inserted and deleted[0][0] == inserted[0][0]:
            self._same.append(deleted[0][0])
            deleted = [("", deleted[0][1]), *deleted[1:]]
            inserted = [("", inserted[0][1]), *inserted[1:]]
        self._flush_same()
        self._deleted += (part for unit in deleted for part in unit)
        self._inserted += (part for unit in inserted for part in unit)

    def finish(self) -> list[Piece]:
        """Return all pieces."""
        self._flush()
        self._flush_same()
        return self._pieces

    def _flush(self) -> None:
        self._pieces += _pieces_of(self._deleted, self._inserted)
        self._deleted, self._inserted = [], []

    def _flush_same(self) -> None:
        text = "".join(self._same)
        if text:
            self._pieces.append(Piece("same", text))
        self._same = []


# --- what is shown of it -------------------------------------------------------------------


def fold(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the pieces with long stretches cut, and no more than can be read.

    Of an unchanged stretch the words beside the changes stay, of a changed one the beginning.
    """
    shown: list[Piece] = []
    length = 0
    for at, piece in enumerate(pieces):
        if length > LONGEST_DIFF and piece.kind != "same":
            changed = (one for one in pieces[at:] if one.kind != "same")
            shown.append(Piece("rest", "", sum(count_words(one.text) for one in changed)))
            break
        if piece.kind == "same":
            parts = _folded(piece, is_first=at == 0, is_last=at == len(pieces) - 1)
        else:
            parts = _cut(piece)
        shown += parts
        length += sum(len(part.text) for part in parts)
    return shown


def _folded(piece: Piece, *, is_first: bool, is_last: bool) -> list[Piece]:
    units = _spaced_words(piece.text)
    head = 0 if is_first else CONTEXT
    tail = 0 if is_last else CONTEXT
    end_at = max(head, len(units) - 1 - tail)
    between = _joined(units[head:end_at])
    words = count_words(between)
    if words <= CONTEXT and len(piece.text) <= LONGEST_PIECE:
        return [piece]
    end = _joined(units[end_at:]) if tail else ""
    parts = (
        Piece("same", _joined(units[:head])[:LONGEST_PIECE]),
        Piece("hidden", "", words),
        Piece("same", end[-LONGEST_PIECE:]),
    )
    return [part for part in parts if part.text or part.kind == "hidden"]


def _joined(units: Iterable[_Spaced]) -> str:
    return "".join(part for unit in units for part in unit)


def _cut(piece: Piece) -> list[Piece]:
    if len(piece.text) <= LONGEST_PIECE:
        return [piece]
    words = count_words(piece.text[LONGEST_PIECE:])
    return [replace(piece, text=piece.text[:LONGEST_PIECE]), Piece("hidden", "", words)]
