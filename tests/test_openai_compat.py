"""The client speaks the chat protocol with a real HTTP server, in all of its dialects."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from chat_server import (
    DONE,
    HELLO,
    SCHEMA,
    Answer,
    Seen,
    as_json,
    ask,
    completion,
    delta,
    event,
    failure,
    question,
    refusal,
    serving,
    stream,
    using,
)

from touchstone.endpoints import (
    ChatReply,
    OpenAICompatEndpoint,
)
from touchstone.errors import EndpointError

# --- what is sent and what comes back -----------------------------------------------------------


def test_a_streamed_reply_is_measured_and_put_together() -> None:
    usage = event({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}})
    answer = stream(
        delta("", role="assistant"), delta("Hel"), delta("lo", "stop"), usage, DONE, pause_s=0.02
    )
    now = datetime(2026, 12, 1, 9, 0, 0, tzinfo=UTC)
    with serving(answer) as server:
        reply = ask(server, parts={"now": lambda: now})

    assert (reply.text, reply.finish_reason, reply.model) == ("Hello", "stop", "served")
    assert reply.usage is not None
    assert reply.usage.completion_tokens == 2
    assert reply.ttft_s is not None
    assert 0.02 <= reply.ttft_s < reply.duration_s
    assert (reply.attempts, reply.started_at) == (1, "2026-12-01T09:00:00Z")
    assert reply.raw == b"".join(answer.chunks).decode()


def test_the_request_carries_model_parameters_schema_and_key() -> None:
    with serving(HELLO) as server:
        reply = ask(
            server,
            question("Grüße", SCHEMA, temperature=0, seed=None),
            environ={"MY_KEY": " sk-verysecret\n"},
            api_key_env="MY_KEY",
            extra_body={"top_k": 1},
        )

    assert reply.structured
    assert server.seen[0].headers["Authorization"] == "Bearer sk-verysecret"
    assert server.bodies == [
        {
            "model": "asked",
            "messages": [{"role": "user", "content": "Grüße"}],
            "temperature": 0,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA},
            },
            "stream": True,
            "stream_options": {"include_usage": True},
            "top_k": 1,
        }
    ]


def test_without_a_key_no_authorization_is_sent() -> None:
    with serving(HELLO) as server:
        ask(server, api_key_env="MY_KEY", environ={})

    assert "Authorization" not in server.seen[0].headers


def test_a_plain_reply_to_a_streaming_request_is_taken() -> None:
    with serving(completion("Hello")) as server:
        reply = ask(server)

    assert (reply.text, reply.ttft_s, reply.finish_reason) == ("Hello", None, "stop")


def test_streaming_can_be_switched_off() -> None:
    with serving(completion("Hello")) as server:
        ask(server, stream=False)

    assert "stream" not in server.bodies[0]


@pytest.mark.parametrize("content_type", ["text/plain", "application/json", ""])
def test_events_are_known_even_under_another_content_type(content_type: str) -> None:
    answer = Answer([*HELLO.chunks], headers={"Content-Type": content_type})
    with serving(answer) as server:
        assert ask(server).text == "Hello"


def test_a_lone_surrogate_in_a_prompt_is_replaced_and_the_rest_sent() -> None:
    with serving(HELLO) as server:
        ask(server, question("a\ud800b \U0001f600"))

    assert server.bodies[0]["messages"][0]["content"] == "a\ufffdb \U0001f600"


@pytest.mark.parametrize("value", [float("nan"), {1, 2}])
def test_a_parameter_that_json_lacks_is_an_error_before_anything_is_sent(value: Any) -> None:
    with serving(HELLO) as server:
        error = failure(server, question(temperature=value))

    assert error.kind == "bad_request"
    assert server.seen == []


# --- parts of the protocol that servers refuse --------------------------------------------------


def picky(part: str, message: str, status: int = 400) -> Callable[[Seen], Answer]:
    """Refuse requests that have some part; otherwise say hello, streamed if asked to."""

    def script(seen: Seen) -> Answer:
        if part in seen.body:
            return refusal(status, message)
        return HELLO if seen.body.get("stream") else completion("Hello")

    return script


REFUSED_SCHEMA = "1 validation error: {'loc': ('body', 'response_format', 'type')}"


@pytest.mark.parametrize(
    ("part", "status", "message"),
    [
        ("response_format", 400, "'response_format' of type 'json_schema' is not supported"),
        ("response_format", 422, "structured outputs are not available"),
        ("response_format", 500, REFUSED_SCHEMA),
        ("stream", 400, "Streaming is not supported"),
        ("stream", 501, "no stream"),
        ("stream_options", 400, "unknown field stream_options"),
        ("max_tokens", 400, "'max_tokens' is not supported. Use 'max_completion_tokens' instead."),
    ],
)
def test_a_refused_part_is_left_out_and_remembered(part: str, status: int, message: str) -> None:
    async def twice(endpoint: OpenAICompatEndpoint) -> list[ChatReply]:
        return [await endpoint.chat(question(schema=SCHEMA, max_tokens=9)) for _ in range(2)]

    with serving(picky(part, message, status)) as server:
        replies = using(server, twice)

    assert [reply.text for reply in replies] == ["Hello", "Hello"]
    assert [part in body for body in server.bodies] == [True, False, False]
    assert [reply.attempts for reply in replies] == [1, 1]
    assert [r.structured for r in replies] == [part != "response_format"] * 2
    limits = [body.get("max_completion_tokens") for body in server.bodies[1:]]
    assert limits == ([9, 9] if part == "max_tokens" else [None, None])


def test_refusals_of_several_parts_add_up() -> None:
    def script(seen: Seen) -> Answer:
        for part in ("stream_options", "response_format", "stream"):
            if part in seen.body:
                return refusal(400, f"{part} is unknown")
        return completion("Hello")

    with serving(script) as server:
        reply = ask(server, question(schema=SCHEMA))

    assert (reply.text, reply.structured, len(server.seen)) == ("Hello", False, 4)


def test_an_error_that_merely_echoes_the_request_teaches_nothing() -> None:
    def script(seen: Seen) -> Answer:
        if seen.body["messages"][0]["content"] == "bad":
            return refusal(400, f"can't take {json.dumps(seen.body)}")
        return HELLO

    async def bad_then_good(endpoint: OpenAICompatEndpoint) -> ChatReply:
        with pytest.raises(EndpointError):
            await endpoint.chat(question("bad", SCHEMA))
        return await endpoint.chat(question("good", SCHEMA))

    with serving(script) as server:
        reply = using(server, bad_then_good)

    assert reply.structured
    assert server.bodies[-1]["stream"] is True


def test_a_refused_temperature_is_final() -> None:
    with serving(refusal(400, "Unsupported value: 'temperature' does not support 0")) as server:
        error = failure(server, question(schema=SCHEMA, temperature=0))

    assert (error.kind, error.retryable, len(server.seen)) == ("bad_request", False, 1)
    assert "'temperature' does not support 0" in str(error)


# --- what the server says about itself ----------------------------------------------------------


def paths(**replies: Any) -> Callable[[Seen], Answer]:
    """Answer by path (slashes written as underscores), everything else with 404."""
    known = {name.replace("_", "/"): reply for name, reply in replies.items()}
    return lambda seen: (
        as_json(known[seen.path]) if seen.path in known else refusal(404, "Not Found")
    )


async def facts(endpoint: OpenAICompatEndpoint) -> tuple[int | None, dict[str, Any]]:
    return await endpoint.context_window(), dict(await endpoint.describe())


LLAMA_PROPS = {"default_generation_settings": {"n_ctx": 2048}, "build_info": "b9999-abc"}
VLLM_LIST = {"data": [{"id": "asked", "owned_by": "vllm", "max_model_len": 4096}]}
OLLAMA_RUNNING = {"models": [{"name": "asked", "context_length": 4096}]}


@pytest.mark.parametrize(
    ("replies", "window", "engine"),
    [
        ({"_props": LLAMA_PROPS}, 2048, "llama.cpp b9999-abc"),
        ({"_v1_models": VLLM_LIST, "_version": {"version": "0.9"}}, 4096, "vLLM 0.9"),
        ({"_v1_models": VLLM_LIST}, 4096, "vLLM"),
        ({"_api_version": {"version": "0.12"}, "_api_ps": OLLAMA_RUNNING}, 4096, "Ollama 0.12"),
        ({}, None, None),
    ],
)
def test_engine_and_window_are_asked_where_servers_tell_them(
    replies: dict[str, Any], window: int | None, engine: str | None
) -> None:
    with serving(paths(**replies)) as server:
        found, described = using(server, facts)

    assert (found, described.get("engine")) == (window, engine)
    assert described.get("context_window") == window


def test_a_known_window_is_asked_for_once() -> None:
    with serving(paths(_props=LLAMA_PROPS)) as server:
        using(server, facts)

    assert [seen.path for seen in server.seen] == ["/props", "/v1/models"]


def test_the_list_of_models_is_read_and_its_refusal_raised() -> None:
    with serving(paths(_v1_models=VLLM_LIST)) as server:
        assert using(server, OpenAICompatEndpoint.available_models) == ("asked",)
    with serving(refusal(401, "who?")) as server, pytest.raises(EndpointError, match="who"):
        using(server, OpenAICompatEndpoint.available_models)
