"""The client against a real HTTP server that behaves in all the ways servers do."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import pytest

from chat_server import (
    DONE,
    HELLO,
    Answer,
    ChatServer,
    Seen,
    as_json,
    completion,
    delta,
    event,
    refusal,
    serving,
    stream,
)
from touchstone.endpoints import (
    ChatReply,
    ChatRequest,
    EndpointConfig,
    OpenAICompatEndpoint,
    RetryPolicy,
)
from touchstone.errors import EndpointError, UsageError
from touchstone.models import Message

QUICK = RetryPolicy(first=0.001, longest=0.002, jitter=0, loading=0.01, loading_for=0.2)
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
SAMPLES = Path(__file__).parents[1].parent / "shared" / "data" / "llm-samples"
T = TypeVar("T")


def question(text: str = "Hi", schema: dict[str, Any] | None = None, **extra: Any) -> ChatRequest:
    return ChatRequest((Message(role="user", content=text),), extra, schema)


def using(
    server: ChatServer | str,
    use: Callable[[OpenAICompatEndpoint], Awaitable[T]],
    *,
    environ: dict[str, str] | None = None,
    retry: RetryPolicy = QUICK,
    parts: dict[str, Any] | None = None,
    **config: Any,
) -> T:
    """Run ``use`` with an endpoint for the server."""
    base_url = server if isinstance(server, str) else server.url

    async def run() -> T:
        settings = EndpointConfig(base_url, "asked", **config)
        async with OpenAICompatEndpoint(
            settings, environ=environ or {}, retry=retry, **(parts or {})
        ) as endpoint:
            return await use(endpoint)

    return asyncio.run(run())


def ask(server: ChatServer | str, request: ChatRequest | None = None, **options: Any) -> ChatReply:
    return using(server, lambda endpoint: endpoint.chat(request or question()), **options)


def failure(
    server: ChatServer | str, request: ChatRequest | None = None, **options: Any
) -> EndpointError:
    with pytest.raises(EndpointError) as raised:
        ask(server, request, **options)
    return raised.value


# --- what is sent and what comes back ------------------------------------------------------------


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


# --- parts of the protocol that servers refuse ----------------------------------------------------


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


# --- errors that pass --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "trouble",
    [
        refusal(500, "oops"),
        refusal(429, "slow down"),
        Answer(
            [b"<html><title>502 Bad Gateway</title></html>"], 502, {"Content-Type": "text/html"}
        ),
        stream(delta("Hel"), end="close"),
        stream(delta("Hel")),
        stream(),
        stream(delta("Hel"), event({"error": {"message": "worker died", "code": 500}})),
        Answer([b'{"choices": [{"message": {"cont'], end="close"),
        Answer([b'{"choices": [{"message": {"cont']),
        as_json({"error": {"message": "upstream overloaded", "code": 503}}),
        Answer(end="reset"),
    ],
    ids=lambda answer: f"{answer.status}-{answer.end}-{len(answer.chunks)}",
)
def test_what_may_pass_is_tried_again(trouble: Answer) -> None:
    told: list[EndpointError] = []
    with serving([trouble, trouble, HELLO]) as server:
        reply = ask(server, parts={"on_retry": lambda error, wait: told.append(error)})

    assert (reply.text, reply.attempts, len(server.seen)) == ("Hello", 3, 3)
    assert [error.retryable for error in told] == [True, True]


def test_after_the_last_attempt_the_error_is_raised_and_still_retryable() -> None:
    with serving(stream(delta("Hel"), end="close")) as server:
        error = failure(server, max_retries=2)

    assert len(server.seen) == 3
    assert error.retryable
    assert "Hel" not in str(error)


def test_a_connection_that_breaks_after_the_end_of_the_answer_does_no_harm() -> None:
    with serving(stream(delta("Hello", "stop"), end="close")) as server:
        assert (ask(server).text, len(server.seen)) == ("Hello", 1)


def test_nobody_listening_is_said_with_the_address() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    error = failure(f"http://user:hunter22@127.0.0.1:{port}/v1?token=hunter22", max_retries=1)

    assert (error.kind, error.retryable) == ("connection", True)
    assert f"http://127.0.0.1:{port}/v1 can't be reached" in str(error)
    assert "hunter22" not in f"{error} {error!r}"
    assert "Is the server running" in error.hint


def test_silence_is_a_timeout() -> None:
    with serving(stream(delta("Hel"), delta("lo", "stop"), pause_s=0.5)) as server:
        error = failure(server, timeout_s=0.1, max_retries=0)

    assert (error.kind, error.retryable) == ("timeout", True)
    assert "silent for 0.1 s" in str(error)


def test_a_reply_that_never_ends_is_a_timeout() -> None:
    with serving(stream(*[delta("la ")] * 500, pause_s=0.01)) as server:
        error = failure(server, timeout_s=0.05, max_retries=0)

    assert (error.kind, "come to an end" in str(error)) == ("timeout", True)


def test_a_reply_without_measure_is_not_kept_in_memory() -> None:
    with serving(stream(*[b"data: " + b"x" * 2**20] * 65)) as server:
        error = failure(server)

    assert (error.kind, error.retryable, "64 MiB" in str(error)) == ("bad_reply", False, True)


def test_a_loading_model_is_waited_for_without_counting_attempts() -> None:
    loading = refusal(503, "Loading model")
    with serving([loading] * 4 + [HELLO]) as server:
        reply = ask(server, max_retries=1)

    assert (reply.text, reply.attempts, len(server.seen)) == ("Hello", 1, 5)


def test_a_model_that_never_loads_is_given_up() -> None:
    started = time.monotonic()
    with serving(refusal(503, "Loading model")) as server:
        error = failure(server)

    assert (error.status, error.retryable) == (503, True)
    assert 0.2 <= time.monotonic() - started < 2


# --- waiting as long as the server asks ------------------------------------------------------------


def waits(server: ChatServer, **options: Any) -> list[float]:
    """Return how long the client slept, on a clock that sleeping alone moves."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    now = datetime(2026, 12, 1, 9, 0, 0, tzinfo=UTC)
    parts = {"sleep": sleep, "now": lambda: now, "clock": lambda: sum(slept)}
    ask(server, parts=parts, **options)
    return slept


@pytest.mark.parametrize(
    ("value", "seconds"), [("7", 7.0), ("Tue, 01 Dec 2026 09:00:30 GMT", 30.0)]
)
def test_retry_after_is_honoured(value: str, seconds: float) -> None:
    with serving([refusal(429, "slow down", **{"Retry-After": value}), HELLO]) as server:
        assert waits(server) == [seconds]


def test_waits_grow_and_stay_bounded() -> None:
    policy = RetryPolicy(first=1, longest=5, jitter=0)
    with serving([refusal(500, "oops")] * 5 + [HELLO]) as server:
        assert waits(server, retry=policy, max_retries=5) == [1, 2, 4, 5, 5]


def test_a_wait_that_is_too_long_ends_the_attempts_and_is_named() -> None:
    with serving(refusal(429, "slow down", **{"Retry-After": "3600"})) as server:
        error = failure(server)

    assert (error.kind, error.retryable, error.retry_after) == ("rate_limit", True, 3600)
    assert "asks to wait 3600 s" in str(error)
    assert len(server.seen) == 1


def test_a_used_up_quota_is_not_asked_again_at_once() -> None:
    answer = as_json({"error": {"message": "No credit", "code": "insufficient_quota"}}, 429)
    with serving(answer) as server:
        error = failure(server)

    assert (error.retryable, len(server.seen)) == (True, 1)


def test_requests_per_minute_are_spaced_evenly() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def four(endpoint: OpenAICompatEndpoint) -> None:
        for _ in range(4):
            await endpoint.chat(question())

    with serving(HELLO) as server:
        using(server, four, rpm=30, parts={"sleep": sleep, "clock": lambda: sum(slept)})

    assert slept == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("concurrency", [1, 3])
def test_no_more_requests_run_at_once_than_allowed(concurrency: int) -> None:
    async def nine(endpoint: OpenAICompatEndpoint) -> None:
        await asyncio.gather(*(endpoint.chat(question()) for _ in range(9)))

    with serving(stream(delta("Hello", "stop"), DONE, pause_s=0.02)) as server:
        using(server, nine, concurrency=concurrency)

    assert server.busiest == concurrency
    assert len(server.seen) == 9


def test_a_cancelled_request_frees_its_place() -> None:
    async def cancel_then_ask(endpoint: OpenAICompatEndpoint) -> str:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await endpoint.chat(question("slow"))
        return (await endpoint.chat(question("quick"))).text

    def script(seen: Seen) -> Answer:
        slow = seen.body["messages"][0]["content"] == "slow"
        return stream(delta("x"), pause_s=0.3) if slow else HELLO

    with serving(script) as server:
        assert using(server, cancel_then_ask, concurrency=1) == "Hello"


# --- errors that stay ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "kind", "hint"),
    [
        (refusal(400, "exceeds the available context size (4096 tokens)"), "context_length", ""),
        (refusal(403, "not for you"), "auth", "MY_KEY"),
        (refusal(404, "model 'asked' not found"), "bad_request", "model name 'asked'"),
        (refusal(405, "Method Not Allowed"), "bad_request", "base URL http://127.0.0.1"),
        (
            Answer([b"<!doctype html><title>Login</title>"], 200, {"Content-Type": "text/html"}),
            "bad_reply",
            "/v1",
        ),
        (as_json({"ok": True}), "bad_reply", "/v1"),
        (Answer([b"Welcome"], 200, {"Content-Type": "text/plain"}), "bad_reply", "/v1"),
    ],
    ids=lambda value: str(value.status) if isinstance(value, Answer) else value,
)
def test_what_will_not_pass_is_asked_once_and_explained(
    answer: Answer, kind: str, hint: str
) -> None:
    with serving(answer) as server:
        error = failure(server, api_key_env="MY_KEY")

    assert (error.kind, error.retryable, len(server.seen)) == (kind, False, 1)
    assert hint in error.hint


@pytest.mark.parametrize(
    ("environ", "says"),
    [
        ({}, "Set the environment variable MY_KEY"),
        ({"MY_KEY": "sk-verysecret"}, "environment variable MY_KEY was not accepted"),
    ],
)
def test_a_refused_key_is_named_by_its_variable_and_never_shown(
    environ: dict[str, str], says: str
) -> None:
    with serving(lambda seen: refusal(401, f"bad {seen.headers.get('Authorization')}")) as server:
        error = failure(server, api_key_env="MY_KEY", environ=environ)

    assert error.kind == "auth"
    assert says in str(error)
    assert "sk-verysecret" not in f"{error!r} {error}"


def test_a_key_that_the_server_echoes_is_stored_nowhere() -> None:
    with serving(lambda seen: completion(f"You are {seen.headers['Authorization']}")) as server:
        reply = ask(server, api_key_env="MY_KEY", environ={"MY_KEY": "sk-verysecret"})

    assert reply.text == "You are Bearer [key removed]"
    assert "verysecret" not in repr(reply)


def test_the_key_is_in_no_representation() -> None:
    config = EndpointConfig("http://u:hunter22@h/v1?key=hunter22", "m", api_key_env="K")
    endpoint = OpenAICompatEndpoint(config, environ={"K": "sk-verysecret"})

    assert "hunter22" not in f"{config!r} {endpoint!r}"
    assert "verysecret" not in f"{endpoint!r}"


def test_a_key_that_no_header_can_carry_is_refused_without_showing_it() -> None:
    with pytest.raises(UsageError, match="MY_KEY") as raised:
        ask("http://127.0.0.1:1", api_key_env="MY_KEY", environ={"MY_KEY": "a\nb geheim€"})

    assert "geheim" not in str(raised.value)


def test_a_redirect_is_not_followed_but_shown() -> None:
    with serving(HELLO) as target:
        away = Answer([], 307, {"Location": f"{target.url}/v1/chat/completions?key=x"})
        with serving(away) as server:
            error = failure(server, api_key_env="K", environ={"K": "sk-verysecret"})

    assert f"redirects to {target.url}/v1/chat/completions." in str(error)
    assert (error.kind, target.seen) == ("bad_request", [])


PROXIED = """
import asyncio, sys
from touchstone.endpoints import ChatRequest, EndpointConfig, OpenAICompatEndpoint
async def main():
    async with OpenAICompatEndpoint(EndpointConfig(sys.argv[1], "m", max_retries=0)) as endpoint:
        print((await endpoint.chat(ChatRequest(()))).text)
asyncio.run(main())
"""


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "models.example"])
def test_only_other_hosts_are_asked_through_a_proxy(host: str) -> None:
    with serving(completion("by proxy")) as proxy, serving(completion("directly")) as server:
        environ = {key: value for key, value in os.environ.items() if "proxy" not in key.lower()}
        environ |= {"HTTP_PROXY": proxy.url, "http_proxy": proxy.url, "ALL_PROXY": proxy.url}
        said = subprocess.run(
            [sys.executable, "-c", PROXIED, f"http://{host}:{server.port}/v1"],
            env=environ,
            cwd=Path(__file__).parents[1],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    assert said == ("by proxy" if host == "models.example" else "directly")
    assert len(proxy.seen) == (host == "models.example")


# --- what the server says about itself -------------------------------------------------------------


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


# --- recorded replies of llama.cpp's server ---------------------------------------------------------


def sample(server: str, name: str) -> dict[str, Any]:
    path = SAMPLES / server / f"{server}_{name}.json"
    if not path.is_file():
        pytest.skip(f"recorded replies are not there: {path.name}")
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def recorded(sample: dict[str, Any]) -> Answer:
    """Answer as the recorded server did, with the same status, content type and body."""
    if "lines" in sample:
        text = "\n".join(line for _, line in sample["lines"]) + "\n"
        return Answer(
            [text.encode()], sample["status"], {"Content-Type": sample["headers"]["content-type"]}
        )
    response = sample["response"]
    return Answer(
        [response["body_raw"].encode()],
        response["status"],
        {"Content-Type": response["headers"].get("content-type", "")},
    )


@pytest.mark.parametrize(
    ("server", "name", "text", "finish"),
    [
        ("xllamacpp", "chat_t0_a", "1. Red: This is the most obvious", "length"),
        ("xllamacpp", "stream", "1. Red: This is the most obvious", "length"),
        ("xllamacpp", "length", "1. Red: This", "length"),
        ("xllamacpp", "null_content", "\"I'm", "length"),
        ("xllamacpp", "json_schema", '{\n    "name": "Bern"', "stop"),
        ("llama_cpp_server", "stream", "1. Red: This is the most obvious", "length"),
        ("llama_cpp_server", "stream_usage", "1. Red: This is the most obvious", "length"),
    ],
)
def test_recorded_answers_are_read(server: str, name: str, text: str, finish: str) -> None:
    with serving(recorded(sample(server, name))) as replay:
        reply = ask(replay)

    assert (reply.text[: len(text)], reply.finish_reason) == (text, finish)


@pytest.mark.parametrize(
    ("server", "name", "kind", "retryable"),
    [
        ("xllamacpp", "overflow", "context_length", False),
        ("xllamacpp", "stream_overflow", "context_length", False),
        ("xllamacpp", "bad_json", "bad_request", False),
        ("xllamacpp", "bad_temp_type", "bad_request", False),
        ("xllamacpp", "notfound", "bad_request", False),
        ("llama_cpp_server", "overflow", "context_length", False),
        ("llama_cpp_server", "stream_overflow", "bad_reply", True),
        ("llama_cpp_server", "bad_json", "server", True),
        ("llama_cpp_server", "wrong_method", "bad_request", False),
    ],
)
def test_recorded_errors_are_understood(server: str, name: str, kind: str, retryable: bool) -> None:
    with serving(recorded(sample(server, name))) as replay:
        error = failure(replay, max_retries=0)

    assert (error.kind, error.retryable) == (kind, retryable)


@pytest.mark.parametrize(
    ("server", "name"),
    [
        ("xllamacpp", "json_schema_bad"),
        ("xllamacpp", "response_format_bad"),
        ("llama_cpp_server", "json_schema"),
    ],
)
def test_recorded_refusals_of_a_schema_lead_to_an_unstructured_reply(
    server: str, name: str
) -> None:
    with serving([recorded(sample(server, name)), HELLO]) as replay:
        reply = ask(replay, question(schema=SCHEMA))

    assert (reply.text, reply.structured, reply.attempts) == ("Hello", False, 1)


def test_the_recorded_loading_reply_is_waited_for() -> None:
    loading = sample("xllamacpp", "loading_503")
    with serving([as_json(loading["body"], loading["status"]), HELLO]) as replay:
        assert (ask(replay).attempts, len(replay.seen)) == (1, 2)


def test_the_recorded_self_description_is_read() -> None:
    props, listing = sample("xllamacpp", "props"), sample("xllamacpp", "models")
    bodies = {"/props": props, "/v1/models": listing}
    with serving(lambda seen: recorded(bodies[seen.path])) as replay:
        window, described = using(replay, facts)

    assert window == 4096
    assert described == {
        "engine": "llama.cpp",
        "context_window": 4096,
        "weights": {
            "name": "SmolLM2-135M-Instruct.Q4_1.gguf",
            "quantization": "Q4_1",
            "parameters": "135M",
        },
    }
