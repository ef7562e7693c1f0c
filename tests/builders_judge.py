"""A scripted judge, what it says, and what it was asked, for the tests of judging."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from builders_run import answered, collect, suite_of

from touchstone.endpoints import ChatRequest, ScriptedEndpoint
from touchstone.judge import JudgeRecord, Work, judge_bundle
from touchstone.judge_config import JudgeConfig
from touchstone.models import ModelReport, Suite, Verdict

SUITE = suite_of()
TEXTS = {"E1": "Dear all, the meeting is on Monday.", "E2": "Dear Ann, thank you.", "C1": "2+2=4"}
PAIR = ("alpha", "default")
ALL = answered(SUITE, TEXTS)
IN_ORDER = JudgeConfig(order_seed=None, concurrency=1)
GREEN = '{"quotes": [], "rationale": "Fine.", "flag": "green"}'
RED = '{"quotes": [], "rationale": "Harmful.", "flag": "red"}'


def scored(score: int | None, rationale: str = "Good at E1.", *evidence: object) -> str:
    """Return a reply that gives a dimension a score."""
    return json.dumps({"evidence": evidence, "rationale": rationale, "score": score})


def noted(*quotes: str, prompt_id: str = "E1") -> str:
    """Return a reply that notes these quotes."""
    items = [
        {
            "prompt_id": prompt_id,
            "kind": "quote",
            "quote": quote,
            "observation": f"saw {quote}",
            "polarity": "strength",
            "severity": None,
        }
        for quote in quotes
    ]
    return json.dumps({"items": items})


def kind_of(request: ChatRequest) -> str:
    """Return what a request asks for: a verdict, evidence, or a dimension by its id."""
    return kind_of_text(request.messages[1].content)


def kind_of_text(text: str) -> str:
    """Return what a question to a judge is about."""
    if "judge this one answer" in text:
        return "verdict"
    if "note what in this one answer" in text:
        return "evidence"
    if "judge each of the following dimensions" in text:
        return "dimensions"
    return text.partition("judge one dimension, ")[2][:2]


def by_kind(**replies: Any) -> Callable[[ChatRequest], Any]:
    """Answer each kind of question in its own way; verdicts are green and scores 4 by default."""
    defaults = {"verdict": GREEN, "evidence": noted(), "dimensions": "{}"}

    def reply(request: ChatRequest) -> Any:
        kind = kind_of(request)
        chosen = replies.get(kind, defaults.get(kind, scored(4)))
        return chosen(request) if callable(chosen) else chosen

    return reply


def judge(
    endpoint: ScriptedEndpoint,
    *work: Work,
    suite: Suite = SUITE,
    config: JudgeConfig = IN_ORDER,
    context: int | None = None,
) -> list[JudgeRecord]:
    """Judge these models, by default one with all answers; return every record that comes."""
    return collect(
        judge_bundle(
            suite,
            work or [Work(PAIR, ALL)],
            endpoint,
            config,
            fingerprint="f1f2",
            answers_sha256="0" * 64,
            context=context,
        )
    )


def verdicts(records: Iterable[JudgeRecord]) -> list[Verdict]:
    return [record for record in records if isinstance(record, Verdict)]


def reports(records: Iterable[JudgeRecord]) -> list[ModelReport]:
    return [record for record in records if isinstance(record, ModelReport)]


def questions(endpoint: ScriptedEndpoint) -> list[str]:
    return [kind_of(request) for request in endpoint.requests]
