"""``touchstone build-site``: publish bundles as a static site."""

from __future__ import annotations

from pathlib import Path

import click

from touchstone.cli.common import print_json, say, shown, stderr_console
from touchstone.gui.build import BuildOptions, BuildResult, build_site
from touchstone.gui.locale import LANGUAGES

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
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but problems.")
def command(
    bundles: Path | None,
    site_dir: Path,
    lang: str | None,
    base_url: str | None,
    index: bool | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Build the site from all bundles; the one before is replaced in one step.

    Works in any folder that holds bundles. Every internal link is checked; one that leads nowhere
    fails the build. The site opens from a web server and straight from the disk.
    """
    options = BuildOptions(bundles, site_dir, lang, base_url, index)
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
    counts = (
        _count(result.pages, "page"),
        _count(result.answers, "answer"),
        _count(len(result.warnings), "warning"),
        _count(result.broken_links, "broken link"),
    )
    index = result.site / "index.html"
    return f"Built {', '.join(counts)}.\nOpen {index.as_uri()}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
