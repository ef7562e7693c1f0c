"""Which optional parts of the chat protocol a server refused, and the request without them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from touchstone.endpoints.failures import HttpError
from touchstone.endpoints.protocol import ChatRequest, EndpointConfig

__all__ = ["Dialect"]

_REFUSALS = (
    ("stream_options", re.compile(r"stream_options|include_usage", re.IGNORECASE)),
    (
        "response_format",
        re.compile(
            r"response.?format|json.?schema|json.?object|structured.?output|grammar|guided",
            re.IGNORECASE,
        ),
    ),
    (
        "max_tokens",
        re.compile(
            r"(unsupported|not supported|not compatible|instead).*max_completion_tokens"
            r"|max_completion_tokens.*(instead|unsupported)",
            re.IGNORECASE | re.DOTALL,
        ),
    ),
    ("stream", re.compile(r"\bstream(ing)?\b", re.IGNORECASE)),
)
_REFUSAL_STATUS = {400, 404, 405, 406, 415, 422, 501}


class Dialect:
    """What one server understands, learned from its refusals.

    A refusal becomes part of the dialect only after the request without the refused part went
    through (``learn``): error pages that merely echo the request teach nothing.
    """

    def __init__(self, config: EndpointConfig) -> None:
        self._config = config
        self._refused: set[str] = set()

    def learn(self, refused: Iterable[str]) -> None:
        """Leave these parts out of all later requests."""
        self._refused.update(refused)

    def body(self, request: ChatRequest, without: Iterable[str] = ()) -> dict[str, Any]:
        """Return the JSON body of a request, without what was refused.

        Later wins: parameters, what Touchstone adds (schema, streaming), ``extra_body``.
        Parameters that are None are not sent. ``max_tokens`` turns into ``max_completion_tokens``
        where it was refused.
        """
        body: dict[str, Any] = {
            "model": self._config.model,
            "messages": [{"role": m.role, "content": m.content} for m in request.messages],
        }
        body.update({k: v for k, v in request.parameters.items() if v is not None})
        if request.schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {
                    "name": request.schema_name,
                    "strict": True,
                    "schema": dict(request.schema),
                },
            }
        if self._config.stream:
            body["stream"] = True
            body["stream_options"] = {"include_usage": True}
        body.update(self._config.extra_body)
        for part in self._refused.union(without):
            value = body.pop(part, None)
            if part == "max_tokens" and value is not None:
                body.setdefault("max_completion_tokens", value)
        if not body.get("stream"):
            body.pop("stream_options", None)
        return body

    @staticmethod
    def refused(error: HttpError, body: Mapping[str, Any]) -> str | None:
        """Return which optional part of ``body`` a server's error is about, or None."""
        if error.kind not in ("bad_request", "server"):
            return None
        for part, pattern in _REFUSALS:
            # llama-cpp-python refuses a schema with 500; others inside a stream, with no status.
            refusals = _REFUSAL_STATUS | ({500, None} if part == "response_format" else set())
            if body.get(part) and error.status in refusals and pattern.search(error.detail):
                return part
        return None
