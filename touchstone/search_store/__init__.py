"""Full text over the bundles of a folder, with an index in the user's cache folder."""

from __future__ import annotations

from touchstone.search_store.finding import (
    KINDS,
    MOST_QUERY_CHARACTERS,
    Findings,
    Hit,
    Question,
    find_texts,
)
from touchstone.search_store.index import Kind, Update, index_path

__all__ = [
    "KINDS",
    "MOST_QUERY_CHARACTERS",
    "Findings",
    "Hit",
    "Kind",
    "Question",
    "Update",
    "find_texts",
    "index_path",
]
