"""The data of a page that compares two bundles: the finding, and every difference with links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from touchstone.gui.bundle_view import BundleView
from touchstone.gui.compare import Comparison, ModelChange, ScoreChange
from touchstone.gui.compare_conditions import (
    conditions,
    model_conditions,
    remarks,
    suite_rows,
)
from touchstone.gui.compare_lists import (
    answer_section,
    answers_finding,
    citation_section,
    flag_section,
)
from touchstone.gui.compare_plan import PlannedComparison
from touchstone.gui.judge_charts import dumbbell
from touchstone.gui.judge_wording import signed
from touchstone.gui.links import INDEX
from touchstone.gui.locale import Shown
from touchstone.gui.safe_html import SafeHtml
from touchstone.gui.wording import Crumb, Meta, Wording
from touchstone.models import ModelEntry

MOST_OPEN = 8
"""Models whose dimensions stand open; those of more are folded."""
MOST_DETAILED = 40
"""Models whose dimensions are listed, those first that moved most."""
MOST_IN_LEDE = 3
_SEVEREST = {"failed": 0, "not_assessable": 1, "passed": 2, "none": 3}


@dataclass(frozen=True)
class Delta:
    """A difference as it is shown: an arrow, and the number with its sign."""

    arrow: str
    text: str

    @property
    def is_change(self) -> bool:
        """True if there is a difference to see."""
        return self.arrow in ("↑", "↓")


@dataclass(frozen=True)
class Side:
    """One of the two bundles."""

    view: BundleView
    title: Shown
    answers: str


@dataclass(frozen=True)
class ModelRow:
    """A model in both bundles; ``common``: the difference over what both scored, if another."""

    change: ModelChange
    anchor: str
    quality: Delta
    common: Delta | None
    scores: list[ScoreRow]

    @property
    def entry(self) -> ModelEntry:
        """The model under its id of today."""
        return self.change.after.entry


@dataclass(frozen=True)
class ScoreRow:
    """A dimension of a model; a side's URL is None where that suite lacks it.

    ``why`` says why there are no two scores to draw.
    """

    change: ScoreChange
    name: Shown
    urls: tuple[str | None, str | None]
    delta: Delta
    weight: str
    plot: SafeHtml | None
    why: str


def compare_page_data(planned: PlannedComparison, words: Wording) -> dict[str, Any]:
    """Return what the template of a page that compares two bundles needs."""
    comparison = Comparison(planned.before, planned.after)
    lede = _lede(comparison, words)
    sides = [_side(view, words) for view in (planned.before, planned.after)]
    title = words.say(
        "Comparison: %(before)s, %(after)s", before=sides[0].title, after=sides[1].title
    )
    rows, more_rows = suite_rows(comparison, words)
    models = [_model_row(comparison, one, words) for one in comparison.models]
    moved = sorted(models, key=_movement)[:MOST_DETAILED]
    data = {
        "crumbs": [Crumb(words.say("Evaluations"), INDEX), Crumb(words.say("Comparison"))],
        "sides": sides,
        "lede": lede,
        "remarks": remarks(comparison, words),
        "conditions": conditions(comparison, words),
        "model_conditions": model_conditions(comparison, words),
        "suite_rows": rows,
        "more_suite_rows": more_rows,
        "models": models,
        "detailed": [one for one in moved if one.change.is_judged],
        "most_open": MOST_OPEN,
        "only": [
            (words.say("Only before"), comparison.only_before),
            (words.say("Only after"), comparison.only_after),
        ],
        "flags": flag_section(comparison, words),
        "answers": answer_section(comparison, words),
        "citations": citation_section(comparison, planned.path, words),
    }
    meta = Meta(title, words.shorten(lede.striptags()), _toc(data, words))
    return {"meta": meta, **data}


def _toc(data: dict[str, Any], words: Wording) -> tuple[tuple[str, str], ...]:
    return (
        ("conditions", words.say("Conditions")),
        *([("suite", words.say("The suite"))] if data["suite_rows"] else []),
        ("models", words.say("Models")),
        ("answers", words.say("Answers")),
        ("flags", words.say("Flags")),
        ("citations", words.say("Citations")),
    )


def _side(view: BundleView, words: Wording) -> Side:
    count = words.count("%(num)s answer", "%(num)s answers", len(view.bundle.answers))
    return Side(view, words.bundle_title(view), count)


# --- the finding ---------------------------------------------------------------------------


def _lede(comparison: Comparison, words: Wording) -> Markup:
    """Return the finding: what the gate says otherwise, then which model moved most."""
    if not comparison.models:
        return words.markup("The two bundles have no model in common.")
    has_gate = comparison.judges not in ("one", "none")
    gate = _gate_finding(comparison.models, words) if has_gate else Markup("")
    parts = [gate, _quality_finding(comparison, words)]
    return Markup(" ").join(part for part in parts if part)


def _gate_finding(models: Sequence[ModelChange], words: Wording) -> Markup:
    changed = sorted(
        (one for one in models if one.is_gate_changed),
        key=lambda one: (_SEVEREST[one.after.row.ko.state], _SEVEREST[one.before.row.ko.state]),
    )
    if not changed:
        return Markup("")
    named = [
        words.markup(
            "%(model)s (%(before)s → %(after)s)",
            model=Markup("<b>{}</b>").format(words.model(one.after.entry)),
            before=words.gate(one.before.row.ko.state),
            after=words.gate(one.after.row.ko.state),
        )
        for one in changed[:MOST_IN_LEDE]
    ]
    text = Markup(", ").join(named)
    more = len(changed) - len(named)
    if more > 0:
        text += " " + words.count("and %(num)s more", "and %(num)s more", more)
    return words.markup("The K.-o. gate now says otherwise of %(models)s.", models=text)


def _quality_finding(comparison: Comparison, words: Wording) -> Markup:
    judged = [one for one in comparison.models if one.quality_delta is not None]
    if not judged:
        text = words.say("There are no scores to compare.")
        return Markup.escape(f"{text} {answers_finding(comparison, words)}")
    most = max(judged, key=lambda one: abs(one.quality_delta or 0))
    delta = most.quality_delta or 0.0
    if round(delta, 1) == 0:
        if any(score.is_changed for one in judged for score in one.scores):
            return words.markup("Single scores differ, but no model’s Quality does.")
        return words.markup("No score has changed.")
    text = words.markup(
        "%(model)s moved most: Quality %(before)s → %(after)s (%(delta)s percentage points).",
        model=Markup("<b>{}</b>").format(words.model(most.after.entry)),
        before=words.locale.percent(most.before.row.total.quality_pct),
        after=words.locale.percent(most.after.row.total.quality_pct),
        delta=signed(delta, words, 1),
    )
    return text + _missing_finding(most, words)


def _missing_finding(model: ModelChange, words: Wording) -> str:
    """Return that scores are missing on one side only, which counts 0 there, else ""."""
    more = model.missing_delta
    if not more:
        return ""
    if more > 0:
        text = words.count(
            "%(num)s of its scores is missing now and counts 0.",
            "%(num)s of its scores are missing now and count 0.",
            more,
        )
    else:
        text = words.count(
            "%(num)s of its scores was missing before and counted 0.",
            "%(num)s of its scores were missing before and counted 0.",
            -more,
        )
    return f" {text}"


# --- models --------------------------------------------------------------------------------


def _movement(row: ModelRow) -> float:
    return -abs(row.change.quality_delta or 0.0)


def _delta(value: float | None, words: Wording, digits: int) -> Delta:
    if value is None:
        return Delta("", "–")
    rounded = round(value, digits)
    return Delta("↑" if rounded > 0 else "↓" if rounded < 0 else "=", signed(value, words, digits))


def _model_row(comparison: Comparison, change: ModelChange, words: Wording) -> ModelRow:
    return ModelRow(
        change=change,
        anchor=f"model--{comparison.after.links.pair_slug(change.after.row.pair)}",
        quality=_delta(change.quality_delta, words, 1),
        common=_delta(change.common_delta, words, 1) if _is_telling(change) else None,
        scores=[_score_row(comparison, change, score, words) for score in change.scores],
    )


def _is_telling(change: ModelChange) -> bool:
    """Say whether scores that are missing on one side alone move the Quality."""
    return change.is_judged and change.common_delta != change.quality_delta


def _score_row(
    comparison: Comparison, model: ModelChange, change: ScoreChange, words: Wording
) -> ScoreRow:
    before, after = comparison.before, comparison.after
    old, new = (view.suite.dimension(change.dimension) for view in (before, after))
    either, view = (new, after) if new else (old, before)
    assert either is not None
    name = words.show(either.name, view.suite)
    weights = [words.locale.number(one.weight) for one in (old, new) if one]
    plot = None
    if change.before is not None and change.after is not None:
        title = words.say(
            "%(id)s %(name)s: %(before)s before, %(after)s after",
            id=change.dimension,
            name=name,
            before=change.before,
            after=change.after,
        )
        plot = dumbbell(change.after, change.before, title)
    return ScoreRow(
        change=change,
        name=name,
        urls=(
            before.links.model_dimension(model.before.row.pair, change.dimension) if old else None,
            after.links.model_dimension(model.after.row.pair, change.dimension) if new else None,
        ),
        delta=_delta(change.delta, words, 0),
        weight=" → ".join(dict.fromkeys(weights)),
        plot=plot,
        why="" if plot else _why(change, words),
    )


def _why(change: ScoreChange, words: Wording) -> str:
    if not change.in_before:
        return words.say("not in the suite before")
    if not change.in_after:
        return words.say("not in the suite any more")
    if change.before is None and change.after is None:
        return words.say("missing on both sides")
    return words.say("missing before") if change.before is None else words.say("missing now")
