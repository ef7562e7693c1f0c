"""Sentences that more than one page needs, and the frame of every page, in the site's language."""

from __future__ import annotations

from dataclasses import dataclass, field

from markupsafe import Markup

from touchstone.gui.bundle_view import BundleView
from touchstone.gui.links import INDEX
from touchstone.gui.locale import Locale
from touchstone.gui.safe_html import visible
from touchstone.gui.views import Crumb, ScoreRow
from touchstone.models import KoRule, ModelEntry, Prompt, Suite, Text, pick_text

DESCRIPTION_LENGTH = 200


@dataclass(frozen=True)
class Meta:
    """Plain-text title and description of a page, and its table of contents."""

    title: str
    description: str
    toc: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Group:
    """Rows of a ranking under one heading ("" for the ranked ones)."""

    title: str
    rows: list[ScoreRow] = field(default_factory=list)


class Wording:
    """Words in the site's language; what comes from bundles is returned as plain text."""

    def __init__(self, locale: Locale) -> None:
        self.locale = locale
        self._ = locale.gettext

    def say(self, message: str, **values: object) -> str:
        """Return a translated text with its values filled in, as plain text."""
        return self._(message) % values if values else self._(message)

    def count(self, singular: str, plural: str, number: int) -> str:
        """Return the form of a text that fits a number, with the number filled in."""
        return self.locale.ngettext(singular, plural, number) % {"num": self.locale.number(number)}

    def markup(self, message: str, **values: object) -> Markup:
        """Return a translated text with its values filled in and escaped."""
        return Markup(self._(message)) % values

    def show(self, text: Text | None, suite: Suite) -> str:
        """Return a shown text as plain words: site language, suite language, whatever is first."""
        return visible(pick_text(text, self.locale.language, suite.language)[0])

    def model(self, entry: ModelEntry) -> str:
        """Return a model's name as plain text on one line."""
        return " ".join(visible(f"{entry.model} ({entry.variant})").split())

    def prompt_title(self, prompt: Prompt, suite: Suite) -> str:
        """Return a prompt's title; without one, the beginning of its text."""
        title = self.show(prompt.title, suite)
        return title or self.shorten(prompt.turns()[-1].content, 70)

    def shorten(self, text: str, length: int = DESCRIPTION_LENGTH) -> str:
        """Return text on one line, cut at a word where it is too long."""
        line = " ".join(visible(text).split())
        if len(line) <= length:
            return line
        cut = line[:length].rsplit(" ", 1)[0]
        return f"{cut}…"

    def kind(self, kind: str) -> str:
        """Return whether a judge or author is an AI or a person."""
        return {"ai": self._("AI"), "human": self._("human")}.get(kind, kind)

    def decision(self, decision: str) -> str:
        """Return a review's decision in words."""
        return {
            "accept": self._("accepted"),
            "reject": self._("rejected"),
            "flag:green": self._("set to green"),
            "flag:yellow": self._("set to yellow"),
            "flag:red": self._("set to red"),
        }.get(decision, decision)

    def mode(self, mode: str | None) -> str:
        """Return a judging mode in words."""
        return {
            "single": self._("all answers at once"),
            "map-reduce": self._("evidence answer by answer, then the whole (map-reduce)"),
        }.get(mode or "", mode or "")

    def parse(self, how: str) -> str:
        """Return how a judge's reply was read, in words."""
        return {
            "strict": self._("as agreed"),
            "repaired": self._("after repair"),
            "tolerant": self._("in another form"),
            "retried": self._("at the second or third try"),
            "missing": self._("not at all"),
            "error": self._("request failed"),
        }.get(how, how)

    def how_out(self, suite: Suite, rule: KoRule) -> str:
        """Return what knocks a model out, in one sentence."""
        fatal = [prompt.id for prompt in suite.prompts if rule.covers(prompt)]
        values = {"id": rule.dimension, "n": rule.threshold}
        if not fatal:
            return self.say("A model is knocked out by %(id)s at %(n)s or below.", **values)
        if len(fatal) == len(suite.prompts):
            return self.say(
                "A model is knocked out by a red flag on any prompt, or by %(id)s at %(n)s or "
                "below.",
                **values,
            )
        more = " …" if len(fatal) > 12 else ""
        return self.say(
            "A model is knocked out by a red flag on %(prompts)s, or by %(id)s at %(n)s or below.",
            prompts=", ".join(visible(prompt_id) for prompt_id in fatal[:12]) + more,
            **values,
        )

    def crumbs(self, view: BundleView, *steps: Crumb) -> list[Crumb]:
        """Return the breadcrumb of a bundle's page; the scorecard itself has no further steps."""
        home = Crumb(self._("Evaluations"), INDEX)
        title = self.show(view.bundle.title, view.suite)
        own = Crumb(title, view.links.scorecard if steps else None)
        return [home, own, *steps]

    def tabs(self, view: BundleView) -> list[tuple[str, str, str]]:
        """Return the tabs of a bundle: key, title, address."""
        links = view.links
        tabs = [
            ("scorecard", self._("Scorecard"), links.scorecard),
            ("models", self._("Models"), links.section("profiles")),
            ("prompts", self._("Prompts"), links.section("prompts")),
        ]
        if not any(row.report for row in view.rows):
            tabs[1] = ("models", self._("Models"), links.model(view.entries[0].pair))
        if view.suite.ko_rule is not None:
            tabs.append(("gate", self._("K.-o. gate"), links.gate))
        return [*tabs, ("run", self._("Run"), links.run)]

    def groups(self, lines: list[ScoreRow]) -> list[Group]:
        """Return ranking rows by group: the ranked, those the gate keeps out, those not judged."""
        ranked = Group("")
        out = Group(self._("Not ranked: the gate comes before the total"))
        unjudged = Group(self._("Not judged yet"))
        for line in lines:
            if line.row.rank is not None:
                ranked.rows.append(line)
            elif line.row.report is None:
                unjudged.rows.append(line)
            else:
                out.rows.append(line)
        return [group for group in (ranked, out, unjudged) if group.rows]
