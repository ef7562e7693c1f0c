"""The data of the page on all judges: tables where comparing is fair, and judge by judge."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from touchstone.gui.bundle_view import BundleView
from touchstone.gui.judge_meta.compare import (
    Cell,
    Comparison,
    Difference,
    Differing,
    Entry,
    Group,
    Judged,
    Matrix,
    Obstacle,
    compare_judges,
)
from touchstone.gui.judge_meta.results import Basis, Figures
from touchstone.gui.judged_bundles import judged_bundle
from touchstone.gui.links import INDEX
from touchstone.gui.loading import Site
from touchstone.gui.locale import one_line
from touchstone.gui.wording import Crumb, Meta, Wording
from touchstone.intervals import Bounds
from touchstone.models import Suite

NONE = "–"
LONGEST_NAME = 48
MOST_JUDGES = 24
"""Judges in one heat map; a page with more would be slow to read, whoever reads it."""
MOST_DIFFERENCES = 40
STEPS = (0.25, 0.5, 1.0, 1.5)
"""Mean |Δ| at which a cell of the heat map takes the next colour."""


@dataclass(frozen=True)
class Value:
    """A figure as it is shown: the text, and the interval or share beneath it."""

    text: str
    under: str = ""


@dataclass(frozen=True)
class Who:
    """A judge as it is named: where its name and its bundle lead, and what else is known."""

    name: str
    url: str
    bundle: str
    bundle_url: str
    kind: str
    fingerprint: str | None
    anchor: str


@dataclass(frozen=True)
class JudgeRow:
    """A judge of the cross-judge table; ``reason`` says why it is compared with nothing."""

    who: Who
    values: list[Value]
    headline: str
    reason: str = ""
    is_stale: bool = False


@dataclass(frozen=True)
class OtherRow:
    """A row that is no judge's: the best constant, or two references with each other."""

    name: str
    remark: str
    values: list[Value]


@dataclass(frozen=True)
class Fact:
    """Something that all judges of a table have in common."""

    name: str
    value: str
    is_hash: bool = False


@dataclass(frozen=True)
class TableView:
    """One group of judges that can be compared."""

    number: int
    anchor: str
    title: str
    facts: list[Fact]
    judges: list[JudgeRow]
    others: list[OtherRow]


@dataclass(frozen=True)
class CellView:
    """Two judges in the heat map: ``level`` from 0 (close) to 4, None where there is nothing."""

    title: str
    level: int | None
    mae: str
    qwk: str
    n: str
    flags: Value


@dataclass(frozen=True)
class MatrixView:
    """Every two judges of the same answers; None stands for a judge and itself."""

    anchor: str
    title: str
    answers: str
    judges: list[Who]
    rows: list[tuple[Who, list[CellView | None]]]
    notes: list[str]


def judges_page_data(site: Site, words: Wording) -> dict[str, Any]:
    """Return what the template of the page on all judges needs."""
    views = {view.bundle.id: view for view in site.views}
    judged = [judged_bundle(view.bundle, view.judge_quality) for view in site.views]
    comparison = compare_judges(judged)
    made = _Maker(views, words)
    known = [one for one in judged if one.is_judged]
    title = words.say("Judges")
    return {
        "meta": Meta(title, words.shorten(_lede(words))),
        "crumbs": [Crumb(words.say("Evaluations"), INDEX), Crumb(title)],
        "headline": _title(len(known), words),
        "lede": _lede(words),
        "columns": _columns(words),
        "tables": [
            made.table(number, group) for number, group in enumerate(_fair(comparison), start=1)
        ],
        "held_back": [made.judge(one) for one in _held_back(comparison)],
        "differences": _differences(comparison, words),
        "steps": _steps(words),
        "matrices": [made.matrix(matrix) for matrix in comparison.matrices],
        "without": [made.who(one) for one in comparison.without_quality],
        "judges": len(known),
        "example": (comparison.without_quality or known or (None,))[0],
    }


def _title(count: int, words: Wording) -> str:
    if not count:
        return words.say("No judge to compare yet")
    return words.count(
        "%(num)s judge, and none to compare it with yet",
        "%(num)s judges, compared where that is fair",
        count,
    )


def _lede(words: Wording) -> str:
    return words.say(
        "A judge is held against references, people or other AIs who rated the same answers, and "
        "judges share a table only if they were held against the same ones in the same way. "
        "Judges of the same answers are also compared with each other, which needs no reference."
    )


def _fair(comparison: Comparison) -> list[Group]:
    return [group for group in comparison.groups if group.obstacle is None]


def _held_back(comparison: Comparison) -> Iterator[Entry]:
    for group in comparison.groups:
        if group.obstacle is not None:
            yield from group.entries


def _columns(words: Wording) -> list[tuple[str, str]]:
    """Return the figures' columns: what stands in the head, and what that means."""
    return [
        ("n", words.say("scores given by both sides")),
        (words.say("coverage"), words.say("share of the scores there could be")),
        (words.say("same score"), words.say("share of equal scores")),
        ("±1", words.say("share of scores at most one apart")),
        (words.say("mean |Δ|"), words.say("how far apart the scores are on average")),
        (
            words.say("skill"),
            words.say("1: perfect, 0: no closer than one and the same score throughout"),
        ),
        (words.say("bias"), words.say("above 0 the judge gives more than the reference")),
        ("QWK", words.say("Cohen’s κ with quadratic weights: agreement beyond chance")),
        (words.say("pairs in order"), words.say("pairs of models that both put in the same order")),
        (words.say("K.-o. alike"), words.say("models that are out, or stay, for both sides")),
        (words.say("missed"), words.say("knocked out by the reference alone")),
        (words.say("false"), words.say("knocked out by the judge alone")),
        (
            words.say("Quality Δ"),
            words.say("the models’ quality in percentage points, judge minus reference"),
        ),
        (words.say("evidence"), words.say("share of quotes that stand in the answers")),
        (words.say("repeat"), words.say("share of equal ratings when asked again")),
    ]


def _steps(words: Wording) -> list[str]:
    """Return what the colours of the heat map stand for, from close to far apart."""
    shown = [words.locale.number(step) for step in STEPS]
    return [*(f"< {step}" for step in shown), f"≥ {shown[-1]}"]


# --- differences ---------------------------------------------------------------------------


def _differences(comparison: Comparison, words: Wording) -> list[str]:
    """Return what keeps tables of one suite apart, table by table."""
    groups, lines = comparison.groups, []
    for one in comparison.differences:
        fair = all(groups[place].obstacle is None for place in one.groups)
        if fair and _is_of_one_suite(one):
            first, second = (place + 1 for place in one.groups)
            what = [_differing(each, words) for each in one.what]
            lines.append(
                words.say(
                    "Table %(second)s differs from table %(first)s: %(what)s.",
                    first=first,
                    second=second,
                    what="; ".join(what),
                )
            )
    more = len(lines) - MOST_DIFFERENCES
    if more > 0:
        lines[MOST_DIFFERENCES:] = [words.count("and %(num)s more", "and %(num)s more", more)]
    if len({group.basis.suite for group in _fair(comparison)}) > 1:
        lines.append(words.say("Tables of different suites have nothing in common to compare."))
    return lines


def _is_of_one_suite(difference: Difference) -> bool:
    return all(one.what != "suite" for one in difference.what)


def _differing(of: Differing, words: Wording) -> str:
    """Return one difference in words: what the second table has instead of the first."""
    if of.what == "answers":
        return words.say("other answers")
    message, shown = {
        "references": (words.say("other references"), _names),
        "mode": (words.say("another judging mode"), lambda one: _mode(one, words)),
        "blind": ("", lambda one: _blindness(one, words)),
        "rubric": (words.say("another rubric"), lambda one: _short(one or NONE)),
    }[of.what]
    both = {"first": shown(of.first), "second": shown(of.second)}
    if not message:
        return words.say("%(second)s instead of %(first)s", **both)
    return words.say("%(what)s, “%(second)s” instead of “%(first)s”", what=message, **both)


def _names(ids: Sequence[str]) -> str:
    return ", ".join(map(_short, ids))


def _mode(mode: str | None, words: Wording) -> str:
    return words.mode(mode) or _short(mode or words.say("no mode named"))


def _blindness(blind: bool | None, words: Wording) -> str:
    return words.say("blind") if blind else words.say("not blind")


def _obstacle(obstacle: Obstacle, words: Wording) -> str:
    return {
        "changed": words.say("The bundle has changed since the judge was compared."),
        "other_judge": words.say("The result is about another judge than the bundle’s."),
        "unbound": words.say("The result does not say which bundle it is about."),
        "unsaid": words.say(
            "The result does not say what it was compared on, with whom, or whether blind."
        ),
    }[obstacle]


def _short(text: str) -> str:
    """Return a name on one line, cut where it is absurdly long."""
    line = one_line(text)
    return line if len(line) <= LONGEST_NAME else f"{line[: LONGEST_NAME - 1]}…"


# --- rows ----------------------------------------------------------------------------------


class _Maker:
    """Makes tables and matrices of one site in its language."""

    def __init__(self, views: dict[str, BundleView], words: Wording) -> None:
        self._views = views
        self._words = words

    def table(self, number: int, group: Group) -> TableView:
        """Return a group as a table."""
        words = self._words
        references = _names(group.basis.references)
        return TableView(
            number=number,
            anchor=f"table-{_digest(group.basis)}",
            title=words.say(
                "%(number)s. %(suite)s, against %(references)s",
                number=number,
                suite=self._suite(group.suite),
                references=references,
            ),
            facts=self._facts(group),
            judges=[self.judge(entry) for entry in group.entries],
            others=[*self._constants(group), *self._between(group)],
        )

    def judge(self, entry: Entry) -> JudgeRow:
        """Return the row of a judge."""
        words, obstacle = self._words, entry.obstacle
        return JudgeRow(
            who=self.who(entry.judged),
            values=self._values(entry.figures),
            headline=one_line(entry.result.headline or ""),
            reason=_obstacle(obstacle, words) if obstacle else "",
            is_stale=obstacle in ("changed", "other_judge"),
        )

    def who(self, judged: Judged) -> Who:
        """Return who a judge is, and where its quality or at least its scores stand."""
        links, words = self._views[judged.bundle].links, self._words
        has_page = judged.result is not None
        return Who(
            name=_short(judged.judge),
            url=links.judge_quality if has_page else links.scorecard,
            bundle=_short(judged.bundle),
            bundle_url=links.scorecard,
            kind=words.kind(judged.kind) if judged.kind else words.say("AI or human not said"),
            fingerprint=judged.fingerprint,
            anchor=links.judge_row.partition("#")[2],
        )

    def _facts(self, group: Group) -> list[Fact]:
        words, basis = self._words, group.basis
        return [
            Fact(words.say("Suite"), _short(group.suite.id)),
            Fact(words.say("Answers"), (basis.answers or NONE)[:8], is_hash=True),
            Fact(words.say("References"), _names(basis.references)),
            Fact(words.say("Rated"), _blindness(basis.blind, words)),
            Fact(words.say("Judging mode"), _mode(basis.mode, words)),
            Fact(words.say("Rubric"), _short(basis.rubric or NONE)),
        ]

    def _constants(self, group: Group) -> Iterator[OtherRow]:
        words = self._words
        for one in group.constants:
            name = words.say("Best constant: always %(score)s", score=one.score)
            of = _names(one.bundles) if len(group.constants) > 1 else ""
            remark = words.say("on what was scored in %(bundles)s", bundles=of) if of else ""
            yield OtherRow(name, remark, self._values(one.figures))

    def _between(self, group: Group) -> Iterator[OtherRow]:
        words = self._words
        for one in group.references:
            first, second = map(_short, one.ids)
            kinds = [words.kind(kind) if kind else NONE for kind in one.kinds]
            name = words.say("%(first)s and %(second)s", first=first, second=second)
            remark = words.say("reference by reference: %(kinds)s", kinds=" – ".join(kinds))
            yield OtherRow(name, remark, self._values(one.figures))

    def matrix(self, matrix: Matrix) -> MatrixView:
        """Return a matrix as a heat map."""
        words, judges = self._words, [self.who(one) for one in matrix.judged[:MOST_JUDGES]]
        places = range(len(judges))
        rows = []
        for row in places:
            cells = [
                None
                if (cell := matrix.cell(row, at)) is None
                else self._cell(cell, judges, row, at)
                for at in places
            ]
            rows.append((judges[row], cells))
        answers = matrix.judged[0].answers_sha256
        return MatrixView(
            anchor=f"answers-{answers[:8]}-{matrix.judged[0].suite_sha256[:8]}",
            title=words.say("Judge by judge: %(suite)s", suite=self._suite(matrix.judged[0].suite)),
            answers=answers[:8],
            judges=judges,
            rows=rows,
            notes=list(self._notes(matrix)),
        )

    def _cell(self, cell: Cell, judges: Sequence[Who], row: int, column: int) -> CellView:
        words = self._words
        both = {"first": judges[row].name, "second": judges[column].name}
        scores = words.count(
            "%(first)s and %(second)s: %(num)s score in common",
            "%(first)s and %(second)s: %(num)s scores in common",
            cell.mae.n,
            **both,
        )
        of_flags = words.count("%(num)s flag in common", "%(num)s flags in common", cell.flags.n)
        apart = cell.mae.value
        return CellView(
            title=f"{scores}, {of_flags}",
            level=None if apart is None else sum(apart >= step for step in STEPS),
            mae=self._decimal(apart),
            qwk=self._decimal(cell.qwk.value),
            n=words.locale.number(cell.mae.n),
            flags=Value(self._share(cell.flags.value), words.locale.number(cell.flags.n)),
        )

    def _notes(self, matrix: Matrix) -> Iterator[str]:
        words, all_judges = self._words, len(matrix.judged)
        if all_judges > MOST_JUDGES:
            yield words.say(
                "These are the first %(n)s of %(all)s judges; touchstone judge-meta compare has "
                "them all.",
                n=MOST_JUDGES,
                all=all_judges,
            )
        reasons = {cell.qwk.reason for cell in matrix.cells.values()}
        if "both_constant" in reasons:
            yield words.say(
                "κ is undefined where both judges gave one and the same score throughout: "
                "agreement can then not be told from chance."
            )
        if "no_pairs" in reasons:
            yield words.say("–: the two judges scored nothing in common.")

    def _suite(self, suite: Suite) -> str:
        return _short(self._words.show(suite.title, suite)) or _short(suite.id)

    # --- figures as texts ------------------------------------------------------------------

    def _values(self, of: Figures) -> list[Value]:
        """Return a row's figures in the order of ``_columns``."""
        number = self._words.locale.number
        counts = [NONE if one is None else number(one) for one in (of.n, of.ko_missed, of.ko_false)]
        n, missed, false = map(Value, counts)
        return [
            n,
            Value(self._share(of.coverage)),
            Value(self._share(of.exact)),
            Value(self._share(of.within_1)),
            Value(self._decimal(of.mae), self._interval(of.mae_ci)),
            Value(self._decimal(of.skill)),
            Value(self._signed(of.bias, 2)),
            Value(self._decimal(of.qwk), self._interval(of.qwk_ci)),
            Value(self._part(of.concordant, of.ranked_pairs)),
            Value(self._part(of.ko_agree, of.ko_n)),
            missed,
            false,
            Value(self._signed(of.quality_delta, 1)),
            Value(self._share(of.fidelity), self._part(of.found, of.quotes, none="")),
            Value(self._share(of.repeat)),
        ]

    def _decimal(self, value: float | None) -> str:
        if value is None:
            return NONE
        # Adding 0.0 keeps a tiny negative number from being shown as -0.00.
        return self._words.locale.number(round(value, 2) + 0.0, 2).replace("-", "−")

    def _signed(self, value: float | None, digits: int) -> str:
        if value is None:
            return NONE
        rounded = round(value, digits) + 0.0
        sign = "+" if rounded > 0 else "−" if rounded < 0 else "±"
        return f"{sign}{self._words.locale.number(abs(rounded), digits)}"

    def _share(self, value: float | None) -> str:
        return NONE if value is None else self._words.locale.percent(100 * value, 0)

    def _interval(self, bounds: Bounds | None) -> str:
        if bounds is None:
            return ""
        low, high = map(self._decimal, bounds)
        return self._words.say("[%(low)s, %(high)s]", low=low, high=high)

    def _part(self, part: int | None, whole: int | None, none: str = NONE) -> str:
        if part is None or whole is None:
            return none
        number = self._words.locale.number
        return f"{number(part)} / {number(whole)}"


def _digest(basis: Basis) -> str:
    """Return what a table is known by, whichever judges are in it."""
    return hashlib.sha256(repr(basis.key).encode("utf-8", "backslashreplace")).hexdigest()[:8]
