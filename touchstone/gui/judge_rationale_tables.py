"""How a judge reasons, as tables: what became of its evidence, and the rubric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from touchstone.evidence import QUOTE_CLASSES
from touchstone.evidence_audit import ClassCounts
from touchstone.gui.bundle_view import BAD
from touchstone.gui.citations import ICONS as CITATION_ICONS
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
ICONS: Mapping[str, str] = {
    **{str(kind): icon for kind, icon in CITATION_ICONS.items()},
    "absence_unchecked": "absent",
}
NOT_QUOTED = ("absence_passed", "absence_failed", "paraphrase")
"""What evidence that is no quote can turn out to be."""
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
    counts = {kind: of.count(kind) for kind in (*QUOTES, *OTHERS)}
    listed = [kind for kind, count in counts.items() if count or kind in ALWAYS]
    in_bar = {kind: counts[kind] for kind in QUOTES}
    return class_table(counts, in_bar, listed, (of.fidelity, of.fidelity_ci), words)


def audited_table(of: ClassCounts, words: Wording) -> EvidenceTable:
    """Return all classes of evidence that was checked just now, those without any included."""
    in_bar = {str(kind): of.classes[kind] for kind in QUOTE_CLASSES}
    # A paraphrase or an absence may be dangling as well, and is no quote.
    in_bar["dangling"] += of.quotes - sum(in_bar.values())
    counts = {str(kind): count for kind, count in of.classes.items()}
    found = of.fidelity
    return class_table(counts, in_bar, (*QUOTES, *NOT_QUOTED), (found.value, found.bounds), words)


def class_table(
    counts: Mapping[str, int],
    in_bar: Mapping[str, int],
    listed: Iterable[str],
    fidelity: tuple[float | None, tuple[float, float] | None],
    words: Wording,
) -> EvidenceTable:
    """Return the ``listed`` classes; ``in_bar`` are the quotes among ``counts``."""
    quotes = sum(in_bar.values())
    fills = dict(zip(QUOTES, (*FILLS, *DASHES), strict=True))
    shown = {kind: count for kind, count in in_bar.items() if count}
    rows = [
        ClassRow(
            kind=kind,
            word=evidence_word(kind, words),
            icon=ICONS[kind],
            count=counts[kind],
            share=share(shown[kind] / quotes, words) if kind in shown else "",
            meaning=evidence_meaning(kind, words),
            is_bad=kind in BAD,
            swatch=swatch(fills[kind]) if kind in shown else None,
        )
        for kind in listed
    ]
    segments = [
        Segment(
            shown[one], fills[one], f"#class-{one}", f"{evidence_word(one, words)}: {shown[one]}"
        )
        for one in QUOTES
        if one in shown
    ]
    label = words.say("Quotes by what became of them")
    return EvidenceTable(
        class_bar(segments, label) if segments else None,
        tuple(rows),
        sum(shown.get(kind, 0) for kind in FOUND),
        quotes,
        share(fidelity[0], words),
        wilson_text(fidelity[1], words),
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
