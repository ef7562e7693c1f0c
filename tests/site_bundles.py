"""Bundles for tests of the site, the site built from them, and a strict look at its pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

from conftest import BundleFolder, answer, verdict

from touchstone.gui.build import BuildOptions, build_site

PAIR = "alpha--default"
PROMPTS = ("E1", "E2", "D1")
REPORTS: tuple[dict[str, Any], ...] = (
    {
        "model": "alpha",
        "variant": "default",
        "dim_scores": {"Q1": 4, "Q2": 3, "Q3": 5, "Q4": None},
        "dim_rationales": {"Q1": "Strong at E1, weak at E2.", "Q2": "See D1."},
        "evidence": {
            "Q1": [
                {"prompt_id": "E1", "quote": "The alpha answer to E1", "polarity": "strength"},
                {"prompt_id": "E2", "quote": "words that stand nowhere", "polarity": "defect"},
                {"prompt_id": "Z9", "quote": "no such prompt", "polarity": "defect"},
            ]
        },
        "parse_issues": [{"dimension": "Q4", "reason": 'fractional score "3.5"'}],
    },
    {
        "model": "beta",
        "variant": "default",
        "dim_scores": {"Q1": 5, "Q2": 5, "Q3": 5, "Q4": 5},
    },
)


def write_judged(path: Path) -> BundleFolder:
    """Write a bundle with two models; alpha cites, beta is knocked out by its answer to E1."""
    folder = BundleFolder(path)
    folder.write(
        "bundle.yaml",
        f"format: 1\nid: {path.name}\nsuite: {{id: small}}\ncreated: 2026-12-01T09:00:00Z\n"
        "models:\n  - {model: alpha}\n  - {model: beta}\n",
    )
    folder.write_lines(
        "answers.jsonl",
        *(
            answer(prompt, model, f"The {model} answer to {prompt} is long enough to quote.")
            for model in ("alpha", "beta")
            for prompt in PROMPTS
        ),
    )
    folder.write_lines(
        "verdicts.jsonl",
        *(verdict(prompt, "green") for prompt in PROMPTS),
        verdict("E1", "red", "beta"),
        *(verdict(prompt, "yellow", "beta") for prompt in ("E2", "D1")),
    )
    folder.write_lines("reports.jsonl", *REPORTS)
    return folder


def build(bundles: Path, **options: Any) -> Path:
    """Build the site of a folder of bundles beside it; nothing may be wrong with it."""
    result = build_site(BuildOptions(bundles, bundles.parent / "site", **options))
    assert result.broken_links == 0
    assert result.warnings == ()
    return result.site


def read(site: Path, name: str) -> str:
    """Return a page of a site."""
    return (site / name).read_text(encoding="utf-8")


@dataclass
class Structure:
    """What a page tells assistive software, and whatever is wrong with it."""

    headings: list[tuple[int, str]] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    languages: list[tuple[str, str]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    text: str = ""


class _Reader(HTMLParser):
    """Reads the part of a page that is ours: ``<div class="ts">``."""

    VOID = ("br", "hr", "img", "input", "link", "meta")
    IN_A_LINE = ("a", "b", "bdi", "code", "em", "i", "mark", "q", "s", "small", "span", "u")

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found = Structure()
        self._open: list[tuple[str, dict[str, str | None], list[str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if not self._open and not (tag == "div" and given.get("class") == "ts"):
            return
        if tag not in self.IN_A_LINE:
            self.handle_data(" ")
        in_answer = any("ts-body" in (old.get("class") or "") for _, old, _ in self._open)
        if tag == "th" and not in_answer and not given.get("scope"):
            self.found.wrong.append(f"a <th> without a scope: {given}")
        if tag == "table" and not in_answer:
            self.found.tables.append("")
        if tag not in self.VOID:
            self._open.append((tag, given, []))

    def handle_endtag(self, tag: str) -> None:
        if not self._open or tag in self.VOID:
            return
        if self._open[-1][0] != tag:
            self.found.wrong.append(f"</{tag}> closes <{self._open[-1][0]}>")
            return
        _, given, pieces = self._open.pop()
        if tag not in self.IN_A_LINE:
            self.handle_data(" ")
        text = " ".join("".join(pieces).split())
        if tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self.found.headings.append((int(tag[1]), text))
        elif tag == "caption":
            self.found.tables[-1] = text
        elif tag == "a":
            self.found.links.append((given.get("href") or "", text))
            if not text and not given.get("aria-label"):
                self.found.wrong.append(f"a link without words: {given}")
        if given.get("lang"):
            self.found.languages.append((given["lang"] or "", text))

    def handle_data(self, data: str) -> None:
        for _, _, pieces in self._open:
            pieces.append(data)
        if self._open:
            self.found.text += data


def structure_of(html: str) -> Structure:
    """Return the structure of a page, with everything that is wrong with it."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    reader.found.text = " ".join(reader.found.text.split())
    reader.found.wrong += _wrong_with(reader.found)
    return reader.found


def _wrong_with(page: Structure) -> Iterator[str]:
    levels = [level for level, _ in page.headings]
    if levels[:1] != [1] or levels.count(1) != 1:
        yield f"headings are {levels}"
    for before, after in pairwise(levels):
        if after > before + 1:
            yield f"a heading of level {after} follows one of level {before}"
    yield from (f"an empty heading of level {level}" for level, text in page.headings if not text)
    yield from ("a table without a caption" for caption in page.tables if not caption)
