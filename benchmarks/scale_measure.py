"""Measures a command: CPU time, wall time and memory of it and of the processes it starts."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_INTERVAL_S = 0.05
_MB = 1_000_000


@dataclass(frozen=True)
class Cost:
    """What a command took.

    ``cpu_s`` is user and system time of all its processes; ``largest_mb`` the peak memory (resident
    set) of its largest process, ``together_mb`` the peak of all at once, sampled (0 where the
    system does not say).
    """

    cpu_s: float
    wall_s: float
    largest_mb: float
    together_mb: float


@dataclass(frozen=True)
class Output:
    """What a command wrote."""

    megabytes: float
    pages: int


class CommandFailedError(Exception):
    """A measured command failed; the text is what it printed."""


def measure(command: Sequence[str], environ: Mapping[str, str], folder: Path) -> Cost:
    """Run a command in a folder and return what it took.

    Raises:
        CommandFailedError: it exits with something else than 0.
    """
    log = folder / "benchmark.log"
    together = 0.0
    with log.open("wb") as output:
        begun = time.perf_counter()
        process = subprocess.Popen(
            command, env={**os.environ, **environ}, cwd=folder, stdout=output, stderr=output
        )
        while True:
            done, status, used = os.wait4(process.pid, os.WNOHANG)
            if done:
                break
            together = max(together, sum(map(_resident_mb, _family(process.pid))))
            time.sleep(_INTERVAL_S)
        wall_s = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        text = log.read_text(encoding="utf-8", errors="replace")[-2000:]
        raise CommandFailedError(f"{' '.join(command)}:\n{text}")
    largest_mb = used.ru_maxrss * 1024 / _MB
    return Cost(used.ru_utime + used.ru_stime, wall_s, largest_mb, max(together, largest_mb))


def output_of(site: Path) -> Output:
    """Return size and number of pages of a site."""
    files = [path for path in site.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    return Output(size / _MB, sum(path.suffix == ".html" for path in files))


def _family(pid: int) -> Iterator[int]:
    """Yield a process and all below it, as far as the system says (Linux)."""
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        return
    for child in children:
        yield from _family(int(child))


def _resident_mb(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except (OSError, IndexError, ValueError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / _MB
