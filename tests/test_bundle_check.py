"""What ``verify`` finds in a bundle: every problem has a code, a place and a sentence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import MANIFEST_YAML, SUITE_YAML, BundleFolder, answer, review, verdict

from touchstone.bundle import find_bundles, write_bundle
from touchstone.bundle_check import Findings, check_bundle
from touchstone.errors import BundleError, SuiteError
from touchstone.slugs import slug

Change = Callable[[BundleFolder], Any]
BUNDLES = find_bundles(Path(__file__).parents[1] / "bundles")
SHA = "0" * 64
JUDGED = "judges: [{fingerprint: f1, id: judge-1}]\n"


def whole(folder: BundleFolder) -> None:
    """Make a bundle in which nothing is missing, and seal it."""
    folder.answers("E1", "E2", "D1")
    folder.verdicts({"E1": "green", "E2": "yellow", "D1": "green"})
    folder.report({"Q1": 4, "Q2": 4, "Q3": 4, "Q4": None})
    folder.write_lines("reviews.jsonl", review("E1", "accept"))
    with write_bundle(folder.path) as writer:
        writer.seal()


def problems(findings: Findings) -> list[tuple[str, str]]:
    return [(one.code, one.where) for one in findings.problems]


def test_a_whole_bundle_has_neither_problems_nor_notes(folder: BundleFolder) -> None:
    whole(folder)

    assert check_bundle(folder.path) == Findings((), ())
    assert check_bundle(folder.path).ok


def add_line(name: str, content: str | bytes) -> Change:
    def change(folder: BundleFolder) -> None:
        with (folder.path / name).open("ab") as stream:
            stream.write(content if isinstance(content, bytes) else content.encode())

    return change


def write(name: str, content: str) -> Change:
    return lambda folder: folder.write(name, content)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        pytest.param(
            lambda folder: folder.write_lines("answers.jsonl", answer("E9")),
            [("unknown_prompt", "answers.jsonl:1")],
            id="answer to no prompt",
        ),
        pytest.param(
            lambda folder: folder.answers("E1", model="beta"),
            [("unknown_model", "answers.jsonl:1")],
            id="answer of an unknown model",
        ),
        pytest.param(
            lambda folder: folder.write_lines("answers.jsonl", answer("E1"), {}, answer("E1")),
            [
                *[("missing", "answers.jsonl:2")] * 4,
                ("duplicate_record", "answers.jsonl:3"),
            ],
            id="empty and duplicate answer",
        ),
        pytest.param(
            lambda folder: folder.verdicts({"E1": "red"}),
            [("dangling_verdict", "verdicts.jsonl:1")],
            id="verdict without an answer",
        ),
        pytest.param(
            add_line("verdicts.jsonl", "{}\n{}"),
            [("missing", f"verdicts.jsonl:{line}") for line in (1, 1, 1, 1, 2, 2, 2, 2)],
            id="empty verdicts",
        ),
        pytest.param(
            add_line("verdicts.jsonl", '{"model"'),
            [("torn_line", "verdicts.jsonl:1")],
            id="torn verdict",
        ),
        pytest.param(
            lambda folder: folder.report({"Q9": 3, "Q0": None}),
            [("unknown_dimension", "reports.jsonl:1")] * 2,
            id="report on unknown dimensions",
        ),
        pytest.param(
            lambda folder: folder.write_lines(
                "reports.jsonl", {"model": "x", "variant": "y", "dim_scores": {}}
            ),
            [("unknown_model", "reports.jsonl:1")],
            id="report on an unknown model",
        ),
        pytest.param(
            lambda folder: folder.report({"Q1": 6}),
            [("less_than_equal", "reports.jsonl:1")],
            id="score beyond the scale",
        ),
        pytest.param(
            add_line("reviews.jsonl", "\nnonsense\n"),
            [("bad_json", "reviews.jsonl:2")],
            id="bad review",
        ),
        pytest.param(
            lambda folder: (
                folder.write("reviews.jsonl", "\n\n"),
                folder.write_lines("more", review("E7", "reject")),
                add_line("reviews.jsonl", (folder.path / "more").read_bytes())(folder),
            ),
            [("dangling_review", "reviews.jsonl:3")],
            id="review of nothing, after blank lines",
        ),
        pytest.param(
            write("bundle.yaml", MANIFEST_YAML.replace("id: tiny", "id: other")),
            [("id_mismatch", "bundle.yaml")],
            id="folder renamed",
        ),
        pytest.param(
            write("bundle.yaml", MANIFEST_YAML.replace("{id: small}", "{id: buero}")),
            [("suite_mismatch", "bundle.yaml")],
            id="another suite",
        ),
        pytest.param(
            write("bundle.yaml", MANIFEST_YAML.replace("small}", f"small, sha256: {SHA}}}")),
            [("suite_changed", "suite.yaml")],
            id="suite changed",
        ),
        pytest.param(
            write("bundle.yaml", MANIFEST_YAML + "  - {model: alpha, variant: default}\n"),
            [("duplicate_model", "bundle.yaml")],
            id="model twice",
        ),
        pytest.param(
            write("bundle.yaml", MANIFEST_YAML + JUDGED.replace("]", ", {fingerprint: f, id: j}]")),
            [("several_judges", "bundle.yaml")],
            id="two judges",
        ),
        pytest.param(
            write(
                "bundle.yaml",
                MANIFEST_YAML + "aliases: {models: [{from: {model: a, variant: b}, "
                "to: {model: c, variant: d}}], prompts: {old: E1, older: E7}}\n",
            ),
            [("dangling_alias", "bundle.yaml")] * 2,
            id="aliases that lead nowhere",
        ),
        pytest.param(
            write("bundle.yaml", MANIFEST_YAML + "sealed: {verdicts.jsonl: x, suite.yaml: y}\n"),
            [("missing_file", "verdicts.jsonl"), ("seal_broken", "suite.yaml")],
            id="seal of another state",
        ),
    ],
)  # fmt: skip
def test_a_problem_is_named(
    folder: BundleFolder, change: Change, found: list[tuple[str, str]]
) -> None:
    change(folder)
    findings = check_bundle(folder.path)

    assert problems(findings) == found
    assert not findings.ok


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("answers.jsonl", b"\n"),
        ("verdicts.jsonl", b"\n"),
        ("reports.jsonl", b"\n"),
        ("suite.yaml", b"# more\n"),
    ],
)
def test_a_changed_file_breaks_its_seal(folder: BundleFolder, name: str, content: bytes) -> None:
    whole(folder)
    add_line(name, content)(folder)

    assert problems(check_bundle(folder.path)) == [("seal_broken", name)]


def test_a_file_that_was_slipped_in_breaks_the_seal(folder: BundleFolder) -> None:
    folder.answers("E1")
    with write_bundle(folder.path) as writer:
        writer.seal()
    folder.verdicts({"E1": "green"})
    (found,) = check_bundle(folder.path).problems

    assert (found.code, found.where) == ("seal_broken", "verdicts.jsonl")
    assert "added after" in found.message


def test_decisions_and_raw_replies_may_follow_a_seal(folder: BundleFolder) -> None:
    whole(folder)
    with write_bundle(folder.path) as writer:
        writer.write_raw(("alpha", "default"), "E1", b"reply")
    folder.write_lines("reviews.jsonl", review("E1", "flag:red"), review("E2", "accept"))

    assert check_bundle(folder.path).ok


def test_a_record_of_another_judge_is_named(folder: BundleFolder) -> None:
    whole(folder)
    folder.write("bundle.yaml", MANIFEST_YAML + JUDGED)
    folder.write_lines(
        "verdicts.jsonl",
        {**verdict("E1", "green"), "judge": "f1"},
        {**verdict("E2", "green"), "judge": "f2"},
        verdict("D1", "green"),
    )
    folder.report({"Q1": 4}, judge="f2")

    assert problems(check_bundle(folder.path)) == [
        ("other_judge", "verdicts.jsonl:2"),
        ("other_judge", "reports.jsonl:1"),
    ]


def notes(folder: BundleFolder) -> list[tuple[str, str, str]]:
    findings = check_bundle(folder.path)
    assert findings.ok
    return [(one.code, one.where, one.message) for one in findings.notes]


def test_what_is_missing_or_unsealed_is_a_note(folder: BundleFolder) -> None:
    folder.write_lines(
        "answers.jsonl", answer("E1"), {**answer("E2", text=""), "error": {"type": "timeout"}}
    )

    assert [(code, message) for code, _, message in notes(folder)] == [
        ("unsealed", "is not sealed: written by hand, or a run was cut off"),
        ("incomplete", "2 prompts were not asked or not answered"),
    ]


def test_answers_that_point_nowhere_do_not_fill_a_gap(folder: BundleFolder) -> None:
    folder.write_lines(
        "answers.jsonl", answer("E1"), *(answer(f"X{number}", model="beta") for number in range(9))
    )
    codes = [(one.code, one.message) for one in check_bundle(folder.path).notes]

    assert ("incomplete", "2 prompts were not asked or not answered") in codes


@pytest.mark.parametrize(
    ("aliases", "dangling"),
    [
        ("models: [{from: {model: a, variant: x}, to: {model: alpha, variant: default}}]", 0),
        (
            "models: [{from: {model: a, variant: x}, to: {model: b, variant: x}}, "
            "{from: {model: b, variant: x}, to: {model: alpha, variant: default}}]",
            0,
        ),
        (
            "models: [{from: {model: a, variant: x}, to: {model: b, variant: x}}, "
            "{from: {model: b, variant: x}, to: {model: a, variant: x}}]",
            2,
        ),
        ("prompts: {oldest: old, old: E1}", 0),
        ("prompts: {oldest: older, older: old}", 2),
        ("prompts: {a: b, b: a}", 2),
        ("prompts: {a: a}", 1),
        ("prompts: {E1: E2}", 0),
    ],
)
def test_an_alias_may_lead_to_an_id_of_today_over_others(
    folder: BundleFolder, aliases: str, dangling: int
) -> None:
    folder.write("bundle.yaml", MANIFEST_YAML + f"aliases: {{{aliases}}}\n")

    assert [code for code, _ in problems(check_bundle(folder.path))] == [
        "dangling_alias"
    ] * dangling


def test_judge_quality_is_stale_once_the_bundle_has_changed(folder: BundleFolder) -> None:
    whole(folder)
    quality = {"format": 1, "hashes": {"bundle": folder.open().sha256}}
    folder.write("judge_quality.json", json.dumps(quality))
    assert notes(folder) == []

    folder.write_lines("reviews.jsonl", review("E1", "flag:red"))
    assert notes(folder) == []

    folder.verdicts({"E1": "red", "E2": "yellow", "D1": "green"})
    with write_bundle(folder.path) as writer:
        writer.seal()
    ((code, where, _),) = notes(folder)
    assert (code, where) == ("stale_judge_quality", "judge_quality.json")


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("{}", "stale_judge_quality"),
        ('{"hashes": {"bundle": null}}', "stale_judge_quality"),
        ('{"hashes": ["bundle"]}', "stale_judge_quality"),
        ("[]", "unreadable_judge_quality"),
        ("{", "unreadable_judge_quality"),
        ("[" * 100_000, "unreadable_judge_quality"),
        ('{"a": "' + "x" * 5_000_000 + '"}', "unreadable_judge_quality"),
        (b"\xff", "unreadable_judge_quality"),
    ],
    ids=["empty", "null", "list of hashes", "list", "cut off", "deep", "huge", "no text"],
)
def test_judge_quality_that_names_no_bundle_or_is_no_result_is_a_note(
    folder: BundleFolder, content: str | bytes, code: str
) -> None:
    whole(folder)
    folder.write("judge_quality.json", content)

    assert [(found, where) for found, where, _ in notes(folder)] == [(code, "judge_quality.json")]


PROBE = {
    "probe": "repeat",
    "model": "alpha",
    "variant": "default",
    "dimension": "Q1",
    "score": 4,
    "judge": "f1",
    "basis": SHA,
}


def test_what_probes_saw_must_be_readable(folder: BundleFolder) -> None:
    whole(folder)
    folder.write_lines("judge_probes.jsonl", PROBE, {**PROBE, "run": 2})
    assert check_bundle(folder.path) == Findings((), ())

    folder.write_lines("judge_probes.jsonl", PROBE, {**PROBE, "score": 6}, PROBE)
    add_line("judge_probes.jsonl", "nonsense\n")(folder)
    assert problems(check_bundle(folder.path)) == [
        ("less_than_equal", "judge_probes.jsonl:2"),
        ("duplicate_record", "judge_probes.jsonl:3"),
        ("bad_json", "judge_probes.jsonl:4"),
    ]


def test_a_check_counts_what_it_looked_at(folder: BundleFolder) -> None:
    whole(folder)
    assert check_bundle(folder.path).checked == {
        "answers": 3,
        "verdicts": 3,
        "reports": 1,
        "citations": 0,
    }


def test_a_folder_may_be_called_by_the_slug_of_its_bundle(tmp_path: Path) -> None:
    folder = BundleFolder(tmp_path / slug("Büro 1"))
    folder.write("bundle.yaml", MANIFEST_YAML.replace("id: tiny", "id: Büro 1"))
    assert problems(check_bundle(folder.path)) == []


def test_ids_that_differ_only_in_case_are_notes(folder: BundleFolder) -> None:
    folder.write("bundle.yaml", MANIFEST_YAML + "  - {model: Alpha}\n")
    folder.write("suite.yaml", SUITE_YAML + "  - {id: e1, text: Again.}\n")

    assert [(code, where) for code, where, _ in notes(folder)] == [
        ("unsealed", "bundle.yaml"),
        ("case_collision", "tiny/suite.yaml:11: prompts"),
        ("case_collision", "bundle.yaml"),
        ("incomplete", "answers.jsonl"),
    ]


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [("bundle.yaml", "format: 1\n", BundleError), ("suite.yaml", "format: 1\n", SuiteError)],
)
def test_what_can_not_be_opened_can_not_be_checked(
    folder: BundleFolder, name: str, content: str, error: type[Exception]
) -> None:
    folder.write(name, content)
    with pytest.raises(error, match="is required"):
        check_bundle(folder.path)


@pytest.mark.parametrize("path", BUNDLES, ids=[path.name for path in BUNDLES])
def test_a_bundle_that_ships_is_whole_and_sealed(path: Path) -> None:
    findings = check_bundle(path)

    assert findings.problems == ()
    assert "unsealed" not in [note.code for note in findings.notes]
