"""Reads the result of a bundle's meta-evaluation, and says whether it is still about the bundle."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from touchstone.bundle import Bundle

MOST_BYTES = 5_000_000


@dataclass(frozen=True)
class JudgeQualityFiles:
    """judge_quality.json and .md of a bundle, and whether they are about what it holds now."""

    figures: dict[str, Any]
    markdown: str
    is_stale: bool

    def number(self, *path: str) -> float | None:
        """Return a figure, or None where there is none (or something else stands there)."""
        value: Any = self.figures
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return value if is_number else None


def judge_quality_of(bundle: Bundle) -> JudgeQualityFiles | None:
    """Return the result of a bundle's meta-evaluation, or None if it has none that can be read."""
    figures_path, markdown_path = bundle.quality_paths
    try:
        texts = [path.read_bytes() for path in (figures_path, markdown_path)]
        if max(map(len, texts)) > MOST_BYTES:
            return None
        figures = json.loads(texts[0])
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(figures, dict):
        return None
    hashes = figures.get("hashes")
    about = hashes.get("bundle") if isinstance(hashes, dict) else None
    markdown = texts[1].decode("utf-8", "replace")
    return JudgeQualityFiles(figures, markdown, about != bundle.sha256)
