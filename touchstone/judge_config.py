"""How a judge works: its configuration, its fingerprint, and what fits its context. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from touchstone.judge_prompt import Item, JudgeTexts
from touchstone.models import Answer, JudgingMode, KoRule, Suite

BYTES_PER_TOKEN = 3
"""A cautious estimate: English has about 4.2 bytes a token, German about 3.3."""

CONTEXT_SHARE = 0.7
"""How much of the context window prompt and reply may fill; the rest is for estimate errors."""

_MOST_BYTES_PER_TOKEN = 10
_UNLIKELY = 1.6
_RUNS = re.compile(r"(.)\1{7,}", re.DOTALL)


MOST_ASKED_AGAIN = 2
"""How often a judge is asked again, unless it is to be less."""


@dataclass(frozen=True)
class JudgeConfig:
    """How a judge works; every part but ``concurrency`` is in its fingerprint.

    ``mode`` single shows all answers at once, map-reduce notes evidence answer by answer first.
    ``calls`` asks for one dimension at a time, or for all in one reply. ``order_seed`` shuffles
    the answers (None: suite order). ``max_tokens`` bounds one reply, ``asks_again`` says how often
    what is missing is asked for again.
    """

    mode: JudgingMode = "single"
    calls: Literal["per-dimension", "one"] = "per-dimension"
    order_seed: int | None = 0
    max_tokens: int = 1200
    asks_again: int = MOST_ASKED_AGAIN
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"temperature": 0})
    concurrency: int = 2

    def recorded(self) -> dict[str, Any]:
        """Return the parameters as bundle.yaml records them."""
        fewer = {"asks_again": self.asks_again} if self.asks_again != MOST_ASKED_AGAIN else {}
        return {
            **self.parameters,
            "max_tokens": self.max_tokens,
            "calls": self.calls,
            "order_seed": self.order_seed,
            **fewer,
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


def reply_room(context: int, max_tokens: int) -> int:
    """Return the tokens of a context window that are kept for the reply: a quarter at most."""
    return min(max_tokens, context // 4)


def prompt_room(context: int, max_tokens: int) -> float:
    """Return the tokens a prompt may have by a cautious estimate, in a context of ``context``."""
    return CONTEXT_SHARE * context - reply_room(context, max_tokens)


class TokenGauge:
    """How many tokens a server makes of a prompt, learned from what it counted before.

    Some servers cut a prompt that is too long and say nothing; their count gives them away.
    """

    def __init__(self) -> None:
        self._bytes_per_token: float | None = None

    def tokens(self, prompt: str) -> int:
        """Return an estimate of the tokens in a prompt, cautious until the server has counted."""
        return int(_weight(prompt) / max(BYTES_PER_TOKEN, self._bytes_per_token or 0)) + 1

    def was_cut(self, prompt: str, counted: int) -> bool:
        """Say whether a server that counted so few tokens can't have read the whole prompt.

        A count that is likely is learned from.
        """
        ratio = _weight(prompt) / max(counted, 1)
        known = self._bytes_per_token
        if ratio > (_MOST_BYTES_PER_TOKEN if known is None else _UNLIKELY * known):
            return True
        self._bytes_per_token = max(known or 0, ratio)
        return False


def _weight(prompt: str) -> int:
    """Return the bytes of a prompt; the same character over and over is one token or two."""
    return len(_RUNS.sub(lambda run: run[1] * 8, prompt).encode("utf-8", "surrogatepass"))


def fit_evidence(
    items: Sequence[Item], tokens: Callable[[Sequence[Item]], int], room: float
) -> list[Item]:
    """Return the items with as much noted evidence of each answer as fits into ``room`` tokens.

    The first pieces of evidence of an answer are its most telling ones; one of each is kept.
    """
    most = max((len(item.evidence or ()) for item in items), default=0)
    shown = list(items)
    for limit in range(most, 0, -1):
        shown = [
            replace(item, evidence=None if item.evidence is None else item.evidence[:limit])
            for item in items
        ]
        if tokens(shown) <= room:
            break
    return shown


def shorten_red(
    items: Sequence[Item],
    tokens: Callable[[Sequence[Item]], int],
    room: float,
    rule: KoRule | None,
) -> list[Item]:
    """Return the items with as many red-flagged answers in full as fit into ``room`` tokens.

    Those outside the fatal scope lose their text first, long ones before short ones; flag,
    rationale and noted evidence stay.
    """
    shown = list(items)
    red = [at for at, item in enumerate(shown) if item.is_red]
    red.sort(
        key=lambda at: (
            rule is not None and rule.covers(shown[at].prompt),
            -len(shown[at].answer.text),
        )
    )
    for at in red:
        if tokens(shown) <= room:
            break
        shown[at] = replace(shown[at], brief=True)
    return shown


def choose_mode(
    suite: Suite, answers: Iterable[Answer], context: int | None, output: int
) -> JudgingMode:
    """Return ``single`` if all answers of every model fit the judge's context, else map-reduce.

    ``context`` and ``output`` (the longest reply) are in tokens.
    """
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
    fits = max(sizes.values(), default=0) + overhead <= prompt_room(context, output)
    return "single" if fits else "map-reduce"
