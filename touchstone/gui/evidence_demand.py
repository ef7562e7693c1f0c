"""Holds the evidence of a site's bundles against what is demanded of it, as ``gate`` does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from touchstone.errors import EvidenceError
from touchstone.evidence_gate import EvidenceDemand, ShortfallKind, evidence_standings
from touchstone.gui.bundle_view import BundleView
from touchstone.gui.locale import one_line

MOST_NAMED = 20
"""Citations that the message names."""

_WHAT: Mapping[ShortfallKind, str] = {
    "no_evidence": "no quote and no absence that could be checked",
    "dangling": "too many citations lead to no answer",
    "fidelity": "too few of the quotes and absences hold",
}


@dataclass(frozen=True)
class DemandOptions:
    """What was asked for; a share or a number implies the demand, None stands for all and none.

    ``min_fidelity`` is the percentage of what was checked that has to hold, about every model;
    ``max_dangling`` how many citations of nothing there may be.
    """

    is_required: bool = False
    min_fidelity: float | None = None
    max_dangling: int | None = None

    @property
    def demand(self) -> EvidenceDemand | None:
        """What that demands of the evidence; None if nothing."""
        if not self.is_required and self.min_fidelity is None and self.max_dangling is None:
            return None
        default = EvidenceDemand()
        return EvidenceDemand(
            default.min_fidelity if self.min_fidelity is None else float(self.min_fidelity),
            default.max_dangling if self.max_dangling is None else self.max_dangling,
        )


NO_DEMAND = DemandOptions()


def evidence_objection(views: Sequence[BundleView], demand: EvidenceDemand) -> EvidenceError | None:
    """Return why the site must not be built, naming the first citations; None if it may be."""
    missed: list[str] = []
    citations: list[str] = []
    for view in views:
        if not view.is_judged:
            continue
        for pair, standing in evidence_standings(view.audit).items():
            where = one_line(f"{view.bundle.id}, {pair[0]} ({pair[1]})")
            found = standing.shortfalls(demand)
            missed += [f"{where}: {_WHAT[one.kind]}" for one in found]
            # Those of the other kind may be allowed.
            kinds = {one.kind for one in found}
            bad = [
                *(standing.dangling if "dangling" in kinds else ()),
                *(standing.bad if "fidelity" in kinds else ()),
            ]
            citations += [f"{where}: {one_line(str(one))}" for one in bad]
    return _error(missed, citations) if missed else None


def _error(missed: Sequence[str], citations: Sequence[str]) -> EvidenceError:
    lines = [f"  {one}" for one in (*missed[:MOST_NAMED], *citations[:MOST_NAMED])]
    more = len(citations) - MOST_NAMED
    if more > 0:
        lines.append(f"  and {more} more")
    return EvidenceError(
        "The site was not built: the evidence is not as good as demanded.\n" + "\n".join(lines),
        hint="Judge again, or demand less with --min-fidelity PCT and --max-dangling N.",
    )
