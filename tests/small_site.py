"""A site written by hand from one bundle: what ``verify`` needs of a site, and nothing else."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from site_bundles import PROMPTS, write_judged

from touchstone.bundle import Bundle
from touchstone.bundle_check import Findings
from touchstone.gui.bundle_view import BundleView
from touchstone.gui.site_check import check_site
from touchstone.gui.site_data import publish_data
from touchstone.gui.target import MANIFEST

TINY = "bundles/tiny"
MODELS = {name: f"{TINY}/models/{name}--default.html" for name in ("alpha", "beta")}
# Worked by hand: weights 3, 2, 1, 1 and alpha's scores 4, 3, 5, none: 23 of 35 points.
FIGURES = {
    "alpha": {
        "rank": "1",
        "gate": "passed",
        "quality": "65.7 %",
        "points": "23",
        "Q1": "4",
        "Q2": "3",
        "Q3": "5",
        "Q4": "–",
    },
    "beta": {
        "rank": "–",
        "gate": "failed",
        "quality": "100.0 %",
        "points": "35",
        "Q1": "5",
        "Q2": "5",
        "Q3": "5",
        "Q4": "5",
    },
}
GATE_WORDS = {"passed": "passed", "failed": "K.-o."}


class SmallSite:
    """A whole site of the bundle ``tiny``, which a test then spoils."""

    def __init__(self, folder: Path) -> None:
        self.bundle = write_judged(folder / "tiny").open()
        self.path = folder / "site"
        self.view = BundleView(self.bundle)
        self._write_pages()
        publish_data(self.path, self.view)
        self.write_json("permalinks.json", self.permalinks())
        self.write_json(f"{TINY}/evidence.json", self.evidence())
        self.sign()

    def _write_pages(self) -> None:
        bundle = self.bundle
        self.write("index.html", f'<a href="{TINY}/index.html">tiny</a>')
        self.write(f"{TINY}/index.html", scorecard_html())
        hashes = (bundle.sha256, bundle.answers_sha256, bundle.suite_sha256)
        self.write(f"{TINY}/run.html", "".join(f"<code>{one}</code>" for one in hashes))
        for page in MODELS.values():
            self.write(
                page, '<h2 id="q1">Q1</h2><a href="../prompts/E1.html#alpha--default">E1</a>'
            )
        for prompt in PROMPTS:
            answers = (bundle.answers.get((name, "default", prompt)) for name in MODELS)
            self.write(
                f"{TINY}/prompts/{prompt}.html",
                "".join(
                    f'<article id="{one.model}--default">sha256 {one.sha256}</article>'
                    for one in answers
                    if one is not None
                ),
            )

    def permalinks(self) -> list[dict[str, Any]]:
        """Return the permalinks of the answers, and of one dimension."""
        links: list[dict[str, Any]] = [
            {
                "key": ["tiny", one.model, one.variant, one.prompt_id, None],
                "url": f"{TINY}/prompts/{one.prompt_id}.html#{one.model}--default",
                "answer_sha256": one.sha256,
            }
            for one in self.bundle.answers
        ]
        url = f"{MODELS['alpha']}#q1"
        key = ["tiny", "alpha", "default", None, "Q1"]
        return [*links, {"key": key, "url": url, "answer_sha256": None}]

    def evidence(self) -> list[dict[str, Any]]:
        """Return what alpha's report cites: a quote, a quote of nothing, a dangling one."""
        (e1, e2) = (self.bundle.answers.get(("alpha", "default", one)) for one in PROMPTS[:2])
        assert e1 is not None
        assert e2 is not None
        base = {"model": "alpha", "variant": "default", "dimension": "Q1", "kind": "quote"}
        nowhere = {"start": None, "end": None}
        return [
            {
                **base,
                "n": 1,
                "prompt_id": "E1",
                "quote": "The alpha answer to E1",
                "class": "verbatim",
                "start": 0,
                "end": 22,
                "answer_sha256": e1.sha256,
            },
            {
                **base,
                "n": 2,
                "prompt_id": "E2",
                "quote": "words that stand nowhere",
                "class": "unverifiable",
                **nowhere,
                "answer_sha256": e2.sha256,
            },
            {
                **base,
                "n": 3,
                "prompt_id": "Z9",
                "quote": "no such prompt",
                "class": "dangling",
                **nowhere,
                "answer_sha256": None,
            },
        ]

    # --- changes ---------------------------------------------------------------------------

    def write(self, name: str, content: str | bytes) -> None:
        """Write a file of the site."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def write_json(self, name: str, value: object) -> None:
        """Write a JSON file of the site."""
        self.write(name, json.dumps(value))

    def replace(self, name: str, old: str, new: str) -> None:
        """Change words on a page or in a file, which must be there."""
        text = (self.path / name).read_text(encoding="utf-8")
        assert old in text
        self.write(name, text.replace(old, new, 1))

    def change_json(self, name: str, change: Callable[[Any], object]) -> None:
        """Change what a JSON file holds, in place."""
        value = json.loads((self.path / name).read_text(encoding="utf-8"))
        change(value)
        self.write_json(name, value)

    def change_archive(self, name: str, change: Callable[[bytes], bytes]) -> None:
        """Change a file inside bundle.zip."""
        path = self.path / TINY / "bundle.zip"
        with zipfile.ZipFile(path) as archive:
            files = {one: archive.read(one) for one in archive.namelist()}
        before = files[f"tiny/{name}"]
        files[f"tiny/{name}"] = change(before)
        assert files[f"tiny/{name}"] != before
        with zipfile.ZipFile(path, "w") as archive:
            for one, content in files.items():
                archive.writestr(one, content)

    def sign(self) -> None:
        """List every file with its hash, as whoever changes a site could do again."""
        sign(self.path)

    def check(self) -> Findings:
        """Check the site as it stands."""
        return check_site(self.path)


def sign(site: Path) -> None:
    """Write the list of a site's files."""
    files = sorted(path for path in site.rglob("*") if path.is_file() and path.name != MANIFEST)
    hashes = {
        path.relative_to(site).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }
    text = json.dumps({"format": 1, "tool": "touchstone", "files": hashes})
    (site / MANIFEST).write_text(text, encoding="utf-8")


def scorecard_html() -> str:
    """Return a scorecard with the numbers marked, worked out by hand."""
    rows = "".join(_row(name, figures) for name, figures in FIGURES.items())
    return f'<html lang="en"><table>{rows}</table></html>'


def _row(name: str, figures: dict[str, str]) -> str:
    gate = figures["gate"]
    scores = "".join(
        f'<td data-score="{one}"><b>{figures[one]}</b></td>' for one in ("Q1", "Q2", "Q3", "Q4")
    )
    return (
        f'<tr data-of="{MODELS[name]}"><td>Rank <span data-rank>{figures["rank"]}</span></td>'
        f'<th><a data-gate="{gate}" href="models/{name}--default.html">{GATE_WORDS[gate]}</a></th>'
        f"{scores}<td><b data-quality>{figures['quality']}</b> "
        f"<i><span data-points>{figures['points']}</span> / 35</i></td></tr>"
    )


def open_bundle(folder: Path) -> Bundle:
    """Write the judged bundle ``tiny`` and open it."""
    return write_judged(folder / "tiny").open()
