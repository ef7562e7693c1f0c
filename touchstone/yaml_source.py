"""YAML that people write, read with line numbers, and with strings exactly as they stand there.

PyYAML's own rules turn ``NO`` into False, ``12:30`` into 750 and ``007`` into 7, which ruins ids
and texts. Here every scalar is a string, except under the few keys that hold numbers or switches.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from touchstone.errors import InputError, Problem

Loc = tuple[str | int, ...]
ModelT = TypeVar("ModelT", bound=BaseModel)

TYPED_KEYS = frozenset(
    {
        *("format", "weight", "threshold", "max_tokens", "repeat", "window", "share"),
        *("prompt_version", "score", "knock_out", "concurrency", "rpm"),
        *("intent_accuracy", "faithfulness", "relevance", "coherence", "composite"),
        *("cites_evidence", "names_improvement", "justifies_level", "catches_safety"),
        *("evidence_relevant", "defect_named", "fix_named", "level_justified"),
    }
)
TYPED_TREES = frozenset({"parameters", "extra_body"})

_INT = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_MAX_NODES = 1_000_000
_MAX_BYTES = 64_000_000
_STR_TAG = "tag:yaml.org,2002:str"


class _Loader(yaml.SafeLoader):
    """Composes nodes only; plain scalars keep no type of their own."""


_Loader.yaml_implicit_resolvers = {}


@dataclass
class YamlSource:
    """A parsed document: ``data`` and the line on which each of its parts stands."""

    name: str
    data: Any = None
    lines: dict[Loc, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def where(self, loc: Loc) -> str:
        """Return ``file:line: key`` of the innermost part of ``loc`` that the file has."""
        for length in range(len(loc), -1, -1):
            line = self.lines.get(loc[:length])
            if line is not None:
                key = _dotted(loc)
                return f"{self.name}:{line}: {key}" if key else f"{self.name}:{line}"
        return self.name

    def validate(self, model: type[ModelT], error: type[InputError], hint: str = "") -> ModelT:
        """Return the document as ``model``, or raise ``error`` with every problem found."""
        if not self.problems:
            try:
                return model.model_validate(self.data)
            except ValidationError as failure:
                self.problems += [
                    Problem(code, self.where(loc), message)
                    for loc, code, message in explain(failure, self.data)
                ]
        raise error(f"{self.name} can't be used:", self.problems, hint=hint)


def read_text(path: Path, error: type[InputError], name: str = "") -> str:
    """Return a text file's content (UTF-8, a BOM is dropped), or raise ``error``."""
    label = name or path.name
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise error(
                f"{label} is larger than {_MAX_BYTES // 1_000_000} MB; is it the right file?"
            )
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as failure:
        where = Problem("encoding", f"{label}, byte {failure.start}", "is not UTF-8")
        raise error(f"{label} can't be read:", [where], hint="Save it as UTF-8.") from None
    except OSError as failure:
        reason = failure.strerror or str(failure)
        raise error(f"{path} can't be read: {reason}.") from None


def parse_yaml(text: str, name: str, error: type[InputError]) -> YamlSource:
    """Parse one YAML document; syntax errors raise ``error`` with their line."""
    try:
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as failure:
        mark = failure.problem_mark or failure.context_mark
        line = f":{mark.line + 1}" if mark else ""
        message = " ".join(part for part in (failure.context, failure.problem) if part)
        raise error(
            f"{name} is not valid YAML:", [Problem("yaml", f"{name}{line}", message)]
        ) from None
    except yaml.YAMLError as failure:
        raise error(f"{name} is not valid YAML: {failure}") from None
    except RecursionError:
        raise error(f"{name} is nested too deeply.") from None
    source = YamlSource(name)
    if node is not None:
        try:
            source.data = _Builder(source).build(node, (), False)
        except RecursionError:
            raise error(f"{name} refers to itself.") from None
        except OverflowError:
            raise error(f"{name} repeats its parts too often (anchors and aliases).") from None
    return source


class _Builder:
    def __init__(self, source: YamlSource) -> None:
        self.source = source
        self.count = 0

    def build(self, node: yaml.Node, loc: Loc, typed: bool) -> Any:
        self.count += 1
        if self.count > _MAX_NODES:
            raise OverflowError
        self.source.lines.setdefault(loc, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, loc, typed)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*loc, i), typed) for i, item in enumerate(node.value)]
        return _scalar(node, typed)

    def _mapping(self, node: yaml.MappingNode, loc: Loc, typed: bool) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._problem(key_node, loc, "complex_key", "a key must be a plain word")
                continue
            key = str(key_node.value)
            here = (*loc, key)
            if key in result:
                self._problem(key_node, here, "duplicate_key", "stands here twice")
                continue
            self.source.lines[here] = key_node.start_mark.line + 1
            result[key] = self.build(
                value_node, here, typed or key in TYPED_TREES or key in TYPED_KEYS
            )
        return result

    def _problem(self, node: yaml.Node, loc: Loc, code: str, message: str) -> None:
        where = f"{self.source.name}:{node.start_mark.line + 1}: {_dotted(loc)}"
        self.source.problems.append(Problem(code, where, message))


def _scalar(node: yaml.Node, typed: bool) -> Any:
    value = str(node.value)
    plain = getattr(node, "style", None) is None
    if not plain:
        return value
    if value in {"", "~", "null", "Null", "NULL"}:
        return None
    if not typed:
        return value
    if value in {"true", "True", "TRUE", "false", "False", "FALSE"}:
        return value.lower() == "true"
    if _INT.fullmatch(value) and len(value) < 20:
        return int(value)
    return float(value) if _FLOAT.fullmatch(value) else value


def explain(failure: ValidationError, data: Any) -> list[tuple[Loc, str, str]]:
    """Return pydantic's findings as (place, code, sentence), one for each place."""
    found: dict[Loc, tuple[str, str]] = {}
    for item in failure.errors(include_url=False):
        loc = _real_loc(item["loc"], data)
        message = item["msg"].removeprefix("Value error, ")
        if item["type"] == "missing":
            loc, message = (*loc, str(item["loc"][-1])), "is required"
        elif item["type"] == "extra_forbidden":
            message = "is not a key here (a typing error?)"
        found.setdefault(loc, (item["type"], _sentence(message)))
    return [(loc, code, message) for loc, (code, message) in found.items()]


def _real_loc(loc: Collection[str | int], data: Any) -> Loc:
    """Drop what pydantic adds to a place (names of union members, validators)."""
    real: list[str | int] = []
    for part in loc:
        if isinstance(data, Mapping) and (part in data or str(part) in data):
            data = data[part] if part in data else data[str(part)]
        elif isinstance(data, list | tuple) and isinstance(part, int) and part < len(data):
            data = data[part]
        else:
            continue
        real.append(part)
    return tuple(real)


def _sentence(message: str) -> str:
    message = message.replace("Input should be", "must be").replace("valid ", "")
    return message[:300]


def _dotted(loc: Loc) -> str:
    text = ""
    for part in loc:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text
