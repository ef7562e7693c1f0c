"""The data of a bundle's scorecard."""

from __future__ import annotations

from collections import Counter
from typing import Any

from markupsafe import Markup

from touchstone.gui.bundle_view import BundleView
from touchstone.gui.links import relative
from touchstone.gui.safe_html import visible
from touchstone.gui.views import ScoreRow, score_rows
from touchstone.gui.wording import Meta, Wording


def scorecard_page_data(view: BundleView, words: Wording) -> dict[str, Any]:
    """Return what the scorecard's template needs."""
    lines = score_rows(view)
    rule = view.suite.ko_rule
    judged = any(row.report for row in view.rows)
    title = words.show(view.bundle.title, view.suite)
    lede = _lede(view, lines, words)
    return {
        "meta": Meta(words.say("Scorecard: %(title)s", title=title), words.shorten(_plain(lede))),
        "view": view,
        "crumbs": words.crumbs(view),
        "tabs": words.tabs(view),
        "lede": lede,
        "demo_note": _model_notes(view, words),
        "judged": judged,
        "lines": lines,
        "groups": words.groups(lines),
        "columns": [(c.dimension, c.width, c.weight_class) for c in lines[0].cells],
        "weighted_columns": len({c.width for c in lines[0].cells}) > 1,
        "rule": rule,
        "scope_text": words.how_out(view.suite, rule) if rule else "",
        "spans": _spans(view),
        "dot_titles": {line.row.pair: _dot_titles(line, view, words) for line in lines},
        "titles": {p.id: words.prompt_title(p, view.suite) for p in view.suite.prompts},
        **_judge_figures(view, words),
    }


def _lede(view: BundleView, lines: list[ScoreRow], words: Wording) -> Markup:
    """Return the finding in one or two sentences: who leads, and who is out with more."""
    ranked = [line for line in lines if line.row.rank is not None]
    out = [line for line in lines if line.row.ko.state == "failed"]
    judged = [line for line in lines if line.row.report is not None]
    if not judged:
        answers = words.count("%(num)s answer", "%(num)s answers", len(view.bundle.answers))
        return words.markup("%(answers)s, not judged yet.", answers=answers)
    parts = []
    if ranked:
        parts.append(_leader(ranked, words))
    elif len(out) == len(judged):
        return _all_out(view, len(out), words)
    else:
        parts.append(words.markup("No model can be ranked yet."))
    best = ranked[0].row.total.quality_pct if ranked else -1.0
    better = [line for line in out if line.row.total.quality_pct > best] if ranked else out[:1]
    if better:
        parts.append(_knocked_out(view, better[0], bool(ranked), words))
    return Markup(" ").join(parts)


def _all_out(view: BundleView, count: int, words: Wording) -> Markup:
    url = relative(view.links.gate, view.links.scorecard)
    text = words.count(
        "the gate knocks out the only model", "the gate knocks out all %(num)s models", count
    )
    link = Markup('<a href="{}">{}</a>').format(url, text)
    return words.markup("No model is ranked: %(all_out)s.", all_out=link)


def _leader(ranked: list[ScoreRow], words: Wording) -> Markup:
    leaders = [line for line in ranked if line.row.rank == 1]
    quality = words.locale.percent(leaders[0].row.total.quality_pct)
    if len(leaders) > 1:
        return words.markup(
            "%(num)s models share the lead with %(pct)s of the weighted points.",
            num=len(leaders),
            pct=quality,
        )
    name = Markup("<b>{}</b>").format(words.model(leaders[0].entry))
    if len(ranked) == 1:
        return words.markup(
            "%(model)s has %(pct)s of the weighted points.", model=name, pct=quality
        )
    return words.markup(
        "%(model)s leads with %(pct)s of the weighted points.", model=name, pct=quality
    )


def _knocked_out(view: BundleView, line: ScoreRow, has_more: bool, words: Wording) -> Markup:
    url = relative(line.ko_url or view.links.gate, view.links.scorecard)
    by = ", ".join(visible(one) for one in line.ko_by[:4])
    link = Markup('<a href="{}">{}</a>').format(url, words.say("knocked out by %(by)s", by=by))
    name = Markup("<b>{}</b>").format(words.model(line.entry))
    if not has_more:
        return words.markup("%(model)s is %(knocked_out)s.", model=name, knocked_out=link)
    return words.markup(
        "%(model)s has more, %(pct)s, and is %(knocked_out)s.",
        model=name,
        pct=words.locale.percent(line.row.total.quality_pct),
        knocked_out=link,
    )


def _plain(html: Markup) -> str:
    return html.striptags()


def _model_notes(view: BundleView, words: Wording) -> str:
    """Return what is said about the models themselves: their labels, each once."""
    labels = [words.show(entry.label, view.suite) for entry in view.entries if entry.label]
    return " · ".join(dict.fromkeys(labels))


def _spans(view: BundleView) -> dict[str, list[int]]:
    spans: dict[str, list[int]] = {}
    for dimension in view.suite.dimensions:
        scores = (row.dim_scores[dimension.id] for row in view.rows)
        spans[dimension.id] = [score for score in scores if score is not None]
    return spans


def _dot_titles(line: ScoreRow, view: BundleView, words: Wording) -> dict[str, str]:
    return {
        cell.dimension.id: dot_title(
            words, cell.dimension.id, words.show(cell.dimension.name, view.suite), cell.score
        )
        for cell in line.cells
    }


def dot_title(words: Wording, dimension_id: str, name: str, score: int | None) -> str:
    """Return the accessible name of one mark on a profile."""
    if score is None:
        return words.say("%(id)s %(name)s: missing", id=visible(dimension_id), name=name)
    return words.say(
        "%(id)s %(name)s: %(score)s of 5", id=visible(dimension_id), name=name, score=score
    )


def _judge_figures(view: BundleView, words: Wording) -> dict[str, Any]:
    judge = view.bundle.manifest.judge
    kinds = Counter(
        citation.kind
        for row in view.rows
        for dimension in view.suite.dimensions
        for citation in view.evidence(row.pair, dimension.id)
    )
    reports = [row.report for row in view.rows if row.report]
    saw = {(r.saw.answers, r.saw.of) for r in reports if r.saw}
    scores = [score for row in view.rows if row.report for score in row.dim_scores.values()]
    found = kinds["verbatim"] + kinds["normalised"]
    return {
        "judge_name": judge.id if judge else "–",
        "judge_kind": words.kind(judge.kind) if judge else "",
        "quotes_found": found,
        "quotes": found + kinds["unverifiable"],
        "saw": _saw_text(saw, words),
        "scores_missing": sum(score is None for score in scores),
        "scores": len(scores),
        "trust_text": _trust_text(view, words),
    }


def _saw_text(saw: set[tuple[int, int]], words: Wording) -> str:
    if not saw:
        return ""
    fewest, of = min(saw)
    if len(saw) == 1:
        return words.say("%(x)s of %(y)s answers", x=fewest, y=of)
    return words.say("%(x)s to %(z)s of %(y)s answers", x=fewest, z=max(saw)[0], y=of)


def _trust_text(view: BundleView, words: Wording) -> str:
    judge = view.bundle.manifest.judge
    if judge is None:
        return words.say("The bundle does not say who judged.")
    text = words.say("This judge has not been compared with a reference yet.")
    mode = view.row_of[view.entries[0].pair].report
    if mode is not None and mode.mode == "map-reduce":
        text += " " + words.say(
            "The answers did not fit its context: it noted evidence answer by answer, then judged "
            "by the notes."
        )
    return text
