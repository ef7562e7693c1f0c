"""Charts of a judge's quality as inline SVG: marks in percent and pixels, without ids and styles.

Each stands in or above the table that holds its numbers. What a mark means is told by its place,
shape and title; colours come from the stylesheet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from touchstone.gui.charts import position
from touchstone.gui.safe_html import SafeHtml

MOST_STACKED = 60
"""Marks that are drawn one by one over one another; of more, their bars show the counts."""
COLUMNS = 3
PITCH = 11
TALLEST_BAR = 120
SEGMENT_HEIGHT = 20
LEAST_LABELLED = 0.04
"""Share of a bar that leaves room for a number beneath it."""
FILLS = ("solid", "pale", "faint")
DASHES = ("2 2", "2 5", "5 2", "1 3", "7 3", "3 7", "1 6")
"""How found and other quotes are told apart: the one filled, the others striped."""


@dataclass(frozen=True)
class Mark:
    """One rating: by how many levels the judge is above the reference, and where it leads."""

    delta: int
    url: str
    title: str


@dataclass(frozen=True)
class Segment:
    """A part of a bar; ``fill`` is one of ``FILLS`` or of ``DASHES``."""

    count: int
    fill: str
    url: str
    title: str


def dumbbell(judge: float, reference: float, title: str, *, height: int = 34) -> SafeHtml:
    """Return two means on the scale from 1 to 5: a dot for the judge in an open square."""
    middle = height // 2
    x_judge, x_reference = position(judge), position(reference)
    lines = "".join(
        f'<line class="g" x1="{position(n):g}%" x2="{position(n):g}%" y1="0" y2="{height}"/>'
        for n in range(1, 6)
    )
    name = escape(title, quote=True)
    return SafeHtml(
        f'<svg class="ts-plot" width="100%" height="{height}" role="img" aria-label="{name}">'
        f"<title>{name}</title>{lines}"
        f'<line class="con" x1="{x_judge:g}%" x2="{x_reference:g}%" y1="{middle}" y2="{middle}"/>'
        f'<svg x="{x_reference:g}%" y="{middle}" overflow="visible">'
        f'<rect class="ref" x="-6.5" y="-6.5" width="13" height="13"/></svg>'
        f'<circle class="dot" cx="{x_judge:g}%" cy="{middle}" r="5"/></svg>'
    )


def delta_position(delta: float) -> float:
    """Return where a difference from -4 to 4 lies, in percent of the width."""
    return round(50 + 11 * delta, 2)


def delta_strip(marks: Sequence[Mark], label: str) -> SafeHtml:
    """Return all differences around 0: those that are equal are stacked, with their count."""
    stacks = {delta: [m for m in marks if m.delta == delta] for delta in range(-4, 5)}
    tallest = max(map(len, stacks.values()))
    is_stacked = tallest <= MOST_STACKED
    room = -(-tallest // COLUMNS) * PITCH if is_stacked else TALLEST_BAR
    base = room + 18
    parts = [_delta_line(delta, base) for delta in stacks]
    for delta, stack in stacks.items():
        if not stack:
            continue
        drawn, top = _stack(stack, base) if is_stacked else _bar(len(stack), tallest, base)
        parts.append(
            f'<svg x="{delta_position(delta):g}%" y="0" overflow="visible">{drawn}'
            f'<text class="num" y="{top - 5}" text-anchor="middle">{len(stack)}</text></svg>'
        )
    role = "group" if is_stacked else "img"
    return SafeHtml(
        f'<svg class="ts-plot ts-strip" width="100%" height="{base + 20}" role="{role}" '
        f'aria-label="{escape(label, quote=True)}">{"".join(parts)}</svg>'
    )


def _delta_line(delta: int, base: int) -> str:
    x = f"{delta_position(delta):g}%"
    sign = "+" if delta > 0 else "−" if delta < 0 else ""
    return (
        f'<line class="{"g" if delta else "zero"}" x1="{x}" x2="{x}" y1="0" y2="{base}"/>'
        f'<text x="{x}" y="{base + 15}" text-anchor="middle" aria-hidden="true">'
        f"{sign}{abs(delta)}</text>"
    )


def _stack(stack: Sequence[Mark], base: int) -> tuple[str, int]:
    """Return marks as links, row upon row from the base line, and where the last row begins."""
    parts, top = [], base
    for index, mark in enumerate(stack):
        row, column = divmod(index, COLUMNS)
        in_row = min(COLUMNS, len(stack) - row * COLUMNS)
        x = round((column - (in_row - 1) / 2) * PITCH, 1)
        y = base - row * PITCH - PITCH // 2 - 1
        top = y - PITCH // 2
        name = escape(mark.title, quote=True)
        shape = f'<circle class="dot" cx="{x:g}" cy="{y}" r="4.5"/>'
        if abs(mark.delta) >= 2:
            shape = f'<path class="far" d="M{x:g} {y - 5}l5 5l-5 5l-5 -5Z"/>'
        parts.append(
            f'<a href="{escape(mark.url, quote=True)}" aria-label="{name}">'
            f"<title>{name}</title>{shape}</a>"
        )
    return "".join(parts), top


def _bar(count: int, tallest: int, base: int) -> tuple[str, int]:
    height = max(1, round(TALLEST_BAR * count / tallest))
    top = base - height
    return f'<rect class="bar" x="-14" y="{top}" width="28" height="{height}"/>', top


def class_bar(segments: Sequence[Segment], label: str) -> SafeHtml:
    """Return one bar of all ``segments`` in a row, as wide as they count; each is a link."""
    total = sum(segment.count for segment in segments) or 1
    parts, before = [], 0
    for segment in segments:
        x, width = 100 * before / total, 100 * segment.count / total
        before += segment.count
        name = escape(segment.title, quote=True)
        parts.append(
            f'<a href="{escape(segment.url, quote=True)}" aria-label="{name}">'
            f"<title>{name}</title>{_filled(segment.fill, x, width)}</a>"
        )
        if segment.count >= LEAST_LABELLED * total:
            parts.append(
                f'<text class="num" x="{x + width / 2:.2f}%" y="{SEGMENT_HEIGHT + 15}" '
                f'text-anchor="middle">{segment.count}</text>'
            )
    return SafeHtml(
        f'<svg class="ts-plot ts-segs" width="100%" height="{SEGMENT_HEIGHT + 20}" role="group" '
        f'aria-label="{escape(label, quote=True)}">{"".join(parts)}</svg>'
    )


def swatch(fill: str) -> SafeHtml:
    """Return what a segment looks like, for a legend."""
    return SafeHtml(
        '<svg class="ts-kg ts-segs" width="20" height="14" aria-hidden="true">'
        f"{_filled(fill, 0, 100, height=14)}</svg>"
    )


def _filled(fill: str, x: float, width: float, *, height: int = SEGMENT_HEIGHT) -> str:
    place = f'x="{x:.2f}%" y="0" width="{width:.2f}%" height="{height}"'
    if fill in FILLS:
        return f'<rect class="{fill}" {place}/>'
    middle = height // 2
    return (
        f'<rect class="open" {place}/><line class="stripes" x1="{x:.2f}%" x2="{x + width:.2f}%" '
        f'y1="{middle}" y2="{middle}" stroke-width="{height - 2}" stroke-dasharray="{fill}"/>'
    )
