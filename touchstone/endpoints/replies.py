"""Reads what OpenAI-compatible servers send: whole bodies and server-sent events. No network."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from touchstone.models import Usage

__all__ = [
    "BrokenReplyError",
    "Reply",
    "ServerFaultError",
    "SseParser",
    "StreamReader",
    "read_body",
]


class BrokenReplyError(ValueError):
    """A reply that can't be read. ``cut_off``: another attempt may well bring a whole one."""

    def __init__(self, message: str, *, cut_off: bool = False) -> None:
        super().__init__(message)
        self.cut_off = cut_off


class ServerFaultError(Exception):
    """The server put an error where a reply belongs; ``body`` is its JSON, as text."""

    def __init__(self, body: str) -> None:
        super().__init__(body)
        self.body = body


@dataclass(frozen=True)
class Reply:
    """The content of a reply, however it came."""

    text: str
    reasoning: str | None
    finish_reason: str | None
    usage: Usage | None
    model: str | None


@dataclass(frozen=True)
class SseEvent:
    """One server-sent event: its name and its data lines, joined by newlines."""

    name: str
    data: str


class SseParser:
    """Cuts a stream of bytes into server-sent events, wherever the chunks end.

    Follows the WHATWG rules for lines and fields. Beyond them, a last event without its blank
    line counts (``close``), and a line ``error: …``, as older llama.cpp servers send it, is an
    event named ``error``.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._line: list[str] = []
        self._after_cr = False
        self._name = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Return the events that this chunk completes."""
        return self._take(self._decoder.decode(chunk))

    def close(self) -> list[SseEvent]:
        """Return what the end of the stream completes: at most two events."""
        return self._take(self._decoder.decode(b"", final=True) + "\n\n")

    def _take(self, text: str) -> list[SseEvent]:
        if self._after_cr and text.startswith("\n"):
            text = text[1:]
            self._after_cr = False
        if not text:
            return []
        self._after_cr = text.endswith("\r")
        *lines, rest = re.split(r"\r\n|\n|\r", text)
        events: list[SseEvent] = []
        for line in lines:
            event = self._end_line("".join([*self._line, line]))
            self._line = []
            if event is not None:
                events.append(event)
        if rest:
            self._line.append(rest)
        return events

    def _end_line(self, line: str) -> SseEvent | None:
        if not line:
            event = SseEvent(self._name, "\n".join(self._data)) if self._data else None
            self._name, self._data = "", []
            return event
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._name = value
        elif name == "error":
            self._name, self._data = "error", [value]
        return None


class StreamReader:
    """Puts a streamed reply together and knows whether it is whole.

    Bytes go in by ``feed``; after ``finish``, ``reply`` is the answer. A stream is whole once it
    gave a finish reason or ``[DONE]``: a connection that ends earlier is not a short answer.
    """

    def __init__(self) -> None:
        self._parser = SseParser()
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._finish_reason: str | None = None
        self._usage: Usage | None = None
        self._model: str | None = None
        self._done = False
        self.events = 0

    @property
    def started(self) -> bool:
        """True once the first piece of text or reasoning is there."""
        return bool(self._text or self._reasoning)

    @property
    def whole(self) -> bool:
        """True once nothing of the answer is missing."""
        return self._done or self._finish_reason is not None

    @property
    def length(self) -> int:
        """Characters of answer and reasoning so far."""
        return sum(map(len, self._text)) + sum(map(len, self._reasoning))

    def feed(self, chunk: bytes) -> None:
        """Take some bytes.

        Raises ServerFaultError for an error inside the stream, BrokenReplyError for an event
        that isn't JSON.
        """
        for event in self._parser.feed(chunk):
            self._take(event)

    def finish(self) -> None:
        """Say that nothing follows. Raises as ``feed``; BrokenReplyError if the end is missing."""
        for event in self._parser.close():
            try:
                self._take(event)
            except BrokenReplyError:
                if not self.whole:
                    raise BrokenReplyError("the last event is cut off", cut_off=True) from None
        if not self.whole:
            raise BrokenReplyError("the stream ended in the middle of the answer", cut_off=True)

    @property
    def reply(self) -> Reply:
        """The reply as far as it came."""
        return Reply(
            text=_join_surrogates("".join(self._text)),
            reasoning=_join_surrogates("".join(self._reasoning)) or None,
            finish_reason=self._finish_reason,
            usage=self._usage,
            model=self._model,
        )

    def _take(self, event: SseEvent) -> None:
        self.events += 1
        if event.data.strip() == "[DONE]":
            self._done = True
        elif event.name == "error":
            raise ServerFaultError(event.data)
        elif event.data.strip():
            for payload in _payloads(event.data):
                self._take_payload(payload)

    def _take_payload(self, payload: object) -> None:
        if payload == "[DONE]":
            self._done = True
        if not isinstance(payload, dict):
            return
        if payload.get("error"):
            raise ServerFaultError(json.dumps(payload))
        self._model = _string(payload.get("model")) or self._model
        self._usage = _usage(payload.get("usage")) or self._usage
        choice = _first_choice(payload)
        if choice is None:
            return
        text, reasoning = _content(_mapping(choice.get("delta")) or _mapping(choice.get("message")))
        text = text or _string(choice.get("text")) or ""
        if text:
            self._text.append(text)
        if reasoning:
            self._reasoning.append(reasoning)
        self._finish_reason = _string(choice.get("finish_reason")) or self._finish_reason


def _payloads(data: str) -> list[object]:
    """Parse an event's data: one JSON document, or one a line where blank lines are missing."""
    try:
        return [json.loads(data)]
    except (ValueError, RecursionError):
        lines = [line for line in data.split("\n") if line.strip()]
    try:
        return [line.strip() if line.strip() == "[DONE]" else json.loads(line) for line in lines]
    except (ValueError, RecursionError) as error:
        raise BrokenReplyError(f"an event of the stream is no JSON: {error}") from error


def read_body(body: str) -> Reply:
    """Read a whole JSON reply.

    Raises ServerFaultError where the JSON is an error, BrokenReplyError where it is no reply.
    """
    if not body.strip():
        raise BrokenReplyError("the reply is empty", cut_off=True)
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError) as error:
        cut_off = body.lstrip().startswith("{")
        raise BrokenReplyError(f"the reply is no JSON: {error}", cut_off=cut_off) from error
    if not isinstance(payload, dict):
        raise BrokenReplyError("the reply is JSON, but not an object")
    choice = _first_choice(payload)
    if payload.get("error") and choice is None:
        raise ServerFaultError(body)
    if choice is None:
        raise BrokenReplyError("the reply has no choices", cut_off="choices" in payload)
    message = _mapping(choice.get("message"))
    text, reasoning = _content(message)
    return Reply(
        text=text or _string(choice.get("text")) or "",
        reasoning=reasoning or None,
        finish_reason=_string(choice.get("finish_reason")),
        usage=_usage(payload.get("usage")),
        model=_string(payload.get("model")),
    )


def _first_choice(payload: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the choice with index 0: only one was asked for, whatever else is sent."""
    choices = payload.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, dict) and choice.get("index") in (0, None):
            return choice
    return None


def _content(message: Mapping[str, Any]) -> tuple[str, str]:
    """Return text and reasoning of a message or delta; a refusal is what the model said."""
    text, thoughts = _parts(message.get("content"))
    reasoning = _string(message.get("reasoning_content")) or _string(message.get("reasoning")) or ""
    return text or _string(message.get("refusal")) or "", reasoning or thoughts


def _parts(content: object) -> tuple[str, str]:
    """Return text and reasoning of a content: a string, null, or a list of typed parts."""
    if isinstance(content, str):
        return content, ""
    text: list[str] = []
    thoughts: list[str] = []
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            text.append(part)
        elif isinstance(part, dict) and "thinking" in part:
            thoughts.extend(_parts(part["thinking"]))
        elif isinstance(part, dict):
            text.append(_string(part.get("text")) or _string(part.get("refusal")) or "")
    return "".join(text), "".join(thoughts)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _string(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _usage(value: object) -> Usage | None:
    counts = _mapping(value)
    prompt, completion = (_count(counts.get(f"{side}_tokens")) for side in ("prompt", "completion"))
    if prompt is None and completion is None:
        return None
    return Usage(prompt_tokens=prompt, completion_tokens=completion)


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if value >= 0 and value == value // 1 else None


def _join_surrogates(text: str) -> str:
    """Make one character of two surrogate halves that came in different events."""
    if not re.search(r"[\ud800-\udbff][\udc00-\udfff]", text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
