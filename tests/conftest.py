"""What tests share: golden files, bundles written by hand, the command line, the real data."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from touchstone.bundle import Bundle
from touchstone.cli import main

# A busy machine is no failure.
settings.register_profile("touchstone", deadline=None)
settings.load_profile("touchstone")

GOLDEN = Path(__file__).parent / "golden"
SHARED_DATA = Path(__file__).parents[1].parent / "shared" / "data"

SUITE_YAML = """\
format: 1
id: small
title: {de: Klein, en: Small}
language: en
dimensions:
  - {id: Q1, name: {de: Korrektheit, en: Correctness}, weight: 3}
  - {id: Q2, name: {de: Ton, en: Tone}, weight: 2}
  - {id: Q3, name: {de: Sicherheit, en: Safety}, weight: 1}
  - {id: Q4, name: {de: Form, en: Form}, weight: 1}
ko_rule: {dimension: Q3, threshold: 2}
prompts:
  - {id: E1, text: Write a note.}
  - {id: E2, text: Write a letter.}
  - {id: D1, text: Add two numbers.}
"""
MANIFEST_YAML = """\
format: 1
id: tiny
suite: {id: small}
models:
  - {model: alpha}
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden/*")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare text with tests/golden/NAME; --update-golden rewrites it (review the diff)."""

    def check(name: str, actual: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(actual, encoding="utf-8", newline="")
        assert path.exists(), f"no golden file {name}: run pytest --update-golden"
        assert actual.encode() == path.read_bytes()

    return check


@pytest.fixture
def shared_data() -> Path:
    """The folder of real data beside the project."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the real data (../shared/data) is not on this machine")
    return SHARED_DATA


class BundleFolder:
    """A bundle as a person would write it: only what is required, unless a test says more."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        self.write("suite.yaml", SUITE_YAML)
        self.write("bundle.yaml", MANIFEST_YAML)

    def write(self, name: str, content: str | bytes) -> None:
        """Write a file of the bundle, byte for byte."""
        data = content if isinstance(content, bytes) else content.encode()
        (self.path / name).write_bytes(data)

    def write_lines(self, name: str, *records: Mapping[str, Any]) -> None:
        """Write records as JSON Lines."""
        self.write(name, "".join(json.dumps(record) + "\n" for record in records))

    def answers(self, *prompt_ids: str, model: str = "alpha") -> None:
        """Write answers to these prompts."""
        self.write_lines("answers.jsonl", *(answer(prompt_id, model) for prompt_id in prompt_ids))

    def verdicts(self, flags: Mapping[str, str | None], model: str = "alpha") -> None:
        """Write verdicts: prompt id → flag."""
        records = (verdict(prompt_id, flag, model) for prompt_id, flag in flags.items())
        self.write_lines("verdicts.jsonl", *records)

    def report(self, scores: Mapping[str, int | None], **more: Any) -> None:
        """Write the one report of model alpha."""
        record = {"model": "alpha", "variant": "default", "dim_scores": dict(scores), **more}
        self.write_lines("reports.jsonl", record)

    def open(self) -> Bundle:
        """Open the bundle as it stands now."""
        return Bundle.open(self.path)


def answer(prompt_id: str, model: str = "alpha", text: str = "An answer.") -> dict[str, Any]:
    """Return the required fields of an answer."""
    return {"model": model, "variant": "default", "prompt_id": prompt_id, "text": text}


def verdict(prompt_id: str, flag: str | None, model: str = "alpha") -> dict[str, Any]:
    """Return the required fields of a verdict."""
    return {"model": model, "variant": "default", "prompt_id": prompt_id, "flag": flag}


def review(prompt_id: str, decision: str, reason: str = "") -> dict[str, Any]:
    """Return a decision of a person on an answer of model alpha."""
    return {
        "model": "alpha",
        "variant": "default",
        "prompt_id": prompt_id,
        "decision": decision,
        "author": {"id": "Ada", "kind": "human"},
        "date": "2026-12-01T09:00:00Z",
        "reason": reason,
    }


@pytest.fixture
def folder(tmp_path: Path) -> BundleFolder:
    """A bundle written by hand, without answers."""
    return BundleFolder(tmp_path / "tiny")


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What stands on stdout, which must be JSON and nothing else."""
        return json.loads(self.out)


@pytest.fixture
def touchstone(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Run a command of the command line in this process."""

    def call(*args: object) -> Outcome:
        code = main([str(arg) for arg in args])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call
