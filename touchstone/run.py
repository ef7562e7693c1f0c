"""Asks models the prompts of a suite and yields one Answer for each, whatever happens."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime

from touchstone.endpoints import ChatReply, ChatRequest, Endpoint
from touchstone.errors import EndpointError
from touchstone.models import Answer, AnswerError, Message, ModelEntry, Prompt, Suite
from touchstone.streaming import stream, work_off

AnswerKey = tuple[str, str, str]
FindAnswer = Callable[[AnswerKey], Answer | None]
Chain = tuple[Prompt, ...]


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
    chains: tuple[Chain, ...]

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


def open_chains(
    suite: Suite,
    entry: ModelEntry,
    find_answer: FindAnswer,
    prompt_ids: Iterable[str] | None = None,
) -> tuple[Chain, ...]:
    """Return what is left to ask a model; ``prompt_ids`` narrows it (predecessors are added)."""
    wanted = None if prompt_ids is None else _with_predecessors(suite, prompt_ids)
    chains = (
        tuple(
            prompt
            for prompt in chain
            if (wanted is None or prompt.id in wanted)
            and needs_asking(find_answer((*entry.pair, prompt.id)))
        )
        for chain in _chains(suite)
    )
    return tuple(chain for chain in chains if chain)


def plan_run(
    suite: Suite,
    targets: Iterable[Target],
    find_answer: FindAnswer,
    prompt_ids: Iterable[str] | None = None,
) -> list[Plan]:
    """Return what is left to do; ``prompt_ids`` narrows it (predecessors are added)."""
    ids = None if prompt_ids is None else tuple(prompt_ids)
    return [Plan(target, open_chains(suite, target.entry, find_answer, ids)) for target in targets]


def with_followers(suite: Suite, prompt_ids: Iterable[str]) -> tuple[str, ...]:
    """Return the prompts and all that continue a dialogue with them, in suite order.

    An answer to a later turn is worth nothing once an earlier one was given anew.
    """
    chosen = set(prompt_ids)
    for chain in _chains(suite):
        for prompt in chain:
            if prompt.follows in chosen:
                chosen.add(prompt.id)
    return tuple(prompt.id for prompt in suite.prompts if prompt.id in chosen)


async def run(
    suite: Suite,
    plans: Sequence[Plan],
    find_answer: FindAnswer,
    *,
    now: Callable[[], datetime],
) -> AsyncGenerator[Answer, None]:
    """Yield an Answer for every planned prompt as soon as it is there; failures are answers too.

    Servers work side by side; what one server offers is asked model by model, so that it need
    not swap models and ``concurrency`` is what it gets. ``find_answer`` gives earlier answers,
    which follow-up prompts build on. ``now`` returns the current UTC time. Close it
    (``contextlib.aclosing``) to stop early.
    """
    servers: dict[str | None, list[Plan]] = {}
    for plan in plans:
        servers.setdefault(plan.target.entry.endpoint, []).append(plan)

    async def produce(emit: Callable[[Answer], None]) -> None:
        def at_one(queue: Sequence[Plan]) -> Awaitable[None]:
            return work_off((_run_plan(suite, plan, find_answer, emit, now) for plan in queue), 1)

        await work_off((at_one(queue) for queue in servers.values()), len(servers))

    async with aclosing(stream(produce)) as answers:
        async for answer in answers:
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
    step = prompt
    while step.follows is not None:
        before = suite.prompt(step.follows)
        reply = reply_of((*entry.pair, step.follows))
        if before is None or reply is None or reply.is_empty:
            return None
        turns = [*before.turns(), Message(role="assistant", content=reply.text), *turns]
        system = system if system is not None else before.system
        step = before
    turns += prompt.turns()
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
    async def ask_chain(chain: Chain) -> None:
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
    empty = Answer(
        model=entry.model,
        variant=entry.variant,
        prompt_id=prompt.id,
        text="",
        started_at=f"{now():%Y-%m-%dT%H:%M:%SZ}",
    )
    messages = build_messages(suite, entry, prompt, reply_of)
    if messages is None:
        before = reply_of((*entry.pair, prompt.follows or ""))
        missing = AnswerError(
            type="predecessor",
            message=f"there is no answer to {prompt.follows}",
            retryable=needs_asking(before),
        )
        return empty.model_copy(update={"error": missing})
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
            retryable=_may_pass(failure),
        )
        return empty.model_copy(update={"error": error})
    return _filled(empty, reply)


def _filled(answer: Answer, reply: ChatReply) -> Answer:
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


def _may_pass(failure: EndpointError) -> bool:
    """Say whether this prompt may be answered later: the failure is not about what was asked.

    A wrong key, a wrong address or a dead embedded server is put right, and the run goes on.
    """
    not_the_prompt = failure.kind in {"auth", "bad_reply", "local"} or failure.status in {404, 405}
    return failure.retryable or not_the_prompt


def _seconds(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _chains(suite: Suite) -> list[Chain]:
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
            chains.append(tuple(chain))
    return chains


def _with_predecessors(suite: Suite, prompt_ids: Iterable[str]) -> set[str]:
    wanted: set[str] = set()
    for prompt_id in prompt_ids:
        step = suite.prompt(prompt_id)
        while step is not None and step.id not in wanted:
            wanted.add(step.id)
            step = suite.prompt(step.follows) if step.follows else None
    return wanted
