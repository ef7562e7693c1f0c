"""The table of the scale benchmark: what was measured, and which budgets are met."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scale_measure import Cost, Output

LARGE = 100_000
"""Answers from which on the budgets of the largest site hold."""


@dataclass(frozen=True)
class Build:
    """One measured build: ``name`` is cold, warm, one changed, or a kind of mkdocs."""

    name: str
    cost: Cost
    output: Output


@dataclass(frozen=True)
class Sized:
    """All builds of the same answers. ``peer`` is mkdocs on the same answers, if it was run."""

    answers: int
    builds: Sequence[Build]
    peer: Build | None = None

    def build(self, name: str) -> Build:
        """Return the build of this name; KeyError if there is none."""
        return {one.name: one for one in self.builds}[name]


@dataclass(frozen=True)
class Budget:
    """A demand on a ratio or an amount, and what was found."""

    what: str
    found: float
    bound: float
    is_least: bool
    unit: str

    @property
    def is_met(self) -> bool:
        """True if what was found is within the bound."""
        return self.found >= self.bound if self.is_least else self.found <= self.bound


def budgets(sized: Sized) -> Iterator[Budget]:
    """Yield the budgets that hold at a size."""
    cold, warm = sized.build("cold"), sized.build("warm")
    is_large = sized.answers >= LARGE
    largest = max(one.cost.largest_mb for one in sized.builds)
    yield Budget("largest process", largest, 200 if is_large else 150, False, " MB")
    if is_large:
        yield Budget("warm : cold, CPU", warm.cost.cpu_s / cold.cost.cpu_s, 0.2, False, "")
    if sized.peer is not None:
        peer = sized.peer
        yield Budget("mkdocs : cold, CPU", peer.cost.cpu_s / cold.cost.cpu_s, 4, True, "×")
        yield Budget("mkdocs : warm, CPU", peer.cost.cpu_s / warm.cost.cpu_s, 10, True, "×")
        size = cold.output.megabytes / peer.output.megabytes
        yield Budget("bytes : mkdocs' bytes", size, 0.5, False, "")


def render(results: Sequence[Sized]) -> str:
    """Return the tables of all sizes as Markdown."""
    lines = [
        "| answers | build | CPU s | wall s | largest process MB | together MB | site MB | pages |",
        "|--:|---|--:|--:|--:|--:|--:|--:|",
    ]
    for sized in results:
        peers = [sized.peer] if sized.peer else []
        lines += [_row(sized.answers, one) for one in [*sized.builds, *peers]]
    lines += ["", "| answers | budget | bound | found | |", "|--:|---|--:|--:|---|"]
    for sized in results:
        lines += [_budget(sized.answers, one) for one in budgets(sized)]
    return "\n".join(lines)


def _row(answers: int, build: Build) -> str:
    cost, output = build.cost, build.output
    cells = (
        *(f"{answers:,}", build.name, f"{cost.cpu_s:.1f}", f"{cost.wall_s:.1f}"),
        *(f"{cost.largest_mb:.0f}", f"{cost.together_mb:.0f}"),
        *(f"{output.megabytes:.1f}", f"{output.pages:,}"),
    )
    return f"| {' | '.join(cells)} |"


def _budget(answers: int, budget: Budget) -> str:
    sign = "≥" if budget.is_least else "≤"
    bound = f"{sign} {budget.bound:g}{budget.unit}"
    found = f"{budget.found:.2f}{budget.unit}"
    met = "met" if budget.is_met else "MISSED"
    return f"| {answers:,} | {budget.what} | {bound} | {found} | {met} |"
