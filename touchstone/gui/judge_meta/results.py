"""What a judge's result says, as far as judges are compared: figures, and what they rest on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from touchstone.agreement import Table
from touchstone.intervals import Bounds


@dataclass(frozen=True)
class Figures:
    """One row of the cross-judge table; None is "not known".

    Shares lie between 0 and 1, ``quality_delta`` is in percentage points. ``table`` has the counts
    of all pairs of scores. ``found`` of ``quotes`` stand in the answer they are quoted from;
    ``repeat`` is the share of ratings that stayed when the judge was asked again.
    """

    n: int | None = None
    models: int | None = None
    coverage: float | None = None
    exact: float | None = None
    within_1: float | None = None
    mae: float | None = None
    mae_ci: Bounds | None = None
    skill: float | None = None
    bias: float | None = None
    qwk: float | None = None
    qwk_ci: Bounds | None = None
    concordant: int | None = None
    ranked_pairs: int | None = None
    ko_agree: int | None = None
    ko_n: int | None = None
    ko_missed: int | None = None
    ko_false: int | None = None
    quality_delta: float | None = None
    found: int | None = None
    quotes: int | None = None
    fidelity: float | None = None
    fidelity_ci: Bounds | None = None
    repeat: float | None = None
    table: Table[int] | None = None


@dataclass(frozen=True)
class Basis:
    """What two judges must have in common to be compared (ADR-0013).

    ``suite`` and ``answers`` are hashes. None is "does not say", which equals nothing but for
    ``mode``: a person's judging has none.
    """

    suite: str | None
    answers: str | None
    rubric: str | None
    references: tuple[str, ...]
    blind: bool | None
    mode: str | None

    @property
    def key(self) -> tuple[object, ...]:
        """The basis as it is compared: references are told apart by id, whatever its case."""
        references = tuple(sorted({one.strip().casefold() for one in self.references}))
        return (self.suite, self.answers, self.rubric, references, self.blind, self.mode)

    @property
    def is_known(self) -> bool:
        """True if nothing that matters is left unsaid."""
        said = (self.suite, self.answers, self.rubric, self.references or None, self.blind)
        return None not in said

    def as_dict(self) -> dict[str, Any]:
        """Return the basis as it stands in JSON."""
        return {**vars(self), "references": list(self.references)}


@dataclass(frozen=True)
class Result:
    """A judge's result: ``constant`` is the best constant's score and MAE as stored.

    ``is_bound``: it names the bundle it is about; ``is_stale``: that is not what the bundle holds
    now. ``judge`` is the fingerprint it is about.
    """

    figures: Figures
    basis: Basis
    constant: tuple[int, float] | None = None
    headline: str | None = None
    judge: str | None = None
    is_bound: bool = True
    is_stale: bool = False
