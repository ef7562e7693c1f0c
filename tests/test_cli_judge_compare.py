"""``touchstone judge-meta compare``, through the command line and with real references."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from builders_judge_compare import REFERENCE, refer, write_judge
from conftest import BundleFolder, Outcome

Run = Callable[..., Outcome]
CLOSE = {"alpha": (4, 3, 5, 3), "beta": (2, 1, 3, 2)}
FAR = {"alpha": (5, 5, 5, 5), "beta": (5, 5, 5, 5)}
SPARSE = {"alpha": (4, None, 5, None), "beta": (None, 1, 3, None)}


@pytest.fixture
def bundles(tmp_path: Path) -> Path:
    return tmp_path / "bundles"


@pytest.fixture
def pair(bundles: Path) -> Path:
    """Two judges of the same answers, both held against eva."""
    refer(write_judge(bundles, "far", FAR, flags={"E1": "red", "E2": "green", "D1": None}))
    refer(write_judge(bundles, "close", CLOSE))
    return bundles


def test_all_bundles_of_a_folder_are_compared(
    pair: Path, touchstone: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = touchstone("judge-meta", "compare", pair / "far", pair / "close", "--json").json
    assert touchstone("judge-meta", "compare", "--bundles", pair, "--json").json == named
    monkeypatch.chdir(pair.parent)
    assert touchstone("judge-meta", "compare", "--json").json == named


def test_judges_with_the_same_reference_are_sorted_by_skill(pair: Path, touchstone: Run) -> None:
    outcome = touchstone("judge-meta", "compare", "--bundles", pair, "--json")
    assert outcome.code == 0
    found = outcome.json
    (group,) = found["groups"]
    assert [one["bundle"] for one in group["judges"]] == ["close", "far"]
    assert group["comparable"]["references"] == ["eva"]
    assert group["comparable"]["blind"] is True
    assert group["comparable"]["mode"] == "single"
    assert found["differences"] == []
    close, far = group["judges"]
    # Eva: 4 3 5 2 and 2 1 3 2. Always 2 is off by 2 1 3 0 0 1 1 0, one step on average.
    assert close["mean_abs_delta"] == 0.125
    assert close["skill"] == 0.875
    assert far["mean_abs_delta"] == 2.25
    assert far["skill"] == -1.25
    (constant,) = group["best_constants"]
    assert (constant["score"], constant["mean_abs_delta"]) == (2, 1)
    assert constant["bundles"] == ["close", "far"]


def test_the_figures_are_those_of_the_bundle(pair: Path, touchstone: Run) -> None:
    (group,) = touchstone("judge-meta", "compare", "--bundles", pair, "--json").json["groups"]
    for judge in group["judges"]:
        stored = json.loads((pair / judge["bundle"] / "judge_quality.json").read_text())
        keys = ("n", "coverage", "exact", "within_1", "mae_ci", "skill", "bias", "qwk", "qwk_ci")
        assert {key: judge[key] for key in keys} == {key: stored[key] for key in keys}
        assert judge["headline"] == stored["headline"]
        assert judge["judge"] == stored["judge"]


def test_the_matrix_needs_no_reference(bundles: Path, touchstone: Run) -> None:
    write_judge(bundles, "close", CLOSE)
    write_judge(bundles, "far", FAR, flags={"E1": "red", "E2": "green", "D1": None})
    outcome = touchstone("judge-meta", "compare", "--bundles", bundles, "--json")
    found = outcome.json
    assert found["groups"] == []
    assert found["without_quality"] == ["close", "far"]
    assert outcome.err.count("has no judge quality") == 2
    (matrix,) = found["matrices"]
    assert [one["judge_id"] for one in matrix["judges"]] == ["judge-close", "judge-far"]
    # 5 − (4 3 5 3 and 2 1 3 2): 1 2 0 2 3 4 2 3, 17 in all.
    assert matrix["mean_abs_delta"] == [[None, 2.125], [2.125, None]]
    assert matrix["n"] == [[None, 8], [8, None]]
    assert matrix["flags_n"] == [[None, 4], [4, None]]
    assert matrix["flags_equal"] == [[None, 0.5], [0.5, None]]


def test_what_keeps_judges_apart_is_said(pair: Path, touchstone: Run) -> None:
    refer(write_judge(pair, "mapped", CLOSE, mode="map-reduce"))
    refer(write_judge(pair, "other", CLOSE, text="Other words."), "bob", blind=False)
    found = touchstone("judge-meta", "compare", "--bundles", pair, "--json").json
    assert [len(group["judges"]) for group in found["groups"]] == [2, 1, 1]
    said = {
        tuple(one["groups"]): [each["what"] for each in one["what"]] for one in found["differences"]
    }
    assert said == {
        (0, 1): ["mode"],
        (0, 2): ["answers", "references", "blind"],
        (1, 2): ["answers", "references", "blind", "mode"],
    }
    assert len(found["matrices"]) == 1
    assert len(found["matrices"][0]["judges"]) == 3
    text = touchstone("judge-meta", "compare", "--bundles", pair).out
    assert "Table 2 differs from table 1: other mode: map-reduce instead of single" in text


def test_a_judge_that_scored_less_has_its_own_constant(pair: Path, touchstone: Run) -> None:
    refer(write_judge(pair, "sparse", SPARSE))
    (group,) = touchstone("judge-meta", "compare", "--bundles", pair, "--json").json["groups"]
    assert [one["bundles"] for one in group["best_constants"]] == [["sparse"], ["close", "far"]]
    assert [one["n"] for one in group["best_constants"]] == [4, 8]


def test_a_panel_is_compared_with_itself(bundles: Path, touchstone: Run) -> None:
    bob = {"alpha": (5, 3, 5, 2), "beta": (2, 1, 1, None)}
    for name, scores in (("close", CLOSE), ("far", FAR)):
        bundle = write_judge(bundles, name, scores)
        refer(bundle, "ada", REFERENCE, kind="human", knock_outs={"alpha": False, "beta": True})
        refer(bundle, "bob", bob, kind="human", knock_outs={"alpha": False, "beta": False})
    outcome = touchstone("judge-meta", "compare", "--bundles", bundles, "--json")
    (group,) = outcome.json["groups"]
    (between,) = group["between_references"]
    assert (between["ids"], between["kinds"]) == (["ada", "bob"], ["human", "human"])
    assert (between["n"], between["coverage"]) == (7, 0.875)
    # 1 apart in one score, 2 apart in another.
    assert between["mean_abs_delta"] == 0.428571
    assert between["knock_out"] == {"agree": 1, "n": 2, "missed": None, "false": None}
    text = touchstone("judge-meta", "compare", "--bundles", bundles, "--md").out
    assert "| ada and bob | – | human–human | – | 7 | 88 % |" in text


def test_responses_that_were_changed_since_are_no_references(
    bundles: Path, touchstone: Run
) -> None:
    for name in ("close", "far"):
        bundle = write_judge(bundles, name, CLOSE)
        refer(bundle, "ada")
        refer(bundle, "bob")
        for path in bundle.path.glob("judge_meta_response.bob.*"):
            path.write_text(path.read_text() + "# edited\n")
    (group,) = touchstone("judge-meta", "compare", "--bundles", bundles, "--json").json["groups"]
    assert group["comparable"]["references"] == ["ada", "bob"]
    assert group["between_references"] == []


def test_a_bundle_judged_anew_is_marked_stale_and_not_compared(
    bundles: Path, touchstone: Run
) -> None:
    refer(write_judge(bundles, "close", CLOSE))
    changed = write_judge(bundles, "far", FAR)
    refer(changed)
    changed.report({"Q1": 4, "Q2": 3})
    outcome = touchstone("judge-meta", "compare", "--bundles", bundles, "--json")
    groups = outcome.json["groups"]
    assert [[one["bundle"] for one in group["judges"]] for group in groups] == [["close"], ["far"]]
    assert [group["judges"][0]["stale"] for group in groups] == [False, True]
    assert outcome.json["matrices"][0]["n"] == [[None, 2], [2, None]]
    text = touchstone("judge-meta", "compare", "--bundles", bundles).out
    assert "judge-far (far): stale: the bundle has changed since" in text


def test_fewer_than_two_judged_bundles_are_refused(bundles: Path, touchstone: Run) -> None:
    write_judge(bundles, "close", CLOSE)
    empty = BundleFolder(bundles / "empty")
    outcome = touchstone("judge-meta", "compare", "--bundles", bundles)
    assert outcome.code == 2
    assert "at least two judged bundles; there is 1 in" in outcome.err
    assert "--into" in outcome.err
    outcome = touchstone("judge-meta", "compare", bundles / "close", bundles / "close")
    assert outcome.code == 2
    assert "named twice" in outcome.err
    outcome = touchstone("judge-meta", "compare", empty.path)
    assert "there are 0 of those named" in outcome.err


def test_an_unjudged_bundle_is_left_out_and_that_is_said(pair: Path, touchstone: Run) -> None:
    BundleFolder(pair / "unjudged").answers("E1")
    outcome = touchstone("judge-meta", "compare", "--bundles", pair, "--json")
    assert len(outcome.json["groups"][0]["judges"]) == 2
    assert "note: tiny is left out: not judged yet" in outcome.err


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path, touchstone: Run) -> None:
    outcome = touchstone("judge-meta", "compare", "--bundles", tmp_path / "nowhere")
    assert outcome.code == 2
    assert "no folder of bundles" in outcome.err


def test_a_bundle_that_cannot_be_read_is_left_out_of_a_folder_and_refused_by_name(
    pair: Path, touchstone: Run
) -> None:
    write_judge(pair, "torn", CLOSE).write("reports.jsonl", "{\n")
    (pair / "broken").mkdir()
    (pair / "broken" / "bundle.yaml").write_text("format: 1\n")
    outcome = touchstone("judge-meta", "compare", "--bundles", pair, "--json")
    assert [one["bundle"] for one in outcome.json["groups"][0]["judges"]] == ["close", "far"]
    assert "note: torn is left out" in outcome.err
    assert "note: broken is left out" in outcome.err
    outcome = touchstone("judge-meta", "compare", pair / "close", pair / "torn")
    assert outcome.code == 1
    assert "reports.jsonl" in outcome.err


@pytest.mark.parametrize("content", ["{", "[]", '{"n": NaN, "references": 7}', "\0", "[" * 5000])
def test_a_quality_file_that_is_none_breaks_nothing(
    content: str, pair: Path, touchstone: Run
) -> None:
    (pair / "far" / "judge_quality.json").write_text(content)
    for form in ("--json", "--md", "--lang=de"):
        assert touchstone("judge-meta", "compare", "--bundles", pair, form).code == 0


def test_hostile_names_reach_no_terminal(pair: Path, touchstone: Run) -> None:
    path = pair / "far" / "judge_quality.json"
    quality = json.loads(path.read_text())
    quality["headline"] = "\x1b[31m[bold]red[/bold]\nline"
    quality["comparable"] = {"references": ["\x1b]0;title\x07[red]eva"], "mode": "[/]\ud800"}
    path.write_text(json.dumps(quality))
    outcome = touchstone("judge-meta", "compare", "--bundles", pair)
    assert outcome.code == 0
    assert "\x1b" not in outcome.out
    assert "[red]eva" in outcome.out
    assert touchstone("judge-meta", "compare", "--bundles", pair, "--json").code == 0


def test_a_person_reads_a_table(pair: Path, touchstone: Run) -> None:
    lines = touchstone("judge-meta", "compare", "--bundles", pair).out.splitlines()
    assert lines[0] == "1. Small, against eva"
    assert lines[1].endswith("rubric v2, blind, mode: single")
    head = next(line for line in lines if line.startswith("Judge "))
    assert head.split() == ["Judge", "n", "Cov.", "Exact", "±1", "mean|Δ|", "Skill", "Bias", "QWK"]
    close = next(line for line in lines if line.startswith("judge-close"))
    shown = ["8", "100", "%", "88", "%", "100", "%", "0.12", "0.88", "+0.12", "0.96"]
    assert close.split()[-11:] == shown
    assert any(line.split() == ["1", "·", "2.12"] for line in lines)
    assert any(line.startswith("best constant: always 2") for line in lines)


def test_nothing_is_cut_off_a_wide_matrix(bundles: Path, touchstone: Run) -> None:
    for number in range(18):
        write_judge(bundles, f"judge-{number:02}", CLOSE)
    out = touchstone("judge-meta", "compare", "--bundles", bundles).out
    assert "…" not in out
    assert any(line.split().count("0.00") == 17 for line in out.splitlines())


def test_markdown_is_printed_in_a_language(pair: Path, touchstone: Run) -> None:
    english = touchstone("judge-meta", "compare", "--bundles", pair, "--md")
    german = touchstone("judge-meta", "compare", "--bundles", pair, "--md", "--lang", "de")
    assert english.out.startswith("# Judges compared\n")
    assert german.out.startswith("# Judges im Vergleich\n")


def test_help_shows_an_example(touchstone: Run) -> None:
    outcome = touchstone("judge-meta", "compare", "--help")
    assert outcome.code == 0
    assert "Example: touchstone judge-meta compare" in outcome.out
