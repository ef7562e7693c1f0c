"""What the report of one bundle is made from, and what is derived from it before any Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from touchstone.evidence import QuoteClass, locate_quote
from touchstone.gui.report_md.words import Words, words_of
from touchstone.models import Answer, Evidence, Manifest, ModelEntry, Suite, Text, pick_text
from touchstone.scorecard import EffectiveFlag, MasterRow

Pair = tuple[str, str]
AnswerKey = tuple[str, str, str]
CitationClass = QuoteClass | Literal["paraphrase", "absence", "dangling"]


@dataclass(frozen=True)
class Hashes:
    """SHA-256 of a bundle's suite, of its answers, and of the bundle, in hex."""

    suite: str
    answers: str
    bundle: str


@dataclass(frozen=True)
class Citation:
    """A piece of evidence and how it holds; ``start`` and ``end`` are code points of the answer."""

    item: Evidence
    kind: CitationClass
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True)
class ReportData:
    """A bundle as the report needs it.

    ``rows`` are the models to show, in the order of the scorecard; ``answers`` and ``flags`` may
    hold more than is shown. ``language`` is that of the report (``en`` or ``de``); texts that a
    suite has in several languages follow it.
    """

    manifest: Manifest
    suite: Suite
    rows: Sequence[MasterRow]
    answers: Mapping[AnswerKey, Answer]
    flags: Mapping[AnswerKey, EffectiveFlag]
    hashes: Hashes
    language: str
    with_answers: bool = True

    @cached_property
    def words(self) -> Words:
        """The report's own texts in its language."""
        return words_of(self.language)

    @cached_property
    def entries(self) -> list[ModelEntry]:
        """The models to show, in the bundle's order, which says nothing about their ranks."""
        shown = {row.pair for row in self.rows}
        return [entry for entry in self.manifest.models if entry.pair in shown]

    def show(self, text: Text | None) -> str:
        """Return a shown text in the report's language, else the suite's, else the first."""
        return pick_text(text, self.language, self.suite.language)[0]

    @cached_property
    def is_judged(self) -> bool:
        """True if anybody has judged anything."""
        return bool(self.flags) or any(row.report for row in self.rows)

    def answer(self, pair: Pair, prompt_id: str) -> Answer | None:
        """Return one answer to a prompt of the suite."""
        known = self.suite.prompt(prompt_id) is not None
        return self.answers.get((*pair, prompt_id)) if known else None

    def answers_of(self, pair: Pair) -> list[Answer]:
        """Return a model's answers in the suite's order."""
        found = (self.answers.get((*pair, prompt.id)) for prompt in self.suite.prompts)
        return [answer for answer in found if answer is not None]

    @property
    def strays(self) -> int:
        """How many answers belong to no model or prompt of the bundle."""
        pairs = {entry.pair for entry in self.manifest.models}
        prompts = {prompt.id for prompt in self.suite.prompts}
        return sum(key[:2] not in pairs or key[2] not in prompts for key in self.answers)

    def citations(self, row: MasterRow, dimension_id: str) -> list[Citation]:
        """Return a dimension's evidence in the judge's order, each quote looked up."""
        items = row.report.evidence.get(dimension_id, ()) if row.report else ()
        return [self._check(row.pair, item) for item in items]

    def _check(self, pair: Pair, item: Evidence) -> Citation:
        answer = self.answer(pair, item.prompt_id)
        if answer is None:
            return Citation(item, "dangling")
        if item.kind == "absence":
            return Citation(item, "absence")
        if item.kind == "paraphrase" or not item.quote.strip():
            return Citation(item, "paraphrase")
        place = locate_quote(item.quote, answer.text)
        return Citation(item, place.kind, place.start, place.end)
