"""A small bundle whose judge was compared, with figures worked out by hand, and its page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from conftest import BundleFolder
from site_bundles import structure_of, write_judged

from touchstone.gui.loading import load_site
from touchstone.gui.locale import Locale
from touchstone.gui.pages import PageMaker

PAGE = "bundles/tiny/judge-quality.html"
HEADLINE = "judge-meta v2 | a vs b | mean|Δ| .57 (const .86, skill .33)"
ALPHA, BETA = ("alpha", "default"), ("beta", "default")


def rating(pair: tuple[str, str], dimension: str, judge: int | None, reference: int | None) -> Any:
    return {
        "model": pair[0],
        "variant": pair[1],
        "dimension": dimension,
        "judge": judge,
        "reference": reference,
    }


RATINGS = [
    *(rating(ALPHA, "Q1", 4, 2), rating(ALPHA, "Q2", 3, 3), rating(ALPHA, "Q3", 5, 4)),
    rating(ALPHA, "Q4", None, 2),
    *(rating(BETA, "Q1", 5, 5), rating(BETA, "Q2", 5, 4), rating(BETA, "Q3", 5, 5)),
    rating(BETA, "Q4", 5, 5),
]
"""Differences 2, 0, 1; 0, 1, 0, 0: 7 ratings, mean |Δ| 4/7, always saying 4 would be 6/7 off."""
COUNTS = [[0] * 5, [0] * 5, [0, 0, 1, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 2, 3]]
REASON = "Only E1 and Z9 <b onclick=x>say</b> so; D1–E1 does not."
FLAGS = {
    "n": 6,
    "labels": ["green", "yellow", "red"],
    "counts": [[2, 0, 1], [1, 0, 0], [1, 0, 1]],
    "exact": 0.5,
    "exact_ci": [0.188, 0.812],
    "best_constant": {"flag": "green", "share": 4 / 6},
    "missed_red": [["alpha", "default", "E2"], ["alpha", "default", "Z9"], ["ghost", "x", "E1"]],
    "false_red": [["beta", "default", "E1"]],
    "fnr": 0.5,
    "fnr_ci": [0.095, 0.905],
    "fpr": 0.25,
    "fpr_ci": [0.046, 0.699],
    "kappa": 0.4,
}
FIGURES: dict[str, Any] = {
    "format": 1,
    "headline": HEADLINE,
    "judge_id": "judge-1",
    "references": [{"id": "ref-1", "kind": "ai", "blind": True}],
    "blind": True,
    "n": 7,
    "models": 2,
    "coverage": 7 / 8,
    "exact": 4 / 7,
    "within_1": 6 / 7,
    "mae": 4 / 7,
    "mae_ci": [0.25, 1.0],
    "bias": 4 / 7,
    "skill": 1 / 3,
    "best_constant": {"score": 4, "mae": 6 / 7},
    "qwk": None,
    "qwk_reason": "one_constant",
    "ranking": {"concordant": 1, "discordant": 0, "tied": 0, "tau_b": None},
    "per_dimension": {
        "Q1": {"judge": 4.5, "reference": 3.5, "delta": 1.0, "n": 2},
        "Q2": {"judge": 4, "reference": 3.5, "delta": 0.5, "n": 2},
        "Q4": {"judge": None, "reference": None, "delta": None, "n": 0},
    },
    "counts": COUNTS,
    "knock_out": {
        "agree": 2,
        "n": 2,
        "missed": [],
        "false": [],
        "fnr": 0.0,
        "fnr_ci": [0, 0.793],
        "fpr": 0.0,
        "fpr_ci": [0, 0.793],
    },
    "rubric": {"cites_evidence": 0.9, "catches_safety": None},
    "rubric_n": {"cites_evidence": 10, "catches_safety": 0},
    "rubric_v2": {"E": 2.4, "J": None},
    "rubric_v2_n": {"E": 7, "J": 0},
    "evidence": {
        "items": 12,
        "quotes": 10,
        "verbatim": 6,
        "normalised": 1,
        "unverifiable": 2,
        "dangling": 1,
        "paraphrase": 2,
        "fidelity": 0.7,
        "fidelity_ci": [0.397, 0.892],
    },
    "ratings": RATINGS,
    "disagreements": [{**rating(ALPHA, "Q1", 4, 2), "rationales": {"ref-1": REASON}}],
    "flags": FLAGS,
    "probes": None,
}
# What the contract in the design asks for at least, and nothing else.
LEAST: dict[str, Any] = {
    key: FIGURES[key]
    for key in (
        *("format", "headline", "blind", "n", "models", "coverage", "exact", "within_1", "mae"),
        *("bias", "skill", "best_constant", "qwk", "ranking", "per_dimension", "rubric"),
        *("rubric_v2", "evidence"),
    )
} | {
    "judge": "3f9c",
    "references": [{"id": "ref-1", "kind": "ai"}],
    "knock_out": {"agree": 2, "n": 2, "missed": [], "false": []},
}


def write_quality(
    folder: BundleFolder,
    markdown: str | None = "# T\n\n## Words\n",
    figures: dict[str, Any] = FIGURES,
    **more: Any,
) -> None:
    bound = {"hashes": {"bundle": folder.open().sha256}} if figures is FIGURES else {}
    folder.write("judge_quality.json", json.dumps({**figures, **bound, **more}))
    if markdown is not None:
        folder.write("judge_quality.md", markdown)


def page_of(bundles: Path, **more: Any) -> str:
    """Return the page of a bundle with these figures, without building the site around it."""
    write_quality(write_judged(bundles / "tiny"), **more)
    return rendered(bundles)


def rendered(bundles: Path) -> str:
    maker = PageMaker(load_site(bundles), Locale("en"))
    html = next(page.body for page in maker.iter_pages() if page.path == PAGE)
    assert structure_of(html).wrong == []
    return html


def text_of(html: str) -> str:
    return structure_of(html).text


def row(html: str, table: str, first: str) -> str:
    """Return the text of a table's row that begins with a word."""
    body = re.search(rf'<table class="[^"]*\b{table}\b.*?</table>', html, re.DOTALL)
    assert body is not None
    rows = re.findall(r"<tr.*?</tr>", body[0], re.DOTALL)
    texts = [" ".join(re.sub(r"<[^>]+>", " ", one).split()) for one in rows]
    return next(one for one in texts if one.startswith(first))
