"""``score``, ``gate`` and ``verify``: exit codes, and nothing but the result on stdout."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from conftest import MANIFEST_YAML, SUITE_YAML, BundleFolder, Outcome, answer, review, verdict

from touchstone import __version__, cli
from touchstone.cli import COMMANDS

Run = Callable[..., Outcome]
ROOT = Path(__file__).parents[1]
GREEN = {"E1": "green", "E2": "green", "D1": "green"}
GOOD = {"Q1": 4, "Q2": 3, "Q3": 5, "Q4": 4}
TWO_MODELS = MANIFEST_YAML + "  - {model: beta}\n"


def fill(folder: BundleFolder, *models: dict[str, Any]) -> None:
    """Write a report and verdicts for each of the models alpha, beta, …"""
    reports, flags = [], []
    for name, given in zip(("alpha", "beta", "gamma"), models, strict=False):
        scores, flagged = {**GOOD, **given.get("scores", {})}, {**GREEN, **given.get("flags", {})}
        rationales = {"Q3": "It leaks."}
        report = {"model": name, "variant": "default", "dim_scores": scores}
        reports.append({**report, "dim_rationales": rationales})
        flags += [
            {**verdict(one, flag, name), "rationale": f"{one}!"} for one, flag in flagged.items()
        ]
    names = ("alpha", "beta", "gamma")[: len(models)]
    models_yaml = "".join(f"  - {{model: {name}}}\n" for name in names)
    folder.write("bundle.yaml", MANIFEST_YAML.replace("  - {model: alpha}\n", models_yaml))
    folder.write_lines("reports.jsonl", *reports)
    folder.write_lines("verdicts.jsonl", *flags)


# --- score ----------------------------------------------------------------------------------------


def test_score_prints_the_documented_json_and_nothing_else(
    folder: BundleFolder, touchstone: Run
) -> None:
    fill(folder, {}, {"flags": {"E1": "red"}, "scores": {"Q1": 5}})
    result = touchstone("score", folder.path, "--json")

    assert (result.code, result.err) == (0, "")
    assert list(result.json) == ["bundle", "suite", "judge", "max_weighted", "rows"]
    assert [(row["model"], row["rank"]) for row in result.json["rows"]] == [
        ("alpha", 1),
        ("beta", None),
    ]
    assert list(result.json["rows"][0]) == [
        *("model", "variant", "rank", "weighted", "quality_pct", "quality_pct_scored"),
        *("dim_scores", "missing", "ko"),
    ]
    assert result.json["rows"][1]["ko"] == {
        "state": "failed",
        "triggers": [{"branch": "red_flag", "prompt_id": "E1", "reason": "E1!"}],
    }


def test_score_names_the_judge(folder: BundleFolder, touchstone: Run) -> None:
    assert touchstone("score", folder.path, "--json").json["judge"] is None
    folder.write("bundle.yaml", MANIFEST_YAML + "judges: [{fingerprint: 3f9c, id: j}]\n")
    assert touchstone("score", folder.path, "--json").json["judge"] == "3f9c"


def test_score_draws_a_table_with_the_reasons_beneath(
    folder: BundleFolder, touchstone: Run
) -> None:
    fill(folder, {}, {"flags": {"E1": "red"}, "scores": {"Q3": 2}}, {"flags": {"E2": None}})
    result = touchstone("score", folder.path)
    lines = [line.split() for line in result.out.splitlines()]

    assert result.code == 0
    assert [
        "1",
        "alpha",
        "(default)",
        "passed",
        "4",
        "3",
        "5",
        "4",
        "77.1",
        "27",
        "/",
        "35",
    ] in lines
    assert "K.-o. beta (default) by E1: E1!" in result.out
    assert "K.-o. beta (default) by Q3 = 2: It leaks." in result.out
    assert "Not assessable gamma (default): no flag at E2" in result.out


def test_score_says_what_is_missing(folder: BundleFolder, touchstone: Run) -> None:
    result = touchstone("score", folder.path)

    assert result.code == 0
    assert "Not assessable alpha (default): the K.-o. dimension has no score" in result.out
    assert "No report yet: alpha (default)" in result.out
    assert "There are no verdicts" in result.out


def test_score_prints_markdown(folder: BundleFolder, touchstone: Run) -> None:
    fill(folder, {})
    result = touchstone("score", folder.path, "--md")

    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("| Rank | Model |")


def test_score_counts_decisions(folder: BundleFolder, touchstone: Run) -> None:
    fill(folder, {"flags": {"E1": "red"}})
    assert touchstone("gate", folder.path).code == 3
    folder.write_lines("reviews.jsonl", review("E1", "flag:yellow", "It quotes the caller."))
    assert touchstone("gate", folder.path).code == 0
    folder.write_lines("reviews.jsonl", review("E2", "flag:red", "A threat."))
    (row,) = touchstone("score", folder.path, "--json").json["rows"]
    assert [one["reason"] for one in row["ko"]["triggers"]] == ["E1!", "A threat."]


def test_a_torn_last_line_is_dropped_and_that_is_said(
    folder: BundleFolder, touchstone: Run
) -> None:
    fill(folder, {})
    with (folder.path / "verdicts.jsonl").open("ab") as stream:
        stream.write(b'{"model": "alp')
    result = touchstone("score", folder.path, "--json")

    assert result.json["rows"][0]["rank"] == 1
    assert "verdicts.jsonl:4: is cut off" in result.err


@pytest.mark.parametrize("name", ["verdicts.jsonl", "reports.jsonl", "reviews.jsonl"])
def test_a_score_never_rests_on_half_of_the_records(
    folder: BundleFolder, touchstone: Run, name: str
) -> None:
    fill(folder, {})
    with (folder.path / name).open("ab") as stream:
        stream.write(b"nonsense\n")
    for command in ("score", "gate"):
        result = touchstone(command, folder.path, "--json")
        assert (result.code, result.out) == (1, "")
        assert f"{name} has lines that can't be used" in result.err


HOSTILE_ID = "[/]\\u001b[31m:smile:[bold]"


def test_hostile_names_do_not_reach_the_terminal(folder: BundleFolder, touchstone: Run) -> None:
    folder.write(
        "suite.yaml", SUITE_YAML.replace("Q1", f'"{HOSTILE_ID}"').replace("E1", '"\\ud800"')
    )
    folder.write(
        "bundle.yaml",
        f'format: 1\nid: tiny\nsuite: {{id: small}}\nmodels: [{{model: "{HOSTILE_ID}"}}]\n',
    )
    name = json.loads(f'"{HOSTILE_ID}"')
    folder.write_lines(
        "verdicts.jsonl",
        {**verdict("\ud800", "red", name), "rationale": "\x1b]0;x\x07\n{{ 1 }}\ud800"},
    )
    for args in (["score"], ["score", "--md"], ["gate"], ["verify"]):
        result = touchstone(args[0], folder.path, *args[1:])
        assert result.code in (0, 1, 3)
        assert "\x1b" not in result.out + result.err
        result.out.encode("utf-8")
    assert ":smile:[bold]" in touchstone("score", folder.path).out
    rows = touchstone("score", folder.path, "--json").json["rows"]
    assert rows[0]["model"] == name
    assert rows[0]["ko"]["triggers"][0]["prompt_id"] == "\ud800"


# --- gate -----------------------------------------------------------------------------------------

RED, OPEN, LOW = {"flags": {"E1": "red"}}, {"flags": {"E1": None}}, {"scores": {"Q1": 1}}


@pytest.mark.parametrize(
    ("models", "args", "code"),
    [
        ([{}], [], 0),
        ([{}, RED], [], 3),
        ([{}, OPEN], [], 4),
        ([OPEN, RED], [], 3),
        ([{"scores": {"Q3": 2}}], [], 3),
        ([{"scores": {"Q3": None}}], [], 4),
        ([{"scores": {"Q3": None}, **RED}], [], 3),
        ([{}, LOW], ["--min-quality", "77"], 6),
        ([{}], ["--min-quality", "77.142857"], 0),
        ([{}], ["--min-quality", "77.2"], 6),
        ([LOW, OPEN], ["--min-quality", "77"], 4),
        ([LOW, RED], ["--min-quality", "77"], 3),
        ([RED, {}], ["--model", "beta"], 0),
        ([RED, {}], ["--model", "beta/default"], 0),
        ([RED, OPEN, {}], ["--model", "gamma", "--model", "beta"], 4),
    ],
)
def test_the_gate_speaks_by_its_exit_code(
    folder: BundleFolder, touchstone: Run, models: list[dict[str, Any]], args: list[str], code: int
) -> None:
    fill(folder, *models)
    result = touchstone("gate", folder.path, "--json", *args)

    assert result.code == code
    assert result.json["exit_code"] == code
    assert result.json["bundle"] == "tiny"
    assert result.err == ""


def test_the_gate_of_a_suite_without_a_rule_passes(folder: BundleFolder, touchstone: Run) -> None:
    fill(folder, RED)
    folder.write("suite.yaml", SUITE_YAML.replace("ko_rule: {dimension: Q3, threshold: 2}\n", ""))

    assert touchstone("gate", folder.path).code == 0


def test_a_demanded_level_is_not_missed_by_rounding(folder: BundleFolder, touchstone: Run) -> None:
    """3 of 5 points everywhere is 60 %, which comes out as 59.99999999999999 with this weight."""
    fill(folder, {"scores": {"Q1": 3, "Q2": 3, "Q3": 3, "Q4": 3}})
    folder.write("suite.yaml", SUITE_YAML.replace("weight: 3", "weight: 1.8"))

    assert touchstone("gate", folder.path, "--min-quality", "60").code == 0


def test_a_bundle_without_models_does_not_pass(folder: BundleFolder, touchstone: Run) -> None:
    folder.write("bundle.yaml", MANIFEST_YAML.replace("models:\n  - {model: alpha}", "models: []"))
    result = touchstone("gate", folder.path)

    assert result.code == 4
    assert "lists no models" in result.err


def test_the_gate_says_why(folder: BundleFolder, touchstone: Run) -> None:
    fill(folder, {**LOW, **RED}, OPEN, LOW)
    result = touchstone("gate", folder.path, "--min-quality", "60")

    assert result.out.splitlines() == [
        "passed          gamma (default)",
        "    Quality 51.4 % is below 60 %",
        "not assessable  beta (default)",
        "    no flag at E1",
        "K.-o.           alpha (default)",
        "    E1: E1!",
        "    Quality 51.4 % is below 60 %",
    ]


def test_the_gate_says_that_there_are_no_verdicts(folder: BundleFolder, touchstone: Run) -> None:
    folder.report(GOOD)
    result = touchstone("gate", folder.path)

    assert result.code == 0
    assert "rests on the K.-o. dimension alone" in result.err


def test_the_gate_writes_junit(folder: BundleFolder, touchstone: Run, tmp_path: Path) -> None:
    fill(folder, {}, RED, OPEN)
    path = tmp_path / "new" / "gate.xml"
    assert touchstone("gate", folder.path, "--junit", path).code == 3
    suite = ElementTree.parse(path).getroot()

    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")
    failures = {case.get("classname"): case.find("failure") for case in suite}
    assert failures["alpha"] is None
    assert failures["beta"] is not None
    assert failures["beta"].get("message") == "K.-o."
    assert "E1: E1!" in (failures["beta"].text or "")


def test_an_unknown_model_is_a_usage_error(folder: BundleFolder, touchstone: Run) -> None:
    result = touchstone("gate", folder.path, "--model", "gpt")

    assert (result.code, result.out) == (2, "")
    assert "The bundle has no model gpt.\nIt has alpha/default." in result.err


# --- verify ---------------------------------------------------------------------------------------


def test_verify_prints_problems_as_json(folder: BundleFolder, touchstone: Run) -> None:
    folder.verdicts({"E1": "red"})
    result = touchstone("verify", folder.path, "--json")

    assert (result.code, result.err) == (1, "")
    assert result.json["ok"] is False
    assert result.json["problems"] == [
        {
            "code": "dangling_verdict",
            "where": "verdicts.jsonl:1",
            "message": "there is no answer of alpha (default) to 'E1'",
        }
    ]
    assert [note["code"] for note in result.json["notes"]] == ["unsealed", "incomplete"]


def test_verify_of_a_whole_bundle(folder: BundleFolder, touchstone: Run) -> None:
    folder.write_lines("answers.jsonl", *(answer(one) for one in GREEN))
    result = touchstone("verify", folder.path)

    assert result.code == 0
    assert result.out.startswith("note: bundle.yaml: is not sealed")
    assert "no problems" in result.err
    assert touchstone("verify", folder.path / "bundle.yaml").code == 0


@pytest.mark.parametrize("target", ["buero", "office-en", "demo-en"])
def test_verify_of_a_suite_that_ships(target: str, touchstone: Run) -> None:
    assert touchstone("verify", target, "--json").json == {"ok": True, "problems": [], "notes": []}


def test_verify_of_a_suite_names_every_problem(tmp_path: Path, touchstone: Run) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE_YAML + "colour: red\nid: again\n", encoding="utf-8")
    result = touchstone("verify", path, "--json")

    assert result.code == 1
    assert [(one["code"], one["where"]) for one in result.json["problems"]] == [
        ("extra_forbidden", f"{path}:15: colour"),
        ("duplicate_key", f"{path}:16: id"),
    ]
    assert touchstone("verify", tmp_path).code == 1


def test_verify_of_nothing_says_what_to_do(tmp_path: Path, touchstone: Run) -> None:
    result = touchstone("verify", tmp_path / "nowhere")

    assert result.code == 1
    assert "Suites that ship: buero" in result.err
    (tmp_path / "empty").mkdir()
    result = touchstone("verify", tmp_path / "empty", "--json")
    assert result.json["problems"][0]["code"] == "unreadable"


# --- the command line itself ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["score"], 2, "Missing argument 'BUNDLE'"),
        (["score", "a", "b"], 2, "unexpected extra argument"),
        (["gate", "x", "--min-quality", "101"], 2, "not in the range"),
        (["scroe", "x"], 2, "No such command 'scroe'"),
        (["score", "nowhere"], 1, "There is no bundle nowhere"),
        (["gate", "nowhere"], 1, "touchstone run SUITE"),
    ],
)
def test_a_wrong_call_is_explained_on_stderr(
    touchstone: Run, args: list[str], code: int, words: str
) -> None:
    result = touchstone(*args)

    assert (result.code, result.out) == (code, "")
    assert words in result.err


def test_an_error_shows_no_escape_sequences_of_a_file(
    folder: BundleFolder, touchstone: Run
) -> None:
    folder.write("bundle.yaml", MANIFEST_YAML + '"\\e]0;owned\\a": 1\n')
    result = touchstone("score", folder.path)

    assert result.code == 1
    assert "\ufffd]0;owned\ufffd" in result.err
    assert "\x1b" not in result.err


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str) -> None:
    result = CliRunner().invoke(cli.touchstone, [name, "--help"])

    assert result.exit_code == 0
    assert f"touchstone {name}" in result.output
    assert re.search("Examples?: touchstone ", result.output)


def test_the_help_lists_every_command(touchstone: Run) -> None:
    result = touchstone("--help")
    modules = (ROOT / "touchstone" / "cli").glob("*.py")
    defined = {
        found[1]
        for path in modules
        for found in re.finditer(
            r'@click\.(?:command|group)\(\s*"([\w-]+)"', path.read_text("utf-8")
        )
    }

    assert result.code == 0
    groups = [importlib.import_module(module).command for module in COMMANDS.values()]
    parts = {name for group in groups for name in getattr(group, "commands", ())}
    assert defined - parts == set(COMMANDS)
    assert all(re.search(rf"^  {name} +\w", result.out, re.MULTILINE) for name in COMMANDS)


def test_the_version_is_the_packages(touchstone: Run) -> None:
    assert touchstone("--version").out == f"touchstone, version {__version__}\n"


def touchstone_process(*args: object, **options: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "touchstone", *(str(arg) for arg in args)]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )


def test_json_is_utf8_whatever_the_locale_says(folder: BundleFolder) -> None:
    fill(folder, {})
    folder.report(GOOD)
    folder.write_lines("verdicts.jsonl", {**verdict("E1", "red"), "rationale": "Grüße 💥"})
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    out, err = touchstone_process("score", folder.path, "--json", env=environment).communicate()
    assert json.loads(out.decode("utf-8"))["rows"][0]["ko"]["triggers"][0]["reason"] == "Grüße 💥"
    assert err == b""

    process = touchstone_process("score", folder.path, env=environment)
    out, err = process.communicate()
    assert (process.returncode, err) == (0, b"")
    assert "Grüße 💥" in out.decode("utf-8")


def test_a_reader_that_goes_away_is_no_crash(folder: BundleFolder) -> None:
    fill(folder, {})
    long = {**verdict("E1", "red"), "rationale": "x" * 1_000_000}
    folder.write_lines("verdicts.jsonl", long)
    process = touchstone_process("score", folder.path, "--json")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()

    assert process.wait() == 1
    assert err == b""
