"""The words of a search: what is indexed of a text, and what a person's words ask the index for.

The index is SQLite's FTS5. Its tokenizer takes a run of letters and digits for a word; where a
script writes no spaces, a seam between the characters makes each of them a word, and a string of
them a phrase: so any part of a sentence is found there, however short. Other texts cost nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

TOKENIZER = "unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
"""Case and accents do not count; combining marks belong to their word (Hindi, Thai)."""
HIT_OPENS, HIT_CLOSES = "\x02", "\x03"
"""What stands around a hit in a snippet from the index; no indexed text holds them."""

Span = tuple[int, int]

_SEAM = "\x04"
_TAKEN = {ord(char): "\ufffd" for char in ("\0", HIT_OPENS, HIT_CLOSES, _SEAM)}
_SURROGATE = re.compile("[\ud800-\udfff]")
# Thai, Lao, Burmese, Khmer, Chinese, Japanese; and Korean, whose words carry their particles.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19ff\u3005-\u3007\u3021-\u3029\u3031-\u318f"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaa7f\uac00-\ud7a3"
    "\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003fffd"
)
_UNSPACED_CHAR = re.compile(f"[{_UNSPACED}]")
_BOUNDARY = re.compile(rf"(?<=[{_UNSPACED}])(?=.)|(?<=.)(?=[{_UNSPACED}])", re.DOTALL)
_TERM = re.compile(r'"([^"]*)"?|([^\s"]+)')
_MARK_OR_SPACE = re.compile(rf"[{HIT_OPENS}{HIT_CLOSES}]|\s+")
_ELLIPSIS = "…"


def storable(text: str) -> str:
    """Return a text as SQLite can hold it: lone surrogates are replaced."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def indexed_text(text: str) -> str:
    """Return what is indexed of a text; ``snippet_of`` undoes it for a part of it."""
    if text.isascii():
        return text.translate(_TAKEN)
    composed = unicodedata.normalize("NFC", storable(text)).translate(_TAKEN)
    if _UNSPACED_CHAR.search(composed) is None:
        return composed
    return _BOUNDARY.sub(_SEAM, composed)


def match_expression(words: str, *, prefix: bool = False) -> str | None:
    """Return the FTS5 expression for a person's words; None where no letter or digit is in them.

    All words must occur; what stands between ``"`` is a phrase; nothing else is syntax. With
    ``prefix`` the last word may go on.
    """
    terms = list(dict.fromkeys(_terms(words)))
    if not terms:
        return None
    return " ".join(f'"{term}"' for term in terms) + (" *" if prefix else "")


def _terms(words: str) -> Iterator[str]:
    for found in _TERM.finditer(words):
        term = indexed_text(found[1] if found[2] is None else found[2])
        if any(_is_searchable(char) for char in term):
            yield term


def _is_searchable(char: str) -> bool:
    category = unicodedata.category(char)
    return category[0] in "LN" or category in {"Co", "Mn", "Mc"}


def snippet_of(marked: str, most_characters: int) -> tuple[str, tuple[Span, ...]]:
    """Return a snippet from the index as one line of text, and where the hits are in it.

    Args:
        marked: a part of an indexed text with ``HIT_OPENS`` and ``HIT_CLOSES`` around hits.
        most_characters: how long it may get; the part about the first hit is kept.

    Returns:
        The text, and the hits as half-open spans in characters.
    """
    text, spans = _read_marks(marked.replace(_SEAM, ""))
    if len(text) <= most_characters:
        return text, tuple(spans)
    first = spans[0][0] if spans else 0
    start = max(0, min(first - most_characters // 4, len(text) - most_characters))
    end = start + most_characters
    before, after = _ELLIPSIS if start else "", _ELLIPSIS if end < len(text) else ""
    moved = len(before) - start
    kept = tuple(
        (max(opens, start) + moved, min(closes, end) + moved)
        for opens, closes in spans
        if closes > start and opens < end
    )
    return f"{before}{text[start:end]}{after}", kept


def _read_marks(marked: str) -> tuple[str, list[Span]]:
    """Return the text without marks and with single spaces, and the spans of the hits."""
    pieces: list[str] = []
    spans: list[Span] = []
    length = opened = at = 0
    for found in _MARK_OR_SPACE.finditer(marked.strip()):
        pieces.append(found.string[at : found.start()])
        length += found.start() - at
        at = found.end()
        if found[0] == HIT_OPENS:
            opened = length
        elif found[0] == HIT_CLOSES:
            spans.append((opened, length))
        else:
            pieces.append(" ")
            length += 1
    pieces.append(marked.strip()[at:])
    return "".join(pieces), spans
