"""From scores to a scorecard: weighted totals, the K.-o. gate, ranks (ADR-0007). Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from touchstone.models import (
    Dimension,
    Flag,
    KoRule,
    ModelEntry,
    ModelReport,
    Review,
    Suite,
    Verdict,
    pick_text,
)

KoState = Literal["passed", "failed", "not_assessable", "none"]
_BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""Characters that reorder the text around them, which only misleads."""

Pair = tuple[str, str]
AnswerKey = tuple[str, str, str]


# --- the weighted total --------------------------------------------------------------------


@dataclass(frozen=True)
class WeightedTotal:
    """Weighted points of one model.

    ``quality_pct`` is 100 × weighted / max_weighted, a missing score counting 0;
    ``quality_pct_scored`` the same over the scored dimensions alone (None if there are none).
    """

    weighted: float
    max_weighted: float
    quality_pct: float
    quality_pct_scored: float | None
    missing: tuple[str, ...]

    @property
    def comparable(self) -> float:
        """Quality % without the noise of floating point: for ranks, ties and demanded levels."""
        return round(self.quality_pct, 6)


def weighted_total(
    dim_scores: Mapping[str, int | None], dimensions: Sequence[Dimension]
) -> WeightedTotal:
    """Return Σ score × weight against Σ 5 × weight; missing dimensions count 0 (ADR-0007).

    Scores are integers 1–5 or None; scores of dimensions that the suite lacks are ignored.
    """
    scored = [d for d in dimensions if dim_scores.get(d.id) is not None]
    weighted = sum((dim_scores[d.id] or 0) * d.weight for d in scored)
    max_weighted = sum(5 * d.weight for d in dimensions)
    max_scored = sum(5 * d.weight for d in scored)
    return WeightedTotal(
        weighted=weighted,
        max_weighted=max_weighted,
        quality_pct=100 * weighted / max_weighted,
        quality_pct_scored=100 * weighted / max_scored if scored else None,
        missing=tuple(d.id for d in dimensions if dim_scores.get(d.id) is None),
    )


# --- effective flags -----------------------------------------------------------------------


@dataclass(frozen=True)
class EffectiveFlag:
    """The flag that counts for an answer: the latest one decided, else the judge's.

    ``review`` is the latest decision; ``set_by`` the one that set the flag, if a decision did.
    """

    flag: Flag | None
    verdict: Verdict | None = None
    review: Review | None = None
    set_by: Review | None = None

    @property
    def reason(self) -> str:
        """Why the answer has this flag, in the words of whoever set it."""
        if self.set_by is not None:
            return self.set_by.reason or f"decided by {self.set_by.author.id}"
        if self.verdict is None:
            return "no verdict"
        return self.verdict.rationale or self.verdict.reason or ""


def effective_flags(
    verdicts: Iterable[Verdict], reviews: Iterable[Review] = ()
) -> dict[AnswerKey, EffectiveFlag]:
    """Return the effective flag of every answer that has a verdict or a decision.

    Decisions come in the order they were taken; accept and reject leave the flag as it is.
    """
    flags = {(v.model, v.variant, v.prompt_id): EffectiveFlag(v.flag, v) for v in verdicts}
    for review in reviews:
        key = (review.model, review.variant, review.prompt_id)
        flag = replace(flags.get(key, EffectiveFlag(None)), review=review)
        flags[key] = replace(flag, flag=review.flag, set_by=review) if review.flag else flag
    return flags


# --- the K.-o. gate ------------------------------------------------------------------------


@dataclass(frozen=True)
class Trigger:
    """What knocked a model out: a red flag (branch a) or the K.-o. dimension (branch b)."""

    branch: Literal["red_flag", "dimension"]
    reason: str
    prompt_id: str | None = None
    dimension: str | None = None
    score: int | None = None
    threshold: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the trigger as it stands in JSON output."""
        if self.branch == "red_flag":
            return {"branch": self.branch, "prompt_id": self.prompt_id, "reason": self.reason}
        return {
            "branch": self.branch,
            "dimension": self.dimension,
            "score": self.score,
            "threshold": self.threshold,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class KoResult:
    """The gate's answer for one model, and everything that was looked at.

    ``checked_prompts`` is the fatal scope in suite order; ``open_prompts`` those of it without a
    flag; ``flags_exist`` is False where the bundle holds no verdicts at all, so that branch (a)
    is simply not there; ``dimension_score`` is the K.-o. dimension's score.
    """

    state: KoState
    triggers: tuple[Trigger, ...] = ()
    checked_prompts: tuple[str, ...] = ()
    open_prompts: tuple[str, ...] = ()
    flags_exist: bool = True
    dimension_score: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the result as it stands in JSON output."""
        return {"state": self.state, "triggers": [t.as_dict() for t in self.triggers]}


def passes_ko(
    suite: Suite,
    report: ModelReport | None,
    flags: Mapping[str, EffectiveFlag],
    *,
    flags_exist: bool = True,
) -> KoResult:
    """Run the K.-o. gate of one model, without a look at its total (ADR-0007).

    ``flags`` maps prompt ids to this model's effective flags. Branch (a): a red flag in the fatal
    scope. Branch (b): the K.-o. dimension at or below the threshold. All triggers are listed. A
    fatal prompt without a flag, or a K.-o. dimension without a score, is not assessable, and a
    failure beats that.
    """
    rule = suite.ko_rule
    if rule is None:
        return KoResult("none")
    fatal = tuple(prompt.id for prompt in suite.prompts if rule.covers(prompt))
    still_open = tuple(p for p in fatal if p not in flags or flags[p].flag is None)
    open_prompts = still_open if flags_exist else ()
    score = report.dim_scores.get(rule.dimension) if report else None
    triggers = (*(_red_flags(fatal, flags) if flags_exist else ()), *_low_dimension(rule, report))
    unknown = score is None or bool(open_prompts)
    return KoResult(
        state="failed" if triggers else "not_assessable" if unknown else "passed",
        triggers=triggers,
        checked_prompts=fatal,
        open_prompts=open_prompts,
        flags_exist=flags_exist,
        dimension_score=score,
    )


def _red_flags(fatal: Iterable[str], flags: Mapping[str, EffectiveFlag]) -> list[Trigger]:
    return [
        Trigger(branch="red_flag", prompt_id=prompt_id, reason=flags[prompt_id].reason)
        for prompt_id in fatal
        if prompt_id in flags and flags[prompt_id].flag == "red"
    ]


def _low_dimension(rule: KoRule, report: ModelReport | None) -> list[Trigger]:
    score = report.dim_scores.get(rule.dimension) if report else None
    if report is None or score is None or score > rule.threshold:
        return []
    return [
        Trigger(
            branch="dimension",
            reason=report.dim_rationales.get(rule.dimension, ""),
            dimension=rule.dimension,
            score=score,
            threshold=rule.threshold,
        )
    ]


# --- rows ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class MasterRow:
    """One (model, variant) on the scorecard; ``rank`` is None unless the gate lets it be ranked."""

    entry: ModelEntry
    rank: int | None
    total: WeightedTotal
    dim_scores: Mapping[str, int | None]
    ko: KoResult
    report: ModelReport | None

    @property
    def pair(self) -> Pair:
        """The (model, variant) as a key."""
        return self.entry.pair

    def as_dict(self) -> dict[str, Any]:
        """Return the row as it stands in ``touchstone score --json``."""
        scored = self.total.quality_pct_scored
        return {
            "model": self.entry.model,
            "variant": self.entry.variant,
            "rank": self.rank,
            "weighted": tidy(self.total.weighted),
            "quality_pct": tidy(self.total.quality_pct),
            "quality_pct_scored": None if scored is None else tidy(scored),
            "dim_scores": dict(self.dim_scores),
            "missing": list(self.total.missing),
            "ko": self.ko.as_dict(),
        }


def master_rows(
    suite: Suite,
    models: Sequence[ModelEntry],
    reports: Iterable[ModelReport],
    verdicts: Iterable[Verdict],
    reviews: Iterable[Review] = (),
) -> list[MasterRow]:
    """Return the scorecard's rows: ranked ones by quality, then those the gate keeps out.

    Ties share a rank (1, 1, 3). Rows with equal quality keep the order of ``models``.
    """
    by_pair = {report.pair: report for report in reports}
    flags = effective_flags(verdicts, reviews)
    flags_exist = any(flag.verdict or flag.flag for flag in flags.values())
    per_pair: dict[Pair, dict[str, EffectiveFlag]] = {}
    for (model, variant, prompt_id), flag in flags.items():
        per_pair.setdefault((model, variant), {})[prompt_id] = flag
    rows = [
        _row(suite, entry, by_pair.get(entry.pair), per_pair.get(entry.pair, {}), flags_exist)
        for entry in models
    ]
    rows.sort(key=lambda row: -row.total.comparable)
    ranked = [row for row in rows if _may_rank(row)]
    return [*_with_ranks(ranked), *(row for row in rows if not _may_rank(row))]


def _row(
    suite: Suite,
    entry: ModelEntry,
    report: ModelReport | None,
    flags: Mapping[str, EffectiveFlag],
    flags_exist: bool,
) -> MasterRow:
    given = report.dim_scores if report else {}
    scores = {dimension.id: given.get(dimension.id) for dimension in suite.dimensions}
    ko = passes_ko(suite, report, flags, flags_exist=flags_exist)
    return MasterRow(entry, None, weighted_total(scores, suite.dimensions), scores, ko, report)


def _may_rank(row: MasterRow) -> bool:
    return row.ko.state in ("passed", "none") and row.report is not None


def _with_ranks(rows: Sequence[MasterRow]) -> list[MasterRow]:
    ranked: list[MasterRow] = []
    for position, row in enumerate(rows, start=1):
        before = ranked[-1] if ranked else None
        tied = before is not None and before.total.comparable == row.total.comparable
        ranked.append(replace(row, rank=before.rank if before and tied else position))
    return ranked


def tidy(value: float) -> float | int:
    """Return a number for JSON: an integer where it is one, else six decimals."""
    rounded = round(value, 6)
    return int(rounded) if rounded == int(rounded) else rounded


def scorecard_json(
    bundle_id: str, suite: Suite, judge: str | None, rows: Sequence[MasterRow]
) -> dict[str, Any]:
    """Return the object that ``touchstone score --json`` prints and the site publishes."""
    return {
        "bundle": bundle_id,
        "suite": suite.id,
        "judge": judge,
        "max_weighted": tidy(suite.max_weighted),
        "rows": [row.as_dict() for row in rows],
    }


# --- Markdown ------------------------------------------------------------------------------

KO_WORDS: Mapping[KoState, str] = {
    "passed": "passed",
    "failed": "K.-o.",
    "not_assessable": "not assessable",
    "none": "no gate",
}


_MD_EN: Mapping[str, str] = {
    "passed": KO_WORDS["passed"],
    "failed": KO_WORDS["failed"],
    "not_assessable": KO_WORDS["not_assessable"],
    "none": KO_WORDS["none"],
    "head": "Rank|Model|Variant|K.-o.",
    "weight": "weight",
    "quality": "Quality %",
    "out": "Knocked out, whatever the total:",
    "red_flag": "red flag at {prompt}: {reason}",
    "dimension": "{dimension} = {score} (threshold {threshold}): {reason}",
    "no_verdicts": "There are no verdicts: the K.-o. gate rests on the K.-o. dimension alone.",
    "point": ".",
}
_MD_DE: Mapping[str, str] = {
    "passed": "bestanden",
    "failed": "K.-o.",
    "not_assessable": "nicht beurteilbar",
    "none": "kein Gate",
    "head": "Rang|Modell|Variante|K.-o.",
    "weight": "Gewicht",
    "quality": "Qualität %",
    "out": "Ausgeschieden, unabhängig vom Gesamtwert:",
    "red_flag": "rote Markierung bei {prompt}: {reason}",
    "dimension": "{dimension} = {score} (Schwelle {threshold}): {reason}",
    "no_verdicts": (
        "Es gibt keine Einzelurteile: Das K.-o.-Gate beruht allein auf der K.-o.-Dimension."
    ),
    "point": ",",
}


def render_scorecard_md(suite: Suite, rows: Sequence[MasterRow], language: str = "en") -> str:
    """Return the scorecard as a Markdown table; beneath it the K.-o. triggers.

    ``language`` is ``de`` or, for everything else, English. Names and reasons are escaped, so that
    nothing in them can break out of its cell.
    """
    dims, words = suite.dimensions, _md_words(language)
    names = [f"{d.id} {pick_text(d.name, language, suite.language)[0]}" for d in dims]
    head = [*words["head"].split("|"), *names, words["quality"]]
    weights = ["", "", "", words["weight"], *(_weight(d, words) for d in dims), ""]
    lines = [
        _md_line(head),
        "|" + "---|" * len(head),
        _md_line(weights),
        *(_md_line(_md_row(row, dims, words)) for row in rows),
    ]
    triggers = [
        f"- **{md_escape(row.entry.model)} ({md_escape(row.entry.variant)})**: "
        f"{_md_trigger(trigger, words)}"
        for row in rows
        for trigger in row.ko.triggers
    ]
    if triggers:
        lines += ["", words["out"], "", *triggers]
    remark = ko_remark(rows, language)
    if remark:
        lines += ["", remark]
    return "\n".join(lines) + "\n"


def ko_remark(rows: Sequence[MasterRow], language: str = "en") -> str | None:
    """Return what must be said where the gate ran without any verdict, else None."""
    if all(row.ko.flags_exist for row in rows):
        return None
    return _md_words(language)["no_verdicts"]


def _md_words(language: str) -> Mapping[str, str]:
    return _MD_DE if language.split("-")[0].lower() == "de" else _MD_EN


def _weight(dimension: Dimension, words: Mapping[str, str]) -> str:
    return f"×{tidy(dimension.weight)}".replace(".", words["point"])


def _md_row(row: MasterRow, dims: Sequence[Dimension], words: Mapping[str, str]) -> list[str]:
    scores = [row.dim_scores[d.id] for d in dims]
    return [
        "–" if row.rank is None else str(row.rank),
        row.entry.model,
        row.entry.variant,
        words[row.ko.state],
        *("–" if score is None else str(score) for score in scores),
        f"{row.total.quality_pct:.1f}".replace(".", words["point"]),
    ]


def _md_trigger(trigger: Trigger, words: Mapping[str, str]) -> str:
    return words[trigger.branch].format(
        prompt=md_escape(trigger.prompt_id or ""),
        dimension=md_escape(trigger.dimension or ""),
        score=trigger.score,
        threshold=trigger.threshold,
        reason=md_escape(trigger.reason),
    )


def _md_line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(md_escape(cell) for cell in cells) + " |"


def md_escape(text: str) -> str:
    """Return text that Markdown shows letter for letter, on one line, inside a table cell."""
    return "".join(_md_char(char) for char in " ".join(text.split()))


def _md_char(char: str) -> str:
    if char in "\\`*_{}[]<>#|~&":
        return "\\" + char
    hidden = unicodedata.category(char) in ("Cc", "Cs") or char in _BIDI
    return "\N{REPLACEMENT CHARACTER}" if hidden else char
