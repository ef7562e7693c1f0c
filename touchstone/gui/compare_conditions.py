"""What two compared bundles rest on: judges, suite, answers, models; and what follows from that."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from touchstone.gui.bundle_view import BundleView
from touchstone.gui.compare import Comparison, ModelChange
from touchstone.gui.locale import one_line
from touchstone.gui.suite_changes import Changed
from touchstone.gui.wording import Wording
from touchstone.models import JudgeEntry, KoRule, ModelEntry, Suite, Weights

MOST_SUITE_ROWS = 40
"""Changes of a suite that the page lists."""
MOST_MODEL_CONDITIONS = 24
LONGEST_VALUE = 300
NONE = "–"


@dataclass(frozen=True)
class Condition:
    """A named value before and after; ``code`` sets both in monospace."""

    name: str
    before: str
    after: str
    code: bool = False

    @property
    def is_same(self) -> bool:
        """True if nothing has changed."""
        return self.before == self.after


@dataclass(frozen=True)
class SuiteRow:
    """A change of the suite: what it is about, what happened, and both sides of it.

    A side is what it says there and where that leads, or None.
    """

    what: str
    change: str
    before: tuple[str, str | None] | None
    after: tuple[str, str | None] | None


# --- conditions ----------------------------------------------------------------------------


def conditions(comparison: Comparison, words: Wording) -> list[Condition]:
    """Return the conditions to look at first, and of the others those that differ."""
    before, after = comparison.before, comparison.after
    old, new = before.bundle, after.bundle
    found = []
    if comparison.judges != "none":
        found += _judge_conditions(before, after, words)
    found += [
        Condition(words.say("Suite"), old.suite_sha256[:16], new.suite_sha256[:16], code=True),
        Condition(
            words.say("Answers"), old.answers_sha256[:16], new.answers_sha256[:16], code=True
        ),
    ]
    if before.reviews or after.reviews:
        count, then = (words.locale.number(len(view.reviews)) for view in (before, after))
        found.append(Condition(words.say("Decisions"), count, then))
    tool = Condition(words.say("With"), old.manifest.tool or NONE, new.manifest.tool or NONE)
    return [*found, *([] if tool.is_same else [tool])]


def _judge_conditions(before: BundleView, after: BundleView, words: Wording) -> list[Condition]:
    old, new = before.bundle.manifest.judge, after.bundle.manifest.judge
    rows = [
        Condition(words.say("Judge"), _judge(before, words), _judge(after, words)),
        Condition(
            words.say("Fingerprint"),
            old.fingerprint if old else NONE,
            new.fingerprint if new else NONE,
            code=True,
        ),
        Condition(
            words.say("Mode"),
            (old and words.mode(old.mode)) or NONE,
            (new and words.mode(new.mode)) or NONE,
        ),
    ]
    if old is None or new is None:
        return rows
    details = zip(_judge_details(old, new, words), _judge_details(new, old, words), strict=True)
    return [*rows, *_differing(details)]


def _judge(view: BundleView, words: Wording) -> str:
    judge = view.bundle.manifest.judge
    return f"{judge.id} ({words.kind(judge.kind)})" if judge else words.no_judge(view)


def _judge_details(
    judge: JudgeEntry, other: JudgeEntry, words: Wording
) -> Iterator[tuple[str, str, bool]]:
    """Yield name and value of what else is known of a judge, and whether it is code."""
    ways = {"exchange": words.say("by file exchange"), "endpoint": words.say("over an endpoint")}
    yield words.say("Model"), judge.model or "", False
    yield words.say("Parameters"), _own(judge.parameters, other.parameters), True
    yield words.say("Judging texts, version"), str(judge.prompt_version or ""), False
    yield words.say("Way"), ways.get(judge.via or "", ""), False
    yield words.say("Weights"), _weights(judge.weights), False
    yield words.say("Engine"), judge.engine or "", False


def _own(values: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Return the parameters that the other side does not have like this."""
    own = {key: one for key, one in values.items() if key not in other or other[key] != one}
    return json.dumps(own, ensure_ascii=False, default=str) if own else ""


def _weights(weights: Weights | None) -> str:
    if weights is None:
        return ""
    parts = [weights.name, weights.quantization, (weights.sha256 or "")[:16]]
    return " · ".join(part for part in parts if part)


def _differing(
    details: Iterator[tuple[tuple[str, str, bool], tuple[str, str, bool]]], about: str = ""
) -> Iterator[Condition]:
    for (name, old, code), (_, new, _) in details:
        if old != new:
            before, after = (_short(value) for value in (old, new))
            yield Condition(f"{about}{name}", before, after, code)


def _short(value: str) -> str:
    line = one_line(value)
    return f"{line[:LONGEST_VALUE]}…" if len(line) > LONGEST_VALUE else line or NONE


def model_conditions(comparison: Comparison, words: Wording) -> list[Condition]:
    """Return what is different in how models ran that both bundles have."""
    found = [one for model in comparison.models for one in _model_conditions(model, words)]
    return found[:MOST_MODEL_CONDITIONS]


def _model_conditions(model: ModelChange, words: Wording) -> Iterator[Condition]:
    old, new = model.before.entry, model.after.entry
    name = words.model(new)
    if model.is_renamed:
        yield Condition(words.say("%(model)s: name", model=name), words.model(old), name)
    details = zip(_model_details(old, new, words), _model_details(new, old, words), strict=True)
    yield from _differing(details, f"{name}: ")


def _model_details(
    entry: ModelEntry, other: ModelEntry, words: Wording
) -> Iterator[tuple[str, str, bool]]:
    yield words.say("Parameters"), _own(entry.parameters, other.parameters), True
    yield words.say("System message"), entry.system or "", False
    yield words.say("Weights"), _weights(entry.weights), False
    yield words.say("Endpoint"), entry.endpoint or "", False
    yield words.say("Engine"), entry.engine or "", False
    yield words.say("Hardware"), entry.hardware or "", False


# --- what follows from them ----------------------------------------------------------------


def remarks(comparison: Comparison, words: Wording) -> list[str]:
    """Return what the conditions mean for reading the differences, most important first."""
    found = [_judge_remark(comparison, words), _noise_remark(comparison, words)]
    suite = comparison.suite
    if suite is not None and suite.affects_total:
        found.append(
            words.say(
                "Dimensions or weights have changed, so Quality is measured on another scale."
            )
        )
    elif suite:
        found.append(words.say("The suite has changed; what is different is listed below."))
    elif suite is not None:
        found.append(
            words.say("The suite’s file has changed in nothing but its form: order, layout, notes.")
        )
    return [one for one in found if one]


def _judge_remark(comparison: Comparison, words: Wording) -> str:
    judges = comparison.judges
    if judges == "none":
        return words.say("Neither bundle is judged yet: only the answers can be compared.")
    if judges == "one":
        views = (comparison.before, comparison.after)
        view = next(view for view in views if not view.is_judged and not view.flags)
        return words.say(
            "“%(title)s” is not judged yet, so scores, flags and citations can’t be compared.",
            title=words.bundle_title(view),
        )
    is_alike = comparison.has_same_answers and comparison.answers.common > 0
    if judges == "same":
        if is_alike:
            return words.say(
                "The same judge and the same answers: what differs below shows how far the judge "
                "repeats itself."
            )
        return words.say("The same judge on both sides.")
    if judges == "different" and is_alike:
        return words.say(
            "Different judges, the same answers: no difference below comes from the models, it "
            "comes from how they were judged."
        )
    if judges == "different":
        return words.say(
            "Different judges: a difference in scores, flags or citations may come from the "
            "judge, not from the models."
        )
    return words.say(
        "It is not known whether the judge is the same: a difference may come from the judge."
    )


def _noise_remark(comparison: Comparison, words: Wording) -> str:
    """Return how far the judges repeat themselves, as far as probes have found out."""
    if comparison.judges in ("none", "one"):
        return ""
    views = [comparison.before, comparison.after]
    if comparison.judges == "same":
        known = [view for view in views if _repeat_share(view) is not None]
        views = known[:1] or views[:1]
    if all(_repeat_share(view) is None for view in views):
        return words.say("How far a judge repeats itself was not probed.")
    return " ".join(_noise_of(view, words) for view in views)


def _repeat_share(view: BundleView) -> float | None:
    """Return the share of equal scores when the judge was asked again; None if not known."""
    found = view.judge_quality
    if found is None or found.is_stale:
        return None
    share = found.number("probes", "repeat", "equal", "value")
    return share if share is not None and 0 <= share <= 1 else None


def _noise_of(view: BundleView, words: Wording) -> str:
    judge, share = view.bundle.manifest.judge, _repeat_share(view)
    name = one_line(judge.id) if judge else words.say("the judge")
    if share is None:
        return words.say("How far %(judge)s repeats itself was not probed.", judge=name)
    return words.say(
        "Asked again, %(judge)s gave the same score in %(pct)s of the cases.",
        judge=name,
        pct=words.locale.percent(100 * share, 0),
    )


# --- the suite -----------------------------------------------------------------------------


def suite_rows(comparison: Comparison, words: Wording) -> tuple[list[SuiteRow], int]:
    """Return the changes of the suite that the page lists, and how many more there are."""
    changes = comparison.suite
    if not changes:
        return [], 0
    before, after = comparison.before, comparison.after
    rows = [_dimension_row(before, after, one, words) for one in changes.dimensions]
    if changes.rules is not None:
        sides = zip((before.suite, after.suite), changes.rules, strict=True)
        old, new = (_rule_text(suite, rule, words) for suite, rule in sides)
        rows.append(
            SuiteRow(words.say("K.-o. rule"), words.say("changed"), (old, None), (new, None))
        )
    if changes.fields:
        rows.append(SuiteRow(words.say("Suite"), _field_words(changes.fields, words), None, None))
    rows += [_prompt_row(before, after, one, words) for one in changes.prompts]
    return rows[:MOST_SUITE_ROWS], max(len(rows) - MOST_SUITE_ROWS, 0)


def _rule_text(suite: Suite, rule: KoRule | None, words: Wording) -> str:
    return words.how_out(suite, rule) if rule else words.gate("none")


def _dimension_row(
    before: BundleView, after: BundleView, change: Changed, words: Wording
) -> SuiteRow:
    def side(view: BundleView, dimension_id: str | None) -> tuple[str, str] | None:
        dimension = view.suite.dimension(dimension_id) if dimension_id is not None else None
        if dimension is None:
            return None
        weight = words.locale.number(dimension.weight)
        return f"{words.dimension(dimension, view.suite)} × {weight}", view.links.dimension(
            dimension.id
        )

    what = words.say("Dimension")
    return SuiteRow(
        what, _change_words(change, words), side(before, change.before), side(after, change.after)
    )


def _prompt_row(before: BundleView, after: BundleView, change: Changed, words: Wording) -> SuiteRow:
    old, new = change.before, change.after
    return SuiteRow(
        words.say("Prompt"),
        _change_words(change, words),
        None if old is None else (one_line(old), before.links.prompt(old)),
        None if new is None else (one_line(new), after.links.prompt(new)),
    )


def _change_words(change: Changed, words: Wording) -> str:
    if change.before is None:
        return words.say("new")
    if change.after is None:
        return words.say("gone")
    parts = [words.say("renamed")] if change.is_renamed else []
    return ", ".join([*parts, *([_field_words(change.fields, words)] if change.fields else [])])


def _field_words(fields: Sequence[str], words: Wording) -> str:
    names = {
        "text": words.say("text"),
        "messages": words.say("earlier turns"),
        "system": words.say("system message"),
        "follows": words.say("what it follows"),
        "expectation": words.say("expectation"),
        "forbidden": words.say("red-flag rule"),
        "max_tokens": words.say("length limit"),
        "group": words.say("group"),
        "title": words.say("title"),
        "weight": words.say("weight"),
        "name": words.say("name"),
        "description": words.say("description"),
        "levels": words.say("levels"),
        "answer_rubric": words.say("answer rubric"),
        "escalation": words.say("escalation"),
        "language": words.say("language"),
    }
    return ", ".join(names[one] for one in fields)
