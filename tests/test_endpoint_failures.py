"""What went wrong with a request becomes an error that says so, and shows no secret."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from touchstone.endpoints.failures import Failures, excerpt, retry_after_s, server_message

NOW = datetime(2026, 12, 1, 9, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after": "Tue, 01 Dec 2026 09:00:30 GMT"}, 30.0),
        ({"retry-after": "Tue, 01 Dec 2026 08:00:00 GMT"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_as_seconds_or_date(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after_s(headers, NOW) == seconds


@pytest.mark.parametrize(
    ("error_body", "message"),
    [
        ('{"error": {"message": "m", "type": "t"}}', "m"),
        ('{"error": "m"}', "m"),
        ('{"object": "error", "message": "m"}', "m"),
        ('{"detail": "m"}', "m"),
        ('{"detail": [{"msg": "m"}]}', '[{"msg": "m"}]'),
        ('[{"error": {"message": "m"}}]', "m"),
        ('{"error": {"error": "m"}}', "m"),
        ('{"error": {"code": 7}}', '{"error": {"code": 7}}'),
        ("plain", "plain"),
        ("", ""),
    ],
)
def test_the_servers_words_are_found_in_any_error_body(error_body: str, message: str) -> None:
    assert server_message(error_body) == message


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\n\n b\tc", "a b c"),
        ("red \x1b[31malert\x1b[0m \u202eevil", "red [31malert [0m evil"),
        ("<html><head><title>502 Bad\nGateway</title></head>…</html>", "502 Bad Gateway"),
        ("<html><body><h1>No</h1> title</body></html>", "No title"),
        ("x" * 400, "x" * 300 + "…"),
        ("\ud800", ""),
    ],
)
def test_an_excerpt_is_one_harmless_line(text: str, line: str) -> None:
    assert excerpt(text) == line


FAILURES = Failures(
    url="http://h/v1/chat/completions",
    base_url="http://h/v1",
    model="m",
    key_env="MY_KEY",
    has_key=True,
    timeout_s=1.0,
    secrets=("sk-verysecret", "abcd"),
)


@pytest.mark.parametrize(
    ("status", "message", "kind", "retryable"),
    [
        (400, "bad temperature", "bad_request", False),
        (400, "This model's maximum context length is 4096 tokens.", "context_length", False),
        (400, "exceeds the available context size (4096 tokens)", "context_length", False),
        (400, "prompt is too long: 5 tokens > 3 maximum", "context_length", False),
        (413, "Request Entity Too Large", "context_length", False),
        (500, "the request exceeds the context window", "context_length", False),
        (401, "no key", "auth", False),
        (403, "not yours", "auth", False),
        (404, "model not found", "bad_request", False),
        (408, "slow", "timeout", True),
        (422, "unprocessable", "bad_request", False),
        (429, "slow down, context window", "rate_limit", True),
        (500, "oops", "server", True),
        (501, "not implemented", "server", False),
        (503, "Loading model", "server", True),
        (529, "overloaded", "server", True),
    ],
)
def test_a_status_decides_kind_and_whether_to_retry(
    status: int, message: str, kind: str, retryable: bool
) -> None:
    error = FAILURES.of_status(status, json.dumps({"error": {"message": message}}), {}, NOW)

    assert (error.kind, error.retryable, error.status) == (kind, retryable, status)
    assert error.loading is (status == 503)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ({"code": 429, "message": "x"}, "rate_limit"),
        ({"code": "503", "message": "x"}, "server"),
        ({"type": "exceed_context_size_error", "message": "x"}, "context_length"),
        ({"code": "context_length_exceeded", "message": "x"}, "context_length"),
        ({"type": "authentication_error", "message": "x"}, "auth"),
        ({"type": "invalid_request_error", "message": "x"}, "bad_request"),
        ({"message": "x"}, "server"),
    ],
)
def test_an_error_without_a_status_is_known_by_its_labels(fault: dict[str, Any], kind: str) -> None:
    assert FAILURES.of_fault(json.dumps({"error": fault})).kind == kind


def test_no_error_shows_a_secret() -> None:
    error = FAILURES.of_status(401, '{"error": "bad key sk-verysecret, abcd"}', {}, NOW)

    assert "verysecret" not in f"{error} {error!r}"
    assert "abcd" not in str(error)
    assert "MY_KEY" in error.hint


def test_stored_text_loses_secrets_but_not_ordinary_words() -> None:
    failures = Failures("u", "u", "m", None, True, 1.0, ("sk-verysecret", "abcd", "lm-studio"))

    assert failures.redact("abcd lm-studio sk-verysecret") == "abcd lm-studio [key removed]"
