"""Whether a process runs, for tests that must leave none behind."""

from __future__ import annotations

import os
from pathlib import Path


def is_running(pid: int) -> bool:
    """Say whether a process runs; one that ended but was not collected does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return not Path("/proc/self/stat").exists()
