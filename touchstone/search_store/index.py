"""The index of a folder's bundles: one SQLite file in the user's cache that follows its bundles.

It is named after the hash of the folder's path and holds nothing that is not in the bundles:
whatever is wrong with it, it is thrown away and made anew. A bundle is read again when its files
have changed, in one transaction: processes at work at once see the old state or the new one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import platformdirs

from touchstone import __version__
from touchstone.bundle import (
    ANSWERS,
    MANIFEST,
    REPORTS,
    REVIEWS,
    SUITE,
    VERDICTS,
    AnswerKey,
    Bundle,
    Pair,
)
from touchstone.errors import InputError, TouchstoneError
from touchstone.files import sha256_of
from touchstone.gui.links import BundleLinks
from touchstone.models import Answer, Flag, Verdict
from touchstone.scorecard import effective_flags
from touchstone.search_store.query import TOKENIZER, indexed_text, storable

Kind = Literal["answer", "rationale", "verdict"]
Progress = Callable[[str, int, int], None]
"""Is told which bundle is being read, how many of its texts are done, and how many there are."""

_APPLICATION = 0x54536C78
_FORMAT = 1
_FILES = (MANIFEST, SUITE, ANSWERS, VERDICTS, REPORTS, REVIEWS)
_WAIT_S = 600.0
_RACY_NS = 2_000_000_000
"""A file changed this shortly before it was looked at may change again and keep its time."""

SCHEMA = f"""
CREATE TABLE about (tool TEXT);
CREATE TABLE bundles (
  folder TEXT PRIMARY KEY, id TEXT, models TEXT, stats TEXT, looked_ns INTEGER, sha256 TEXT,
  unusable TEXT
);
CREATE TABLE documents (
  id INTEGER PRIMARY KEY, folder TEXT, kind TEXT, model TEXT, variant TEXT, prompt_id TEXT,
  dimension TEXT, flag TEXT, url TEXT
);
CREATE INDEX documents_of ON documents (folder);
CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize = "{TOKENIZER}");
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_FORMAT};
"""


@dataclass(frozen=True)
class Update:
    """What became of each bundle, by the name of its folder.

    ``skipped`` says why a bundle could not be read, ``unusable`` which lines of one could not.
    """

    indexed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    skipped: dict[str, str] = field(default_factory=dict)
    unusable: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Document:
    kind: Kind
    pair: Pair
    text: str
    url: str
    prompt_id: str | None = None
    dimension: str | None = None
    flag: Flag | None = None


class IndexDamagedError(Exception):
    """The file is no index, or not one that can be read."""


class IndexOutdatedError(IndexDamagedError):
    """Another version of touchstone made the index."""


class IndexUnwritableError(Exception):
    """The index can't be kept where it belongs."""


def index_path(folder: Path, cache: Path | None = None) -> Path:
    """Return where the index of a folder of bundles lies; ``cache`` is the cache folder."""
    place = str(folder.resolve()).encode("utf-8", "surrogateescape")
    base = cache or platformdirs.user_cache_path("touchstone")
    return base / "search" / f"{hashlib.sha256(place).hexdigest()[:24]}.sqlite"


# --- the file -----------------------------------------------------------------------------------


@contextlib.contextmanager
def opened_index(path: Path | None) -> Iterator[sqlite3.Connection]:
    """Open an index, an empty one where there is none; without a path, one for this time alone.

    A damaged one is thrown away before ``IndexDamagedError`` says so.
    """
    seen = None
    try:
        if path is not None:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            seen = _identity(path)
        # "" is SQLite's own temporary file: in memory while small, on the disk when it grows.
        connection = sqlite3.connect(path or "", timeout=_WAIT_S, isolation_level=None)
        with contextlib.closing(connection):
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA cache_size = -16000")
            _prepare(connection)
            yield connection
    except IndexDamagedError:
        _discard(path, seen)
        raise
    except (sqlite3.Error, OSError) as failure:
        error = _what_is_wrong(failure, path)
        if isinstance(error, IndexDamagedError):
            _discard(path, seen)
        raise error from failure


def _prepare(connection: sqlite3.Connection) -> None:
    if _is_empty(connection):
        with _transaction(connection):
            if _is_empty(connection):  # another process may have been here first
                for statement in SCHEMA.split(";"):
                    connection.execute(statement)
                connection.execute("INSERT INTO about VALUES (?)", (__version__,))
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != _APPLICATION:
        raise IndexDamagedError("it is another program's file")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != _FORMAT or connection.execute("SELECT tool FROM about").fetchall() != [
        (__version__,)
    ]:
        raise IndexOutdatedError("another version made it")


def _is_empty(connection: sqlite3.Connection) -> bool:
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return not tables


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Hold the right to write; other processes wait for it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _what_is_wrong(failure: sqlite3.Error | OSError, path: Path | None) -> Exception:
    if isinstance(failure, OSError):
        return IndexUnwritableError(failure.strerror or str(failure))
    code = getattr(failure, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return TouchstoneError(
            "Another process has held the search index for ten minutes.",
            hint="Try again when it is done.",
        )
    if path is None:
        return TouchstoneError(f"No search index can be made: {failure}.")
    kept_out = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}
    kept_out |= {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_AUTH}
    kind = IndexUnwritableError if code in kept_out else IndexDamagedError
    return kind(str(failure))


def _identity(path: Path) -> tuple[int, int] | None:
    with contextlib.suppress(OSError):
        stat = path.stat()
        return stat.st_ino, stat.st_mtime_ns
    return None


def _discard(path: Path | None, seen: tuple[int, int] | None) -> None:
    """Remove a damaged index, unless another process has put a new one there since."""
    if path is None or seen is None or _identity(path) != seen:
        return
    with contextlib.suppress(OSError):
        path.with_name(f"{path.name}-journal").unlink(missing_ok=True)
        path.unlink(missing_ok=True)


# --- following the bundles ------------------------------------------------------------------------


def update_index(
    connection: sqlite3.Connection, paths: Sequence[Path], progress: Progress
) -> Update:
    """Bring the index up to date and return what that took."""
    names = {storable(path.name) for path in paths}
    known = [name for (name,) in connection.execute("SELECT folder FROM bundles ORDER BY folder")]
    dropped = [name for name in known if name not in names]
    for name in dropped:
        with _transaction(connection):
            _drop(connection, name)
    indexed: list[str] = []
    unchanged: list[str] = []
    skipped: dict[str, str] = {}
    for path in paths:
        name = storable(path.name)
        try:
            (indexed if _refreshed(connection, path, progress) else unchanged).append(name)
        except (InputError, OSError, ValueError) as failure:
            skipped[name] = _why(failure)
            with _transaction(connection):
                _drop(connection, name)
    rows = connection.execute("SELECT folder, unusable FROM bundles WHERE unusable != '[]'")
    unusable = {name: tuple(json.loads(problems)) for name, problems in rows.fetchall()}
    return Update(tuple(indexed), tuple(unchanged), tuple(dropped), skipped, unusable)


def _why(failure: Exception) -> str:
    if isinstance(failure, InputError):
        return str(failure)
    if isinstance(failure, OSError):
        return f"{failure.strerror or failure} ({failure.filename})"
    return "A file changed while it was read. Search again."


def _refreshed(connection: sqlite3.Connection, path: Path, progress: Progress) -> bool:
    """Read a bundle again if its files have changed; return whether they have."""
    looked_ns = time.time_ns()
    stats = _stats(path)
    if _is_current(connection, path, stats):
        return False
    with _transaction(connection):
        if _is_current(connection, path, stats):  # another process may have read it meanwhile
            return False
        name, digest = storable(path.name), _digest(path)
        known = connection.execute("SELECT sha256 FROM bundles WHERE folder = ?", (name,))
        changed: bool = known.fetchone() != (digest,)
        if changed:
            _drop(connection, name)
            _insert(connection, Bundle.open(path), name, progress)
        connection.execute(
            "UPDATE bundles SET stats = ?, looked_ns = ?, sha256 = ? WHERE folder = ?",
            (stats, looked_ns, digest, name),
        )
    return changed


def _is_current(connection: sqlite3.Connection, path: Path, stats: str) -> bool:
    row = connection.execute(
        "SELECT looked_ns FROM bundles WHERE folder = ? AND stats = ?", (storable(path.name), stats)
    ).fetchone()
    if row is None:
        return False
    return all(mtime_ns < row[0] - _RACY_NS for _, _, mtime_ns, _ in json.loads(stats))


def _stats(path: Path) -> str:
    """Return sizes and times of a bundle's files, as JSON."""
    rows = []
    for name in _FILES:
        with contextlib.suppress(FileNotFoundError):
            stat = (path / name).stat()
            rows.append((name, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns))
    return json.dumps(rows)


def _digest(path: Path) -> str:
    """Return the SHA-256 over the content of a bundle's files that are searched or linked."""
    found = [(name, sha256_of(path / name)) for name in _FILES if (path / name).is_file()]
    return hashlib.sha256(json.dumps(found).encode()).hexdigest()


def _drop(connection: sqlite3.Connection, name: str) -> None:
    connection.execute(
        "DELETE FROM texts WHERE rowid IN (SELECT id FROM documents WHERE folder = ?)", (name,)
    )
    connection.execute("DELETE FROM documents WHERE folder = ?", (name,))
    connection.execute("DELETE FROM bundles WHERE folder = ?", (name,))


def _insert(connection: sqlite3.Connection, bundle: Bundle, name: str, progress: Progress) -> None:
    progress(bundle.id, 0, 0)
    total = len(bundle.answers) + len(bundle.verdicts) + len(bundle.reports)
    (number,) = connection.execute("SELECT coalesce(max(id), 0) FROM documents").fetchone()
    for done, document in enumerate(_documents(bundle), start=1):
        if not done % 200:
            progress(bundle.id, min(done, total), total)
        if not document.text.strip():
            continue
        number += 1
        names = (*document.pair, document.prompt_id, document.dimension)
        connection.execute(
            "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(number, name, document.kind),
                *(None if one is None else storable(one) for one in names),
                *(document.flag, document.url),
            ),
        )
        connection.execute(
            "INSERT INTO texts (rowid, text) VALUES (?, ?)", (number, indexed_text(document.text))
        )
    files = (bundle.answers, bundle.verdicts, bundle.reports, bundle.review_file)
    problems = [storable(str(problem)) for one in files for problem in one.unusable]
    models = [list(map(storable, entry.pair)) for entry in bundle.manifest.models]
    connection.execute(
        "INSERT INTO bundles (folder, id, models, unusable) VALUES (?, ?, ?, ?)",
        (name, storable(bundle.id), json.dumps(models), json.dumps(problems)),
    )


def _documents(bundle: Bundle) -> Iterator[_Document]:
    """Yield the texts of a bundle one by one: verdicts first, then answers and rationales."""
    links = BundleLinks.of(bundle)
    pairs = set(links.pairs)
    # Of the verdicts only the flags are held; their texts would not fit at scale.
    judged: dict[AnswerKey, Flag | None] = {}
    decided = effective_flags((), bundle.review_file)

    def about(record: Answer | Verdict, text: str, kind: Kind) -> _Document:
        pair, prompt_id = record.pair, record.prompt_id
        flag = judged.get((*pair, prompt_id))
        decision = decided.get((*pair, prompt_id))
        if decision and decision.set_by:
            flag = decision.flag
        known = pair in pairs and links.knows_prompt(prompt_id)
        url = links.answer(pair, prompt_id) if known else links.problems
        return _Document(kind, pair, text, url, prompt_id, None, flag)

    for verdict in bundle.verdicts:
        judged[(*verdict.pair, verdict.prompt_id)] = verdict.flag
        yield about(verdict, verdict.rationale, "verdict")
    for answer in bundle.answers:
        yield about(answer, answer.text, "answer")
    for report in bundle.reports:
        for dimension, text in report.dim_rationales.items():
            known = report.pair in pairs and dimension in links.dimension_ids
            url = links.model_dimension(report.pair, dimension) if known else links.problems
            yield _Document("rationale", report.pair, text, url, None, dimension)
