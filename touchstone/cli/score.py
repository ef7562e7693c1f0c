"""``touchstone score``: the scorecard of a bundle."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from touchstone.bundle import Bundle
from touchstone.bundle_scores import rows_of_bundle, scorecard_of_bundle
from touchstone.cli.common import BUNDLE_PATH, print_json, say, shown
from touchstone.errors import UsageError
from touchstone.models import Suite
from touchstone.scorecard import (
    KO_WORDS,
    MasterRow,
    ko_remark,
    render_scorecard_md,
)

MODELS = click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME[/VARIANT]",
    help="Only this model, in all its variants or in one. Repeatable.",
)
"""The option that narrows a command to some models; see ``chosen_rows``."""

_KO_STYLE = {"passed": "green", "failed": "bold red", "not_assessable": "yellow", "none": "dim"}


@click.command("score", epilog="Example: touchstone score bundles/office-2026-12 --json")
@click.argument("path", metavar="BUNDLE", type=BUNDLE_PATH)
@click.option("--json", "as_json", is_flag=True, help="Print the scorecard as JSON.")
@click.option("--md", "as_md", is_flag=True, help="Print the scorecard as Markdown.")
def command(path: Path, as_json: bool, as_md: bool) -> None:
    """Print the scorecard of BUNDLE: weighted totals, ranks and the K.-o. gate."""
    bundle = Bundle.open(path)
    rows = rows_of(bundle)
    if as_json:
        print_json(scorecard_of_bundle(bundle, rows))
    elif as_md:
        click.echo(render_scorecard_md(bundle.suite, rows), nl=False)
    else:
        Console(highlight=False).print(_table(bundle.suite, rows))
        for line in _below(rows):
            click.echo(line)


def rows_of(bundle: Bundle) -> list[MasterRow]:
    """Return the scorecard rows of a bundle, or raise if a record can't be read.

    A torn last line is dropped, and that is said.
    """
    rows = rows_of_bundle(bundle)
    for torn in (*bundle.verdicts.problems, *bundle.reports.problems):
        say(f"note: {shown(str(torn))}")
    return rows


def _table(suite: Suite, rows: Sequence[MasterRow]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("Rank", justify="right")
    table.add_column("Model", overflow="fold")
    table.add_column("K.-o.")
    for dimension in suite.dimensions:
        table.add_column(Text(f"{shown(dimension.id)}\n×{dimension.weight:g}"), justify="right")
    table.add_column("Quality %", justify="right")
    table.add_column("Points", justify="right")
    for row in rows:
        table.add_row(
            "–" if row.rank is None else str(row.rank),
            Text(f"{shown(row.entry.model)} ({shown(row.entry.variant)})"),
            Text(KO_WORDS[row.ko.state], style=_KO_STYLE[row.ko.state]),
            *("–" if score is None else str(score) for score in row.dim_scores.values()),
            f"{row.total.quality_pct:.1f}",
            f"{row.total.weighted:g} / {row.total.max_weighted:g}",
        )
    return table


def _below(rows: Sequence[MasterRow]) -> list[str]:
    lines = []
    for row in rows:
        name = f"{shown(row.entry.model)} ({shown(row.entry.variant)})"
        for trigger in row.ko.triggers:
            at = trigger.prompt_id or f"{trigger.dimension} = {trigger.score}"
            lines.append(f"K.-o. {name} by {shown(at)}: {shown(trigger.reason)}")
        if row.ko.state == "not_assessable":
            lines.append(f"Not assessable {name}: {explain_open(row)}")
        if row.report is None:
            lines.append(f"No report yet: {name}")
    remark = ko_remark(rows)
    return [*lines, remark] if remark else lines


def explain_open(row: MasterRow) -> str:
    """Return why the gate can't be assessed for a model."""
    parts = []
    if row.ko.open_prompts:
        parts.append(f"no flag at {', '.join(shown(p) for p in row.ko.open_prompts)}")
    if row.ko.dimension_score is None:
        parts.append("the K.-o. dimension has no score")
    return "; ".join(parts)


def chosen_rows(rows: Sequence[MasterRow], models: Sequence[str]) -> list[MasterRow]:
    """Return the rows of these models (``NAME`` or ``NAME/VARIANT``), of all if none is named."""
    if not models:
        return list(rows)
    known = {name for row in rows for name in (row.entry.model, "/".join(row.pair))}
    unknown = [name for name in models if name not in known]
    if unknown:
        raise UsageError(
            f"The bundle has no model {shown(', '.join(unknown))}.",
            hint=f"It has {shown(', '.join('/'.join(row.pair) for row in rows))}.",
        )
    return [row for row in rows if {row.entry.model, "/".join(row.pair)} & set(models)]
