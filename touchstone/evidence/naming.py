"""How prompt ids stand in English and German prose, and what only looks like one there."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

SHAPE = re.compile(r"([^\W\d_]{1,40})([-._ ]?)([0-9]{1,6})")
"""Letters and a number, the usual form of an id: ``E1``, ``task-12``."""

_PROMPT_WORD = r"prompts?|tasks?|questions?|aufgaben?|fragen?"
_CUE_WORD = (
    rf"{_PROMPT_WORD}|answers?|responses?|repl(?:y|ies)|antwort(?:en)?|items?|cases?|tests?"
    r"|examples?|fall|fälle|beispiele?|ids?|no\.|nr\.|number|nummer"
)
_OPENING = r"""[ \t]*(?:(?:no|nr)\.[ \t]*|ids?[ \t]*)?[:#]?[ \t]*[*_`"'“„(\[]{0,4}$"""
_AFTER_PROMPT_WORD = re.compile(rf"(?i)(?<!\w)(?:{_PROMPT_WORD}){_OPENING}")
_AFTER_CUE_WORD = re.compile(rf"(?i)(?<!\w)(?:{_CUE_WORD}){_OPENING}")
_AFTER_POINTER = re.compile(rf"(?i)(?<!\w)(?:bei|see|siehe|vgl\.|cf\.){_OPENING}")
_AFTER_AT = re.compile(r"(?i)(?<!\w)at $")
_LINE_START = re.compile(r"(?:^|\n)[ \t>*+_`\[(-]*$")
_COLON = re.compile(r"[*_`\])]*[ \t]*:")

_MARKS_AFTER, _MARKS_BEFORE = r"""[*_`"'”“)\]]{0,4}""", r"""[*_`"'“„(\[]{0,4}"""
_RANGE_WORD = (
    r"(?:–|-|‐|‑|—|−|\.\.\.?|…|bis(?: zu| einschließlich| inklusive)?|up to|to|through|thru)"
)
_RANGE = re.compile(rf"{_MARKS_AFTER}\s*{_RANGE_WORD}\s*{_MARKS_BEFORE}")
_JOINED = re.compile(
    rf"{_MARKS_AFTER}\s*(?:{_RANGE_WORD}|,|/|&|\+|,?\s*(?:und|and|or|oder|sowie|bzw\.))\s*"
    rf"{_MARKS_BEFORE}"
)
_SHORT_RANGE = re.compile(r"[-–—‑]([0-9]{1,6})(?!\w|[.,:]\d)")

_NO_PROMPT_BEFORE = re.compile(
    r"(?i)(?<!\w)(?:din|iso|vitamine?|hepatitis|autobahn|bab|motorway|sprachniveau|raum|zimmer"
    r"|halle|wohnung|gebäude|zellen?|papierformat|größe|sitzplatz"
    r"|(?<!the )(?<!a )(?:rooms?|seats?|gates?|cells?|flats?|format))[ -]$"
)
_NO_PROMPT_AFTER = re.compile(
    r"(?i)[ /-](?:paper|papier\w*|sheets?|blatt|blätter\w*|bogen|seiten?|pages?|sized?|portrait"
    r"|landscape|hochformat|querformat|envelopes?|umschl\w+|kuverts?|petrol|fuel|gasoline|benzin"
    r"|sprit|kraftstoff|visas?|visum|motorway|autobahn|(?:19|20)\d\d)(?!\w)|-format"
)

LONGEST_WORD = 20
"""Letters in a row up to which an id could be a word of the language."""
Cue = Literal["none", "word", "number"]
"""What an id needs beside it to be one: nothing, a cue, or (of a number) a stronger cue."""


def needed_cue(prompt_id: str) -> Cue:
    """Return which cue an id needs: one that could be any word, sign or number needs one."""
    if any(char.isspace() for char in prompt_id):
        return "none"
    has_letter = any(char.isalpha() for char in prompt_id)
    has_digit = any(char.isdigit() for char in prompt_id)
    if has_digit:
        return "none" if has_letter else "number"
    if has_letter:
        is_word = prompt_id.isalpha() and len(prompt_id) <= LONGEST_WORD
        is_name = len(prompt_id) > 1 and prompt_id.isupper()
        return "word" if is_word and not is_name else "none"
    is_pictogram = any(unicodedata.category(char) == "So" for char in prompt_id)
    return "none" if is_pictogram else "word"


def is_whole(text: str, start: int, end: int) -> bool:
    """Say whether an id stands by itself: as a word, a number, a row of signs, a pictogram.

    An underscore is part of a word inside it, and emphasis around it: ``file_E1_a``, ``_E1_``.
    """
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if _goes_on(before[::-1]) or _goes_on(after):
        return False
    first, last = text[start], text[end - 1]
    if not first.isalnum() and before[-1:] == first:
        return False
    if last.isdigit() and after[:1] == "." and after[1:].isdigit():
        return False
    return last.isalnum() or after[:1] != last


def _goes_on(beside: str) -> bool:
    """Say whether a word goes on in the characters beside it, nearest first."""
    if not beside:
        return False
    near, next_one = beside[0], beside[1:]
    joins = near == "\u200d" or "\U0001f3fb" <= near <= "\U0001f3ff"
    combines = unicodedata.category(near)[0] == "M" and near not in "\ufe0e\ufe0f"
    return near.isalnum() or joins or combines or (near == "_" and next_one.isalnum())


def follows_prompt_word(text: str, start: int) -> bool:
    """Say whether a word for prompt stands before: "prompt", "Aufgabe"."""
    return _AFTER_PROMPT_WORD.search(text[max(0, start - 40) : start]) is not None


def follows_cue_word(text: str, start: int) -> bool:
    """Say whether a word for prompt or answer stands before."""
    return _AFTER_CUE_WORD.search(text[max(0, start - 40) : start]) is not None


def has_cue(text: str, start: int, end: int, cue: Cue) -> bool:
    """Say whether the text beside an id says that it is one."""
    before, after = text[max(0, start - 40) : start], text[end : end + 40]
    enclosed = (before[-1:] + after[:1] in ("[]", "``")) or (
        before.endswith("**") and after.startswith("**")
    )
    if enclosed or _AFTER_CUE_WORD.search(before):
        return True
    if (start <= 40 or "\n" in before) and _LINE_START.search(before) and _COLON.match(after):
        return True
    if cue == "number":
        return False
    pointers = [_AFTER_POINTER]
    if end - start > 1:  # "(a)" counts up, and "at a" goes on
        if before[-1:] + after[:1] == "()":
            return True
        pointers.append(_AFTER_AT)
    return any(pointer.search(before) for pointer in pointers)


def is_no_prompt(text: str, start: int, end: int) -> bool:
    """Say whether the neighbours make it something else: DIN A4, E10 petrol, room B2, Q1 2027."""
    before, after = text[max(0, start - 40) : start], text[end : end + 20]
    return bool(_NO_PROMPT_BEFORE.search(before) or _NO_PROMPT_AFTER.match(after))


def is_range(text: str, start: int, end: int) -> bool:
    """Say whether the words between two ids make them a range."""
    return end - start <= 40 and _RANGE.fullmatch(text, start, end) is not None


def is_joined(text: str, start: int, end: int) -> bool:
    """Say whether the words between two ids put them side by side in a list."""
    return end - start <= 40 and _JOINED.fullmatch(text, start, end) is not None


def short_range_end(text: str, end: int) -> tuple[str, int] | None:
    """Return the number that ends a range such as ``E1–3``, and where it ends."""
    found = _SHORT_RANGE.match(text, end)
    return (found[1], found.end()) if found else None
