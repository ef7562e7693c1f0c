"""Verdict by verdict: the judge's flags of single answers against a reference's (ADR-0013)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import Literal

from touchstone.agreement import FLAGS, Table, flag_error_rates, flag_table, quadratic_kappa
from touchstone.gui.judge_meta.form import Pair, Reference
from touchstone.gui.report_md import ReportData
from touchstone.intervals import Rate, Statistic, rate
from touchstone.models import Flag

AnswerKey = tuple[str, str, str]
"""Model, variant, prompt id."""
NoRate = Literal["no_pairs", "no_reference_red", "only_reference_red"]


@dataclass(frozen=True)
class ConstantFlag:
    """The flag that, given throughout, agrees with the reference most often, and how often."""

    flag: Flag
    share: float


@dataclass(frozen=True)
class FlagAgreement:
    """The answers that judge and reference both flagged.

    ``missed_red``: red to the reference alone; ``false_red``: red to the judge alone.
    ``without_judge``: how many answers only the reference flagged. ``ko_scope``: the answers where
    a red flag knocks the model out; None without a K.-o. rule.
    """

    table: Table[Flag]
    missed_red: tuple[AnswerKey, ...]
    false_red: tuple[AnswerKey, ...]
    without_judge: int
    ko_scope: Table[Flag] | None

    @property
    def exact(self) -> Rate:
        """The share of answers with the same flag."""
        same = sum(self.table.counts[place][place] for place in range(len(FLAGS)))
        return rate(same, self.table.n)

    @property
    def best_constant(self) -> ConstantFlag | None:
        """What ``exact`` has to beat: the reference's most frequent flag, the mildest of several.

        None without pairs.
        """
        if not self.table.n:
            return None
        totals = self.table.reference_totals
        most = max(totals)
        return ConstantFlag(FLAGS[totals.index(most)], most / self.table.n)

    @property
    def kappa(self) -> Statistic:
        """Cohen's κ with quadratic weights on green, yellow, red."""
        return quadratic_kappa(self.table)

    @property
    def fnr(self) -> Rate:
        """The share of the reference's red flags that the judge missed."""
        return flag_error_rates(self.table).fnr

    @property
    def fpr(self) -> Rate:
        """The share of the answers not red to the reference that the judge flagged red."""
        return flag_error_rates(self.table).fpr

    @property
    def fnr_reason(self) -> NoRate | None:
        """Why there is no FNR, if there is none."""
        return None if self.fnr.n else "no_reference_red" if self.table.n else "no_pairs"

    @property
    def fpr_reason(self) -> NoRate | None:
        """Why there is no FPR, if there is none."""
        return None if self.fpr.n else "only_reference_red" if self.table.n else "no_pairs"


def compare_flags(
    data: ReportData, reference: Mapping[Pair, Mapping[str, Flag]]
) -> FlagAgreement | None:
    """Compare the judge's flags with a reference's, by (model, variant) and prompt id.

    ``data`` holds the judge's own flags, without later decisions. Answers come in the order of the
    bundle's models and the suite's prompts. Return None where the reference flagged no answer.
    """
    flags: dict[AnswerKey, tuple[Flag | None, Flag]] = {}
    for entry in data.entries:
        given = reference.get(entry.pair, {})
        for prompt in data.suite.prompts:
            if prompt.id in given:
                key = (*entry.pair, prompt.id)
                judge = data.flags.get(key)
                flags[key] = (judge.flag if judge else None), given[prompt.id]
    if not flags:
        return None
    rule = data.suite.ko_rule
    fatal = {prompt.id for prompt in data.suite.prompts if rule and rule.covers(prompt)}
    table = flag_table(flags.values())
    return FlagAgreement(
        table=table,
        missed_red=tuple(
            key
            for key, (judged, right) in flags.items()
            if right == "red" and judged in ("green", "yellow")
        ),
        false_red=tuple(
            key for key, (judged, right) in flags.items() if judged == "red" and right != "red"
        ),
        without_judge=table.left_out,
        ko_scope=flag_table(both for key, both in flags.items() if key[2] in fatal)
        if rule
        else None,
    )


def red_errors(table: Table[Flag]) -> tuple[int, int]:
    """Return how many red flags of a table the judge missed, and how many it gave alone."""
    rates = flag_error_rates(table)
    return rates.fnr.count, rates.fpr.count


def panel_flags(references: Sequence[Reference]) -> dict[Pair, dict[str, Flag]]:
    """Return the lower median of several references' flags, in the order green, yellow, red.

    It is a flag that one of them gave. Of an even number the milder middle one counts, so the panel
    calls red only what more than half of those who flagged the answer do; what a single reference
    saw stands in the comparison with it alone.
    """
    said: dict[Pair, dict[str, list[int]]] = {}
    for reference in references:
        for pair, given in reference.flags.items():
            for prompt_id, flag in given.items():
                said.setdefault(pair, {}).setdefault(prompt_id, []).append(FLAGS.index(flag))
    return {
        pair: {prompt_id: FLAGS[median_low(places)] for prompt_id, places in given.items()}
        for pair, given in said.items()
    }
