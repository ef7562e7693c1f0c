"""The data of the page that lists every citation of a bundle and what became of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from touchstone.evidence_audit import Contradiction, ModelAudit
from touchstone.gui.bundle_view import BundleView, Citation
from touchstone.gui.citations import ICONS, place_text
from touchstone.gui.judge_rationale_tables import audited_table
from touchstone.gui.judge_wording import decimal, share, wilson_text
from touchstone.gui.links import Pair
from touchstone.gui.wording import Crumb, Meta, Wording
from touchstone.intervals import Rate
from touchstone.models import ModelEntry

MOST_OPEN = 2000
"""Citations up to which all tables stand open; of more, each model's is folded."""
MOST_NAMED = 200
"""Answers that are named one by one; of more, the beginning."""
MOST_LISTED = 200
"""Contradictions and reused passages that are listed; of more, the beginning."""
LONGEST_QUOTE = 140
"""Characters of a quote that stand open; a longer one is folded."""


@dataclass(frozen=True)
class CitationRow:
    """One citation in the list. ``quote`` is the whole one, ``short`` its beginning if it is long.

    ``place`` says in which answer the words really stand, ``offsets`` where in the cited one.
    """

    citation: Citation
    icon: str
    word: str
    anchor: str | None
    url: str | None
    report_url: str
    quote: str
    short: str | None
    terms: tuple[str, ...]
    observation: str
    place: str | None
    offsets: str


@dataclass(frozen=True)
class ModelCitations:
    """The citations of one model's report, those that do not hold first."""

    entry: ModelEntry
    anchor: str
    count: str
    rows: tuple[CitationRow, ...]


@dataclass(frozen=True)
class Link:
    """A prompt's answer, and where it stands."""

    text: str
    url: str


@dataclass(frozen=True)
class ModelLine:
    """The evidence about one model in figures; ``uncited`` answers nobody cites."""

    entry: ModelEntry
    url: str
    found: str
    fidelity: str
    interval: str
    cited: str
    red: str
    position: str
    uncited: tuple[Link, ...]
    more_uncited: int
    red_uncited: tuple[Link, ...]


@dataclass(frozen=True)
class Contrary:
    """Where a judge's words don't fit together; ``detail`` names the ids that only one side has."""

    entry: ModelEntry
    what: str
    dimensions: tuple[Link, ...]
    detail: str


@dataclass(frozen=True)
class Reused:
    """Words that several dimensions rest on."""

    entry: ModelEntry
    answer: Link
    quote: str
    dimensions: tuple[Link, ...]


@dataclass(frozen=True)
class MadeUp:
    """Ids that a rationale names though the suite has none such."""

    entry: ModelEntry
    rationale: Link
    ids: str


def evidence_page_data(view: BundleView, words: Wording) -> dict[str, Any]:
    """Return what the template of the evidence page needs."""
    audit = view.audit
    table = audited_table(audit.counts, words)
    title = _title(table.found, table.quotes, words)
    models = list(_citations(view, words))
    contradictions, reused = audit.contradictions, audit.reused
    return words.frame(view, Crumb(words.say("Evidence"))) | {
        "meta": Meta(
            words.say("Evidence: %(title)s", title=words.bundle_title(view)),
            words.shorten(title),
            _toc(words),
        ),
        "title": title,
        "table": table,
        "total": len(audit.items),
        "first": {row.citation.kind for one in models for row in one.rows if row.anchor},
        "is_folded": len(audit.items) > MOST_OPEN,
        "models": models,
        "lines": [_line(view, one, words) for one in audit.models],
        "cited": _of(audit.cited, words),
        "red_cited": _of(audit.red_cited, words) if audit.red_cited.n else None,
        "position": decimal(audit.position, words),
        "prose": audit.prose.fidelity,
        "prose_classes": [
            (ICONS[kind], words.cited(kind), count)
            for kind, count in audit.prose.classes.items()
            if count
        ],
        "unattributed": audit.unattributed,
        "made_up": list(_made_up(view)),
        "contradictions": [_contrary(view, one, words) for one in contradictions[:MOST_LISTED]],
        "more_contradictions": max(len(contradictions) - MOST_LISTED, 0),
        "reused": list(_reused(view, words)),
        "more_reused": max(len(reused) - MOST_LISTED, 0),
    }


def _toc(words: Wording) -> tuple[tuple[str, str], ...]:
    return (
        ("classes", words.say("By class")),
        ("models", words.say("By model")),
        ("citations", words.say("All citations")),
        ("uncited", words.say("Answers nobody cites")),
        ("reused", words.say("Reused evidence")),
        ("contradictions", words.say("Contradictions")),
        ("prose", words.say("In the rationales")),
    )


def _title(found: int, quotes: int, words: Wording) -> str:
    if not quotes:
        return words.say("The judge quotes nothing that could be looked up")
    return words.count(
        "%(found)s of %(num)s quote stands in the answer it is said to come from",
        "%(found)s of %(num)s quotes stand in the answers they are said to come from",
        quotes,
        found=words.locale.number(found),
    )


def _of(rate: Rate, words: Wording) -> str:
    return f"{words.locale.number(rate.count)} / {words.locale.number(rate.n)}"


# --- every citation ------------------------------------------------------------------------


def _citations(view: BundleView, words: Wording) -> Iterator[ModelCitations]:
    """Yield the citations model by model; the first of each class on the page has an anchor."""
    anchored: set[str] = set()
    for row in view.rows:
        cited = [one for d in view.suite.dimensions for one in view.evidence(row.pair, d.id)]
        cited.sort(key=lambda one: (not one.is_bad, not one.is_weak))
        rows = []
        for one in cited:
            anchor = None if one.kind in anchored else f"first-{one.kind}"
            anchored.add(one.kind)
            rows.append(_row(view, one, anchor, words))
        if rows:
            count = words.count("%(num)s citation", "%(num)s citations", len(rows))
            anchor = f"of-{view.links.pair_slug(row.pair)}"
            yield ModelCitations(row.entry, anchor, count, tuple(rows))


def _row(view: BundleView, one: Citation, anchor: str | None, words: Wording) -> CitationRow:
    item = one.item
    assert item is not None
    quote = item.quote.strip()
    return CitationRow(
        citation=one,
        icon=ICONS[one.kind],
        word=words.cited(one.kind),
        anchor=anchor,
        url=view.citation_url(one),
        report_url=view.links.model_dimension(one.pair, one.dimension),
        quote=quote,
        short=words.shorten(quote, LONGEST_QUOTE) if len(quote) > LONGEST_QUOTE else None,
        terms=item.absent_terms if item.kind == "absence" else (),
        observation=item.observation.strip(),
        place=None if one.place is None else place_text(view, one, words),
        offsets=", ".join(f"{start}–{end}" for start, end in one.spans) or "–",
    )


# --- by model ------------------------------------------------------------------------------


def _line(view: BundleView, one: ModelAudit, words: Wording) -> ModelLine:
    fidelity = one.counts.fidelity
    red = Rate(len(one.red_cited), len(one.red_cited) + len(one.red_uncited), None, None)
    cited = Rate(len(one.cited), len(one.cited) + len(one.uncited), None, None)
    return ModelLine(
        entry=view.row_of[one.pair].entry,
        url=view.links.model(one.pair),
        found=_of(fidelity, words),
        fidelity=share(fidelity.value, words),
        interval=wilson_text(fidelity.bounds, words),
        cited=_of(cited, words),
        red=_of(red, words) if red.n else "–",
        position=decimal(one.position, words),
        uncited=_answers(view, one.pair, one.uncited[:MOST_NAMED]),
        more_uncited=max(len(one.uncited) - MOST_NAMED, 0),
        red_uncited=_answers(view, one.pair, one.red_uncited),
    )


def _answers(view: BundleView, pair: Pair, ids: Sequence[str]) -> tuple[Link, ...]:
    return tuple(Link(one, view.links.answer(pair, one)) for one in ids)


def _dimensions(view: BundleView, pair: Pair, ids: Sequence[str]) -> tuple[Link, ...]:
    return tuple(Link(one, view.links.model_dimension(pair, one)) for one in ids)


# --- what does not fit together ------------------------------------------------------------


def _contrary(view: BundleView, one: Contradiction, words: Wording) -> Contrary:
    what = {
        "only_defects": words.say("a score of 4 or 5, and nothing but defects as evidence"),
        "fatal_at_5": words.say("a score of 5, and a fatal defect as evidence"),
        "same_rationale": words.say("the same rationale, word for word"),
        "ids_differ": words.say("rationale and evidence name different answers"),
    }[one.kind]
    sides = (
        (words.say("only in the rationale: %(ids)s"), one.only_in_rationale),
        (words.say("only in the evidence: %(ids)s"), one.only_in_evidence),
    )
    detail = "; ".join(text % {"ids": words.ids(ids, most=12)} for text, ids in sides if ids)
    return Contrary(
        view.row_of[one.pair].entry, what, _dimensions(view, one.pair, one.dimensions), detail
    )


def _reused(view: BundleView, words: Wording) -> Iterator[Reused]:
    for one in view.audit.reused[:MOST_LISTED]:
        answer = Link(one.prompt_id, _answer_url(view, one.pair, one.prompt_id))
        yield Reused(
            view.row_of[one.pair].entry,
            answer,
            words.shorten(one.quote, LONGEST_QUOTE),
            _dimensions(view, one.pair, one.dimensions),
        )


def _answer_url(view: BundleView, pair: Pair, prompt_id: str) -> str:
    """Return where an answer stands; "" where there is none."""
    is_there = view.links.knows_prompt(prompt_id) and view.has_answer(pair, prompt_id)
    return view.links.answer(pair, prompt_id) if is_there else ""


def _made_up(view: BundleView) -> Iterator[MadeUp]:
    for said in view.audit.rationales:
        if said.dangling:
            url = view.links.model_dimension(said.pair, said.dimension)
            entry = view.row_of[said.pair].entry
            yield MadeUp(entry, Link(said.dimension, url), ", ".join(said.dangling))
