"""The data of a model's report and of a dimension's page: scores, rationales, evidence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from touchstone.gui.bundle_view import BundleView, Citation, Line
from touchstone.gui.citations import ICONS, rationale_html
from touchstone.gui.judge_wording import evidence_meaning, judge_line
from touchstone.gui.links import Pair, relative
from touchstone.gui.locale import Shown
from touchstone.gui.safe_html import SafeHtml, raw_html
from touchstone.gui.wording import Crumb, Meta, Wording
from touchstone.models import Answer, Dimension, ModelEntry, Prompt
from touchstone.scorecard import EffectiveFlag, KoResult

MOST_TRIGGERS = 12
"""Triggers that the banner names; the K.-o. page names all."""
MOST_RAW = 20_000
"""Characters of a raw reply that a page shows; the whole of it is in the bundle."""


@dataclass(frozen=True)
class DimensionSection:
    """One dimension of one model: score, rationale with links, evidence, raw replies.

    ``reason`` says why there is no score; ``points`` are the weighted ones, then the most there
    can be.
    """

    dimension: Dimension
    entry: ModelEntry
    anchor: str
    dimension_url: str
    model_url: str
    score: int | None
    points: tuple[float, float]
    reason: str | None
    rationale: Markup
    evidence: tuple[Citation, ...]
    raw: tuple[SafeHtml, ...] = ()


@dataclass(frozen=True)
class Banner:
    """What the gate says, on top of a model's report."""

    css: str
    icon: str
    title: str
    text: str
    link: str


@dataclass(frozen=True)
class AnswerLine:
    """One answer in a model's list of answers."""

    prompt: Prompt
    title: Shown
    url: str
    answer: Answer | None
    flag: EffectiveFlag
    tokens: int | None
    seconds: float | None
    cited_by: tuple[tuple[str, str], ...]


def model_page_data(view: BundleView, pair: Pair, page: str, words: Wording) -> dict[str, Any]:
    """Return what the template of a model's report needs."""
    line = view.line_of[pair]
    name = words.model(line.entry)
    report = line.row.report
    sections = [
        replace(_section(view, pair, dimension, page, words), raw=_raw(view, pair, dimension.id))
        for dimension in view.suite.dimensions
    ]
    return words.frame(view, Crumb(name)) | {
        "meta": Meta(
            f"{name}: {words.bundle_title(view)}",
            _description(line, words),
            _toc(view, sections, words, has_profile=report is not None),
        ),
        "line": line,
        "rule": view.suite.ko_rule,
        "banner": _banner(view, line, page, words),
        "ranked": sum(row.rank is not None for row in view.rows),
        "flag_counts": _flag_counts(view, pair),
        "saw": report.saw if report else None,
        "judge_line": judge_line(view, words),
        "others": {d.id: view.scores(d.id, without=pair) for d in view.suite.dimensions},
        "weight_sum": sum(d.weight for d in view.suite.dimensions),
        "sections": sections,
        "legend": legend(words),
        "answers": [_answer_line(view, pair, p, words) for p in view.suite.prompts],
    }


def legend(words: Wording) -> list[tuple[str, str, str]]:
    """Return icon, word and meaning of each class of evidence."""
    return [
        (icon, words.cited(kind), evidence_meaning(kind, words)) for kind, icon in ICONS.items()
    ]


def _description(line: Line, words: Wording) -> str:
    row = line.row
    state = {
        "passed": words.say("Passed the K.-o. gate."),
        "failed": words.say("Knocked out by %(by)s.", by=words.ids(line.ko_by, most=12)),
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
    view: BundleView, sections: list[DimensionSection], words: Wording, *, has_profile: bool
) -> tuple[tuple[str, str], ...]:
    return (
        *([("profile", words.say("Profile"))] if has_profile else []),
        *((one.anchor, words.dimension(one.dimension, view.suite)) for one in sections),
        ("answers", words.say("All answers")),
        ("marks", words.say("Marks on citations")),
    )


def _flag_counts(view: BundleView, pair: Pair) -> list[tuple[str, int]]:
    """Return how many answers of a model have each flag; ``none`` only where there are any."""
    if not view.flags:
        return []
    counts = view.flag_counts((pair, prompt_id) for prompt_id in view.prompt_ids)
    return [(colour, count) for colour, count in counts.items() if count or colour != "none"]


def _section(
    view: BundleView, pair: Pair, dimension: Dimension, page: str, words: Wording
) -> DimensionSection:
    row, links = view.row_of[pair], view.links
    score = row.dim_scores[dimension.id]
    return DimensionSection(
        dimension=dimension,
        entry=row.entry,
        anchor=links.dimension_slug(dimension.id),
        dimension_url=links.dimension(dimension.id, pair),
        model_url=links.model_dimension(pair, dimension.id),
        score=score,
        points=((score or 0) * dimension.weight, 5 * dimension.weight),
        reason=_reason(view, pair, dimension.id, words) if score is None else None,
        rationale=rationale_html(view, pair, dimension.id, lambda url: relative(url, page), words),
        evidence=tuple(view.evidence(pair, dimension.id)),
    )


def _reason(view: BundleView, pair: Pair, dimension_id: str, words: Wording) -> str:
    report = view.row_of[pair].report
    if report is None:
        return words.say("not judged yet")
    issue = report.issue(dimension_id)
    return words.english(issue) if issue else words.say("the report gives none")


def _raw(view: BundleView, pair: Pair, dimension_id: str) -> tuple[SafeHtml, ...]:
    """Return the beginning of every raw reply of the judge, in order."""
    found = []
    for path in view.bundle.raw_replies(pair, dimension_id):
        with path.open("rb") as file:
            text = file.read(4 * MOST_RAW).decode("utf-8", "replace")
        found.append(raw_html(text if len(text) <= MOST_RAW else f"{text[:MOST_RAW]}\n…"))
    return tuple(found)


def _banner(view: BundleView, line: Line, page: str, words: Wording) -> Banner | None:
    state = line.row.ko.state
    if state == "none":
        return None
    if state == "failed":
        why = _failed_text(view, line, page, words)
        link = words.say("See what triggered it")
        return Banner("failed", "ko", words.say("Knocked out."), why, link)
    if state == "passed":
        checked = _passed_text(view, line.row.ko, words)
        link = words.say("See what was checked")
        return Banner("passed", "ok", words.say("Gate passed."), checked, link)
    link = words.say("See what is missing")
    return Banner("na", "na", words.say("Not assessable."), _open_text(line.row.ko, words), link)


def _passed_text(view: BundleView, ko: KoResult, words: Wording) -> str:
    checked = words.count(
        "No red flag on the %(num)s answer in the fatal scope;",
        "No red flag on the %(num)s answers in the fatal scope;",
        len(ko.checked_prompts),
    )
    score = words.say(
        "%(id)s = %(score)s, above the threshold.",
        id=view.suite.ko_rule.dimension if view.suite.ko_rule else "",
        score=ko.dimension_score,
    )
    return f"{checked} {score}" if ko.checked_prompts and ko.flags_exist else score


def _open_text(ko: KoResult, words: Wording) -> str:
    parts = []
    if ko.open_prompts:
        named = words.ids(ko.open_prompts, most=6)
        parts.append(words.say("No verdict on %(prompts)s.", prompts=named))
    if ko.dimension_score is None:
        parts.append(words.say("The K.-o. dimension has no score."))
    return " ".join(parts)


def _failed_text(view: BundleView, line: Line, page: str, words: Wording) -> Markup:
    links: list[Markup] = []
    for trigger in line.row.ko.triggers[:MOST_TRIGGERS]:
        if trigger.prompt_id is not None:
            url = view.links.answer(line.row.pair, trigger.prompt_id)
            name = trigger.prompt_id
        else:
            assert trigger.dimension is not None
            url = view.links.model_dimension(line.row.pair, trigger.dimension)
            name = f"{trigger.dimension} = {trigger.score}"
        links.append(Markup('<a href="{}">{}</a>').format(relative(url, page), name))
    what = Markup(", ").join(links)
    more = len(line.row.ko.triggers) - len(links)
    if more > 0:
        what += " " + words.count("and %(num)s more", "and %(num)s more", more)
    return words.markup("By %(what)s. No total outweighs it.", what=what)


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
        cited_by=tuple((one, view.links.model_dimension(pair, one)) for one in cited),
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
    title = words.dimension(dimension, view.suite)
    crumb = Markup("<bdi>{}</bdi> {}").format(dimension.id, words.show(dimension.name, view.suite))
    description = words.show(dimension.description, view.suite)
    sections = [
        replace(
            _section(view, entry.pair, dimension, page, words),
            anchor=view.links.pair_slug(entry.pair),
        )
        for entry in view.entries
    ]
    pages = [(one.id, view.links.dimension(one.id)) for one in view.suite.dimensions]
    return words.frame(view, Crumb(crumb)) | {
        "meta": Meta(
            f"{title}: {words.bundle_title(view)}",
            words.shorten(description or title),
        ),
        "dimension": dimension,
        "rule": view.suite.ko_rule,
        "levels": _levels(view, dimension, words),
        "sections": sections,
        "turning": words.turning(pages, view.suite.dimensions.index(dimension)),
    }


def _levels(view: BundleView, dimension: Dimension, words: Wording) -> list[Level]:
    if not dimension.levels:
        return []
    return [
        Level(
            score,
            words.show(dimension.levels.get(score), view.suite) or "–",
            tuple(
                (row.entry, view.links.model_dimension(row.pair, dimension.id))
                for row in view.rows
                if row.dim_scores[dimension.id] == score
            ),
        )
        for score in range(1, 6)
    ]
