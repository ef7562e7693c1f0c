"""Small charts as inline SVG: one row of a table each, no ids, no styles, numbers beside them.

Marks are placed in percent and sized in pixels, so that a chart is fluid and its text never
scales. Colours come from the stylesheet.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from touchstone.gui.safe_html import SafeHtml


def position(score: float) -> float:
    """Return where a score from 1 to 5 lies, in percent of the width."""
    return round(6 + 22 * (score - 1), 2)


def axis() -> SafeHtml:
    """Return the scale from 1 to 5 that stands above a column of rows."""
    marks = "".join(
        f'<text x="{position(level):g}%" y="13" text-anchor="middle">{level}</text>'
        for level in range(1, 6)
    )
    return SafeHtml(
        f'<svg class="ts-plot ts-axis" width="100%" height="18" aria-hidden="true">{marks}</svg>'
    )


def dot_row(
    score: int | None,
    others: Iterable[int],
    title: str,
    *,
    missing: str = "",
    threshold: int | None = None,
    height: int = 34,
) -> SafeHtml:
    """Return one model's score as a dot on the scale, over the range of the other models.

    ``threshold`` shades what is at or below it; ``missing`` is the word for no score.
    """
    middle = height // 2
    parts = [_shade(threshold, height)] if threshold is not None else []
    parts += [
        f'<line class="g" x1="{position(n):g}%" x2="{position(n):g}%" y1="0" y2="{height}"/>'
        for n in range(1, 6)
    ]
    levels = [] if score is None else sorted(set(others))
    if levels:
        first, last = position(levels[0]), position(levels[-1])
        parts.append(
            f'<line class="rng" x1="{first:g}%" x2="{last:g}%" y1="{middle}" y2="{middle}"/>'
        )
    parts += [
        f'<line class="tick" x1="{position(n):g}%" x2="{position(n):g}%" '
        f'y1="{middle - 5}" y2="{middle + 5}"/>'
        for n in levels
    ]
    if score is None:
        x = position(1)
        parts.append(f'<text class="miss" x="{x:g}%" y="{middle + 4}">{escape(missing)}</text>')
    else:
        parts.append(f'<circle class="dot" cx="{position(score):g}%" cy="{middle}" r="6"/>')
    name = escape(title, quote=True)
    return SafeHtml(
        f'<svg class="ts-plot" width="100%" height="{height}" role="img" aria-label="{name}">'
        f"<title>{name}</title>{''.join(parts)}</svg>"
    )


def _shade(threshold: int, height: int) -> str:
    return f'<rect class="ko" x="0" y="0" width="{position(threshold) + 3:g}%" height="{height}"/>'
