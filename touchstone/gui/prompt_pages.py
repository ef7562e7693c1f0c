"""The data of a prompt's page: the task, what was expected, and all answers to it."""

from __future__ import annotations

from typing import Any

from touchstone.gui.bundle_view import BundleView
from touchstone.gui.links import relative
from touchstone.gui.safe_html import visible
from touchstone.gui.views import CLASS_ICONS, Crumb, answer_cards
from touchstone.gui.wording import Meta, Wording
from touchstone.models import Message, Prompt


def prompt_page_data(view: BundleView, prompt: Prompt, page: str, words: Wording) -> dict[str, Any]:
    """Return what the template of a prompt's page needs."""
    title = words.prompt_title(prompt, view.suite)
    at = view.prompt_ids.index(prompt.id)
    cards = answer_cards(view, prompt, lambda url: relative(url, page))
    answered = sum(card.answer is not None for card in cards)
    count = words.count("%(num)s answer", "%(num)s answers", answered)
    rule = view.suite.ko_rule
    return {
        "meta": Meta(
            f"{visible(prompt.id)} {title}",
            f"{count}. {words.shorten(prompt.turns()[-1].content, 160)}",
        ),
        "view": view,
        "crumbs": words.crumbs(view, Crumb(visible(prompt.id))),
        "tabs": words.tabs(view),
        "prompt": prompt,
        "title": title,
        "turns": [_turn(turn, words) for turn in prompt.turns()],
        "follows_url": view.links.prompt(prompt.follows) if prompt.follows else None,
        "fatal": rule is not None and rule.covers(prompt),
        "heading": count,
        "cards": cards,
        "class_icons": CLASS_ICONS,
        "words": words,
        "previous": _neighbour(view, at - 1),
        "next": _neighbour(view, at + 1),
        "position": _position(view, prompt, at, words),
    }


def _turn(turn: Message, words: Wording) -> dict[str, str]:
    names = {
        "user": words.say("Task"),
        "assistant": words.say("Earlier reply"),
        "system": words.say("System message"),
    }
    return {"role": names[turn.role], "content": turn.content}


def _neighbour(view: BundleView, at: int) -> tuple[str, str] | None:
    if not 0 <= at < len(view.prompt_ids):
        return None
    return visible(view.prompt_ids[at]), view.links.prompt(view.prompt_ids[at])


def _position(view: BundleView, prompt: Prompt, at: int, words: Wording) -> str:
    place = words.say("%(n)s of %(all)s", n=at + 1, all=len(view.prompt_ids))
    if not prompt.group:
        return place
    return f"{place} · " + words.say("group %(id)s", id=visible(prompt.group))
