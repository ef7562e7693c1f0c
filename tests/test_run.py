"""A run asks in the right order with the right words, and records whatever comes of it."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest
from builders_run import answer, collect, entry, failed, finder, last_turn, noon, suite_of

from touchstone.endpoints import ChatReply, ChatRequest, Endpoint, ScriptedEndpoint
from touchstone.errors import EndpointError, LocalModelError
from touchstone.models import Answer, Message, ModelEntry, Suite, Usage
from touchstone.run import (
    FindAnswer,
    Target,
    build_messages,
    expand_repeats,
    open_chains,
    plan_run,
    run,
    with_followers,
)

DIALOGUE = """\
  - {id: A1, text: Say hello.}
  - {id: D1, system: Be brief., text: "What is the plan?"}
  - {id: D2, follows: D1, text: "And then?"}
  - {id: D3, follows: D2, system: Be kind., text: Thanks.}
  - id: M1
    messages:
      - {role: system, content: You sell shoes.}
      - {role: user, content: Hi}
      - {role: assistant, content: "Hello, what size?"}
      - {role: user, content: "42"}
"""
SUITE = suite_of(DIALOGUE, ko_rule="{dimension: Q3, threshold: 2}")
NO_ANSWERS = finder()


def ask(
    suite: Suite,
    endpoint: Endpoint,
    *,
    model: ModelEntry | None = None,
    earlier: FindAnswer = NO_ANSWERS,
    prompt_ids: tuple[str, ...] | None = None,
    concurrency: int = 1,
) -> list[Answer]:
    """Run a suite against one endpoint and return the answers in the order they came."""
    target = Target(model or entry(), endpoint, concurrency)
    plans = plan_run(suite, [target], earlier, prompt_ids)
    return collect(run(suite, plans, earlier, now=noon))


def echo(request: ChatRequest) -> str:
    return f"re: {last_turn(request)}"


def spoken(messages: tuple[Message, ...] | None) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in messages or ()]


# --- what is sent --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt_id", "variant_system", "system"),
    [
        ("A1", None, None),
        ("A1", "Be exact.", "Be exact."),
        ("D1", None, "Be brief."),
        ("D1", "Be exact.", "Be exact.\n\nBe brief."),
        ("D2", "Be exact.", "Be exact.\n\nBe brief."),
        ("D3", "Be exact.", "Be exact.\n\nBe kind."),
        ("M1", None, "You sell shoes."),
        ("M1", "Be exact.", "Be exact.\n\nYou sell shoes."),
        ("A1", "", None),
    ],
)
def test_one_system_message_at_most_the_variants_then_the_prompts(
    prompt_id: str, variant_system: str | None, system: str | None
) -> None:
    prompt = SUITE.prompt(prompt_id)
    assert prompt is not None
    find = finder(answer("D1", "First A."), answer("D2", "Then B."))

    messages = build_messages(SUITE, entry(system=variant_system), prompt, find)

    systems = [content for role, content in spoken(messages) if role == "system"]
    assert systems == ([] if system is None else [system])
    assert not messages or messages[0].role == "system" or system is None


def test_a_follow_up_carries_the_whole_talk_with_the_models_own_replies() -> None:
    endpoint = ScriptedEndpoint("alpha", echo)

    ask(SUITE, endpoint, prompt_ids=("D3",))

    assert spoken(endpoint.requests[-1].messages) == [
        ("system", "Be kind."),
        ("user", "What is the plan?"),
        ("assistant", "re: What is the plan?"),
        ("user", "And then?"),
        ("assistant", "re: And then?"),
        ("user", "Thanks."),
    ]


def test_a_fixed_talk_is_one_request() -> None:
    endpoint = ScriptedEndpoint("alpha", echo)

    [only] = ask(SUITE, endpoint, prompt_ids=("M1",))

    assert only.text == "re: 42"
    assert [message.role for message in endpoint.requests[0].messages] == [
        *("system", "user", "assistant", "user")
    ]


def test_neither_expectation_nor_forbidden_is_ever_sent() -> None:
    endpoint = ScriptedEndpoint("alpha", echo)

    ask(suite_of(), endpoint)

    sent = "\n".join(m.content for request in endpoint.requests for m in request.messages)
    assert "Write a note." in sent
    assert "a short note" not in sent
    assert "gives the code away" not in sent


def test_a_prompts_own_limit_wins_over_the_variants() -> None:
    endpoint = ScriptedEndpoint("alpha", echo)

    ask(suite_of(), endpoint, model=entry(parameters={"max_tokens": 300, "temperature": 0}))

    limits = {last_turn(one): one.parameters["max_tokens"] for one in endpoint.requests}
    assert limits == {"Write a note.": 300, "Write a letter.": 50, "Add two numbers.": 300}
    assert all(one.parameters["temperature"] == 0 for one in endpoint.requests)


# --- order and how much at once ------------------------------------------------------------


def test_prompts_are_asked_in_suite_order_and_a_dialogue_in_its_own() -> None:
    endpoint = ScriptedEndpoint("alpha", echo)

    answers = ask(SUITE, endpoint)

    assert [one.prompt_id for one in answers] == ["A1", "D1", "D2", "D3", "M1"]


@pytest.mark.parametrize("concurrency", [1, 2, 4])
def test_no_more_requests_at_once_than_allowed(concurrency: int) -> None:
    running = most = 0

    async def reply(request: ChatRequest) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.002)
        running -= 1
        return "done"

    prompts = "".join(f"  - {{id: E{n}, text: Task {n}.}}\n" for n in range(9))
    answers = ask(suite_of(prompts), ScriptedEndpoint("alpha", reply), concurrency=concurrency)

    assert len(answers) == 9
    assert most == concurrency


def run_two(first: ModelEntry, second: ModelEntry) -> list[str]:
    """Run two models that take turns at the loop; return which answered when."""

    async def slow(request: ChatRequest) -> str:
        await asyncio.sleep(0.002)
        return "done"

    targets = [Target(one, ScriptedEndpoint(one.model, slow), 1) for one in (first, second)]
    suite = suite_of()
    plans = plan_run(suite, targets, finder())
    return [one.model for one in collect(run(suite, plans, finder(), now=noon))]


def test_the_models_of_one_server_are_asked_one_after_the_other() -> None:
    url = "http://127.0.0.1:11434/v1"

    models = run_two(entry("alpha", endpoint=url), entry("beta", endpoint=url))

    assert models == ["alpha"] * 3 + ["beta"] * 3


def test_different_servers_work_side_by_side() -> None:
    models = run_two(entry("alpha", endpoint="http://a/v1"), entry("beta", endpoint="http://b/v1"))

    assert set(models[:2]) == {"alpha", "beta"}


# --- failures are answers ------------------------------------------------------------------


def http_error(kind: str, status: int | None = None, *, retryable: bool = False) -> EndpointError:
    return EndpointError("it went wrong", kind=kind, status=status, retryable=retryable)


@pytest.mark.parametrize(
    ("error", "type_", "retryable"),
    [
        (http_error("timeout", retryable=True), "timeout", True),
        (http_error("rate_limit", 429, retryable=True), "rate_limit", True),
        (http_error("context_length", 400), "context_length", False),
        (http_error("bad_request", 400), "bad_request", False),
        (http_error("bad_request", 404), "bad_request", True),
        (http_error("auth", 401), "auth", True),
        (http_error("bad_reply"), "bad_reply", True),
        (LocalModelError("the server died"), "local", True),
    ],
)
def test_a_failed_request_is_recorded_and_the_run_goes_on(
    error: EndpointError, type_: str, retryable: bool
) -> None:
    def reply(request: ChatRequest) -> Any:
        return error if "letter" in last_turn(request) else "fine"

    answers = ask(suite_of(), ScriptedEndpoint("alpha", reply))

    assert [one.text for one in answers] == ["fine", "", "fine"]
    problem = answers[1].error
    assert problem is not None
    assert (problem.type, problem.retryable) == (type_, retryable)
    assert (problem.status, problem.message) == (error.status, error.message)
    assert answers[1].started_at == "2026-12-01T12:00:00Z"


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (EndpointError("slow", kind="timeout", retryable=True), True),
        (EndpointError("too long", kind="context_length"), False),
    ],
)
def test_what_follows_a_failed_turn_is_not_asked_and_says_so(
    error: EndpointError, again: bool
) -> None:
    endpoint = ScriptedEndpoint("alpha", lambda request: error)

    answers = ask(SUITE, endpoint, prompt_ids=("D3",))

    assert len(endpoint.requests) == 1
    follow_ups = [one.error for one in answers[1:]]
    assert [one and (one.type, one.message) for one in follow_ups] == [
        ("predecessor", "there is no answer to D1"),
        ("predecessor", "there is no answer to D2"),
    ]
    # A turn that can never be answered keeps its followers from being tried again, too.
    assert all(one is not None and one.retryable is again for one in follow_ups)


def test_an_empty_reply_has_no_follow_up() -> None:
    answers = ask(SUITE, ScriptedEndpoint("alpha", lambda request: "  "), prompt_ids=("D2",))

    assert [one.error and one.error.type for one in answers] == [None, "predecessor"]


def test_a_defect_surfaces_as_itself_after_the_answers_before_it() -> None:
    def reply(request: ChatRequest) -> str:
        if "letter" in last_turn(request):
            raise ZeroDivisionError
        return "fine"

    seen: list[str] = []
    note = seen.append

    async def read() -> None:
        plans = plan_run(suite_of(), [Target(entry(), ScriptedEndpoint("a", reply), 1)], finder())
        async for one in run(suite_of(), plans, finder(), now=noon):
            note(one.prompt_id)

    with pytest.raises(ZeroDivisionError):
        asyncio.run(read())
    assert seen == ["E1"]


def test_stopping_early_stops_asking() -> None:
    stopped: list[str] = []

    async def reply(request: ChatRequest) -> str:
        if "note" in last_turn(request):
            return "fine"
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append(last_turn(request))
        return "never"

    async def read() -> None:
        plans = plan_run(suite_of(), [Target(entry(), ScriptedEndpoint("a", reply), 2)], finder())
        async with aclosing(run(suite_of(), plans, finder(), now=noon)) as answers:
            async for _ in answers:
                await asyncio.sleep(0.01)
                break

    asyncio.run(read())

    assert sorted(stopped) == ["Add two numbers.", "Write a letter."]


def test_what_the_reply_tells_is_kept() -> None:
    reply = ChatReply(
        text="Hi",
        reasoning="hm",
        finish_reason="length",
        usage=Usage(prompt_tokens=3, completion_tokens=5),
        model="served-name",
        ttft_s=0.12345,
        duration_s=1.98765,
        attempts=2,
        started_at="2026-12-01T09:00:00Z",
    )

    [only] = ask(SUITE, ScriptedEndpoint("alpha", [reply]), prompt_ids=("A1",))

    assert only == answer(
        "A1",
        "Hi",
        reasoning="hm",
        finish_reason="length",
        usage=Usage(prompt_tokens=3, completion_tokens=5),
        ttft_s=0.123,
        duration_s=1.988,
        started_at="2026-12-01T09:00:00Z",
        attempts=2,
        response_model="served-name",
    )


# --- what is left to do --------------------------------------------------------------------


def left(find: FindAnswer, prompt_ids: tuple[str, ...] | None = None) -> list[list[str]]:
    chains = open_chains(SUITE, entry(), find, prompt_ids)
    return [[prompt.id for prompt in chain] for chain in chains]


@pytest.mark.parametrize(
    ("earlier", "expected"),
    [
        ([], [["A1"], ["D1", "D2", "D3"], ["M1"]]),
        ([answer("A1"), answer("D1")], [["D2", "D3"], ["M1"]]),
        ([failed("A1", retryable=True), answer("M1")], [["A1"], ["D1", "D2", "D3"]]),
        ([failed("A1", retryable=False), answer("M1")], [["D1", "D2", "D3"]]),
        ([answer("A1", ""), answer("M1")], [["D1", "D2", "D3"]]),
        ([answer("A1", model="beta")], [["A1"], ["D1", "D2", "D3"], ["M1"]]),
    ],
    ids=["nothing yet", "some", "failed in passing", "failed for good", "empty", "another model"],
)
def test_only_what_is_not_finished_is_asked(
    earlier: list[Answer], expected: list[list[str]]
) -> None:
    assert left(finder(*earlier)) == expected


@pytest.mark.parametrize(
    ("prompt_ids", "expected"),
    [
        (("M1",), [["M1"]]),
        (("D2",), [["D1", "D2"]]),
        (("D3", "A1"), [["A1"], ["D1", "D2", "D3"]]),
        ((), []),
    ],
)
def test_a_choice_of_prompts_brings_what_they_follow(
    prompt_ids: tuple[str, ...], expected: list[list[str]]
) -> None:
    assert left(NO_ANSWERS, prompt_ids) == expected


def test_a_resumed_dialogue_builds_on_the_reply_that_was_given_then() -> None:
    endpoint = ScriptedEndpoint("alpha", echo)

    ask(SUITE, endpoint, earlier=finder(answer("D1", "The old plan.")), prompt_ids=("D2",))

    assert ("assistant", "The old plan.") in spoken(endpoint.requests[0].messages)
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (["D1"], ("D1", "D2", "D3")),
        (["D2", "A1"], ("A1", "D2", "D3")),
        (["M1"], ("M1",)),
        ([], ()),
    ],
)
def test_answering_a_turn_anew_voids_the_turns_after_it(
    chosen: list[str], expected: tuple[str, ...]
) -> None:
    assert with_followers(SUITE, chosen) == expected


# --- repeats -------------------------------------------------------------------------------


def test_repeats_are_variants_and_move_the_seed() -> None:
    plain, seeded = entry("a"), entry("b", "warm", parameters={"seed": 7, "temperature": 1})

    expanded = expand_repeats([plain, seeded], 3)

    assert [one.variant for one in expanded] == [
        *("default", "default#2", "default#3"),
        *("warm", "warm#2", "warm#3"),
    ]
    assert [one.parameters for one in expanded[:3]] == [{}] * 3
    assert [one.parameters["seed"] for one in expanded[3:]] == [7, 8, 9]
    assert seeded.parameters["seed"] == 7


def test_one_repeat_is_the_model_itself() -> None:
    assert expand_repeats([entry()], 1) == [entry()]
