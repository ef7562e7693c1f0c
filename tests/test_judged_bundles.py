"""What judge_quality.json says, as far as judges are compared: only what can be such a figure."""

from __future__ import annotations

import json
from typing import Any

import pytest
from builders_judge_compare import judged, result
from hypothesis import given
from hypothesis import strategies as st

from touchstone.gui.judge_meta.compare import compare_judges, comparison_json
from touchstone.gui.judge_meta.compare_md import render_comparison_md
from touchstone.gui.judge_meta.results import Basis, Figures, Result
from touchstone.gui.judge_quality import JudgeQualityFiles
from touchstone.gui.judged_bundles import result_of

CONTRACT: dict[str, Any] = {
    "format": 1,
    "headline": "judge-meta v2 | a vs b (blind) | x | repeat 94% | canary 10/12",
    "judge": "3f9c",
    "references": [{"id": "b", "kind": "ai"}],
    "blind": True,
    "n": 21,
    "models": 3,
    "coverage": 1.0,
    "exact": 0.571,
    "within_1": 1.0,
    "mean_abs_delta": 0.43,
    "bias": 0.14,
    "skill": 0.39,
    "best_constant": {"score": 3, "mae": 0.71},
    "qwk": 0.68,
    "qwk_ci": [0.31, 0.86],
    "ranking": {"concordant": 3, "discordant": 0, "tied": 0, "tau_b": None},
    "quality_pct_delta": 2.9,
    "knock_out": {"agree": 2, "n": 3, "missed": [["m", "v"]], "false": []},
    "rubric_v2": {"E": 2.4},
    "evidence": {
        "quotes": 20,
        "verbatim": 14,
        "normalised": 3,
        "in_parts": 1,
        "fidelity": 0.9,
        "fidelity_ci": [0.7, 0.97],
    },
}


def read(**more: Any) -> Result:
    return result_of(JudgeQualityFiles({**CONTRACT, **more}, "", is_stale=False), "single")


def test_a_file_of_the_contract_alone_is_read() -> None:
    found = read()
    assert found.figures == Figures(
        n=21,
        models=3,
        coverage=1.0,
        exact=0.571,
        within_1=1.0,
        mae=0.43,
        skill=0.39,
        bias=0.14,
        qwk=0.68,
        qwk_ci=(0.31, 0.86),
        concordant=3,
        ranked_pairs=3,
        ko_agree=2,
        ko_n=3,
        ko_missed=1,
        ko_false=0,
        quality_delta=2.9,
        found=18,
        quotes=20,
        fidelity=0.9,
        fidelity_ci=(0.7, 0.97),
        repeat=0.94,
    )
    assert found.constant == (3, 0.71)
    assert found.basis == Basis(None, None, "v2", ("b",), blind=True, mode="single")
    assert found.judge == "3f9c"


def test_the_key_comparable_wins_over_what_older_files_say() -> None:
    stated = {
        "suite": "S",
        "answers": "A",
        "rubric": "v3",
        "references": ["y", "x"],
        "blind": False,
        "mode": "map-reduce",
    }
    found = read(comparable=stated, hashes={"suite": "old", "answers": "old"})
    assert found.basis == Basis("S", "A", "v3", ("x", "y"), blind=False, mode="map-reduce")


def test_older_files_give_their_basis_in_other_keys() -> None:
    found = read(hashes={"suite": "S", "answers": "A"}, rubric_v2=None, rubric={"x": 1})
    assert found.basis == Basis("S", "A", "v1", ("b",), blind=True, mode="single")


NONSENSE = [True, "0.5", [0.5], {}, float("nan"), float("inf"), -(10**400), 10**400, None]
FIELDS = {
    **{name: name for name in ("n", "coverage", "exact", "within_1", "skill", "bias", "qwk")},
    "mae": "mean_abs_delta",
    "quality_delta": "quality_pct_delta",
    "qwk_ci": "qwk_ci",
    "mae_ci": "mae_ci",
}


@pytest.mark.parametrize("value", NONSENSE, ids=str)
@pytest.mark.parametrize("field", FIELDS)
def test_what_is_no_such_figure_is_not_shown(field: str, value: Any) -> None:
    assert getattr(read(**{FIELDS[field]: value}).figures, field) is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("exact", 1.01),
        ("within_1", -0.1),
        ("mae", 4.5),
        ("bias", -4.1),
        ("skill", 1.5),
        ("qwk", 7),
        ("qwk_ci", [0.9, 0.1]),
        ("qwk_ci", [-2, 1]),
        ("qwk_ci", [0.1, 0.2, 0.3]),
        ("mae_ci", [-1, 1]),
        ("n", 2.5),
        ("n", -1),
        ("quality_delta", 101),
    ],
)
def test_what_lies_out_of_its_range_is_not_shown(field: str, value: Any) -> None:
    assert getattr(read(**{FIELDS[field]: value}).figures, field) is None


def test_parts_that_are_more_than_the_whole_are_not_shown() -> None:
    found = read(
        ranking={"concordant": 3, "discordant": None, "tied": 0},
        knock_out={"agree": 4, "n": 3, "missed": [], "false": []},
        evidence={"quotes": 2, "verbatim": 3, "normalised": 0, "in_parts": 0},
    ).figures
    assert (found.concordant, found.ranked_pairs) == (None, None)
    assert (found.ko_agree, found.ko_n, found.ko_missed) == (None, None, None)
    assert (found.found, found.quotes) == (None, None)


def test_a_file_that_names_nobody_who_was_missed_says_nothing_of_them() -> None:
    found = read(knock_out={"agree": 2, "n": 3}).figures
    assert (found.ko_agree, found.ko_n) == (2, 3)
    assert (found.ko_missed, found.ko_false) == (None, None)


def test_counts_that_do_not_add_up_to_n_are_not_used() -> None:
    counts = [[1, 0, 0, 0, 0], *[[0] * 5] * 4]
    assert read(counts=counts, n=1).figures.table is not None
    assert read(counts=counts, n=2).figures.table is None
    assert read(counts=[[1, 0], [0, 1]], n=2).figures.table is None


def test_the_repeat_rate_is_taken_from_the_probes_and_else_from_the_headline() -> None:
    probes = {"repeat": {"equal": {"count": 1, "n": 2, "value": 0.5}}}
    assert read(probes=probes).figures.repeat == 0.5
    assert read(probes={"repeat": {"equal": {"value": 7}}}).figures.repeat == 0.94
    assert read(headline="| repeat 940%").figures.repeat is None
    assert read(headline="| repeat – |").figures.repeat is None


def test_texts_of_absurd_length_are_cut() -> None:
    found = read(headline="h" * 100_000, references=[{"id": "r" * 100_000}])
    assert found.headline is not None
    assert len(found.headline) == 2000


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=12,
)
KEYS = (*CONTRACT, "comparable", "hashes", "counts", "mae", "mae_ci", "probes")


@given(st.dictionaries(st.sampled_from(KEYS), JSON_VALUES))
def test_whatever_stands_in_the_file_only_valid_figures_come_out(quality: dict[str, Any]) -> None:
    outcome = result_of(JudgeQualityFiles(quality, "", is_stale=False), None)
    found = compare_judges([judged("a", outcome), judged("b", result())])
    text = json.dumps(comparison_json(found), allow_nan=False)
    assert json.loads(text)["groups"]
    figures = outcome.figures
    for share in (figures.coverage, figures.exact, figures.within_1, figures.fidelity):
        assert share is None or 0 <= share <= 1
    assert render_comparison_md(found, "de").startswith("# Judges im Vergleich\n")
