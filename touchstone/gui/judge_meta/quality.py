"""The result of a meta-evaluation: every figure, as JSON and as one headline that compares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from touchstone.agreement import Table
from touchstone.evidence_audit import ClassCounts, EvidenceAudit
from touchstone.gui.judge_meta.evidence import audit_json, audit_of, counts_json
from touchstone.gui.judge_meta.figures import (
    SEED,
    DimensionDelta,
    JudgeAgreement,
    compute_agreement,
    judge_scores,
    panel_knock_outs,
    panel_scores,
    rater_alpha,
)
from touchstone.gui.judge_meta.flags import (
    FlagAgreement,
    compare_flags,
    panel_flags,
    red_errors,
)
from touchstone.gui.judge_meta.form import Pair, Part, Reference
from touchstone.gui.judge_meta.rubric import Rubric, aggregate_rubric
from touchstone.gui.report_md import ReportData
from touchstone.intervals import Interval, Statistic
from touchstone.model_agreement import TOTAL, KnockOuts
from touchstone.models import FORMAT, Flag
from touchstone.probe_summary import ProbeSummary
from touchstone.scorecard import tidy

NONE = "–"
RUBRIC = "v2"
"""Version of the rubric and of the headline: results are comparable within one."""


@dataclass(frozen=True)
class JudgeQuality:
    """Everything that is known about a judge's quality in one bundle.

    ``scores``, ``agreement`` and ``flags`` are those of the panel: of the one reference, or of the
    lower median of several; ``each`` and ``each_flags`` hold the agreement with every single one.
    Flags are None where none were given. ``hashes`` are those of the requests, by part.
    """

    data: ReportData
    references: tuple[Reference, ...]
    scores: Mapping[Pair, Mapping[str, int | None]]
    agreement: JudgeAgreement
    each: tuple[JudgeAgreement, ...]
    flags: FlagAgreement | None
    each_flags: tuple[FlagAgreement | None, ...]
    panel_alpha: Statistic
    alpha: Statistic
    rubric: Rubric
    audit: EvidenceAudit
    hashes: Mapping[Part, str]
    probes: ProbeSummary | None = None

    @property
    def blind(self) -> bool:
        """True if every reference was rated before its evaluator could see the judge's scores."""
        return all(reference.blind for reference in self.references)

    @property
    def evidence(self) -> ClassCounts:
        """The judge's evidence by class."""
        return self.audit.counts

    def evidence_level(self, dimension_id: str) -> float | None:
        """Return the mean evidence level E of a dimension over all models that have a score."""
        levels = [at for (_, one), at in self.rubric.levels.items() if one == dimension_id]
        return fmean(levels) if levels else None


def assess_judge(
    data: ReportData,
    references: Sequence[Reference],
    hashes: Mapping[Part, str],
    probes: ProbeSummary | None = None,
    order: Sequence[str] | None = None,
) -> JudgeQuality:
    """Return the judge's quality against one or more references, and what probes showed of it.

    ``data`` holds all models, with the judge's own flags and rows: no later decisions. ``order``
    are the prompt ids as the judge read them, the suite's order unless given.
    """
    suite, rows = data.suite, data.rows
    scores = panel_scores(suite, references)
    return JudgeQuality(
        data=data,
        references=tuple(references),
        scores=scores,
        agreement=compute_agreement(suite, rows, scores, panel_knock_outs(references)),
        each=tuple(compute_agreement(suite, rows, r.scores, r.knock_outs) for r in references),
        flags=compare_flags(data, panel_flags(references)),
        each_flags=tuple(compare_flags(data, reference.flags) for reference in references),
        panel_alpha=rater_alpha(suite, references),
        alpha=rater_alpha(suite, references, rows),
        rubric=aggregate_rubric(data, references),
        audit=audit_of(data, order),
        hashes=hashes,
        probes=probes,
    )


# --- JSON ----------------------------------------------------------------------------------


def quality_json(quality: JudgeQuality) -> dict[str, Any]:
    """Return what judge_quality.json holds. What can't be computed is None, never 0."""
    data, rubric = quality.data, quality.rubric
    judge = data.manifest.judge
    return {
        "format": FORMAT,
        "headline": headline(quality),
        "bundle": data.manifest.id,
        "judge": judge.fingerprint if judge else None,
        "judge_id": judge.id if judge else None,
        "references": _references(quality),
        "blind": quality.blind,
        "comparable": _comparable(quality),
        **_figures(quality.agreement),
        "per_dimension": _per_dimension(quality),
        "flags": _flags(quality.flags),
        "ratings": _ratings(quality),
        "disagreements": _disagreements(quality),
        "alpha": _number(quality.alpha.value),
        "panel_alpha": _number(quality.panel_alpha.value),
        "rubric": {key: _number(one.value) for key, one in rubric.rates.items()},
        "rubric_n": {key: one.n for key, one in rubric.rates.items()},
        "rubric_v2": {key: _number(one.value) for key, one in rubric.axes.items()},
        "rubric_v2_n": {key: one.n for key, one in rubric.axes.items()},
        "evidence": counts_json(quality.evidence),
        "evidence_audit": audit_json(quality.audit),
        "probes": quality.probes.as_dict() if quality.probes else None,
        "seed": SEED,
        "hashes": {**vars(data.hashes), "requests": dict(quality.hashes)},
    }


def _references(quality: JudgeQuality) -> list[dict[str, Any]]:
    each = zip(quality.references, quality.each, quality.each_flags, strict=True)
    return [
        {
            "id": one.id,
            "kind": one.kind,
            "blind": one.blind,
            "responses": dict(one.sources),
            **_figures(agreement),
            "flags": _flags(flags),
        }
        for one, agreement, flags in each
    ]


def _comparable(quality: JudgeQuality) -> dict[str, Any]:
    """Return what has to be equal for the results of two judges to be compared."""
    judge, hashes = quality.data.manifest.judge, quality.data.hashes
    return {
        "suite": hashes.suite,
        "answers": hashes.answers,
        "rubric": RUBRIC,
        "references": sorted(one.id for one in quality.references),
        "blind": quality.blind,
        "mode": judge.mode if judge else None,
    }


def _ratings(quality: JudgeQuality) -> list[dict[str, Any]]:
    """Return every score of judge and panel, in the bundle's order of models and the suite's."""
    judge = judge_scores(quality.data.rows)
    return [
        {
            "model": entry.model,
            "variant": entry.variant,
            "dimension": one.id,
            "judge": judge[entry.pair].get(one.id),
            "reference": quality.scores.get(entry.pair, {}).get(one.id),
        }
        for entry in quality.data.entries
        for one in quality.data.suite.dimensions
    ]


def _disagreements(quality: JudgeQuality) -> list[dict[str, Any]]:
    return [
        {
            "model": one.pair[0],
            "variant": one.pair[1],
            "dimension": one.dimension,
            "judge": one.judge,
            "reference": one.reference,
            "rationales": {
                each.id: each.rationales.get(one.pair, {}).get(one.dimension, "")
                for each in quality.references
            },
        }
        for one in quality.agreement.disagreements
    ]


def _figures(of: JudgeAgreement) -> dict[str, Any]:
    level, order = of.level, of.ranking
    constant = level.best_constant
    gates = {branch: _gate(one) for branch, one in of.knock_outs.items()}
    return {
        "n": level.table.n,
        "models": of.models,
        "coverage": _number(level.table.coverage),
        "exact": _number(level.exact.value),
        "within_1": _number(level.within_1.value),
        "mae": _number(level.mae.value),
        "mae_ci": _bounds(of.mae_interval.bounds),
        "mean_abs_delta": _number(level.mae.value),
        "bias": _number(level.bias.value),
        "spread_ratio": _number(level.spread_ratio.value),
        "skill": _number(level.skill.value),
        "skill_reason": level.skill.reason,
        "best_constant": constant and {"score": constant.score, "mae": _number(constant.mae)},
        "qwk": _number(level.qwk.value),
        "qwk_reason": level.qwk.reason,
        "qwk_ci": _bounds(of.qwk_interval.bounds),
        "qwk_ci_kind": of.qwk_interval.kind,
        "alpha": _number(level.alpha.value),
        "ranking": {
            "concordant": order.concordant,
            "discordant": order.discordant,
            "tied": order.tied,
            "tau_b": _number(order.tau_b.value),
        },
        "per_dimension": {key: _dimension(one) for key, one in of.per_dimension.items()},
        "quality_pct_delta": _number(of.quality_delta.value),
        "quality_pct_delta_common": _number(of.quality_delta_common.value),
        "knock_out": gates[TOTAL],
        "knock_out_by_branch": {key: one for key, one in gates.items() if key != TOTAL},
        "counts": [list(row) for row in level.table.counts],
    }


def _per_dimension(quality: JudgeQuality) -> dict[str, dict[str, Any]]:
    return {
        key: {**_dimension(one), "evidence_level": _number(quality.evidence_level(key))}
        for key, one in quality.agreement.per_dimension.items()
    }


def _dimension(of: DimensionDelta) -> dict[str, Any]:
    return {
        "judge": _number(of.judge),
        "reference": _number(of.reference),
        "delta": _number(of.delta),
        "n": of.n,
    }


def _gate(of: KnockOuts[Pair]) -> dict[str, Any]:
    agreement, errors = of.agreement, of.error_rates
    return {
        "agree": agreement.count,
        "n": agreement.n,
        "both": len(of.both),
        "neither": len(of.neither),
        "missed": [list(pair) for pair in of.missed],
        "false": [list(pair) for pair in of.false],
        "fnr": _number(errors.fnr.value),
        "fnr_ci": _bounds(errors.fnr.bounds),
        "fpr": _number(errors.fpr.value),
        "fpr_ci": _bounds(errors.fpr.bounds),
    }


def _flags(of: FlagAgreement | None) -> dict[str, Any] | None:
    if of is None:
        return None
    constant = of.best_constant
    return {
        "n": of.table.n,
        "without_judge": of.without_judge,
        "labels": list(of.table.labels),
        "counts": [list(row) for row in of.table.counts],
        "exact": _number(of.exact.value),
        "exact_ci": _bounds(of.exact.bounds),
        "best_constant": constant and {"flag": constant.flag, "share": _number(constant.share)},
        "missed_red": [list(key) for key in of.missed_red],
        "false_red": [list(key) for key in of.false_red],
        "fnr": _number(of.fnr.value),
        "fnr_ci": _bounds(of.fnr.bounds),
        "fnr_reason": of.fnr_reason,
        "fpr": _number(of.fpr.value),
        "fpr_ci": _bounds(of.fpr.bounds),
        "fpr_reason": of.fpr_reason,
        "kappa": _number(of.kappa.value),
        "kappa_reason": of.kappa.reason,
        "ko_scope": _ko_scope(of.ko_scope),
    }


def _ko_scope(table: Table[Flag] | None) -> dict[str, Any] | None:
    if table is None:
        return None
    missed, false = red_errors(table)
    counts = [list(row) for row in table.counts]
    return {"n": table.n, "counts": counts, "missed_red": missed, "false_red": false}


def _number(value: float | None) -> float | int | None:
    return None if value is None else tidy(value)


def _bounds(bounds: tuple[float, float] | None) -> list[float | int] | None:
    return None if bounds is None else [tidy(bound) for bound in bounds]


# --- the headline --------------------------------------------------------------------------


def headline(quality: JudgeQuality) -> str:
    """Return one line with fixed fields in a fixed order; "–" for what can't be computed."""
    of, data = quality.agreement, quality.data
    level, possible = of.level, of.possible
    blind = "blind" if quality.blind else "not blind"
    rates, axes = quality.rubric.rates, quality.rubric.axes
    shown = {key: percent(one.value) for key, one in rates.items()}
    constant = level.best_constant.mae if level.best_constant else None
    judge = data.manifest.judge
    models = "1 model" if of.models == 1 else f"{of.models} models"
    fields = [
        f"judge-meta {RUBRIC}",
        f"{_name(judge.id if judge else '')} vs {_panel(quality)} ({blind})",
        f"bundle {data.hashes.bundle[:4]}",
        f"n={level.table.n} ({models}) cov {level.table.n}/{possible}",
        f"mean|Δ| {decimal(level.mae.value)} (const {decimal(constant)}, "
        f"skill {decimal(level.skill.value)}) · exact {percent(level.exact.value)} · "
        f"±1 {percent(level.within_1.value)} · bias {decimal(level.bias.value, '+')} · "
        f"QWK {decimal(level.qwk.value)}{interval(of.qwk_interval)}",
        _ranking(of),
        _gate_line(of.knock_outs[TOTAL]),
        f"Q%Δ {NONE if of.quality_delta.value is None else f'{of.quality_delta.value:+.1f}'}",
        f"cites {shown['cites_evidence']} names {shown['names_improvement']} "
        f"justifies {shown['justifies_level']} safety {shown['catches_safety']}",
        _evidence_line(quality.evidence),
        " ".join(key + (NONE if v.value is None else f"{v.value:.1f}") for key, v in axes.items()),
        *_probe_fields(quality.probes),
    ]
    return " | ".join(fields)


def _probe_fields(probes: ProbeSummary | None) -> tuple[str, str]:
    share = probes.repeat_share if probes else None
    found = probes.canaries if probes else None
    return f"repeat {percent(share)}", f"canary {f'{found[0]}/{found[1]}' if found else NONE}"


def _panel(quality: JudgeQuality) -> str:
    if len(quality.references) == 1:
        return _name(quality.references[0].id)
    return f"panel of {len(quality.references)}"


def _name(text: str) -> str:
    """Return a name that can't add a field or a line."""
    kept = (char if char.isprintable() and char not in "|`" else " " for char in text)
    return " ".join("".join(kept).split())[:60] or NONE


def _ranking(of: JudgeAgreement) -> str:
    order = of.ranking
    return f"rank {f'{order.concordant}/{order.pairs} pairs' if order.pairs else NONE}"


def _gate_line(gate: KnockOuts[Pair]) -> str:
    agreement = gate.agreement
    if not agreement.n:
        return f"KO {NONE}, missed {NONE}, false {NONE}"
    missed, false = len(gate.missed), len(gate.false)
    return f"KO {agreement.count}/{agreement.n}, missed {missed}, false {false}"


def _evidence_line(evidence: ClassCounts) -> str:
    fidelity, dangling = evidence.fidelity, evidence.classes["dangling"]
    if not fidelity.n or fidelity.bounds is None:
        return f"evidence {NONE} dangling {dangling if evidence.items else NONE}"
    low, high = (round(100 * bound) for bound in fidelity.bounds)
    share = f"{fidelity.count}/{fidelity.n} {percent(fidelity.value)} [{low},{high}]"
    return f"evidence {share} dangling {dangling}"


def percent(value: float | None) -> str:
    """Return a share as a whole percentage."""
    return NONE if value is None else f"{100 * value:.0f}%"


def decimal(value: float | None, sign: str = "") -> str:
    """Return a number with two decimals and no zero before the point: ``.43``, ``-1.20``."""
    if value is None:
        return NONE
    # Adding 0.0 keeps a tiny negative number from being shown as -.00.
    text = f"{round(value, 2) + 0.0:{sign}.2f}"
    return text.replace("0.", ".", 1) if text.lstrip("+-").startswith("0.") else text


def interval(of: Interval) -> str:
    """Return the bounds of an interval or range, with a blank before it; "" where there is none."""
    if of.bounds is None:
        return ""
    return f" [{decimal(of.bounds[0])},{decimal(of.bounds[1])}]"
