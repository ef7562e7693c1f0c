"""``touchstone judge`` with a real server as the judge: asked once, kept, resumed, refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from builders_judge import GREEN, kind_of_text, noted, scored
from builders_run import (
    command,
    files_of,
    finish,
    read_lines,
    wait_until,
)
from chat_server import Answer as Served
from chat_server import ChatServer, Seen, as_json, completion, refusal, serving
from conftest import BundleFolder, Outcome

from touchstone.bundle import Bundle

Run = Callable[..., Outcome]
QUESTIONS = {"verdict": 3, "Q1": 1, "Q2": 1, "Q3": 1, "Q4": 1}


class Court:
    """A bundle with three answers, and a server that judges them."""

    def __init__(self, folder: BundleFolder, touchstone: Run, path: Path) -> None:
        folder.answers("E1", "E2", "D1")
        self.folder = folder
        self.path = folder.path
        self.into = path / "second"
        self._touchstone = touchstone
        self.replies: dict[str, Served] = {}
        self.window: int | None = None
        self.server: ChatServer | None = None

    def __call__(self, seen: Seen) -> Served:
        if not seen.path.endswith("/chat/completions"):
            known = self.window is not None and seen.path.endswith("/models")
            listing = {"data": [{"id": "j", "max_model_len": self.window}]}
            return as_json(listing) if known else refusal(404, "nothing here")
        kind = kind_of_text(seen.body["messages"][1]["content"])
        default = {"verdict": GREEN, "evidence": noted()}.get(kind, scored(4))
        return self.replies.get(kind, completion(default))

    def judge(self, *args: object, name: str = "j", path: Path | None = None) -> Outcome:
        assert self.server is not None
        where = ["--base-url", self.server.url, "--max-retries", 0]
        return self._touchstone("judge", path or self.path, "--judge", name, *where, *args)

    @property
    def asked(self) -> dict[str, int]:
        """How often each kind of question was asked so far."""
        assert self.server is not None
        texts = (body["messages"][1]["content"] for body in self.server.bodies)
        return dict(Counter(kind_of_text(text) for text in texts))

    @property
    def bundle(self) -> Bundle:
        return Bundle.open(self.path)


@pytest.fixture
def court(folder: BundleFolder, touchstone: Run, tmp_path: Path) -> Iterator[Court]:
    court = Court(folder, touchstone, tmp_path)
    with serving(court) as server:
        court.server = server
        yield court


# --- judging -------------------------------------------------------------------------------


def test_a_judged_bundle_has_verdicts_a_report_raw_replies_and_a_seal(
    court: Court, touchstone: Run
) -> None:
    result = court.judge("--temperature", 0.2, "--seed", 3, "--parameter", "top_k=1")

    assert (result.code, result.out) == (0, "")
    bundle = court.bundle
    flags = {one.prompt_id: one.flag for one in bundle.verdicts}
    assert flags == dict.fromkeys(["E1", "E2", "D1"], "green")
    [report] = bundle.reports
    assert report.dim_scores == dict.fromkeys(["Q1", "Q2", "Q3", "Q4"], 4)
    judge = bundle.manifest.judge
    assert judge is not None
    assert (judge.id, judge.model, judge.kind, judge.via, judge.mode) == (
        *("j", "j", "ai"),
        *("endpoint", "single"),
    )
    assert judge.parameters == {"temperature": 0.2, "seed": 3, "top_k": 1, "max_tokens": 1200,
                                "calls": "per-dimension", "order_seed": 0}  # fmt: skip
    [raw] = bundle.raw_replies(report.pair, "E1")
    assert raw.read_bytes() == GREEN.encode()
    assert court.asked == QUESTIONS
    assert len(read_lines(court.path / "reports.jsonl")) == 1
    assert touchstone("verify", court.path).code == 0
    assert bundle.manifest.sealed is not None


def test_a_second_run_asks_nothing_and_changes_nothing(court: Court) -> None:
    court.judge()
    before = files_of(court.path)

    assert court.judge().code == 0

    assert court.asked == QUESTIONS
    assert files_of(court.path) == before


def test_what_is_unusable_is_said_kept_and_not_asked_for_a_third_time(court: Court) -> None:
    court.replies["Q2"] = completion("I'd say four or five")

    results = [court.judge(), court.judge()]

    assert [one.code for one in results] == [5, 5]
    assert "1 verdicts or scores are missing" in results[1].err
    assert court.asked == {**QUESTIONS, "Q2": 3}
    assert [path.read_text() for path in court.bundle.raw_replies(("alpha", "default"), "Q2")] == [
        "I'd say four or five"
    ] * 3


def test_an_honest_null_is_no_failure(court: Court) -> None:
    court.replies["Q2"] = completion(scored(None))

    assert court.judge().code == 0
    assert next(iter(court.bundle.reports)).dim_scores["Q2"] is None


def test_what_failed_in_passing_is_asked_again_and_the_report_rests_on_it(court: Court) -> None:
    court.replies["verdict"] = refusal(500, "out of memory")
    assert court.judge().code == 5
    assert {one.parse for one in court.bundle.verdicts} == {"error"}
    court.replies.clear()

    result = court.judge()

    assert result.code == 0
    assert "these reports are made anew: alpha (default)" in result.err
    assert court.asked == {kind: 2 * number for kind, number in QUESTIONS.items()}
    assert len(read_lines(court.path / "verdicts.jsonl")) == 3
    assert len(read_lines(court.path / "reports.jsonl")) == 1


def test_a_dimension_that_failed_is_asked_again_alone(court: Court) -> None:
    court.replies["Q3"] = refusal(503, "busy")
    assert court.judge().code == 5
    court.replies.clear()

    assert court.judge().code == 0

    assert court.asked == {**QUESTIONS, "Q3": 2}
    assert next(iter(court.bundle.reports)).dim_scores["Q3"] == 4


@pytest.mark.parametrize("stopped_at", ["verdict", "Q3"])
def test_a_killed_judge_goes_on_where_it_was(
    folder: BundleFolder, tmp_path: Path, touchstone: Run, stopped_at: str
) -> None:
    court = Court(folder, touchstone, tmp_path)
    slow = completion(GREEN if stopped_at == "verdict" else scored(4))
    court.replies[stopped_at] = Served(slow.chunks, pause_s=1.0)
    with serving(court) as court.server:
        where = ["--base-url", court.server.url, "--concurrency", 1]
        with command("judge", court.path, "--judge", "j", *where) as process:
            wait_until(lambda: court.asked.get(stopped_at, 0) == 1)
            process.kill()
            finish(process)
        before = court.asked
        court.replies.clear()

        assert court.judge().code == 0

        again = {kind: court.asked[kind] - QUESTIONS[kind] for kind in QUESTIONS}
    assert before[stopped_at] == 1
    assert {kind for kind, number in again.items() if number} == {stopped_at}
    assert again[stopped_at] == 1
    assert len(read_lines(court.path / "reports.jsonl")) == 1
    assert court.bundle.manifest.sealed is not None


def test_an_unreachable_judge_changes_nothing(court: Court) -> None:
    before = files_of(court.path)

    result = court.judge("--base-url", "http://127.0.0.1:9/v1")

    assert result.code == 1
    assert "can't be reached" in result.err
    assert files_of(court.path) == before


def test_one_call_asks_for_all_dimensions_at_once(court: Court) -> None:
    court.replies["dimensions"] = completion(
        "{" + ", ".join(f'"Q{n}": {scored(n)}' for n in (1, 2, 3, 4)) + "}"
    )

    assert court.judge("--one-call").code == 0

    assert court.asked == {"verdict": 3, "dimensions": 1}
    assert next(iter(court.bundle.reports)).dim_scores == {"Q1": 1, "Q2": 2, "Q3": 3, "Q4": 4}


def test_a_small_context_is_judged_by_evidence_and_stays_so(court: Court) -> None:
    court.window = 1024
    first = court.judge()
    court.window = 100_000
    court.folder.answers("E1", "E2", "D1")

    second = court.judge()

    assert "mode map-reduce, context 1024 tokens" in first.err
    assert "mode map-reduce, context 100000 tokens" in second.err
    assert "is another" not in second.err


# --- one judge a bundle --------------------------------------------------------------------


def test_the_address_is_no_part_of_who_judges(court: Court, touchstone: Run) -> None:
    court.judge()
    before = files_of(court.path)

    with serving(court) as other:
        result = touchstone("judge", court.path, "--judge", "j", "--base-url", f"{other.url}/v1")

    assert result.code == 0
    assert files_of(court.path) == before


@pytest.mark.parametrize(
    "other",
    [
        {"name": "k"},
        {"args": ["--temperature", "1"]},
        {"args": ["--one-call"]},
        {"args": ["--mode", "map-reduce"]},
        {"args": ["--order-seed", "5"]},
    ],
    ids=str,
)
def test_another_judge_is_refused_with_a_way_out(court: Court, other: dict[str, Any]) -> None:
    court.judge()
    before = files_of(court.path)

    result = court.judge(*other.get("args", []), name=other.get("name", "j"))

    assert result.code == 1
    assert "was judged by j (fingerprint" in result.err
    assert "--into NEW" in result.err
    assert "--redo" in result.err
    assert files_of(court.path) == before
    assert court.asked == QUESTIONS


def test_redo_forgets_the_first_judge(court: Court) -> None:
    court.judge()

    result = court.judge("--redo", name="k")

    assert result.code == 0
    assert "Forgetting 3 verdicts and 1 reports." in result.err
    judge = court.bundle.manifest.judge
    assert judge is not None
    assert judge.id == "k"
    assert {one.judge for one in court.bundle.verdicts} == {judge.fingerprint}
    assert len(court.bundle.manifest.judges) == 1


def test_into_judges_the_same_answers_elsewhere_and_copies_nothing_else(court: Court) -> None:
    court.judge()
    court.folder.write_lines("reviews.jsonl", {"model": "alpha"})
    before = files_of(court.path)

    assert court.judge("--into", court.into, name="k").code == 0
    assert court.judge("--into", court.into, name="k").code == 0

    assert files_of(court.path) == before
    copy = Bundle.open(court.into)
    assert copy.answers_sha256 == court.bundle.answers_sha256
    assert copy.manifest.judge is not None
    assert copy.manifest.judge.id == "k"
    assert "reviews.jsonl" not in files_of(court.into)
    assert court.asked == {kind: 2 * number for kind, number in QUESTIONS.items()}


def test_into_a_bundle_with_other_answers_is_refused(court: Court) -> None:
    court.judge("--into", court.into)
    court.folder.answers("E1")

    result = court.judge("--into", court.into)

    assert result.code == 1
    assert "holds other answers" in result.err


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        ([], 2, "Say how to judge"),
        (["--judge", "j", "--export"], 2, "Say how to judge"),
        (["--export", "--ingest"], 2, "Say how to judge"),
        (["--judge", ""], 2, "--judge must not be empty"),
        (["--judge", "local:"], 2, "--judge must not be empty"),
        (["--export", "form.yaml"], 2, "FILES are for --ingest"),
        (["--judge", "j", "--parameter", "model=x"], 2, "can't set model"),
        (["--ingest"], 1, "holds no response forms"),
    ],
)
def test_what_cant_be_meant_is_an_error(
    folder: BundleFolder, touchstone: Run, args: list[str], code: int, says: str
) -> None:
    folder.answers("E1")

    result = touchstone("judge", folder.path, *args)

    assert (result.code, says in result.err) == (code, True)


def test_a_bundle_without_answers_has_nothing_to_judge(
    folder: BundleFolder, touchstone: Run
) -> None:
    folder.write("answers.jsonl", "")

    result = touchstone("judge", folder.path, "--judge", "j", "--base-url", "http://127.0.0.1:9")

    assert result.code == 1
    assert "holds no answers to judge" in result.err
