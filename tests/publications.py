"""Publishing a bundle again and again: its locks, and what a build with a lock refuses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from conftest import BundleFolder
from site_bundles import build, read, structure_of

from touchstone.errors import SiteError
from touchstone.gui.link_check import read_links
from touchstone.gui.permalinks import Permalink, parse_permalinks
from touchstone.gui.target import MANIFEST

BETA = "beta--default"
REASON = "It named a <b>real</b> person."


def published(bundles: Path, **options: Any) -> Path:
    """Build the site, and return a copy of its permalinks: the lock of the next build."""
    site = build(bundles, **options)
    lock = bundles.parent / f"lock{len(list(bundles.parent.glob('lock*')))}.json"
    lock.write_bytes((site / "permalinks.json").read_bytes())
    return lock


def buried(bundles: Path, lock: Path, **options: Any) -> Path:
    """Publish with tombstones; return the new lock."""
    return published(bundles, lock=lock, tombstone=True, **options)


def links_of(lock: Path) -> list[Permalink]:
    return parse_permalinks(lock.read_bytes(), lock.name)


def urls_of(lock: Path, *, gone: bool = False) -> list[str]:
    """Return what follows ``bundles/tiny/`` of every address, or of those with a tombstone."""
    links = [link for link in links_of(lock) if link.tombstone or not gone]
    return [link.url.removeprefix("bundles/tiny/") for link in links]


def broken_in(site: Path) -> list[str]:
    """Return the permalinks of a site that lead nowhere."""
    links = links_of(site / "permalinks.json")
    pages = {link.page for link in links if (site / link.page).is_file()}
    anchors = {page: read_links(read(site, page)).anchors | {""} for page in pages}
    return [link.url for link in links if link.anchor not in anchors.get(link.page, ())]


def refusal(bundles: Path, lock: Path, **options: Any) -> str:
    """Return what a build says that must fail, and must leave the site as it was."""
    site = bundles.parent / "site"
    before = (site / MANIFEST).read_bytes()
    with pytest.raises(SiteError) as failure:
        build(bundles, lock=lock, **options)
    assert (site / MANIFEST).read_bytes() == before
    assert not site.with_name("site.new").exists()
    assert "The site that was there before is untouched." in failure.value.hint
    return failure.value.message


def edit(folder: BundleFolder, name: str, pattern: str, replacement: str) -> None:
    """Change a file of a bundle; the pattern must be there."""
    text = (folder.path / name).read_text(encoding="utf-8")
    changed = re.sub(pattern, replacement, text)
    assert changed != text
    folder.write(name, changed)


def drop_prompt(folder: BundleFolder, prompt_id: str = "E2") -> None:
    edit(folder, "suite.yaml", rf"  - {{id: {prompt_id}, .*\n", "")
    for name in ("answers.jsonl", "verdicts.jsonl"):
        edit(folder, name, rf'.*"prompt_id": "{prompt_id}".*\n', "")


def drop_beta(folder: BundleFolder) -> None:
    edit(folder, "bundle.yaml", r"  - {model: beta}\n", "")
    for name in ("answers.jsonl", "verdicts.jsonl", "reports.jsonl"):
        edit(folder, name, r'.*"model": "beta".*\n', "")


def change_answer(folder: BundleFolder, old: str, new: str) -> None:
    edit(folder, "answers.jsonl", re.escape(old), new)


def text_of(page: str) -> str:
    return structure_of(page).text
