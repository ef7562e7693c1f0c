"""Bundles of any size for benchmarks: 805 prompts × 4 models each, judged, with evidence."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from scale_texts import author, quote_from

from touchstone.bundle import ANSWERS, MANIFEST, REPORTS, SUITE, VERDICTS

DIMENSIONS = 7
QUOTES = 8
"""Pieces of evidence for each dimension of a report."""
_FLAGS = ("green", "green", "green", "yellow", "red")

Record = dict[str, Any]


@dataclass(frozen=True)
class Shape:
    """How large a bundle is."""

    prompts: int = 805
    models: int = 4

    @property
    def answers(self) -> int:
        """The answers of one bundle."""
        return self.prompts * self.models

    def prompt_ids(self) -> list[str]:
        """Return the ids of the prompts, in groups of twenty."""
        return [f"{chr(65 + n // 20 % 26)}{n}" for n in range(self.prompts)]

    def model_ids(self) -> list[str]:
        """Return the ids of the models."""
        return [f"model-{n}" for n in range(self.models)]


def write_bundles(folder: Path, count: int, shape: Shape) -> list[Path]:
    """Write bundles of one suite, each with its own answers; return their folders."""
    return [write_bundle(folder / f"bundle-{n:02}", n, shape) for n in range(count)]


def write_bundle(path: Path, number: int, shape: Shape, edition: int = 0) -> Path:
    """Write one bundle; another ``edition`` of it differs in every answer."""
    path.mkdir(parents=True, exist_ok=True)
    _write_json(path / SUITE, _suite(shape))
    manifest = {
        "format": 1,
        "id": path.name,
        "suite": {"id": "scale"},
        "created": f"2026-{1 + number // 28:02}-{1 + number % 28:02}T09:00:00Z",
        "models": [{"model": model} for model in shape.model_ids()],
    }
    _write_json(path / MANIFEST, manifest)
    _write_lines(path / ANSWERS, _answers(number, edition, shape))
    _write_lines(path / VERDICTS, _verdicts(number, shape))
    _write_lines(path / REPORTS, _reports(number, edition, shape))
    return path


def answer_text(number: int, edition: int, model: str, prompt_id: str) -> str:
    """Return the text of an answer."""
    return author("answer", number, edition, model, prompt_id).answer()


def _suite(shape: Shape) -> Record:
    return {
        "format": 1,
        "id": "scale",
        "title": "Many tasks",
        "language": "en",
        "ko_rule": {"dimension": "Q1", "threshold": 1, "red_flag_scope": "none"},
        "dimensions": [
            {"id": f"Q{n}", "name": f"Quality {n}", "weight": n, "description": "How good it is."}
            for n in range(1, DIMENSIONS + 1)
        ],
        "prompts": [
            {"id": one, "text": author("prompt", one).sentences(2, 5)} for one in shape.prompt_ids()
        ],
    }


def _answers(number: int, edition: int, shape: Shape) -> Iterator[Record]:
    for model in shape.model_ids():
        for prompt_id in shape.prompt_ids():
            text = answer_text(number, edition, model, prompt_id)
            tokens = len(text) // 4
            yield {
                **_key(model, prompt_id),
                "text": text,
                "usage": {"prompt_tokens": 90, "completion_tokens": tokens},
                "duration_s": round(tokens / 37, 2),
                "finish_reason": "stop",
            }


def _verdicts(number: int, shape: Shape) -> Iterator[Record]:
    for model in shape.model_ids():
        for prompt_id in shape.prompt_ids():
            judge = author("verdict", number, model, prompt_id)
            flag = judge.chance.choice(_FLAGS)
            yield {**_key(model, prompt_id), "flag": flag, "rationale": judge.sentence()}


def _reports(number: int, edition: int, shape: Shape) -> Iterator[Record]:
    names = [f"Q{n}" for n in range(1, DIMENSIONS + 1)]
    for model in shape.model_ids():
        judge = author("report", number, model)
        cited = {name: _some(judge.chance, shape.prompt_ids()) for name in names}
        yield {
            "model": model,
            "variant": "default",
            "dim_scores": {name: judge.chance.randint(2, 5) for name in names},
            "dim_rationales": {
                name: f"{judge.sentences(2, 4)} See {ids[0]} and {ids[1]}."
                for name, ids in cited.items()
            },
            "evidence": {
                name: [_evidence(number, edition, model, one, judge.chance) for one in ids]
                for name, ids in cited.items()
            },
        }


def _some(chance: Random, prompt_ids: list[str]) -> list[str]:
    return chance.sample(prompt_ids, k=min(QUOTES, len(prompt_ids)))


def _evidence(number: int, edition: int, model: str, prompt_id: str, chance: Random) -> Record:
    quote = quote_from(answer_text(number, edition, model, prompt_id), chance)
    if chance.random() < 0.1:
        quote = "words that the judge made up on its own"
    polarity = chance.choice(("strength", "defect"))
    return {"prompt_id": prompt_id, "quote": quote, "polarity": polarity}


def _key(model: str, prompt_id: str) -> Record:
    return {"model": model, "variant": "default", "prompt_id": prompt_id}


def _write_json(path: Path, record: Record) -> None:
    """Write a record as JSON, which is YAML as well."""
    path.write_text(json.dumps(record, indent=1), encoding="utf-8")


def _write_lines(path: Path, records: Iterable[Record]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


# --- the same answers for mkdocs -----------------------------------------------------------


def write_mkdocs_project(folder: Path, count: int, shape: Shape, *, in_nav: bool) -> Path:
    """Write a project of mkdocs with one plain Markdown page per answer; return its settings.

    With ``in_nav`` every page stands in the navigation, as it does if nothing else is said.
    """
    docs = folder / "docs"
    docs.mkdir(parents=True, exist_ok=True)
    (docs / "index.md").write_text("# Answers\n", encoding="utf-8")
    for number in range(count):
        for model in shape.model_ids():
            pages = docs / f"bundle-{number:02}" / model
            pages.mkdir(parents=True, exist_ok=True)
            for prompt_id in shape.prompt_ids():
                text = answer_text(number, 0, model, prompt_id)
                page = f"# {prompt_id} {model}\n\n{text}\n"
                (pages / f"{prompt_id}.md").write_text(page, encoding="utf-8")
    settings = folder / "mkdocs.yml"
    nav = "" if in_nav else "nav:\n  - index.md\nvalidation:\n  nav:\n    omitted_files: ignore\n"
    settings.write_text(
        "site_name: Answers\nuse_directory_urls: false\ntheme:\n  name: material\n  font: false\n"
        f"plugins:\n  - search\nmarkdown_extensions:\n  - tables\n{nav}",
        encoding="utf-8",
    )
    return settings
