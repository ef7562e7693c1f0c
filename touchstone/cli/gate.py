"""``touchstone gate``: the K.-o. gate for scripts and CI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click

from touchstone.bundle import Bundle
from touchstone.bundle_evidence import audit_bundle
from touchstone.cli.common import BUNDLE_PATH, print_json, say, shown
from touchstone.cli.score import MODELS, chosen_rows, explain_open, rows_of
from touchstone.evidence_audit import Pair
from touchstone.evidence_gate import (
    EvidenceDemand,
    EvidenceStanding,
    Shortfall,
    evidence_standings,
    standing_of,
)
from touchstone.files import write_atomic
from touchstone.scorecard import KO_WORDS, MasterRow, ko_remark

FAILED, NOT_ASSESSABLE, LEVEL_MISSED = 3, 4, 6


@dataclass(frozen=True)
class Demands:
    """The levels that are demanded of every model beside the gate; None: not demanded."""

    min_quality: float | None = None
    evidence: EvidenceDemand | None = None
    standings: Mapping[Pair, EvidenceStanding] = field(default_factory=dict)

    def is_too_low(self, row: MasterRow) -> bool:
        """Say whether a model's Quality % is below the demanded one."""
        return self.min_quality is not None and row.total.comparable < self.min_quality

    def shortfalls(self, row: MasterRow) -> list[Shortfall]:
        """Return what is demanded of the evidence about a model and missed."""
        return [] if self.evidence is None else self._standing(row).shortfalls(self.evidence)

    def are_missed(self, row: MasterRow) -> bool:
        """Say whether a model misses any of it."""
        return self.is_too_low(row) or bool(self.shortfalls(row))

    def as_dict(self, row: MasterRow) -> dict[str, Any]:
        """Return how a model stands, as JSON."""
        level: dict[str, Any] = {"below_min_quality": self.is_too_low(row)}
        if self.evidence is not None:
            level["evidence"] = self._standing(row).as_dict(self.evidence)
        return level

    def _standing(self, row: MasterRow) -> EvidenceStanding:
        return standing_of(self.standings, row.pair)


NO_DEMANDS = Demands()


@click.command(
    "gate",
    epilog="Example: touchstone gate bundles/office-2026-12 --min-quality 70 --require-evidence",
)
@click.argument("path", metavar="BUNDLE", type=BUNDLE_PATH)
@MODELS
@click.option(
    "--min-quality",
    type=click.FloatRange(0, 100),
    metavar="PCT",
    help="Demand this Quality % of every model (exit code 6).",
)
@click.option(
    "--require-evidence",
    is_flag=True,
    help="Demand that the judge's evidence about every model holds (exit code 6): no citation "
    "without an answer, no quote that stands nowhere, in the prompt or in another answer, no "
    "absence that is none. Near and too short quotes do not count. Scores without any evidence "
    "that can be checked miss it too; without scores the gate is not assessable first.",
)
@click.option(
    "--min-fidelity",
    type=click.FloatRange(0, 100),
    metavar="PCT",
    help="Of the quotes and absences that were checked, this share must hold, for every model. "
    "Implies --require-evidence. Default with it: 100.",
)
@click.option(
    "--max-dangling",
    type=click.IntRange(min=0),
    metavar="N",
    help="So many citations without an answer are allowed for every model. Implies "
    "--require-evidence. Default with it: 0.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option(
    "--junit", type=click.Path(path_type=Path), metavar="FILE", help="Also write a JUnit XML file."
)
def command(
    path: Path,
    models: tuple[str, ...],
    min_quality: float | None,
    require_evidence: bool,
    min_fidelity: float | None,
    max_dangling: int | None,
    as_json: bool,
    junit: Path | None,
) -> int:
    """Run the K.-o. gate of BUNDLE.

    Exit code 3 if a model is knocked out, else 4 if one is not assessable (or there is none), else
    6 if one misses a demanded quality or the demanded evidence, else 0.
    """
    bundle = Bundle.open(path)
    rows = chosen_rows(rows_of(bundle), models)
    evidence = evidence_demand(min_fidelity, max_dangling, required=require_evidence)
    demands = demands_on(bundle, min_quality, evidence)
    code = exit_code(rows, demands)
    remark = ko_remark(rows) if rows else f"{path} lists no models: there is nothing to assess."
    if remark:
        say(remark)
    if as_json:
        table = [{**row.as_dict(), **demands.as_dict(row)} for row in rows]
        print_json({"bundle": bundle.id, "exit_code": code, "rows": table})
    else:
        for row in rows:
            click.echo(_line(row, demands))
    if junit is not None:
        write_atomic(junit, _junit(bundle.id, rows, demands))
    return code


def evidence_demand(
    min_fidelity: float | None, max_dangling: int | None, *, required: bool
) -> EvidenceDemand | None:
    """Return what options demand of the evidence, or None if they demand nothing of it."""
    if not required and min_fidelity is None and max_dangling is None:
        return None
    default = EvidenceDemand()
    return EvidenceDemand(
        default.min_fidelity if min_fidelity is None else min_fidelity,
        default.max_dangling if max_dangling is None else max_dangling,
    )


def demands_on(
    bundle: Bundle, min_quality: float | None, evidence: EvidenceDemand | None
) -> Demands:
    """Return the demands with how the evidence of a bundle stands, which is looked up if needed."""
    if evidence is None:
        return Demands(min_quality)
    return Demands(min_quality, evidence, evidence_standings(audit_bundle(bundle)))


def exit_code(rows: Sequence[MasterRow], demands: Demands = NO_DEMANDS) -> int:
    """Return the gate's exit code over these rows; a knock-out beats all else."""
    states = {row.ko.state for row in rows}
    if "failed" in states:
        return FAILED
    if "not_assessable" in states or not rows:
        return NOT_ASSESSABLE
    return LEVEL_MISSED if any(demands.are_missed(row) for row in rows) else 0


def _line(row: MasterRow, demands: Demands) -> str:
    name = f"{shown(row.entry.model)} ({shown(row.entry.variant)})"
    reasons = [
        f"{shown(t.prompt_id or f'{t.dimension} = {t.score}')}: {shown(t.reason)}"
        for t in row.ko.triggers
    ]
    if row.ko.state == "not_assessable":
        reasons.append(explain_open(row))
    if demands.is_too_low(row):
        reasons.append(f"Quality {row.total.quality_pct:.1f} % is below {demands.min_quality:g} %")
    reasons += [shown(one.message) for one in demands.shortfalls(row)]
    return f"{KO_WORDS[row.ko.state]:<15} {name}" + "".join(f"\n    {one}" for one in reasons)


def _junit(bundle_id: str, rows: Sequence[MasterRow], demands: Demands) -> bytes:
    quality = Demands(demands.min_quality)
    root = ElementTree.Element("testsuite", name=f"touchstone gate {shown(bundle_id)}")
    for row in rows:
        message = _line(row, quality) if exit_code([row], quality) else ""
        _test_case(root, row, row.entry.variant, KO_WORDS[row.ko.state], message)
    for row in rows if demands.evidence is not None else ():
        message = "\n".join(shown(one.message) for one in demands.shortfalls(row))
        _test_case(root, row, f"{row.entry.variant}: evidence", "evidence", message)
    root.set("tests", str(len(root)))
    root.set("failures", str(sum(len(case) for case in root)))
    document: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return document


def _test_case(
    root: ElementTree.Element, row: MasterRow, name: str, short: str, failure: str
) -> None:
    case = ElementTree.SubElement(
        root, "testcase", classname=shown(row.entry.model), name=shown(name)
    )
    if failure:
        ElementTree.SubElement(case, "failure", message=short).text = failure
