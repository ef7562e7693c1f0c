"""``touchstone search``: full text over the answers and what the judge wrote about them."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.progress import Progress as Bars

from touchstone.bundle import find_bundles, is_bundle
from touchstone.cli.common import counting_progress, print_json, say, shown
from touchstone.cli.score import MODELS
from touchstone.errors import BundleError, UsageError
from touchstone.models import Flag
from touchstone.search_store import KINDS, Findings, Hit, Kind, Question, Update, find_texts

_FLAG_STYLE = {"red": "red", "yellow": "yellow", "green": "green"}
_QUIET_S = 1.0
"""Reading bundles shorter than this is not worth a bar."""
_SOME_LINES_FAILED = 5


@click.command("search", epilog='Example: touchstone search "data protection" --flag red')
@click.argument("words", metavar="QUERY...", nargs=-1, required=True)
@click.option(
    "--bundles",
    "folder",
    type=click.Path(path_type=Path),
    default=Path("bundles"),
    show_default=True,
    metavar="DIR",
    help="Folder that holds the bundles.",
)
@click.option(
    "--bundle", "bundle_ids", multiple=True, metavar="ID", help="Only this bundle. Repeatable."
)
@MODELS
@click.option(
    "--flag",
    type=click.Choice(["red", "yellow", "green"]),
    help="Only answers with this flag, and verdicts on them; a person's decision counts.",
)
@click.option(
    "--kind", "kinds", type=click.Choice(KINDS), multiple=True, help="Only these texts. Repeatable."
)
@click.option(
    "--limit", type=click.IntRange(1), default=20, show_default=True, help="Hits at most."
)
@click.option(
    "--base-url",
    metavar="URL",
    help="Address of the site. Default: permalinks are relative to its root.",
)
@click.option("--prefix", is_flag=True, help="The last word may go on: contr finds contract.")
@click.option(
    "--raw",
    is_flag=True,
    help="QUERY is an FTS5 expression: OR, NOT, NEAR(a b, 5), word*. Characters of a script "
    'without spaces are words there: "東 京".',
)
@click.option(
    "--cache",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Where the index is kept. Default: the user's cache folder.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the hits as JSON.")
def command(words: tuple[str, ...], folder: Path, as_json: bool, **options: Any) -> int:
    """Search answers, the judge's rationales and its verdicts, and print permalinks.

    All words must occur, "quoted words" as they stand; put the whole QUERY in single quotes then.
    Case and accents don't matter: uber finds Über. In Chinese, Japanese, Korean, Thai and other
    scripts without spaces any part of a sentence is found. Signs and emoji are passed over.

    The index is kept in the cache, and only bundles that have changed are read again. Exit code 1
    if a bundle could not be read, 5 if lines of one could not; the rest is searched all the same.
    """
    _require_folder(folder)
    base_url, cache = options.pop("base_url"), options.pop("cache")
    question = _question(" ".join(words), **options)
    with _progress() as progress:
        found = find_texts(folder, question, cache=cache, progress=progress, note=_note)
    root = f"{base_url.rstrip('/')}/" if base_url else ""
    if as_json:
        print_json([_as_json(hit, root) for hit in found.hits])
    else:
        _print(found, root)
    return _tell(found.update)


def _require_folder(folder: Path) -> None:
    """Raise an error with a way out where there is nothing to search."""
    if is_bundle(folder):
        name = folder.resolve().name
        raise UsageError(
            f"{folder} is a bundle; --bundles takes the folder that holds it.",
            hint=f"For this bundle alone: --bundles {folder.resolve().parent} --bundle {name}",
        )
    if not folder.is_dir():
        raise BundleError(
            f"There is no folder {folder}.", hint="Say where the bundles are: --bundles DIR"
        )
    if not find_bundles(folder):
        _note(f"There is no bundle in {folder}.")


def _question(
    words: str,
    *,
    bundle_ids: tuple[str, ...],
    models: tuple[str, ...],
    flag: Flag | None,
    kinds: tuple[Kind, ...],
    limit: int,
    prefix: bool,
    raw: bool,
) -> Question:
    if raw and prefix:
        raise UsageError("--prefix is for plain words; with --raw write word*.")
    return Question(words, bundle_ids, models, flag, kinds, limit, prefix, raw)


def _note(sentence: str) -> None:
    say(f"note: {shown(sentence)}")


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    """Give a callback that draws a bar, on a terminal, once reading has taken a while."""
    with contextlib.ExitStack() as stack:
        started = time.monotonic()
        bars: Bars | None = None

        def report(bundle: str, done: int, total: int) -> None:
            nonlocal bars
            if bars is None:
                if time.monotonic() - started < _QUIET_S:
                    return
                bars = stack.enter_context(counting_progress())
                bars.add_task("", note="")
            task = bars.task_ids[0]
            description = f"Reading {shown(bundle)}"
            bars.update(task, description=description, completed=done, total=total or None)

        yield report


def _as_json(hit: Hit, root: str) -> dict[str, Any]:
    return {**asdict(hit), "url": f"{root}{hit.url}"}


def _print(found: Findings, root: str) -> None:
    for hit in found.hits:
        click.echo(f"{shown(root)}{shown(hit.url)}")
        click.echo(f"  {_about(hit)}")
        click.echo(f"  {_marked(hit)}\n")
    if not found.total:
        say("Nothing found.")
    elif found.total > len(found.hits):
        say(f"{found.total} hits, the best {len(found.hits)} of them shown; --limit shows more.")


def _about(hit: Hit) -> str:
    """Return what a hit is and where it stands, with the answer's flag."""
    parts = [hit.kind, f"{hit.model}/{hit.variant}", hit.prompt_id or hit.dimension or ""]
    text = " · ".join(shown(part) for part in parts)
    if hit.flag is None:
        return text
    return f"{text} · {click.style(hit.flag, fg=_FLAG_STYLE[hit.flag])}"


def _marked(hit: Hit) -> str:
    """Return the snippet with its hits in bold on a terminal, else between ``**``."""
    pieces, at = [], 0
    for opens, closes in hit.hits:
        words = shown(hit.snippet[opens:closes])
        bold = click.style(words, bold=True) if sys.stdout.isatty() else f"**{words}**"
        pieces += [shown(hit.snippet[at:opens]), bold]
        at = closes
    return "".join([*pieces, shown(hit.snippet[at:])])


def _tell(update: Update) -> int:
    """Say what could not be searched; return the exit code."""
    for folder, why in update.skipped.items():
        lines = "\n".join(shown(line) for line in why.splitlines())
        say(f"Warning: {shown(folder)} was not searched: {lines}")
    for folder, problems in update.unusable.items():
        more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
        say(f"Warning: {shown(folder)} has lines that can't be used: {shown(problems[0])}{more}")
    if update.skipped:
        return 1
    return _SOME_LINES_FAILED if update.unusable else 0
