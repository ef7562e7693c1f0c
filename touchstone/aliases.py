"""Follows earlier ids to the ones of today. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeVar

Id = TypeVar("Id", str, tuple[str, str])


def followed(aliases: Mapping[Id, Id], current: Collection[Id]) -> dict[Id, Id]:
    """Return each earlier id with the current one it leads to, by however many steps.

    An id that is current is no earlier one, whatever the aliases say. What leads to nothing, or
    round in a circle, is left out.
    """
    ends: dict[Id, Id | None] = {}
    for old in aliases:
        at: Id | None = old
        way: dict[Id, None] = {}
        while at is not None and at not in current and at not in ends and at not in way:
            way[at] = None
            at = aliases.get(at)
        end = None if at is None or at in way else ends.get(at, at)
        ends.update(dict.fromkeys(way, end))
    return {old: end for old, end in ends.items() if end is not None}
