"""Slugs: file and URL names made from arbitrary ids, injective even where case is ignored."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_MAX = 60
_WINDOWS = {
    *("con", "prn", "aux", "nul", "conin$", "conout$"),
    *(f"{port}{number}" for port in ("com", "lpt") for number in range(10)),
}
_RESERVED = {"index", "readme", "404", "sitemap", "search", "assets"} | {
    *("run", "evidence", "judge-quality", "quality-gate", "calibration", "bundle", "score"),
    *("models", "dimensions", "prompts", "ko", "compare", "judges", "method", "adr", "permalinks"),
}
_HASHED = re.compile(r"-[0-9a-f]{8}")


def slug(raw_id: str, *, suffixed: bool = False) -> str:
    """Return the slug of an id: ASCII, at most 69 characters, safe as a file name and in a URL.

    A plain id is its own slug. Every other gets a readable stem and 8 hex digits of its SHA-256,
    and so does an id that only looks like such a slug, which keeps the mapping injective, and one
    that ends in a dot, which Windows would drop.
    ``suffixed`` forces the suffix (ids of one suite that differ only in case).
    """
    if not suffixed and _is_plain(raw_id):
        return raw_id
    digest = hashlib.sha256(raw_id.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{_stem(raw_id)}-{digest}"


def slugs(raw_ids: Iterable[str]) -> dict[str, str]:
    """Return the slug of every id of one suite; ids equal ignoring case all get the suffix."""
    ids = list(dict.fromkeys(raw_ids))
    folded = Counter(raw_id.casefold() for raw_id in ids)
    return {raw_id: slug(raw_id, suffixed=folded[raw_id.casefold()] > 1) for raw_id in ids}


def case_collisions(raw_ids: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the groups of distinct ids that are equal ignoring case."""
    groups: dict[str, list[str]] = {}
    for raw_id in dict.fromkeys(raw_ids):
        groups.setdefault(raw_id.casefold(), []).append(raw_id)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def pair_slugs(pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return ``<model>--<variant>`` for every (model, variant); neither part contains ``--``."""
    keys = list(dict.fromkeys(pairs))
    models = slugs(model for model, _ in keys)
    variants = slugs(variant for _, variant in keys)
    return {(model, variant): f"{models[model]}--{variants[variant]}" for model, variant in keys}


def _is_plain(raw_id: str) -> bool:
    return (
        _PLAIN.fullmatch(raw_id) is not None
        and len(raw_id) <= _MAX
        and "--" not in raw_id
        and not raw_id.endswith(".")
        and raw_id.casefold() not in _RESERVED
        and raw_id.split(".")[0].casefold() not in _WINDOWS
        and _HASHED.fullmatch(raw_id[-9:]) is None
    )


def _stem(raw_id: str) -> str:
    ascii_only = unicodedata.normalize("NFKD", raw_id[:200]).encode("ascii", "ignore").decode()
    words = re.sub(r"[^A-Za-z0-9]+", "-", ascii_only).strip("-")[:_MAX].strip("-")
    return words or "id"
