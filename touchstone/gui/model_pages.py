"""The data of a model's report and of a dimension's page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from touchstone.gui.bundle_view import BundleView, Citation
from touchstone.gui.links import relative
from touchstone.gui.safe_html import raw_html, visible
from touchstone.gui.scorecard_pages import dot_title
from touchstone.gui.views import (
    CLASS_ICONS,
    Crumb,
    ScoreRow,
    flag_counts,
    rationale_html,
    score_rows,
)
from touchstone.gui.wording import Meta, Wording
from touchstone.models import Answer, Dimension, ModelEntry, Prompt
from touchstone.scorecard import EffectiveFlag, KoResult

Pair = tuple[str, str]

MOST_RAW = 20_000
"""Characters of a raw reply that a page shows; the whole of it is in the bundle."""


@dataclass(frozen=True)
class DimensionSection:
    """One dimension of one model: score, rationale with links, evidence, raw replies."""

    dimension: Dimension
    entry: ModelEntry
    anchor: str
    dimension_url: str
    model_url: str
    score: int | None
    reason: str | None
    rationale: Markup
    evidence: tuple[Citation, ...]
    raw: tuple[Markup, ...] = ()


@dataclass(frozen=True)
class Banner:
    """What the gate says, on top of a model's report."""

    css: str
    icon: str
    title: str
    text: Markup
    link: str


@dataclass(frozen=True)
class AnswerLine:
    """One answer in a model's list of answers."""

    prompt: Prompt
    title: str
    url: str
    answer: Answer | None
    flag: EffectiveFlag
    tokens: int | None
    seconds: float | None
    cited_by: tuple[tuple[str, str], ...]


def model_page_data(view: BundleView, pair: Pair, page: str, words: Wording) -> dict[str, Any]:
    """Return what the template of a model's report needs."""
    line = next(one for one in score_rows(view) if one.row.pair == pair)
    rule = view.suite.ko_rule
    name = words.model(line.entry)
    title = words.show(view.bundle.title, view.suite)
    sections = [_section(view, pair, d, page, words) for d in view.suite.dimensions]
    report = line.row.report
    return {
        "meta": Meta(
            f"{name}: {title}", _description(line, words), _toc(view, sections, report, words)
        ),
        "view": view,
        "crumbs": words.crumbs(view, Crumb(name)),
        "tabs": words.tabs(view),
        "line": line,
        "rule": rule,
        "banner": _banner(view, line, page, words),
        "ranked": sum(row.rank is not None for row in view.rows),
        "flag_counts": flag_counts(view, pair),
        "saw": report.saw if report else None,
        "others": _others(view, pair),
        "dot_titles": {
            d.id: dot_title(words, d.id, words.show(d.name, view.suite), line.row.dim_scores[d.id])
            for d in view.suite.dimensions
        },
        "points": {
            d.id: ((line.row.dim_scores[d.id] or 0) * d.weight, 5 * d.weight)
            for d in view.suite.dimensions
        },
        "weight_sum": sum(d.weight for d in view.suite.dimensions),
        "sections": sections,
        "answers": [_answer_line(view, pair, p, words) for p in view.suite.prompts],
        "class_icons": CLASS_ICONS,
    }


def _description(line: ScoreRow, words: Wording) -> str:
    row = line.row
    state = {
        "passed": words.say("Passed the K.-o. gate."),
        "failed": words.say("Knocked out by %(by)s.", by=", ".join(map(visible, line.ko_by))),
        "not_assessable": words.say("The K.-o. gate is not assessable."),
        "none": "",
    }[row.ko.state]
    if row.report is None:
        return state or words.say("Not judged yet.")
    points = words.say(
        "%(points)s of %(most)s points, %(pct)s.",
        points=words.locale.number(row.total.weighted),
        most=words.locale.number(row.total.max_weighted),
        pct=words.locale.percent(row.total.quality_pct),
    )
    return f"{state} {points}".strip()


def _toc(
    view: BundleView, sections: list[DimensionSection], report: object, words: Wording
) -> tuple[tuple[str, str], ...]:
    return (
        *([("profile", words.say("Profile"))] if report else []),
        *(
            (
                one.anchor,
                f"{visible(one.dimension.id)} {words.show(one.dimension.name, view.suite)}",
            )
            for one in sections
        ),
        ("answers", words.say("All answers")),
        ("marks", words.say("Marks on citations")),
    )


def _others(view: BundleView, pair: Pair) -> dict[str, list[int]]:
    others: dict[str, list[int]] = {}
    for dimension in view.suite.dimensions:
        scores = (row.dim_scores[dimension.id] for row in view.rows if row.pair != pair)
        others[dimension.id] = [score for score in scores if score is not None]
    return others


def _section(
    view: BundleView, pair: Pair, dimension: Dimension, page: str, words: Wording
) -> DimensionSection:
    row = view.row_of[pair]
    raw = [] if row.report is None else _raw_replies(view, pair, dimension.id)
    return DimensionSection(
        dimension=dimension,
        entry=row.entry,
        anchor=view.links.dimension_slug(dimension.id),
        dimension_url=view.links.dimension(dimension.id, pair),
        model_url=view.links.model(pair, dimension.id),
        score=row.dim_scores[dimension.id],
        reason=_reason(view, pair, dimension.id, words),
        rationale=rationale_html(view, pair, dimension.id, _href(page), _class_word(words)),
        evidence=tuple(view.evidence(pair, dimension.id)),
        raw=tuple(raw),
    )


def _reason(view: BundleView, pair: Pair, dimension: str, words: Wording) -> str | None:
    row = view.row_of[pair]
    if row.dim_scores[dimension] is not None:
        return None
    if row.report is None:
        return words.say("not judged yet")
    return row.report.issue(dimension) or words.say("the report gives none")


def _raw_replies(view: BundleView, pair: Pair, dimension: str) -> list[Markup]:
    texts = [
        path.read_bytes()[: 4 * MOST_RAW].decode("utf-8", "replace")
        for path in view.bundle.raw_replies(pair, dimension)
    ]
    return [Markup(raw_html(text[:MOST_RAW])) for text in texts]


def _href(page: str) -> Callable[[str], str]:
    return lambda url: relative(url, page)


def _class_word(words: Wording) -> Callable[[str], str]:
    return lambda kind: words.say("named") if kind == "mention" else words.say(kind)


def _banner(view: BundleView, line: ScoreRow, page: str, words: Wording) -> Banner | None:
    state = line.row.ko.state
    if state == "none":
        return None
    if state == "failed":
        text = _failed_text(view, line, page, words)
        link = words.say("See what triggered it")
        return Banner("failed", "ko", words.say("Knocked out."), text, link)
    if state == "passed":
        text = Markup("{}").format(_passed_text(view, line.row.ko, words))
        link = words.say("See what was checked")
        return Banner("passed", "ok", words.say("Gate passed."), text, link)
    text = Markup("{}").format(_open_text(line.row.ko, words))
    return Banner("na", "na", words.say("Not assessable."), text, words.say("See what is missing"))


def _passed_text(view: BundleView, ko: KoResult, words: Wording) -> str:
    checked = words.count(
        "No red flag on the %(num)s answer in the fatal scope;",
        "No red flag on the %(num)s answers in the fatal scope;",
        len(ko.checked_prompts),
    )
    score = words.say(
        "%(id)s = %(score)s, above the threshold.",
        id=visible(view.suite.ko_rule.dimension) if view.suite.ko_rule else "",
        score=ko.dimension_score,
    )
    return f"{checked} {score}" if ko.checked_prompts and ko.flags_exist else score


def _open_text(ko: KoResult, words: Wording) -> str:
    parts = []
    if ko.open_prompts:
        named = ", ".join(visible(one) for one in ko.open_prompts[:6])
        parts.append(words.say("No verdict on %(prompts)s.", prompts=named))
    if ko.dimension_score is None:
        parts.append(words.say("The K.-o. dimension has no score."))
    return " ".join(parts)


def _failed_text(view: BundleView, line: ScoreRow, page: str, words: Wording) -> Markup:
    links: list[Markup] = []
    for trigger in line.row.ko.triggers:
        if trigger.prompt_id is not None:
            url = view.links.answer(line.row.pair, trigger.prompt_id)
            name = visible(trigger.prompt_id)
        else:
            url = view.links.model(line.row.pair, trigger.dimension)
            name = f"{visible(trigger.dimension or '')} = {trigger.score}"
        links.append(Markup('<a href="{}">{}</a>').format(relative(url, page), name))
    return words.markup("By %(what)s. No total outweighs it.", what=Markup(", ").join(links))


def _answer_line(view: BundleView, pair: Pair, prompt: Prompt, words: Wording) -> AnswerLine:
    answer = view.answer(pair, prompt.id)
    cited = dict.fromkeys(citation.dimension for citation in view.citing(pair, prompt.id))
    usage = answer.usage if answer else None
    return AnswerLine(
        prompt=prompt,
        title=words.prompt_title(prompt, view.suite),
        url=view.links.answer(pair, prompt.id),
        answer=answer,
        flag=view.flag(pair, prompt.id),
        tokens=usage.completion_tokens if usage else None,
        seconds=answer.duration_s if answer else None,
        cited_by=tuple((visible(d), view.links.model(pair, d)) for d in cited),
    )


@dataclass(frozen=True)
class Level:
    """A level of a dimension, and the models that reached it."""

    score: int
    text: str
    models: tuple[tuple[ModelEntry, str], ...]


def dimension_page_data(
    view: BundleView, dimension: Dimension, page: str, words: Wording
) -> dict[str, Any]:
    """Return what the template of a dimension's page needs."""
    name = words.show(dimension.name, view.suite)
    title = f"{visible(dimension.id)} {name}"
    ids = [one.id for one in view.suite.dimensions]
    at = ids.index(dimension.id)
    sections = []
    for entry in view.entries:
        section = _section(view, entry.pair, dimension, page, words)
        sections.append(_anchored(section, view.links.pair_slug(entry.pair)))
    description = words.show(dimension.description, view.suite)
    return {
        "meta": Meta(
            f"{title}: {words.show(view.bundle.title, view.suite)}",
            words.shorten(description or title),
        ),
        "view": view,
        "crumbs": words.crumbs(view, Crumb(title)),
        "tabs": words.tabs(view),
        "dimension": dimension,
        "rule": view.suite.ko_rule,
        "levels": _levels(view, dimension, words),
        "sections": sections,
        "class_icons": CLASS_ICONS,
        "previous": _neighbour(view, ids, at - 1),
        "next": _neighbour(view, ids, at + 1),
        "position": words.say("%(n)s of %(all)s", n=at + 1, all=len(ids)),
    }


def _anchored(section: DimensionSection, anchor: str) -> DimensionSection:
    return DimensionSection(**{**vars(section), "anchor": anchor, "raw": ()})


def _levels(view: BundleView, dimension: Dimension, words: Wording) -> list[Level]:
    if not dimension.levels:
        return []
    return [
        Level(
            score,
            words.show(dimension.levels.get(score), view.suite) or "–",
            tuple(
                (row.entry, view.links.model(row.pair, dimension.id))
                for row in view.rows
                if row.dim_scores[dimension.id] == score
            ),
        )
        for score in range(1, 6)
    ]


def _neighbour(view: BundleView, ids: list[str], at: int) -> tuple[str, str] | None:
    if not 0 <= at < len(ids):
        return None
    return visible(ids[at]), view.links.dimension(ids[at])
