"""Decides whether a judge's evidence is as good as demanded, model by model. Pure.

What holds is a quote that was found, or an absence that was checked. What doesn't hold stands in
``BAD``; citations of nothing are counted by themselves. Near quotes, quotes too short to prove
anything and paraphrases are neither.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from touchstone.evidence import FOUND, EvidenceClass
from touchstone.evidence_audit import EvidenceAudit, Pair

GOOD: frozenset[EvidenceClass] = FOUND | {"absence_passed"}
BAD: frozenset[EvidenceClass] = frozenset(
    {"unverifiable", "from_prompt", "misattributed", "cross_model", "absence_failed"}
)
NAMED = 3
"""Citations that the message of a shortfall names."""
LONGEST_QUOTE = 60

ShortfallKind = Literal["no_evidence", "dangling", "fidelity"]


@dataclass(frozen=True)
class EvidenceDemand:
    """How good the evidence about each model must be.

    ``min_fidelity`` is the share of what was checked that has to hold, in percent;
    ``max_dangling`` how many citations of nothing there may be.
    """

    min_fidelity: float = 100.0
    max_dangling: int = 0


@dataclass(frozen=True)
class BadCitation:
    """A citation that doesn't hold; ``quote`` is "" where a rationale only names the id."""

    dimension: str
    prompt_id: str
    kind: EvidenceClass
    quote: str = ""

    def __str__(self) -> str:
        words = " ".join(self.quote.split())
        shortened = words if len(words) <= LONGEST_QUOTE else words[: LONGEST_QUOTE - 1] + "…"
        text = f"{self.dimension} at {self.prompt_id}: {self.kind}"
        return f"{text}, “{shortened}”" if shortened else text

    def as_dict(self) -> dict[str, str]:
        """Return the citation as it stands in JSON."""
        return {
            "dimension": self.dimension,
            "prompt_id": self.prompt_id,
            "class": self.kind,
            "quote": self.quote,
        }


@dataclass(frozen=True)
class Shortfall:
    """A demand that the evidence about a model misses, in one sentence."""

    pair: Pair
    kind: ShortfallKind
    message: str


@dataclass(frozen=True)
class EvidenceStanding:
    """The evidence about one (model, variant): how much holds, and what doesn't."""

    pair: Pair
    held: int = 0
    bad: tuple[BadCitation, ...] = ()
    dangling: tuple[BadCitation, ...] = ()

    @property
    def held_pct(self) -> float | None:
        """The percentage of what was checked that holds; None if there was nothing to check."""
        checked = self.held + len(self.bad)
        return 100 * self.held / checked if checked else None

    def shortfalls(self, demand: EvidenceDemand) -> list[Shortfall]:
        """Return what is demanded and missed."""
        return [Shortfall(self.pair, kind, text) for kind, text in self._missed(demand)]

    def _missed(self, demand: EvidenceDemand) -> Iterator[tuple[ShortfallKind, str]]:
        held = self.held_pct
        if held is None and not self.dangling:
            yield "no_evidence", "There is no quote and no absence that could be checked"
        if len(self.dangling) > demand.max_dangling:
            count = len(self.dangling)
            what = "1 citation leads" if count == 1 else f"{count} citations lead"
            allowed = f" ({demand.max_dangling} allowed)" if demand.max_dangling else ""
            yield "dangling", f"{what} to no answer{allowed}: {_named(self.dangling)}"
        if held is not None and held < demand.min_fidelity:
            checked = self.held + len(self.bad)
            yield (
                "fidelity",
                f"{self.held} of {checked} quotes and absences hold, which is "
                f"{_percent(held)} % and below {demand.min_fidelity:g} %: {_named(self.bad)}",
            )

    def as_dict(self, demand: EvidenceDemand) -> dict[str, Any]:
        """Return the standing as it stands in the JSON of ``touchstone gate``."""
        missed = self.shortfalls(demand)
        return {
            "ok": not missed,
            "held": self.held,
            "bad": len(self.bad),
            "dangling": len(self.dangling),
            "held_pct": None if self.held_pct is None else round(self.held_pct, 4),
            "shortfalls": [{"kind": one.kind, "message": one.message} for one in missed],
            "citations": [one.as_dict() for one in (*self.dangling, *self.bad)],
        }


def evidence_standings(audit: EvidenceAudit) -> dict[Pair, EvidenceStanding]:
    """Return the standing of every (model, variant) that has a report, in the audit's order.

    An id that a rationale names is a citation too: without an answer to it, it is dangling.
    """
    held: dict[Pair, int] = {}
    bad: dict[Pair, list[BadCitation]] = {}
    dangling: dict[Pair, dict[tuple[str, str], list[BadCitation]]] = {}
    for one in audit.items:
        kind = one.finding.kind
        found = BadCitation(one.dimension, one.item.prompt_id, kind, one.item.quote)
        held[one.pair] = held.get(one.pair, 0) + (kind in GOOD)
        if kind in BAD:
            bad.setdefault(one.pair, []).append(found)
        elif kind == "dangling":
            places = dangling.setdefault(one.pair, {})
            places.setdefault((one.dimension, one.item.prompt_id), []).append(found)
    for pair, dimension, prompt_id in _named_in_vain(audit):
        only = BadCitation(dimension, prompt_id, "dangling")
        dangling.setdefault(pair, {}).setdefault((dimension, prompt_id), [only])
    return {
        model.pair: EvidenceStanding(
            model.pair,
            held.get(model.pair, 0),
            tuple(bad.get(model.pair, ())),
            tuple(one for ones in dangling.get(model.pair, {}).values() for one in ones),
        )
        for model in audit.models
    }


def evidence_shortfalls(
    audit: EvidenceAudit, demand: EvidenceDemand, pairs: Iterable[Pair] | None = None
) -> list[Shortfall]:
    """Return every demand that is missed, model by model.

    ``pairs`` are the (model, variant)s to look at, those with a report unless given. One without a
    report has no evidence, which is a shortfall.
    """
    standings = evidence_standings(audit)
    return [
        missed
        for pair in (standings if pairs is None else pairs)
        for missed in standing_of(standings, pair).shortfalls(demand)
    ]


def standing_of(standings: Mapping[Pair, EvidenceStanding], pair: Pair) -> EvidenceStanding:
    """Return the standing of a (model, variant), an empty one where there is no report on it."""
    return standings.get(pair) or EvidenceStanding(pair)


def _named_in_vain(audit: EvidenceAudit) -> Iterator[tuple[Pair, str, str]]:
    """Yield the ids that a rationale names and that lead to no answer of the model."""
    answered = {model.pair: {*model.cited, *model.uncited} for model in audit.models}
    for said in audit.rationales:
        for prompt_id in (*said.prompt_ids, *said.dangling):
            if prompt_id not in answered[said.pair]:
                yield said.pair, said.dimension, prompt_id


def _named(citations: tuple[BadCitation, ...]) -> str:
    more = len(citations) - NAMED
    named = "; ".join(str(one) for one in citations[:NAMED])
    return f"{named}; and {more} more" if more > 0 else named


def _percent(value: float) -> str:
    """Return a percentage with one decimal, rounded down: what is below a bound looks below it."""
    return f"{int(value * 10) / 10:.1f}"
