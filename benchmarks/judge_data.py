"""Reads the public ratings: one loader per data set, each of which names every bad record."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from touchstone.correlation import checked_number
from touchstone.errors import InputError, Problem

RawT = TypeVar("RawT")
ParsedT = TypeVar("ParsedT")
MAX_PROBLEMS = 20
SUMMARY_DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
EXPERTS, CROWD = 3, 5
REPEATS = 3
UNPARSED = -1
"""What Korean MT-Bench writes for a judgment without a readable score."""

AnswerKey = tuple[str, int, int]
"""Model, question and turn of one answer in Korean MT-Bench."""


# --- reading -------------------------------------------------------------------------------


def text_of(path: Path) -> str:
    """Return the text of a UTF-8 file; raise InputError where it can't be read."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(
            f"{path} is missing.", hint="Name the folder of the public data with --data DIR."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        reason = "it is not UTF-8" if isinstance(error, ValueError) else "it can't be opened"
        raise InputError(f"{path} can't be read: {reason}.") from error


def _collected(
    path: Path, records: Iterable[tuple[str, RawT]], parse: Callable[[RawT], ParsedT]
) -> list[ParsedT]:
    """Return the parsed records; raise InputError with the place of each bad one, or for none."""
    parsed: list[ParsedT] = []
    problems: list[Problem] = []
    for where, record in records:
        try:
            parsed.append(parse(record))
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            problems.append(Problem("bad_record", f"{path.name}:{where}", str(error)))
    if problems:
        more = f" The first {MAX_PROBLEMS}:" if len(problems) > MAX_PROBLEMS else ""
        raise InputError(
            f"{path} has records that can't be used: {len(problems)}.{more}",
            problems[:MAX_PROBLEMS],
            hint="A figure from part of a file would not be comparable; take the file anew.",
        )
    if not parsed:
        raise InputError(f"{path} holds no records.")
    return parsed


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    # Not splitlines: the texts may hold line separators that end no JSON line.
    for number, line in enumerate(text_of(path).split("\n"), 1):
        if line.strip():
            yield str(number), line


def _items(path: Path) -> list[tuple[str, Any]]:
    try:
        items = json.loads(text_of(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no JSON: {error}") from None
    if not isinstance(items, list):
        raise InputError(f"{path} holds no list.")
    return [(f" record {number}", item) for number, item in enumerate(items, 1)]


def _field(record: object, key: str, kind: type[ParsedT]) -> ParsedT:
    """Return a field; raise ValueError where it is missing or of another type."""
    if not isinstance(record, dict) or key not in record:
        raise ValueError(f"{key} is missing")
    value = record[key]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(f"{key} is no {kind.__name__}")
    return value


def _number(value: object, name: str) -> float:
    if value is None or isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} is no number")
    checked_number(value)
    return value


def _score(record: object, key: str) -> int:
    score = _field(record, key, int)
    if not 1 <= score <= 5:
        raise ValueError(f"{key} is no score from 1 to 5")
    return score


# --- UniEval on Topical-Chat ---------------------------------------------------------------


@dataclass(frozen=True)
class ChatReply:
    """One reply: what the metric and what people gave it, by dimension."""

    metric: Mapping[str, float]
    human: Mapping[str, float]


def read_chat_replies(path: Path) -> list[ChatReply]:
    """Return the replies of UniEval's ``topical_chat_result.json``, a JSON list."""
    return _collected(path, _items(path), _chat_reply)


def _chat_reply(item: object) -> ChatReply:
    metric, human = (
        {
            name: _number(value, f"{key}.{name[:40]!r}")
            for name, value in _field(item, key, dict).items()
        }
        for key in ("predict_scores", "scores")
    )
    if metric.keys() != human.keys() or not metric:
        raise ValueError("predict_scores and scores are not of the same dimensions")
    return ChatReply(metric, human)


# --- SummEval ------------------------------------------------------------------------------


@dataclass(frozen=True)
class RatedSummary:
    """One summary: each rater's scores 1-5 by dimension, experts and crowd in fixed order."""

    system: str
    experts: tuple[Mapping[str, int], ...]
    crowd: tuple[Mapping[str, int], ...]


def read_summaries(path: Path) -> list[RatedSummary]:
    """Return the summaries of SummEval's annotations, JSON Lines."""
    return _collected(path, _lines(path), _summary)


def _summary(line: str) -> RatedSummary:
    record = json.loads(line)
    return RatedSummary(
        system=_field(record, "model_id", str),
        experts=_panel(record, "expert_annotations", EXPERTS),
        crowd=_panel(record, "turker_annotations", CROWD),
    )


def _panel(record: object, key: str, size: int) -> tuple[Mapping[str, int], ...]:
    panel = _field(record, key, list)
    if len(panel) != size:
        raise ValueError(f"{key} holds {len(panel)} raters, not {size}")
    return tuple({name: _score(rater, name) for name in SUMMARY_DIMENSIONS} for rater in panel)


# --- HANNA ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class StoryScores:
    """Scores of stories: per writer (a model, or "Human") the same columns of equal length."""

    by_writer: Mapping[str, Mapping[str, Sequence[float]]]

    def column(self, name: str, *, without: str | None = None) -> list[float]:
        """Return a column over all writers in file order but one; KeyError for an unknown one."""
        return [
            value
            for writer, columns in self.by_writer.items()
            if writer != without
            for value in columns[name]
        ]


def read_stories(path: Path, wanted: Sequence[str]) -> StoryScores:
    """Return the wanted columns of ``hanna_metric_scores_llm.csv``.

    One row per writer; a cell is a JSON list with one number per story. Averages below the scale,
    where a judge's unread reply was averaged in as -1, are kept as they are.
    """
    (_, heading), *rows = _csv_rows(path)
    missing = [name for name in ("Model", *wanted) if name not in heading]
    if missing:
        raise InputError(f"{path} lacks columns: {', '.join(missing)}.")
    places = {name: heading.index(name) for name in wanted}

    def parse(row: list[str]) -> tuple[str, dict[str, list[float]]]:
        if len(row) != len(heading):
            raise ValueError(f"{len(row)} cells, not {len(heading)} as in the heading")
        columns = {name: _cell(row[place], name) for name, place in places.items()}
        if len({len(values) for values in columns.values()}) > 1:
            raise ValueError("the columns are not equally long")
        return row[heading.index("Model")], columns

    parsed = _collected(path, rows, parse)
    by_writer = dict(parsed)
    if len(by_writer) != len(parsed):
        raise InputError(f"{path} has two rows of one Model.")
    return StoryScores(by_writer)


def _csv_rows(path: Path) -> list[tuple[str, list[str]]]:
    """Return the rows that aren't empty, each with its line, the heading first."""
    reader = csv.reader(io.StringIO(text_of(path), newline=""))
    try:
        rows = [(str(reader.line_num), row) for row in reader if row]
    except csv.Error as error:
        raise InputError(f"{path} is no CSV: line {reader.line_num}: {error}") from None
    return rows or [("1", [])]


def _cell(text: str, name: str) -> list[float]:
    try:
        values = json.loads(text)
    except ValueError:
        raise ValueError(f"{name} is no list of numbers") from None
    if not isinstance(values, list) or not values:
        raise ValueError(f"{name} is no list of numbers")
    return [_number(value, name) for value in values]


# --- prometheus-eval -----------------------------------------------------------------------


def read_repeats(path: Path) -> list[tuple[int, ...]]:
    """Return the three scores 1-5 GPT-4 gave each answer, from a JSON list."""
    return _collected(path, _items(path), _repeats)


def _repeats(item: object) -> tuple[int, ...]:
    scores = _field(item, "gpt4_score", list)
    if len(scores) != REPEATS:
        raise ValueError(f"gpt4_score holds {len(scores)} scores, not {REPEATS}")
    return tuple(_score({"gpt4_score": score}, "gpt4_score") for score in scores)


# --- Korean MT-Bench -----------------------------------------------------------------------


def read_judgments(folder: Path) -> dict[str, dict[AnswerKey, float | None]]:
    """Return the scores 1-10 of each judge by answer; None where no score could be read.

    ``folder`` holds ``*/*/single_grade/*.jsonl``, one file per judge and model.
    """
    paths = sorted(folder.glob("*/*/single_grade/*.jsonl"))
    if not paths:
        raise InputError(
            f"{folder} holds no single_grade/*.jsonl.",
            hint="Name the folder of the public data with --data DIR.",
        )
    scores: dict[str, dict[AnswerKey, float | None]] = {}
    for path in paths:
        for judge, key, score in (
            one for record in _collected(path, _lines(path), _judgment) for one in record
        ):
            if key in scores.setdefault(judge, {}):
                model, question, turn = key
                raise InputError(
                    f"{path} judges turn {turn} of question {question} by {model[:80]!r} again."
                )
            scores[judge][key] = score
    return scores


def _judgment(line: str) -> list[tuple[str, AnswerKey, float | None]]:
    record = json.loads(line)
    judge, model = _field(record, "judge_id", str), _field(record, "model_id", str)
    question = _field(record, "question_id", int)
    return [
        (judge, (model, question, turn), _grade(record, f"score_turn{turn}")) for turn in (1, 2)
    ]


def _grade(record: Mapping[str, object], key: str) -> float | None:
    grade = _number(record.get(key), key)
    if grade == UNPARSED:
        return None
    if not 1 <= grade <= 10:
        raise ValueError(f"{key} is neither a score from 1 to 10 nor {UNPARSED}")
    return grade
