"""Published figures beside ours: when they agree, and the table that shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

HEADINGS = ("source", "what", "published", "ours", "difference", "remark")
ABSENT = "-"
_FLOAT_NOISE = 1e-9


def digits_of(printed: str) -> int:
    """Return the number of decimals of a printed figure, such as 3 for 0.430."""
    exponent = Decimal(printed).as_tuple().exponent
    if not isinstance(exponent, int):
        raise ValueError(f"a published figure is a finite number, not {printed}")
    return max(0, -exponent)


def agrees(published: float, ours: float | None, digits: int) -> bool:
    """Return whether ``ours`` rounds to a figure published with this many decimals."""
    return ours is not None and abs(ours - published) <= 0.5 * 10**-digits + _FLOAT_NOISE


@dataclass(frozen=True)
class Row:
    """One line of the table: figures as printed in the source, and as computed here.

    ``published`` holds them as text, because their decimals say how precise they are; ``ours``
    is equally long, None where undefined. ``explains``: how far apart the two may be because of
    what the remark says; 0 where it explains no difference. ``between`` stands between figures.
    """

    source: str
    what: str
    published: tuple[str, ...]
    ours: tuple[float | None, ...]
    remark: str = ""
    explains: float = 0.0
    between: str = "/"

    def __post_init__(self) -> None:
        if not self.published or len(self.published) != len(self.ours):
            raise ValueError(f"{self.what}: one figure of ours per published one")
        if self.explains and not self.remark:
            raise ValueError(f"{self.what}: a difference is explained by a remark")

    @property
    def reproduced(self) -> bool:
        """Whether every figure agrees to its printed precision."""
        return all(
            agrees(float(printed), value, digits_of(printed))
            for printed, value in zip(self.published, self.ours, strict=True)
        )

    @property
    def difference(self) -> float | None:
        """The largest difference, ours minus published; None where one of ours is undefined."""
        apart = [
            value - float(printed)
            for printed, value in zip(self.published, self.ours, strict=True)
            if value is not None
        ]
        return max(apart, key=abs) if len(apart) == len(self.ours) else None

    @property
    def holds(self) -> bool:
        """Whether the row is reproduced, or differs by no more than its remark explains."""
        if self.reproduced:
            return True
        return self.difference is not None and abs(self.difference) <= self.explains

    def cells(self) -> tuple[str, ...]:
        """Return the texts of the columns in ``HEADINGS``."""
        digits = [digits_of(printed) for printed in self.published]
        ours = [
            ABSENT if value is None else f"{value:.{places}f}"
            for value, places in zip(self.ours, digits, strict=True)
        ]
        return (
            self.source,
            self.what,
            self.between.join(self.published),
            self.between.join(ours),
            self._difference_text(max(digits)),
            self._remark_text(),
        )

    def _difference_text(self, digits: int) -> str:
        if self.difference is None:
            return ABSENT
        return f"{self.difference:+.{digits + 1 if digits else 0}f}"

    def _remark_text(self) -> str:
        if self.holds:
            return self.remark
        return f"DIFFERS. {self.remark}".rstrip()


def render_table(rows: Sequence[Row]) -> str:
    """Return the rows as a Markdown table whose columns line up."""
    lines = [HEADINGS, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    rule = [*("-" * width for width in widths[:-1]), "-" * len(HEADINGS[-1])]
    return "\n".join(_line(line, widths) for line in (lines[0], rule, *lines[1:]))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells[:-1], widths, strict=False)]
    return f"| {' | '.join([*padded, cells[-1]])} |"


def summary(rows: Sequence[Row]) -> str:
    """Return one sentence that counts what was reproduced, explained and left open."""
    reproduced = sum(row.reproduced for row in rows)
    open_rows = sum(not row.holds for row in rows)
    explained = len(rows) - reproduced - open_rows
    return (
        f"{len(rows)} rows: {reproduced} reproduced to the printed precision, "
        f"{explained} differ for a stated reason, {open_rows} differ without one."
    )
