"""A real HTTP server on loopback that answers as a test tells it, and the client that asks it."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

import pytest

from touchstone.endpoints import (
    ChatReply,
    ChatRequest,
    EndpointConfig,
    OpenAICompatEndpoint,
    RetryPolicy,
)
from touchstone.errors import EndpointError
from touchstone.models import Message

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
QUICK = RetryPolicy(first=0.001, longest=0.002, jitter=0, loading=0.01, loading_for=0.2)
T = TypeVar("T")

JSON = {"Content-Type": "application/json"}
EVENTS = {"Content-Type": "text/event-stream"}


@dataclass(frozen=True)
class Seen:
    """A request as it arrived."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Answer:
    """What to send. ``end`` is ``finish``, ``close`` (too early) or ``reset`` (TCP reset).

    ``chunks`` are sent chunk-encoded, ``pause_s`` seconds apart.
    """

    chunks: Sequence[bytes] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: dict(JSON))
    end: str = "finish"
    pause_s: float = 0.0


def completion(text: str | None = "Hello", **extra: Any) -> Answer:
    """A whole chat completion in one JSON body."""
    message = {"role": "assistant", "content": text, **extra.pop("message", {})}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return as_json({"model": "served", "choices": [choice], **extra})


def as_json(payload: Any, status: int = 200, **headers: str) -> Answer:
    return Answer([json.dumps(payload).encode()], status, {**JSON, **headers})


def refusal(status: int, message: str, **headers: str) -> Answer:
    return as_json({"error": {"message": message, "type": "x"}}, status, **headers)


def delta(text: str | None = None, finish: str | None = None, **extra: Any) -> bytes:
    """One event of a streamed reply."""
    part = {} if text is None else {"content": text}
    choice = {"index": 0, "delta": {**part, **extra}, "finish_reason": finish}
    return event({"model": "served", "choices": [choice]})


def event(payload: Any) -> bytes:
    return f"data: {json.dumps(payload)}\n\n".encode()


DONE = b"data: [DONE]\n\n"


def stream(*chunks: bytes, end: str = "finish", pause_s: float = 0.0) -> Answer:
    return Answer(chunks, 200, EVENTS, end, pause_s)


HELLO = stream(delta("Hel"), delta("lo", "stop"), DONE)

Script = Callable[[Seen], Answer]


class ChatServer:
    """Answers with a script; ``seen`` lists the requests, ``busiest`` how many came at once."""

    def __init__(self, script: Script | Sequence[Answer]) -> None:
        self._script = script
        self._lock = threading.Lock()
        self._running = 0
        self.seen: list[Seen] = []
        self.busiest = 0
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

            def do_GET(self) -> None:
                owner.serve(self)

            def do_POST(self) -> None:
                owner.serve(self)

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.port = self._http.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))

    @property
    def bodies(self) -> list[Any]:
        """The bodies of the chat requests."""
        return [seen.body for seen in self.seen if seen.path.endswith("/chat/completions")]

    def serve(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("Content-Length") or 0)
        raw = handler.rfile.read(length)
        body = json.loads(raw) if raw else None
        seen = Seen(handler.command, handler.path, dict(handler.headers.items()), body)
        with self._lock:
            self.seen.append(seen)
            self._running += 1
            self.busiest = max(self.busiest, self._running)
            turn = len(self.seen) - 1
        try:
            script = self._script
            _send(handler, script(seen) if callable(script) else script[min(turn, len(script) - 1)])
        finally:
            with self._lock:
                self._running -= 1

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


def _send(handler: BaseHTTPRequestHandler, answer: Answer) -> None:
    if answer.end == "reset":
        # A linger time of zero turns the close into a reset.
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    try:
        handler.send_response(answer.status)
        for name, value in answer.headers.items():
            handler.send_header(name, value)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for chunk in answer.chunks:
            if chunk:
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
                handler.wfile.flush()
            time.sleep(answer.pause_s)
        if answer.end == "finish":
            handler.wfile.write(b"0\r\n\r\n")
        else:
            handler.close_connection = True
    except OSError:
        handler.close_connection = True  # the client gave up, as some tests want it to


@contextmanager
def serving(script: Script | Sequence[Answer] | Answer) -> Iterator[ChatServer]:
    """Run a server for a script, a series of answers (the last one repeats), or one answer."""
    server = ChatServer([script] if isinstance(script, Answer) else script)
    server.start()
    try:
        yield server
    finally:
        server.stop()


# --- the client -------------------------------------------------------------------------------


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
