"""The shipped fake endpoint: it answers from a script and remembers what it was asked."""

from __future__ import annotations

import asyncio

import pytest

from touchstone.endpoints import ChatReply, ChatRequest, Endpoint, ScriptedEndpoint
from touchstone.endpoints.scripted import Scripted
from touchstone.errors import EndpointError
from touchstone.models import Message, Usage


def ask(text: str, **options: object) -> ChatRequest:
    return ChatRequest((Message(role="user", content=text),), options)


async def all_of(endpoint: Endpoint, *requests: ChatRequest) -> list[ChatReply]:
    return [await endpoint.chat(request) for request in requests]


def test_answers_in_order_and_remembers_the_requests() -> None:
    endpoint = ScriptedEndpoint("fake", ["one", "two"])
    first, second = ask("a", temperature=0), ask("b")

    replies = asyncio.run(all_of(endpoint, first, second))

    assert [reply.text for reply in replies] == ["one", "two"]
    assert endpoint.requests == [first, second]
    assert replies[0].finish_reason == "stop"
    assert replies[0].model == "fake"


def test_a_whole_reply_comes_back_as_it_is() -> None:
    reply = ChatReply(text="…", finish_reason="length", usage=Usage(prompt_tokens=3), ttft_s=0.5)

    assert asyncio.run(all_of(ScriptedEndpoint("fake", [reply]), ask("a"))) == [reply]


def test_an_error_in_the_script_is_raised() -> None:
    error = EndpointError("too long", kind="context_length", status=400)
    endpoint = ScriptedEndpoint("fake", [error])

    with pytest.raises(EndpointError) as raised:
        asyncio.run(endpoint.chat(ask("a")))

    assert raised.value is error


def test_a_used_up_script_says_which_request_has_no_reply() -> None:
    endpoint = ScriptedEndpoint("fake", ["only one"])

    with pytest.raises(EndpointError, match=r"fake has no reply for request 2") as raised:
        asyncio.run(all_of(endpoint, ask("a"), ask("b")))

    assert raised.value.kind == "bad_reply"
    assert not raised.value.retryable


def test_a_callable_sees_the_request() -> None:
    endpoint = ScriptedEndpoint("fake", lambda request: request.messages[-1].content.upper())

    assert asyncio.run(endpoint.chat(ask("loud"))).text == "LOUD"


def test_an_async_callable_lets_requests_overlap() -> None:
    inside: list[int] = []
    running = 0

    async def slow(request: ChatRequest) -> Scripted:
        nonlocal running
        running += 1
        inside.append(running)
        await asyncio.sleep(0)
        running -= 1
        return request.messages[0].content

    endpoint = ScriptedEndpoint("fake", slow)

    async def both() -> list[ChatReply]:
        return list(await asyncio.gather(endpoint.chat(ask("a")), endpoint.chat(ask("b"))))

    assert [reply.text for reply in asyncio.run(both())] == ["a", "b"]
    assert max(inside) == 2


@pytest.mark.parametrize(("schema", "structured"), [(None, False), ({"type": "object"}, True)])
def test_structured_says_whether_a_schema_was_asked_for(
    schema: dict[str, str] | None, structured: bool
) -> None:
    endpoint = ScriptedEndpoint("fake", ["{}"])
    request = ChatRequest((Message(role="user", content="a"),), {}, schema)

    assert asyncio.run(endpoint.chat(request)).structured is structured


def test_facts_and_window_are_those_it_was_made_with() -> None:
    endpoint = ScriptedEndpoint("fake", [], context=4096, facts={"weights": {"sha256": "ab"}})

    assert asyncio.run(endpoint.context_window()) == 4096
    assert asyncio.run(endpoint.describe()) == {"engine": "scripted", "weights": {"sha256": "ab"}}
    assert asyncio.run(ScriptedEndpoint("fake", []).context_window()) is None


def test_leaving_the_context_closes_it() -> None:
    endpoint = ScriptedEndpoint("fake", ["x"])

    async def use() -> str:
        async with endpoint as opened:
            assert not opened.closed
            return (await opened.chat(ask("a"))).text

    assert asyncio.run(use()) == "x"
    assert endpoint.closed


def test_equal_scripts_give_equal_replies() -> None:
    """No clock and no randomness: what is built on the fake can be compared byte for byte."""
    runs = [asyncio.run(ScriptedEndpoint("fake", ["x"]).chat(ask("a"))) for _ in range(2)]

    assert runs[0] == runs[1]
