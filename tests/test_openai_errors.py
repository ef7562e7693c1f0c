"""The client against a real HTTP server that fails in all the ways servers do."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from chat_server import (
    DONE,
    HELLO,
    Answer,
    ChatServer,
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
    EndpointConfig,
    OpenAICompatEndpoint,
    RetryPolicy,
)
from touchstone.errors import EndpointError, UsageError

# --- errors that pass ---------------------------------------------------------------------------


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


# --- waiting as long as the server asks ---------------------------------------------------------


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


# --- errors that stay ---------------------------------------------------------------------------


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
