"""``touchstone judge-meta compare``: judges side by side, where that is fair (ADR-0013)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from touchstone.bundle import Bundle, find_bundles
from touchstone.cli.common import BUNDLE_PATH, print_json, say, shown
from touchstone.errors import InputError, UsageError
from touchstone.gui.judge_meta.compare import (
    Comparison,
    Constant,
    Entry,
    Group,
    Judged,
    Matrix,
    compare_judges,
    comparison_json,
)
from touchstone.gui.judge_meta.compare_md import (
    NONE,
    basis_text,
    cell_texts,
    comparison_words,
    difference_texts,
    figure_texts,
    kappa_gaps,
    kind_text,
    kinds_text,
    numbered_groups,
    obstacle_text,
    reference_text,
    render_comparison_md,
    short,
    suite_text,
)
from touchstone.gui.judge_meta.results import Figures
from touchstone.gui.judged_bundles import judged_bundle

WORDS = comparison_words("en")
WIDTH = 100
"""Columns of the tables where nobody looks at a terminal; a narrower terminal folds names."""
_LEVEL = ("n", "Cov.", "Exact", "±1", "mean|Δ|", "Skill", "Bias", "QWK")
_CELL = ("mean |Δ|", "weighted κ", "scores in common", "equal flags")
_REST = ("Ranking pairs", "K.-o. alike", "missed", "false", "Q%Δ", "Evidence", "Repeat")


@click.command(
    "compare",
    short_help="Put several judges side by side.",
    epilog="Example: touchstone judge-meta compare bundles/office bundles/office-judge-2",
)
@click.argument("paths", metavar="[BUNDLE]...", nargs=-1, type=BUNDLE_PATH)
@click.option(
    "--bundles",
    "folder",
    type=click.Path(path_type=Path),
    default=Path("bundles"),
    metavar="DIR",
    show_default=True,
    help="Where to look for bundles if none is named.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
@click.option("--md", "as_md", is_flag=True, help="Print the comparison as Markdown.")
@click.option(
    "--lang",
    "language",
    type=click.Choice(["en", "de"]),
    default="en",
    show_default=True,
    help="Language of the Markdown.",
)
def command(
    paths: tuple[Path, ...], folder: Path, as_json: bool, as_md: bool, language: str
) -> None:
    """Compare the judges of BUNDLEs, or of every judged bundle in a folder.

    Against references, judges stand in one table only where suite, answers, rubric, references,
    blindness and judging mode are the same; otherwise it is said what differs. Judges of the same
    answers are compared with each other as well, which needs no reference.
    """
    comparison = compare_judges(_judged(paths, folder))
    for one in comparison.without_quality:
        say(
            f"note: {shown(one.bundle)} has no judge quality, so its judge is only compared with "
            f"other judges (touchstone judge-meta export {shown(one.bundle)})"
        )
    if as_json:
        print_json(comparison_json(comparison))
    elif as_md:
        click.echo(render_comparison_md(comparison, language), nl=False)
    else:
        _print(comparison)


# --- bundles -------------------------------------------------------------------------------


def _judged(paths: Sequence[Path], folder: Path) -> list[Judged]:
    """Return the judged bundles among those named, or in the folder; raise if they are not two."""
    found = list(_named(paths) if paths else _found(folder))
    judged = [one for one in found if one.is_judged]
    if len(judged) < 2:
        where = "of those named" if paths else f"in {folder}"
        raise UsageError(
            f"A comparison needs at least two judged bundles; there {_are(len(judged))} {where}.",
            hint="Have the same answers judged again: touchstone judge BUNDLE --judge OTHER "
            "--into NEW",
        )
    for one in found:
        if not one.is_judged:
            say(f"note: {shown(one.bundle)} is left out: not judged yet")
    return judged


def _are(count: int) -> str:
    return "is 1" if count == 1 else f"are {count}"


def _named(paths: Sequence[Path]) -> Iterator[Judged]:
    seen: set[Path] = set()
    for path in paths:
        if path.resolve() in seen:
            say(f"note: {path} is named twice")
            continue
        seen.add(path.resolve())
        yield judged_bundle(Bundle.open(path))


def _found(folder: Path) -> Iterator[Judged]:
    if not folder.is_dir():
        raise UsageError(
            f"There is no folder of bundles: {folder}",
            hint="Name the bundles, or their folder with --bundles DIR.",
        )
    for path in find_bundles(folder):
        try:
            yield judged_bundle(Bundle.open(path))
        except InputError as failure:
            say(f"note: {path.name} is left out: {shown(failure.message)}")


# --- tables for people ---------------------------------------------------------------------


def _print(comparison: Comparison) -> None:
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, WIDTH)
    for number, group in numbered_groups(comparison).items():
        suite, references = suite_text(WORDS, group.suite), reference_text(WORDS, group)
        title = WORDS["group"].format(number=number, suite=suite, references=references)
        _line(console, title, "bold")
        _line(console, basis_text(WORDS, group), "dim")
        console.print(_figures(group, _LEVEL, 0))
        console.print(_figures(group, _REST, len(_LEVEL)))
        console.print()
    _print_lines(console, WORDS["differences"], difference_texts(WORDS, comparison))
    _print_lines(console, WORDS["not_compared"], list(_held_back(comparison)))
    for matrix in comparison.matrices:
        _print_matrix(console, matrix)
    if not comparison.matrices:
        _line(console, WORDS["no_matrix"])


def _line(console: Console, text: str, style: str = "") -> None:
    console.print(Text(shown(text), style=style), soft_wrap=True)


def _print_lines(console: Console, title: str, lines: Sequence[str]) -> None:
    if lines:
        _line(console, title, "bold")
        for line in lines:
            _line(console, f"  {line}")
        console.print()


def _held_back(comparison: Comparison) -> Iterator[str]:
    for group in comparison.groups:
        for one in group.entries:
            if one.obstacle is not None:
                yield f"{_name(one.judged)}: {obstacle_text(WORDS, one.obstacle)}"


def _name(judged: Judged) -> str:
    return f"{short(judged.judge) or NONE} ({short(judged.bundle)})"


def _figures(group: Group, titles: Sequence[str], start: int) -> Table:
    """Return some columns of the cross-judge table; all of them are wider than a terminal."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("Judge", overflow="fold", min_width=12)
    for title in titles:
        table.add_column(title, justify="right", no_wrap=True)
    columns = slice(start, start + len(titles))
    for entry in group.entries:
        table.add_row(_judge(entry), *_texts(entry.figures)[columns])
    for constant in group.constants:
        name = Text(_constant_name(constant, group), style="dim")
        table.add_row(name, *_texts(constant.figures)[columns], style="dim")
    for between in group.references:
        first, second = map(short, between.ids)
        names = WORDS["between"].format(first=first, second=second)
        name = Text(shown(f"{names} ({kinds_text(WORDS, between)})"))
        table.add_row(name, *_texts(between.figures)[columns], style="dim")
    return table


def _texts(figures: Figures) -> list[str]:
    """Return figures with their intervals on a line of their own, which keeps columns narrow."""
    return [text.replace(" [", "\n[") for text in figure_texts(WORDS, figures)]


def _judge(entry: Entry) -> Text:
    judged = entry.judged
    about = [kind_text(WORDS, judged.kind), short(judged.fingerprint or NONE)[:8]]
    text = Text(shown(_name(judged)))
    return text.append(shown(f" {', '.join(about)}"), style="dim")


def _constant_name(constant: Constant, group: Group) -> str:
    name = WORDS["constant"].format(score=constant.score)
    if len(group.constants) == 1:
        return name
    return shown(f"{name} ({', '.join(map(short, constant.bundles))})")


def _print_matrix(console: Console, matrix: Matrix) -> None:
    """Print the matrix in plain lines: they may be longer than the window, but lose nothing."""
    title = WORDS["matrix"].format(suite=suite_text(WORDS, matrix.judged[0].suite))
    _line(console, title, "bold")
    for number, judged in enumerate(matrix.judged, start=1):
        _line(console, f"  {number}  {_name(judged)}")
    places = range(len(matrix.judged))
    grid = [[cell_texts(WORDS, matrix.cell(row, at)) for at in places] for row in places]
    for which, text in enumerate(_CELL):
        _line(console, text, "dim")
        _line(console, " " * 4 + "".join(f"{at + 1:>7}" for at in places), "bold")
        for row in places:
            cells = (f"{cell[which]:>7}" for cell in grid[row])
            _line(console, f"{row + 1:>4}{''.join(cells)}")
    for reason in kappa_gaps(matrix):
        _line(console, WORDS["why_no_kappa"].format(none=NONE, reason=WORDS[reason]))
    console.print()
