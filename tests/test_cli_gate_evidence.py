"""``gate --require-evidence``: its exit codes, and what it says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from conftest import SUITE_YAML, BundleFolder, Outcome

Run = Callable[..., Outcome]

FINE = {"prompt_id": "E1", "quote": "An answer."}
NOWHERE = {"prompt_id": "E1", "quote": "words that nobody has ever said"}
DANGLING = {"prompt_id": "E9", "quote": "words of an answer that is not there"}
SCORES = {"Q1": 4, "Q2": 4, "Q3": 4, "Q4": 4}
WITHOUT_RULE = SUITE_YAML.replace("ko_rule: {dimension: Q3, threshold: 2}\n", "")


def fill(
    folder: BundleFolder,
    *items: dict[str, Any],
    flag: str | None = "green",
    scores: dict[str, int | None] | None = None,
) -> None:
    folder.answers("E1", "E2", "D1")
    folder.verdicts({"E1": flag, "E2": "green", "D1": "green"})
    folder.report(scores or SCORES, evidence={"Q1": list(items)})


@pytest.mark.parametrize(
    ("items", "args", "code"),
    [
        ([FINE], ["--require-evidence"], 0),
        ([NOWHERE], [], 0),
        ([NOWHERE], ["--require-evidence"], 6),
        ([DANGLING, FINE], ["--require-evidence"], 6),
        ([], ["--require-evidence"], 6),
        ([FINE, NOWHERE], ["--require-evidence", "--min-fidelity", "50"], 0),
        ([FINE, NOWHERE], ["--min-fidelity", "51"], 6),
        ([FINE, DANGLING], ["--max-dangling", "1"], 0),
        ([FINE, DANGLING, NOWHERE], ["--max-dangling", "1"], 6),
        ([FINE, DANGLING], ["--min-fidelity", "0"], 6),
        ([FINE], ["--require-evidence", "--min-quality", "90"], 6),
    ],
)
def test_the_exit_code_is_6_where_evidence_is_missing(
    folder: BundleFolder, touchstone: Run, items: list[dict[str, Any]], args: list[str], code: int
) -> None:
    fill(folder, *items)

    assert touchstone("gate", folder.path, *args).code == code


@pytest.mark.parametrize(("flag", "code"), [("red", 3), (None, 4), ("green", 6)])
def test_a_knock_out_and_an_open_gate_come_first(
    folder: BundleFolder, touchstone: Run, flag: str | None, code: int
) -> None:
    fill(folder, NOWHERE, flag=flag)

    assert touchstone("gate", folder.path, "--require-evidence").code == code


@pytest.mark.parametrize(("suite", "code"), [(SUITE_YAML, 4), (WITHOUT_RULE, 6)])
def test_a_bundle_that_nobody_judged_has_no_evidence(
    folder: BundleFolder, touchstone: Run, suite: str, code: int
) -> None:
    folder.write("suite.yaml", suite)
    folder.answers("E1", "E2", "D1")

    assert touchstone("gate", folder.path, "--require-evidence").code == code


def test_the_gate_says_which_citations_do_not_hold(folder: BundleFolder, touchstone: Run) -> None:
    fill(folder, FINE, NOWHERE, {"prompt_id": "E9", "quote": "x\x1b[31m" + "y" * 90})
    result = touchstone("gate", folder.path, "--require-evidence")

    assert result.out.splitlines() == [
        "passed          alpha (default)",
        f"    1 citation leads to no answer: Q1 at E9: dangling, “x�[31m{'y' * 53}…”",
        "    1 of 2 quotes and absences hold, which is 50.0 % and below 100 %: Q1 at E1: "
        "unverifiable, “words that nobody has ever said”",
    ]


def test_json_has_the_evidence_where_it_was_asked_for(
    folder: BundleFolder, touchstone: Run
) -> None:
    fill(folder, FINE, NOWHERE)

    (row,) = touchstone("gate", folder.path, "--json").json["rows"]
    assert "evidence" not in row
    result = touchstone("gate", folder.path, "--json", "--require-evidence").json
    (row,) = result["rows"]
    assert result["exit_code"] == 6
    assert (row["below_min_quality"], row["evidence"]["ok"]) == (False, False)
    assert row["evidence"]["citations"] == [
        {"dimension": "Q1", "prompt_id": "E1", "class": "unverifiable", "quote": NOWHERE["quote"]}
    ]


def test_junit_has_a_case_for_the_evidence_about_each_model(
    folder: BundleFolder, touchstone: Run, tmp_path: Path
) -> None:
    fill(folder, NOWHERE)
    path = tmp_path / "gate.xml"
    assert touchstone("gate", folder.path, "--require-evidence", "--junit", path).code == 6
    suite = ElementTree.parse(path).getroot()

    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    gate, evidence = suite
    assert (gate.get("name"), gate.find("failure")) == ("default", None)
    assert (evidence.get("classname"), evidence.get("name")) == ("alpha", "default: evidence")
    failure = evidence.find("failure")
    assert failure is not None
    assert failure.get("message") == "evidence"
    assert "words that nobody has ever said" in (failure.text or "")


def test_an_answer_that_cannot_be_read_is_no_missing_answer(
    folder: BundleFolder, touchstone: Run
) -> None:
    fill(folder, FINE)
    text = (folder.path / "answers.jsonl").read_text()
    folder.write("answers.jsonl", "{not json}\n" + text)
    result = touchstone("gate", folder.path, "--require-evidence")

    assert (result.code, result.out) == (1, "")
    assert "answers.jsonl:1" in result.err


@pytest.mark.parametrize("args", [["--min-fidelity", "101"], ["--max-dangling", "-1"]])
def test_a_demand_out_of_range_is_a_usage_error(
    folder: BundleFolder, touchstone: Run, args: list[str]
) -> None:
    assert touchstone("gate", folder.path, *args).code == 2
