"""Concurrent work as one stream: in order of arrival, honest about errors, stopped cleanly."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing

import pytest
from builders_run import collect

from touchstone.streaming import stream, work_off

Emit = Callable[[int], None]


class OutOfDiskError(Exception):
    """Something that goes wrong in the middle."""


def test_records_come_as_they_are_emitted() -> None:
    seen: list[str] = []

    async def produce(emit: Emit) -> None:
        for number in range(3):
            seen.append(f"emit {number}")
            emit(number)
            await asyncio.sleep(0)

    async def read() -> None:
        async for number in stream(produce):
            note(f"read {number}")

    note = seen.append
    asyncio.run(read())

    assert seen == ["emit 0", "read 0", "emit 1", "read 1", "emit 2", "read 2"]


def test_nothing_emitted_is_an_empty_stream() -> None:
    async def produce(emit: Emit) -> None:
        await asyncio.sleep(0)

    assert collect(stream(produce)) == []


@pytest.mark.parametrize("after", [0, 1, 3])
def test_an_exception_comes_after_the_records_before_it(after: int) -> None:
    async def produce(emit: Emit) -> None:
        for number in range(after):
            emit(number)
        raise OutOfDiskError

    seen: list[int] = []
    note = seen.append

    async def read() -> None:
        async for number in stream(produce):
            note(number)

    with pytest.raises(OutOfDiskError):
        asyncio.run(read())
    assert seen == list(range(after))


def test_stopping_early_cancels_the_producer_and_waits_for_it() -> None:
    states: list[str] = []

    async def produce(emit: Emit) -> None:
        try:
            emit(1)
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            states.append("cleaned up")

    async def read() -> None:
        async with aclosing(stream(produce)) as records:
            async for _ in records:
                break
        states.append("closed")

    asyncio.run(read())

    assert states == ["cleaned up", "closed"]


def test_what_stops_the_reader_is_not_hidden_by_the_producer_failing_too() -> None:
    async def produce(emit: Emit) -> None:
        try:
            emit(1)
            await asyncio.Event().wait()
        finally:
            raise ValueError("a second thing")

    async def read() -> None:
        async with aclosing(stream(produce)) as records:
            async for _ in records:
                raise OutOfDiskError

    with pytest.raises(OutOfDiskError):
        asyncio.run(read())


def test_cancelling_the_reader_cancels_the_producer() -> None:
    stopped: list[bool] = []

    async def produce(emit: Emit) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            stopped.append(True)
            raise

    async def main() -> None:
        async def read() -> None:
            async for _ in stream(produce):
                pass

        task = asyncio.create_task(read())
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())

    assert stopped == [True]


# --- working off a queue of jobs -------------------------------------------------------------


class Crowd:
    """Counts how many jobs run at once."""

    def __init__(self) -> None:
        self.now = self.most = self.done = 0

    async def job(self) -> None:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.001)
        self.now -= 1
        self.done += 1


@pytest.mark.parametrize(("workers", "most"), [(1, 1), (3, 3), (50, 7), (0, 1)])
def test_all_jobs_are_done_by_so_many_at_a_time(workers: int, most: int) -> None:
    crowd = Crowd()

    asyncio.run(work_off((crowd.job() for _ in range(7)), workers))

    assert (crowd.done, crowd.most) == (7, most)


def test_a_failing_job_stops_the_others_and_raises_its_own_exception() -> None:
    ended: list[str] = []

    async def fail() -> None:
        await asyncio.sleep(0)
        raise OutOfDiskError

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("stopped")
            raise

    async def main() -> None:
        # Nested, as a run nests servers, models and chains: no group of groups comes out.
        await work_off((work_off(iter((fail(), wait())), 2) for _ in range(1)), 1)

    with pytest.raises(OutOfDiskError):
        asyncio.run(main())
    assert ended == ["stopped"]


def test_no_job_is_made_that_is_not_awaited() -> None:
    made: list[int] = []

    def jobs() -> Iterator[Awaitable[None]]:
        for number in range(9):
            made.append(number)
            yield job(number)

    async def job(number: int) -> None:
        await asyncio.sleep(0)
        if number == 2:
            raise OutOfDiskError

    with pytest.raises(OutOfDiskError):
        asyncio.run(work_off(jobs(), 2))
    # A coroutine that was made and dropped would warn here, and warnings are errors.
    gc.collect()
    assert max(made) < 5
