"""The data of a prompt's page: the task, what was expected, and all answers to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from touchstone.gui.bundle_view import BundleView, Citation
from touchstone.gui.citations import Href
from touchstone.gui.links import relative
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
class AnswerCard:
    """An answer on its prompt's page, with what the judge said and who cites it."""

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
    citations: tuple[Citation, ...]


def prompt_page_data(view: BundleView, prompt: Prompt, page: str, words: Wording) -> dict[str, Any]:
    """Return what the template of a prompt's page needs."""
    title = words.prompt_title(prompt, view.suite)
    cards = [
        _card(view, entry, prompt, lambda url: relative(url, page), words) for entry in view.entries
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
    view: BundleView, entry: ModelEntry, prompt: Prompt, href: Href, words: Wording
) -> AnswerCard:
    pair, links = entry.pair, view.links
    answer = view.answer(pair, prompt.id)
    citations = view.citing(pair, prompt.id)
    shown, thoughts = _parts(answer, _spans(view, citations, href), words) if answer else ([], [])
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
        citations=tuple(citations),
    )


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
