"""Several forms at once: all are taken or none, by one judge, and what stood there is replaced."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from builders_run import append_lines, files_of
from conftest import BundleFolder, Outcome, answer, verdict

from touchstone.bundle import Bundle

Run = Callable[..., Outcome]
TWO_MODELS = """\
format: 1
id: tiny
suite: {id: small}
models:
  - {model: alpha}
  - {model: beta}
"""


class Forms:
    """A bundle with two models and the forms of both."""

    def __init__(self, folder: BundleFolder, touchstone: Run) -> None:
        folder.write("bundle.yaml", TWO_MODELS)
        folder.write_lines("answers.jsonl", answer("E1"), answer("E1", "beta"))
        self.path = folder.path
        self._touchstone = touchstone
        assert self.judge("--export").code == 0
        bundle = folder.open()
        self.forms = [bundle.exchange_paths((name, "default"))[1] for name in ("alpha", "beta")]

    def judge(self, *args: object) -> Outcome:
        return self._touchstone("judge", self.path, *args)

    def fill(self, number: int, judge_id: str = "me", score: int = 3, flag: str = "green") -> None:
        """Fill in a form; all judges are the same model, and go by their ids."""
        form = self.forms[number]
        text = form.read_text()
        for pattern, value in (
            (r'id: .*', f"id: {judge_id}"),
            (r"model: .*", "model: some-model"),
            (r"flag: .*", f"flag: {flag}"),
            (r"rationale: .*", "rationale: Said why."),
            (r"score: .*", f"score: {score}"),
        ):  # fmt: skip
            text = re.sub(rf"(?m)^(\s+){pattern}$", rf"\1{value}", text)
        form.write_text(text)

    @property
    def scores(self) -> dict[str, int | None]:
        return {one.model: one.dim_scores["Q1"] for one in Bundle.open(self.path).reports}


@pytest.fixture
def forms(folder: BundleFolder, touchstone: Run) -> Forms:
    return Forms(folder, touchstone)


def test_both_forms_are_taken_together_in_display_order(forms: Forms) -> None:
    forms.fill(1, score=5)
    forms.fill(0, score=2)

    assert forms.judge("--ingest").code == 0

    assert forms.scores == {"alpha": 2, "beta": 5}


def test_a_form_nobody_has_filled_is_skipped_and_said(forms: Forms) -> None:
    forms.fill(1)

    result = forms.judge("--ingest")

    assert result.code == 0
    assert f"{forms.forms[0]}: skipped, nobody has filled it in" in result.err
    assert forms.scores == {"beta": 3}
    forms.fill(0, score=1)
    assert forms.judge("--ingest").code == 0
    assert forms.scores == {"alpha": 1, "beta": 3}


def test_forms_that_nobody_has_filled_are_no_judgement(forms: Forms) -> None:
    before = files_of(forms.path)

    result = forms.judge("--ingest")

    assert result.code == 1
    assert "None of the response forms" in result.err
    assert files_of(forms.path) == before


def test_one_wrong_form_keeps_the_right_one_out_too(forms: Forms) -> None:
    forms.fill(0)
    forms.fill(1, score=9)
    before = files_of(forms.path)

    result = forms.judge("--ingest")

    assert result.code == 1
    assert forms.forms[1].name in result.err
    assert files_of(forms.path) == before


def test_two_forms_for_one_model_are_refused(forms: Forms, tmp_path: Path) -> None:
    forms.fill(0)
    twin = tmp_path / "twin.yaml"
    twin.write_bytes(forms.forms[0].read_bytes())
    before = files_of(forms.path)

    result = forms.judge("--ingest", forms.forms[0], twin)

    assert result.code == 1
    assert "two forms judge alpha (default)" in result.err
    assert files_of(forms.path) == before


def test_forms_by_two_judges_are_refused(forms: Forms) -> None:
    forms.fill(0, "ada")
    forms.fill(1, "bob")
    before = files_of(forms.path)

    result = forms.judge("--ingest")

    assert result.code == 1
    assert "by different judges (ada, bob); a bundle has one" in result.err
    assert files_of(forms.path) == before


def test_taking_a_form_again_replaces_what_it_said(forms: Forms) -> None:
    forms.fill(0, score=2)
    forms.fill(1, score=2)
    forms.judge("--ingest")
    forms.fill(0, score=4, flag="red")

    assert forms.judge("--ingest").code == 0

    assert forms.scores == {"alpha": 4, "beta": 2}
    flags = {one.model: one.flag for one in Bundle.open(forms.path).verdicts}
    assert flags == {"alpha": "red", "beta": "green"}


def test_a_later_form_by_somebody_else_is_refused_unless_redone(forms: Forms) -> None:
    forms.fill(0, "ada")
    forms.judge("--ingest")
    forms.fill(0, "bob", score=1)
    before = files_of(forms.path)

    result = forms.judge("--ingest")

    assert result.code == 1
    assert "was judged by ada" in result.err
    assert files_of(forms.path) == before
    assert forms.judge("--ingest", "--redo").code == 0
    assert forms.scores == {"alpha": 1}


def test_what_is_judged_of_others_and_cannot_be_placed_stays(forms: Forms) -> None:
    forms.fill(0)
    forms.judge("--ingest")
    fingerprint = next(iter(Bundle.open(forms.path).reports)).judge
    stray = {**verdict("E1", "red", "gone"), "judge": fingerprint}
    append_lines(forms.path / "verdicts.jsonl", stray)

    assert forms.judge("--ingest").code == 0

    assert [one.model for one in Bundle.open(forms.path).verdicts] == ["alpha", "gone"]


def test_a_line_that_cant_be_read_is_not_lost_by_taking_a_form(forms: Forms) -> None:
    forms.fill(0)
    (forms.path / "verdicts.jsonl").write_text("{not json\n{}\n")
    before = files_of(forms.path)

    result = forms.judge("--ingest")

    assert result.code == 1
    assert "verdicts.jsonl:1: is not JSON" in result.err
    assert files_of(forms.path) == before
