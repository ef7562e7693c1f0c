"""Bundles with texts to search, and a search whose index lies beside them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conftest import BundleFolder, answer, verdict

from touchstone.search_store import Findings, Hit, Question, find_texts

OLD_NS = 1_700_000_000_000_000_000
"""A time long before any test looks: such files are not read twice for safety's sake."""
Find = Callable[..., Findings]


def finder(bundles: Path) -> Find:
    """Return a search of these bundles, with the index in a cache folder beside them."""

    def find(words: str, **options: Any) -> Findings:
        notes: list[str] = options.pop("notes", [])
        question = Question(words, **options)
        return find_texts(bundles, question, cache=bundles.parent / "cache", note=notes.append)

    return find


def texts(folder: BundleFolder, *given_texts: str) -> None:
    """Write answers to E1, E2 and D1."""
    ids = ("E1", "E2", "D1")
    records = (answer(one, text=text) for one, text in zip(ids, given_texts, strict=False))
    folder.write_lines("answers.jsonl", *records)


def aged(folder: BundleFolder) -> None:
    for path in folder.path.iterdir():
        os.utime(path, ns=(OLD_NS, OLD_NS))


def places(found: Findings) -> list[tuple[str, str | None]]:
    return sorted((hit.kind, hit.prompt_id or hit.dimension) for hit in found.hits)


def marked(hit: Hit) -> list[str]:
    return [hit.snippet[opens:closes] for opens, closes in hit.hits]


def full(folder: BundleFolder) -> None:
    """Write the same word into an answer, a verdict and a rationale of alpha, and one of beta."""
    folder.write_lines(
        "answers.jsonl",
        *(answer("E1", text="A zebra here."), answer("E2", text="A zebra there.")),
        answer("E1", "beta", "One more zebra."),
    )
    folder.write_lines(
        "verdicts.jsonl",
        {**verdict("E1", "red"), "rationale": "The zebra is wrong."},
        {**verdict("E2", "green"), "rationale": "Right."},
    )
    folder.report({"Q1": 4}, dim_rationales={"Q1": "It likes the zebra.", "Q3": "Nothing."})
