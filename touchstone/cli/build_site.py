"""``touchstone build-site``: publish bundles as a static site."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from touchstone.cli.common import print_json, say, shown, stderr_console
from touchstone.errors import UsageError
from touchstone.gui.build import BuildOptions, BuildResult, build_site
from touchstone.gui.evidence_demand import DemandOptions
from touchstone.gui.locale import LANGUAGES
from touchstone.gui.permalinks import MOST_CHARACTERS

F = TypeVar("F", bound=Callable[..., Any])

BUNDLES = click.option(
    "--bundles",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder that holds the bundles. Default: what mkdocs.yml says, else bundles.",
)
LANGUAGE = click.option(
    "--lang",
    type=click.Choice(LANGUAGES),
    help="Language of the site. Default: what mkdocs.yml says, else en.",
)


def lock_options(function: F) -> F:
    """Add the options that keep permalinks from breaking."""
    options = [
        click.option(
            "--lock",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="permalinks.json of the last publication. The build fails if a permalink in it "
            "would vanish or an answer's text has changed. Default: what mkdocs.yml says.",
        ),
        click.option(
            "--tombstone",
            is_flag=True,
            help="Do not fail: keep every address, and say there what became of it.",
        ),
        click.option("--reason", metavar="TEXT", help="With --tombstone: why it went."),
    ]
    for option in reversed(options):
        function = option(function)
    return function


EVIDENCE = (
    click.option(
        "--require-evidence",
        is_flag=True,
        help="Build only if the judges' evidence about every model holds (else exit code 6): "
        "no citation without an answer, no quote that stands nowhere, in the prompt or in "
        "another answer, no absence that is none.",
    ),
    click.option(
        "--min-fidelity",
        type=click.FloatRange(0, 100),
        metavar="PCT",
        help="Of the quotes and absences that were checked, this share must hold, for every "
        "model. Implies --require-evidence. Default with it: 100.",
    ),
    click.option(
        "--max-dangling",
        type=click.IntRange(min=0),
        metavar="N",
        help="So many citations without an answer are allowed for every model. Implies "
        "--require-evidence. Default with it: 0.",
    ),
)


def evidence_options(function: F) -> F:
    """Add the options that demand good evidence; the function takes them as ``evidence``."""

    @wraps(function)
    def with_evidence(
        *,
        require_evidence: bool,
        min_fidelity: float | None,
        max_dangling: int | None,
        **others: Any,
    ) -> Any:
        asked = DemandOptions(require_evidence, min_fidelity, max_dangling)
        return function(evidence=asked, **others)

    made: Any = with_evidence
    for option in reversed(EVIDENCE):
        made = option(made)
    return cast(F, made)


def check_reason(reason: str | None, *, tombstone: bool) -> str:
    """Return the reason for tombstones, "" where none is given.

    Raises:
        UsageError: there is a reason and nothing it is for, or it is too long.
    """
    if reason and not tombstone:
        raise UsageError("--reason says why something went; it goes with --tombstone.")
    if reason and len(reason) > MOST_CHARACTERS:
        raise UsageError(f"--reason takes at most {MOST_CHARACTERS} characters.")
    return reason or ""


@click.command("build-site", epilog="Example: touchstone build-site --site-dir public --lang de")
@BUNDLES
@click.option(
    "--site-dir",
    type=click.Path(path_type=Path),
    default=Path("site"),
    show_default=True,
    metavar="DIR",
    help="Where the site goes.",
)
@LANGUAGE
@click.option(
    "--base-url",
    metavar="URL",
    help="Address the site will have; adds canonical links and a sitemap.",
)
@click.option(
    "--index/--no-index",
    "index",
    default=None,
    help="Let search engines list the site. Default: not.",
)
@lock_options
@click.option(
    "--compare",
    type=(str, str),
    multiple=True,
    metavar="A B",
    help="Compare these two bundles of one suite on a page. Repeatable. Bundles that follow one "
    "another are compared anyway.",
)
@click.option(
    "--data/--no-data",
    "data",
    default=None,
    help="Publish each bundle as a ZIP with its scores, so that readers can verify the site. "
    "Default: yes.",
)
@evidence_options
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but problems.")
def command(
    bundles: Path | None,
    site_dir: Path,
    lang: str | None,
    base_url: str | None,
    index: bool | None,
    lock: Path | None,
    tombstone: bool,
    reason: str | None,
    compare: tuple[tuple[str, str], ...],
    data: bool | None,
    evidence: DemandOptions,
    as_json: bool,
    quiet: bool,
) -> None:
    """Build the site from all bundles; the one before is replaced in one step.

    Works in any folder that holds bundles. Every internal link is checked; one that leads nowhere
    fails the build. The site opens from a web server and straight from the disk.
    """
    why = check_reason(reason, tombstone=tombstone)
    options = BuildOptions(
        bundles, site_dir, lang, base_url, index, lock, tombstone, why, data, compare, evidence
    )
    console = stderr_console()
    if console.is_terminal and not (quiet or as_json):
        with console.status("Building the site …"):
            result = build_site(options)
    else:
        result = build_site(options)
    for warning in result.warnings:
        say(f"Warning: {shown(warning)}")
    if as_json:
        print_json(result.as_dict())
    elif not quiet:
        say(summary(result))


def summary(result: BuildResult) -> str:
    """Return what a build made, in one paragraph."""
    counts = [
        _count(result.pages, "page"),
        _count(result.answers, "answer"),
        _count(len(result.warnings), "warning"),
        _count(result.broken_links, "broken link"),
    ]
    if result.tombstones:
        counts.append(_count(result.tombstones, "tombstone"))
    index = result.site / "index.html"
    return f"Built {', '.join(counts)}.\nOpen {index.as_uri()}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
