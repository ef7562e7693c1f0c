"""Asks models the prompts of a suite and yields one Answer for each, whatever happens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from touchstone.endpoints import ChatRequest, Endpoint
from touchstone.errors import EndpointError
from touchstone.models import Answer, AnswerError, Message, ModelEntry, Prompt, Suite
from touchstone.streaming import stream, work_off

AnswerKey = tuple[str, str, str]
FindAnswer = Callable[[AnswerKey], Answer | None]


@dataclass(frozen=True)
class Target:
    """A (model, variant) and the endpoint that serves it; ``concurrency`` requests at once."""

    entry: ModelEntry
    endpoint: Endpoint
    concurrency: int = 2


@dataclass(frozen=True)
class Plan:
    """What a run has to do: per target, chains of prompts that must be asked in order."""

    target: Target
    chains: tuple[tuple[Prompt, ...], ...]

    @property
    def size(self) -> int:
        """How many answers this plan asks for."""
        return sum(len(chain) for chain in self.chains)


def needs_asking(answer: Answer | None) -> bool:
    """Say whether a prompt is (still) to be asked: never answered, or failed in passing."""
    return answer is None or (answer.error is not None and answer.error.retryable)


def expand_repeats(entries: Iterable[ModelEntry], repeat: int) -> list[ModelEntry]:
    """Return the entries with their repeats: epoch k > 1 is the variant ``<variant>#k``.

    A fixed ``seed`` moves on with the epoch, for a repeat with the same seed measures nothing.
    """
    expanded = []
    for entry in entries:
        for epoch in range(1, repeat + 1):
            parameters = dict(entry.parameters)
            if isinstance(parameters.get("seed"), int):
                parameters["seed"] += epoch - 1
            variant = entry.variant if epoch == 1 else f"{entry.variant}#{epoch}"
            update = {"variant": variant, "parameters": parameters}
            expanded.append(entry.model_copy(update=update))
    return expanded


def plan_run(
    suite: Suite,
    targets: Iterable[Target],
    find_answer: FindAnswer,
    prompt_ids: Iterable[str] | None = None,
) -> list[Plan]:
    """Return what is left to do; ``prompt_ids`` narrows it (predecessors are added)."""
    chains = _chains(suite)
    wanted = None if prompt_ids is None else _with_predecessors(suite, prompt_ids)
    plans = []
    for target in targets:
        left = []
        for chain in chains:
            open_prompts = tuple(
                prompt
                for prompt in chain
                if (wanted is None or prompt.id in wanted)
                and needs_asking(find_answer((*target.entry.pair, prompt.id)))
            )
            if open_prompts:
                left.append(open_prompts)
        plans.append(Plan(target, tuple(left)))
    return plans


async def run(
    suite: Suite,
    plans: Sequence[Plan],
    find_answer: FindAnswer,
    *,
    now: Callable[[], datetime],
) -> AsyncIterator[Answer]:
    """Yield an Answer for every planned prompt as soon as it is there; failures are answers too.

    ``find_answer`` gives earlier answers, which follow-up prompts build on. ``now`` returns the
    current UTC time.
    """

    async def produce(emit: Callable[[Answer], None]) -> None:
        async with asyncio.TaskGroup() as group:
            for plan in plans:
                group.create_task(_run_plan(suite, plan, find_answer, emit, now))

    async for answer in stream(produce):
        yield answer


def build_messages(
    suite: Suite, entry: ModelEntry, prompt: Prompt, reply_of: FindAnswer
) -> tuple[Message, ...] | None:
    """Return the messages sent for a prompt, or None if the answer it follows is missing.

    One system message at most: the variant's, a blank line, the prompt's (a follow-up without one
    keeps its predecessor's).
    """
    turns: list[Message] = []
    system = prompt.system
    own = list(prompt.turns())
    step = prompt
    while step.follows is not None:
        before = suite.prompt(step.follows)
        reply = reply_of((*entry.pair, step.follows))
        if before is None or reply is None or reply.is_empty:
            return None
        turns = [*before.turns(), Message(role="assistant", content=reply.text), *turns]
        system = system if system is not None else before.system
        step = before
    turns += own
    parts = [entry.system, system, *(turn.content for turn in turns if turn.role == "system")]
    text = "\n\n".join(part for part in parts if part)
    talk = [turn for turn in turns if turn.role != "system"]
    return (Message(role="system", content=text), *talk) if text else tuple(talk)


async def _run_plan(
    suite: Suite,
    plan: Plan,
    find_answer: FindAnswer,
    emit: Callable[[Answer], None],
    now: Callable[[], datetime],
) -> None:
    async def ask_chain(chain: Sequence[Prompt]) -> None:
        fresh: dict[AnswerKey, Answer] = {}
        for prompt in chain:
            answer = await _ask(
                suite, plan.target, prompt, lambda key: fresh.get(key) or find_answer(key), now
            )
            fresh[(*answer.pair, prompt.id)] = answer
            emit(answer)

    await work_off((ask_chain(chain) for chain in plan.chains), plan.target.concurrency)


async def _ask(
    suite: Suite,
    target: Target,
    prompt: Prompt,
    reply_of: FindAnswer,
    now: Callable[[], datetime],
) -> Answer:
    entry = target.entry
    answer = Answer(
        model=entry.model,
        variant=entry.variant,
        prompt_id=prompt.id,
        text="",
        started_at=f"{now():%Y-%m-%dT%H:%M:%SZ}",
    )
    messages = build_messages(suite, entry, prompt, reply_of)
    if messages is None:
        missing = AnswerError(
            type="predecessor", message=f"there is no answer to {prompt.follows}", retryable=True
        )
        return answer.model_copy(update={"error": missing})
    parameters = dict(entry.parameters)
    if prompt.max_tokens is not None:
        parameters["max_tokens"] = prompt.max_tokens
    try:
        reply = await target.endpoint.chat(ChatRequest(messages, parameters))
    except EndpointError as failure:
        error = AnswerError(
            type=failure.kind,
            message=failure.message,
            status=failure.status,
            retryable=failure.retryable,
        )
        return answer.model_copy(update={"error": error})
    return answer.model_copy(
        update={
            "text": reply.text,
            "reasoning": reply.reasoning,
            "finish_reason": reply.finish_reason,
            "usage": reply.usage,
            "ttft_s": _seconds(reply.ttft_s),
            "duration_s": _seconds(reply.duration_s),
            "started_at": reply.started_at,
            "attempts": reply.attempts,
            "response_model": reply.model,
        }
    )


def _seconds(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _chains(suite: Suite) -> list[list[Prompt]]:
    """Return the prompts as chains: a first turn and all that follow it, each after its own."""
    children: dict[str, list[Prompt]] = {}
    for prompt in suite.prompts:
        if prompt.follows is not None:
            children.setdefault(prompt.follows, []).append(prompt)
    chains = []
    for first in suite.prompts:
        if first.follows is None:
            chain, position = [first], 0
            while position < len(chain):
                chain += children.get(chain[position].id, [])
                position += 1
            chains.append(chain)
    return chains


def _with_predecessors(suite: Suite, prompt_ids: Iterable[str]) -> set[str]:
    wanted: set[str] = set()
    for prompt_id in prompt_ids:
        step = suite.prompt(prompt_id)
        while step is not None and step.id not in wanted:
            wanted.add(step.id)
            step = suite.prompt(step.follows) if step.follows else None
    return wanted
