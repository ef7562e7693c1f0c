"""Publishes what became of every citation, for other tools: ``evidence.json`` of a bundle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from touchstone.evidence_audit import CheckedItem
from touchstone.gui.bundle_view import BundleView
from touchstone.json_text import json_text


def publish_evidence(site: Path, view: BundleView) -> None:
    """Write ``evidence.json`` into a bundle's folder of a site; the same at every build."""
    path = site / view.links.evidence_data
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json_text(list(evidence_entries(view))) + "\n"
    path.write_text(text, encoding="utf-8", newline="\n")


def evidence_entries(view: BundleView) -> Iterator[dict[str, Any]]:
    """Yield every citation of a bundle's reports as it stands in ``evidence.json``.

    ``n`` counts the evidence of a dimension from 1, as in the anchor of the quoted words.
    ``spans`` are code points of the cited answer's text, or of the answer at ``place`` where the
    words stand in another; ``start`` and ``end`` enclose those in the cited answer, and are None
    where there are none.
    """
    for one in view.audit.items:
        yield _entry(view, one)


def _entry(view: BundleView, one: CheckedItem) -> dict[str, Any]:
    item, finding = one.item, one.finding
    answer = view.answer(one.pair, item.prompt_id)
    is_there = bool(finding.spans) and finding.place is None
    return {
        "model": one.pair[0],
        "variant": one.pair[1],
        "dimension": one.dimension,
        "n": one.number,
        "prompt_id": item.prompt_id,
        "kind": item.kind,
        "quote": item.quote,
        "class": finding.kind,
        "start": min(start for start, _ in finding.spans) if is_there else None,
        "end": max(end for _, end in finding.spans) if is_there else None,
        "answer_sha256": None if answer is None else answer.sha256,
        "spans": [list(span) for span in finding.spans],
        "place": None if finding.place is None else list(finding.place),
    }
