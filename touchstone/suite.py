"""Reads suites: YAML in, a checked Suite out, every problem named in one message."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from touchstone.errors import Problem, SuiteError
from touchstone.models import FORMAT, Suite, group_of
from touchstone.slugs import case_collisions
from touchstone.yaml_source import Finding, YamlSource, decode_text, parse_yaml, read_bytes

_SHIPPED = resources.files("touchstone") / "suites"
_HINT = "The file format is described in the documentation, page “Suites”."


@dataclass(frozen=True)
class LoadedSuite:
    """A suite, the bytes it was read from, their SHA-256, and remarks that are no errors."""

    suite: Suite
    source: bytes
    sha256: str
    warnings: tuple[Problem, ...] = ()


_recent: deque[LoadedSuite] = deque(maxlen=4)


def shipped_suites() -> list[str]:
    """Return the names of the suites that come with the package."""
    return sorted(entry.name[:-5] for entry in _SHIPPED.iterdir() if entry.name.endswith(".yaml"))


def load_suite(path_or_name: str) -> LoadedSuite:
    """Read a suite from a path, a folder with a ``suite.yaml``, or a shipped name.

    Raises:
        SuiteError: there is no such suite, or it has problems (all of them are listed).
    """
    path = Path(path_or_name)
    if path.is_dir():
        path /= "suite.yaml"
    if path.is_file():
        return parse_suite(read_bytes(path, SuiteError, str(path)), str(path))
    if path_or_name in shipped_suites():
        resource = _SHIPPED / f"{path_or_name}.yaml"
        return parse_suite(resource.read_bytes(), f"{path_or_name}.yaml")
    raise SuiteError(
        f"There is no suite {path_or_name!r}: no such file, and none that ships.",
        hint=f"Suites that ship: {', '.join(shipped_suites())}.",
    )


def parse_suite(source: bytes, name: str) -> LoadedSuite:
    """Return the suite that stands in ``source`` (UTF-8 YAML).

    Bundles of one suite carry the same bytes: these are parsed once.

    Raises:
        SuiteError: with every problem, each with file, line and key.
    """
    for known in tuple(_recent):
        if known.source == source:
            return known
    loaded = _parsed(source, name)
    if not loaded.warnings:  # they name the file
        _recent.append(loaded)
    return loaded


def _parsed(source: bytes, name: str) -> LoadedSuite:
    document = parse_yaml(decode_text(source, name, SuiteError), name, SuiteError)
    if not isinstance(document.data, dict):
        raise SuiteError(f"{name} is no suite: it holds no keys.", hint=_HINT)
    _refuse_newer(document)
    document.report(_check(document.data))
    suite = document.validate(Suite, SuiteError, _HINT)
    return LoadedSuite(
        suite, source, hashlib.sha256(source).hexdigest(), _warnings(suite, document)
    )


def _refuse_newer(document: YamlSource) -> None:
    found = document.data.get("format")
    if isinstance(found, int) and not isinstance(found, bool) and found > FORMAT:
        raise SuiteError(
            f"{document.name} has format {found}; this version of touchstone reads up to {FORMAT}.",
            hint="Update touchstone.",
        )


def _check(data: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield what the models can't see, from the raw data, so that one message lists it all."""
    found = data.get("format")
    if isinstance(found, int) and found < FORMAT:
        yield ("format",), "format", f"must be {FORMAT}"
    for section in ("dimensions", "prompts"):
        yield from _check_ids(data, section)
    for index, prompt in _entries(data, "prompts"):
        if not _has_text(prompt):
            yield ("prompts", index), "empty_prompt", "has no text"
    yield from _check_ko(data)
    yield from _check_follows(data)


def _entries(data: Mapping[str, Any], section: str) -> list[tuple[int, Mapping[str, Any]]]:
    """Return the entries of a section that have an id, each with its index."""
    entries = data.get(section)
    return [
        (index, entry)
        for index, entry in enumerate(entries if isinstance(entries, list) else [])
        if isinstance(entry, Mapping) and isinstance(entry.get("id"), str)
    ]


def _check_ids(data: Mapping[str, Any], section: str) -> Iterator[Finding]:
    seen: set[str] = set()
    for index, entry in _entries(data, section):
        one = entry["id"]
        if not one.strip():
            yield (section, index, "id"), "empty_id", "must not be empty"
        elif one in seen:
            yield (section, index, "id"), "duplicate_id", f"{one!r} is used more than once"
        seen.add(one)


def _has_text(prompt: Mapping[str, Any]) -> bool:
    """Say whether a task says anything (the models see to it that there is one)."""
    text, turns = prompt.get("text"), prompt.get("messages")
    if text is None and isinstance(turns, list) and turns:
        contents = [turn.get("content") if isinstance(turn, Mapping) else "?" for turn in turns]
        return any(not isinstance(one, str) or one.strip() for one in contents)
    return not isinstance(text, str) or bool(text.strip())


def _check_ko(data: Mapping[str, Any]) -> Iterator[Finding]:
    rule = data.get("ko_rule")
    if not isinstance(rule, Mapping):
        return
    dimension, scope = rule.get("dimension"), rule.get("red_flag_scope")
    if isinstance(dimension, str) and dimension not in {
        entry["id"] for _, entry in _entries(data, "dimensions")
    }:
        place = ("ko_rule", "dimension")
        yield place, "unknown_dimension", f"there is no dimension {dimension!r}"
    prompts = [entry for _, entry in _entries(data, "prompts")]
    groups = {f"group:{p.get('group') or group_of(p['id'])}" for p in prompts}
    known = {p["id"] for p in prompts} | groups
    for index, entry in enumerate(scope if isinstance(scope, list) else []):
        if isinstance(entry, str) and entry not in known:
            what = "group" if entry.startswith("group:") else "prompt"
            message = f"there is no {what} {entry.removeprefix('group:')!r}"
            yield ("ko_rule", "red_flag_scope", index), f"unknown_{what}", message


def _check_follows(data: Mapping[str, Any]) -> Iterator[Finding]:
    prompts = _entries(data, "prompts")
    follows = {prompt["id"]: prompt.get("follows") for _, prompt in prompts}
    for index, prompt in prompts:
        before = prompt.get("follows")
        place = ("prompts", index, "follows")
        if not isinstance(before, str):
            continue
        if before not in follows:
            yield place, "unknown_prompt", f"there is no prompt {before!r}"
        elif _runs_in_a_circle(prompt["id"], follows):
            yield place, "circle", "these prompts follow each other in a circle"


def _runs_in_a_circle(prompt_id: str, follows: Mapping[str, Any]) -> bool:
    seen: set[str] = set()
    step: Any = prompt_id
    while isinstance(step, str) and step in follows:
        if step in seen:
            return True
        seen.add(step)
        step = follows[step]
    return False


def _warnings(suite: Suite, document: YamlSource) -> tuple[Problem, ...]:
    sections = {
        "dimensions": [dimension.id for dimension in suite.dimensions],
        "prompts": [prompt.id for prompt in suite.prompts],
    }
    return tuple(
        Problem(
            "case_collision",
            document.where((section,)),
            f"ids differ only in case: {', '.join(group)}; their pages get a suffix",
        )
        for section, ids in sections.items()
        for group in case_collisions(ids)
    )
