"""What the report of one bundle is made from, and what is derived from it before any Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from touchstone.evidence import EvidenceChecker, EvidenceClass, Finding
from touchstone.gui.report_md.words import Words, words_of
from touchstone.models import Answer, Evidence, Manifest, ModelEntry, Suite, Text, pick_text
from touchstone.scorecard import EffectiveFlag, MasterRow

Pair = tuple[str, str]
AnswerKey = tuple[str, str, str]


@dataclass(frozen=True)
class Hashes:
    """SHA-256 of a bundle's suite, of its answers, and of the bundle, in hex."""

    suite: str
    answers: str
    bundle: str


@dataclass(frozen=True)
class Citation:
    """A piece of evidence and what became of it."""

    item: Evidence
    finding: Finding

    @property
    def kind(self) -> EvidenceClass:
        """The class of the evidence."""
        return self.finding.kind

    @property
    def is_quote(self) -> bool:
        """True if words are quoted, whatever became of them."""
        return self.item.kind == "quote" and bool(self.item.quote.strip())


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
        """Return a dimension's evidence in the judge's order, each piece looked up."""
        return self._citations.get((row.pair, dimension_id), [])

    def quote_finding(self, pair: Pair, prompt_id: str, quote: str) -> Finding:
        """Return what became of a quote in the verdict on an answer."""
        found = self._quotes.get((pair, prompt_id, quote))
        return found or self.checker.check_quote(pair, prompt_id, quote)

    @cached_property
    def checker(self) -> EvidenceChecker:
        """Looks up evidence in the answers, those of models that are not shown included."""
        pairs = [entry.pair for entry in self.manifest.models]
        return EvidenceChecker(self.suite, self._text_of, pairs)

    def _text_of(self, pair: Pair, prompt_id: str) -> str | None:
        answer = self.answer(pair, prompt_id)
        return None if answer is None else answer.text

    @cached_property
    def _citations(self) -> Mapping[tuple[Pair, str], list[Citation]]:
        evidence = [
            (row.pair, dimension.id, item)
            for row in self.rows
            for dimension in self.suite.dimensions
            for item in (row.report.evidence.get(dimension.id, ()) if row.report else ())
        ]
        findings = self.checker.check_all((pair, item) for pair, _, item in evidence)
        citations: dict[tuple[Pair, str], list[Citation]] = {}
        for (pair, dimension_id, item), finding in zip(evidence, findings, strict=True):
            citations.setdefault((pair, dimension_id), []).append(Citation(item, finding))
        return citations

    @cached_property
    def _quotes(self) -> Mapping[tuple[Pair, str, str], Finding]:
        """What became of all quotes in the verdicts on the models shown, looked up at once."""
        shown = {row.pair for row in self.rows}
        said = [
            ((model, variant), prompt_id, quote)
            for (model, variant, prompt_id), flag in self.flags.items()
            if (model, variant) in shown
            for quote in _quotes_of(flag)
        ]
        findings = self.checker.check_all(
            (pair, Evidence(prompt_id=prompt_id, quote=quote)) for pair, prompt_id, quote in said
        )
        return dict(zip(said, findings, strict=True))


def _quotes_of(flag: EffectiveFlag) -> Iterable[str]:
    return flag.verdict.quotes if flag.verdict is not None else ()
