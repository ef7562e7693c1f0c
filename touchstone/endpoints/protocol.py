"""What a model that answers looks like from outside: request, reply, endpoint, and its address."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, Self
from urllib.parse import SplitResult, urlsplit, urlunsplit

from touchstone.errors import UsageError
from touchstone.models import Message, Usage

__all__ = [
    "ChatReply",
    "ChatRequest",
    "Endpoint",
    "EndpointConfig",
    "chat_url",
    "is_loopback",
    "public_url",
]


@dataclass(frozen=True)
class ChatRequest:
    """One question to a model.

    ``parameters`` are sent under their own names (temperature, top_p, seed, max_tokens, …);
    ``schema`` is the JSON schema the reply shall follow, called ``schema_name`` on the wire.
    """

    messages: tuple[Message, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    schema: Mapping[str, Any] | None = None
    schema_name: str = "reply"


@dataclass(frozen=True)
class ChatReply:
    """What came back.

    ``ttft_s`` (time to the first token, None where the reply was not streamed) and ``duration_s``
    are seconds of the attempt that succeeded, ``started_at`` is its start (UTC, ISO 8601).
    ``attempts`` counts tries, the first included. ``structured`` says whether the server was
    asked to enforce the schema and did not refuse. ``raw`` is the body as it was received.
    """

    text: str
    reasoning: str | None = None
    finish_reason: str | None = None
    usage: Usage | None = None
    model: str | None = None
    ttft_s: float | None = None
    duration_s: float = 0.0
    attempts: int = 1
    started_at: str = "1970-01-01T00:00:00Z"
    structured: bool = False
    raw: str = ""


class Endpoint(Protocol):
    """Anything that answers chat requests. Use it as an async context manager, or ``aclose``."""

    @property
    def model(self) -> str:
        """The model's name, as it is sent."""

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Ask once; retries are the endpoint's business.

        Raises EndpointError when there is no complete reply.
        """

    async def context_window(self) -> int | None:
        """Return the tokens that prompt and reply may have together, or None if unknown."""

    async def describe(self) -> Mapping[str, Any]:
        """Return what is known about engine and weights; only keys that are known, no secrets.

        ``engine`` is a string such as ``llama.cpp b11549``, ``weights`` a map with the keys of
        ``touchstone.models.Weights``, ``context_window`` a number of tokens.
        """

    async def aclose(self) -> None:
        """Let go of connections and processes."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *exc_info: object) -> None: ...


@dataclass(frozen=True)
class EndpointConfig:
    """Where an OpenAI-compatible server is and how to treat it.

    ``base_url`` may end with or without ``/v1`` or name ``…/chat/completions`` in full.
    ``api_key_env`` names the environment variable that holds the key; the key itself is never
    part of the configuration. ``extra_body`` is merged into every request. ``timeout_s`` is the
    longest silence, in seconds, that counts as alive: a reply that keeps coming may take longer.
    ``rpm`` limits requests per minute, ``concurrency`` requests at the same time.
    """

    base_url: str
    model: str
    api_key_env: str | None = None
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    concurrency: int = 2
    rpm: int | None = None
    timeout_s: float = 120.0
    max_retries: int = 4
    stream: bool = True

    def __post_init__(self) -> None:
        chat_url(self.base_url)
        for name, value, least in (
            ("concurrency", self.concurrency, 1),
            ("rpm", 1 if self.rpm is None else self.rpm, 1),
            ("max_retries", self.max_retries, 0),
        ):
            if value < least:
                raise UsageError(f"{name} must be at least {least}, not {value}.")
        if not self.timeout_s > 0:
            raise UsageError(f"timeout_s must be more than 0 seconds, not {self.timeout_s}.")

    def __repr__(self) -> str:
        return f"EndpointConfig({public_url(self.base_url)!r}, {self.model!r})"


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
        _ = parts.port
    except ValueError as error:
        raise UsageError(
            f"The base URL can't be read: {error}.",
            hint="A base URL looks like http://127.0.0.1:8080/v1.",
        ) from error
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise UsageError(
            f"The base URL {_without_secrets(parts)!r} needs http:// or https:// and a host.",
            hint="A base URL looks like http://127.0.0.1:8080/v1.",
        )
    return parts


def _without_secrets(parts: SplitResult) -> str:
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def public_url(url: str) -> str:
    """Return a URL without user info, query and fragment: what may be stored and shown."""
    try:
        return _without_secrets(urlsplit(url.strip()))
    except ValueError:
        return ""


def chat_url(base_url: str) -> str:
    """Return the address of chat completions for a base URL in any of its usual forms.

    A path that already names a version (``/v1``, ``/api/v3``, ``/v1beta/openai``) is kept, a full
    ``…/chat/completions`` too; otherwise ``/v1`` is added. User info and query stay. Raises
    UsageError for what is no HTTP address.
    """
    parts = _split(base_url)
    path = parts.path.rstrip("/")
    if not path.endswith("/chat/completions"):
        versioned = any(re.fullmatch(r"v\d\w*", segment) for segment in path.split("/"))
        path += "/chat/completions" if versioned else "/v1/chat/completions"
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def is_loopback(url: str) -> bool:
    """Say whether a URL points at this machine: localhost, 127.0.0.0/8, ::1, or all addresses."""
    host = (urlsplit(url).hostname or "").rstrip(".").lower()
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    address = mapped or address
    return address.is_loopback or address.is_unspecified
