"""Real processes: stopped, killed, resumed; and the whole chain on a real llama.cpp server."""

from __future__ import annotations

import importlib.util
import json
import os
import pty
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from builders_run import (
    asked,
    chat,
    command,
    files_of,
    finish,
    read_lines,
    wait_until,
    write_suite,
)
from chat_server import Answer as Served
from chat_server import ChatServer, completion, refusal, serving
from process_state import is_running

from touchstone.bundle import Bundle
from touchstone.bundle_check import check_bundle

TASKS = [f"Task {number}." for number in range(8)]
PROMPTS = "".join(f"  - {{id: E{n}, text: {task}}}\n" for n, task in enumerate(TASKS))


class SlowServer:
    """Answers the first requests at once and the others only when it is let go."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._lock = threading.Lock()
        self.let_go = threading.Event()

    def __call__(self, text: str) -> Served:
        with self._lock:
            self._at_once -= 1
            blocked = self._at_once < 0
        if blocked:
            self.let_go.wait(60)
        return completion(f"re: {text}")


@contextmanager
def blocked_after(answers: int) -> Iterator[tuple[ChatServer, SlowServer]]:
    slow = SlowServer(answers)
    with serving(chat(slow)) as server:
        try:
            yield server, slow
        finally:
            slow.let_go.set()


def run_arguments(folder: Path, server: ChatServer) -> list[object]:
    suite = write_suite(folder, PROMPTS)
    where = ["--base-url", server.url, "-o", folder / "out", "--max-retries", 0]
    return ["run", suite, "--model", "alpha", *where]


def count_lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def is_complete(folder: Path) -> None:
    """Check that every prompt has one answer, in a bundle that is sealed and in order."""
    records = read_lines(folder / "out" / "answers.jsonl")
    assert Counter(one["prompt_id"] for one in records) == {f"E{n}": 1 for n in range(8)}
    assert all(one["error"] is None for one in records)
    assert check_bundle(folder / "out").problems == ()
    assert Bundle.open(folder / "out").manifest.sealed is not None


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "kill -9"])
def test_a_run_that_was_cut_off_goes_on_without_asking_anything_twice(
    tmp_path: Path, how: signal.Signals
) -> None:
    answers = tmp_path / "out" / "answers.jsonl"
    with blocked_after(3) as (server, slow):
        args = run_arguments(tmp_path, server)
        with command(*args) as process:
            wait_until(lambda: count_lines(answers) == 3 and len(server.bodies) == 5)
            process.send_signal(how)
            code, err = finish(process)
        before = answers.read_bytes()
        finished = [one["prompt_id"] for one in read_lines(answers)]
        assert Bundle.open(tmp_path / "out").manifest.sealed is None
        slow.let_go.set()

        with command(*args) as process:
            assert finish(process)[0] == 0

        times = Counter(asked(server))
    if how is signal.SIGINT:
        assert code == 130
        assert "the same command goes on" in err
        assert "Traceback" not in err
    is_complete(tmp_path)
    assert answers.read_bytes().startswith(before)
    assert len(finished) == 3
    assert all(times[TASKS[int(prompt_id[1:])]] == 1 for prompt_id in finished)
    # Only what was on its way when the process went is asked a second time.
    assert sum(times.values()) == len(TASKS) + 2


def test_a_line_cut_in_two_by_a_crash_is_named_dropped_and_asked_again(tmp_path: Path) -> None:
    answers = tmp_path / "out" / "answers.jsonl"
    with serving(chat(completion)) as server:
        args = run_arguments(tmp_path, server)
        with command(*args, "--limit", 3) as process:
            finish(process)
        whole = answers.read_bytes()
        answers.write_bytes(whole[:-20])

        with command(*args) as process:
            code, err = finish(process)

        times = Counter(asked(server))
    assert code == 0
    assert "A crash had cut off the last line of answers.jsonl" in err
    is_complete(tmp_path)
    assert sum(times.values()) == len(TASKS) + 1


def test_a_second_writer_is_refused_and_a_killed_one_frees_the_bundle(tmp_path: Path) -> None:
    with blocked_after(1) as (server, slow):
        args = run_arguments(tmp_path, server)
        with command(*args) as first:
            wait_until(lambda: count_lines(tmp_path / "out" / "answers.jsonl") == 1)
            for second in (args, ["judge", tmp_path / "out", "--judge", "j"]):
                with command(*second, TOUCHSTONE_BASE_URL=server.url) as process:
                    code, err = finish(process)
                assert code == 1
                assert "Another touchstone process is writing" in err
            first.kill()
            finish(first)
        slow.let_go.set()

        with command(*args) as process:
            assert finish(process)[0] == 0
    is_complete(tmp_path)


KEY, PASSWORD, TOKEN = "sk-5f2c9e77aa11", "pa55word-in-url", "t0ken-in-query"


@pytest.mark.parametrize(
    ("user_info", "sent"), [("", f"Bearer {KEY}"), (f"user:{PASSWORD}@", "Basic dXNlcjpw")]
)
def test_no_key_and_no_user_info_is_ever_written(tmp_path: Path, user_info: str, sent: str) -> None:
    def tell_tale(text: str) -> Served:
        if text == TASKS[0]:
            return refusal(400, f"bad key {KEY}, bad password {PASSWORD}, bad {TOKEN}")
        return completion(f"You sent {KEY} and {PASSWORD} and {TOKEN}.")

    with serving(chat(tell_tale)) as server:
        url = f"http://{user_info}127.0.0.1:{server.port}/v1?api_key={TOKEN}"
        suite, out = write_suite(tmp_path, PROMPTS), tmp_path / "out"
        via = ["--base-url", url, "--api-key-env", "MY_KEY", "--max-retries", 0]
        with command("run", suite, "--model", "alpha", "-o", out, *via, MY_KEY=KEY) as process:
            code, said = finish(process)
        with command("judge", out, "--judge", "j", *via, MY_KEY=KEY) as process:
            said += finish(process)[1]
        headers = {seen.headers.get("Authorization", "") for seen in server.seen}
    assert code == 5
    assert all(header.startswith(sent) for header in headers)
    written = b"".join(files_of(out).values()) + said.encode()
    secrets = [KEY, TOKEN, *([PASSWORD] if user_info else [])]
    assert not [secret for secret in secrets if secret.encode() in written]
    [entry] = Bundle.open(out).manifest.models
    assert entry.endpoint == f"http://127.0.0.1:{server.port}/v1"


def test_progress_is_drawn_on_a_terminal_and_nowhere_else(tmp_path: Path) -> None:
    with serving(chat(completion)) as server:
        args = run_arguments(tmp_path, server)
        screen, terminal = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "touchstone", *map(str, args), "--limit", "2"],
            stderr=terminal,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "TERM": "xterm-256color"},
        )
        os.close(terminal)
        drawn = b"".join(_read_all(screen))
        assert process.wait(60) == 0
        with command(*args) as quiet:
            _, err = finish(quiet)
    assert b"alpha default" in drawn
    assert b"2/2" in drawn
    assert "\x1b" not in err
    assert "alpha default" not in err


def _read_all(screen: int) -> Iterator[bytes]:
    try:
        while piece := os.read(screen, 4096):
            yield piece
    except OSError:
        pass  # the process has closed the terminal
    finally:
        os.close(screen)


# --- the whole chain on a real model -------------------------------------------------------

needs_local_model = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None,
    reason="xllamacpp is not installed: pip install 'touchstone[local]'",
)


def children_of(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in path.read_text().split()] if path.exists() else []


def run_kill_and_resume(bundle: Path) -> None:
    answers = bundle / "answers.jsonl"
    model = ["--model", "local:smollm2-135m", "--temperature", 0, "--max-tokens", 40]
    run = ["run", "demo-en", *model, "--limit", 2, "-o", bundle]
    with command(*run) as process:
        wait_until(lambda: count_lines(answers) == 1, seconds=120)
        [server] = children_of(process.pid) or [process.pid]
        process.kill()
        finish(process)
    wait_until(lambda: not is_running(server))
    before = answers.read_bytes()
    with command(*run) as process:
        assert finish(process, seconds=300)[0] == 0
    assert answers.read_bytes().startswith(before[: before.rindex(b"\n") + 1])
    assert [one["prompt_id"] for one in read_lines(answers)] == ["A1", "B1"]


@pytest.mark.local_model
@needs_local_model
def test_run_kill_resume_judge_and_score_on_a_real_llama_cpp_server(tmp_path: Path) -> None:
    bundle = tmp_path / "demo"
    run_kill_and_resume(bundle)

    judge = ["--judge", "local:smollm2-135m", "--max-tokens", 64, "--one-call"]
    with command("judge", bundle, *judge) as process:
        code, err = finish(process, seconds=300)
    # So small a judge, so short a reply: what is unusable is missing, and says so.
    assert code in (0, 5), err
    judged = Bundle.open(bundle)
    assert [one.prompt_id for one in judged.verdicts] == ["A1", "B1"]
    [report] = judged.reports
    assert set(report.dim_scores) == {"Q1", "Q2", "Q3", "Q4"}
    assert {issue.dimension for issue in report.parse_issues} == {
        dimension for dimension, score in report.dim_scores.items() if score is None
    }
    assert all(judged.raw_replies(report.pair, key) for key in ("A1", "B1", "dimensions"))
    assert judged.manifest.judge is not None
    assert judged.manifest.judge.weights is not None

    score = [sys.executable, "-m", "touchstone", "score", str(bundle), "--json"]
    shown = json.loads(subprocess.run(score, capture_output=True, check=True).stdout)
    assert shown["judge"] == judged.manifest.judge.fingerprint
    assert shown["rows"][0]["dim_scores"] == report.dim_scores
    assert judged.manifest.sealed is not None
    assert check_bundle(bundle).problems == ()
