"""Builds sites of 3,220 answers and more, and mkdocs beside them; prints what it took.

Cold: with an empty cache. Warm: the same again. One changed: every answer of one bundle is
another. mkdocs gets one plain Markdown page per answer, with Material and its search; unless
``--mkdocs-nav`` is given, without those pages in its navigation, which would be 20 times slower.

Exit codes: 0 all budgets met, 1 one is missed, 2 a build failed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scale_bundles import Shape, write_bundle, write_bundles, write_mkdocs_project
from scale_measure import CommandFailedError, Cost, measure, output_of
from scale_table import Build, Sized, budgets, render

SIZES = {3_220: 1, 12_880: 4, 161_000: 50}
"""Answers to bundles of 805 prompts × 4 models."""


@dataclass(frozen=True)
class Plan:
    """What to build: so many bundles of a shape, in a folder; and how to run mkdocs beside it."""

    folder: Path
    bundles: int
    shape: Shape
    with_mkdocs: bool = True
    in_nav: bool = False

    @property
    def answers(self) -> int:
        """The answers of all bundles."""
        return self.bundles * self.shape.answers


def measure_plan(plan: Plan) -> Sized:
    """Build everything of a plan and return what it took.

    Raises:
        CommandFailedError: a build failed.
    """
    bundles = plan.folder / "bundles"
    bundles.mkdir(parents=True)
    write_bundles(bundles, plan.bundles, plan.shape)
    builds = [_build(plan, "cold"), _build(plan, "warm")]
    last = plan.bundles - 1
    write_bundle(bundles / f"bundle-{last:02}", last, plan.shape, edition=1)
    builds.append(_build(plan, "one changed"))
    return Sized(plan.answers, builds, _mkdocs(plan) if plan.with_mkdocs else None)


def _build(plan: Plan, name: str) -> Build:
    site = plan.folder / "site"
    command = ["-m", "touchstone", "build-site", "--bundles", "bundles", "--site-dir", "site"]
    cost = _measured(command, plan.folder, {"XDG_CACHE_HOME": str(plan.folder / "cache")})
    return Build(name, cost, output_of(site))


def _mkdocs(plan: Plan) -> Build:
    folder = plan.folder / "mkdocs"
    write_mkdocs_project(folder, plan.bundles, plan.shape, in_nav=plan.in_nav)
    command = ["-m", "mkdocs", "build", "--quiet"]
    cost = _measured(command, folder, {"NO_MKDOCS_2_WARNING": "1"})
    name = "mkdocs, all pages in its navigation" if plan.in_nav else "mkdocs"
    return Build(name, cost, output_of(folder / "site"))


def _measured(command: Sequence[str], folder: Path, environ: Mapping[str, str]) -> Cost:
    return measure([sys.executable, *command], environ, folder)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables and return the exit code; ``arguments`` None takes the command line's."""
    parser = argparse.ArgumentParser(prog="site_scale.py", description=__doc__)
    parser.add_argument(
        "--sizes",
        nargs="+",
        type=int,
        choices=sorted(SIZES),
        default=[3_220, 12_880],
        help="answers (default: 3220 12880); 161000 takes a quarter of an hour and 4 GB",
    )
    parser.add_argument(
        "--mkdocs",
        nargs="*",
        type=int,
        default=[3_220, 12_880],
        metavar="SIZE",
        help="sizes at which mkdocs is run beside it (default: 3220 12880)",
    )
    parser.add_argument(
        "--mkdocs-nav",
        action="store_true",
        help="let mkdocs put all pages into its navigation (3,220 answers: minutes, 3 GB)",
    )
    given = parser.parse_args(arguments)
    results: list[Sized] = []
    try:
        for size in given.sizes:
            with tempfile.TemporaryDirectory(prefix="touchstone-scale-") as folder:
                with_mkdocs = size in given.mkdocs
                plan = Plan(Path(folder), SIZES[size], Shape(), with_mkdocs, given.mkdocs_nav)
                results.append(measure_plan(plan))
    except CommandFailedError as failure:
        print(f"A build failed: {failure}", file=sys.stderr)
        return 2
    print(render(results))
    return 0 if all(one.is_met for sized in results for one in budgets(sized)) else 1


if __name__ == "__main__":
    sys.exit(main())
