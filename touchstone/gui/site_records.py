"""Checks what a site publishes for others to build on: permalinks.json and evidence.json."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from touchstone.bundle import Bundle
from touchstone.bundle_evidence import checker_of
from touchstone.evidence import EvidenceChecker, Finding
from touchstone.gui.audit import Audit, read_json
from touchstone.gui.link_check import SiteLinks
from touchstone.gui.links import BundleLinks
from touchstone.models import Aliases, Evidence

PERMALINKS = "permalinks.json"
EVIDENCE = "evidence.json"

AnswerKey = tuple[str, str, str]
CitationKey = tuple[str, str, str, int]


# --- permalinks ----------------------------------------------------------------------------


@dataclass(frozen=True)
class AnswerLink:
    """A permalink of an answer: the hash that it was published with."""

    url: str
    key: AnswerKey
    sha256: str


def check_permalinks(site: Path, links: SiteLinks, audit: Audit) -> dict[str, list[AnswerLink]]:
    """Check that every permalink leads somewhere; return by bundle id what rests on an answer."""
    of_bundle: dict[str, list[AnswerLink]] = {}
    path = site / PERMALINKS
    if not path.exists():
        return {}
    try:
        entries = _records(read_json(path))
    except ValueError as failure:
        audit.problem("permalink_broken", PERMALINKS, str(failure))
        return {}
    for number, entry in enumerate(entries, start=1):
        where = f"{PERMALINKS}: entry {number}"
        url = entry.get("url")
        if not isinstance(url, str):
            audit.problem("permalink_broken", where, "has no url")
            continue
        audit.checked["permalinks"] += 1
        why = links.why_broken(url)
        if why:
            audit.problem("permalink_broken", where, f"{url} {why}")
        parts, digest = entry.get("key"), entry.get("answer_sha256")
        if digest is None:
            continue
        names = parts[:4] if isinstance(parts, list) else []
        if len(names) < 4 or not all(isinstance(one, str) for one in [*names, digest]):
            audit.problem("permalink_broken", where, f"{url}: the key names no answer")
            continue
        bundle_id, *key = names
        link = AnswerLink(url, (key[0], key[1], key[2]), digest)
        of_bundle.setdefault(bundle_id, []).append(link)
    return of_bundle


def check_permalink_answers(
    links: Sequence[AnswerLink], digests: Mapping[AnswerKey, str], aliases: Aliases, audit: Audit
) -> None:
    """Check that every permalink names the answer that the bundle holds, under whatever id."""
    for link in links:
        actual = digests.get(link.key) or digests.get(_renamed(link.key, aliases))
        if actual is None:
            message = f"{link.url} is about an answer that the bundle does not hold"
            audit.problem("permalink_changed", PERMALINKS, message)
        elif actual != link.sha256:
            message = (
                f"{link.url} was published for the answer {link.sha256[:12]}…, "
                f"the bundle holds {actual[:12]}…"
            )
            audit.problem("permalink_changed", PERMALINKS, message)


def _renamed(key: AnswerKey, aliases: Aliases) -> AnswerKey:
    """Return the key that an answer has today, however often model and prompt were renamed."""
    model, variant, prompt_id = key
    pairs = {
        (one.old.model, one.old.variant): (one.to.model, one.to.variant) for one in aliases.models
    }
    for _ in pairs:
        model, variant = pairs.get((model, variant), (model, variant))
    for _ in aliases.prompts:
        prompt_id = aliases.prompts.get(prompt_id, prompt_id)
    return model, variant, prompt_id


# --- evidence ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Cited:
    """A piece of evidence of a report, and what becomes of it in the bundle's answers."""

    item: Evidence
    finding: Finding


class EvidenceCheck:
    """Checks the evidence.json of one bundle against its answers and reports."""

    def __init__(self, bundle: Bundle, digests: Mapping[AnswerKey, str], audit: Audit) -> None:
        self._digests = digests
        self._audit = audit
        self._checker = checker_of(bundle)
        self._unseen = _cited(bundle, self._checker)

    def check(self, path: Path, where: str) -> None:
        """Check every entry: what it cites, of which class, where, from which answer."""
        try:
            entries = _records(read_json(path))
        except ValueError as failure:
            self._audit.problem("citation_differs", where, str(failure))
            return
        for number, entry in enumerate(entries, start=1):
            self._audit.checked["citations"] += 1
            for why in self._wrong_with(entry):
                self._audit.problem("citation_differs", f"{where}: entry {number}", why)
        for model, variant, dimension, number in self._unseen:
            message = f"lacks citation {number} of {dimension} in the report on {model} ({variant})"
            self._audit.problem("citation_differs", where, message)

    def _wrong_with(self, entry: Mapping[str, Any]) -> Iterator[str]:
        names = [entry.get(one) for one in ("model", "variant", "dimension", "prompt_id", "class")]
        if not all(isinstance(one, str) for one in names):
            yield "lacks a model, variant, dimension, prompt_id or class"
            return
        model, variant, dimension, prompt_id, _ = map(str, names)
        number, words = entry.get("n"), entry.get("quote")
        quote = words if isinstance(words, str) else ""
        finding = None
        if type(number) is int and number > 0:
            cited = self._unseen.pop((model, variant, dimension, number), None)
            if cited is None:
                yield f"the report has no citation {number} of {dimension}, or it stands here twice"
            elif not _is_this(entry, prompt_id, quote, cited.item):
                yield f"citation {number} of {dimension} is another one in the report"
            else:
                finding = cited.finding
        elif quote.strip():
            finding = self._checker.check_quote((model, variant), prompt_id, quote)
        if entry.get("answer_sha256") != self._digests.get((model, variant, prompt_id)):
            yield f"the answer to {prompt_id!r} in the bundle has another hash"
        elif finding is not None:
            yield from _wrong_finding(entry, finding)


def _is_this(entry: Mapping[str, Any], prompt_id: str, quote: str, item: Evidence) -> bool:
    same = (prompt_id, quote.strip()) == (item.prompt_id, item.quote.strip())
    return same and entry.get("kind", item.kind) == item.kind


def _wrong_finding(entry: Mapping[str, Any], finding: Finding) -> Iterator[str]:
    """Yield what an entry says otherwise than the answers do: the class, or the place."""
    kind, at = entry.get("class"), (entry.get("start"), entry.get("end"))
    if kind != finding.kind:
        yield f"is called {kind}, but by the answers it is {finding.kind}"
        return
    if not any(_is_same(at, place) for place in _places(finding)):
        start, end = at
        yield f"its words ({kind}) are not what stands at {start} to {end} of the answer"
    spans = [list(span) for span in finding.spans]
    if "spans" in entry and json.dumps(entry["spans"]) != json.dumps(spans):
        yield f"its spans are not the places of {kind} in the answer"
    if "place" in entry and not _is_place(entry["place"], finding):
        yield f"its words ({kind}) do not stand in the answer that it names as their place"


def _is_same(given: tuple[object, object], place: tuple[int, int] | None) -> bool:
    if place is None:
        return given == (None, None)
    return all(type(one) is int for one in given) and given == place


def _places(finding: Finding) -> Iterator[tuple[int, int] | None]:
    """Yield what may stand as an entry's start and end: around all spans, or the first alone.

    Where nothing was found, or not in the cited answer, there may be none.
    """
    if not finding.spans or finding.place is not None:
        yield None
    if finding.spans:
        yield finding.spans[0]
        starts, ends = zip(*finding.spans, strict=True)
        yield min(starts), max(ends)


def _is_place(given: object, finding: Finding) -> bool:
    """Say whether an entry names the answer where the words stand, as a list or by its keys."""
    if isinstance(given, dict):
        given = [given.get(key) for key in ("model", "variant", "prompt_id")]
    return given == (None if finding.place is None else list(finding.place))


def _cited(bundle: Bundle, checker: EvidenceChecker) -> dict[CitationKey, _Cited]:
    """Return what the reports cite, as far as the site shows it."""
    links = BundleLinks.of(bundle)
    pairs, dimensions = set(links.pairs), set(links.dimension_ids)
    items = {
        (*report.pair, dimension, number): item
        for report in bundle.reports
        if report.pair in pairs
        for dimension in sorted(dimensions & set(report.evidence))
        for number, item in enumerate(report.evidence[dimension], start=1)
    }
    findings = checker.check_all((key[:2], item) for key, item in items.items())
    return {
        key: _Cited(item, finding)
        for (key, item), finding in zip(items.items(), findings, strict=True)
    }


def _records(data: object) -> list[dict[str, Any]]:
    if not isinstance(data, list) or not all(isinstance(one, dict) for one in data):
        raise ValueError("is no list of entries")
    return data
