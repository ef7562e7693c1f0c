"""Renders answers in several processes at once, where there are enough of them."""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from itertools import chain, islice

from touchstone.gui.answer_texts import AnswerText, dump_parts, render_answer

WORTH_A_POOL = 500
"""Answers from which on starting processes (0.3 s each) pays off."""
MOST_WORKERS = 8
_TASK = 200
"""Answers that are sent to a process at once: bounds memory, whatever the size of a model."""

Rendered = list[tuple[bytes, bytes]]


class AnswerPool:
    """Renders answers: in this process when they are few, else in as many as there are cores.

    The processes start when they are first needed. They are started with ``spawn``, and see
    nothing but texts.
    """

    def __init__(self, workers: int | None = None, *, worth: int = WORTH_A_POOL) -> None:
        self._workers = min(cores() if workers is None else workers, MOST_WORKERS)
        self._worth = worth
        self._executor: ProcessPoolExecutor | None = None
        self.started = 0

    @property
    def is_useful(self) -> bool:
        """False if everything would be rendered in this process, one answer after the other."""
        return self._workers > 1

    def render(self, answers: Iterable[AnswerText]) -> Iterator[Rendered]:
        """Yield (key, what ``load_parts`` reads) of all answers, some at a time.

        If processes can't be started or die, the rest is rendered in this one.
        """
        rest = iter(answers)
        first = list(islice(rest, self._worth))
        if self._executor is None and self._workers > 1 and len(first) >= self._worth:
            context = multiprocessing.get_context("spawn")
            self._executor = ProcessPoolExecutor(self._workers, mp_context=context)
            self.started += 1
        waiting: deque[tuple[Sequence[AnswerText], Future[Rendered] | None]] = deque()
        for task in _tasks(chain(first, rest)):
            waiting.append((task, self._submit(task)))
            if len(waiting) > 2 * self._workers:
                yield self._result(*waiting.popleft())
        while waiting:
            yield self._result(*waiting.popleft())

    def _submit(self, task: Sequence[AnswerText]) -> Future[Rendered] | None:
        if self._executor is None:
            return None
        try:
            return self._executor.submit(render_all, task)
        except (OSError, RuntimeError):
            self._give_up()
            return None

    def _result(self, task: Sequence[AnswerText], future: Future[Rendered] | None) -> Rendered:
        if future is not None:
            try:
                return future.result()
            except (BrokenExecutor, OSError):
                self._give_up()
        return render_all(task)

    def _give_up(self) -> None:
        self.close()
        self._workers = 1

    def close(self) -> None:
        """End the processes."""
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)
            self._executor = None


def render_all(answers: Sequence[AnswerText]) -> Rendered:
    """Return key and HTML of each answer; runs in a process of the pool."""
    return [(one.key(), dump_parts(render_answer(one))) for one in answers]


def cores() -> int:
    """Return how many processes can run at once for this one."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _tasks(answers: Iterable[AnswerText]) -> Iterator[list[AnswerText]]:
    rest = iter(answers)
    while task := list(islice(rest, _TASK)):
        yield task
