"""What the pages of one bundle share: rows, flags, citations and their way back, links."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from touchstone.bundle import Bundle
from touchstone.errors import Problem
from touchstone.evidence import Mention, find_mentions, locate_quote
from touchstone.gui.links import BundleLinks
from touchstone.models import Answer, Evidence, ModelEntry, ModelReport, Prompt, Suite
from touchstone.scorecard import EffectiveFlag, MasterRow, effective_flags, master_rows

Pair = tuple[str, str]
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


class BundleView:
    """One bundle as its pages need it; everything is derived once and kept."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.suite: Suite = bundle.suite
        self.links = BundleLinks.of(bundle)
        bundle.answers.require_clean()
        bundle.verdicts.require_clean()
        bundle.reports.require_clean()
        reviews = bundle.reviews()
        self.reviews = reviews
        self.rows: list[MasterRow] = master_rows(
            self.suite, bundle.manifest.models, bundle.reports, bundle.verdicts, reviews
        )
        self.row_of: dict[Pair, MasterRow] = {row.pair: row for row in self.rows}
        self.flags = effective_flags(bundle.verdicts, reviews)

    @property
    def entries(self) -> list[ModelEntry]:
        """The models in the order of the scorecard."""
        return [row.entry for row in self.rows]

    @cached_property
    def prompt_ids(self) -> list[str]:
        """The prompt ids in suite order."""
        return [prompt.id for prompt in self.suite.prompts]

    def flag(self, pair: Pair, prompt_id: str) -> EffectiveFlag:
        """Return the effective flag of an answer."""
        return self.flags.get((*pair, prompt_id), EffectiveFlag(None))

    def answer(self, pair: Pair, prompt_id: str) -> Answer | None:
        """Return one answer."""
        return self.bundle.answers.get((*pair, prompt_id))

    def has_answer(self, pair: Pair, prompt_id: str) -> bool:
        """Say whether there is an answer, without reading it."""
        return (*pair, prompt_id) in self.bundle.answers

    def mentions(self, pair: Pair, dimension: str) -> list[Mention]:
        """Return the prompt ids that a rationale names, with their places."""
        report = self.row_of[pair].report
        text = report.dim_rationales.get(dimension, "") if report else ""
        return find_mentions(text, self.prompt_ids)

    @cached_property
    def _citations(self) -> dict[tuple[Pair, str], list[Citation]]:
        found: dict[tuple[Pair, str], list[Citation]] = {}
        for row in self.rows:
            for dimension in self.suite.dimensions:
                cited = list(self._cite(row.pair, dimension.id, row.report))
                found[row.pair, dimension.id] = cited
        return found

    def citations(self, pair: Pair, dimension: str) -> list[Citation]:
        """Return a dimension's evidence in the judge's order, then what is only named."""
        return self._citations[pair, dimension]

    def evidence(self, pair: Pair, dimension: str) -> list[Citation]:
        """Return a dimension's structured evidence; what does not hold comes first."""
        items = [c for c in self.citations(pair, dimension) if c.item is not None]
        return sorted(items, key=lambda citation: not citation.is_bad)

    @cached_property
    def cited_by(self) -> dict[AnswerKey, list[Citation]]:
        """The way back: which dimensions cite an answer."""
        back: dict[AnswerKey, list[Citation]] = {}
        for citations in self._citations.values():
            for citation in citations:
                back.setdefault((*citation.pair, citation.prompt_id), []).append(citation)
        return back

    def citing(self, pair: Pair, prompt_id: str) -> list[Citation]:
        """Return the citations of one answer."""
        return self.cited_by.get((*pair, prompt_id), [])

    def citation_url(self, citation: Citation) -> str | None:
        """Return where a citation leads: to the quoted words, else to the answer."""
        if not self.has_answer(citation.pair, citation.prompt_id):
            return None
        if not self.links.knows_prompt(citation.prompt_id):
            return None
        if citation.is_found:
            return self.links.quote(
                citation.pair, citation.prompt_id, citation.dimension, citation.number
            )
        return self.links.answer(citation.pair, citation.prompt_id)

    def _cite(self, pair: Pair, dimension: str, report: ModelReport | None) -> Iterator[Citation]:
        if report is None:
            return
        items = report.evidence.get(dimension, ())
        for number, item in enumerate(items, start=1):
            yield self._check(pair, dimension, number, item)
        named = {item.prompt_id for item in items}
        for mention in self.mentions(pair, dimension):
            for prompt_id in mention.prompt_ids:
                if prompt_id not in named:
                    named.add(prompt_id)
                    yield Citation(pair, dimension, 0, prompt_id, "mention")

    def _check(self, pair: Pair, dimension: str, number: int, item: Evidence) -> Citation:
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
        return Citation(pair, dimension, number, item.prompt_id, kind, item, start, end)

    def prompts_by_group(self) -> list[tuple[str, list[Prompt]]]:
        """Return the prompts by group, both in suite order."""
        groups: dict[str, list[Prompt]] = {}
        for prompt in self.suite.prompts:
            groups.setdefault(prompt.group, []).append(prompt)
        return list(groups.items())

    def problems(self) -> list[Problem]:
        """Return what could not be read of the bundle, although it could be opened."""
        bundle = self.bundle
        return [
            *bundle.answers.problems,
            *bundle.verdicts.problems,
            *bundle.reports.problems,
        ]
