"""The data of a bundle's scorecard."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from touchstone.gui.bundle_view import BundleView, Line
from touchstone.gui.judge_wording import comparison, judge_line, stale_text
from touchstone.gui.links import relative
from touchstone.gui.wording import Meta, Wording

MOST_LABELS = 3
"""Labels of models that stand open on the page; more are folded."""
MOST_COLUMNS = 8
"""Models that have a column of their own in the list of prompts; of more, flags are counted."""


def scorecard_page_data(view: BundleView, words: Wording) -> dict[str, Any]:
    """Return what the scorecard's template needs."""
    rule = view.suite.ko_rule
    title = words.bundle_title(view)
    lede = _lede(view, words)
    return words.frame(view) | {
        "meta": Meta(words.say("Scorecard: %(title)s", title=title), words.shorten(_plain(lede))),
        "title": title,
        "lede": lede,
        "labels": _labels(view, words),
        "most_labels": MOST_LABELS,
        "groups": words.groups(view.lines),
        "is_to_scale": len({column.width for column in view.columns}) > 1,
        # What is wider than the page would leave the names of the models no room.
        "is_crowded": sum(column.width for column in view.columns) > 41,
        "id_width": _id_width(view),
        "rule": rule,
        "scope_text": words.how_out(view.suite, rule) if rule else "",
        "spans": {d.id: view.scores(d.id) for d in view.suite.dimensions},
        "tallies": _tallies(view) if len(view.models) > MOST_COLUMNS else None,
        "titles": {p.id: words.prompt_title(p, view.suite) for p in view.suite.prompts},
        "judge_line": judge_line(view, words),
        "trust": _trust(view, words) if view.is_judged else None,
    }


def _id_width(view: BundleView) -> float | None:
    """Return the room in rem that long ids of dimensions need beside a profile."""
    longest = max(len(dimension.id) for dimension in view.suite.dimensions)
    return min(0.45 * longest, 6.0) if longest > 3 else None


def _tallies(view: BundleView) -> dict[str, dict[str, int]]:
    """Return for each prompt how many answers there are, and how many with each flag."""
    tallies = {}
    for prompt_id in view.prompt_ids:
        counts = view.flag_counts((entry.pair, prompt_id) for entry in view.models)
        tallies[prompt_id] = {"answers": sum(counts.values()), **counts}
    return tallies


# --- the finding ---------------------------------------------------------------------------


def _lede(view: BundleView, words: Wording) -> Markup:
    """Return the finding in one or two sentences: who leads, and who is out with more."""
    lines = view.lines
    if not lines:
        return words.markup("The bundle lists no models.")
    ranked = [line for line in lines if line.row.rank is not None]
    out = [line for line in lines if line.row.ko.state == "failed"]
    if len(out) == len(lines):
        return _all_out(view, words)
    best = ranked[0].row.total.quality_pct if ranked else -1.0
    better = [line for line in out if line.row.total.quality_pct > best]
    first = _leader(ranked, words) if ranked else _unranked(view, words)
    if not better:
        return first
    return first + " " + _knocked_out(view, better[0], bool(ranked), words)


def _unranked(view: BundleView, words: Wording) -> Markup:
    if view.is_judged:
        return words.markup("No model can be ranked yet.")
    answers = words.count("%(num)s answer", "%(num)s answers", len(view.bundle.answers))
    return words.markup("%(answers)s, not judged yet.", answers=answers)


def _all_out(view: BundleView, words: Wording) -> Markup:
    url = relative(view.links.gate, view.links.scorecard)
    text = words.count(
        "the gate knocks out the only model",
        "the gate knocks out all %(num)s models",
        len(view.lines),
    )
    link = Markup('<a href="{}">{}</a>').format(url, text)
    return words.markup("No model is ranked: %(all_out)s.", all_out=link)


def _leader(ranked: list[Line], words: Wording) -> Markup:
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


def _knocked_out(view: BundleView, line: Line, has_more: bool, words: Wording) -> Markup:
    url = relative(view.links.knock_out(line.row.pair), view.links.scorecard)
    by = words.say("knocked out by %(by)s", by=words.ids(line.ko_by, most=4))
    link = Markup('<a href="{}">{}</a>').format(url, by)
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


def _labels(view: BundleView, words: Wording) -> list[str]:
    """Return what is said about the models themselves: their labels, each once."""
    labels = (words.show(entry.label, view.suite) for entry in view.entries)
    return list(dict.fromkeys(label for label in labels if label.strip()))


# --- the judge -----------------------------------------------------------------------------


def _trust(view: BundleView, words: Wording) -> dict[str, Any]:
    """Return how far the judge can be trusted, in figures and a sentence."""
    judge, quality = view.bundle.manifest.judge, view.judge_quality
    fidelity = view.audit.counts.fidelity
    reports = [row.report for row in view.rows if row.report]
    scores = [score for row in view.rows if row.report for score in row.dim_scores.values()]
    return {
        "judge": judge.id if judge else "–",
        "kind": words.kind(judge.kind) if judge else "",
        "quotes_found": fidelity.count,
        "quotes": fidelity.n,
        "saw": _saw_text({(r.saw.answers, r.saw.of) for r in reports if r.saw}, words),
        "scores_missing": scores.count(None),
        "scores": len(scores),
        "text": _trust_text(view, words),
        "stale": stale_text(quality, words) if quality and quality.is_stale else None,
    }


def _saw_text(saw: set[tuple[int, int]], words: Wording) -> str:
    if not saw:
        return ""
    fewest, of = min(saw)
    if len(saw) == 1:
        return words.say("%(x)s of %(y)s answers", x=fewest, y=of)
    return words.say("%(x)s to %(z)s of %(y)s answers", x=fewest, z=max(saw)[0], y=of)


def _trust_text(view: BundleView, words: Wording) -> Markup:
    """Return what is known of the judge; that it was not compared the line above the table says."""
    found = view.judge_quality
    parts = []
    if view.bundle.manifest.judge is None:
        parts.append(Markup.escape(words.no_judge(view)))
    elif found is not None:
        parts.append(comparison(found.checked, words))
    if any(row.report and row.report.mode == "map-reduce" for row in view.rows):
        parts.append(
            words.markup(
                "The answers did not fit its context: it noted evidence answer by answer, then "
                "judged by the notes."
            )
        )
    return Markup(" ").join(parts)
