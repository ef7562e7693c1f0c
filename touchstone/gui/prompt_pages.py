"""The data of a prompt's page: the task, what was expected, and all answers to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from touchstone.gui.bundle_view import BundleView, Citation
from touchstone.gui.citations import Href
from touchstone.gui.copied_evidence import answer_evidence, quote_evidence
from touchstone.gui.history import History
from touchstone.gui.links import Pair, relative
from touchstone.gui.locale import one_line
from touchstone.gui.permalinks import Tombstone
from touchstone.gui.safe_html import (
    Part,
    SafeHtml,
    Span,
    answer_html,
    raw_html,
    share_spans,
    split_thinking,
)
from touchstone.gui.wording import Crumb, Meta, Wording
from touchstone.models import Answer, Message, ModelEntry, Prompt
from touchstone.scorecard import EffectiveFlag


@dataclass(frozen=True)
class Thought:
    """Reasoning that came with an answer."""

    html: SafeHtml
    length: str


@dataclass(frozen=True)
class CitedBy:
    """Who cites an answer. Words that stand in it have an anchor, and Markdown to copy."""

    citation: Citation
    anchor: str
    evidence: str


@dataclass(frozen=True)
class FormerName:
    """What a model was called when the answer was published first, and the anchor of then."""

    anchor: str
    name: str


@dataclass(frozen=True)
class AnswerCard:
    """An answer on its prompt's page, with what the judge said and who cites it.

    ``changed`` says what text was published before, ``evidence`` is Markdown to copy.
    """

    entry: ModelEntry
    answer: Answer | None
    anchor: str
    model_url: str
    ko_url: str | None
    flag: EffectiveFlag
    figures: str
    body: Markup
    thoughts: tuple[Thought, ...]
    raw: SafeHtml
    cited_by: tuple[CitedBy, ...]
    evidence: str
    former: tuple[FormerName, ...]
    changed: Tombstone | None


def prompt_page_data(
    view: BundleView, prompt: Prompt, page: str, history: History, words: Wording
) -> dict[str, Any]:
    """Return what the template of a prompt's page needs."""
    title = words.prompt_title(prompt, view.suite)
    cards = [
        _card(view, entry, prompt, history, lambda url: relative(url, page), words)
        for entry in view.entries
    ]
    answered = sum(card.answer is not None for card in cards)
    count = words.count("%(num)s answer", "%(num)s answers", answered)
    rule = view.suite.ko_rule
    pages = [(one, view.links.prompt(one)) for one in view.prompt_ids]
    return words.frame(view, Crumb(prompt.id)) | {
        "meta": Meta(
            f"{prompt.id} {title}",
            f"{count}. {words.shorten(prompt.turns()[-1].content, 160)}",
        ),
        "prompt": prompt,
        "title": title,
        "turns": [_turn(turn, words) for turn in prompt.turns()],
        "follows_url": view.links.prompt(prompt.follows) if prompt.follows else None,
        "fatal": rule is not None and rule.covers(prompt),
        "heading": count,
        "cards": cards,
        "turning": words.turning(pages, view.prompt_ids.index(prompt.id)),
    }


def _turn(turn: Message, words: Wording) -> dict[str, str]:
    names = {
        "user": words.say("Task"),
        "assistant": words.say("Earlier reply"),
        "system": words.say("System message"),
    }
    return {"role": names[turn.role], "content": turn.content}


def _card(
    view: BundleView,
    entry: ModelEntry,
    prompt: Prompt,
    history: History,
    href: Href,
    words: Wording,
) -> AnswerCard:
    pair, links = entry.pair, view.links
    answer = view.answer(pair, prompt.id)
    citations = view.citing(pair, prompt.id)
    former = history.former.get(pair, [])
    spans = [*_spans(view, citations, href), *_former_spans(view, citations, former)]
    shown, thoughts = _parts(answer, spans, words) if answer else ([], [])
    knocks_out = any(trigger.prompt_id == prompt.id for trigger in view.row_of[pair].ko.triggers)
    return AnswerCard(
        entry=entry,
        answer=answer,
        anchor=links.pair_slug(pair),
        model_url=links.model(pair),
        ko_url=links.knock_out(pair) if knocks_out else None,
        flag=view.flag(pair, prompt.id),
        figures=_figures(answer, words) if answer else "",
        body=Markup("").join(shown),
        thoughts=tuple(thoughts),
        raw=raw_html(answer.text if answer else ""),
        cited_by=tuple(_cited_by(view, answer, one, words) for one in citations),
        evidence=answer_evidence(view, answer, words) if answer else "",
        former=tuple(
            FormerName(links.renamed(pair=old).pair_slug(old), one_line(f"{old[0]} ({old[1]})"))
            for old in former
        ),
        changed=history.changed.get((*pair, prompt.id)),
    )


def _cited_by(
    view: BundleView, answer: Answer | None, citation: Citation, words: Wording
) -> CitedBy:
    if answer is None or not citation.is_found:
        return CitedBy(citation, "", "")
    anchor = view.links.quote_anchor(citation.pair, citation.dimension, citation.number)
    return CitedBy(citation, anchor, quote_evidence(view, answer, citation, words))


def _figures(answer: Answer, words: Wording) -> str:
    tokens = answer.usage.completion_tokens if answer.usage else None
    parts = [] if tokens is None else [words.count("%(num)s token", "%(num)s tokens", tokens)]
    if answer.duration_s is not None:
        parts.append(f"{words.locale.number(answer.duration_s, 1)} s")
    return " · ".join(parts)


def _parts(
    answer: Answer, spans: Sequence[Span], words: Wording
) -> tuple[list[SafeHtml], list[Thought]]:
    """Return an answer's text with its quoted words marked, and its folded reasoning."""
    shown: list[SafeHtml] = []
    thoughts: list[Thought] = []
    if answer.reasoning:
        thoughts.append(_thought(answer.reasoning, answer_html(answer.reasoning), words))
    parts = split_thinking(answer.text)
    if not parts and answer.text.strip():
        parts = [Part("answer", answer.text, 0)]
    for part, share in zip(parts, share_spans(parts, spans), strict=True):
        html = answer_html(part.text, spans=share)
        if part.kind == "thinking":
            thoughts.append(_thought(part.text, html, words))
        else:
            shown.append(html)
    return shown, thoughts


def _thought(text: str, html: SafeHtml, words: Wording) -> Thought:
    return Thought(html, words.count("%(num)s word", "%(num)s words", len(text.split())))


def _spans(view: BundleView, citations: Sequence[Citation], href: Href) -> list[Span]:
    return [
        Span(
            start=citation.start,
            end=citation.end,
            id=view.links.quote_anchor(citation.pair, citation.dimension, citation.number),
            label=citation.dimension,
            href=href(view.links.model_dimension(citation.pair, citation.dimension)),
        )
        for citation in citations
        if citation.start is not None and citation.end is not None
    ]


def _former_spans(
    view: BundleView, citations: Sequence[Citation], former: Sequence[Pair]
) -> list[Span]:
    """Return the anchors that quoted words had under the earlier ids of a model."""
    return [
        Span(
            start=citation.start,
            end=citation.end,
            id=view.links.renamed(pair=old).quote_anchor(old, citation.dimension, citation.number),
            label=citation.dimension,
        )
        for old in former
        for citation in citations
        if citation.start is not None and citation.end is not None
    ]
