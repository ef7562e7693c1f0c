"""Compares the numbers that the pages of a site show with those that follow from its bundles.

A page says which number is which by attributes. Around: ``data-of``, the page of the model that
it is about, from the site's root. On the element that holds nothing but the number: ``data-rank``,
``data-gate`` (its value is the state), ``data-quality``, ``data-points`` or ``data-score`` (its
value is the dimension's id).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from html import unescape

from touchstone.gui.locale import LANGUAGES, Locale
from touchstone.gui.markup import Tag, iter_tags
from touchstone.gui.wording import Wording
from touchstone.scorecard import KoState, MasterRow

_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "wbr"}
_KINDS = ("rank", "gate", "quality", "points", "score")
_DEEPEST = 100
_NUMBER = re.compile(r"[0-9](?:[0-9.,\s]{0,40}[0-9])?")
_MARKS = {"de": (".", ",")}
"""What groups digits and what stands before decimals, where it is not as in English."""
_STATES: tuple[KoState, ...] = ("passed", "failed", "not_assessable", "none")
_NOTHING = ("", "–")


@dataclass(frozen=True)
class ShownFigure:
    """A number as a page shows it, of the model that has its page at ``of``.

    ``value`` is the attribute's: the state of a gate, the dimension of a score.
    """

    of: str
    kind: str
    value: str
    text: str

    @property
    def dimension(self) -> str:
        """The dimension of a score; nothing for every other number."""
        return self.value if self.kind == "score" else ""


@dataclass(frozen=True)
class Figures:
    """The numbers of a model as they follow from its bundle; None where there are none."""

    rank: int | None
    gate: KoState
    quality: float | None
    points: float | None
    scores: Mapping[str, int | None]

    @classmethod
    def of(cls, row: MasterRow) -> Figures:
        """Return the numbers of a row of the scorecard. Without a report there is no total."""
        total = row.total if row.report else None
        return cls(
            rank=row.rank,
            gate=row.ko.state,
            quality=total.quality_pct if total else None,
            points=total.weighted if total else None,
            scores=row.dim_scores,
        )

    @property
    def on_scorecard(self) -> list[tuple[str, str]]:
        """What a scorecard shows of every model: the kind of each number, and its dimension."""
        scores = [("score", dimension) for dimension in self.scores]
        return [("rank", ""), ("gate", ""), ("quality", ""), *scores]

    def number(self, kind: str, dimension: str) -> float | None:
        """Return a number by its kind.

        Raises:
            KeyError: the suite has no such dimension.
        """
        if kind == "score":
            return self.scores[dimension]
        return {"rank": self.rank, "quality": self.quality, "points": self.points}[kind]


# --- reading -------------------------------------------------------------------------------


@dataclass
class _Open:
    """An element that has not ended yet; ``figure`` is the innermost that holds a number."""

    tag: str
    of: str = ""
    kind: str = ""
    value: str = ""
    text: list[str] = field(default_factory=list)
    figure: _Open | None = None


def read_figures(html: str) -> tuple[list[ShownFigure], str]:
    """Return the numbers that a page marks as such, and the page's language."""
    found: list[ShownFigure] = []
    language, at = "", 0
    open_elements: list[_Open] = []
    for tag in iter_tags(html) if "data-of" in html.lower() else ():
        figure = open_elements[-1].figure if open_elements else None
        if figure:
            figure.text.append(unescape(html[at : tag.start]))
        at = tag.end
        if tag.is_end:
            found += _closed(tag.name, open_elements)
        elif tag.name == "html":
            language = tag.attributes.get("lang", "")
        elif tag.name and tag.name not in _VOID and len(open_elements) < _DEEPEST:
            around = open_elements[-1] if open_elements else _Open("")
            open_elements.append(_opened(tag, around))
    return found, language


def _opened(tag: Tag, around: _Open) -> _Open:
    of = tag.attributes.get("data-of", around.of)
    kind = next((kind for kind in _KINDS if f"data-{kind}" in tag.attributes), "")
    one = _Open(tag.name, of, kind if of else "", tag.attributes.get(f"data-{kind}", ""))
    one.figure = one if one.kind else around.figure
    return one


def _closed(name: str, open_elements: list[_Open]) -> Iterator[ShownFigure]:
    """Close the innermost element of a name, and all in it; yield the numbers among them."""
    if not any(one.tag == name for one in open_elements):
        return
    while True:
        one = open_elements.pop()
        if one.kind:
            text = " ".join("".join(one.text).split())
            yield ShownFigure(one.of, one.kind, one.value, text)
        if one.tag == name:
            return


# --- comparing -----------------------------------------------------------------------------


def difference(shown: ShownFigure, expected: Figures, language: str) -> str:
    """Return how a number on a page differs from what follows from the bundle, or nothing."""
    if shown.kind == "gate":
        if shown.value == expected.gate and _says(shown.text, language) in (None, expected.gate):
            return ""
        return f"shows the gate as {shown.text!r} ({shown.value}), it is {expected.gate}"
    try:
        number = expected.number(shown.kind, shown.value)
    except KeyError:
        return f"shows a score in {shown.value!r}, which the suite lacks"
    if _is_shown_as(number, shown.text, language):
        return ""
    name = f"score in {shown.value}" if shown.kind == "score" else shown.kind
    right = "there is none" if number is None else f"it is {number:.10g}"
    return f"shows {shown.text!r} as {name}, {right}"


def _is_shown_as(number: float | None, text: str, language: str) -> bool:
    if number is None:
        return text in _NOTHING
    match = _NUMBER.search(text)
    if match is None:
        return False
    group, point = _MARKS.get(language[:2], (",", "."))
    digits = "".join(match[0].split()).replace(group, "").replace(point, ".")
    if digits.count(".") > 1:
        return False
    half_a_digit = Decimal(5).scaleb(-len(digits.partition(".")[2]) - 1)
    return abs(Decimal(digits) - Decimal(number)) <= half_a_digit + Decimal("1e-9")


def _says(text: str, language: str) -> KoState | None:
    """Return the state that a word stands for, or None for a word of another version."""
    words = Wording(Locale(language[:2] if language[:2] in LANGUAGES else "en"))
    return next((state for state in _STATES if words.gate(state) == text), None)
