"""The data of the page about a judge that was compared with a reference (ADR-0013)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from touchstone.gui.bundle_view import BundleView
from touchstone.gui.citations import rationale_html
from touchstone.gui.judge_agreement_tables import (
    Href,
    dimension_rows,
    known_ratings,
    rating_table,
    score_grid,
    statistics,
)
from touchstone.gui.judge_figures import Disagreement, JudgeFigures, Rating, ReferenceFigures
from touchstone.gui.judge_gate_tables import flag_table, gate_table
from touchstone.gui.judge_quality import JudgeQualityFiles
from touchstone.gui.judge_rationale_tables import evidence_table, rubric_rows
from touchstone.gui.judge_wording import (
    MIN_FOR_VERDICT,
    comparison,
    decimal,
    finding,
    headline_of,
    share,
    short_range,
    signed,
    stale_text,
)
from touchstone.gui.links import JUDGES, Pair, relative
from touchstone.gui.locale import one_line
from touchstone.gui.run_pages import Fact
from touchstone.gui.safe_html import answer_html, text_html
from touchstone.gui.wording import Crumb, Meta, Wording
from touchstone.models import Dimension, ModelEntry

FAR_APART = 2
MOST_DISAGREEMENTS = 30
"""Disagreements that the page shows; the report below names all."""
MOST_LISTED = 12
"""Links in a row that stand open; more are folded."""


def judge_quality_page_data(
    view: BundleView, found: JudgeQualityFiles, words: Wording
) -> dict[str, Any]:
    """Return what the template of the judge-quality page needs."""
    page, of = view.links.judge_quality, found.checked

    def href(url: str) -> str:
        return relative(url, page)

    said = comparison(of, words)
    data = {
        "of": of,
        "title": finding(of, words),
        "comparison": said,
        "is_few": of.n is not None and of.n < MIN_FOR_VERDICT,
        "min_for_verdict": MIN_FOR_VERDICT,
        "stale": stale_text(found, words) if found.is_stale else None,
        "headline": headline_of(of) or "–",
        "key_figures": _key_figures(of, words),
        "most_listed": MOST_LISTED,
        **_agreement(view, found, href, words),
        "evidence": evidence_table(of.evidence, words),
        "rubric": rubric_rows(of, words),
        "references": [_reference(of, one, words) for one in of.references],
        "provenance": _provenance(view, of, words),
        "judges_url": view.links.judge_row if view.is_judged else JUDGES,
        "not_held": _not_held(of, words),
        "document": _document(found),
    }
    title = words.say("Judge quality: %(title)s", title=words.bundle_title(view))
    meta = Meta(title, words.shorten(said.striptags()), _toc(data, words))
    return {**data, "meta": meta, **words.frame(view, Crumb(words.say("Judge quality")))}


def _agreement(
    view: BundleView, found: JudgeQualityFiles, href: Href, words: Wording
) -> dict[str, Any]:
    """Return how far both sides agree: by dimension, by rating, on the gate, on flags."""
    of = found.checked
    known = known_ratings(view, of)
    apart = list(_disagreements(view, of, known, href, words))
    return {
        "dimensions": dimension_rows(view, of, words),
        "has_levels": any(one and one.evidence_level for one in of.per_dimension.values()),
        "ratings": rating_table(view, of, href, words),
        "statistics": statistics(of, words),
        "grid": score_grid(of, known),
        "gate": gate_table(view, of, words, is_stale=found.is_stale),
        "flags": flag_table(view, of.flags, words) if of.flags else None,
        "disagreements": apart[:MOST_DISAGREEMENTS],
        "more_disagreements": max(len(apart) - MOST_DISAGREEMENTS, 0),
        "is_compared_singly": of.holds("disagreements") or bool(known),
    }


def _toc(data: Mapping[str, Any], words: Wording) -> tuple[tuple[str, str], ...]:
    return (
        ("dimensions", words.say("By dimension")),
        *([("ratings", words.say("Rating by rating"))] if data["ratings"] else []),
        *([("grid", words.say("Score by score"))] if data["grid"] else []),
        ("figures", words.say("Agreement in figures")),
        ("gate", words.say("K.-o. gate")),
        ("flags", words.say("Verdict flags")),
        ("evidence", words.say("Evidence fidelity")),
        ("rubric", words.say("Rubric")),
        ("disagreements", words.say("Disagreements of 2 and more")),
        ("probes", words.say("Probes")),
        ("references", words.say("References")),
        ("provenance", words.say("Provenance")),
    )


def _document(found: JudgeQualityFiles) -> Markup:
    # The document's own title stands above already, and its headline in a line of its own.
    text = re.sub(r"\A#[^\n]*\n+(```text\n.*?\n```\n)?", "", found.markdown, flags=re.DOTALL)
    return Markup(answer_html(text, first_heading=3)) if text.strip() else Markup("")


def _not_held(of: JudgeFigures, words: Wording) -> list[str]:
    """Return what a file of an older version, or written by hand, does not hold."""
    keys = {
        "ratings": words.say("single ratings"),
        "counts": words.say("counts score by score"),
        "flags": words.say("verdict flags"),
        "disagreements": words.say("disagreements"),
    }
    return [name for key, name in keys.items() if not of.holds(key)]


@dataclass(frozen=True)
class KeyFigure:
    """A figure on top of the page, and what stands beside it."""

    name: str
    value: str
    note: str
    url: str | None = None


def _key_figures(of: JudgeFigures, words: Wording) -> list[KeyFigure]:
    constant = of.best_constant
    always = constant and constant.score and words.say("always %(score)s", score=constant.score)
    n = words.say("n %(num)s", num="–" if of.n is None else words.locale.number(of.n))
    spread = short_range(of.mae_ci, of.models, words)
    lean = round(of.bias or 0, 2)
    side = words.say("lenient") if lean > 0 else words.say("strict") if lean < 0 else ""
    return [
        KeyFigure(
            words.say("mean |Δ|"), decimal(of.mae, words), " · ".join(filter(None, (n, spread)))
        ),
        KeyFigure(
            words.say("best constant"),
            decimal(constant.mae if constant else None, words),
            always or "",
        ),
        KeyFigure(words.say("skill"), decimal(of.skill, words), ""),
        KeyFigure(words.say("same score"), share(of.exact, words), n),
        KeyFigure(words.say("bias"), signed(of.bias, words), side),
    ]


# --- disagreements -------------------------------------------------------------------------


@dataclass(frozen=True)
class Dispute:
    """A score far from the reference's, with what both sides wrote.

    ``since`` is the judge's score now, where it is another one; the rationale is that of it.
    """

    entry: ModelEntry
    dimension: Dimension
    url: str
    judge: int
    reference: int
    delta: str
    since: str | None
    rationale: Markup
    others: tuple[tuple[str, Markup], ...]


def _disagreements(
    view: BundleView,
    of: JudgeFigures,
    known: Mapping[tuple[Pair, str], Rating],
    href: Href,
    words: Wording,
) -> Iterator[Dispute]:
    """Yield the disagreements of the file; where it has none of them, those of its ratings."""
    dimensions = {dimension.id: dimension for dimension in view.suite.dimensions}
    listed: Iterator[Rating] | tuple[Rating, ...] = (
        of.disagreements if of.holds("disagreements") else tuple(known.values())
    )
    seen = set()
    for one in listed:
        place = one.pair, one.dimension
        far = one.delta is not None and abs(one.delta) >= FAR_APART
        if far and place not in seen and one.pair in view.row_of and one.dimension in dimensions:
            seen.add(place)
            yield _dispute(view, one, dimensions[one.dimension], href, words)


def _dispute(
    view: BundleView, one: Rating, dimension: Dimension, href: Href, words: Wording
) -> Dispute:
    assert one.judge is not None
    assert one.reference is not None
    row = view.row_of[one.pair]
    now = row.dim_scores[dimension.id]
    texts = one.rationales if isinstance(one, Disagreement) else {}
    return Dispute(
        entry=row.entry,
        dimension=dimension,
        url=view.links.model_dimension(one.pair, dimension.id),
        judge=one.judge,
        reference=one.reference,
        delta=signed(one.delta, words, 0),
        since=None if now == one.judge else str(now or "–"),
        rationale=rationale_html(view, one.pair, dimension.id, href, words),
        others=tuple(
            (one_line(name) or "–", linked_html(view, one.pair, text or "", href))
            for name, text in texts.items()
        ),
    )


def linked_html(view: BundleView, pair: Pair, text: str, href: Href) -> Markup:
    """Return what somebody wrote about a model, with the prompt ids it names as links."""
    html = Markup("")
    at = 0
    for mention in view.checker.prompt_ids.mentions(text):
        html += text_html(text[at : mention.start])
        label = Markup("<bdi>{}</bdi>").format(one_line(text[mention.start : mention.end]))
        prompt_id = mention.prompt_ids[0]
        if view.has_answer(pair, prompt_id):
            url = href(view.links.answer(pair, prompt_id))
            label = Markup('<a class="ts-cite" href="{}">{}</a>').format(url, label)
        html += label
        at = mention.end
    return html + text_html(text[at:])


# --- references and provenance -------------------------------------------------------------


@dataclass(frozen=True)
class ReferenceRow:
    """One reference, and how far the judge agrees with it alone."""

    name: str
    kind: str
    blind: str
    n: str
    apart: str
    skill: str
    exact: str
    bias: str
    kappa: str


def _reference(of: JudgeFigures, one: ReferenceFigures, words: Wording) -> ReferenceRow:
    is_whole = len(of.references) == 1 and one.n is None
    own = of if is_whole else one
    blind = of.blind if one.blind is None and len(of.references) == 1 else one.blind
    return ReferenceRow(
        name=one_line(one.id) or "–",
        kind="–" if one.kind is None else words.kind(one.kind),
        blind={True: words.say("yes"), False: words.say("no"), None: "–"}[blind],
        n="–" if own.n is None else words.locale.number(own.n),
        apart=decimal(own.mae, words),
        skill=decimal(own.skill, words),
        exact=share(own.exact, words),
        bias=signed(own.bias, words),
        kappa=decimal(own.qwk, words),
    )


def _provenance(view: BundleView, of: JudgeFigures, words: Wording) -> list[Fact]:
    """Return what the comparison is about, by hashes."""
    judge = view.bundle.manifest.judge
    hashes = of.hashes
    requests = hashes.get("requests")
    named = [
        (words.say("Judge"), of.judge_id or (judge.id if judge else "")),
        (words.say("Fingerprint of the judge"), of.judge),
        (words.say("Bundle, sha256"), hashes.get("bundle")),
        (words.say("Suite, sha256"), hashes.get("suite")),
        (words.say("Answers, sha256"), hashes.get("answers")),
    ]
    for part, sha256 in requests.items() if isinstance(requests, dict) else ():
        named.append((words.say("Request %(part)s, sha256", part=_part(part, words)), sha256))
    for one in of.references:
        for part, sha256 in one.responses.items():
            name = words.say(
                "Response of %(id)s %(part)s, sha256", id=one_line(one.id), part=_part(part, words)
            )
            named.append((name, sha256))
    named.append((words.say("Seed of the intervals"), None if of.seed is None else str(of.seed)))
    is_text = [(name, value) for name, value in named if isinstance(value, str) and value.strip()]
    return [
        Fact(name, one_line(value), code=index > 0) for index, (name, value) in enumerate(is_text)
    ]


def _part(part: object, words: Wording) -> str:
    name = one_line(str(part))
    return words.say("A and B") if name == "both" else name.upper()
