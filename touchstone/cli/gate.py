"""``touchstone gate``: the K.-o. gate for scripts and CI."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click

from touchstone.bundle import Bundle
from touchstone.cli.common import BUNDLE_PATH, print_json, say, shown
from touchstone.cli.score import MODELS, chosen_rows, explain_open, rows_of
from touchstone.files import write_atomic
from touchstone.scorecard import KO_WORDS, MasterRow, ko_remark

FAILED, NOT_ASSESSABLE, LEVEL_MISSED = 3, 4, 6


@click.command("gate", epilog="Example: touchstone gate bundles/office-2026-12 --min-quality 70")
@click.argument("path", metavar="BUNDLE", type=BUNDLE_PATH)
@MODELS
@click.option(
    "--min-quality",
    type=click.FloatRange(0, 100),
    metavar="PCT",
    help="Demand this Quality % of every model (exit code 6).",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option(
    "--junit", type=click.Path(path_type=Path), metavar="FILE", help="Also write a JUnit XML file."
)
def command(
    path: Path,
    models: tuple[str, ...],
    min_quality: float | None,
    as_json: bool,
    junit: Path | None,
) -> int:
    """Run the K.-o. gate of BUNDLE.

    Exit code 3 if a model is knocked out, else 4 if one is not assessable (or there is none), else
    6 if one is below the demanded quality, else 0.
    """
    bundle = Bundle.open(path)
    rows = chosen_rows(rows_of(bundle), models)
    code = exit_code(rows, min_quality)
    remark = ko_remark(rows) if rows else f"{path} lists no models: there is nothing to assess."
    if remark:
        say(remark)
    if as_json:
        print_json(
            {
                "bundle": bundle.id,
                "exit_code": code,
                "rows": [_as_dict(row, min_quality) for row in rows],
            }
        )
    else:
        for row in rows:
            click.echo(_line(row, min_quality))
    if junit is not None:
        write_atomic(junit, _junit(bundle.id, rows, min_quality))
    return code


def exit_code(rows: Sequence[MasterRow], min_quality: float | None = None) -> int:
    """Return the gate's exit code over these rows; a knock-out beats all else."""
    states = {row.ko.state for row in rows}
    if "failed" in states:
        return FAILED
    if "not_assessable" in states or not rows:
        return NOT_ASSESSABLE
    return LEVEL_MISSED if any(_too_low(row, min_quality) for row in rows) else 0


def _too_low(row: MasterRow, min_quality: float | None) -> bool:
    return min_quality is not None and row.total.comparable < min_quality


def _as_dict(row: MasterRow, min_quality: float | None) -> dict[str, Any]:
    return {**row.as_dict(), "below_min_quality": _too_low(row, min_quality)}


def _line(row: MasterRow, min_quality: float | None) -> str:
    name = f"{shown(row.entry.model)} ({shown(row.entry.variant)})"
    reasons = [
        f"{shown(t.prompt_id or f'{t.dimension} = {t.score}')}: {shown(t.reason)}"
        for t in row.ko.triggers
    ]
    if row.ko.state == "not_assessable":
        reasons.append(explain_open(row))
    if _too_low(row, min_quality):
        reasons.append(f"Quality {row.total.quality_pct:.1f} % is below {min_quality:g} %")
    return f"{KO_WORDS[row.ko.state]:<15} {name}" + "".join(f"\n    {one}" for one in reasons)


def _junit(bundle_id: str, rows: Sequence[MasterRow], min_quality: float | None) -> bytes:
    failures = [row for row in rows if exit_code([row], min_quality)]
    root = ElementTree.Element(
        "testsuite",
        name=f"touchstone gate {shown(bundle_id)}",
        tests=str(len(rows)),
        failures=str(len(failures)),
    )
    for row in rows:
        case = ElementTree.SubElement(
            root, "testcase", classname=shown(row.entry.model), name=shown(row.entry.variant)
        )
        if exit_code([row], min_quality):
            message = _line(row, min_quality)
            ElementTree.SubElement(case, "failure", message=KO_WORDS[row.ko.state]).text = message
    document: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return document
