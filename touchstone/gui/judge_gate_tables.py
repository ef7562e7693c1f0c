"""The K.-o. gate and the verdict flags of both sides as tables, and whom an error concerns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from touchstone.gui.bundle_view import BundleView
from touchstone.gui.judge_agreement_tables import Figure, Grid, count_text, grid_of
from touchstone.gui.judge_figures import Agreement, FlagFigures, Gate
from touchstone.gui.judge_wording import decimal, flag_finding, share, why, wilson_text
from touchstone.gui.wording import Wording

# --- the gate ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Named:
    """Something that is named, and where it leads, if anywhere."""

    text: str
    url: str | None


@dataclass(frozen=True)
class GateTable:
    """The K.-o. gate, 2×2; None is a count that is not known. ``rates`` are error rates."""

    n: int
    agree: int | None
    both: int | None
    neither: int | None
    missed: tuple[Named, ...]
    false: tuple[Named, ...]
    rates: tuple[Figure, ...]
    by_dimension: Figure | None


def gate_table(
    view: BundleView, of: Agreement, words: Wording, *, is_stale: bool
) -> GateTable | None:
    """Return the gate on both sides, or None where it can't be compared."""
    gate = of.knock_out
    if gate is None or not gate.n:
        return None
    both, neither = _alike(view, gate, is_stale=is_stale)
    branch = of.knock_out_by_branch.get("dimension")
    return GateTable(
        gate.n,
        gate.agree,
        both,
        neither,
        tuple(_model_out(view, one, words) for one in gate.missed),
        tuple(_model_out(view, one, words) for one in gate.false),
        tuple(
            error_rates(
                gate,
                (
                    None if both is None else both + len(gate.missed),
                    None if neither is None else neither + len(gate.false),
                ),
                (
                    words.say("the reference knocks out no model"),
                    words.say("the reference lets no model pass"),
                ),
                words,
            )
        ),
        _branch(branch, words) if branch and branch.n else None,
    )


def _alike(view: BundleView, gate: Gate, *, is_stale: bool) -> tuple[int | None, int | None]:
    """Return how many models both sides knock out and let pass, where that can be told."""
    if gate.both is not None and gate.neither is not None:
        return gate.both, gate.neither
    states = {
        row.pair: row.ko.state == "failed"
        for row in view.rows
        if row.report and row.ko.state in ("failed", "passed")
    }
    missed, false = set(gate.missed), set(gate.false)
    both = sum(is_out and pair not in false for pair, is_out in states.items())
    neither = sum(not is_out and pair not in missed for pair, is_out in states.items())
    if is_stale or len(states) != gate.n or both + neither != gate.agree:
        return None, None
    return both, neither


def _model_out(view: BundleView, names: tuple[str, ...], words: Wording) -> Named:
    pair = (names[0], names[1]) if len(names) == 2 else None
    if pair is None or pair not in view.row_of:
        return Named(words.shorten(" ".join(names), 80) or "–", None)
    name = words.model(view.row_of[pair].entry)
    has_page = view.suite.ko_rule is not None
    return Named(name, view.links.knock_out(pair) if has_page else view.links.model(pair))


def error_rates(
    of: Gate | FlagFigures,
    counts: tuple[int | None, int | None],
    reasons: tuple[str, str],
    words: Wording,
) -> Iterable[Figure]:
    """Yield the share missed and the share of false alarms, each with its interval or a reason.

    ``counts``: how many are positive to the reference, and how many negative, where it is known;
    ``reasons`` say why there are no positives, or no negatives.
    """
    rates = (
        ("fnr", words.say("Missed (FNR)"), of.fnr, of.fnr_ci),
        ("fpr", words.say("False (FPR)"), of.fpr, of.fpr_ci),
    )
    for (key, name, value, bounds), n, reason in zip(rates, counts, reasons, strict=True):
        remark = wilson_text(bounds, words)
        if value is None:
            is_none = n == 0 or (n is None and key in of.model_fields_set)
            remark = reason if is_none else why(None, words)
        yield Figure(name, share(value, words), count_text(n, words), remark)


def _branch(gate: Gate, words: Wording) -> Figure:
    return Figure(
        words.say("By the K.-o. dimension’s score alone"),
        words.say("%(agree)s of %(n)s alike", agree=count_text(gate.agree, words), n=gate.n),
        remark=words.say(
            "missed %(missed)s, false %(false)s", missed=len(gate.missed), false=len(gate.false)
        ),
    )


# --- verdict flags -------------------------------------------------------------------------


@dataclass(frozen=True)
class FlagTable:
    """The flags of single answers on both sides, and the red ones that only one side gave."""

    finding: str
    labels: tuple[str, ...]
    grid: Grid | None
    missed: tuple[Named, ...]
    false: tuple[Named, ...]
    figures: tuple[Figure, ...]


def flag_table(view: BundleView, of: FlagFigures, words: Wording) -> FlagTable:
    """Return the flags on both sides."""
    is_known = of.labels is not None and of.counts is not None and len(set(of.labels)) == 3
    labels, counts = (of.labels or (), of.counts or ()) if is_known else ((), ())
    red = sum(row[labels.index("red")] for row in counts) if is_known else None
    none = "" if of.n else why("no_pairs", words)
    missing = "" if of.kappa is not None else none or why("one_value", words)
    return FlagTable(
        flag_finding(of, words),
        labels,
        grid_of(counts) if is_known else None,
        tuple(_answer(view, one, words) for one in of.missed_red),
        tuple(_answer(view, one, words) for one in of.false_red),
        (
            *error_rates(
                of,
                (red, None if red is None or of.n is None else of.n - red),
                (
                    none or words.say("the reference flags nothing red"),
                    none or words.say("the reference flags everything red"),
                ),
                words,
            ),
            Figure(
                words.say("κ of the flags"),
                decimal(of.kappa, words),
                count_text(of.n, words),
                missing,
            ),
        ),
    )


def _answer(view: BundleView, names: tuple[str, ...], words: Wording) -> Named:
    model, variant, prompt_id = names if len(names) == 3 else ("", "", "")
    pair = model, variant
    if pair in view.row_of and view.links.knows_prompt(prompt_id):
        name = words.model(view.row_of[pair].entry)
        url = view.links.answer(pair, prompt_id) if view.has_answer(pair, prompt_id) else None
        return Named(f"{prompt_id}, {name}", url)
    return Named(words.shorten(" ".join(names), 80) or "–", None)
