"""``touchstone judge-meta``: export and ingest, through the command line."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders_run import files_of
from conftest import BundleFolder, Outcome, answer, verdict

Run = Callable[..., Outcome]
SHIPPED = Path(__file__).parents[1] / "bundles" / "office-en-smollm2"
JUDGES = """\
judges:
  - {fingerprint: 3f9c, id: judge-1, kind: ai, mode: single}
"""


class Meta:
    """A judged bundle and its meta-evaluation."""

    def __init__(self, path: Path, touchstone: Run) -> None:
        self.path = path
        self._touchstone = touchstone

    def __call__(self, action: str, *args: object) -> Outcome:
        return self._touchstone("judge-meta", action, self.path, *args)

    def form(self, part: str = "both") -> Path:
        return self.path / f"judge_meta_response{'' if part == 'both' else f'.{part}'}.yaml"

    def fill(self, part: str = "both", evaluator: str = "eva", score: int = 4) -> Path:
        """Fill in the form of a part."""
        path = self.form(part)
        text = re.sub(r"(?m)^  id: .*$", f"  id: {evaluator}", path.read_text())
        text = re.sub(r"score: .*", f"score: {score}", text)
        for key, value in (("rationale", "Because."), ("cites_evidence", "true")):
            text = re.sub(rf"(?m)^(\s+{key}): .*$", rf"\1: {value}", text)
        path.write_text(text)
        return path

    @property
    def quality(self) -> Any:
        return json.loads((self.path / "judge_quality.json").read_text())

    def files(self) -> dict[str, bytes]:
        return files_of(self.path)


@pytest.fixture
def meta(folder: BundleFolder, touchstone: Run) -> Meta:
    folder.write("bundle.yaml", (folder.path / "bundle.yaml").read_text() + JUDGES)
    folder.answers("E1", "E2", "D1")
    folder.verdicts({"E1": "green", "E2": "yellow", "D1": "green"})
    folder.report({"Q1": 4, "Q2": 5, "Q3": 2, "Q4": 4}, dim_rationales={"Q1": "E1 is right."})
    return Meta(folder.path, touchstone)


# --- one pass ------------------------------------------------------------------------------


def test_export_fill_ingest(meta: Meta) -> None:
    assert meta("export").code == 0
    meta.fill()
    outcome = meta("ingest")

    assert outcome.code == 0
    assert outcome.out.strip() == meta.quality["headline"]
    assert meta.quality["headline"].startswith("judge-meta v2 | judge-1 vs eva (not blind) |")
    assert meta.quality["bias"] == -0.25
    assert meta.quality["knock_out"]["n"] == 0, "the evaluator gave no opinion"
    assert meta.quality["rubric"]["cites_evidence"] == 1
    assert meta.quality["rubric"]["catches_safety"] is None
    assert (meta.path / "judge_meta_response.eva.yaml").read_bytes() == meta.form().read_bytes()
    assert meta.quality["headline"] in (meta.path / "judge_quality.md").read_text()


def test_a_judge_that_always_says_5_has_no_skill(meta: Meta, folder: BundleFolder) -> None:
    folder.report(dict.fromkeys(("Q1", "Q2", "Q3", "Q4"), 5))
    meta("export")
    path = meta.fill(score=5)
    path.write_text(path.read_text().replace("score: 5", "score: 3", 1))

    assert meta("ingest").code == 0
    assert meta.quality["exact"] == 0.75
    assert meta.quality["skill"] == 0
    assert "skill .00)" in meta.quality["headline"]


def test_a_second_response_by_the_same_evaluator_replaces_the_first(meta: Meta) -> None:
    meta("export")
    meta.fill(score=4)
    meta("ingest")
    meta.fill(evaluator="EVA", score=2)
    meta("ingest")

    assert [one["id"] for one in meta.quality["references"]] == ["EVA"]
    assert meta.quality["bias"] == 1.75


def test_several_evaluators_make_a_panel(meta: Meta) -> None:
    meta("export")
    first = meta.fill(evaluator="ada", score=2).rename(meta.path.parent / "ada.yaml")
    meta("export")
    second = meta.fill(evaluator="bob", score=5).rename(meta.path.parent / "bob.yaml")

    assert meta("ingest", first, second).code == 0
    assert [one["id"] for one in meta.quality["references"]] == ["ada", "bob"]
    assert "vs panel of 2" in meta.quality["headline"]


def test_a_filled_form_is_not_overwritten(meta: Meta) -> None:
    meta("export")
    filled = meta.fill().read_bytes()

    assert "kept" in meta("export").err
    assert meta.form().read_bytes() == filled


def test_a_form_that_was_taken_makes_room_for_the_next_evaluator(meta: Meta) -> None:
    meta("export")
    meta.fill(evaluator="ada")
    meta("ingest")

    assert "kept" not in meta("export").err
    meta.fill(evaluator="bob")
    assert meta("ingest").code == 0
    assert [one["id"] for one in meta.quality["references"]] == ["ada", "bob"]


def test_an_edited_request_is_noted(meta: Meta) -> None:
    meta("export", "--lang", "de")
    meta.fill()
    assert "note: judge_meta_request.md" not in meta("ingest").err
    request = meta.path / "judge_meta_request.md"
    request.write_text(request.read_text().replace("An answer.", "A better answer."))
    meta.fill(score=3)

    outcome = meta("ingest")
    assert outcome.code == 0
    assert "note: judge_meta_request.md is not what this bundle exports" in outcome.err


def test_nothing_filled_in_is_said(meta: Meta) -> None:
    meta("export")
    outcome = meta("ingest")

    assert outcome.code == 1
    assert "holds no filled form" in outcome.err


# --- verdict by verdict --------------------------------------------------------------------


def test_missed_and_false_red_flags_are_named(meta: Meta, folder: BundleFolder) -> None:
    folder.verdicts({"E1": "green", "E2": "red", "D1": "red"})
    decision = {**verdict("E1", None), "decision": "flag:red", "date": "2026-12-01T09:00:00Z"}
    del decision["flag"]
    author = {"id": "Ada", "kind": "human"}
    folder.write_lines("reviews.jsonl", {**decision, "author": author, "reason": "Bad."})
    meta("export", "--part", "a")
    path = meta.fill("a")
    text = path.read_text()
    for prompt_id, flag in (("E1", "red"), ("E2", "yellow"), ("D1", "red")):
        text = text.replace(f"    {prompt_id}: null", f"    {prompt_id}: {flag}")
    path.write_text(text)

    assert meta("ingest").code == 0
    flags = meta.quality["flags"]
    assert flags["missed_red"] == [["alpha", "default", "E1"]], "the judge's own flag counts"
    assert flags["false_red"] == [["alpha", "default", "E2"]]
    assert (flags["n"], flags["fnr"], flags["fpr"]) == (3, 0.5, 1)
    document = (meta.path / "judge_quality.md").read_text()
    assert "Red to the reference and not to the judge: alpha (default): E1." in document


def test_flags_are_optional(meta: Meta) -> None:
    meta("export")
    path = meta.fill()
    assert "    E1: null" in path.read_text()

    assert meta("ingest").code == 0
    assert meta.quality["flags"] is None
    assert "No reference flagged single answers" in (meta.path / "judge_quality.md").read_text()


def test_an_export_replaces_an_empty_form_and_keeps_one_with_nothing_but_a_flag(meta: Meta) -> None:
    meta("export", "--part", "a")
    assert "kept" not in meta("export", "--part", "a").err
    path = meta.form("a")
    path.write_text(path.read_text().replace("E1: null", "E1: red"))

    assert "kept" in meta("export", "--part", "a").err


def test_the_result_is_utf_8_whatever_an_evaluator_writes(meta: Meta) -> None:
    meta("export")
    path = meta.fill(score=1)
    path.write_text(path.read_text().replace("Because.", '"Half: \\uD83D, gone: \\0, all: ü"'))

    assert meta("ingest").code == 0
    text = (meta.path / "judge_quality.json").read_text(encoding="utf-8")
    assert "all: ü" in text
    said = json.loads(text)["disagreements"][0]["rationales"]["eva"]
    assert said == "Half: \ud83d, gone: \0, all: ü"


# --- what is refused -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("score: 4", "score: true", r"judge_meta_response.yaml:\d+: reports\[0\].fresh.Q1.score"),
        ("score: 4", "score: 6", r"yaml:\d+: reports\[0\].fresh.Q1.score"),
        ("    Q2:", "    Q7:", r"fresh.Q7: is no dimension"),
        ("    Q2:", "    Q7:", r"there is no Q2"),
        ("    E1: null", "    E1: rot", r"yaml:\d+: reports\[0\].flags.E1: must be 'green'"),
        ("    E1: null", "    E1: true", r"yaml:\d+: reports\[0\].flags.E1: must be 'green'"),
        ("    E1: null", "    E7: red", r"yaml:\d+: reports\[0\].flags.E7: is no prompt"),
        ("model: alpha", "model: beta", r"has no beta"),
        ("id: eva", "id: judge-1", r"evaluator.id: is the judge"),
        ("request_sha256: ", "request_sha256: 0", r"yaml:\d+: request_sha256: belongs to another"),
        ("  critique:", "  critique: [", r"not valid YAML|yaml:\d+"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_taken(
    meta: Meta, old: str, new: str, message: str
) -> None:
    meta("export")
    path = meta.fill()
    path.write_text(path.read_text().replace('sha256: "', "sha256: ").replace(old, new, 1))
    before = meta.files()
    outcome = meta("ingest")

    assert outcome.code == 1
    assert re.search(message, outcome.err), outcome.err
    assert meta.files() == before


@pytest.mark.parametrize("part", ["a", "both"])
@pytest.mark.parametrize("end", ["flags:", "E2:", "Q2:", "      score:", "  knock_out:", "  kno"])
def test_a_truncated_file_is_refused_and_nothing_is_taken(meta: Meta, part: str, end: str) -> None:
    meta("export", "--part", part)
    path = meta.fill(part)
    text = path.read_text()
    path.write_text(text[: text.rindex(end) + len(end)])
    before = meta.files()
    outcome = meta("ingest")

    assert outcome.code == 1
    assert re.search(rf"{path.name}(:\d+)?", outcome.err)
    assert "Traceback" not in outcome.err
    assert meta.files() == before


@pytest.mark.parametrize("part", ["a", "both"])
def test_a_response_of_another_bundle_is_refused(
    meta: Meta, touchstone: Run, tmp_path: Path, part: str
) -> None:
    other = Meta(tmp_path / "other", touchstone)
    shutil.copytree(meta.path, other.path)
    lines = (other.path / "answers.jsonl").read_text()
    (other.path / "answers.jsonl").write_text(lines.replace("An answer.", "Another answer."))
    other("export", "--part", part)
    response = other.fill(part)
    before = meta.files()
    outcome = meta("ingest", response)

    assert outcome.code == 1
    assert re.search(r"yaml:\d+: request_sha256: belongs to another request", outcome.err)
    assert meta.files() == before


def test_one_bad_file_of_two_and_none_is_taken(meta: Meta) -> None:
    meta("export")
    good = meta.fill(evaluator="ada")
    bad = meta.path.parent / "bad.yaml"
    bad.write_text(good.read_text().replace("id: ada", "id: bob").replace("score: 4", "score: x"))
    before = meta.files()

    assert meta("ingest", good, bad).code == 1
    assert meta.files() == before


def test_a_response_to_other_reports_is_refused(meta: Meta, folder: BundleFolder) -> None:
    meta("export")
    meta.fill()
    folder.report({"Q1": 1, "Q2": 1, "Q3": 1, "Q4": 1})
    outcome = meta("ingest")

    assert outcome.code == 1
    assert "belongs to another request" in outcome.err


@pytest.mark.parametrize("change", [
    lambda content: content.replace(b"\n", b"\r\n"),
    lambda content: b"\xef\xbb\xbf" + content,
    lambda content: content.replace(b"      ", b"\t\t\t"),
])  # fmt: skip
def test_what_editors_do_is_taken(meta: Meta, change: Callable[[bytes], bytes]) -> None:
    meta("export")
    path = meta.fill()
    path.write_bytes(change(path.read_bytes()))

    assert meta("ingest").code == 0
    assert meta.quality["n"] == 4
    assert meta.quality["bias"] == -0.25
    assert (meta.path / "judge_meta_response.eva.yaml").read_bytes() == path.read_bytes()


def test_what_is_no_utf_8_is_refused(meta: Meta) -> None:
    meta("export")
    path = meta.fill()
    path.write_bytes(path.read_bytes().replace(b"Because.", b"Gr\xfc\xdfe", 1))
    outcome = meta("ingest")

    assert outcome.code == 1
    assert "is not UTF-8" in outcome.err


def test_without_a_judgement_there_is_nothing_to_criticise(
    folder: BundleFolder, touchstone: Run
) -> None:
    folder.answers("E1")
    outcome = touchstone("judge-meta", "export", folder.path)

    assert outcome.code == 1
    assert "holds no reports" in outcome.err


# --- two passes ----------------------------------------------------------------------------


def test_two_passes_make_a_blind_reference(meta: Meta) -> None:
    assert meta("export", "--part", "b").code == 2, "part B is not shown before part A is in"
    assert meta("export", "--part", "a").code == 0
    meta.fill("a")
    assert meta("ingest").code == 0
    assert meta.quality["rubric"]["cites_evidence"] is None
    assert meta("export", "--part", "b").code == 0
    meta.fill("b")
    assert meta("ingest").code == 0

    both = meta.quality
    assert both["blind"] is True
    assert both["rubric"]["cites_evidence"] == 1
    assert set(meta.quality["references"][0]["responses"]) == {"a", "b"}
    assert "judge-1 vs eva (blind)" in meta.quality["headline"]


def test_part_a_is_frozen_once_it_is_in(meta: Meta) -> None:
    meta("export", "--part", "a")
    meta.fill("a", score=4)
    meta("ingest")
    meta.fill("a", score=2)
    before = meta.files()
    outcome = meta("ingest")

    assert outcome.code == 1
    assert "frozen" in outcome.err
    assert meta.files() == before


def test_who_has_seen_the_scores_is_not_blind_any_more(meta: Meta) -> None:
    meta("export")
    meta.fill()
    meta("ingest")
    meta("export", "--part", "a")
    outcome = meta("ingest", meta.fill("a"))

    assert outcome.code == 1
    assert "no longer blind" in outcome.err


def test_part_b_without_part_a_is_refused(meta: Meta) -> None:
    meta("export", "--part", "a")
    meta.fill("a")
    meta("ingest")
    meta("export", "--part", "b")
    outcome = meta("ingest", meta.fill("b", evaluator="somebody-else"))

    assert outcome.code == 1
    assert "there is no part A by somebody-else yet" in outcome.err


def test_a_part_a_serves_every_judge_of_the_same_answers(
    meta: Meta, folder: BundleFolder, touchstone: Run, tmp_path: Path
) -> None:
    meta("export", "--part", "a")
    meta.fill("a")
    meta("ingest")
    other = Meta(tmp_path / "other", touchstone)
    shutil.copytree(meta.path, other.path, ignore=shutil.ignore_patterns("judge_*"))
    record = {"model": "alpha", "variant": "default", "dim_scores": {"Q1": 1, "Q2": 1, "Q3": 1}}
    (other.path / "reports.jsonl").write_text(json.dumps(record) + "\n")

    assert other("ingest", meta.path / "judge_meta_response.eva.a.yaml").code == 0
    assert other.quality["bias"] == -3
    assert other.quality["blind"] is True


def test_part_a_names_neither_scores_nor_the_judge(meta: Meta) -> None:
    meta("export", "--part", "a")
    request = (meta.path / "judge_meta_request.a.md").read_text()

    assert "judge-1" not in request
    assert "E1 is right" not in request


# --- later decisions, languages, the shipped bundle ----------------------------------------


def test_a_persons_decision_is_not_the_judges_merit(meta: Meta, folder: BundleFolder) -> None:
    folder.report({"Q1": 4, "Q2": 5, "Q3": 4, "Q4": 4})
    decision = {**verdict("E1", None), "decision": "flag:red", "date": "2026-12-01T09:00:00Z"}
    del decision["flag"]
    folder.write_lines(
        "reviews.jsonl", {**decision, "author": {"id": "Ada", "kind": "human"}, "reason": "Bad."}
    )
    meta("export")
    path = meta.fill()
    path.write_text(path.read_text().replace("knock_out: null", "knock_out: true"))

    assert meta("ingest").code == 0
    assert meta.quality["knock_out"]["missed"] == [["alpha", "default"]]


def test_german_suites_give_german_requests_and_results(meta: Meta, folder: BundleFolder) -> None:
    suite = (folder.path / "suite.yaml").read_text()
    folder.write("suite.yaml", suite.replace("language: en", "language: de"))
    meta("export")
    meta.fill()

    assert meta("ingest").code == 0
    assert "## Teil A: deine eigene" in (meta.path / "judge_meta_request.md").read_text()
    assert "# Das Formular ist YAML." in meta.form().read_text()
    assert "## In einfachen Worten" in (meta.path / "judge_quality.md").read_text()


def test_json_on_stdout_is_the_file(meta: Meta) -> None:
    meta("export")
    meta.fill()

    assert meta("ingest", "--json").json == meta.quality


def test_a_model_without_answers_is_not_asked_about(meta: Meta, folder: BundleFolder) -> None:
    manifest = (folder.path / "bundle.yaml").read_text()
    folder.write("bundle.yaml", manifest.replace("judges:", "  - {model: beta}\njudges:"))
    folder.write_lines("answers.jsonl", answer("E1"))
    meta("export")

    assert "beta" not in meta.form().read_text()


def test_the_shipped_bundle_goes_round(touchstone: Run, tmp_path: Path) -> None:
    path = tmp_path / SHIPPED.name
    shutil.copytree(SHIPPED, path, ignore=shutil.ignore_patterns("judge_meta*", "judge_quality*"))
    meta = Meta(path, touchstone)
    sealed = {name: content for name, content in meta.files().items() if "jsonl" in name}
    meta("export", "--part", "a")
    meta.fill("a", score=2)

    assert meta("ingest").code == 0
    assert (meta.quality["n"], meta.quality["models"]) == (21, 3)
    assert meta.quality["evidence"]["dangling"] == 0
    assert meta.quality["evidence"]["fidelity"] > 0.9
    assert meta.files().items() >= sealed.items()
    assert touchstone("verify", path).code == 0
