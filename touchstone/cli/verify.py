"""``touchstone verify``: check a bundle, a suite or a built site before anything rests on it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from touchstone.bundle import MANIFEST, SUITE, is_bundle
from touchstone.bundle.archive import is_archive
from touchstone.bundle_check import Findings, check_archive, check_bundle
from touchstone.cli.common import print_json, say, shown, stderr_console
from touchstone.errors import InputError, Problem
from touchstone.gui.site_check import check_site
from touchstone.gui.site_files import is_site
from touchstone.gui.target import MANIFEST as SITE_MANIFEST
from touchstone.suite import load_suite


@click.command(
    "verify",
    epilog="Examples: touchstone verify site · touchstone verify bundles/office-2026-12 --json",
)
@click.argument("target", metavar="SITE|BUNDLE|SUITE")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def command(target: str, as_json: bool) -> int:
    """Check a built site, a bundle (its folder or a ZIP of it) or a suite.

    Of a bundle: seals, references, ids, quotes. Of a site, from its own files alone: the hash of
    every file, every link, and from the data it holds all scores, totals, ranks, gates, permalinks
    and quotes. Exit code 1 if a problem is found.
    """
    hint = ""
    try:
        findings = _check(target)
    except InputError as failure:
        problems = failure.problems or (Problem("unreadable", target, failure.message),)
        findings, hint = Findings(tuple(problems)), failure.hint
    if as_json:
        print_json(_as_json(findings))
    else:
        _print(target, findings)
    if hint:
        say(shown(hint))
    return 0 if findings.ok else 1


def _check(target: str) -> Findings:
    path = Path(target)
    if path.name in (MANIFEST, SITE_MANIFEST):
        path = path.parent
    if is_site(path):
        return _check_site(path)
    if is_bundle(path):
        return check_bundle(path)
    if is_archive(path):
        return check_archive(path)
    if path.is_dir() and not (path / SUITE).is_file():
        raise InputError(
            f"{target} is neither a site (no {SITE_MANIFEST}), nor a bundle (no {MANIFEST}), "
            "nor a suite."
        )
    return Findings((), load_suite(target).warnings)


def _check_site(path: Path) -> Findings:
    console = stderr_console()
    if not console.is_terminal:
        return check_site(path)
    with console.status("Checking the site …"):
        return check_site(path)


def _as_json(findings: Findings) -> dict[str, Any]:
    checked = {"checked": dict(findings.checked)} if findings.checked else {}
    return {
        "ok": findings.ok,
        "problems": [_as_dict(problem) for problem in findings.problems],
        "notes": [_as_dict(note) for note in findings.notes],
        **checked,
    }


def _as_dict(problem: Problem) -> dict[str, str]:
    return {"code": problem.code, "where": problem.where, "message": problem.message}


def _print(target: str, findings: Findings) -> None:
    for problem in findings.problems:
        click.echo(f"{shown(str(problem))} [{problem.code}]")
    for note in findings.notes:
        click.echo(f"note: {shown(str(note))} [{note.code}]")
    count = len(findings.problems)
    checked = _counted(findings.checked)
    say(f"{shown(target)}: {count or 'no'} problem{'' if count == 1 else 's'}{checked}")


def _counted(checked: Mapping[str, int]) -> str:
    """Return what was looked at, as the end of the last line."""
    counts = [f"{name} {number:,}" for name, number in checked.items() if number]
    return f"; checked: {', '.join(counts)}" if counts else ""
