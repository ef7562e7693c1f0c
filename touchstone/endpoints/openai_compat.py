"""The client for OpenAI-compatible chat servers, with all the ways they are known to misbehave."""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Self
from urllib.parse import unquote, urlsplit, urlunsplit

import httpx
import tenacity

from touchstone import __version__
from touchstone.endpoints.dialect import Dialect
from touchstone.endpoints.failures import Failures, HttpError
from touchstone.endpoints.pace import Pace, RetryPolicy, is_loading
from touchstone.endpoints.protocol import (
    ChatReply,
    ChatRequest,
    EndpointConfig,
    chat_url,
    is_loopback,
    public_url,
)
from touchstone.endpoints.replies import (
    BrokenReplyError,
    Reply,
    ServerFaultError,
    StreamReader,
    read_body,
)
from touchstone.endpoints.server_facts import ServerFacts, ask_for_facts, model_ids
from touchstone.errors import EndpointError, UsageError

__all__ = ["OpenAICompatEndpoint", "RetryPolicy"]

_MAX_REPLY_BYTES = 64 * 2**20
_LONGEST_REPLY = 10
"""How many times ``timeout_s`` a reply that keeps coming may take before it counts as endless."""

_SECRET_NAME = re.compile(r"key|token|secret|sig|pass|auth|code", re.IGNORECASE)
"""Query parameters whose values are kept out of everything that is shown or stored."""


@dataclass
class _Timing:
    """When one attempt started and when its first token came, on the endpoint's clocks."""

    started_at: str
    start: float
    first: float | None = None


class OpenAICompatEndpoint:
    """A model behind ``/v1/chat/completions``.

    ``environ`` holds the API key (under ``config.api_key_env``); proxies are taken from the
    process's environment, never for loopback addresses. ``facts`` are known beforehand and win
    over what the server says in ``describe``. ``on_retry`` is told each error and the seconds of
    waiting that follow. ``transport``, ``clock`` (monotonic seconds), ``now`` (timezone-aware) and
    ``sleep`` replace the real ones.
    """

    def __init__(
        self,
        config: EndpointConfig,
        *,
        environ: Mapping[str, str] = os.environ,
        facts: Mapping[str, Any] = MappingProxyType({}),
        retry: RetryPolicy | None = None,
        on_retry: Callable[[EndpointError, float], None] | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.config = config
        self.model = config.model
        self._facts = dict(facts)
        self._retry = retry or RetryPolicy()
        self._on_retry = on_retry
        self._clock, self._now, self._sleep = clock, now, sleep
        self._url = chat_url(config.base_url)
        key = (environ.get(config.api_key_env) or "").strip() if config.api_key_env else ""
        self._failures = _failures(config, self._url, key)
        self._client = _client(config, key, transport)
        self._dialect = Dialect(config)
        self._slots = asyncio.Semaphore(config.concurrency)
        self._pace = Pace(config.rpm, clock, sleep)
        self._server: ServerFacts | None = None

    def __repr__(self) -> str:
        return f"OpenAICompatEndpoint({self.config!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    # --- asking ----------------------------------------------------------------------------

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Ask once, with as many attempts as the configuration allows.

        Parts of the protocol that the server refuses (schema, streaming, ``max_tokens``) are left
        out, now and later. Raises EndpointError when there is no complete reply.
        """
        attempts = 0
        async with self._slots:
            async for attempt in self._retrying(
                tenacity.stop_after_attempt(self.config.max_retries + 1), self._retry.worth_another
            ):
                with attempt:
                    attempts += 1
                    reply = await self._ask_when_loaded(request)
        return replace(reply, attempts=attempts)

    async def _ask_when_loaded(self, request: ChatRequest) -> ChatReply:
        """Ask, and ask again while the server says that it loads its model."""
        async for attempt in self._retrying(
            tenacity.stop_after_delay(self._retry.loading_for), is_loading
        ):
            with attempt:
                reply = await self._negotiate(request)
        return reply

    def _retrying(
        self, stop: tenacity.stop.stop_base, when: Callable[[BaseException], bool]
    ) -> tenacity.AsyncRetrying:
        return tenacity.AsyncRetrying(
            stop=stop,
            retry=tenacity.retry_if_exception(when),
            wait=self._retry.wait_s,
            sleep=self._sleep,
            before_sleep=self._tell,
            reraise=True,
        )

    def _tell(self, state: tenacity.RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        if self._on_retry and isinstance(error, EndpointError) and state.next_action:
            self._on_retry(error, state.next_action.sleep)

    async def _negotiate(self, request: ChatRequest) -> ChatReply:
        """Ask, leaving out one optional part of the protocol after each refusal."""
        without: set[str] = set()
        while True:
            body = self._dialect.body(request, without)
            try:
                reply = await self._attempt(body)
            except HttpError as error:
                part = self._dialect.refused(error, body)
                if part is None:
                    raise
                without.add(part)
            else:
                self._dialect.learn(without)
                structured = request.schema is not None and "response_format" in body
                return replace(reply, structured=structured)

    async def _attempt(self, body: Mapping[str, Any]) -> ChatReply:
        await self._pace.wait()
        timing = _Timing(f"{self._now().astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}", self._clock())
        try:
            async with asyncio.timeout(_LONGEST_REPLY * self.config.timeout_s):
                reply, raw = await self._exchange(self._encode(body), timing)
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
            raise self._failures.of_transport(error) from error
        except HttpError as error:
            if error.retry_after:
                self._pace.pause(min(error.retry_after, self._retry.longest_asked))
            raise
        redact = self._failures.redact
        return ChatReply(
            text=redact(reply.text),
            reasoning=redact(reply.reasoning) if reply.reasoning else None,
            finish_reason=reply.finish_reason,
            usage=reply.usage,
            model=reply.model,
            ttft_s=None if timing.first is None else timing.first - timing.start,
            duration_s=self._clock() - timing.start,
            started_at=timing.started_at,
            raw=redact(raw),
        )

    def _encode(self, body: Mapping[str, Any]) -> bytes:
        try:
            text = json.dumps(body, ensure_ascii=False, allow_nan=False)
            # Lone surrogates, which a quoted answer may hold, have no form in UTF-8.
            return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
        except (TypeError, ValueError) as error:
            raise EndpointError(
                f"The request for {self.model} can't be written as JSON: {error}.",
                kind="bad_request",
                hint="Check the parameters and extra_body of this model.",
            ) from error

    # --- reading ---------------------------------------------------------------------------

    async def _exchange(self, content: bytes, timing: _Timing) -> tuple[Reply, str]:
        async with self._client.stream("POST", self._url, content=content) as response:
            if not response.is_success:
                body = await self._text(response)
                raise self._failures.of_status(
                    response.status_code, body, response.headers, self._now()
                )
            content_type = response.headers.get("content-type", "").lower()
            streamed = not ("json" in content_type or "html" in content_type)
            return await self._read(response, timing if streamed else None)

    async def _read(self, response: httpx.Response, timing: _Timing | None) -> tuple[Reply, str]:
        """Read a reply: events as they come, or a body that turns out to be JSON or events."""
        reader, chunks = StreamReader(), list[bytes]()
        try:
            try:
                async for chunk in self._chunks(response):
                    chunks.append(chunk)
                    if timing:
                        reader.feed(chunk)
                        if reader.started and timing.first is None:
                            timing.first = self._clock()
            except httpx.TransportError:
                if not reader.whole:
                    raise
            raw = _decode(chunks)
            if timing is None and re.match(r"\s*(data|event|error)?:", raw):
                reader.feed(raw.encode())
            elif not reader.events and not _is_event_stream(response):
                return read_body(raw), raw
            reader.finish()
        except ServerFaultError as fault:
            raise self._failures.of_fault(fault.body) from fault
        except BrokenReplyError as error:
            raise self._failures.of_reply(error, _decode(chunks)) from error
        return reader.reply, raw

    async def _text(self, response: httpx.Response) -> str:
        return _decode([chunk async for chunk in self._chunks(response)])

    async def _chunks(self, response: httpx.Response) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in response.aiter_bytes():
            size += len(chunk)
            if size > _MAX_REPLY_BYTES:
                raise EndpointError(
                    f"The reply of {self._failures.url} is larger than "
                    f"{_MAX_REPLY_BYTES // 2**20} MiB; reading stopped.",
                    kind="bad_reply",
                )
            yield chunk

    # --- what the server says about itself ---------------------------------------------------

    async def context_window(self) -> int | None:
        """Return the window the server runs this model with, in tokens, or None.

        Asks llama.cpp's ``/props``, the model list, and Ollama; a known answer is kept.
        """
        known = self._facts.get("context_window")
        return known if isinstance(known, int) else (await self._server_facts()).context_window

    async def describe(self) -> Mapping[str, Any]:
        """Return ``engine``, ``weights`` and ``context_window``, as far as they are known."""
        server = await self._server_facts()
        weights = {**server.weights, **self._facts.get("weights", {})}
        found = {
            "engine": server.engine,
            "context_window": server.context_window,
            **self._facts,
            "weights": weights,
        }
        return {key: value for key, value in found.items() if value}

    async def available_models(self) -> tuple[str, ...]:
        """Return the names in the server's model list; empty where it has none.

        Raises EndpointError where the server can't be reached or refuses the key.
        """
        return model_ids(await self._get(self._api("/models"), strict=True))

    async def _server_facts(self) -> ServerFacts:
        if self._server is None:
            facts = await ask_for_facts(self._get, self._api(""), self.model)
            if facts.context_window is None:
                return facts
            self._server = facts
        return self._server

    def _api(self, path: str) -> str:
        parts = urlsplit(self._url)
        return urlunsplit(parts._replace(path=parts.path.removesuffix("/chat/completions") + path))

    async def _get(
        self, url: str, question: Mapping[str, str] | None = None, *, strict: bool = False
    ) -> object:
        """Return the JSON at a URL, or None: most servers have only some of these addresses."""
        content = json.dumps(question).encode() if question else None
        try:
            async with self._request(url, content) as response:
                body = await self._text(response)
                if response.is_success:
                    return json.loads(body)
                raise self._failures.of_status(
                    response.status_code, body, response.headers, self._now()
                )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            if strict:
                raise self._failures.of_transport(error) from error
        except EndpointError as error:
            if strict and error.kind == "auth":
                raise
        except (ValueError, RecursionError):
            pass
        return None

    @asynccontextmanager
    async def _request(self, url: str, content: bytes | None) -> AsyncIterator[httpx.Response]:
        timeout = min(10.0, self.config.timeout_s)
        method = "GET" if content is None else "POST"
        async with self._client.stream(method, url, content=content, timeout=timeout) as response:
            yield response


def _is_event_stream(response: httpx.Response) -> bool:
    return "text/event-stream" in response.headers.get("content-type", "").lower()


def _decode(chunks: list[bytes]) -> str:
    return b"".join(chunks).decode("utf-8", "replace")


def _failures(config: EndpointConfig, url: str, key: str) -> Failures:
    parts = urlsplit(url)
    password = parts.netloc.rpartition("@")[0].rpartition(":")[2]
    query = [pair.partition("=") for pair in parts.query.split("&")]
    written = {password, *(value for name, _, value in query if _SECRET_NAME.search(name))}
    secrets = {key, *written, *map(unquote, written)}
    return Failures(
        url=public_url(url),
        base_url=public_url(config.base_url),
        model=config.model,
        key_env=config.api_key_env,
        has_key=bool(key),
        timeout_s=config.timeout_s,
        secrets=tuple(sorted((s for s in secrets if len(s) >= 4), key=len, reverse=True)),
    )


def _client(
    config: EndpointConfig, key: str, transport: httpx.AsyncBaseTransport | None
) -> httpx.AsyncClient:
    headers = {
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "User-Agent": f"touchstone/{__version__}",
    }
    if key:
        if not (key.isascii() and key.isprintable()):
            raise UsageError(
                f"The environment variable {config.api_key_env} holds characters that no HTTP "
                "header may have.",
                hint="Set it to the bare API key, without quotes or line breaks.",
            )
        headers["Authorization"] = f"Bearer {key}"
    try:
        return httpx.AsyncClient(
            headers=headers,
            timeout=httpx.Timeout(config.timeout_s, connect=min(10.0, config.timeout_s)),
            limits=httpx.Limits(max_connections=config.concurrency + 2),
            trust_env=not is_loopback(config.base_url),
            follow_redirects=False,
            transport=transport,
        )
    except (ValueError, ImportError) as error:
        raise UsageError(
            f"The proxy settings of the environment can't be used: {error}",
            hint="Correct HTTP_PROXY, HTTPS_PROXY and ALL_PROXY, or name the host in NO_PROXY.",
        ) from error
