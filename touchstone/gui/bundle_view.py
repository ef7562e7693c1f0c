"""What the pages of one bundle share: rows, flags, citations and their way back, links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from touchstone.bundle import Bundle
from touchstone.bundle_check import check_open_bundle
from touchstone.errors import Problem
from touchstone.evidence import Mention, find_mentions, locate_quote
from touchstone.gui.judge_quality import JudgeQualityFiles, judge_quality_of
from touchstone.gui.links import BundleLinks, Pair
from touchstone.models import Answer, Dimension, Evidence, ModelEntry, ModelReport, Prompt, Suite
from touchstone.scorecard import EffectiveFlag, MasterRow, effective_flags, master_rows

AnswerKey = tuple[str, str, str]
CitationClass = Literal[
    "verbatim", "normalised", "unverifiable", "paraphrase", "absence", "dangling", "mention"
]
FOUND = ("verbatim", "normalised")


@dataclass(frozen=True)
class Citation:
    """An answer cited for a dimension of a model's report.

    ``number`` counts the evidence of a dimension from 1 (0: only named in the rationale);
    ``start`` and ``end`` are code points of the answer's text where a quote was found.
    """

    pair: Pair
    dimension: str
    number: int
    prompt_id: str
    kind: CitationClass
    item: Evidence | None = None
    start: int | None = None
    end: int | None = None

    @property
    def is_found(self) -> bool:
        """True if the quoted words stand in the answer."""
        return self.kind in FOUND

    @property
    def is_bad(self) -> bool:
        """True if the citation does not hold."""
        return self.kind in ("unverifiable", "dangling")


@dataclass(frozen=True)
class Column:
    """A dimension on the scorecard; ``width`` in rem, ``weight_class`` names the column's style."""

    dimension: Dimension
    width: float
    weight_class: int


@dataclass(frozen=True)
class Cell:
    """A score on the scorecard: where it leads, and how good its evidence is."""

    column: Column
    score: int | None
    url: str
    found: int
    bad: int

    @property
    def dimension(self) -> Dimension:
        """The dimension that was scored."""
        return self.column.dimension


@dataclass(frozen=True)
class Line:
    """A model on the scorecard, with its pages and what knocked it out."""

    row: MasterRow
    url: str
    ko_url: str | None
    ko_by: tuple[str, ...]
    cells: tuple[Cell, ...]

    @property
    def entry(self) -> ModelEntry:
        """The (model, variant) of this line."""
        return self.row.entry


class BundleView:
    """One bundle as its pages need it; everything is derived once and kept.

    An answer that can't be read or stands there twice is a problem that the pages name. With a
    verdict, report or decision missing the gate could say "passed" without having seen it all:
    such a bundle raises BundleError.
    """

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.suite: Suite = bundle.suite
        self.links = BundleLinks.of(bundle)
        bundle.verdicts.require_clean()
        bundle.reports.require_clean()
        self.reviews = bundle.reviews()
        self.models: Sequence[ModelEntry] = _without_twins(bundle.manifest.models)
        self.rows: list[MasterRow] = master_rows(
            self.suite, self.models, bundle.reports, bundle.verdicts, self.reviews
        )
        self.row_of: dict[Pair, MasterRow] = {row.pair: row for row in self.rows}
        self.flags = effective_flags(bundle.verdicts, self.reviews)
        self.problems: Sequence[Problem] = check_open_bundle(bundle).problems

    @property
    def is_judged(self) -> bool:
        """True if a model has a report."""
        return any(row.report for row in self.rows)

    @property
    def entries(self) -> list[ModelEntry]:
        """The models in the order of the scorecard."""
        return [row.entry for row in self.rows]

    @cached_property
    def judge_quality(self) -> JudgeQualityFiles | None:
        """What a meta-evaluation of the judge found, if there was one."""
        return judge_quality_of(self.bundle)

    @cached_property
    def prompt_ids(self) -> list[str]:
        """The prompt ids in suite order."""
        return [prompt.id for prompt in self.suite.prompts]

    @cached_property
    def columns(self) -> list[Column]:
        """The dimensions of the scorecard: as wide as their weights, where that is legible."""
        dimensions = self.suite.dimensions
        weights = [dimension.weight for dimension in dimensions]
        lightest = min(weights)
        if max(weights) / lightest > 4 or len(weights) > 9:
            width = max(3.5, 40 / len(weights))
            return [Column(dimension, width, 2) for dimension in dimensions]
        unit = min(8.0, max(2.9, 40 * lightest / sum(weights)))
        return [
            Column(one, unit * one.weight / lightest, round(one.weight / lightest))
            for one in dimensions
        ]

    @cached_property
    def lines(self) -> list[Line]:
        """The lines of the scorecard, ranked ones first."""
        return [self._line(row) for row in self.rows]

    @cached_property
    def line_of(self) -> dict[Pair, Line]:
        """The line of each model."""
        return {line.row.pair: line for line in self.lines}

    def _line(self, row: MasterRow) -> Line:
        links = self.links
        return Line(
            row=row,
            url=links.model(row.pair),
            ko_url=None if row.ko.state == "none" else links.knock_out(row.pair),
            ko_by=tuple(t.prompt_id or t.dimension or "" for t in row.ko.triggers),
            cells=tuple(self._cell(row, column) for column in self.columns),
        )

    def _cell(self, row: MasterRow, column: Column) -> Cell:
        dimension_id = column.dimension.id
        citations = self.evidence(row.pair, dimension_id)
        return Cell(
            column=column,
            score=row.dim_scores[dimension_id],
            url=self.links.model_dimension(row.pair, dimension_id),
            found=sum(citation.is_found for citation in citations),
            bad=sum(citation.is_bad for citation in citations),
        )

    def scores(self, dimension_id: str, *, without: Pair | None = None) -> list[int]:
        """Return the scores that models have in a dimension."""
        scores = (row.dim_scores[dimension_id] for row in self.rows if row.pair != without)
        return [score for score in scores if score is not None]

    def flag(self, pair: Pair, prompt_id: str) -> EffectiveFlag:
        """Return the effective flag of an answer."""
        return self.flags.get((*pair, prompt_id), EffectiveFlag(None))

    def flag_counts(self, asked: Iterable[tuple[Pair, str]]) -> dict[str, int]:
        """Return how many of the answers there are have each flag, or ``none``."""
        counts = {"green": 0, "yellow": 0, "red": 0, "none": 0}
        for pair, prompt_id in asked:
            if self.has_answer(pair, prompt_id):
                counts[self.flag(pair, prompt_id).flag or "none"] += 1
        return counts

    def answer(self, pair: Pair, prompt_id: str) -> Answer | None:
        """Return one answer."""
        return self.bundle.answers.get((*pair, prompt_id))

    def has_answer(self, pair: Pair, prompt_id: str) -> bool:
        """Say whether there is an answer, without reading it."""
        return (*pair, prompt_id) in self.bundle.answers

    def rationale(self, pair: Pair, dimension_id: str) -> str:
        """Return what the judge wrote about a dimension."""
        report = self.row_of[pair].report
        return report.dim_rationales.get(dimension_id, "") if report else ""

    def mentions(self, pair: Pair, dimension_id: str) -> list[Mention]:
        """Return the prompt ids that a rationale names, with their places."""
        return find_mentions(self.rationale(pair, dimension_id), self.prompt_ids)

    @cached_property
    def _citations(self) -> dict[tuple[Pair, str], list[Citation]]:
        return {
            (row.pair, dimension.id): list(self._cite(row.pair, dimension.id, row.report))
            for row in self.rows
            for dimension in self.suite.dimensions
        }

    def citations(self, pair: Pair, dimension_id: str) -> list[Citation]:
        """Return a dimension's evidence in the judge's order, then what is only named."""
        return self._citations[pair, dimension_id]

    def evidence(self, pair: Pair, dimension_id: str) -> list[Citation]:
        """Return a dimension's structured evidence; what does not hold comes first."""
        items = [c for c in self.citations(pair, dimension_id) if c.item is not None]
        return sorted(items, key=lambda citation: not citation.is_bad)

    @cached_property
    def _cited_by(self) -> dict[AnswerKey, list[Citation]]:
        back: dict[AnswerKey, list[Citation]] = {}
        for citations in self._citations.values():
            for citation in citations:
                back.setdefault((*citation.pair, citation.prompt_id), []).append(citation)
        return back

    def citing(self, pair: Pair, prompt_id: str) -> list[Citation]:
        """Return the way back: the citations of one answer."""
        return self._cited_by.get((*pair, prompt_id), [])

    def citation_url(self, citation: Citation) -> str | None:
        """Return where a citation leads: to the quoted words, else to the answer."""
        pair, prompt_id = citation.pair, citation.prompt_id
        if not self.has_answer(pair, prompt_id) or not self.links.knows_prompt(prompt_id):
            return None
        if citation.is_found:
            return self.links.quote(pair, prompt_id, citation.dimension, citation.number)
        return self.links.answer(pair, prompt_id)

    def _cite(
        self, pair: Pair, dimension_id: str, report: ModelReport | None
    ) -> Iterator[Citation]:
        if report is None:
            return
        items = report.evidence.get(dimension_id, ())
        for number, item in enumerate(items, start=1):
            yield self._check(pair, dimension_id, number, item)
        named = {item.prompt_id for item in items}
        for mention in self.mentions(pair, dimension_id):
            for prompt_id in mention.prompt_ids:
                if prompt_id not in named:
                    named.add(prompt_id)
                    yield Citation(pair, dimension_id, 0, prompt_id, "mention")

    def _check(self, pair: Pair, dimension_id: str, number: int, item: Evidence) -> Citation:
        answer = self.answer(pair, item.prompt_id)
        kind: CitationClass = "paraphrase"
        start = end = None
        if answer is None or not self.links.knows_prompt(item.prompt_id):
            kind = "dangling"
        elif item.kind == "absence":
            kind = "absence"
        elif item.kind == "quote" and item.quote:
            place = locate_quote(item.quote, answer.text)
            kind, start, end = place.kind, place.start, place.end
        return Citation(pair, dimension_id, number, item.prompt_id, kind, item, start, end)

    def prompts_by_group(self) -> list[tuple[str, list[Prompt]]]:
        """Return the prompts by group, both in suite order."""
        groups: dict[str, list[Prompt]] = {}
        for prompt in self.suite.prompts:
            groups.setdefault(prompt.group, []).append(prompt)
        return list(groups.items())


def _without_twins(entries: Sequence[ModelEntry]) -> list[ModelEntry]:
    """Return the models without those that stand there a second time."""
    first: dict[Pair, ModelEntry] = {}
    for entry in entries:
        first.setdefault(entry.pair, entry)
    return list(first.values())
