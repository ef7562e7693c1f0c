"""JSON Lines records: read as a stream with named problems, found again by key, written whole."""

from __future__ import annotations

import codecs
import json
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from touchstone.errors import BundleError, Problem
from touchstone.yaml_source import explain

RecordT = TypeVar("RecordT", bound=BaseModel)
Key = tuple[str, ...]


def dump_record(record: BaseModel, *, terse: bool = False) -> str:
    """Return a record as one line of JSON; lone surrogates become escapes, nothing is lost.

    ``terse`` leaves out what has its default: the form that is hashed, so that a field of a newer
    version changes no hash. NaN and infinity, which JSON lacks, raise ValueError.
    """
    data = record.model_dump(mode="python", by_alias=True, exclude_defaults=terse)
    line = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        line.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return line


class RecordFile(Generic[RecordT]):
    """The records of one file, in file order, each loaded when asked for.

    Only keys and byte offsets are held in memory. ``replaces(old, new)`` says whether a later
    record of the same key takes the place of an earlier one; where it does not, the later one is
    a duplicate. What can't be read is listed in ``problems`` with file and line. ``replaced``
    counts the records that a later one took the place of.
    """

    def __init__(
        self,
        path: Path,
        model: type[RecordT],
        key: Callable[[RecordT], Key],
        replaces: Callable[[RecordT, RecordT], bool] = lambda old, new: False,
    ) -> None:
        self.path = path
        self.problems: list[Problem] = []
        self.torn_at: int | None = None
        self.replaced = 0
        self._model = model
        self._key = key
        self._places: dict[Key, tuple[int, int, int]] = {}
        self._build(replaces)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, key: object) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[RecordT]:
        """Yield the records in file order."""
        if not self._places:
            return
        with self.path.open("rb") as stream:
            for offset, length, _ in sorted(self._places.values()):
                stream.seek(offset)
                yield self._parse(stream.read(length))

    def sorted_keys(self) -> list[Key]:
        """Return the keys in file order."""
        return sorted(self._places, key=lambda key: self._places[key][0])

    def line(self, key: Key) -> int | None:
        """Return the line number (from 1) of a record."""
        place = self._places.get(key)
        return place[2] if place else None

    def get(self, key: Key) -> RecordT | None:
        """Return the record with this key, or None."""
        place = self._places.get(key)
        if place is None:
            return None
        with self.path.open("rb") as stream:
            stream.seek(place[0])
            return self._parse(stream.read(place[1]))

    @property
    def unusable(self) -> list[Problem]:
        """The problems that stand for a lost record (a torn last line was never one)."""
        return [problem for problem in self.problems if problem.code != "torn_line"]

    def require_clean(self, hint: str = "") -> None:
        """Raise BundleError, with the first 20 problems, if a line can't be used."""
        if self.unusable:
            message = f"{self.path.name} has lines that can't be used:"
            raise BundleError(message, self.unusable[:20], hint=hint)

    def _parse(self, line: bytes) -> RecordT:
        data = json.loads(line, parse_constant=_refuse_constant, parse_float=_finite)
        return self._model.model_validate(data)

    def _build(self, replaces: Callable[[RecordT, RecordT], bool]) -> None:
        if not self.path.exists():
            return
        offset = 0
        with self.path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                content = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
                offset += len(line) - len(content)
                if content.strip():
                    self._take(content, offset, number, replaces)
                offset += len(content)

    def _take(
        self,
        line: bytes,
        offset: int,
        number: int,
        replaces: Callable[[RecordT, RecordT], bool],
    ) -> None:
        try:
            record = self._parse(line)
        except ValidationError as failure:
            for loc, code, message in explain(failure, json.loads(line)):
                path = ".".join(str(part) for part in loc)
                self._problem(number, code, f"{path}: {message}" if path else message)
            return
        except (ValueError, RecursionError) as failure:
            if not line.endswith(b"\n"):
                self.torn_at = offset
                self._problem(number, "torn_line", "is cut off (a crash while writing); dropped")
            else:
                self._problem(number, "bad_json", f"is not JSON: {failure}")
            return
        # A file names the same models and prompts again and again.
        key = tuple(map(sys.intern, self._key(record)))
        if key in self._places:
            old = self.get(key)
            if old is None or not replaces(old, record):
                names = " / ".join(key)
                self._problem(number, "duplicate_record", f"{names} stands here twice")
                return
            self.replaced += 1
        self._places[key] = (offset, len(line), number)

    def _problem(self, number: int, code: str, message: str) -> None:
        self.problems.append(Problem(code, f"{self.path.name}:{number}", message))


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits} is beyond all bounds")
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")
