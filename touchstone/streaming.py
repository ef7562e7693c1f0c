"""Turns concurrent work into one stream of records, and stops it cleanly."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from typing import TypeVar

RecordT = TypeVar("RecordT")


async def stream(
    produce: Callable[[Callable[[RecordT], None]], Awaitable[None]],
) -> AsyncGenerator[RecordT, None]:
    """Yield what ``produce`` emits, as soon as it is emitted, until it returns.

    An exception in ``produce`` is raised here after the records before it. When the reader stops
    early and closes the stream (``contextlib.aclosing``), ``produce`` is cancelled and awaited.
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
        # Gathered, so that what goes wrong while it is stopped does not hide why it is stopped.
        await asyncio.gather(task, return_exceptions=True)


async def work_off(jobs: Iterable[Awaitable[None]], workers: int) -> None:
    """Await all jobs, ``workers`` of them at a time.

    A failing job stops the others, and its exception is raised as it is. ``jobs`` may make each
    job when it is asked for it; none is made that is not awaited.
    """
    waiting = iter(jobs)

    async def worker() -> None:
        for job in waiting:
            await job

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(max(1, workers)):
                group.create_task(worker())
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
