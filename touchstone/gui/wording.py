"""Sentences that more than one page needs, and the frame of every page, in the site's language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from touchstone.gui.bundle_view import BundleView, Cell, CitationClass, Line
from touchstone.gui.links import INDEX
from touchstone.gui.locale import Locale, Shown, one_line
from touchstone.models import (
    Author,
    Dimension,
    KoRule,
    ModelEntry,
    Prompt,
    Suite,
    Text,
    Verdict,
)
from touchstone.scorecard import KoState

DESCRIPTION_LENGTH = 200


@dataclass(frozen=True)
class Meta:
    """Plain-text title and description of a page, and its table of contents."""

    title: str
    description: str
    toc: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Crumb:
    """One step of a page's breadcrumb; without a URL it is the page itself."""

    title: str
    url: str | None = None


@dataclass(frozen=True)
class Group:
    """Lines of a ranking under one heading ("" for the ranked ones)."""

    title: str
    lines: list[Line] = field(default_factory=list)


@dataclass(frozen=True)
class Turning:
    """The way through pages in a row: label and address of the one before and the one after."""

    previous: tuple[str, str] | None
    next: tuple[str, str] | None
    position: str


class Wording:
    """Words in the site's language; what comes from bundles is returned as plain text."""

    def __init__(self, locale: Locale) -> None:
        self.locale = locale
        self._ = locale.gettext

    def say(self, message: str, **values: object) -> str:
        """Return a translated text with its values filled in, as plain text."""
        return self._(message) % values if values else self._(message)

    def count(self, singular: str, plural: str, number: int, **values: object) -> str:
        """Return the form of a text that fits a number, with the number filled in."""
        form = self.locale.ngettext(singular, plural, number)
        return form % {"num": self.locale.number(number), **values}

    def markup(self, message: str, **values: object) -> Markup:
        """Return a translated text with its values filled in and escaped."""
        return Markup(self._(message)) % values

    # --- what bundles say ------------------------------------------------------------------

    def show(self, text: Text | None, suite: Suite) -> Shown:
        """Return a shown text: site language, suite language, whatever is first."""
        return self.locale.show(text, suite.language)

    def english(self, text: str) -> Shown:
        """Return what a tool reported, which is English whatever the site's language is."""
        return self.locale.show(text, "en")

    def bundle_title(self, view: BundleView) -> Shown:
        """Return a bundle's title; where it says nothing, its id."""
        title = self.show(view.bundle.title, view.suite)
        return title if title.strip() else Shown(view.bundle.id, None)

    def model(self, entry: ModelEntry) -> str:
        """Return a model's name as plain text on one line."""
        return one_line(f"{entry.model} ({entry.variant})")

    def dimension(self, dimension: Dimension, suite: Suite) -> str:
        """Return id and name of a dimension as plain text on one line."""
        return one_line(f"{dimension.id} {self.show(dimension.name, suite)}")

    def prompt_title(self, prompt: Prompt, suite: Suite) -> Shown:
        """Return a prompt's title; without one, the beginning of its text."""
        title = self.show(prompt.title, suite)
        if title.strip():
            return title
        return self.show(self.shorten(prompt.turns()[-1].content, 70), suite)

    def shorten(self, text: str, length: int = DESCRIPTION_LENGTH) -> str:
        """Return text on one line, cut at a word where it is too long."""
        line = one_line(text)
        if len(line) <= length:
            return line
        return f"{line[:length].rsplit(' ', 1)[0]}…"

    def no_judge(self, view: BundleView) -> str:
        """Return what to say of the judge where the bundle names none."""
        if view.is_judged or view.flags:
            return self._("The bundle does not say who judged.")
        return self._("Not judged yet.")

    # --- words for values ------------------------------------------------------------------

    def kind(self, kind: str) -> str:
        """Return whether a judge or author is an AI or a person."""
        return {"ai": self._("AI"), "human": self._("human")}[kind]

    def author(self, author: Author) -> str:
        """Return who decided, and that it was a person or an AI."""
        return f"{author.id} ({self.kind(author.kind)})"

    def verdict_by(self, verdict: Verdict) -> str:
        """Return whose view a verdict is."""
        return {
            "judge": self._("Judge"),
            "rule": self._("Rule"),
            "human": self._("A person"),
            "import": self._("Imported"),
        }[verdict.source]

    def gate(self, state: KoState) -> str:
        """Return what the gate says of a model, in a word."""
        return {
            "passed": self._("passed"),
            "failed": self._("K.-o."),
            "not_assessable": self._("not assessable"),
            "none": self._("no gate"),
        }[state]

    def cited(self, kind: CitationClass) -> str:
        """Return the class of a citation in a word or two."""
        return {
            "verbatim": self._("verbatim"),
            "normalised": self._("normalised"),
            "in_parts": self._("in parts"),
            "near": self._("nearly"),
            "from_prompt": self._("from the prompt"),
            "misattributed": self._("another answer"),
            "cross_model": self._("another model’s answer"),
            "unverifiable": self._("unverifiable"),
            "too_short": self._("too short"),
            "dangling": self._("dangling"),
            "absence_passed": self._("absence holds"),
            "absence_failed": self._("absence does not hold"),
            "paraphrase": self._("paraphrase"),
            "mention": self._("named"),
        }[kind]

    def score_title(self, cell: Cell, suite: Suite) -> str:
        """Return what a mark on a profile stands for, as plain text."""
        values = {"id": cell.dimension.id, "name": self.show(cell.dimension.name, suite)}
        if cell.score is None:
            return self.say("%(id)s %(name)s: missing", **values)
        return self.say("%(id)s %(name)s: %(score)s of 5", score=cell.score, **values)

    def decision(self, decision: str) -> str:
        """Return a review's decision in words."""
        return {
            "accept": self._("accepted"),
            "reject": self._("rejected"),
            "flag:green": self._("set to green"),
            "flag:yellow": self._("set to yellow"),
            "flag:red": self._("set to red"),
        }[decision]

    def mode(self, mode: str | None) -> str:
        """Return a judging mode in words."""
        return {
            "single": self._("all answers at once"),
            "map-reduce": self._("evidence answer by answer, then the whole (map-reduce)"),
        }.get(mode or "", "")

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
        return self.say(
            "A model is knocked out by a red flag on %(prompts)s, or by %(id)s at %(n)s or below.",
            prompts=self.ids(fatal, most=12),
            **values,
        )

    def ids(self, ids: Sequence[str], *, most: int) -> str:
        """Return ids as a list; of a long one, the beginning and how many more there are."""
        named = ", ".join(ids[:most])
        more = len(ids) - most
        if more <= 0:
            return named
        return f"{named} {self.count('and %(num)s more', 'and %(num)s more', more)}"

    # --- the frame of a page ---------------------------------------------------------------

    def frame(self, view: BundleView, *steps: Crumb) -> dict[str, Any]:
        """Return what stands around every page of a bundle.

        The breadcrumb leads to the page by ``steps``; the scorecard has none.
        """
        own = Crumb(self.bundle_title(view), view.links.scorecard if steps else None)
        return {
            "view": view,
            "crumbs": [Crumb(self._("Evaluations"), INDEX), own, *steps],
            "tabs": self._tabs(view),
        }

    def _tabs(self, view: BundleView) -> list[tuple[str, str, str]]:
        """Return the tabs of a bundle: key, title, address."""
        links = view.links
        tabs = [("scorecard", self._("Scorecard"), links.scorecard)]
        if view.is_judged:
            tabs.append(("models", self._("Models"), links.section("profiles")))
        elif view.models:
            tabs.append(("models", self._("Models"), links.model(view.lines[0].entry.pair)))
        tabs.append(("prompts", self._("Prompts"), links.section("prompts")))
        if view.suite.ko_rule is not None:
            tabs.append(("gate", self._("K.-o. gate"), links.gate))
        if view.is_judged:
            tabs.append(("evidence", self._("Evidence"), links.evidence))
        if view.judge_quality is not None:
            tabs.append(("judge-quality", self._("Judge quality"), links.judge_quality))
        return [*tabs, ("run", self._("Run"), links.run)]

    def turning(self, pages: Sequence[tuple[str, str]], at: int) -> Turning:
        """Return the way from one page to its neighbours; ``pages`` are labels and addresses."""
        return Turning(
            previous=pages[at - 1] if at > 0 else None,
            next=pages[at + 1] if at + 1 < len(pages) else None,
            position=self.say("%(n)s of %(all)s", n=at + 1, all=len(pages)),
        )

    def groups(self, lines: Sequence[Line]) -> list[Group]:
        """Return ranking lines by group: ranked, kept out by the gate, not judged."""
        ranked = Group("")
        out = Group(self._("Not ranked: the gate comes before the total"))
        unjudged = Group(self._("Not judged yet"))
        for line in lines:
            if line.row.rank is not None:
                ranked.lines.append(line)
            elif line.row.report is None and line.row.ko.state != "failed":
                unjudged.lines.append(line)
            else:
                out.lines.append(line)
        return [group for group in (ranked, out, unjudged) if group.lines]
