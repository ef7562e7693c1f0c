"""Recomputes published figures of judge agreement from public data and prints both.

Exit codes: 0 all figures reproduced or explained, 1 one differs without a reason, 2 the data are
absent or can't be used.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from published_figures import FOOTNOTE, rows_of
from reproduction_table import render_table, summary

from touchstone.errors import TouchstoneError, UsageError

ROOT = Path(__file__).resolve().parents[1]
DEFAULT_DATA = ROOT.parent / "shared" / "data"
CANT_COMPUTE = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table and return the exit code; ``arguments`` None takes the command line's."""
    parser = argparse.ArgumentParser(
        prog="reproduce_judges.py",
        description="Recompute published figures of judge agreement from public data.",
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=DEFAULT_DATA,
        metavar="DIR",
        help="folder of the public data sets (default: ../shared/data beside the repository)",
    )
    data: Path = parser.parse_args(arguments).data
    try:
        if not data.is_dir():
            raise UsageError(
                f"There is no folder {data}.",
                hint="Name the folder of the public data sets with --data DIR.",
            )
        rows = rows_of(data)
    except (TouchstoneError, OSError) as error:
        print(error, file=sys.stderr)
        return CANT_COMPUTE
    print(render_table(rows), FOOTNOTE, summary(rows), sep="\n\n")
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
