"""Checks what a site publishes for others to build on: permalinks.json and evidence.json."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from touchstone.bundle import Bundle
from touchstone.evidence import locate_quote
from touchstone.gui.audit import Audit, read_json
from touchstone.gui.link_check import SiteLinks
from touchstone.gui.links import BundleLinks
from touchstone.models import Aliases

PERMALINKS = "permalinks.json"
EVIDENCE = "evidence.json"

_OMISSION = re.compile(r"\[\s*(?:…|\.{3,})\s*\]|\(\s*(?:…|\.{3,})\s*\)|…|\.{3,}")
_LOCATED = ("verbatim", "normalised", "in_parts", "near")
"""Classes of quotes that have a place in the answer they are said to come from."""

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


class EvidenceCheck:
    """Checks the evidence.json of one bundle against its answers and reports."""

    def __init__(self, bundle: Bundle, digests: Mapping[AnswerKey, str], audit: Audit) -> None:
        self._bundle = bundle
        self._digests = digests
        self._audit = audit
        self._unseen = dict(_cited(bundle))

    def check(self, path: Path, where: str) -> None:
        """Check every entry: what it quotes, where, from which answer, and for which report."""
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
        model, variant, dimension, prompt_id, kind = map(str, names)
        words = entry.get("quote")
        quote = words if isinstance(words, str) else ""
        number = entry.get("n")
        if isinstance(number, int) and number > 0:
            cited = self._unseen.pop((model, variant, dimension, number), None)
            if cited is None:
                yield f"the report has no citation {number} of {dimension}, or it stands here twice"
            elif cited != (prompt_id, quote.strip()):
                yield f"citation {number} of {dimension} is another one in the report"
        key = (model, variant, prompt_id)
        digest = self._digests.get(key)
        if entry.get("answer_sha256") != digest:
            yield f"the answer to {prompt_id!r} in the bundle has another hash"
        elif digest is not None:
            yield from self._wrong_place(entry, key, kind, quote)

    def _wrong_place(
        self, entry: Mapping[str, Any], key: AnswerKey, kind: str, quote: str
    ) -> Iterator[str]:
        answer = self._bundle.answers.get(key)
        assert answer is not None, "it has a digest"
        start, end = (entry.get(one) for one in ("start", "end"))
        if kind == "unverifiable" and locate_quote(quote, answer.text).kind == "verbatim":
            yield "is called unverifiable, but the quoted words stand in the answer"
        if kind not in _LOCATED:
            return
        if (
            type(start) is not int
            or type(end) is not int
            or not 0 <= start < end <= len(answer.text)
        ):
            yield f"{start} to {end} is no place in the answer"
        elif not _holds(kind, quote, answer.text, start, end):
            yield f"the quoted words ({kind}) are not what stands at {start} to {end} of the answer"


def _holds(kind: str, quote: str, text: str, start: int, end: int) -> bool:
    """Say whether a quote is what stands at its place, as far as its class promises that."""
    passage = text[start:end]
    if kind == "verbatim":
        return passage == quote.strip()
    if kind == "normalised":
        place = locate_quote(quote, text)
        at_once = (place.start, place.end) == (start, end)
        return at_once or locate_quote(quote, passage).kind != "unverifiable"
    if kind == "in_parts":
        parts = [part for part in _OMISSION.split(quote) if part.strip()]
        return all(locate_quote(part, text).kind != "unverifiable" for part in parts)
    return True


def _cited(bundle: Bundle) -> Iterator[tuple[CitationKey, tuple[str, str]]]:
    """Yield what the reports cite, as far as the site shows it: the prompt and the quote."""
    links = BundleLinks.of(bundle)
    pairs, dimensions = set(links.pairs), set(links.dimension_ids)
    for report in bundle.reports:
        for dimension in sorted(dimensions & set(report.evidence)):
            for number, item in enumerate(report.evidence[dimension], start=1):
                if report.pair in pairs:
                    key = (*report.pair, dimension, number)
                    yield key, (item.prompt_id, item.quote.strip())


def _records(data: object) -> list[dict[str, Any]]:
    if not isinstance(data, list) or not all(isinstance(one, dict) for one in data):
        raise ValueError("is no list of entries")
    return data
