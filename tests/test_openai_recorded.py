"""The client against replies that real llama.cpp servers sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from chat_server import (
    HELLO,
    SCHEMA,
    Answer,
    as_json,
    ask,
    failure,
    question,
    serving,
    using,
)

from touchstone.endpoints import (
    OpenAICompatEndpoint,
)

SAMPLES = Path(__file__).parents[1].parent / "shared" / "data" / "llm-samples"


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


async def facts(endpoint: OpenAICompatEndpoint) -> tuple[int | None, dict[str, Any]]:
    return await endpoint.context_window(), dict(await endpoint.describe())


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
