"""The scale benchmark on a tiny site: its texts, its bundles, its table."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from scale_bundles import Shape, answer_text, write_bundles
from scale_measure import CommandFailedError, Cost, Output, measure
from scale_table import Build, Sized, budgets, render
from scale_texts import author
from site_scale import Plan, measure_plan

from touchstone.bundle import ANSWERS, REPORTS, Bundle
from touchstone.bundle_check import check_bundle

TINY = Shape(prompts=5, models=2)


def test_texts_are_the_same_at_every_run_and_of_a_usual_length() -> None:
    texts = [author("answer", n).answer() for n in range(300)]
    assert texts == [author("answer", n).answer() for n in range(300)]
    assert len(set(texts)) == 300
    assert all(30 <= len(text.split()) <= 700 for text in texts)
    for sign in ("\n- ", "\n1. ", "| No. |", "```python", "\n> ", "## ", "ä"):
        assert any(sign in text for text in texts), sign


def test_bundles_are_sound_and_quote_their_answers(tmp_path: Path) -> None:
    shape = Shape(prompts=30, models=2)
    one, other = write_bundles(tmp_path, 2, shape)
    assert check_bundle(one).problems == ()
    bundle = Bundle.open(one)
    assert len(bundle.answers) == shape.answers == 60
    items = [
        (report.model, item)
        for report in bundle.reports
        for cited in report.evidence.values()
        for item in cited
    ]
    held = [item.quote in answer_text(0, 0, model, item.prompt_id) for model, item in items]
    assert 0.8 <= sum(held) / len(held) < 1
    assert (one / ANSWERS).read_bytes() != (other / ANSWERS).read_bytes()
    before = (one / REPORTS).read_bytes()
    write_bundles(tmp_path, 1, shape)
    assert (one / REPORTS).read_bytes() == before


def test_every_build_of_a_plan_is_measured(tmp_path: Path) -> None:
    sized = measure_plan(Plan(tmp_path, 1, TINY))
    assert sized.answers == 10
    assert [one.name for one in sized.builds] == ["cold", "warm", "one changed"]
    assert sized.peer is not None
    assert sized.peer.output.pages == 12  # ten answers, the start page, 404
    for one in (*sized.builds, sized.peer):
        assert one.cost.cpu_s > 0.1
        assert one.cost.largest_mb > 20
        assert one.output.megabytes > 0.5
    files = json.loads((tmp_path / "site/touchstone-manifest.json").read_text("utf-8"))["files"]
    assert "bundles/bundle-00/prompts/A4.html" in files


def test_a_command_that_fails_says_what_it_printed(tmp_path: Path) -> None:
    with pytest.raises(CommandFailedError, match="nothing to build"):
        measure([sys.executable, "-c", "raise SystemExit('nothing to build')"], {}, tmp_path)


def made(name: str, cpu_s: float, megabytes: float, largest_mb: float = 100) -> Build:
    return Build(name, Cost(cpu_s, cpu_s, largest_mb, largest_mb + 50), Output(megabytes, 900))


def test_the_table_says_which_budgets_are_met() -> None:
    builds = [made("cold", 10, 40), made("warm", 5, 40), made("one changed", 7, 40, 151)]
    sized = Sized(3_220, builds, made("mkdocs", 40, 100))
    found = {one.what: (one.found, one.is_met) for one in budgets(sized)}
    assert found == {
        "largest process": (151, False),
        "mkdocs : cold, CPU": (4, True),
        "mkdocs : warm, CPU": (8, False),
        "bytes : mkdocs' bytes": (0.4, True),
    }
    table = render([sized])
    assert "| 3,220 | cold | 10.0 | 10.0 | 100 | 150 | 40.0 | 900 |" in table
    assert "| 3,220 | mkdocs : warm, CPU | ≥ 10× | 8.00× | MISSED |" in table


def test_the_largest_site_has_budgets_of_its_own() -> None:
    builds = [made("cold", 100, 40), made("warm", 20, 40), made("one changed", 30, 40, 199)]
    found = {one.what: one.is_met for one in budgets(Sized(161_000, builds))}
    assert found == {"largest process": True, "warm : cold, CPU": True}
