"""The long lists of a page that compares two bundles: answers, flags and citations.

Only so many stand there in full that the page can be read and sent; all others are links, and of
very many the number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from markupsafe import Markup

from touchstone.gui.bundle_view import AnswerKey, BundleView, Citation
from touchstone.gui.citations import citation_html
from touchstone.gui.compare import (
    AnswerMatch,
    CitationChange,
    CitationChanges,
    Colour,
    Comparison,
    FlagChange,
    ModelChange,
)
from touchstone.gui.compare_texts import answer_urls, changed_answer
from touchstone.gui.links import relative
from touchstone.gui.locale import Shown, one_line
from touchstone.gui.wording import Wording
from touchstone.models import ModelEntry

MOST_DIFFS = 50
"""Changed answers that are shown word by word."""
MOST_FLAGS = 30
"""Changed flags that are rows of the table."""
MOST_LINKS = 1_000
"""Links to further answers, and as many to further flags."""
MOST_CITATIONS = 300
MOST_PER_DIMENSION = 20
LONGEST_QUOTE = 160
COLOURS: tuple[Colour, ...] = ("green", "yellow", "red", "none")

Item = TypeVar("Item")


@dataclass(frozen=True)
class LinkList:
    """Links to both sides of further answers under a heading, and how many more there are."""

    title: Markup
    links: list[tuple[str, str, str]]
    more: int

    @property
    def count(self) -> int:
        """How many answers the list stands for."""
        return len(self.links) + self.more


def _link_lists(
    comparison: Comparison,
    items: Sequence[Item],
    answer_of: Callable[[Item], AnswerMatch],
    title_of: Callable[[Item], Markup],
) -> list[LinkList]:
    """Return links to both sides of the items' answers, those of one title together."""
    groups: dict[Markup, list[Item]] = {}
    for item in items:
        groups.setdefault(title_of(item), []).append(item)
    room, lists = MOST_LINKS, []
    for title, group in groups.items():
        links = [
            (one_line(answer_of(item).after[2]), *answer_urls(comparison, answer_of(item)))
            for item in group[:room]
        ]
        room -= len(links)
        lists.append(LinkList(title, links, len(group) - len(links)))
    return lists


def _name(entry: ModelEntry) -> Markup:
    return Markup("<bdi>{}</bdi> <small><bdi>{}</bdi></small>").format(
        one_line(entry.model), one_line(entry.variant)
    )


# --- answers -------------------------------------------------------------------------------


def answer_section(comparison: Comparison, words: Wording) -> dict[str, Any]:
    """Return the changed answers: the first ones word by word, those with another flag first."""
    found = comparison.answers
    flags = _changed_flags(comparison)
    changed = sorted(found.changed, key=lambda match: _urgency(flags.get(match.after)))
    return {
        "finding": answers_finding(comparison, words),
        "shown": [
            changed_answer(comparison, match, _flags_of(comparison, match), words)
            for match in changed[:MOST_DIFFS]
        ],
        "others": _link_lists(
            comparison,
            changed[MOST_DIFFS:],
            lambda match: match,
            lambda match: _name(comparison.after.row_of[match.after[:2]].entry),
        ),
        "only": [
            (words.say("Only before"), *_only(comparison.before, found.only_before, words)),
            (words.say("Only after"), *_only(comparison.after, found.only_after, words)),
        ],
    }


def _changed_flags(comparison: Comparison) -> Mapping[AnswerKey, FlagChange]:
    changed = comparison.flags.changed if comparison.flags else ()
    return {one.answer.after: one for one in changed}


def _urgency(flag: FlagChange | None) -> int:
    """Return the place in a list: red now, worse, better, from or to no verdict, as before."""
    if flag is None:
        return 4
    if flag.after == "red":
        return 0
    return {1: 1, -1: 2, 0: 3}[flag.direction]


def _flags_of(comparison: Comparison, match: AnswerMatch) -> tuple[Colour, Colour] | None:
    if comparison.flags is None:
        return None
    old = comparison.before.flag(match.before[:2], match.before[2]).flag
    new = comparison.after.flag(match.after[:2], match.after[2]).flag
    return old or "none", new or "none"


def answers_finding(comparison: Comparison, words: Wording) -> str:
    """Return how many common answers have another text, in a sentence."""
    found = comparison.answers
    if not found.common:
        return words.say("The two bundles have no answers in common.")
    common = words.count("%(num)s answer", "%(num)s answers", found.common)
    if not found.changed:
        return words.say("The same, letter for letter: %(answers)s.", answers=common)
    return words.count(
        "%(num)s of %(answers)s has another text.",
        "%(num)s of %(answers)s have another text.",
        len(found.changed),
        answers=common,
    )


def _only(
    view: BundleView, keys: Sequence[AnswerKey], words: Wording
) -> tuple[list[tuple[str, str]], int]:
    """Return links to answers that only one bundle has, and how many more there are."""
    links = [
        (
            one_line(f"{key[2]} · {words.model(view.row_of[key[:2]].entry)}"),
            view.links.answer(key[:2], key[2]),
        )
        for key in keys[:MOST_PER_DIMENSION]
    ]
    return links, len(keys) - len(links)


# --- flags ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class FlagRow:
    """An answer whose flag changed; ``has_new_text``: so did its text."""

    prompt_id: str
    entry: ModelEntry
    urls: tuple[str, str]
    change: FlagChange
    has_new_text: bool


def flag_section(comparison: Comparison, words: Wording) -> dict[str, Any] | None:
    """Return the changed flags of all common answers; None if a bundle has no flags at all."""
    found = comparison.flags
    if found is None:
        return None
    has_new_text = {match.after for match in comparison.answers.changed}
    changed = sorted(found.changed, key=_urgency)
    used = [
        colour
        for colour in COLOURS
        if any(colour in pair and n for pair, n in found.counts.items())
    ]
    return {
        "finding": _flags_finding(found.changed, sum(found.counts.values()), words),
        "labels": used,
        "grid": [
            (old, [(new == old, found.counts.get((old, new), 0)) for new in used]) for old in used
        ],
        "rows": [
            FlagRow(
                one_line(one.answer.after[2]),
                comparison.after.row_of[one.answer.after[:2]].entry,
                answer_urls(comparison, one.answer),
                one,
                one.answer.after in has_new_text,
            )
            for one in changed[:MOST_FLAGS]
        ],
        "others": _link_lists(
            comparison,
            changed[MOST_FLAGS:],
            lambda one: one.answer,
            lambda one: (
                _transition(one, words)
                + Markup(" · ")
                + _name(comparison.after.row_of[one.answer.after[:2]].entry)
            ),
        ),
    }


def _transition(change: FlagChange, words: Wording) -> Markup:
    names = {
        "green": words.say("green"),
        "yellow": words.say("yellow"),
        "red": words.say("red"),
        "none": words.say("no verdict"),
    }
    return Markup("{} → {}").format(names[change.before], names[change.after])


def _flags_finding(changed: Sequence[FlagChange], of: int, words: Wording) -> str:
    answers = words.count("%(num)s answer", "%(num)s answers", of)
    if not changed:
        return words.say("No flag has changed: %(answers)s.", answers=answers)
    counts = {way: sum(one.direction == way for one in changed) for way in (1, -1, 0)}
    return words.count(
        "%(num)s of %(answers)s has another flag: %(worse)s worse, %(better)s better, "
        "%(other)s with no verdict before or after.",
        "%(num)s of %(answers)s have another flag: %(worse)s worse, %(better)s better, "
        "%(other)s with no verdict before or after.",
        len(changed),
        answers=answers,
        worse=words.locale.number(counts[1]),
        better=words.locale.number(counts[-1]),
        other=words.locale.number(counts[0]),
    )


# --- citations -----------------------------------------------------------------------------


@dataclass(frozen=True)
class CitationRow:
    """A citation before and after, as links; "" for a side where there is none."""

    what: str
    before: Markup
    after: Markup
    quotes: tuple[str, ...]


@dataclass(frozen=True)
class DimensionCitations:
    """What changed in the evidence for a dimension of a model; ``more`` rows are not listed."""

    dimension: str
    name: Shown
    urls: tuple[str, str]
    text: str
    rows: list[CitationRow]
    more: int


@dataclass(frozen=True)
class ModelCitations:
    """What changed in the evidence for a model."""

    model: ModelChange
    dimensions: list[DimensionCitations]


def citation_section(comparison: Comparison, page: str, words: Wording) -> dict[str, Any] | None:
    """Return the changed citations by model and dimension; None where there are no two reports."""
    if not any(model.is_judged for model in comparison.models):
        return None
    found = comparison.citations
    room = MOST_CITATIONS
    models: dict[str, ModelCitations] = {}
    for one in found:
        rows = _citation_rows(comparison, one, page, words, min(room, MOST_PER_DIMENSION))
        room -= len(rows)
        key = comparison.after.links.pair_slug(one.model.after.row.pair)
        in_model = models.setdefault(key, ModelCitations(one.model, []))
        in_model.dimensions.append(_dimension_citations(comparison, one, rows, words))
    totals = [sum(counts) for counts in zip(*(one.counts for one in found), strict=True)]
    return {
        "finding": _citations_finding(totals or [0, 0, 0], _lost(found), words),
        "models": list(models.values()),
    }


def _lost(found: Iterable[CitationChanges]) -> int:
    """Return how many quotes stood in their answer before and stand there no more."""
    return sum(
        one.before is not None
        and one.after is not None
        and one.before.is_found
        and not one.after.is_found
        and not one.has_other_words
        for changes in found
        for one in changes.changed
    )


def _citations_finding(totals: Sequence[int], lost: int, words: Wording) -> str:
    changed, came, went = totals
    if not any(totals):
        return words.say("The same answers are cited, and every citation has the class it had.")
    text = words.say(
        "Citations: %(changed)s of another class, %(came)s new, %(went)s gone.",
        changed=words.locale.number(changed),
        came=words.locale.number(came),
        went=words.locale.number(went),
    )
    if lost:
        text += " " + words.count(
            "%(num)s quote that stood in its answer does not stand there any more.",
            "%(num)s quotes that stood in their answers do not stand there any more.",
            lost,
        )
    return text


def _dimension_citations(
    comparison: Comparison, of: CitationChanges, rows: list[CitationRow], words: Wording
) -> DimensionCitations:
    before, after = comparison.before, comparison.after
    dimension = after.suite.dimension(of.dimension)
    assert dimension is not None
    changed, came, went = of.counts
    parts = [
        (changed, words.say("another class")),
        (came, words.say("new")),
        (went, words.say("gone")),
        (of.reworded, words.say("other words")),
    ]
    return DimensionCitations(
        dimension=of.dimension,
        name=words.show(dimension.name, after.suite),
        urls=(
            before.links.model_dimension(of.model.before.row.pair, of.dimension),
            after.links.model_dimension(of.model.after.row.pair, of.dimension),
        ),
        text=" · ".join(f"{what}: {words.locale.number(n)}" for n, what in parts if n),
        rows=rows,
        more=len(of.changed) - len(rows),
    )


def _citation_rows(
    comparison: Comparison, of: CitationChanges, page: str, words: Wording, most: int
) -> list[CitationRow]:
    def linked(view: BundleView, citation: Citation | None) -> Markup:
        if citation is None:
            return Markup("")
        html = citation_html(
            view, citation, citation.prompt_id, lambda url: relative(url, page), words
        )
        if citation.is_bad or citation.is_weak or view.citation_url(citation) is None:
            return html
        # The link says the class for assistive software; here it is to be seen, too.
        return html + Markup(' <span class="ts-dim"{}>{}</span>').format(
            Markup("" if citation.kind == "mention" else ' aria-hidden="true"'),
            words.cited(citation.kind),
        )

    return [
        CitationRow(
            _what(one, words),
            linked(comparison.before, one.before),
            linked(comparison.after, one.after),
            _quotes(one, words),
        )
        for one in of.changed[:most]
    ]


def _what(change: CitationChange, words: Wording) -> str:
    if change.before is None:
        return words.say("new")
    if change.after is None:
        return words.say("gone")
    return words.say("other words") if change.has_other_words else words.say("another class")


def _quotes(change: CitationChange, words: Wording) -> tuple[str, ...]:
    items = [one.item for one in (change.before, change.after) if one is not None]
    quotes = (item.quote for item in items if item is not None and item.quote.strip())
    return tuple(dict.fromkeys(words.shorten(quote, LONGEST_QUOTE) for quote in quotes))
