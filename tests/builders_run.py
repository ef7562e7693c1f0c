"""Small suites, answers, endpoints and bundles for the tests of run, judge and exchange."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

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
