"""Reads suites: YAML in, a checked Suite out, every problem named in one message."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from touchstone.errors import Problem, SuiteError
from touchstone.models import FORMAT, Prompt, Suite
from touchstone.slugs import case_collisions
from touchstone.yaml_source import Loc, YamlSource, parse_yaml, read_text

_SHIPPED = resources.files("touchstone") / "suites"
_HINT = "The file format is described in the documentation, page “Suites”."


@dataclass(frozen=True)
class LoadedSuite:
    """A suite, the bytes it was read from, their SHA-256, and remarks that are no errors."""

    suite: Suite
    source: bytes
    sha256: str
    warnings: tuple[Problem, ...] = ()


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
        return parse_suite(read_text(path, SuiteError, str(path)).encode(), str(path))
    if path_or_name in shipped_suites():
        resource = _SHIPPED / f"{path_or_name}.yaml"
        return parse_suite(resource.read_bytes(), f"{path_or_name}.yaml")
    raise SuiteError(
        f"There is no suite {path_or_name!r}: no such file, and none that ships.",
        hint=f"Suites that ship: {', '.join(shipped_suites())}.",
    )


def parse_suite(source: bytes, name: str) -> LoadedSuite:
    """Return the suite that stands in ``source`` (UTF-8 YAML).

    Raises:
        SuiteError: with every problem, each with file, line and key.
    """
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as failure:
        raise SuiteError(f"{name} is not UTF-8 (byte {failure.start}).") from None
    document = parse_yaml(text, name, SuiteError)
    if not isinstance(document.data, dict):
        raise SuiteError(f"{name} is no suite: it holds no keys.", hint=_HINT)
    _refuse_newer(document)
    suite = document.validate(Suite, SuiteError, _HINT)
    problems = [Problem(code, document.where(loc), message) for loc, code, message in _check(suite)]
    if problems:
        raise SuiteError(f"{name} can't be used:", problems, hint=_HINT)
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


Finding = tuple[Loc, str, str]


def _check(suite: Suite) -> Iterator[Finding]:
    if suite.format != FORMAT:
        yield ("format",), "format", f"must be {FORMAT}"
    yield from _duplicates([d.id for d in suite.dimensions], "dimensions")
    yield from _duplicates([p.id for p in suite.prompts], "prompts")
    yield from _check_ko(suite)
    yield from _check_follows(suite)
    for index, prompt in enumerate(suite.prompts):
        if not prompt.id.strip():
            yield ("prompts", index, "id"), "empty_id", "must not be empty"
        if not any(turn.content.strip() for turn in prompt.turns()):
            yield ("prompts", index), "empty_prompt", "has no text"


def _duplicates(ids: list[str], section: str) -> Iterator[Finding]:
    counts = Counter(ids)
    seen: set[str] = set()
    for index, one in enumerate(ids):
        if counts[one] > 1 and one in seen:
            yield (section, index, "id"), "duplicate_id", f"{one!r} is used more than once"
        seen.add(one)


def _check_ko(suite: Suite) -> Iterator[Finding]:
    rule = suite.ko_rule
    if rule is None:
        return
    if suite.dimension(rule.dimension) is None:
        yield (
            ("ko_rule", "dimension"),
            "unknown_dimension",
            f"there is no dimension {rule.dimension!r}",
        )
    if isinstance(rule.red_flag_scope, str):
        return
    known = {p.id for p in suite.prompts} | {f"group:{p.group}" for p in suite.prompts}
    for index, entry in enumerate(rule.red_flag_scope):
        if entry not in known:
            what = "group" if entry.startswith("group:") else "prompt"
            name = entry.removeprefix("group:")
            yield (
                ("ko_rule", "red_flag_scope", index),
                f"unknown_{what}",
                f"there is no {what} {name!r}",
            )


def _check_follows(suite: Suite) -> Iterator[Finding]:
    by_id = {prompt.id: prompt for prompt in suite.prompts}
    for index, prompt in enumerate(suite.prompts):
        if prompt.follows is None:
            continue
        place = ("prompts", index, "follows")
        if prompt.follows not in by_id:
            yield place, "unknown_prompt", f"there is no prompt {prompt.follows!r}"
        elif _runs_in_a_circle(prompt, by_id):
            yield place, "circle", "these prompts follow each other in a circle"


def _runs_in_a_circle(prompt: Prompt, by_id: dict[str, Prompt]) -> bool:
    seen: set[str] = set()
    step: Prompt | None = prompt
    while step is not None and step.follows is not None:
        if step.id in seen:
            return True
        seen.add(step.id)
        step = by_id.get(step.follows)
    return False


def _warnings(suite: Suite, document: YamlSource) -> tuple[Problem, ...]:
    groups = case_collisions(prompt.id for prompt in suite.prompts)
    return tuple(
        Problem(
            "case_collision",
            document.where(("prompts",)),
            f"ids differ only in case: {', '.join(group)}; their pages get a suffix",
        )
        for group in groups
    )
