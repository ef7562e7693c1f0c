"""``touchstone verify``: check a bundle or a suite before anything rests on it."""

from __future__ import annotations

from pathlib import Path

import click

from touchstone.bundle import MANIFEST, SUITE, is_bundle
from touchstone.bundle_check import Findings, check_bundle
from touchstone.cli.common import print_json, say, shown
from touchstone.errors import InputError, Problem
from touchstone.suite import load_suite


@click.command("verify", epilog="Example: touchstone verify bundles/office-2026-12 --json")
@click.argument("target", metavar="BUNDLE|SUITE")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def command(target: str, as_json: bool) -> int:
    """Check a bundle or a suite: seals, references, ids. Exit code 1 if a problem is found."""
    hint = ""
    try:
        findings = _check(target)
    except InputError as failure:
        problems = failure.problems or (Problem("unreadable", target, failure.message),)
        findings, hint = Findings(tuple(problems)), failure.hint
    if as_json:
        print_json(
            {
                "ok": findings.ok,
                "problems": [_as_dict(problem) for problem in findings.problems],
                "notes": [_as_dict(note) for note in findings.notes],
            }
        )
    else:
        _print(target, findings)
    if hint:
        say(shown(hint))
    return 0 if findings.ok else 1


def _check(target: str) -> Findings:
    path = Path(target)
    if path.name == MANIFEST:
        path = path.parent
    if is_bundle(path):
        return check_bundle(path)
    if path.is_dir() and not (path / SUITE).is_file():
        raise InputError(f"{target} is neither a bundle (no {MANIFEST}) nor a suite.")
    return Findings((), load_suite(target).warnings)


def _as_dict(problem: Problem) -> dict[str, str]:
    return {"code": problem.code, "where": problem.where, "message": problem.message}


def _print(target: str, findings: Findings) -> None:
    for problem in findings.problems:
        click.echo(f"{shown(str(problem))} [{problem.code}]")
    for note in findings.notes:
        click.echo(f"note: {shown(str(note))} [{note.code}]")
    count = len(findings.problems)
    say(f"{shown(target)}: {count or 'no'} problem{'' if count == 1 else 's'}")
