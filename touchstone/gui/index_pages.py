"""The data of the site's own pages: the index over all bundles, and the method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from touchstone.gui.bundle_view import BundleView, Citation, CitationClass
from touchstone.gui.judge_wording import JudgeLine, judge_line
from touchstone.gui.loading import Site
from touchstone.gui.locale import Shown
from touchstone.gui.wording import Group, Meta, Wording
from touchstone.models import Dimension, JudgeEntry, ModelEntry
from touchstone.scorecard import MasterRow
from touchstone.slugs import slug


@dataclass(frozen=True)
class BundleSection:
    """One bundle on the index: one ranking per suite and judge."""

    view: BundleView
    title: Shown
    anchor: str
    answers_text: str
    failed: int
    judge: JudgeEntry | None
    judge_kind: str
    judge_line: JudgeLine | None
    groups: list[Group]


@dataclass(frozen=True)
class Chain:
    """One number followed to its evidence: the four steps on top of the index."""

    entry: ModelEntry
    scorecard: str
    quality: float
    points: float
    most: float
    section: str
    dimension: Dimension
    name: Shown
    score: int
    observation: str
    quote: str
    quote_url: str
    prompt_id: str
    kind: CitationClass
    language: str


def index_page_data(site: Site, words: Wording) -> dict[str, Any]:
    """Return what the index's template needs."""
    views = sorted(site.views, key=lambda view: (view.suite.id, view.bundle.id))
    models = len({row.pair for view in views for row in view.rows})
    count = words.count("%(num)s evaluation", "%(num)s evaluations", len(views))
    what = words.count("%(num)s model", "%(num)s models", models)
    return {
        "meta": Meta(
            words.say("Evaluations"),
            words.say(
                "%(count)s, %(models)s: what every number rests on.", count=count, models=what
            ),
        ),
        "bundles": [_section(view, words) for view in views],
        "broken": site.broken,
        "chain": _chain(views, words),
    }


def _section(view: BundleView, words: Wording) -> BundleSection:
    judge = view.bundle.manifest.judge
    answers = view.bundle.answers
    return BundleSection(
        view=view,
        title=words.bundle_title(view),
        anchor=slug(view.bundle.id),
        answers_text=words.say(
            "%(answers)s to %(prompts)s",
            answers=words.count("%(num)s answer", "%(num)s answers", len(answers)),
            prompts=words.count("%(num)s prompt", "%(num)s prompts", len(view.suite.prompts)),
        ),
        failed=sum(answer.error is not None for answer in answers),
        judge=judge,
        judge_kind=words.kind(judge.kind) if judge else "",
        judge_line=judge_line(view, words),
        groups=words.groups(view.lines),
    )


def _chain(views: Sequence[BundleView], words: Wording) -> Chain | None:
    """Return the best-placed model's first verified quote, or None where there is none."""
    rows = [(view, row) for view in views for row in view.rows if row.report is not None]
    rows.sort(key=lambda one: (one[1].rank is None, -one[1].total.quality_pct))
    for view, row in rows:
        for dimension in sorted(view.suite.dimensions, key=lambda d: -d.weight):
            score = row.dim_scores[dimension.id]
            for citation in view.evidence(row.pair, dimension.id):
                if score is not None and _is_telling(citation):
                    return _chain_of(view, row, dimension, score, citation, words)
    return None


def _is_telling(citation: Citation) -> bool:
    item = citation.item
    return (
        citation.is_found
        and item is not None
        and 20 <= len(item.quote) <= 140
        and 0 < len(item.observation) <= 160
    )


def _chain_of(
    view: BundleView,
    row: MasterRow,
    dimension: Dimension,
    score: int,
    citation: Citation,
    words: Wording,
) -> Chain:
    item = citation.item
    assert item is not None
    return Chain(
        entry=row.entry,
        scorecard=view.links.scorecard,
        quality=row.total.quality_pct,
        points=row.total.weighted,
        most=row.total.max_weighted,
        section=view.links.model_dimension(row.pair, dimension.id),
        dimension=dimension,
        name=words.show(dimension.name, view.suite),
        score=score,
        observation=item.observation,
        quote=item.quote,
        quote_url=view.citation_url(citation) or view.links.answer(row.pair, item.prompt_id),
        prompt_id=item.prompt_id,
        kind=citation.kind,
        language=view.suite.language,
    )


@dataclass(frozen=True)
class Example:
    """A weighted total worked out with a bundle's own numbers."""

    view: BundleView
    row: MasterRow
    terms: tuple[tuple[str, int | None, float], ...]


def method_page_data(site: Site, decisions: Mapping[str, str], words: Wording) -> dict[str, Any]:
    """Return what the method's template needs: the text, with the site's own numbers filled in.

    ``decisions`` maps the number of a decision ("0007") to its page.
    """
    views = sorted(site.views, key=lambda view: view.bundle.id)
    toc = (
        ("answers", words.say("Answers")),
        ("scores", words.say("Scores")),
        ("total", words.say("The total")),
        ("gate", words.say("The K.-o. gate")),
        ("citations", words.say("Citations")),
        ("hashes", words.say("Hashes")),
        ("limits", words.say("Limits")),
    )
    return {
        "meta": Meta(
            words.say("How the numbers come about"),
            words.say("From an answer to a verdict, a score, a total and the K.-o. gate."),
            toc,
        ),
        "example": _example(views),
        "decision": decisions.get("0007"),
    }


def _example(views: Sequence[BundleView]) -> Example | None:
    """Return the best-placed model of the first bundle that has a ranked one, else any judged."""
    judged = [(view, row) for view in views for row in view.rows if row.report is not None]
    if not judged:
        return None
    view, row = min(judged, key=lambda one: (one[1].rank is None, one[1].rank or 0))
    terms = tuple((d.id, row.dim_scores[d.id], d.weight) for d in view.suite.dimensions)
    return Example(view, row, terms)
