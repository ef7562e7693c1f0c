"""Looks up the terms an answer is said to lack."""

from __future__ import annotations

import re
from itertools import islice

from touchstone.evidence.levelling import Levelled, Span, keeps_words, level_text
from touchstone.evidence.matching import MAX_TRIES, find_levelled

LONGEST_TERM = 200
"""Characters of a term up to which spaces beside its signs may be there or not."""
_PIECE = re.compile(r"\w+|[^\w]")
_SIGNS = frozenset("%‰€£$¥°/+=<>&§")


def find_term(term: str, answer: Levelled) -> Span | None:
    """Return where a term first stands in an answer: levelled, as whole words and whole numbers.

    "Tom" is not in "tomorrow", "60" neither in "600" nor in "60.50"; "15 %" is in "15%". A term
    without letters and digits ("|", "**") is looked up as it is written.
    """
    needle = level_text(term)
    if not any(char.isalnum() for char in needle):
        at = answer.raw.find(term.strip())
        return (at, at + len(term.strip())) if at >= 0 else None
    if len(needle) > LONGEST_TERM or not _SIGNS.intersection(needle):
        found = find_levelled(needle, answer, whole_words=True)
        return found.spans[0] if found else None
    for match in islice(_pattern(needle).finditer(answer.text), MAX_TRIES):
        if answer.is_whole(*match.span()) and keeps_words(answer.text, *match.span()):
            return answer.source(*match.span())
    return None


def _pattern(needle: str) -> re.Pattern[str]:
    """Return a pattern for a term, in which a space beside a sign may be there or not."""
    pieces = _PIECE.findall(needle)
    out = ""
    for i, piece in enumerate(pieces):
        beside_sign = bool(_SIGNS.intersection(pieces[max(0, i - 1) : i] + pieces[i + 1 : i + 2]))
        if piece == " ":
            out += " ?" if beside_sign else " "
        elif piece in _SIGNS:
            before = " ?" if i and pieces[i - 1] != " " else ""
            after = " ?" if i + 1 < len(pieces) and pieces[i + 1] != " " else ""
            out += before + re.escape(piece) + after
        else:
            out += re.escape(piece)
    return re.compile(out)
