"""What servers tell about themselves: engine, weights, context window, and where they tell it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, Protocol
from urllib.parse import urlsplit, urlunsplit

__all__ = [
    "Ask",
    "ServerFacts",
    "ask_for_facts",
    "facts_of_llama_cpp",
    "facts_of_models",
    "facts_of_ollama",
    "model_ids",
]

_WINDOW_KEYS = ("max_model_len", "context_window", "context_length", "max_context_length")


@dataclass(frozen=True)
class ServerFacts:
    """What is known about a server; None and missing keys mean that it did not say.

    ``context_window`` is in tokens. ``weights`` has keys of ``touchstone.models.Weights``.
    ``owner`` is the ``owned_by`` of the model list, which names the engine of many servers.
    """

    engine: str | None = None
    context_window: int | None = None
    weights: Mapping[str, str] = field(default_factory=dict)
    owner: str | None = None

    def or_else(self, other: ServerFacts) -> ServerFacts:
        """Fill what is unknown from another source."""
        return replace(
            self,
            engine=self.engine or other.engine,
            context_window=self.context_window or other.context_window,
            weights={**other.weights, **self.weights},
            owner=self.owner or other.owner,
        )


class Ask(Protocol):
    """Returns the JSON at a URL, or None where there is none; with a question, by POST."""

    def __call__(self, url: str, question: Mapping[str, str] | None = None) -> Awaitable[object]:
        """Ask one address."""


async def ask_for_facts(ask: Ask, api: str, model: str) -> ServerFacts:
    """Ask a server for what it tells about itself and this model.

    ``api`` is the address under which chat completions and the model list lie, mostly ``…/v1``.
    llama.cpp's ``/props`` comes first (it knows the window of a slot), then the model list, then
    what vLLM and Ollama have beside it.
    """
    parts = urlsplit(api)

    def below(path: str, *, root: bool) -> str:
        base = re.sub(r"/v\d\w*$", "", parts.path) if root else parts.path
        return urlunsplit(parts._replace(path=base + path))

    facts = facts_of_llama_cpp(await ask(below("/props", root=True)))
    listing = await ask(below("/models", root=False))
    facts = facts.or_else(facts_of_models(listing, model))
    if facts.engine is not None:
        return facts
    if facts.owner == "vllm":
        version = _text(_mapping(await ask(below("/version", root=True))).get("version"))
        return replace(facts, engine=f"vLLM {version}" if version else "vLLM")
    version_reply = await ask(below("/api/version", root=True))
    if "version" not in _mapping(version_reply):
        return facts
    running = await ask(below("/api/ps", root=True))
    shown = await ask(below("/api/show", root=True), {"model": model})
    return facts.or_else(facts_of_ollama(version_reply, running, shown, model))


def facts_of_llama_cpp(props: object) -> ServerFacts:
    """Read llama.cpp's ``/props``. The context window is that of one slot, as requests see it."""
    if not isinstance(props, dict) or "default_generation_settings" not in props:
        return ServerFacts()
    settings = _mapping(props["default_generation_settings"])
    build = _text(props.get("build_info"))
    weights = {
        "name": _file_name(_text(props.get("model_path"))),
        "quantization": _text(props.get("model_ftype")),
    }
    return ServerFacts(
        # Builds outside a git checkout call themselves "b0-unknown".
        engine=f"llama.cpp {build}" if build and not build.startswith("b0") else "llama.cpp",
        context_window=_tokens(settings.get("n_ctx")) or _tokens(props.get("n_ctx")),
        weights={key: value for key, value in weights.items() if value},
    )


def model_ids(listing: object) -> tuple[str, ...]:
    """Return the ids in a ``/v1/models`` listing, in its order."""
    return tuple(str(entry["id"]) for entry in _entries(listing) if entry.get("id"))


def facts_of_models(listing: object, model: str) -> ServerFacts:
    """Read ``/v1/models``: the entry of this model, or the only one there is.

    llama.cpp tells the window in ``meta.n_ctx``, vLLM in ``max_model_len``, others in keys of
    their own; what the model was trained with is the last resort.
    """
    entries = _entries(listing)
    named = [entry for entry in entries if entry.get("id") == model]
    if not named and len(entries) != 1:
        return ServerFacts()
    entry = (named or entries)[0]
    meta = _mapping(entry.get("meta"))
    owner = _text(entry.get("owned_by"))
    windows = [meta.get("n_ctx"), *(entry.get(key) for key in _WINDOW_KEYS)]
    weights = {
        "quantization": _text(meta.get("ftype")),
        "parameters": _parameter_count(meta.get("n_params")),
    }
    return ServerFacts(
        engine="llama.cpp" if owner == "llamacpp" else None,
        context_window=_first_tokens([*windows, meta.get("n_ctx_train")]),
        weights={key: value for key, value in weights.items() if value},
        owner=owner,
    )


def facts_of_ollama(version: object, running: object, shown: object, model: str) -> ServerFacts:
    """Read Ollama's ``/api/version``, ``/api/ps`` and ``/api/show``.

    The window is the one the loaded model runs with; what the model could do says nothing about
    where Ollama cuts a prompt.
    """
    number = _text(_mapping(version).get("version"))
    if number is None:
        return ServerFacts()
    loaded = _mapping(running).get("models")
    window = None
    for entry in loaded if isinstance(loaded, list) else ():
        names = (_mapping(entry).get("name"), _mapping(entry).get("model"))
        if model in names or f"{model}:latest" in names:
            window = _tokens(_mapping(entry).get("context_length"))
    details = _mapping(_mapping(shown).get("details"))
    weights = {
        "quantization": _text(details.get("quantization_level")),
        "parameters": _text(details.get("parameter_size")),
    }
    return ServerFacts(
        engine=f"Ollama {number}",
        context_window=window,
        weights={key: value for key, value in weights.items() if value},
    )


def _entries(listing: object) -> list[Mapping[str, Any]]:
    data = listing.get("data") if isinstance(listing, dict) else listing
    return [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    """Return a short printable text: what a server says may end up on a page."""
    if not isinstance(value, str) or not value.strip():
        return None
    return "".join(char for char in value.strip()[:200] if char.isprintable())


def _file_name(path: str | None) -> str | None:
    """Return the last part of a path: folders of the server's machine are nobody's business."""
    if path is None:
        return None
    return PurePosixPath(PureWindowsPath(path).as_posix()).name or None


def _tokens(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        return None
    return value


def _first_tokens(values: Iterable[object]) -> int | None:
    return next((tokens for value in values if (tokens := _tokens(value))), None)


def _parameter_count(value: object) -> str | None:
    """Return a number of parameters as people write it: 134515008 is ``135M``."""
    count = _tokens(value)
    if count is None:
        return None
    for size, unit in ((10**9, "B"), (10**6, "M")):
        if count >= size:
            digits = f"{count / size:.3g}"
            return re.sub(r"\.0+$", "", digits) + unit
    return str(count)
