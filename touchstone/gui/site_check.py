"""Checks a built site from its own files alone: every hash, link, number, permalink and quote."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from touchstone.bundle import AnswerKey, Bundle
from touchstone.bundle.archive import unpack_bundle
from touchstone.bundle_check import Findings, check_open_bundle
from touchstone.bundle_scores import scorecard_of_bundle
from touchstone.errors import InputError, Problem
from touchstone.gui.audit import Audit, read_json
from touchstone.gui.link_check import SiteLinks
from touchstone.gui.links import ARCHIVE, INDEX, SCORES, BundleLinks
from touchstone.gui.site_figures import Figures, difference, read_figures
from touchstone.gui.site_files import check_files, read_manifest
from touchstone.gui.site_records import (
    EVIDENCE,
    PERMALINKS,
    AnswerLink,
    EvidenceCheck,
    check_permalink_answers,
    check_permalinks,
)
from touchstone.json_text import json_text
from touchstone.models import ModelEntry
from touchstone.scorecard import master_rows

_SHA256 = re.compile(r"\b[0-9a-f]{64}\b")
_WITH_FIGURES = ("models", "dimensions", "ko")
"""Folders of a bundle whose pages may show numbers of its models."""
_MOST_DIFFERENCES = 5


def check_site(site: Path) -> Findings:
    """Derive everything again that a site shows, as far as its own files allow.

    Bundles are unpacked one at a time into a temporary folder; memory grows with the largest page
    and the number of answers, not with their length.

    Raises:
        InputError: the list of its files can't be read.
    """
    audit = Audit()
    listed = read_manifest(site)
    check_files(site, listed, audit)
    links = SiteLinks(site)
    audit.checked.update(pages=links.pages, links=links.count)
    for problem in links.problems:
        audit.problem(problem.code, problem.where, problem.message)
    permalinks = check_permalinks(site, links, audit)
    bundles = _BundlesCheck(site, permalinks, audit)
    for archive in sorted(site.glob(f"bundles/*/{ARCHIVE}")):
        bundles.check(archive)
    bundles.check_figures()
    bundles.note_missing(listed)
    return audit.findings()


class _BundlesCheck:
    """Checks what a site says of its bundles against the bundles themselves."""

    def __init__(self, site: Path, permalinks: dict[str, list[AnswerLink]], audit: Audit) -> None:
        self._site = site
        self._permalinks = permalinks
        self._audit = audit
        self._figures: dict[str, Figures] = {}
        self._bundles: list[BundleLinks] = []

    def check(self, archive: Path) -> None:
        """Check one bundle, and what its pages and files say of it."""
        where = archive.relative_to(self._site).as_posix()
        with tempfile.TemporaryDirectory(prefix="touchstone-") as folder:
            try:
                unpacked = unpack_bundle(archive, Path(folder))
                bundle = Bundle.open(unpacked.folder)
                scores = scorecard_of_bundle(bundle)
            except InputError as failure:
                for one in failure.problems or (Problem("", "", failure.message),):
                    is_archive = one.code == "bundle_unreadable"
                    why = one.message if is_archive else str(one)
                    self._audit.problem("bundle_unreadable", where, why)
                return
            for name in unpacked.foreign:
                message = f"holds {name!r}, which belongs to no bundle"
                self._audit.problem("foreign_file", where, message)
            self._audit.take(check_open_bundle(bundle), where)
            self._check_bundle(bundle, archive.parent, scores)

    def _check_bundle(self, bundle: Bundle, folder: Path, scores: dict[str, Any]) -> None:
        audit, links = self._audit, BundleLinks.of(bundle)
        if self._site / links.root != folder:
            message = f"holds the bundle {bundle.id!r}, whose place is {links.root}"
            audit.problem("id_mismatch", self._name(folder / ARCHIVE), message)
            return
        audit.checked.update(
            bundles=1,
            answers=len(bundle.answers),
            scores=sum(len(row["dim_scores"]) for row in scores["rows"]),
        )
        self._check_scores(folder / SCORES, scores)
        digests = {(one.model, one.variant, one.prompt_id): one.sha256 for one in bundle.answers}
        permalinks = self._permalinks.pop(bundle.id, [])
        check_permalink_answers(permalinks, digests, bundle.manifest.aliases, audit)
        self._check_hashes(bundle, links, digests)
        evidence = folder / EVIDENCE
        if evidence.is_file():
            EvidenceCheck(bundle, digests, audit).check(evidence, self._name(evidence))
        self._bundles.append(links)
        self._figures |= _figures(bundle, links)

    def _check_scores(self, path: Path, scores: dict[str, Any]) -> None:
        try:
            published = read_json(path)
        except ValueError as failure:
            self._audit.problem("score_differs", self._name(path), str(failure))
            return
        found = list(_differences(json.loads(json_text(scores)), published, ""))
        for message in found[:_MOST_DIFFERENCES]:
            self._audit.problem("score_differs", self._name(path), message)

    def _check_hashes(
        self, bundle: Bundle, links: BundleLinks, digests: Mapping[AnswerKey, str]
    ) -> None:
        """Check that the pages name the hashes of the bundle and of the answers they show."""
        whole = {
            "bundle": bundle.sha256,
            "answers": bundle.answers_sha256,
            "suite": bundle.suite_sha256,
        }
        self._check_named(links.run, whole)
        pairs = dict.fromkeys(links.pairs)
        for prompt_id in links.prompt_ids:
            answers = {
                f"answer of {model} ({variant})": digests[model, variant, prompt_id]
                for model, variant in pairs
                if (model, variant, prompt_id) in digests
            }
            self._check_named(links.prompt(prompt_id), answers)

    def _check_named(self, page: str, hashes: Mapping[str, str]) -> None:
        try:
            named = set(_SHA256.findall(_read(self._site / page)))
        except OSError:
            return  # that it is missing has been said
        for what, sha256 in hashes.items():
            self._audit.checked["hashes"] += 1
            if sha256 not in named:
                message = f"does not show the hash of the {what} in {ARCHIVE}, {sha256[:12]}…"
                self._audit.problem("page_differs", page, message)

    # --- the numbers on the pages ----------------------------------------------------------

    def check_figures(self) -> None:
        """Compare the numbers on the pages with those that follow from the bundles."""
        unmarked = [page for page in self._pages() if not self._check_page(page)]
        for links in self._bundles:
            if links.scorecard in unmarked:
                message = "its numbers were not compared: the page does not mark them"
                self._audit.note("not_checked", links.scorecard, message)

    def _pages(self) -> Iterator[str]:
        yield INDEX
        for links in self._bundles:
            yield links.scorecard
            for folder in _WITH_FIGURES:
                pages = sorted((self._site / links.root / folder).glob("*.html"))
                yield from (self._name(page) for page in pages)

    def _check_page(self, page: str) -> bool:
        """Check the numbers on a page; return whether it marks any."""
        try:
            shown, language = read_figures(_read(self._site / page))
        except OSError:
            return True  # that it is missing has been said
        for one in shown:
            expected = self._figures.get(one.of)
            if expected is None:
                continue  # of a bundle whose data is not there
            self._audit.checked["figures"] += 1
            why = difference(one, expected, language)
            if why:
                self._audit.problem("page_differs", page, f"{one.of}: {why}")
        self._check_complete(page, {(one.of, one.kind, one.dimension) for one in shown})
        return bool(shown)

    def _check_complete(self, page: str, shown: Collection[tuple[str, str, str]]) -> None:
        links = next((one for one in self._bundles if one.scorecard == page), None)
        if links is None or not shown:
            return
        for of in dict.fromkeys(links.model(pair) for pair in links.pairs):
            for kind, dimension in self._figures[of].on_scorecard:
                if (of, kind, dimension) not in shown:
                    name = f"{kind} {dimension}".strip()
                    self._audit.problem("page_differs", page, f"{of}: shows no {name}")

    # --- what can't be checked -------------------------------------------------------------

    def note_missing(self, listed: Collection[str]) -> None:
        """Say what could not be checked because a site holds no data of a bundle."""
        known = {links.root for links in self._bundles}
        pages = (name.split("/") for name in listed)
        roots = {f"bundles/{p[1]}" for p in pages if len(p) == 3 and p[0] == "bundles"}
        for root in sorted(roots - known):
            if not (self._site / root / ARCHIVE).exists():
                message = f"holds no {ARCHIVE}: its numbers, answers and quotes were not checked"
                self._audit.note("no_data", root, message)
        for bundle_id, links in sorted(self._permalinks.items()):
            message = f"the answers of {bundle_id!r} were not checked ({len(links)} permalinks)"
            self._audit.note("not_checked", PERMALINKS, message)

    def _name(self, path: Path) -> str:
        return path.relative_to(self._site).as_posix()


def _figures(bundle: Bundle, links: BundleLinks) -> dict[str, Figures]:
    """Return the numbers of every model by its page; one that stands there twice counts once."""
    entries: dict[tuple[str, str], ModelEntry] = {}
    for entry in bundle.manifest.models:
        entries.setdefault(entry.pair, entry)
    rows = master_rows(
        bundle.suite, list(entries.values()), bundle.reports, bundle.verdicts, bundle.reviews()
    )
    return {links.model(row.pair): Figures.of(row) for row in rows}


def _differences(expected: Any, found: Any, place: str) -> Iterator[str]:
    """Yield where a JSON value differs from the one expected."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in dict.fromkeys([*expected, *found]):
            here = f"{place}.{key}".lstrip(".")
            if key not in found or key not in expected:
                yield f"{here} {'is missing' if key in expected else 'does not belong there'}"
            else:
                yield from _differences(expected[key], found[key], here)
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for number, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from _differences(one, other, f"{place}[{number}]")
    elif expected != found or isinstance(expected, bool) != isinstance(found, bool):
        yield f"{place or 'it'} is {_brief(found)}, from the bundle follows {_brief(expected)}"


def _brief(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
