"""The data of the site's pages, gathered and put in order before any HTML is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from markupsafe import Markup

from touchstone.errors import Problem
from touchstone.gui.bundle_view import BundleView, Citation
from touchstone.gui.safe_html import (
    Part,
    Span,
    answer_html,
    raw_html,
    share_spans,
    split_thinking,
    text_html,
    visible,
)
from touchstone.models import Answer, Dimension, ModelEntry, Prompt
from touchstone.scorecard import EffectiveFlag, MasterRow

Pair = tuple[str, str]

CLASS_ICONS = {
    "verbatim": "ok",
    "normalised": "approx",
    "unverifiable": "unver",
    "paraphrase": "para",
    "absence": "absent",
    "dangling": "dangle",
}


@dataclass(frozen=True)
class Crumb:
    """One step of a page's breadcrumb; without a URL it is the page itself."""

    title: str
    url: str | None = None


@dataclass(frozen=True)
class Cell:
    """A score on the scorecard: where it leads, and how good its evidence is."""

    dimension: Dimension
    score: int | None
    url: str
    found: int
    bad: int
    reason: str | None
    width: str
    weight_class: int


@dataclass(frozen=True)
class ScoreRow:
    """A model on the scorecard."""

    row: MasterRow
    url: str
    ko_url: str | None
    ko_by: tuple[str, ...]
    cells: tuple[Cell, ...]

    @property
    def entry(self) -> ModelEntry:
        """The (model, variant) of this row."""
        return self.row.entry


@dataclass(frozen=True)
class AnswerCard:
    """An answer on its prompt's page, with what the judge said and who cites it."""

    entry: ModelEntry
    answer: Answer | None
    anchor: str
    model_url: str
    ko_url: str | None
    flag: EffectiveFlag
    body: Markup
    thinking: tuple[Markup, ...]
    reasoning_words: int
    raw: Markup
    citations: tuple[Citation, ...]


@dataclass(frozen=True)
class BrokenBundle:
    """A bundle that can't be read, and why."""

    name: str
    message: str
    problems: tuple[Problem, ...] = field(default=())


def score_rows(view: BundleView) -> list[ScoreRow]:
    """Return the rows of the scorecard, ranked ones first."""
    widths = _column_widths(view.suite.dimensions)
    return [_score_row(view, row, widths) for row in view.rows]


def _score_row(view: BundleView, row: MasterRow, widths: Sequence[tuple[str, int]]) -> ScoreRow:
    links = view.links
    cells = []
    for dimension, (width, weight_class) in zip(view.suite.dimensions, widths, strict=True):
        citations = view.evidence(row.pair, dimension.id)
        cells.append(
            Cell(
                dimension=dimension,
                score=row.dim_scores[dimension.id],
                url=links.model(row.pair, dimension.id),
                found=sum(citation.is_found for citation in citations),
                bad=sum(citation.is_bad for citation in citations),
                reason=row.report.issue(dimension.id) if row.report else None,
                width=width,
                weight_class=weight_class,
            )
        )
    by = tuple(t.prompt_id or t.dimension or "" for t in row.ko.triggers)
    ko_url = None if row.ko.state == "none" else links.knock_out(row.pair)
    return ScoreRow(row, links.model(row.pair), ko_url, by, tuple(cells))


def _column_widths(dimensions: Sequence[Dimension]) -> list[tuple[str, int]]:
    """Return each column's width and weight class: as wide as its weight, where that is legible."""
    weights = [dimension.weight for dimension in dimensions]
    lightest = min(weights)
    if max(weights) / lightest > 4 or len(weights) > 9:
        return [(f"{max(3.0, 40 / len(weights)):.2f}rem", 2) for _ in weights]
    unit = max(2.9, 40 / (sum(weights) / lightest))
    return [
        (f"{min(unit, 8.0) * weight / lightest:.2f}rem", round(weight / lightest))
        for weight in weights
    ]


def flag_counts(view: BundleView, pair: Pair) -> list[tuple[str, int]]:
    """Return how many answers of a model have each flag; ``none`` only where there are any."""
    asked = [p for p in view.prompt_ids if view.has_answer(pair, p)]
    counts: Counter[str] = Counter(view.flag(pair, p).flag or "none" for p in asked)
    colours = ["green", "yellow", "red"] if view.flags else []
    return [(c, counts[c]) for c in colours] + (
        [("none", counts["none"])] if counts["none"] else []
    )


def rationale_html(view: BundleView, pair: Pair, dimension: str, href: Any, words: Any) -> Markup:
    """Return a rationale with every prompt id it names as a link to that answer.

    ``href`` makes a URL relative to the page, ``words`` names a citation class.
    """
    report = view.row_of[pair].report
    text = report.dim_rationales.get(dimension, "") if report else ""
    by_prompt: dict[str, Citation] = {}
    for citation in view.citations(pair, dimension):
        by_prompt.setdefault(citation.prompt_id, citation)
    parts: list[str] = []
    at = 0
    for mention in view.mentions(pair, dimension):
        parts.append(text_html(text[at : mention.start]))
        label = text[mention.start : mention.end]
        target = by_prompt[mention.prompt_ids[0]]
        parts.append(_cite_link(view, target, label, href, words))
        at = mention.end
    parts.append(text_html(text[at:]))
    return Markup("".join(parts))


def _cite_link(view: BundleView, citation: Citation, label: str, href: Any, words: Any) -> str:
    url = view.citation_url(citation)
    if url is None:
        return str(Markup('<span class="ts-cite ts-bad">{}</span>').format(visible(label)))
    icon = CLASS_ICONS.get(citation.kind)
    if icon is None:
        return str(Markup('<a class="ts-cite" href="{}">{}</a>').format(href(url), visible(label)))
    word = words(citation.kind)
    shown = "ts-cw" if citation.is_bad else "ts-sr"
    return str(
        Markup(
            '<a class="ts-cite{}" href="{}">{}<i class="ts-i ts-i-c-{}" aria-hidden="true"></i>'
            '<span class="{}">{}{}</span></a>'
        ).format(
            " ts-bad" if citation.is_bad else "",
            href(url),
            visible(label),
            icon,
            shown,
            "" if citation.is_bad else ", ",
            word,
        )
    )


def answer_cards(view: BundleView, prompt: Prompt, href: Any) -> list[AnswerCard]:
    """Return the answers to a prompt, one card a model in the order of the scorecard."""
    return [_answer_card(view, entry, prompt, href) for entry in view.entries]


def _answer_card(view: BundleView, entry: ModelEntry, prompt: Prompt, href: Any) -> AnswerCard:
    pair, links = entry.pair, view.links
    answer = view.answer(pair, prompt.id)
    citations = tuple(view.citing(pair, prompt.id))
    body = Markup("")
    thinking: list[Markup] = []
    if answer is not None and not answer.is_empty:
        body, thinking = _answer_body(view, answer, citations, href)
    if answer is not None and answer.reasoning:
        thinking.insert(0, Markup(answer_html(answer.reasoning)))
    row = view.row_of[pair]
    knocks_out = any(trigger.prompt_id == prompt.id for trigger in row.ko.triggers)
    return AnswerCard(
        entry=entry,
        answer=answer,
        anchor=links.pair_slug(pair),
        model_url=links.model(pair),
        ko_url=links.knock_out(pair) if knocks_out else None,
        flag=view.flag(pair, prompt.id),
        body=body,
        thinking=tuple(thinking),
        reasoning_words=len((answer.reasoning or "").split()) if answer else 0,
        raw=Markup(raw_html(answer.text)) if answer is not None else Markup(""),
        citations=citations,
    )


def _answer_body(
    view: BundleView, answer: Answer, citations: Sequence[Citation], href: Any
) -> tuple[Markup, list[Markup]]:
    """Return an answer's HTML with its quoted words marked, and its folded thinking."""
    spans = [
        Span(
            start=citation.start,
            end=citation.end,
            id=view.links.quote_anchor(citation.pair, citation.dimension, citation.number),
            label=citation.dimension,
            href=href(view.links.model(citation.pair, citation.dimension)),
        )
        for citation in citations
        if citation.start is not None and citation.end is not None
    ]
    parts = split_thinking(answer.text) or [Part("answer", answer.text, 0)]
    shared = share_spans(parts, spans)
    shown: list[Markup] = []
    thinking: list[Markup] = []
    for part, share in zip(parts, shared, strict=True):
        html = Markup(answer_html(part.text, spans=share))
        (thinking if part.kind == "thinking" else shown).append(html)
    return Markup("").join(shown), thinking


@dataclass(frozen=True)
class TokenSums:
    """Timing and tokens of one model over a run; seconds, or None where nothing is known."""

    entry: ModelEntry
    answers: int
    failed: int
    cut: int
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float | None
    first_token: float | None
    errors: tuple[tuple[str, str, str], ...]

    @property
    def tokens_per_second(self) -> float | None:
        """Completion tokens a second over the whole run."""
        if not self.seconds or self.completion_tokens is None:
            return None
        return self.completion_tokens / self.seconds


class RunFigures:
    """Sums over the answers of a bundle, read once as a stream."""

    def __init__(self, view: BundleView) -> None:
        self._view = view

    @cached_property
    def rows(self) -> list[TokenSums]:
        """The figures of each model, in the bundle's order."""
        answers: dict[Pair, list[Answer]] = {}
        for answer in self._view.bundle.answers:
            light = answer.model_copy(update={"text": "", "reasoning": None})
            answers.setdefault(answer.pair, []).append(light)
        models = self._view.bundle.manifest.models
        return [_sums(self._view, entry, answers.get(entry.pair, [])) for entry in models]


def _sums(view: BundleView, entry: ModelEntry, answers: Sequence[Answer]) -> TokenSums:
    usage = [answer.usage for answer in answers if answer.usage]
    asked = [u.prompt_tokens for u in usage if u.prompt_tokens is not None]
    made = [u.completion_tokens for u in usage if u.completion_tokens is not None]
    times = [a.duration_s for a in answers if a.duration_s is not None]
    first = sorted(a.ttft_s for a in answers if a.ttft_s is not None)
    errors = tuple(
        (a.prompt_id, a.error.type, a.error.message) for a in answers if a.error is not None
    )
    return TokenSums(
        entry=entry,
        answers=len(answers),
        failed=len(errors),
        cut=sum(a.finish_reason == "length" for a in answers),
        prompt_tokens=sum(asked) if asked else None,
        completion_tokens=sum(made) if made else None,
        seconds=sum(times) if times else None,
        first_token=first[len(first) // 2] if first else None,
        errors=errors,
    )
