"""Audits a judge's evidence: what became of it, what it leaves out, where it contradicts itself.

Pure. Nothing here needs a second opinion: all of it follows from reports, answers and flags
(ADR-0013). Fidelity stands beside agreement and is never multiplied with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal

from touchstone.evidence import (
    CLASSES,
    FOUND,
    EvidenceChecker,
    EvidenceClass,
    Finding,
    ProseFinding,
    level_text,
)
from touchstone.intervals import Rate, rate
from touchstone.models import Evidence, ModelReport, Suite

Pair = tuple[str, str]
AnswerKey = tuple[str, str, str]

REUSED_IN = 3
"""Dimensions that must rest on the same words before these count as reused."""

ContradictionKind = Literal["only_defects", "fatal_at_5", "same_rationale", "ids_differ"]
"""``only_defects``: a score of 4 or 5 and nothing but defects. ``fatal_at_5``: a 5 with a fatal
defect. ``same_rationale``: one rationale, word for word, for several dimensions. ``ids_differ``:
the rationale names other prompts than the evidence beside it."""


@dataclass(frozen=True)
class CheckedItem:
    """A piece of evidence and what became of it; ``number`` counts those of a dimension from 1."""

    pair: Pair
    dimension: str
    number: int
    item: Evidence
    finding: Finding


@dataclass(frozen=True)
class CheckedRationale:
    """A rationale: the ids it names, those it makes up, and what became of its quotes."""

    pair: Pair
    dimension: str
    prompt_ids: tuple[str, ...]
    dangling: tuple[str, ...]
    quotes: tuple[ProseFinding, ...]


@dataclass(frozen=True)
class ClassCounts:
    """How much evidence there is of each class.

    ``quotes`` are the items with words to check, those that point at no answer or are too short
    included; dangling absences and paraphrases are among ``classes`` but are no quotes.
    """

    items: int
    quotes: int
    classes: Mapping[EvidenceClass, int]

    @property
    def fidelity(self) -> Rate:
        """The share of quotes that stand in the answer they are said to come from (Wilson)."""
        return rate(sum(self.classes[one] for one in FOUND), self.quotes)

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as they stand in ``judge_quality.json``; not computable is None."""
        fidelity = self.fidelity
        return {
            "items": self.items,
            "quotes": self.quotes,
            **{str(one): count for one, count in self.classes.items()},
            "fidelity": fidelity.value,
            "fidelity_ci": None if fidelity.bounds is None else list(fidelity.bounds),
        }


@dataclass(frozen=True)
class Reuse:
    """Words of one answer that several dimensions rest on; ``quote`` is the first of them."""

    pair: Pair
    prompt_id: str
    quote: str
    dimensions: tuple[str, ...]


@dataclass(frozen=True)
class Contradiction:
    """Where a judge's words don't fit together. The ids are those only one side names."""

    kind: ContradictionKind
    pair: Pair
    dimensions: tuple[str, ...]
    only_in_rationale: tuple[str, ...] = ()
    only_in_evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class ModelAudit:
    """The evidence about one (model, variant).

    ``cited`` and ``uncited`` divide its answers, in the suite's order; an answer is cited if a
    piece of evidence or a rationale names its prompt. ``position`` is the mean place of what is
    cited in the order shown, from 0 (first) to 1 (last), each prompt once for each dimension: far
    from 0.5 a judge has read one end only. ``red_cited`` and ``red_uncited`` divide the red-flagged
    answers.
    """

    pair: Pair
    counts: ClassCounts
    prose: ClassCounts
    cited: tuple[str, ...]
    uncited: tuple[str, ...]
    red_cited: tuple[str, ...]
    red_uncited: tuple[str, ...]
    positions: tuple[float, ...]
    reused: tuple[Reuse, ...]
    contradictions: tuple[Contradiction, ...]

    @property
    def position(self) -> float | None:
        """The mean place of what is cited, 0 to 1; None if nothing is, or one answer was shown."""
        return fmean(self.positions) if self.positions else None


@dataclass(frozen=True)
class EvidenceAudit:
    """The evidence of one judge about all models of a bundle."""

    items: tuple[CheckedItem, ...]
    rationales: tuple[CheckedRationale, ...]
    models: tuple[ModelAudit, ...]

    @property
    def counts(self) -> ClassCounts:
        """The classes of all evidence."""
        return count_items(self.items)

    @property
    def prose(self) -> ClassCounts:
        """The classes of the quotes in all rationales that an id stands near."""
        return count_prose(self.rationales)

    @property
    def unattributed(self) -> int:
        """How many quotes in rationales no id stands near."""
        return sum(one.finding is None for said in self.rationales for one in said.quotes)

    @property
    def cited(self) -> Rate:
        """The share of answers that are cited at all."""
        cited = sum(len(one.cited) for one in self.models)
        return rate(cited, cited + sum(len(one.uncited) for one in self.models))

    @property
    def red_cited(self) -> Rate:
        """The share of red-flagged answers that are cited."""
        cited = sum(len(one.red_cited) for one in self.models)
        return rate(cited, cited + sum(len(one.red_uncited) for one in self.models))

    @property
    def position(self) -> float | None:
        """The mean place of what is cited over all models, 0 to 1 (see ``ModelAudit``)."""
        positions = [place for one in self.models for place in one.positions]
        return fmean(positions) if positions else None

    @property
    def contradictions(self) -> tuple[Contradiction, ...]:
        """Every contradiction, model by model."""
        return tuple(one for model in self.models for one in model.contradictions)

    @property
    def reused(self) -> tuple[Reuse, ...]:
        """All words that three dimensions or more rest on, model by model."""
        return tuple(one for model in self.models for one in model.reused)


def audit_evidence(
    suite: Suite,
    reports: Iterable[ModelReport],
    checker: EvidenceChecker,
    has_answer: Callable[[Pair, str], bool],
    red_flagged: Collection[AnswerKey] = (),
    order: Sequence[str] | None = None,
) -> EvidenceAudit:
    """Check all evidence of a judge's reports and return what became of it.

    ``red_flagged`` are the (model, variant, prompt_id) whose effective flag is red. ``order`` are
    the prompt ids as the judge was shown them, the suite's order unless given. Evidence of
    dimensions that the suite lacks is left out.
    """
    reports = list(reports)
    shown = [prompt.id for prompt in suite.prompts] if order is None else list(order)
    items = tuple(_check_items(suite, reports, checker))
    rationales = tuple(_check_rationales(suite, reports, checker))
    models = []
    for report in reports:
        answered = [one for one in shown if has_answer(report.pair, one)]
        own = [one for one in items if one.pair == report.pair]
        said = [one for one in rationales if one.pair == report.pair]
        red = {key[2] for key in red_flagged if key[:2] == report.pair}
        models.append(_audit_model(report, suite, answered, own, said, red))
    return EvidenceAudit(items, rationales, tuple(models))


def _check_items(
    suite: Suite, reports: Sequence[ModelReport], checker: EvidenceChecker
) -> Iterator[CheckedItem]:
    found = [
        (report.pair, dimension.id, number, item)
        for report in reports
        for dimension in suite.dimensions
        for number, item in enumerate(report.evidence.get(dimension.id, ()), start=1)
    ]
    findings = checker.check_all((pair, item) for pair, _, _, item in found)
    for one, finding in zip(found, findings, strict=True):
        yield CheckedItem(*one, finding)


def _check_rationales(
    suite: Suite, reports: Sequence[ModelReport], checker: EvidenceChecker
) -> Iterator[CheckedRationale]:
    said = [
        (report.pair, dimension.id, rationale)
        for report in reports
        for dimension in suite.dimensions
        if (rationale := report.dim_rationales.get(dimension.id, "")).strip()
    ]
    quotes = checker.check_all_prose((pair, rationale) for pair, _, rationale in said)
    ids = checker.prompt_ids
    for (pair, dimension, rationale), findings in zip(said, quotes, strict=True):
        named = (one for mention in ids.mentions(rationale) for one in mention.prompt_ids)
        made_up = (one for mention in ids.dangling(rationale) for one in mention.prompt_ids)
        yield CheckedRationale(
            pair,
            dimension,
            tuple(dict.fromkeys(named)),
            tuple(dict.fromkeys(made_up)),
            tuple(findings),
        )


def count_items(items: Iterable[CheckedItem]) -> ClassCounts:
    """Return how much of some evidence is of each class."""
    items = list(items)
    quotes = sum(one.item.kind == "quote" and bool(one.item.quote.strip()) for one in items)
    return ClassCounts(len(items), quotes, _classes(one.finding for one in items))


def count_prose(rationales: Iterable[CheckedRationale]) -> ClassCounts:
    """Return how much of what some rationales quote is of each class.

    What is too short is no quote here: as often as not it is a term or a tone of voice.
    """
    findings = [one.finding for said in rationales for one in said.quotes if one.finding]
    quotes = sum(one.kind != "too_short" for one in findings)
    return ClassCounts(len(findings), quotes, _classes(findings))


def _classes(findings: Iterable[Finding]) -> dict[EvidenceClass, int]:
    counted = Counter(finding.kind for finding in findings)
    return {one: counted[one] for one in CLASSES}


# --- one model -----------------------------------------------------------------------------


def _audit_model(
    report: ModelReport,
    suite: Suite,
    answered: Sequence[str],
    items: Sequence[CheckedItem],
    rationales: Sequence[CheckedRationale],
    red: Collection[str],
) -> ModelAudit:
    by_dimension = _cited_by_dimension(items, rationales)
    cited = {one for ids in by_dimension.values() for one in ids}
    in_order = [prompt.id for prompt in suite.prompts if prompt.id in set(answered)]
    places = {one: i / (len(answered) - 1) for i, one in enumerate(answered) if len(answered) > 1}
    return ModelAudit(
        pair=report.pair,
        counts=count_items(items),
        prose=count_prose(rationales),
        cited=tuple(one for one in in_order if one in cited),
        uncited=tuple(one for one in in_order if one not in cited),
        red_cited=tuple(one for one in in_order if one in red and one in cited),
        red_uncited=tuple(one for one in in_order if one in red and one not in cited),
        positions=tuple(
            places[one] for ids in by_dimension.values() for one in ids if one in places
        ),
        reused=tuple(_reused(items)),
        contradictions=tuple(_contradictions(report, items, rationales)),
    )


def _cited_by_dimension(
    items: Sequence[CheckedItem], rationales: Sequence[CheckedRationale]
) -> dict[str, dict[str, None]]:
    cited: dict[str, dict[str, None]] = {}
    for one in items:
        cited.setdefault(one.dimension, {})[one.item.prompt_id] = None
    for said in rationales:
        cited.setdefault(said.dimension, {}).update(dict.fromkeys(said.prompt_ids))
    return cited


def _reused(items: Sequence[CheckedItem]) -> Iterator[Reuse]:
    """Yield the words that three dimensions or more rest on: the same, or overlapping ones."""
    quotes = [one for one in items if one.item.kind == "quote" and one.item.quote.strip()]
    for group in _same_words(quotes):
        dimensions = tuple(dict.fromkeys(one.dimension for one in group))
        if len(dimensions) >= REUSED_IN:
            first = group[0]
            yield Reuse(first.pair, first.item.prompt_id, first.item.quote, dimensions)


def _same_words(quotes: Sequence[CheckedItem]) -> list[list[CheckedItem]]:
    """Return the quotes in groups that overlap in the answer, or read the same if not found."""
    groups: dict[tuple[str, str], list[CheckedItem]] = {}
    placed: dict[str, list[CheckedItem]] = {}
    for one in quotes:
        if one.finding.spans and one.finding.place is None:
            placed.setdefault(one.item.prompt_id, []).append(one)
        else:
            key = one.item.prompt_id, level_text(one.item.quote)
            groups.setdefault(key, []).append(one)
    return [*groups.values(), *(group for ones in placed.values() for group in _overlapping(ones))]


def _overlapping(quotes: Sequence[CheckedItem]) -> list[list[CheckedItem]]:
    groups: list[list[CheckedItem]] = []
    until = -1
    for one in sorted(quotes, key=lambda one: one.finding.spans[0][0]):
        if one.finding.spans[0][0] >= until:
            groups.append([])
        groups[-1].append(one)
        until = max(until, one.finding.spans[-1][1])
    return groups


# --- contradictions ------------------------------------------------------------------------


def _contradictions(
    report: ModelReport, items: Sequence[CheckedItem], rationales: Sequence[CheckedRationale]
) -> Iterator[Contradiction]:
    evidence: dict[str, list[Evidence]] = {}
    for one in items:
        evidence.setdefault(one.dimension, []).append(one.item)
    for dimension, found in evidence.items():
        score = report.dim_scores.get(dimension)
        if score is None:
            continue
        if score >= 4 and all(one.polarity == "defect" for one in found):
            yield Contradiction("only_defects", report.pair, (dimension,))
        if score == 5 and any(_is_fatal(one) for one in found):
            yield Contradiction("fatal_at_5", report.pair, (dimension,))
    by_words: dict[str, list[str]] = {}
    for said in rationales:
        words = level_text(report.dim_rationales[said.dimension])
        by_words.setdefault(words, []).append(said.dimension)
    for dimensions in by_words.values():
        if len(dimensions) > 1:
            yield Contradiction("same_rationale", report.pair, tuple(dimensions))
    for said in rationales:
        yield from _differing_ids(said, evidence.get(said.dimension, ()))


def _is_fatal(item: Evidence) -> bool:
    return item.polarity == "defect" and item.severity == "fatal"


def _differing_ids(said: CheckedRationale, evidence: Iterable[Evidence]) -> Iterator[Contradiction]:
    """Yield the difference between the prompts a rationale names and its evidence's.

    Where one side names none there is nothing to differ.
    """
    named = dict.fromkeys((*said.prompt_ids, *said.dangling))
    shown = dict.fromkeys(one.prompt_id for one in evidence)
    if named and shown and named.keys() != shown.keys():
        yield Contradiction(
            "ids_differ",
            said.pair,
            (said.dimension,),
            tuple(one for one in named if one not in shown),
            tuple(one for one in shown if one not in named),
        )
