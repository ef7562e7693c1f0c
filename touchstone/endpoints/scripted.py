"""A fake endpoint that answers from a script: for tests, examples and dry runs."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Self

from touchstone.endpoints.protocol import ChatReply, ChatRequest
from touchstone.errors import EndpointError

__all__ = ["Scripted", "ScriptedEndpoint"]

Scripted = str | ChatReply | EndpointError
"""One scripted outcome: the text of a reply, a whole reply, or the error to raise."""


class ScriptedEndpoint:
    """Answers with what it is given, without a network, and remembers what it was asked.

    ``replies`` is a series of outcomes, used up in order, or a callable from request to outcome
    (it may be async). Once a series is used up, further requests fail with a ``bad_reply`` error
    that says so. ``requests`` lists every request in the order it came.
    """

    def __init__(
        self,
        model: str,
        replies: Iterable[Scripted] | Callable[[ChatRequest], Scripted | Awaitable[Scripted]],
        *,
        context: int | None = None,
        facts: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.model = model
        self.requests: list[ChatRequest] = []
        self.closed = False
        self._replies = replies if callable(replies) else iter(tuple(replies))
        self._context = context
        self._facts = dict(facts)

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Return the next scripted reply, or raise the next scripted error."""
        self.requests.append(request)
        outcome = await self._outcome(request)
        if isinstance(outcome, EndpointError):
            raise outcome
        if isinstance(outcome, ChatReply):
            return outcome
        return ChatReply(
            text=outcome,
            finish_reason="stop",
            model=self.model,
            structured=request.schema is not None,
            raw=outcome,
        )

    async def _outcome(self, request: ChatRequest) -> Scripted:
        if callable(self._replies):
            outcome = self._replies(request)
            return await outcome if inspect.isawaitable(outcome) else outcome
        try:
            return next(self._replies)
        except StopIteration:
            return EndpointError(
                f"The script of {self.model} has no reply for request {len(self.requests)}.",
                kind="bad_reply",
            )

    async def context_window(self) -> int | None:
        """Return the context window this endpoint was made with."""
        return self._context

    async def describe(self) -> Mapping[str, Any]:
        """Return the facts this endpoint was made with; the engine is ``scripted``."""
        return {"engine": "scripted", **self._facts}

    async def aclose(self) -> None:
        """Remember that it was closed."""
        self.closed = True

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()
