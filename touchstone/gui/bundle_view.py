"""What the pages of one bundle share: rows, flags, citations and their way back, links."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal
from weakref import ref

from touchstone.bundle import Bundle
from touchstone.bundle_check import problems_of
from touchstone.bundle_evidence import checker_of
from touchstone.errors import Problem
from touchstone.evidence import FOUND, EvidenceChecker, EvidenceClass, Mention
from touchstone.evidence_audit import CheckedRationale, EvidenceAudit, audit_evidence
from touchstone.evidence_gate import BAD as REFUTED
from touchstone.gui.judge_quality import JudgeQualityFiles, judge_quality_of
from touchstone.gui.links import BundleLinks, Pair
from touchstone.models import Answer, Dimension, Evidence, ModelEntry, Prompt, Suite
from touchstone.scorecard import EffectiveFlag, MasterRow, effective_flags, master_rows

AnswerKey = tuple[str, str, str]
Span = tuple[int, int]
CitationClass = EvidenceClass | Literal["mention"]
"""What became of a piece of evidence, or that an answer is only named."""
BAD: frozenset[CitationClass] = REFUTED | {"dangling"}
"""The classes of citations that do not hold."""
WEAK: frozenset[CitationClass] = frozenset({"near", "too_short"})
"""The classes of quotes that are neither found nor refuted."""

_KEEPING_FLAGS = 2
"""Bundles: a comparison needs two."""


@dataclass(frozen=True)
class Citation:
    """An answer cited for a dimension of a model's report.

    ``number`` counts the evidence of a dimension from 1 (0: only named in the rationale).
    ``spans`` are code points of the cited answer's text; where the words stand in another answer,
    ``place`` says in which, and the spans are of its text. ``terms`` were said to be missing and
    are not.
    """

    pair: Pair
    dimension: str
    number: int
    prompt_id: str
    kind: CitationClass
    item: Evidence | None = None
    spans: tuple[Span, ...] = ()
    place: AnswerKey | None = None
    terms: tuple[str, ...] = ()

    @property
    def is_marked(self) -> bool:
        """True if words of the cited answer are marked for it."""
        return bool(self.spans) and self.place is None

    @property
    def start(self) -> int | None:
        """Where the first marked word begins in the cited answer."""
        return self.spans[0][0] if self.is_marked else None

    @property
    def end(self) -> int | None:
        """Where the last marked word ends in the cited answer."""
        return self.spans[-1][1] if self.is_marked else None

    @property
    def is_found(self) -> bool:
        """True if the quoted words stand in the answer."""
        return self.kind in FOUND

    @property
    def is_bad(self) -> bool:
        """True if the citation does not hold."""
        return self.kind in BAD

    @property
    def is_weak(self) -> bool:
        """True if the words are too few, or only nearly those of the answer."""
        return self.kind in WEAK


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


_with_flags: deque[ref[BundleView]] = deque()


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
        self.problems: Sequence[Problem] = problems_of(bundle)

    @property
    def flags(self) -> dict[AnswerKey, EffectiveFlag]:
        """The effective flags. They hold all verdicts, so only the bundles used last keep them."""
        found: dict[AnswerKey, EffectiveFlag] | None = self.__dict__.get("_flags")
        if found is None:
            found = effective_flags(self.bundle.verdicts, self.reviews)
            self.__dict__["_flags"] = found
            _with_flags.append(ref(self))
            if len(_with_flags) > _KEEPING_FLAGS:
                last = _with_flags.popleft()()
                if last is not None:
                    last.__dict__.pop("_flags", None)
        return found

    @property
    def all_rows(self) -> list[MasterRow] | None:
        """The rows of all models that the manifest names; None where it names one twice."""
        return self.rows if len(self.models) == len(self.bundle.manifest.models) else None

    def forget_answers(self) -> None:
        """Let go of the answers that checking the evidence has read."""
        self.__dict__.pop("checker", None)

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
    def prompt_pages(self) -> list[tuple[str, str]]:
        """The prompt ids in suite order, each with its page."""
        return [(one, self.links.prompt(one)) for one in self.prompt_ids]

    @cached_property
    def _prompt_places(self) -> dict[str, int]:
        return {one: place for place, one in enumerate(self.prompt_ids)}

    def prompt_place(self, prompt_id: str) -> int:
        """Return the place of a prompt in the suite, from 0."""
        return self._prompt_places[prompt_id]

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

    @cached_property
    def checker(self) -> EvidenceChecker:
        """What checks evidence against the answers, and reads prompt ids in prose."""
        return checker_of(self.bundle)

    @cached_property
    def audit(self) -> EvidenceAudit:
        """What became of the judge's evidence, all of it checked at once."""
        reports = [row.report for row in self.rows if row.report is not None]
        red = [key for key, one in self.flags.items() if one.flag == "red"]
        return audit_evidence(self.suite, reports, self.checker, self.has_answer, red)

    def mentions(self, pair: Pair, dimension_id: str) -> list[Mention]:
        """Return the prompt ids that a rationale names, with their places."""
        return self.checker.prompt_ids.mentions(self.rationale(pair, dimension_id))

    def made_up(self, pair: Pair, dimension_id: str) -> list[Mention]:
        """Return what a rationale writes like an id of the suite that is none."""
        return self.checker.prompt_ids.dangling(self.rationale(pair, dimension_id))

    @cached_property
    def _said(self) -> dict[tuple[Pair, str], CheckedRationale]:
        return {(one.pair, one.dimension): one for one in self.audit.rationales}

    def said(self, pair: Pair, dimension_id: str) -> CheckedRationale | None:
        """Return what was found in a rationale; None where there is none."""
        return self._said.get((pair, dimension_id))

    @cached_property
    def _citations(self) -> dict[tuple[Pair, str], list[Citation]]:
        citations: dict[tuple[Pair, str], list[Citation]] = {
            (row.pair, dimension.id): [] for row in self.rows for dimension in self.suite.dimensions
        }
        for one in self.audit.items:
            found = one.finding
            citations[one.pair, one.dimension].append(
                Citation(
                    one.pair,
                    one.dimension,
                    one.number,
                    one.item.prompt_id,
                    found.kind,
                    one.item,
                    found.spans,
                    found.place,
                    found.terms,
                )
            )
        for (pair, dimension), said in self._said.items():
            cited = citations[pair, dimension]
            known = {one.prompt_id for one in cited}
            cited += [
                Citation(pair, dimension, 0, prompt_id, "mention")
                for prompt_id in said.prompt_ids
                if prompt_id not in known
            ]
        return citations

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
        """Return where a citation leads: to the quoted words, else to the answer.

        Words that stand in another answer than the cited one lead there.
        """
        pair, prompt_id = citation.pair, citation.prompt_id
        if citation.place is not None:
            pair, prompt_id = citation.place[:2], citation.place[2]
        if not self.has_answer(pair, prompt_id) or not self.links.knows_prompt(prompt_id):
            return None
        if citation.is_marked:
            return self.links.quote(pair, prompt_id, citation.dimension, citation.number)
        return self.links.answer(pair, prompt_id)

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
