"""What the site says of a judge that was compared with a reference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import BundleFolder
from site_bundles import build, read, write_judged

PAGE = "bundles/tiny/judge-quality.html"
SCORECARD = "bundles/tiny/index.html"


@pytest.fixture
def bundles(tmp_path: Path) -> Path:
    folder = tmp_path / "bundles"
    folder.mkdir()
    return folder


def write_quality(folder: BundleFolder, markdown: str = "# T\n\n## Words\n", **more: Any) -> None:
    figures = {
        "headline": "judge-meta v2 | a vs b",
        "references": [{"id": "ref-1", "kind": "ai"}],
        "n": 8,
        "mae": 0.25,
        "best_constant": {"score": 4, "mae": 0.5},
        "hashes": {"bundle": folder.open().sha256},
        **more,
    }
    folder.write("judge_quality.json", json.dumps(figures))
    folder.write("judge_quality.md", markdown)


def test_a_compared_judge_has_a_page_that_the_scorecard_links(bundles: Path) -> None:
    write_quality(write_judged(bundles / "tiny"))
    site = build(bundles)
    page = read(site, PAGE)
    assert "judge-meta v2 | a vs b" in page
    assert "Compared with ref-1 (AI): 0.25 points apart on average in 8 ratings." in page
    assert "Always saying 4 would be 0.50 points off." in page
    scorecard = read(site, SCORECARD)
    assert scorecard.count('href="judge-quality.html"') == 2
    assert "has not been compared" not in scorecard
    assert "ts-stale" not in page + scorecard


def test_a_judge_that_was_not_compared_has_none(bundles: Path) -> None:
    write_judged(bundles / "tiny")
    site = build(bundles)
    assert not (site / PAGE).exists()
    assert 'href="judge-quality.html"' not in read(site, SCORECARD)


def test_a_bundle_judged_anew_makes_the_comparison_stale(bundles: Path) -> None:
    folder = write_judged(bundles / "tiny")
    write_quality(folder)
    folder.verdicts({"E1": "yellow"})
    site = build(bundles)
    assert 'class="ts-stale"' in read(site, PAGE)
    assert 'class="ts-stale"' in read(site, SCORECARD)


def test_figures_that_are_none_are_left_out(bundles: Path) -> None:
    write_quality(write_judged(bundles / "tiny"), mae=None, best_constant=None)
    page = read(build(bundles), PAGE)
    assert "there are no common ratings" in page
    assert "Always saying" not in page


@pytest.mark.parametrize("figures", ["{", "[]", "null", '{"headline": NaN', "\x00"])
def test_figures_that_cannot_be_read_stop_nothing(figures: str, bundles: Path) -> None:
    folder = write_judged(bundles / "tiny")
    write_quality(folder)
    folder.write("judge_quality.json", figures)
    assert not (build(bundles) / PAGE).exists()


def test_hostile_figures_and_text_are_shown_as_text(bundles: Path) -> None:
    evil = '<img src=x onerror="window.pwned=1">'
    write_quality(
        write_judged(bundles / "tiny"),
        f"# {evil}\n\n{evil}\n\n[x](javascript:alert(1))\n",
        headline=evil,
        references=[{"id": evil, "kind": evil}, 7],
        mae=True,
        best_constant=[1],
    )
    site = build(bundles)
    for name in (PAGE, SCORECARD):
        html = read(site, name)
        assert "<img src=x" not in html
        assert 'href="javascript' not in html
        if name == PAGE:
            assert "&lt;img src=x" in html
