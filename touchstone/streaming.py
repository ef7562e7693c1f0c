"""Turns concurrent work into one stream of records, and stops it cleanly."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import TypeVar

RecordT = TypeVar("RecordT")


async def stream(
    produce: Callable[[Callable[[RecordT], None]], Awaitable[None]],
) -> AsyncIterator[RecordT]:
    """Yield what ``produce`` emits, as soon as it is emitted, until it returns.

    An exception in ``produce`` is raised here after the records before it. When the reader stops
    early, ``produce`` is cancelled and awaited.
    """
    queue: asyncio.Queue[tuple[RecordT] | None] = asyncio.Queue()

    async def work() -> None:
        try:
            await produce(lambda record: queue.put_nowait((record,)))
        finally:
            queue.put_nowait(None)

    task = asyncio.create_task(work())
    try:
        while (item := await queue.get()) is not None:
            yield item[0]
        await task
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def work_off(jobs: Iterable[Awaitable[None]], workers: int) -> None:
    """Await all jobs, ``workers`` of them at a time; a failing job stops the others."""
    waiting = iter(jobs)

    async def worker() -> None:
        for job in waiting:
            await job

    async with asyncio.TaskGroup() as group:
        for _ in range(max(1, workers)):
            group.create_task(worker())
