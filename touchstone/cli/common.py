"""What commands share: options for endpoints, opening them, progress, clean output."""

from __future__ import annotations

import contextlib
import json
import os
import platform
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from touchstone.endpoints import Endpoint, EndpointConfig, OpenAICompatEndpoint
from touchstone.endpoints.local import open_local
from touchstone.errors import EndpointError, UsageError
from touchstone.json_text import json_text
from touchstone.model_specs import RESERVED_PARAMETERS, ModelSpec

F = TypeVar("F", bound=Callable[..., Any])

BUNDLE_PATH = click.Path(path_type=Path)

_LOCAL_TIMEOUT_S = 300.0
"""An embedded model reads a long prompt at the pace of one processor thread, in silence."""


@dataclass(frozen=True)
class Limits:
    """How requests are made: at once, per minute, seconds of silence, tries."""

    concurrency: int | None
    rpm: int | None
    timeout: float
    max_retries: int


def endpoint_options(function: F) -> F:
    """Add the options of every command that talks to a model."""
    options = [
        click.option(
            "--base-url",
            metavar="URL",
            help="OpenAI-compatible server, e.g. http://127.0.0.1:8080/v1. Default: "
            "TOUCHSTONE_BASE_URL, then OPENAI_BASE_URL.",
        ),
        click.option(
            "--api-key-env",
            metavar="NAME",
            help="Environment variable that holds the key. Default: TOUCHSTONE_API_KEY, then "
            "OPENAI_API_KEY. The key itself is never written anywhere.",
        ),
        click.option("--concurrency", type=click.IntRange(1), help="Requests at once. Default: 2."),
        click.option("--rpm", type=click.IntRange(1), help="Requests per minute at most."),
        click.option(
            "--timeout",
            type=click.FloatRange(0, min_open=True),
            default=120.0,
            show_default=True,
            help="Seconds of silence after which a request has failed.",
        ),
        click.option(
            "--max-retries",
            type=click.IntRange(0),
            default=4,
            show_default=True,
            help="Further tries after a passing failure.",
        ),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def parameter_option(function: F) -> F:
    """Add ``--parameter``: whatever else a server understands."""
    return click.option(
        "--parameter",
        "parameters",
        multiple=True,
        metavar="NAME=VALUE",
        help="Any other request parameter, e.g. frequency_penalty=0.5. Repeatable.",
    )(function)


def parse_parameters(pairs: tuple[str, ...]) -> dict[str, Any]:
    """Return ``NAME=VALUE`` pairs as parameters; a value is JSON where it can be, else text."""
    parameters: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        name = name.strip()
        if not equals or not name:
            raise UsageError(f"--parameter takes NAME=VALUE, not {pair!r}.")
        if name in RESERVED_PARAMETERS:
            raise UsageError(f"--parameter can't set {name}: that is what is asked, and of whom.")
        try:
            parameters[name] = json.loads(value, parse_constant=str)
        except (ValueError, RecursionError):
            parameters[name] = value
    return parameters


def base_url_for(spec: ModelSpec, base_url: str | None) -> str | None:
    """Return where a model is served: its own entry, the option, the environment, or nowhere."""
    return spec.base_url or base_url or _first_set("TOUCHSTONE_BASE_URL", "OPENAI_BASE_URL")


@contextlib.asynccontextmanager
async def open_endpoint(
    spec: ModelSpec,
    limits: Limits,
    *,
    base_url: str | None,
    api_key_env: str | None,
    context: int | None = None,
) -> AsyncIterator[Endpoint]:
    """Open the endpoint of a model: an embedded one is fetched and started, and stopped after.

    Raises:
        UsageError: there is no address, or the variable with the key is not set.
        EndpointError: nothing listens there, or the embedded model does not start.
    """
    async with contextlib.AsyncExitStack() as stack:
        if spec.local_id is not None:
            with download_progress(spec.local_id) as progress:
                opening = open_local(
                    spec.local_id,
                    context=context,
                    progress=progress,
                    timeout_s=max(_LOCAL_TIMEOUT_S, limits.timeout),
                )
                endpoint: Endpoint = await stack.enter_async_context(opening)
        else:
            config = _endpoint_config(spec, limits, base_url_for(spec, base_url), api_key_env)
            remote = await stack.enter_async_context(OpenAICompatEndpoint(config))
            await _refuse_unreachable(remote)
            endpoint = remote
        yield endpoint


def _endpoint_config(
    spec: ModelSpec, limits: Limits, base_url: str | None, api_key_env: str | None
) -> EndpointConfig:
    if not base_url:
        raise UsageError(
            f"Where does {spec.model} run? No base URL is given.",
            hint="Add --base-url URL (or set TOUCHSTONE_BASE_URL), e.g. "
            "http://127.0.0.1:11434/v1 for Ollama. An embedded model is local:smollm2-135m.",
        )
    key_env = spec.api_key_env or api_key_env
    if key_env and key_env not in os.environ:
        raise UsageError(
            f"The environment variable {key_env} is not set.",
            hint=f"Put the key there: export {key_env}=…",
        )
    return EndpointConfig(
        base_url=base_url,
        model=spec.model,
        api_key_env=key_env or _name_of_set("TOUCHSTONE_API_KEY", "OPENAI_API_KEY"),
        extra_body=spec.extra_body,
        concurrency=spec.concurrency or limits.concurrency or 2,
        rpm=spec.rpm or limits.rpm,
        timeout_s=limits.timeout,
        max_retries=limits.max_retries,
    )


async def _refuse_unreachable(endpoint: OpenAICompatEndpoint) -> None:
    """Raise EndpointError if nothing listens there: better said once than at every prompt."""
    try:
        await endpoint.available_models()
    except EndpointError as failure:
        # A server that hides its list of models, or is slow to give it, may answer all the same.
        if failure.kind == "connection":
            raise


def _name_of_set(*names: str) -> str | None:
    return next((name for name in names if os.environ.get(name)), None)


def _first_set(*names: str) -> str | None:
    name = _name_of_set(*names)
    return os.environ[name] if name else None


def utc_now() -> datetime:
    """Return the current UTC time."""
    return datetime.now(UTC)


def timestamp() -> str:
    """Return the current UTC time as bundles store it."""
    return f"{utc_now():%Y-%m-%dT%H:%M:%SZ}"


def hardware() -> str:
    """Return what this machine is, as far as it matters for timings."""
    cores = f"{os.cpu_count() or 1} × {platform.machine() or 'unknown processor'}"
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    except (ValueError, OSError, AttributeError):
        return cores
    return f"{cores}, {memory:.0f} GiB"


def stderr_console() -> Console:
    """Return the console for messages and progress; stdout stays free for results."""
    return Console(stderr=True, highlight=False)


@contextlib.contextmanager
def counting_progress() -> Iterator[Progress]:
    """Show counting progress bars on a terminal, nothing elsewhere."""
    console = stderr_console()
    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=28),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[note]}", markup=False),
        console=console,
        disable=not console.is_terminal,
    ) as progress:
        yield progress


@contextlib.contextmanager
def download_progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Give a callback (bytes done, bytes in all) that draws a bar while weights are fetched."""
    console = stderr_console()
    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=28),
        TaskProgressColumn(),
        DownloadColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    ) as progress:
        task = progress.add_task(f"Fetching {what}", total=None, visible=False)

        def report(done_bytes: int, total_bytes: int) -> None:
            unfinished = done_bytes != total_bytes
            progress.update(task, completed=done_bytes, total=total_bytes, visible=unfinished)

        yield report


def say(message: str) -> None:
    """Print a message for people (stderr)."""
    click.echo(message, err=True)


def print_json(value: object) -> None:
    """Print the result a script reads (stdout); strings no UTF-8 can hold are escaped."""
    click.echo(json_text(value))


def shown(text: str) -> str:
    """Return untrusted text for a terminal: no control characters, no escape sequences."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
