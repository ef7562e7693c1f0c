"""Small suites and answers to check evidence against."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from touchstone.evidence import EvidenceChecker
from touchstone.models import Suite

Pair = tuple[str, str]
ALPHA, BETA, GAMMA = ("alpha", "default"), ("beta", "default"), ("gamma", "default")
SUITE: dict[str, Any] = {
    "format": 1,
    "id": "small",
    "title": "Small",
    "language": "en",
    "dimensions": [{"id": f"Q{number}", "name": f"D{number}", "weight": 1} for number in (1, 2, 3)],
}


def suite_of(*prompts: str | Mapping[str, Any]) -> Suite:
    """Return a suite with these prompts; a string is the id of one with a text of its own."""
    written = [
        {"id": one, "text": f"This is the task of {one}."} if isinstance(one, str) else one
        for one in prompts
    ]
    return Suite.model_validate({**SUITE, "prompts": written})


def checker_of(suite: Suite, answers: Mapping[Pair, Mapping[str, str]]) -> EvidenceChecker:
    """Return what checks evidence against these answers, by (model, variant) and prompt id."""
    return EvidenceChecker(
        suite, lambda pair, prompt_id: answers.get(pair, {}).get(prompt_id), list(answers)
    )
