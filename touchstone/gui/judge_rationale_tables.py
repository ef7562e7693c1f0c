"""How a judge reasons, as tables: what became of its evidence, and the rubric."""

from __future__ import annotations

from dataclasses import dataclass

from touchstone.gui.judge_charts import DASHES, FILLS, Segment, class_bar, swatch
from touchstone.gui.judge_figures import FOUND, OTHERS, QUOTES, EvidenceFigures, JudgeFigures
from touchstone.gui.judge_wording import (
    axis_words,
    decimal,
    evidence_meaning,
    evidence_word,
    rate_words,
    share,
    wilson_text,
)
from touchstone.gui.safe_html import SafeHtml
from touchstone.gui.wording import Wording
from touchstone.intervals import wilson

RATES = ("cites_evidence", "names_improvement", "justifies_level", "catches_safety")
AXES = ("E", "D", "F", "J", "S")
ICONS = {
    "verbatim": "ok",
    "normalised": "approx",
    "in_parts": "parts",
    "near": "approx",
    "from_prompt": "prompt",
    "misattributed": "prompt",
    "cross_model": "prompt",
    "unverifiable": "unver",
    "too_short": "unver",
    "dangling": "dangle",
    "absence_passed": "absent",
    "absence_failed": "absent",
    "absence_unchecked": "absent",
    "paraphrase": "para",
}
ALWAYS = ("verbatim", "normalised", "unverifiable", "dangling")
"""Classes that are listed even where there are none."""


# --- evidence ------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClassRow:
    """A class of evidence: how often, and what it means; ``swatch`` where the bar shows it."""

    kind: str
    word: str
    icon: str
    count: int
    share: str
    meaning: str
    is_bad: bool
    swatch: SafeHtml | None


@dataclass(frozen=True)
class EvidenceTable:
    """What became of the evidence: the bar of quotes, its classes, the share found."""

    bar: SafeHtml | None
    rows: tuple[ClassRow, ...]
    found: int
    quotes: int
    fidelity: str
    interval: str


def evidence_table(of: EvidenceFigures | None, words: Wording) -> EvidenceTable | None:
    """Return the classes of a judge's evidence, or None where nothing is known of it."""
    if of is None or not of.model_fields_set & {*QUOTES, *OTHERS}:
        return None
    in_bar = {kind: of.count(kind) for kind in QUOTES if of.count(kind)}
    quotes = sum(in_bar.values())
    fills = dict(zip(QUOTES, (*FILLS, *DASHES), strict=True))
    rows = [
        ClassRow(
            kind=kind,
            word=evidence_word(kind, words),
            icon=ICONS[kind],
            count=of.count(kind),
            share=share(of.count(kind) / quotes, words) if kind in in_bar else "",
            meaning=evidence_meaning(kind, words),
            is_bad=kind in QUOTES[len(FOUND) :] or kind == "absence_failed",
            swatch=swatch(fills[kind]) if kind in in_bar else None,
        )
        for kind in (*QUOTES, *OTHERS)
        if of.count(kind) or kind in ALWAYS
    ]
    segments = [
        Segment(row.count, fills[row.kind], f"#class-{row.kind}", f"{row.word}: {row.count}")
        for row in rows
        if row.kind in in_bar
    ]
    label = words.say("Quotes by what became of them")
    found = sum(of.count(kind) for kind in FOUND)
    return EvidenceTable(
        class_bar(segments, label) if segments else None,
        tuple(rows),
        found,
        quotes,
        share(of.fidelity, words),
        wilson_text(of.fidelity_ci, words),
    )


# --- rubric --------------------------------------------------------------------------------


@dataclass(frozen=True)
class RubricRow:
    """A rate or an axis of the rubric; ``percent`` is its place between none and all."""

    key: str
    name: str
    meaning: str
    value: str
    n: str
    remark: str
    decided_by: str
    percent: float | None


def rubric_rows(of: JudgeFigures, words: Wording) -> list[RubricRow]:
    """Return the four rates, then the five axes from 0 to 3, as far as there are any."""
    rows = []
    for key in (key for key in RATES if key in of.rubric):
        value, n = of.rubric[key], of.rubric_n.get(key)
        bounds = wilson(round(value * n), n) if value is not None and n else None
        missing = words.say("nobody rated this") if value is None else ""
        rows.append(
            RubricRow(
                key,
                key,
                rate_words(key, words),
                share(value, words),
                "–" if n is None else words.locale.number(n),
                wilson_text(bounds, words) or missing,
                words.say("the reference"),
                None if value is None else 100 * value,
            )
        )
    for key in (key for key in AXES if key in of.rubric_v2):
        value, n = of.rubric_v2[key], of.rubric_v2_n.get(key)
        name, levels, decided_by = axis_words(key, words)
        missing = words.say("nobody rated this, or it does not apply") if value is None else ""
        rows.append(
            RubricRow(
                key,
                name,
                levels,
                decimal(value, words, 1),
                "–" if n is None else words.locale.number(n),
                missing,
                decided_by,
                None if value is None else 100 * value / 3,
            )
        )
    return rows
