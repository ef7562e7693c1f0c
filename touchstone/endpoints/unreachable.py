"""Stands for a server that is not there: every request fails with the failure to reach it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, Self

from touchstone.endpoints.protocol import ChatRequest
from touchstone.errors import EndpointError


class UnreachableEndpoint:
    """Fails every request at once, so that each is recorded without being tried."""

    def __init__(self, model: str, failure: EndpointError) -> None:
        self.model = model
        self._failure = failure

    async def chat(self, request: ChatRequest) -> NoReturn:
        """Raise the failure."""
        raise self._failure

    async def context_window(self) -> int | None:
        """Return None: nobody was there to ask."""
        return None

    async def describe(self) -> Mapping[str, Any]:
        """Return nothing: nobody was there to ask."""
        return {}

    async def aclose(self) -> None:
        """Do nothing: nothing was opened."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()
