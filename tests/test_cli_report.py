"""``touchstone report``: one document, on stdout or in a file, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from builders_report import MARKDOWN, as_shown, fences, outline
from conftest import MANIFEST_YAML, SUITE_YAML, BundleFolder, Outcome, answer, review, verdict
from hostile import write_hostile_bundle

from touchstone.bundle import Bundle

Run = Callable[..., Outcome]
SHIPPED = sorted(
    path.parent for path in (Path(__file__).parents[1] / "bundles").glob("*/bundle.yaml")
)
TWO_MODELS = MANIFEST_YAML + "  - {model: alpha, variant: bold}\n  - {model: beta}\n"


@pytest.fixture
def judged(folder: BundleFolder) -> BundleFolder:
    """A bundle of two models, three variants, of which one is judged."""
    folder.write("bundle.yaml", TWO_MODELS)
    answers = [answer(one, model) for model in ("alpha", "beta") for one in ("E1", "E2", "D1")]
    bold = [{**answer("E1", text="Bold."), "variant": "bold"}]
    folder.write_lines("answers.jsonl", *answers, *bold)
    folder.write_lines(
        "verdicts.jsonl",
        {**verdict("E1", "red"), "rationale": "It names a patient."},
        verdict("E2", "green"),
        verdict("D1", "yellow"),
    )
    folder.report({"Q1": 4, "Q2": 3, "Q3": 5, "Q4": 4})
    return folder


def test_the_report_goes_to_stdout_and_nothing_else_does(
    judged: BundleFolder, touchstone: Run
) -> None:
    result = touchstone("report", judged.path)

    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("# tiny\n\n## What this is\n")
    assert result.out.endswith("```\n")
    assert "(a) red flag at E1" in result.out
    assert [one for one in outline(result.out) if "Model " in one] == [
        "2 Model alpha (default)",
        "2 Model alpha (bold)",
        "2 Model beta (default)",
    ]


def test_the_hashes_are_those_of_the_bundle(judged: BundleFolder, touchstone: Run) -> None:
    bundle = judged.open()
    lines = touchstone("report", judged.path).out.splitlines()

    assert f"- **Suite, SHA-256:** {bundle.suite_sha256}" in lines
    assert f"- **Answers, SHA-256:** {bundle.answers_sha256}" in lines
    assert f"- **Bundle, SHA-256:** {bundle.sha256}" in lines


def test_the_same_bundle_gives_the_same_document(judged: BundleFolder, touchstone: Run) -> None:
    assert touchstone("report", judged.path).out == touchstone("report", judged.path).out


def test_the_report_is_written_to_a_file(
    judged: BundleFolder, touchstone: Run, tmp_path: Path
) -> None:
    path = tmp_path / "new" / "report.md"
    result = touchstone("report", judged.path, "-o", path)

    assert (result.code, result.out) == (0, "")
    assert result.err == f"Wrote {path}: 3 models, 3 prompts.\n"
    assert path.read_bytes() == touchstone("report", judged.path).out.encode()


def test_a_folder_is_no_file_to_write_to(
    judged: BundleFolder, touchstone: Run, tmp_path: Path
) -> None:
    result = touchstone("report", judged.path, "-o", tmp_path)

    assert result.code == 2
    assert "is a directory" in result.err


@pytest.mark.parametrize(
    ("language", "option", "heading"),
    [
        ("en", [], "## What this is"),
        ("de", [], "## Was das ist"),
        ("de", ["--lang", "en"], "## What this is"),
        ("en", ["--lang", "de"], "## Was das ist"),
        ("fr", [], "## What this is"),
    ],
)
def test_the_language_is_the_suites_unless_another_is_asked_for(
    judged: BundleFolder, touchstone: Run, language: str, option: list[str], heading: str
) -> None:
    judged.write("suite.yaml", SUITE_YAML.replace("language: en", f"language: {language}"))

    assert heading in touchstone("report", judged.path, *option).out.splitlines()


@pytest.mark.parametrize(
    ("models", "shown"),
    [
        (["alpha"], ["alpha (default)", "alpha (bold)"]),
        (["alpha/bold"], ["alpha (bold)"]),
        (["beta", "alpha/default"], ["alpha (default)", "beta (default)"]),
    ],
)
def test_only_some_models(
    judged: BundleFolder, touchstone: Run, models: list[str], shown: list[str]
) -> None:
    args = [part for model in models for part in ("--model", model)]
    text = touchstone("report", judged.path, *args).out

    assert [one[8:] for one in outline(text) if one.startswith("2 Model ")] == shown
    answers = [one.partition("Answer of ")[2] for one in outline(text) if "Answer of" in one]
    assert [one.partition(":")[0] for one in answers] == shown * 3
    assert f"This document holds {len(shown)} of the bundle's 3 models" in text


def test_an_unknown_model_is_a_usage_error(judged: BundleFolder, touchstone: Run) -> None:
    result = touchstone("report", judged.path, "--model", "gpt")

    assert (result.code, result.out) == (2, "")
    assert "The bundle has no model gpt.\nIt has alpha/default, alpha/bold, beta/default." in (
        result.err
    )


def test_answers_can_be_left_out(judged: BundleFolder, touchstone: Run) -> None:
    text = touchstone("report", judged.path, "--no-answers").out

    assert fences(text) == ["Write a note.\n", "Write a letter.\n", "Add two numbers.\n"]
    assert "> It names a patient." in text
    assert "Evaluation task" not in text


def test_decisions_count(judged: BundleFolder, touchstone: Run) -> None:
    judged.write_lines("reviews.jsonl", review("E1", "flag:green", "It is invented."))
    text = touchstone("report", judged.path).out

    assert "flag set to green, from red, decided by Ada (human)" in text
    assert "> It is invented." in text
    assert "(a) red flag at E1" not in text


def test_a_bundle_without_anything_but_its_manifest(folder: BundleFolder, touchstone: Run) -> None:
    result = touchstone("report", folder.path)

    assert (result.code, result.err) == (0, "")
    assert "Not judged yet." in result.out
    assert result.out.count("There is no answer in the bundle.") == 3


def test_a_bundle_without_models(folder: BundleFolder, touchstone: Run) -> None:
    folder.write("bundle.yaml", MANIFEST_YAML.replace("models:\n  - {model: alpha}", "models: []"))
    result = touchstone("report", folder.path)

    assert result.code == 0
    assert [one for one in outline(result.out) if "Model" in one] == []
    assert "Form of the reply" not in result.out


def test_a_torn_last_line_is_dropped_and_that_is_said(
    judged: BundleFolder, touchstone: Run
) -> None:
    with (judged.path / "answers.jsonl").open("ab") as stream:
        stream.write(b'{"model": "alp')
    result = touchstone("report", judged.path)

    assert result.code == 0
    assert "answers.jsonl:8: is cut off" in result.err


@pytest.mark.parametrize("name", ["answers", "verdicts", "reports", "reviews"])
def test_a_report_never_leaves_out_what_can_not_be_read(
    judged: BundleFolder, touchstone: Run, name: str
) -> None:
    with (judged.path / f"{name}.jsonl").open("ab") as stream:
        stream.write(b"nonsense\n")
    result = touchstone("report", judged.path)

    assert (result.code, result.out) == (1, "")
    assert f"{name}.jsonl has lines that can't be used" in result.err


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_hostile_bundle_makes_a_document_like_any_other(
    touchstone: Run, tmp_path: Path, language: str
) -> None:
    bundle = Bundle.open(write_hostile_bundle(tmp_path / "hostile"))
    result = touchstone("report", bundle.path, "--lang", language)
    tokens = MARKDOWN.parse(result.out)

    assert (result.code, result.err) == (0, "")
    kinds = {token.type for token in tokens} | {
        child.type for token in tokens for child in token.children or []
    }
    assert not {"html_block", "html_inline", "link_open", "image", "hr", "code_block"} & kinds
    expected = [
        as_shown(text) + "\n"
        for prompt in bundle.suite.prompts
        for text in (
            prompt.system or "",
            prompt.text or "",
            *(one.text for one in bundle.answers if one.prompt_id == prompt.id),
        )
    ]
    found = [token.content for token in tokens if token.type == "fence"]
    assert found[:-1] == expected
    assert found[-1].startswith("evaluator:")


@pytest.mark.parametrize("path", SHIPPED, ids=[path.name for path in SHIPPED])
def test_every_answer_of_a_shipped_bundle_stands_in_one_fence(path: Path, touchstone: Run) -> None:
    bundle = Bundle.open(path)
    found = fences(touchstone("report", path).out)
    at = 0
    for prompt in bundle.suite.prompts:
        for entry in bundle.model_entries():
            given = bundle.answers.get((*entry.pair, prompt.id))
            if given is not None and given.text:
                at = found.index(as_shown(given.text) + "\n", at) + 1
    tasks = sum(len(prompt.turns()) + bool(prompt.system) for prompt in bundle.suite.prompts)
    answers = sum(bool(one.text) for one in bundle.answers)
    systems = sum(bool(entry.system) for entry in bundle.model_entries())
    assert len(found) == tasks + answers + systems + 1
