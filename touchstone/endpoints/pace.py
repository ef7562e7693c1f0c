"""When the next request to a server may start: after an error, and beside all the others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import tenacity

from touchstone.endpoints.failures import HttpError
from touchstone.errors import EndpointError

__all__ = ["Pace", "RetryPolicy", "is_loading"]


@dataclass(frozen=True)
class RetryPolicy:
    """How long to wait between attempts; all in seconds.

    Waits grow from ``first`` by factors of two up to ``longest``, plus a random ``jitter``. What
    the server asks for in ``Retry-After`` wins, up to ``longest_asked``: beyond it there is no
    further attempt. A server that is still loading its model is asked every ``loading`` seconds
    for ``loading_for`` seconds, which costs no attempt.
    """

    first: float = 1.0
    longest: float = 30.0
    jitter: float = 1.0
    longest_asked: float = 120.0
    loading: float = 1.0
    loading_for: float = 300.0

    def worth_another(self, error: BaseException) -> bool:
        """Say whether to try again now. Loading is waited for elsewhere, a quota is not."""
        if not isinstance(error, EndpointError) or not error.retryable:
            return False
        if isinstance(error, HttpError) and (error.loading or error.exhausted):
            return False
        return (error.retry_after or 0.0) <= self.longest_asked

    def wait_s(self, state: tenacity.RetryCallState) -> float:
        """Return the seconds to wait before the attempt that follows ``state``."""
        error = state.outcome.exception() if state.outcome else None
        if is_loading(error):
            return self.loading
        backoff = (
            tenacity.wait_exponential(self.first, self.longest)
            + tenacity.wait_random(0, self.jitter)
        )(state)
        if isinstance(error, EndpointError) and error.retry_after is not None:
            return max(error.retry_after, min(backoff, self.first))
        return backoff


class Pace:
    """Spaces the starts of requests evenly: at most ``rpm`` a minute, none while paused."""

    def __init__(
        self,
        rpm: int | None,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._interval = 60.0 / rpm if rpm else 0.0
        self._clock = clock
        self._sleep = sleep
        self._next = self._resume = clock()

    async def wait(self) -> None:
        """Return when a request may start."""
        start = max(self._clock(), self._next)
        self._next = start + self._interval
        if (delay := start - self._clock()) > 0:
            await self._sleep(delay)
        if (delay := self._resume - self._clock()) > 0:
            await self._sleep(delay)

    def pause(self, seconds: float) -> None:
        """Let no request start for some seconds: one was told to wait, the others need not ask."""
        self._resume = max(self._resume, self._clock() + seconds)


def is_loading(error: BaseException | None) -> bool:
    """Say whether a server answered that it is still loading its model."""
    return isinstance(error, HttpError) and error.loading
