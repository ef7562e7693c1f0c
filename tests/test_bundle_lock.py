"""Writing under pressure: a second writer, a killed one, a disk that is full."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import BundleFolder, answer

from touchstone.bundle import write_bundle
from touchstone.errors import BundleError, BundleLockedError
from touchstone.files import write_atomic
from touchstone.models import Answer

ROOT = Path(__file__).parents[1]


def script(code: str, *args: object, **options: Any) -> subprocess.Popen[str]:
    """Start Python on a piece of code that sees the package."""
    command = [sys.executable, "-c", code, *(str(arg) for arg in args)]
    return subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, **options)


# --- one writer at a time -------------------------------------------------------------------------

HOLD = """
import sys, time
from pathlib import Path
from touchstone.bundle import write_bundle
with write_bundle(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""
CONTEND = """
import os, sys, time
from pathlib import Path
from touchstone.bundle import write_bundle
from touchstone.errors import BundleLockedError
path, overlaps, turns, end = Path(sys.argv[1]), 0, 0, time.monotonic() + 1.5
while time.monotonic() < end:
    try:
        with write_bundle(path):
            turns += 1
            try:
                mark = os.open(path / "inside", os.O_CREAT | os.O_EXCL)
            except FileExistsError:
                overlaps += 1
                continue
            os.close(mark)
            time.sleep(0.0005)
            (path / "inside").unlink()
    except BundleLockedError:
        pass
print(turns, overlaps)
"""


def test_a_second_writer_is_refused_by_name_and_a_killed_one_leaves_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "busy"
    holder = script(HOLD, path)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        words = r"(?s)is writing .*busy\..*Wait until"
        with pytest.raises(BundleLockedError, match=words), write_bundle(path):
            pytest.fail("two writers")
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.communicate()

    with write_bundle(path):
        assert holder.returncode == -signal.SIGKILL
    assert list(path.iterdir()) == []


def test_writers_that_take_turns_never_overlap(tmp_path: Path) -> None:
    writers = [script(CONTEND, tmp_path / "busy") for _ in range(3)]
    results = [[int(one) for one in writer.communicate()[0].split()] for writer in writers]

    assert sum(turns for turns, _ in results) > 10
    assert [overlaps for _, overlaps in results] == [0, 0, 0]


def test_the_same_process_can_not_write_twice_either(folder: BundleFolder) -> None:
    with (
        write_bundle(folder.path),
        pytest.raises(BundleLockedError),
        write_bundle(folder.path),
    ):
        pytest.fail("two writers")


def test_the_lock_goes_when_writing_fails(folder: BundleFolder) -> None:
    with pytest.raises(RuntimeError, match="stop"), write_bundle(folder.path):
        raise RuntimeError("stop")
    with write_bundle(folder.path):
        pass
    assert sorted(path.name for path in folder.path.iterdir()) == ["bundle.yaml", "suite.yaml"]


def test_a_path_that_is_a_file_can_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    words = "file can't be written: File exists"
    with pytest.raises(BundleError, match=words), write_bundle(tmp_path / "file"):
        pytest.fail("written")


# --- full disks -----------------------------------------------------------------------------------

LIMIT = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
REPLACE_ON_FULL_DISK = (
    LIMIT
    + """
import sys
from pathlib import Path
from touchstone.files import write_atomic
try:
    write_atomic(Path(sys.argv[1]), b"new" * 5000)
except OSError as failure:
    print(failure.strerror)
"""
)
APPEND_ON_FULL_DISK = (
    LIMIT
    + """
import sys
from pathlib import Path
from touchstone.bundle import write_bundle
from touchstone.models import Answer
with write_bundle(Path(sys.argv[1])) as writer:
    try:
        for number in range(9):
            text = "x" * 300
            writer.append_answer(
                Answer(model="alpha", variant="default", prompt_id=f"E{number}", text=text)
            )
    except OSError as failure:
        print(number, failure.strerror)
"""
)


def test_a_file_that_can_not_be_replaced_keeps_its_content(tmp_path: Path) -> None:
    path = tmp_path / "bundle.yaml"
    write_atomic(path, b"old")
    output, _ = script(REPLACE_ON_FULL_DISK, path).communicate()

    assert output == "File too large\n"
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_whoever_reads_a_file_while_it_is_replaced_reads_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    write_atomic(path, b"old content")
    with path.open("rb") as stream:
        write_atomic(path, b"new")
        assert stream.read() == b"old content"
    assert path.read_bytes() == b"new"


def test_an_answer_that_did_not_fit_on_the_disk_costs_no_other(folder: BundleFolder) -> None:
    output, _ = script(APPEND_ON_FULL_DISK, folder.path).communicate()
    written = int(output.split()[0])
    assert written > 1
    assert [problem.code for problem in folder.open().answers.problems] == ["torn_line"]

    with write_bundle(folder.path) as writer:
        writer.repair_tails()
        writer.append_answer(Answer.model_validate(answer("D1")))
    answers = folder.open().answers
    expected = [f"E{number}" for number in range(written)]
    assert [one.prompt_id for one in answers] == [*expected, "D1"]
    assert answers.problems == []


def test_a_replaced_file_is_readable_by_others(tmp_path: Path) -> None:
    write_atomic(tmp_path / "new" / "file", b"x")

    assert (tmp_path / "new" / "file").stat().st_mode & 0o777 == 0o644
    assert os.listdir(tmp_path / "new") == ["file"]  # noqa: PTH208
