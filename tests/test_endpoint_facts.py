"""Addresses of servers, and what servers tell about themselves."""

from __future__ import annotations

from typing import Any

import pytest

from touchstone.endpoints.protocol import EndpointConfig, chat_url, is_loopback, public_url
from touchstone.endpoints.server_facts import (
    facts_of_llama_cpp,
    facts_of_models,
    facts_of_ollama,
)
from touchstone.errors import UsageError

# --- addresses -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("http://h:1", "http://h:1/v1/chat/completions"),
        ("http://h:1/", "http://h:1/v1/chat/completions"),
        (" http://h:1/v1 ", "http://h:1/v1/chat/completions"),
        ("http://h:1/v1/", "http://h:1/v1/chat/completions"),
        ("http://h:1/v1/chat/completions", "http://h:1/v1/chat/completions"),
        ("http://h:1/v1/chat/completions/", "http://h:1/v1/chat/completions"),
        ("https://h/api", "https://h/api/v1/chat/completions"),
        ("https://h/api/v3", "https://h/api/v3/chat/completions"),
        ("https://h/v1beta/openai/", "https://h/v1beta/openai/chat/completions"),
        ("https://h/v1?api-version=2#x", "https://h/v1/chat/completions?api-version=2"),
        ("http://u:p@h/v1", "http://u:p@h/v1/chat/completions"),
        ("http://[::1]:8080", "http://[::1]:8080/v1/chat/completions"),
    ],
)
def test_a_base_url_may_be_written_in_any_usual_way(base_url: str, url: str) -> None:
    assert chat_url(base_url) == url


@pytest.mark.parametrize(
    "base_url", ["", "localhost:8080", "ftp://h/v1", "http://", "http://h:x/v1", "http://[::1/v1"]
)
def test_what_is_no_address_is_refused_with_an_example(base_url: str) -> None:
    with pytest.raises(UsageError) as raised:
        EndpointConfig(base_url, "m")

    assert "http://127.0.0.1:8080/v1" in raised.value.hint


@pytest.mark.parametrize(
    ("url", "public"),
    [
        ("http://u:secret@h:1/v1?key=secret#f", "http://h:1/v1"),
        ("http://h/v1", "http://h/v1"),
        ("https://tok@[::1]:8/v1", "https://[::1]:8/v1"),
        ("http://[::1", ""),
    ],
)
def test_a_public_url_has_no_login_and_no_query(url: str, public: str) -> None:
    assert public_url(url) == public


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://localhost:1/v1", True),
        ("http://LOCALHOST./", True),
        ("http://api.localhost", True),
        ("http://127.0.0.1", True),
        ("http://127.9.8.7", True),
        ("http://[::1]:1", True),
        ("http://[::ffff:127.0.0.1]", True),
        ("http://0.0.0.0:1", True),
        ("http://10.0.0.1", False),
        ("http://localhost.example", False),
        ("http://127.0.0.1.example", False),
    ],
)
def test_loopback_is_told_from_the_network(url: str, loopback: bool) -> None:
    assert is_loopback(url) is loopback


@pytest.mark.parametrize(
    "options",
    [
        {"concurrency": 0},
        {"rpm": 0},
        {"max_retries": -1},
        {"timeout_s": 0.0},
        {"timeout_s": float("nan")},
    ],
)
def test_impossible_limits_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(options))):
        EndpointConfig("http://h", "m", **options)


# --- what servers tell ---------------------------------------------------------------------------


def test_llama_cpp_tells_the_window_of_one_slot_and_no_folder() -> None:
    facts = facts_of_llama_cpp(
        {
            "default_generation_settings": {"n_ctx": 2048},
            "build_info": "b9999-abcdef0",
            "model_path": "C:\\Users\\someone\\m.gguf",
            "model_ftype": "Q4_K_M",
        }
    )

    assert facts.engine == "llama.cpp b9999-abcdef0"
    assert facts.context_window == 2048
    assert facts.weights == {"name": "m.gguf", "quantization": "Q4_K_M"}


@pytest.mark.parametrize(
    ("entry", "window"),
    [
        ({"max_model_len": 32768}, 32768),
        ({"context_window": 8192}, 8192),
        ({"meta": {"n_ctx": 1024, "n_ctx_train": 8192}}, 1024),
        ({"meta": {"n_ctx_train": 8192}}, 8192),
        ({"context_length": "8192"}, None),
        ({"context_length": 0}, None),
        ({"context_length": True}, None),
        ({}, None),
    ],
)
def test_a_model_list_tells_the_window_in_many_words(
    entry: dict[str, Any], window: int | None
) -> None:
    listing = {"data": [{"id": "other", "max_model_len": 7}, {"id": "m", **entry}]}

    assert facts_of_models(listing, "m").context_window == window


def test_a_model_that_is_not_listed_is_only_guessed_from_a_single_entry() -> None:
    one = {"data": [{"id": "a", "max_model_len": 7}]}
    two = {"data": [*one["data"], {"id": "b", "max_model_len": 9}]}

    assert facts_of_models(one, "m").context_window == 7
    assert facts_of_models(two, "m").context_window is None


@pytest.mark.parametrize(
    ("parameters", "text"),
    [(134515008, "135M"), (7_000_000_000, "7B"), (1_540_000_000, "1.54B"), (900, "900")],
)
def test_parameters_are_counted_as_people_write_them(parameters: int, text: str) -> None:
    listing = {"data": [{"id": "m", "meta": {"n_params": parameters}}]}

    assert facts_of_models(listing, "m").weights["parameters"] == text


def test_ollama_tells_the_window_of_the_loaded_model_only() -> None:
    version, shown = {"version": "0.12"}, {"details": {"quantization_level": "Q4_0"}}
    loaded = {"models": [{"name": "m:latest", "context_length": 4096}]}

    facts = facts_of_ollama(version, loaded, shown, "m")

    assert (facts.engine, facts.context_window) == ("Ollama 0.12", 4096)
    assert facts.weights == {"quantization": "Q4_0"}
    assert facts_of_ollama(version, {"models": []}, shown, "m").context_window is None


@pytest.mark.parametrize("junk", [None, [], "x", 5, {"data": "x"}, {"data": [5]}, {"models": 1}])
def test_junk_tells_nothing(junk: Any) -> None:
    for facts in (
        facts_of_llama_cpp(junk),
        facts_of_models(junk, "m"),
        facts_of_ollama(junk, junk, junk, "m"),
    ):
        assert (facts.engine, facts.context_window, facts.weights) == (None, None, {})
