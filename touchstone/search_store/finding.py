"""Searching the bundles of a folder: what is asked, what is found, in an index that is current."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from touchstone.bundle import find_bundles
from touchstone.errors import TouchstoneError, UsageError
from touchstone.models import Flag
from touchstone.search_store.index import (
    SCHEMA,
    IndexDamagedError,
    IndexOutdatedError,
    IndexUnwritableError,
    Kind,
    Progress,
    Update,
    index_path,
    opened_index,
    update_index,
)
from touchstone.search_store.query import (
    HIT_CLOSES,
    HIT_OPENS,
    Span,
    match_expression,
    snippet_of,
    storable,
)

KINDS: tuple[Kind, ...] = ("answer", "rationale", "verdict")
Note = Callable[[str], None]
"""Is told, in a sentence, what was done about an index that could not be used."""

MOST_QUERY_CHARACTERS = 2_000
_SNIPPET_WORDS, _SNIPPET_CHARACTERS = 32, 400

_FOUND = """
FROM texts JOIN documents AS d ON d.id = texts.rowid JOIN bundles AS b ON b.folder = d.folder
WHERE texts MATCH :match
  AND (:bundles = '[]' OR b.id IN (SELECT value FROM json_each(:bundles)))
  AND (:kinds = '[]' OR d.kind IN (SELECT value FROM json_each(:kinds)))
  AND (:models = '[]' OR d.model IN (SELECT value FROM json_each(:models))
       OR d.model || '/' || d.variant IN (SELECT value FROM json_each(:models)))
  AND (:flag IS NULL OR d.flag = :flag)
"""
_COUNT = "SELECT count(*) " + _FOUND
_HITS = (
    "SELECT d.id, -bm25(texts) AS score, b.id, d.model, d.variant, d.prompt_id, d.dimension, "
    "d.kind, d.flag, d.url "
    + _FOUND
    + "ORDER BY score DESC, b.id, d.model, d.variant, d.prompt_id, d.dimension, d.kind, d.id "
    "LIMIT :limit"
)
_SNIPPET = (
    f"SELECT snippet(texts, 0, ?, ?, '…', {_SNIPPET_WORDS}) FROM texts "  # noqa: S608
    "WHERE texts MATCH ? AND rowid = ?"
)


@dataclass(frozen=True)
class Question:
    """What is searched for, and where; an empty choice is all of it.

    ``models`` are NAME or NAME/VARIANT. With ``raw``, ``words`` are an FTS5 expression.
    """

    words: str
    bundles: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    flag: Flag | None = None
    kinds: tuple[Kind, ...] = ()
    limit: int = 20
    prefix: bool = False
    raw: bool = False


@dataclass(frozen=True)
class Hit:
    """A text in which the words occur; ``url`` is relative to the site's root.

    ``score`` is higher the better it fits (BM25). ``hits`` are half-open spans of ``snippet``, in
    characters. ``flag`` is the effective flag of the answer, which a rationale has not.
    """

    bundle: str
    model: str
    variant: str
    prompt_id: str | None
    dimension: str | None
    kind: Kind
    flag: Flag | None
    snippet: str
    hits: tuple[Span, ...]
    url: str
    rank: int
    score: float


@dataclass(frozen=True)
class Findings:
    """The best hits, how many there are in all, and what was done to the index before."""

    hits: tuple[Hit, ...]
    total: int
    update: Update


def find_texts(
    folder: Path,
    question: Question,
    *,
    cache: Path | None = None,
    progress: Progress = lambda bundle, done, total: None,
    note: Note = lambda sentence: None,
) -> Findings:
    """Bring the index of a folder of bundles up to date, and search it.

    A damaged index is made anew. Where it can't be kept, it is made for this search alone. Both
    are told to ``note``. A bundle that can't be read is left out and named in the ``Update``.

    Raises:
        UsageError: ``raw`` words are no FTS5 expression, a bundle or model is not there, or the
            query is too long.
        TouchstoneError: SQLite lacks FTS5, another process holds the index, or no index can be
            made anywhere.
    """
    match = _match_of(question)
    path, paths = index_path(folder, cache), find_bundles(folder)

    def attempt(place: Path | None) -> Findings:
        with opened_index(place) as connection:
            update = update_index(connection, paths, progress)
            return replace(_found(connection, question, match), update=update)

    try:
        try:
            return attempt(path)
        except IndexDamagedError as damage:
            if not isinstance(damage, IndexOutdatedError):
                note(f"The search index {path} can't be used ({damage}); it is made anew.")
            return attempt(path)
    except (IndexUnwritableError, IndexDamagedError) as failure:
        note(
            f"The search index can't be kept in {path.parent} ({failure}); "
            "it is made for this search alone."
        )
    return attempt(None)


def _match_of(question: Question) -> str | None:
    if len(question.words) > MOST_QUERY_CHARACTERS:
        raise UsageError(f"A query has at most {MOST_QUERY_CHARACTERS:,} characters.")
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.executescript(SCHEMA)
        except sqlite3.Error as failure:
            raise TouchstoneError(
                f"This Python's SQLite can't search texts: {failure}.",
                hint="Use a Python whose SQLite has FTS5.",
            ) from failure
        if not question.raw:
            return match_expression(question.words, prefix=question.prefix)
        try:
            # NUL would end the expression early, and a lone surrogate can't be handed over.
            words = storable(question.words).replace("\0", "\ufffd")
            connection.execute("SELECT 1 FROM texts WHERE texts MATCH ?", (words,)).fetchall()
        except sqlite3.Error as failure:
            raise UsageError(
                f"This is no FTS5 expression: {failure}.",
                hint='Without --raw every word is searched for as it is: touchstone search "…"',
            ) from failure
        return words


def _found(connection: sqlite3.Connection, question: Question, match: str | None) -> Findings:
    """Return the best hits; ``match`` is an FTS5 expression that holds, or None for no hit."""
    _require_known(connection, question)
    if match is None:
        return Findings((), 0, Update())
    values = {
        "match": match,
        "bundles": json.dumps(question.bundles),
        "kinds": json.dumps(question.kinds),
        "models": json.dumps(question.models),
        "flag": question.flag,
        "limit": question.limit,
    }
    connection.execute("BEGIN")
    (total,) = connection.execute(_COUNT, values).fetchone()
    rows = connection.execute(_HITS, values).fetchall()
    hits = [_hit(connection, match, rank, row) for rank, row in enumerate(rows, start=1)]
    connection.execute("COMMIT")
    return Findings(tuple(hits), total, Update())


def _hit(connection: sqlite3.Connection, match: str, rank: int, row: Sequence[Any]) -> Hit:
    number, score, bundle, model, variant, prompt_id, dimension, kind, flag, url = row
    marks = (HIT_OPENS, HIT_CLOSES, match, number)
    (marked,) = connection.execute(_SNIPPET, marks).fetchone()
    snippet, spans = snippet_of(marked, _SNIPPET_CHARACTERS)
    place = (bundle, model, variant, prompt_id, dimension, kind, flag)
    return Hit(*place, snippet, spans, url, rank, score)


def _require_known(connection: sqlite3.Connection, question: Question) -> None:
    """Raise UsageError where a bundle or model is asked for that is not there."""
    rows = connection.execute("SELECT id, models FROM bundles ORDER BY id").fetchall()
    ids = [bundle_id for bundle_id, _ in rows]
    pairs = [(model, variant) for _, models in rows for model, variant in json.loads(models)]
    names = list(dict.fromkeys("/".join(pair) for pair in pairs))
    unknown = [one for one in question.bundles if one not in ids]
    if unknown:
        message = f"There is no bundle {', '.join(unknown)} here that can be read."
        raise UsageError(message, hint=_listed(ids))
    unknown = [one for one in question.models if one not in {*names, *(m for m, _ in pairs)}]
    if unknown:
        raise UsageError(f"No bundle here has the model {', '.join(unknown)}.", hint=_listed(names))


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return f"There is: {', '.join(names[:20]) or 'none'}{more}."
