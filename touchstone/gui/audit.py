"""What a check of a built site has found so far: problems, notes, and how much it looked at."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from touchstone.bundle_check import Findings
from touchstone.errors import Problem

MOST_JSON_BYTES = 500_000_000


class Audit:
    """The findings of one check while it is under way."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []
        self._notes: list[Problem] = []
        self.checked: Counter[str] = Counter()

    def problem(self, code: str, where: str, message: str) -> None:
        """Take down something that is wrong."""
        self._problems.append(Problem(code, where, message))

    def note(self, code: str, where: str, message: str) -> None:
        """Take down something worth knowing."""
        self._notes.append(Problem(code, where, message))

    def take(self, findings: Findings, archive: str) -> None:
        """Take over what was found in the bundle of an archive."""
        for source, target in (
            (findings.problems, self._problems),
            (findings.notes, self._notes),
        ):
            target += [Problem(p.code, f"{archive}: {p.where}", p.message) for p in source]

    def findings(self) -> Findings:
        """Return everything that was found."""
        return Findings(tuple(self._problems), tuple(self._notes), dict(self.checked))


def read_json(path: Path) -> Any:
    """Return what a JSON file of a site holds.

    Raises:
        ValueError: it can't be read, or is no JSON; the text says why.
    """
    try:
        if path.stat().st_size > MOST_JSON_BYTES:
            raise ValueError(f"has more than {MOST_JSON_BYTES} bytes")
        return json.loads(path.read_bytes())
    except OSError as failure:
        raise ValueError(f"can't be read: {failure.strerror or failure}") from None
    except (ValueError, RecursionError) as failure:
        raise ValueError(f"is not JSON: {failure}") from None
