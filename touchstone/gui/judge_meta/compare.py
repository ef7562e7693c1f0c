"""Compares judges: with references where that is fair, and with each other (ADR-0013).

A judge's agreement with a reference says something about another judge only where both looked at
the same answers, were held against the same references in the same way, and judged in the same
mode. Within such a group judges are sorted by skill; between groups nothing is. Two judges of the
same answers can always be compared with each other: that needs no reference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

from touchstone.agreement import (
    Table,
    agreement_of,
    flag_table,
    mean_absolute_error,
    paired,
    quadratic_kappa,
    score_table,
)
from touchstone.gui.judge_meta.ratings import (
    Pair,
    RatedReference,
    figures_between,
    level_figures,
)
from touchstone.gui.judge_meta.results import Basis, Figures, Result
from touchstone.intervals import Rate, Statistic, rate
from touchstone.models import Flag, Suite
from touchstone.scorecard import tidy

Obstacle = Literal["changed", "other_judge", "unbound", "unsaid"]
"""Why a result is compared with nothing: the bundle has changed since, it is about another judge,
it does not say which bundle it is about, or it leaves something of its basis unsaid."""
What = Literal["suite", "answers", "rubric", "references", "blind", "mode", "obstacle"]


@dataclass(frozen=True)
class Judged:
    """A judged bundle as the comparison needs it, with the judge's own scores and flags.

    ``scores`` are by (model, variant, dimension), ``flags`` by (model, variant, prompt_id).
    ``result`` is what is known of the judge's quality; ``references`` are those whose own ratings
    are known.
    """

    bundle: str
    judge: str
    kind: str | None
    fingerprint: str | None
    suite: Suite
    pairs: tuple[Pair, ...]
    suite_sha256: str
    answers_sha256: str
    scores: Mapping[tuple[str, str, str], int]
    flags: Mapping[tuple[str, str, str], Flag]
    result: Result | None = None
    references: tuple[RatedReference, ...] = ()

    @property
    def is_judged(self) -> bool:
        """True if there is anything to compare."""
        return bool(self.scores or self.flags or self.result is not None)


@dataclass(frozen=True)
class Entry:
    """A judge with its figures; ``obstacle`` says why it is compared with nothing, if so."""

    judged: Judged
    result: Result
    basis: Basis
    obstacle: Obstacle | None

    @property
    def figures(self) -> Figures:
        """The judge's figures."""
        return self.result.figures


@dataclass(frozen=True)
class Constant:
    """The best constant rating against the ratings that ``bundles`` were compared on."""

    score: int
    figures: Figures
    bundles: tuple[str, ...]


@dataclass(frozen=True)
class BetweenReferences:
    """How far two references agree with each other: what a judge can be expected to reach."""

    ids: tuple[str, str]
    kinds: tuple[str | None, str | None]
    figures: Figures


@dataclass(frozen=True)
class Group:
    """Judges that can be compared, best skill first. One with an obstacle stands alone."""

    basis: Basis
    entries: tuple[Entry, ...]
    constants: tuple[Constant, ...]
    references: tuple[BetweenReferences, ...]

    @property
    def obstacle(self) -> Obstacle | None:
        """Why the one judge in it is compared with nothing."""
        return self.entries[0].obstacle

    @property
    def suite(self) -> Suite:
        """The suite of the bundles in it."""
        return self.entries[0].judged.suite


@dataclass(frozen=True)
class Differing:
    """Something in which two groups differ: what the first says, and what the second."""

    what: What
    first: Any
    second: Any


@dataclass(frozen=True)
class Difference:
    """Why two groups, by their places from 0, are not compared."""

    groups: tuple[int, int]
    what: tuple[Differing, ...]


@dataclass(frozen=True)
class Cell:
    """Two judges: mean |Δ| and weighted κ of their scores, and the share of equal flags."""

    mae: Statistic
    qwk: Statistic
    flags: Rate


@dataclass(frozen=True)
class Matrix:
    """Every two judges of the same answers; ``cells`` are by their places, the lower first."""

    judged: tuple[Judged, ...]
    cells: Mapping[tuple[int, int], Cell]

    def cell(self, one: int, two: int) -> Cell | None:
        """Return what holds between two judges; None for a judge and itself."""
        return self.cells.get((min(one, two), max(one, two)))


@dataclass(frozen=True)
class Comparison:
    """All judges: in groups against references, why groups stay apart, and against each other."""

    groups: tuple[Group, ...]
    differences: tuple[Difference, ...]
    matrices: tuple[Matrix, ...]
    without_quality: tuple[Judged, ...]


def compare_judges(judged: Sequence[Judged]) -> Comparison:
    """Compare the judges of bundles; each bundle's id stands for its judge."""
    known = [one for one in judged if one.is_judged]
    entries = [_entry(one, one.result) for one in known if one.result is not None]
    groups = _groups(entries)
    return Comparison(
        groups=groups,
        differences=tuple(_differences(groups)),
        matrices=tuple(_matrices(known)),
        without_quality=tuple(one for one in known if one.result is None),
    )


# --- groups --------------------------------------------------------------------------------


def _entry(judged: Judged, result: Result) -> Entry:
    basis, obstacle = result.basis, _binding(judged, result)
    if obstacle is None:
        # The bundle's hash covers both: a result that is about the bundle is about these.
        basis = replace(
            basis,
            suite=basis.suite or judged.suite_sha256,
            answers=basis.answers or judged.answers_sha256,
        )
        obstacle = None if basis.is_known else "unsaid"
    return Entry(judged, result, basis, obstacle)


def _binding(judged: Judged, result: Result) -> Obstacle | None:
    """Return what keeps a result from being about the bundle as it is now."""
    if not result.is_bound:
        return "unbound"
    if result.is_stale:
        return "changed"
    fingerprints = {result.judge, judged.fingerprint} - {None}
    return "other_judge" if len(fingerprints) > 1 else None


def _groups(entries: Sequence[Entry]) -> tuple[Group, ...]:
    by_key: dict[tuple[object, ...], list[Entry]] = {}
    for entry in entries:
        alone = (entry.judged.bundle,) if entry.obstacle else ()
        by_key.setdefault((*entry.basis.key, *alone), []).append(entry)
    groups = [_group(members) for members in by_key.values()]
    return tuple(sorted(groups, key=_place))


def _place(group: Group) -> tuple[bool, str, int, str]:
    """Return where a group stands: by suite and size, which ranks nobody."""
    first = min(entry.judged.bundle for entry in group.entries)
    return group.obstacle is not None, group.suite.id, -len(group.entries), first


def _group(members: Sequence[Entry]) -> Group:
    entries = tuple(sorted(members, key=_rank))
    return Group(
        basis=entries[0].basis,
        entries=entries,
        constants=tuple(_constants(entries)),
        references=tuple(_between_references(entries)),
    )


def _rank(entry: Entry) -> tuple[float, float, str]:
    skill, mae = entry.figures.skill, entry.figures.mae
    return (
        math.inf if skill is None else -skill,
        math.inf if mae is None else mae,
        entry.judged.bundle,
    )


def _constants(entries: Sequence[Entry]) -> list[Constant]:
    """Return the best constant of each set of reference ratings that occurs in a group.

    Judges that scored different answers were compared with different ratings of one reference.
    """
    found: dict[tuple[int, Figures], list[str]] = {}
    for entry in entries:
        table = entry.figures.table
        made = _stored_constant(entry) if table is None else _constant(table)
        if made is not None:
            found.setdefault(made, []).append(entry.judged.bundle)
    return [Constant(score, figures, tuple(ids)) for (score, figures), ids in found.items()]


def _constant(table: Table[int]) -> tuple[int, Figures] | None:
    constant = agreement_of(table).best_constant
    if constant is None:
        return None
    given = [table.reference_totals if one == constant.score else (0,) * 5 for one in table.labels]
    figures = level_figures(agreement_of(Table(table.labels, tuple(given))))
    return constant.score, replace(figures, coverage=None)


def _stored_constant(entry: Entry) -> tuple[int, Figures] | None:
    """Return what a result without counts says of the best constant: only its score and MAE."""
    if entry.result.constant is None:
        return None
    score, mae = entry.result.constant
    return score, Figures(n=entry.figures.n, mae=mae, skill=0)


def _between_references(entries: Sequence[Entry]) -> list[BetweenReferences]:
    """Return the agreement of every two references of a group whose ratings are known."""
    known: dict[str, tuple[RatedReference, Judged]] = {}
    for entry in entries:
        if entry.obstacle is None:
            for one in entry.judged.references:
                known.setdefault(one.id.strip().casefold(), (one, entry.judged))
    return [
        BetweenReferences(
            (first.id, second.id),
            (first.kind, second.kind),
            figures_between(judged.suite, judged.pairs, first, second),
        )
        for (first, judged), (second, _) in combinations([known[key] for key in sorted(known)], 2)
    ]


# --- differences ---------------------------------------------------------------------------


def _differences(groups: Sequence[Group]) -> list[Difference]:
    return [
        Difference((one, two), tuple(_differing(groups[one], groups[two])))
        for one, two in combinations(range(len(groups)), 2)
    ]


def _differing(first: Group, second: Group) -> list[Differing]:
    found: list[Differing] = []
    if first.obstacle or second.obstacle:
        found.append(Differing("obstacle", first.obstacle, second.obstacle))
    one, two = first.basis, second.basis
    pairs: list[tuple[What, Any, Any]] = [
        ("suite", one.suite, two.suite),
        ("answers", one.answers, two.answers),
        ("rubric", one.rubric, two.rubric),
        ("references", list(one.references), list(two.references)),
        ("blind", one.blind, two.blind),
        ("mode", one.mode, two.mode),
    ]
    keys = zip(one.key, two.key, strict=True)
    return [
        *found,
        *(
            Differing(*pair)
            for pair, (key_one, key_two) in zip(pairs, keys, strict=True)
            if key_one != key_two
        ),
    ]


# --- judge × judge -------------------------------------------------------------------------


def _matrices(judged: Sequence[Judged]) -> list[Matrix]:
    """Return a matrix for every set of answers that at least two judges have looked at."""
    by_answers: dict[tuple[str, str], list[Judged]] = {}
    for one in judged:
        if one.scores or one.flags:
            by_answers.setdefault((one.suite_sha256, one.answers_sha256), []).append(one)
    matrices = []
    for members in by_answers.values():
        if len(members) > 1:
            ordered = tuple(sorted(members, key=lambda one: one.bundle))
            matrices.append(Matrix(ordered, _cells(ordered)))
    return sorted(matrices, key=lambda one: (one.judged[0].suite.id, one.judged[0].bundle))


def _cells(judged: Sequence[Judged]) -> dict[tuple[int, int], Cell]:
    return {
        (one, two): _cell(judged[one], judged[two])
        for one, two in combinations(range(len(judged)), 2)
    }


def _cell(one: Judged, two: Judged) -> Cell:
    scores = score_table(paired(one.scores, two.scores))
    flags = flag_table(paired(one.flags, two.flags))
    equal = sum(flags.counts[place][place] for place in range(len(flags.labels)))
    return Cell(mean_absolute_error(scores), quadratic_kappa(scores), rate(equal, flags.n))


# --- JSON ----------------------------------------------------------------------------------


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """Return what ``touchstone judge-meta compare --json`` prints. What is not known is None."""
    return {
        "groups": [_group_json(group) for group in comparison.groups],
        "differences": [
            {"groups": list(one.groups), "what": [vars(each) for each in one.what]}
            for one in comparison.differences
        ],
        "matrices": [_matrix_json(matrix) for matrix in comparison.matrices],
        "without_quality": [one.bundle for one in comparison.without_quality],
    }


def _group_json(group: Group) -> dict[str, Any]:
    return {
        "comparable": group.basis.as_dict(),
        "obstacle": group.obstacle,
        "judges": [
            {
                **_judge_json(entry.judged),
                "stale": entry.obstacle in ("changed", "other_judge"),
                "obstacle": entry.obstacle,
                "headline": entry.result.headline,
                **figures_json(entry.figures),
            }
            for entry in group.entries
        ],
        "best_constants": [
            {"score": one.score, "bundles": list(one.bundles), **figures_json(one.figures)}
            for one in group.constants
        ],
        "between_references": [
            {"ids": list(one.ids), "kinds": list(one.kinds), **figures_json(one.figures)}
            for one in group.references
        ],
    }


def _judge_json(judged: Judged) -> dict[str, Any]:
    return {
        "bundle": judged.bundle,
        "judge": judged.fingerprint,
        "judge_id": judged.judge,
        "kind": judged.kind,
    }


def figures_json(figures: Figures) -> dict[str, Any]:
    """Return figures under the names they have in judge_quality.json."""
    return {
        "n": figures.n,
        "models": figures.models,
        "coverage": _tidy(figures.coverage),
        "exact": _tidy(figures.exact),
        "within_1": _tidy(figures.within_1),
        "mean_abs_delta": _tidy(figures.mae),
        "mae_ci": _bounds(figures.mae_ci),
        "skill": _tidy(figures.skill),
        "bias": _tidy(figures.bias),
        "qwk": _tidy(figures.qwk),
        "qwk_ci": _bounds(figures.qwk_ci),
        "ranking": {"concordant": figures.concordant, "pairs": figures.ranked_pairs},
        "knock_out": {
            "agree": figures.ko_agree,
            "n": figures.ko_n,
            "missed": figures.ko_missed,
            "false": figures.ko_false,
        },
        "quality_pct_delta": _tidy(figures.quality_delta),
        "evidence": {
            "found": figures.found,
            "quotes": figures.quotes,
            "fidelity": _tidy(figures.fidelity),
            "fidelity_ci": _bounds(figures.fidelity_ci),
        },
        "repeat": _tidy(figures.repeat),
    }


def _matrix_json(matrix: Matrix) -> dict[str, Any]:
    return {
        "suite": matrix.judged[0].suite_sha256,
        "answers": matrix.judged[0].answers_sha256,
        "judges": [_judge_json(one) for one in matrix.judged],
        "n": _grid(matrix, lambda cell: cell.mae.n),
        "mean_abs_delta": _grid(matrix, lambda cell: _tidy(cell.mae.value)),
        "qwk": _grid(matrix, lambda cell: _tidy(cell.qwk.value)),
        "qwk_reason": _grid(matrix, lambda cell: cell.qwk.reason),
        "flags_n": _grid(matrix, lambda cell: cell.flags.n),
        "flags_equal": _grid(matrix, lambda cell: _tidy(cell.flags.value)),
    }


def _grid(matrix: Matrix, value: Callable[[Cell], Any]) -> list[list[Any]]:
    """Return a value of every two judges in rows and columns; None on the diagonal."""
    places = range(len(matrix.judged))
    return [
        [None if (cell := matrix.cell(row, column)) is None else value(cell) for column in places]
        for row in places
    ]


def _tidy(value: float | None) -> float | int | None:
    return None if value is None else tidy(value)


def _bounds(bounds: tuple[float, float] | None) -> list[float | int] | None:
    return None if bounds is None else [tidy(bound) for bound in bounds]
