"""Small suites, answers, endpoints and bundles for the tests of run, judge and exchange."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from chat_server import Answer as Served
from chat_server import ChatServer, Script, Seen, refusal

from touchstone.endpoints import ChatRequest
from touchstone.models import Answer, AnswerError, ModelEntry, Prompt, Suite
from touchstone.run import FindAnswer
from touchstone.suite import parse_suite

T = TypeVar("T")

HEAD = """\
format: 1
id: tiny
title: {de: Winzig, en: Tiny}
language: en
dimensions:
  - {id: Q1, name: {de: Korrektheit, en: Correctness}, weight: 3,
     description: What is said is right., levels: {1: all wrong, 5: all right}}
  - {id: Q2, name: {de: Ton, en: Tone}, weight: 2}
  - {id: Q3, name: {de: Sicherheit, en: Safety}, weight: 1}
ko_rule: {dimension: Q3, threshold: 2, red_flag_scope: [E1]}
prompts:
"""
PROMPTS = """\
  - {id: E1, text: Write a note., expectation: a short note, forbidden: gives the code away}
  - {id: E2, text: Write a letter., max_tokens: 50}
  - {id: C1, text: Add two numbers.}
"""


def suite_of(prompts: str = PROMPTS, head: str = HEAD, **replaced: str) -> Suite:
    """Return the suite in these YAML parts; ``replaced`` gives other values to top-level lines."""
    return parse_suite(suite_yaml(prompts, head, **replaced).encode(), "tiny.yaml").suite


def suite_yaml(prompts: str = PROMPTS, head: str = HEAD, **replaced: str) -> str:
    """Return the text of a suite."""
    for key, value in replaced.items():
        start = head.index(f"{key}:")
        end = head.index("\n", start)
        head = f"{head[:start]}{key}: {value}{head[end:]}"
    return head + prompts


def entry(model: str = "alpha", variant: str = "default", **more: Any) -> ModelEntry:
    return ModelEntry(model=model, variant=variant, **more)


def answer(prompt_id: str, text: str = "An answer.", model: str = "alpha", **more: Any) -> Answer:
    return Answer(model=model, variant="default", prompt_id=prompt_id, text=text, **more)


def failed(prompt_id: str, *, retryable: bool, kind: str = "timeout") -> Answer:
    error = AnswerError(type=kind, message="it failed", retryable=retryable)
    return answer(prompt_id, text="", error=error)


def finder(*answers: Answer) -> FindAnswer:
    """Return what finds these answers by (model, variant, prompt)."""
    return {(*one.pair, one.prompt_id): one for one in answers}.get


def answered(suite: Suite, texts: Mapping[str, str]) -> tuple[tuple[Prompt, Answer], ...]:
    """Return the prompts of a suite with these answers."""
    return tuple(
        (prompt, answer(prompt.id, texts[prompt.id]))
        for prompt in suite.prompts
        if prompt.id in texts
    )


def last_turn(request: ChatRequest) -> str:
    """Return what a request asks in its last message."""
    return request.messages[-1].content


def noon() -> datetime:
    return datetime(2026, 12, 1, 12, tzinfo=UTC)


def collect(records: AsyncIterator[T]) -> list[T]:
    """Return everything a stream yields."""

    async def read() -> list[T]:
        return [record async for record in records]

    return asyncio.run(read())


def files_of(folder: Path, *, without: Iterable[str] = ()) -> dict[str, bytes]:
    """Return the content of every file below a folder, by its path in it."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in without
    }


# --- the command line against a real server --------------------------------------------------

Reply = Callable[[str], Served]


def chat(reply: Reply) -> Script:
    """Return a server's script: chats are answered by ``reply``, there is nothing else."""

    def script(seen: Seen) -> Served:
        if seen.path.endswith("/chat/completions"):
            return reply(str(seen.body["messages"][-1]["content"]))
        return refusal(404, "there is nothing here")

    return script


def asked(server: ChatServer) -> list[str]:
    """Return what a server was asked, in order."""
    return [body["messages"][-1]["content"] for body in server.bodies]


def write_suite(folder: Path, prompts: str = PROMPTS, **replaced: str) -> Path:
    path = folder / "tiny.yaml"
    path.write_text(suite_yaml(prompts, **replaced), encoding="utf-8")
    return path


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the records of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def append_lines(path: Path, *records: Mapping[str, Any]) -> None:
    with path.open("a", encoding="utf-8") as stream:
        stream.writelines(json.dumps(record) + "\n" for record in records)


@contextmanager
def command(*args: object, **environ: str) -> Iterator[subprocess.Popen[str]]:
    """Start the command line as a process of its own; it is gone when the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", "touchstone", *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environ},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def finish(process: subprocess.Popen[str], seconds: float = 60.0) -> tuple[int, str]:
    """Wait for a process; return its exit code and what it said to people."""
    _, err = process.communicate(timeout=seconds)
    return process.returncode, err


def wait_until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)
