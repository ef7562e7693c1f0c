"""The data of a prompt's page: the task, what was expected, and all answers to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from touchstone.gui.answer_texts import AnswerText, RenderedPart
from touchstone.gui.bundle_view import BundleView, Citation
from touchstone.gui.citations import Href
from touchstone.gui.copied_evidence import answer_evidence, quote_evidence
from touchstone.gui.history import History
from touchstone.gui.links import Pair, relative
from touchstone.gui.locale import one_line
from touchstone.gui.permalinks import Tombstone
from touchstone.gui.safe_html import SafeHtml, Span, raw_html
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
    """Who cites an answer. Marked words have an anchor; those that were found, Markdown to copy."""

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


RenderParts = Callable[[AnswerText], list[RenderedPart]]


def prompt_page_data(
    view: BundleView,
    prompt: Prompt,
    page: str,
    history: History,
    words: Wording,
    render: RenderParts,
) -> dict[str, Any]:
    """Return what the template of a prompt's page needs; ``render`` makes HTML of answers."""
    title = words.prompt_title(prompt, view.suite)
    cards = [_card(view, entry, prompt, history, words, render) for entry in view.entries]
    answered = sum(card.answer is not None for card in cards)
    count = words.count("%(num)s answer", "%(num)s answers", answered)
    rule = view.suite.ko_rule
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
        "turning": words.turning(view.prompt_pages, view.prompt_place(prompt.id)),
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
    words: Wording,
    render: RenderParts,
) -> AnswerCard:
    pair, links = entry.pair, view.links
    answer = view.answer(pair, prompt.id)
    citations = view.citing(pair, prompt.id)
    former = history.former.get(pair, [])
    parts = render(_text(view, answer, history)) if answer else []
    knocks_out = any(trigger.prompt_id == prompt.id for trigger in view.row_of[pair].ko.triggers)
    return AnswerCard(
        entry=entry,
        answer=answer,
        anchor=links.pair_slug(pair),
        model_url=links.model(pair),
        ko_url=links.knock_out(pair) if knocks_out else None,
        flag=view.flag(pair, prompt.id),
        figures=_figures(answer, words) if answer else "",
        body=Markup("").join(one.html for one in parts if one.kind == "answer"),
        thoughts=tuple(_thought(one, words) for one in parts if one.kind == "thinking"),
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
    if answer is None or not citation.is_marked:
        return CitedBy(citation, "", "")
    anchor = view.links.quote_anchor(citation.pair, citation.dimension, citation.number)
    copied = quote_evidence(view, answer, citation, words) if citation.is_found else ""
    return CitedBy(citation, anchor, copied)


def _figures(answer: Answer, words: Wording) -> str:
    tokens = answer.usage.completion_tokens if answer.usage else None
    parts = [] if tokens is None else [words.count("%(num)s token", "%(num)s tokens", tokens)]
    if answer.duration_s is not None:
        parts.append(f"{words.locale.number(answer.duration_s, 1)} s")
    return " · ".join(parts)


def _thought(part: RenderedPart, words: Wording) -> Thought:
    return Thought(part.html, words.count("%(num)s word", "%(num)s words", part.words))


def answer_texts(
    view: BundleView, prompts: Iterable[Prompt], history: History
) -> Iterator[AnswerText]:
    """Yield what is to be rendered for the pages of some prompts, model by model."""
    prompts = list(prompts)
    for entry in view.entries:
        for prompt in prompts:
            answer = view.answer(entry.pair, prompt.id)
            if answer is not None:
                yield _text(view, answer, history)


def _text(view: BundleView, answer: Answer, history: History) -> AnswerText:
    """Return an answer with the quoted words that are marked in it."""
    pair, page = answer.pair, view.links.prompt(answer.prompt_id)
    citations = view.citing(pair, answer.prompt_id)
    former = history.former.get(pair, [])
    spans = _spans(view, citations, lambda url: relative(url, page))
    spans += _former_spans(view, citations, former)
    return AnswerText(answer.text, answer.reasoning or "", tuple(spans))


def _spans(view: BundleView, citations: Sequence[Citation], href: Href) -> list[Span]:
    """Return the words to mark: each citation has one anchor and one link back."""
    spans = []
    for one in citations:
        if not one.is_marked:
            continue
        anchor = view.links.quote_anchor(one.pair, one.dimension, one.number)
        back = href(view.links.model_dimension(one.pair, one.dimension))
        last = len(one.spans) - 1
        spans += [
            Span(start, end, "" if n else anchor, one.dimension, back if n == last else "")
            for n, (start, end) in enumerate(one.spans)
        ]
    # Where passages are the same, the mark bears the name of one that has a name.
    return sorted(spans, key=lambda span: not span.id)


def _former_spans(
    view: BundleView, citations: Sequence[Citation], former: Sequence[Pair]
) -> list[Span]:
    """Return the anchors that quoted words had under the earlier ids of a model."""
    return [
        Span(
            *citation.spans[0],
            id=view.links.renamed(pair=old).quote_anchor(old, citation.dimension, citation.number),
            label=citation.dimension,
        )
        for old in former
        for citation in citations
        if citation.is_marked
    ]
