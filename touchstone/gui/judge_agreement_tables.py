"""A judge's agreement as tables and charts: each value with its n, and an interval or reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from touchstone.gui.bundle_view import BundleView
from touchstone.gui.judge_charts import Mark, delta_strip, dumbbell
from touchstone.gui.judge_figures import Agreement, JudgeFigures, Rating
from touchstone.gui.judge_wording import (
    decimal,
    range_text,
    share,
    signed,
    why,
)
from touchstone.gui.links import Pair
from touchstone.gui.safe_html import SafeHtml
from touchstone.gui.wording import Wording
from touchstone.models import Dimension, ModelEntry

Href = Callable[[str], str]
"""Makes an address relative to the page it stands on."""


@dataclass(frozen=True)
class Figure:
    """A statistic as it is shown: value, how many it rests on, and an interval or a reason."""

    name: str
    value: str
    n: str = ""
    remark: str = ""


def count_text(value: int | None, words: Wording) -> str:
    """Return a count, or "–" where there is none."""
    return "–" if value is None else words.locale.number(value)


# --- agreement in figures ------------------------------------------------------------------


def statistics(of: JudgeFigures, words: Wording) -> list[Figure]:
    """Return every statistic of level, of agreement beyond chance, of ranking and of Quality %."""
    n, models = count_text(of.n, words), count_text(of.models, words)
    why_none = "" if of.n else why("no_pairs", words)
    beyond = (
        (words.say("Skill against the best constant"), of.skill, of.skill_reason),
        (words.say("Spread, judge / reference"), of.spread_ratio, "reference_constant"),
        (words.say("Krippendorff’s α (ordinal)"), of.alpha, "one_value"),
    )
    skill, spread, alpha = (
        Figure(name, decimal(value, words), n, "" if value is not None else why_none or reason)
        for name, value, reason in ((name, value, why(key, words)) for name, value, key in beyond)
    )
    return [
        *_levels(of, n, why_none, words),
        skill,
        Figure(words.say("Bias (judge − reference)"), signed(of.bias, words), n, why_none),
        spread,
        _kappa(of, n, words),
        alpha,
        *_of_models(of, models, words),
    ]


def _levels(of: Agreement, n: str, why_none: str, words: Wording) -> Iterable[Figure]:
    """Yield how many scores are alike and how far apart they are."""
    yield Figure(words.say("Ratings that both sides gave"), n, remark=_coverage(of, words))
    for name, value in (
        (words.say("Same score"), of.exact),
        (words.say("At most one apart"), of.within_1),
    ):
        yield Figure(name, share(value, words), n, _part(value, of, words) or why_none)
    remark = range_text(of.mae_ci, of.models, words) or why_none
    yield Figure(words.say("mean |Δ|"), decimal(of.mae, words), n, remark)
    constant = of.best_constant
    always = constant and constant.score and words.say("always %(score)s", score=constant.score)
    yield Figure(
        words.say("mean |Δ| of the best constant"),
        decimal(constant.mae if constant else None, words),
        n,
        always or why_none,
    )


def _part(value: float | None, of: Agreement, words: Wording) -> str:
    if value is None or not of.n:
        return ""
    count = words.locale.number(round(value * of.n))
    return words.say("%(count)s of %(n)s", count=count, n=words.locale.number(of.n))


def _coverage(of: Agreement, words: Wording) -> str:
    if of.coverage is None:
        return ""
    return words.say("%(pct)s of all", pct=share(of.coverage, words))


def _kappa(of: Agreement, n: str, words: Wording) -> Figure:
    remark = range_text(of.qwk_ci, of.models, words, of.qwk_ci_kind)
    if of.qwk is None:
        remark = why(of.qwk_reason, words)
    elif not remark:
        remark = why("too_few_pairs", words)
    return Figure(words.say("Weighted κ (quadratic)"), decimal(of.qwk, words), n, remark)


def _of_models(of: Agreement, models: str, words: Wording) -> Iterable[Figure]:
    """Yield what is about whole models: their order and their Quality %."""
    order = of.ranking
    counts = (order.concordant, order.discordant, order.tied) if order else (None, None, None)
    alike, opposite, tied = counts
    if alike is None or opposite is None or tied is None or not alike + opposite + tied:
        value, remark = "–", why("too_few_models", words)
    else:
        value = f"{words.locale.number(alike)} / {words.locale.number(alike + opposite + tied)}"
        remark = words.say(
            "%(opposite)s in the opposite order, %(tied)s tied",
            opposite=words.locale.number(opposite),
            tied=words.locale.number(tied),
        )
    yield Figure(words.say("Pairs of models in the same order"), value, models, remark)
    tau = order.tau_b if order else None
    missing = "" if tau is not None else why("too_few_models", words)
    yield Figure(words.say("Rank correlation τ_b"), decimal(tau, words), models, missing)
    for name, delta in (
        (words.say("Quality Δ in percentage points, missing = 0"), of.quality_pct_delta),
        (
            words.say("Quality Δ in percentage points, on what both scored"),
            of.quality_pct_delta_common,
        ),
    ):
        missing = "" if delta is not None else why("no_pairs", words)
        yield Figure(name, signed(delta, words, 1), models, missing)


# --- by dimension --------------------------------------------------------------------------


@dataclass(frozen=True)
class DimensionRow:
    """One dimension: both means as a chart and in figures; ``reason`` says why there are none."""

    dimension: Dimension
    url: str
    plot: SafeHtml | None
    judge: str
    reference: str
    delta: str
    n: str
    level: str
    reason: str


def dimension_rows(view: BundleView, of: Agreement, words: Wording) -> list[DimensionRow]:
    """Return the dimensions in the suite's order."""
    rows = []
    for dimension in view.suite.dimensions:
        one = of.per_dimension.get(dimension.id)
        judge, reference = (one.judge, one.reference) if one else (None, None)
        plot = None
        if judge is not None and reference is not None:
            title = words.say(
                "%(name)s: judge %(judge)s, reference %(reference)s",
                name=words.dimension(dimension, view.suite),
                judge=decimal(judge, words),
                reference=decimal(reference, words),
            )
            plot = dumbbell(judge, reference, title)
        rows.append(
            DimensionRow(
                dimension=dimension,
                url=view.links.dimension(dimension.id),
                plot=plot,
                judge=decimal(judge, words),
                reference=decimal(reference, words),
                delta=signed(one.delta if one else None, words),
                n=count_text(one.n if one else None, words),
                level=decimal(one.evidence_level if one else None, words, 1),
                reason="" if plot else why("no_pairs" if one and one.n == 0 else None, words),
            )
        )
    return rows


# --- rating by rating ----------------------------------------------------------------------


@dataclass(frozen=True)
class RatingCell:
    """One rating of both sides, as a cell; ``words`` say what the figures are."""

    url: str
    is_alike: bool
    delta: str
    judge: str
    reference: str
    words: str


@dataclass(frozen=True)
class RatingTable:
    """All ratings: how far apart as a strip, and every one as a row of its model."""

    strip: SafeHtml | None
    rows: tuple[tuple[ModelEntry, str, tuple[RatingCell | None, ...]], ...]
    n: int


def known_ratings(view: BundleView, of: JudgeFigures) -> dict[tuple[Pair, str], Rating]:
    """Return the ratings of models and dimensions that the bundle has, each once."""
    dimensions = {dimension.id for dimension in view.suite.dimensions}
    found: dict[tuple[Pair, str], Rating] = {}
    for one in of.ratings:
        if one.pair in view.row_of and one.dimension in dimensions:
            found.setdefault((one.pair, one.dimension), one)
    return found


def rating_table(
    view: BundleView, of: JudgeFigures, href: Href, words: Wording
) -> RatingTable | None:
    """Return all single ratings, or None where there are none."""
    known = known_ratings(view, of)
    rows = []
    marks = []
    for entry in view.entries:
        cells: list[RatingCell | None] = []
        for dimension in view.suite.dimensions:
            one = known.get((entry.pair, dimension.id))
            cells.append(_rating_cell(view, one, words) if one else None)
            if one is not None and one.delta is not None:
                title = f"{words.model(entry)} · {words.dimension(dimension, view.suite)}"
                url = view.links.model_dimension(one.pair, one.dimension)
                marks.append(Mark(one.delta, href(url), f"{title}: {_rating_words(one, words)}"))
        if any(cells):
            rows.append((entry, view.links.model(entry.pair), tuple(cells)))
    if not rows:
        return None
    label = words.say("Single ratings by how far the judge is from the reference")
    return RatingTable(delta_strip(marks, label) if marks else None, tuple(rows), len(marks))


def _rating_words(one: Rating, words: Wording) -> str:
    return words.say(
        "judge %(judge)s, reference %(reference)s",
        judge=one.judge or "–",
        reference=one.reference or "–",
    )


def _rating_cell(view: BundleView, one: Rating, words: Wording) -> RatingCell:
    return RatingCell(
        view.links.model_dimension(one.pair, one.dimension),
        one.delta == 0,
        "0" if one.delta == 0 else signed(one.delta, words, 0),
        str(one.judge or "–"),
        str(one.reference or "–"),
        _rating_words(one, words),
    )


# --- score by score ------------------------------------------------------------------------


@dataclass(frozen=True)
class GridCell:
    """A count, its share of the largest in percent, and whether both sides say the same."""

    count: int
    shade: int
    is_alike: bool


@dataclass(frozen=True)
class Grid:
    """Counts of pairs of values; ``more`` and ``less``: the judge's is the higher, the lower."""

    rows: tuple[tuple[int, tuple[GridCell, ...]], ...]
    more: int
    alike: int
    less: int

    @property
    def n(self) -> int:
        """How many pairs there are."""
        return self.more + self.alike + self.less


def score_grid(of: JudgeFigures, known: Mapping[tuple[Pair, str], Rating]) -> Grid | None:
    """Return the count grid, the highest score first; counted from single ratings if need be."""
    counts = [list(row) for row in of.counts or ()]
    if not counts:
        counts = [[0] * 5 for _ in range(5)]
        for one in known.values():
            if one.judge is not None and one.reference is not None:
                counts[one.judge - 1][one.reference - 1] += 1
    return grid_of(counts, downwards=True)


def grid_of(counts: Sequence[Sequence[int]], *, downwards: bool = False) -> Grid | None:
    """Return a square of counts as a grid, or None where all are 0."""
    size = range(len(counts))
    largest = max(map(max, counts))
    if not largest:
        return None
    rows = [
        (
            i,
            tuple(
                GridCell(counts[i][k], round(100 * counts[i][k] / largest), i == k) for k in size
            ),
        )
        for i in size
    ]
    return Grid(
        tuple(reversed(rows) if downwards else rows),
        more=sum(counts[i][k] for i in size for k in size if i > k),
        alike=sum(counts[i][i] for i in size),
        less=sum(counts[i][k] for i in size for k in size if i < k),
    )
