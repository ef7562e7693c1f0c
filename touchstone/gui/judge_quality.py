"""Reads the result of a bundle's meta-evaluation, and says whether it is still about the bundle."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any

from touchstone.bundle import Bundle
from touchstone.gui.judge_figures import JudgeFigures

MOST_BYTES = 5_000_000


@dataclass(frozen=True)
class JudgeQualityFiles:
    """judge_quality.json and .md of a bundle, and whether they are about what it holds now.

    ``markdown`` is empty where there is no document that can be read. Figures that name no bundle
    are stale, too: ``is_bound`` tells the two apart.
    """

    figures: dict[str, Any]
    markdown: str
    is_stale: bool
    is_bound: bool = True

    @cached_property
    def checked(self) -> JudgeFigures:
        """The figures with their types; whatever is not what it should be is None or left out."""
        return JudgeFigures.model_validate(self.figures)

    def number(self, *path: str) -> float | None:
        """Return a figure, or None where there is none (or something else stands there)."""
        value: Any = self.figures
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return value if is_number and abs(value) < 1e9 and isfinite(value) else None


def judge_quality_of(bundle: Bundle) -> JudgeQualityFiles | None:
    """Return the result of a bundle's meta-evaluation, or None if it has none that can be read."""
    figures_path, markdown_path = bundle.quality_paths
    try:
        figures = json.loads(_read(figures_path))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(figures, dict):
        return None
    try:
        markdown = _read(markdown_path).decode("utf-8", "replace")
    except (OSError, ValueError):
        markdown = ""
    hashes = figures.get("hashes")
    about = hashes.get("bundle") if isinstance(hashes, dict) else None
    return JudgeQualityFiles(figures, markdown, about != bundle.sha256, isinstance(about, str))


def _read(path: Path) -> bytes:
    """Return what a file holds; raise ValueError where that is too much."""
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError(f"more than {MOST_BYTES} bytes")
    return content
