"""What references rated, read from their responses, and how far two of them agree (ADR-0013)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from touchstone.agreement import (
    Agreement,
    agreement_of,
    kappa_interval,
    mean_absolute_error,
    pooled,
    score_table,
    table_interval,
)
from touchstone.errors import ExchangeError
from touchstone.gui.judge_meta.results import Figures
from touchstone.model_agreement import knock_outs, ranking
from touchstone.models import Suite
from touchstone.scorecard import weighted_total
from touchstone.yaml_source import parse_yaml

Pair = tuple[str, str]

SEED = 20260628
"""Seed of every bootstrap here."""


@dataclass(frozen=True)
class RatedReference:
    """A reference's own scores 1–5 and K.-o. opinions; what it left out is not in it."""

    id: str
    kind: str | None
    scores: Mapping[Pair, Mapping[str, int]]
    knock_outs: Mapping[Pair, bool]


def rated_reference(name: str, kind: str | None, text: str) -> RatedReference | None:
    """Return what a response that was ingested says in its part A; None if it says nothing.

    It was checked against its request when it was ingested; here only ratings are picked out.
    """
    try:
        form = parse_yaml(text, name, ExchangeError).data
    except ExchangeError:
        return None
    listed = form.get("reports") if isinstance(form, dict) else None
    reports = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    scores: dict[Pair, dict[str, int]] = {}
    outcomes: dict[Pair, bool] = {}
    for report in reports:
        model, variant = report.get("model"), report.get("variant")
        if not isinstance(model, str) or not isinstance(variant, str):
            continue
        given = _scores(report.get("fresh"))
        if given:
            scores[model, variant] = given
        if isinstance(out := report.get("knock_out"), bool):
            outcomes[model, variant] = out
    return RatedReference(name, kind, scores, outcomes) if scores or outcomes else None


def _scores(fresh: Any) -> dict[str, int]:
    found = {}
    for dimension, one in fresh.items() if isinstance(fresh, dict) else ():
        score = one.get("score") if isinstance(one, dict) else None
        if isinstance(score, int) and not isinstance(score, bool) and 1 <= score <= 5:
            found[dimension] = score
    return found


def level_figures(of: Agreement[int]) -> Figures:
    """Return the figures of level and of agreement beyond chance, without intervals."""
    return Figures(
        n=of.table.n,
        coverage=of.table.coverage,
        exact=of.exact.value,
        within_1=of.within_1.value,
        mae=of.mae.value,
        skill=of.skill.value,
        bias=of.bias.value,
        qwk=of.qwk.value,
        table=of.table,
    )


def figures_between(
    suite: Suite, pairs: Sequence[Pair], first: RatedReference, second: RatedReference
) -> Figures:
    """Return how far two references agree on the models ``pairs``.

    Neither is the right one: bias, skill and which K.-o. was missed are not asked.
    """
    ids = [dimension.id for dimension in suite.dimensions]
    tables = [
        score_table(
            (first.scores.get(pair, {}).get(one), second.scores.get(pair, {}).get(one))
            for one in ids
        )
        for pair in pairs
    ]
    level = agreement_of(pooled(tables)) if tables else agreement_of(score_table(()))
    order = ranking(_totals(suite, pairs, first), _totals(suite, pairs, second))
    gate = knock_outs(
        *({pair: one.knock_outs.get(pair) for pair in pairs} for one in (first, second))
    ).agreement
    return Figures(
        n=level.table.n,
        models=sum(1 for table in tables if table.n),
        coverage=level.table.coverage,
        exact=level.exact.value,
        within_1=level.within_1.value,
        mae=level.mae.value,
        mae_ci=table_interval(mean_absolute_error, tables, seed=SEED).bounds,
        qwk=level.qwk.value,
        qwk_ci=kappa_interval(tables, seed=SEED).bounds,
        concordant=order.concordant if order.pairs else None,
        ranked_pairs=order.pairs or None,
        ko_agree=gate.count if gate.n else None,
        ko_n=gate.n or None,
        table=level.table,
    )


def _totals(
    suite: Suite, pairs: Sequence[Pair], reference: RatedReference
) -> dict[Pair, float | None]:
    return {
        pair: weighted_total(reference.scores[pair], suite.dimensions).quality_pct
        for pair in pairs
        if pair in reference.scores
    }
