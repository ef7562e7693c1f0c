"""YAML that people write, read with line numbers, and with strings exactly as they stand there.

PyYAML's own rules turn ``NO`` into False, ``12:30`` into 750 and ``007`` into 7, which ruins ids
and texts. Here every scalar is a string, except under the few keys that hold numbers or switches.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from touchstone.errors import InputError, Problem

Loc = tuple[str | int, ...]
Finding = tuple[Loc, str, str]
"""Something wrong in a document: where, a code for scripts, a sentence."""
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
_MAX_NODES = 300_000
_MAX_BYTES = 64_000_000
_MAX_DIGITS = 100
_STR_TAG = "tag:yaml.org,2002:str"
_UNUSUAL_BREAKS = frozenset("\x85\u2028\u2029")
_LINE_BREAK = re.compile(r"\r\n?|\n")
_PLAIN_WORDS = (
    (re.compile("^Input should be"), "must be"),
    (re.compile(r"a valid dictionary( or instance of \w+)?"), "a map"),
    (re.compile("a valid (tuple|list)"), "a list"),
    (re.compile("a valid integer"), "a whole number"),
    (re.compile("a valid "), "a "),
)


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

    def report(self, findings: Iterable[Finding]) -> None:
        """Add findings to ``problems``, each with its file, line and key."""
        self.problems += [Problem(code, self.where(loc), text) for loc, code, text in findings]

    def validate(self, model: type[ModelT], error: type[InputError], hint: str = "") -> ModelT:
        """Return the document as ``model``, or raise ``error`` with every problem, by line."""
        try:
            valid = model.model_validate(self.data)
        except ValidationError as failure:
            self.report(explain(failure, self.data))
        if self.problems:
            self.problems.sort(key=self._line_of)
            raise error(f"{self.name} can't be used:", self.problems, hint=hint)
        return valid

    def _line_of(self, problem: Problem) -> int:
        found = re.match(r":(\d+)", problem.where.removeprefix(self.name))
        return int(found[1]) if found else 0


def read_text(path: Path, error: type[InputError], name: str = "") -> str:
    """Return a text file's content (UTF-8, a BOM is dropped), or raise ``error``."""
    return decode_text(read_bytes(path, error, name), name or path.name, error)


def decode_text(content: bytes, name: str, error: type[InputError]) -> str:
    """Return the text that ``content`` holds (UTF-8, a BOM is dropped), or raise ``error``."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as failure:
        line = content.count(b"\n", 0, failure.start) + 1
        where = Problem("encoding", f"{name}:{line}", f"is not UTF-8 (byte {failure.start})")
        raise error(f"{name} can't be read:", [where], hint="Save it as UTF-8.") from None


def read_bytes(path: Path, error: type[InputError], name: str = "") -> bytes:
    """Return a file's content, or raise ``error`` where it can't be read or is far too large."""
    label = name or path.name
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise error(
                f"{label} is larger than {_MAX_BYTES // 1_000_000} MB; is it the right file?"
            )
        return path.read_bytes()
    except OSError as failure:
        reason = failure.strerror or str(failure)
        raise error(f"{path} can't be read: {reason}.") from None


def parse_yaml(text: str, name: str, error: type[InputError]) -> YamlSource:
    """Parse one YAML document; syntax errors raise ``error`` with their line."""
    lines = _Lines(text)
    try:
        node = yaml.compose(text, Loader=_Loader)
    except (yaml.YAMLError, ValueError, OverflowError) as failure:
        # PyYAML lets out ValueError and OverflowError for escapes and versions beyond all bounds.
        line, message = _syntax_error(failure, lines)
        where = f"{name}:{line}" if line else name
        raise error(f"{name} is not valid YAML:", [Problem("yaml", where, message)]) from None
    except RecursionError:
        raise error(f"{name} is nested too deeply.") from None
    source = YamlSource(name)
    if node is not None:
        try:
            source.data = _Builder(source, lines).build(node, (), False)
        except RecursionError:
            raise error(f"{name} refers to itself.") from None
        except OverflowError:
            raise error(f"{name} repeats its parts too often (anchors and aliases).") from None
    return source


def _syntax_error(failure: Exception, lines: _Lines) -> tuple[int | None, str]:
    """Return the line of a syntax error and what is wrong there."""
    if isinstance(failure, yaml.reader.ReaderError):
        return lines.at(failure.position), _forbidden(failure.character)
    if not isinstance(failure, yaml.MarkedYAMLError):
        return None, "it holds an escape or a number beyond all bounds"
    message = " ".join(part for part in (failure.context, failure.problem) if part)
    mark, begun = failure.problem_mark, failure.context_mark
    line = lines.at(mark.index) if mark else None
    first = lines.at(begun.index) if begun else line
    return line or first, message if first == line else f"{message} (it begins on line {first})"


def _forbidden(character: int) -> str:
    return f"holds a character that YAML forbids (U+{character:04X})"


class _Lines:
    """Line numbers as editors count them; YAML breaks lines at U+0085 and U+2028 as well."""

    def __init__(self, text: str) -> None:
        self._starts = [found.end() for found in _LINE_BREAK.finditer(text)]
        self._last = len(text) - 1

    def at(self, index: int) -> int:
        """Return the line (from 1) of the character at ``index``; past the end, the last line."""
        return bisect_right(self._starts, min(index, self._last)) + 1


class _Builder:
    def __init__(self, source: YamlSource, lines: _Lines) -> None:
        self.source = source
        self.lines = lines
        self.count = 0

    def build(self, node: yaml.Node, loc: Loc, typed: bool) -> Any:
        self.count += 1
        if self.count > _MAX_NODES:
            raise OverflowError
        self.source.lines.setdefault(loc, self.lines.at(node.start_mark.index))
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
            self.source.lines[here] = self.lines.at(key_node.start_mark.index)
            is_number = key in TYPED_KEYS and isinstance(value_node, yaml.ScalarNode)
            result[key] = self.build(value_node, here, typed or is_number or key in TYPED_TREES)
        return result

    def _problem(self, node: yaml.Node, loc: Loc, code: str, message: str) -> None:
        where = f"{self.source.name}:{self.lines.at(node.start_mark.index)}"
        key = _dotted(loc)
        self.source.problems.append(Problem(code, f"{where}: {key}" if key else where, message))


def _scalar(node: yaml.Node, typed: bool) -> Any:
    value = str(node.value)
    return _plain_scalar(value, typed) if getattr(node, "style", None) is None else value


def _plain_scalar(value: str, typed: bool) -> Any:
    if value in {"", "~", "null", "Null", "NULL"}:
        return None
    if not typed:
        return value
    if value in {"true", "True", "TRUE", "false", "False", "FALSE"}:
        return value.lower() == "true"
    if _INT.fullmatch(value) and len(value) <= _MAX_DIGITS:
        return int(value)
    if _FLOAT.fullmatch(value) and math.isfinite(float(value)):
        return float(value)
    return value


class _Dumper(yaml.SafeDumper):
    """Quotes whatever this module's reader would not read back as the string it is."""

    def represent_string(self, value: str) -> yaml.ScalarNode:
        breaks = not _UNUSUAL_BREAKS.isdisjoint(value)
        quoted = breaks or _plain_scalar(value, typed=True) is not value
        return self.represent_scalar(_STR_TAG, value, style='"' if quoted else None)


_Dumper.add_representer(str, _Dumper.represent_string)


def dump_yaml(data: Any) -> str:
    """Return data (maps, lists, strings, numbers) as YAML that ``parse_yaml`` reads back.

    Numbers and switches do so under the keys that hold some; elsewhere they come back as strings.
    """
    text: str = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text


def explain(failure: ValidationError, data: Any) -> list[Finding]:
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
            part = part if part in data else str(part)
            data = data[part]
        elif isinstance(data, list | tuple) and isinstance(part, int) and part < len(data):
            data = data[part]
        else:
            continue
        real.append(part)
    return tuple(real)


def _sentence(message: str) -> str:
    for pattern, words in _PLAIN_WORDS:
        message = pattern.sub(words, message)
    return message[:300]


def _dotted(loc: Loc) -> str:
    text = ""
    for part in loc:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text
