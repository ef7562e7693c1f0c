"""Permalinks as data: what a publication promises at which address, one record a line.

The file of one publication is the lock of the next. By then it may have been through many hands,
so nothing in it is believed, least of all an address to write to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from touchstone.errors import SiteError
from touchstone.slugs import slug

FILE = "permalinks.json"
MOST_BYTES = 100_000_000
"""Size of a lock that is still read; 161,000 answers need a third of it."""
MOST_CHARACTERS = 2_000
"""Length of a reason."""
MOST_EARLIER = 100
"""Earlier texts of one answer that are remembered."""

Key = tuple[str | None, ...]
"""Bundle, model, variant, prompt and dimension; None where the place is about none.

A sixth part tells places apart that the five don't: ``ko`` a model's K.-o. page from its report,
``dimension`` a model on a dimension's page from that dimension in its report, and any other page
of a bundle from its scorecard, by the name of its file (``run``, ``ko/index``).
"""
AnswerKey = tuple[str, str, str]

KO, ON_DIMENSION = "ko", "dimension"
_KEY_LENGTHS = (5, 6)
_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,149}"
_URL = re.compile(
    rf"bundles/({_NAME})/(?:(?:models|dimensions|prompts|ko)/)?({_NAME})\.html"
    r"(?:#[A-Za-z0-9][A-Za-z0-9._-]{0,299})?"
)
_WINDOWS = re.compile(r"(?i)(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|\Z)")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Tombstone:
    """Why what was published is no longer there.

    ``since`` is the date of the first site without it (its newest bundle's ``created``).
    ``answer_sha256`` is the text that was published last, ``earlier`` the ones before that.
    """

    reason: str = ""
    since: str | None = None
    answer_sha256: str | None = None
    earlier: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Permalink:
    """What an address stands for; ``url`` is relative to the site's root.

    With a tombstone the place is gone, or, if there is an ``answer_sha256`` beside it, the answer
    has another text than the one that was published first.
    """

    key: Key
    url: str
    answer_sha256: str | None = None
    tombstone: Tombstone | None = None

    @property
    def bundle(self) -> str:
        """The bundle's id."""
        return self.key[0] or ""

    @property
    def page(self) -> str:
        """The path of the page."""
        return self.url.partition("#")[0]

    @property
    def anchor(self) -> str:
        """The anchor on the page, "" for the page itself."""
        return self.url.partition("#")[2]

    @property
    def answer(self) -> AnswerKey | None:
        """The answer it is about: model, variant, prompt id."""
        _, model, variant, prompt_id, *_ = self.key
        if model is None or variant is None or prompt_id is None:
            return None
        return model, variant, prompt_id

    @property
    def is_gone(self) -> bool:
        """True if it was gone already when this was written."""
        return self.tombstone is not None and self.answer_sha256 is None

    @property
    def published_sha256(self) -> str | None:
        """The hash of the answer's text that was published last."""
        if self.is_gone and self.tombstone is not None:
            return self.tombstone.answer_sha256
        return self.answer_sha256


def order(link: Permalink) -> tuple[object, ...]:
    """Return what permalinks are sorted by: the parts of the key, None first, then the address."""
    parts = *link.key, None
    return *((part is not None, part or "") for part in parts[: max(_KEY_LENGTHS)]), link.url


def permalink_json(link: Permalink) -> str:
    """Return a permalink as one line of ASCII, whatever characters its ids hold."""
    record: dict[str, object] = {
        "key": list(link.key),
        "url": link.url,
        "answer_sha256": link.answer_sha256,
    }
    stone = link.tombstone
    if stone is not None:
        record["tombstone"] = {
            "reason": stone.reason or None,
            "answer_sha256": stone.answer_sha256,
            **({"since": stone.since} if stone.since else {}),
            **({"earlier": list(stone.earlier)} if stone.earlier else {}),
        }
    return json.dumps(record, ensure_ascii=True, separators=(",", ":"))


# --- reading a lock --------------------------------------------------------------------------


class _WrongError(Exception):
    """An entry of a lock is not what it should be; the text says what."""


def parse_permalinks(data: bytes, name: str) -> list[Permalink]:
    """Return the permalinks of a lock in their order; ``name`` is the file's, for messages.

    Raises:
        SiteError: it is no JSON, no list of permalinks, or leads out of the folder of bundles.
    """
    try:
        records = json.loads(data)
    except (ValueError, RecursionError) as failure:
        raise _refusal(name, f"is not JSON: {failure}") from None
    if not isinstance(records, list):
        has_format = isinstance(records, dict) and "format" in records
        kind = "a file of another kind or of a newer touchstone" if has_format else "something else"
        raise _refusal(name, f"holds no list of permalinks but {kind}")
    links: dict[str, Permalink] = {}
    for number, record in enumerate(records, start=1):
        try:
            link = _permalink(record)
            if link.url in links:
                raise _WrongError(f"the address {link.url} stands there twice")
        except _WrongError as failure:
            raise _refusal(name, f"can't be used: entry {number}: {failure}") from None
        links[link.url] = link
    return sorted(links.values(), key=order)


def _refusal(name: str, what: str) -> SiteError:
    return SiteError(
        f"The lock {name} {what}.",
        hint=f"A lock is the {FILE} of the last publication, as build-site wrote it.",
    )


def _permalink(record: object) -> Permalink:
    if not isinstance(record, dict):
        raise _WrongError("it must be an object with key, url and answer_sha256")
    key, url = _key(record.get("key")), _url(record.get("url"))
    if url.split("/")[1] != slug(key[0] or ""):
        raise _WrongError(f"{url} is no address of the bundle in its key")
    stone = record.get("tombstone")
    return Permalink(
        key,
        url,
        _sha256(record.get("answer_sha256")),
        None if stone is None else _tombstone(stone),
    )


def _key(value: object) -> Key:
    parts = value if isinstance(value, list) else []
    are_ids = all(part is None or isinstance(part, str) for part in parts)
    if len(parts) not in _KEY_LENGTHS or not are_ids or parts[0] is None:
        raise _WrongError("key must be [bundle, model, variant, prompt, dimension]")
    return tuple(parts[:-1] if len(parts) == max(_KEY_LENGTHS) and parts[-1] is None else parts)


def _url(value: object) -> str:
    found = _URL.fullmatch(value) if isinstance(value, str) else None
    if found is None or _WINDOWS.match(found[2]):
        shown = value if isinstance(value, str) else type(value).__name__
        raise _WrongError(f"url must be the address of a page below bundles/, not {shown[:200]!r}")
    return found[0]


def _sha256(value: object) -> str | None:
    if value is None or (isinstance(value, str) and _SHA256.fullmatch(value)):
        return value
    raise _WrongError("answer_sha256 must be null or 64 hexadecimal digits")


def _tombstone(value: object) -> Tombstone:
    if not isinstance(value, dict):
        raise _WrongError("tombstone must be an object with reason and answer_sha256")
    earlier = value.get("earlier", [])
    if not isinstance(earlier, list):
        raise _WrongError("earlier must be a list of hashes")
    hashes = [_sha256(one) for one in earlier[:MOST_EARLIER]]
    return Tombstone(
        _line(value, "reason") or "",
        _line(value, "since"),
        _sha256(value.get("answer_sha256")),
        tuple(one for one in hashes if one is not None),
    )


def _line(record: dict[object, object], name: str) -> str | None:
    value = record.get(name)
    if value is None or (isinstance(value, str) and len(value) <= MOST_CHARACTERS):
        return value
    raise _WrongError(f"{name} must be a text of at most {MOST_CHARACTERS} characters")


def earlier_texts(last: str, before: Tombstone | None, now: str) -> tuple[str, ...]:
    """Return the texts of an answer that were published before ``last`` and are not shown now."""
    hashes: Iterable[str | None] = (before.answer_sha256, *before.earlier) if before else ()
    known = dict.fromkeys(one for one in hashes if one is not None and one not in (last, now))
    return tuple(known)[:MOST_EARLIER]
