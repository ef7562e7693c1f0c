"""How a judge works: its configuration, its fingerprint, and what fits its context. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from touchstone.judge_prompt import Item, JudgeTexts
from touchstone.models import Answer, JudgingMode, Suite

BYTES_PER_TOKEN = 3
"""A cautious estimate: English has about 4.2 bytes a token, German about 3.3."""

CONTEXT_SHARE = 0.7
"""How much of the context window prompt and reply may fill; the rest is for estimate errors."""


@dataclass(frozen=True)
class JudgeConfig:
    """How a judge works; every part but ``concurrency`` is in its fingerprint.

    ``mode`` single shows all answers at once, map-reduce notes evidence answer by answer first.
    ``calls`` asks for one dimension at a time, or for all in one reply. ``order_seed`` shuffles
    the answers (None: suite order). ``max_tokens`` bounds one reply.
    """

    mode: JudgingMode = "single"
    calls: Literal["per-dimension", "one"] = "per-dimension"
    order_seed: int | None = 0
    max_tokens: int = 1200
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"temperature": 0})
    concurrency: int = 2

    def recorded(self) -> dict[str, Any]:
        """Return the parameters as bundle.yaml records them."""
        return {
            **self.parameters,
            "max_tokens": self.max_tokens,
            "calls": self.calls,
            "order_seed": self.order_seed,
        }


def judge_fingerprint(
    *,
    model: str | None,
    weights_sha256: str | None,
    parameters: Mapping[str, Any],
    template_sha256: str,
    mode: str | None,
    kind: str,
    soul_sha256: str | None = None,
) -> str:
    """Return the judge's identity: 16 hex digits over all that can change its judgement.

    No URL is part of it: the port of an embedded server changes with every start.
    """
    parts = [model, weights_sha256, dict(parameters), template_sha256, soul_sha256]
    text = json.dumps([*parts, mode, kind], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def nonce_for(*parts: str) -> str:
    """Return a marker that no answer can contain: it depends on a hash of the answers.

    Derived, not drawn, so that the same request is byte for byte the same again.
    """
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def estimate_tokens(text: str) -> int:
    """Return a cautious estimate of the tokens in a text."""
    return len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN + 1


def choose_mode(
    suite: Suite, answers: Iterable[Answer], context: int | None, output: int
) -> JudgingMode:
    """Return ``single`` if all answers of every model fit the judge's context, else map-reduce."""
    if context is None:
        return "single"
    texts = JudgeTexts(suite, "0" * 16)
    sizes: dict[tuple[str, str], int] = {}
    for answer in answers:
        prompt = suite.prompt(answer.prompt_id)
        if prompt is not None:
            tokens = estimate_tokens(texts.material(Item(prompt, answer))) + 60
            sizes[answer.pair] = sizes.get(answer.pair, 0) + tokens
    overhead = estimate_tokens(texts.system()) + max(
        estimate_tokens(texts.dimension_task(dimension)) for dimension in suite.dimensions
    )
    fits = max(sizes.values(), default=0) + overhead <= CONTEXT_SHARE * context - output
    return "single" if fits else "map-reduce"
