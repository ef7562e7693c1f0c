"""What a build made and a later one may need again: values by key, in the user's cache folder.

A cache only saves time: a value that can't be read, or is damaged, is made anew, and without a
folder to write to it lies in a temporary file. Two builds may use it at once.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import platformdirs

MOST_BYTES = 1 << 30
"""Size of the file from which on what was not used longest goes; 161,000 answers need a third."""
_WAIT_S = 10.0
_DAY_S = 86_400
_FRESH_DAYS = 7
"""How old the note on an entry's last use may be before it is written again."""
_FORMAT = 1


def cache_folder() -> Path:
    """Return the folder of the site's cache: in the user's own cache folder."""
    return platformdirs.user_cache_path("touchstone") / "site"


def key_of(*parts: str | bytes) -> bytes:
    """Return the key of a value that depends on these parts and on nothing else (SHA-256)."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.digest()


class SiteCache:
    """Bytes by key. Use it as a context, or close it.

    ``folder`` None keeps values for this build only, in a temporary file. Values are compressed,
    and checked when they are read.
    """

    def __init__(self, folder: Path | None, *, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._today = int(time.time() // _DAY_S)
        self._used: set[bytes] = set()
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._path = Path()
        self._connection: sqlite3.Connection | None = None
        if folder is not None:
            self._path = folder / f"site-{_FORMAT}.sqlite"
            self._connection = _opened(self._path)
        if self._connection is None:
            with contextlib.suppress(OSError):
                self._temporary = tempfile.TemporaryDirectory(prefix="touchstone-")
                self._path = Path(self._temporary.name) / "site.sqlite"
                self._connection = _opened(self._path)

    def __enter__(self) -> SiteCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a key; None where there is none, or it is damaged."""
        rows = self._rows("SELECT checksum, value, used FROM entry WHERE key = ?", key)
        for checksum, packed, used in rows:
            value = _unpacked(key, checksum, packed)
            if value is not None:
                if self._today - used > _FRESH_DAYS:
                    self._used.add(key)
                return value
        return None

    def has(self, key: bytes) -> bool:
        """Say whether there seems to be a value, without reading it."""
        return bool(self._rows("SELECT 1 FROM entry WHERE key = ?", key))

    def put(self, values: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep values by their keys, all in one step; where that is impossible none is kept."""
        packed = [(key, zlib.compress(value, 1)) for key, value in values]
        self._write(
            "INSERT OR REPLACE INTO entry (key, checksum, value, used) VALUES (?, ?, ?, ?)",
            [(key, _checksum(key, value), value, self._today) for key, value in packed],
        )

    def close(self) -> None:
        """Write what is still to be noted, remove what is old where there is too much, and end."""
        if self._connection is not None:
            self._write(
                "UPDATE entry SET used = ? WHERE key = ?", [(self._today, k) for k in self._used]
            )
            self._prune()
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None
        if self._temporary is not None:
            with contextlib.suppress(OSError):
                self._temporary.cleanup()

    def _rows(self, query: str, *values: object) -> list[tuple[bytes, bytes, int]]:
        if self._connection is None:
            return []
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.OperationalError:  # locked for long, or the disk fails
            return []
        except sqlite3.DatabaseError:
            self._start_anew()
            return []

    def _write(self, statement: str, rows: list[tuple[object, ...]]) -> None:
        if self._connection is None or not rows:
            return
        try:
            with _transaction(self._connection):
                self._connection.executemany(statement, rows)
        except sqlite3.OperationalError:  # locked for long, no room, or read only
            return
        except sqlite3.DatabaseError:
            self._start_anew()

    def _start_anew(self) -> None:
        """Throw a damaged file away and go on with an empty one."""
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
        self._connection = _opened_anew(self._path)

    def _prune(self) -> None:
        """Remove what was not used longest, a third at a time, until the rest is small enough."""
        for _ in range(20):
            if self._connection is None or self._size() <= self._most_bytes:
                return
            self._write(
                "DELETE FROM entry WHERE key IN (SELECT key FROM entry ORDER BY used, rowid"
                " LIMIT (SELECT count(*) FROM entry) / ? + 1)",
                [(3,)],
            )

    def _size(self) -> int:
        """Return the bytes that entries take; the file's free pages are not counted."""
        counts = [
            int(row[0])
            for name in ("page_count", "freelist_count", "page_size")
            for row in self._rows(f"PRAGMA {name}")[:1]
        ]
        return (counts[0] - counts[1]) * counts[2] if len(counts) == 3 else 0


def _opened(path: Path) -> sqlite3.Connection | None:
    """Return the open file of a cache, emptied if it is damaged; None where it can't be used."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return _connected(path)
    except (OSError, sqlite3.OperationalError):
        return None
    except sqlite3.DatabaseError:
        return _opened_anew(path)


def _opened_anew(path: Path) -> sqlite3.Connection | None:
    try:
        for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
            path.with_name(name).unlink(missing_ok=True)
        return _connected(path)
    except (OSError, sqlite3.Error):
        return None


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None)
    try:
        # A crash of the machine may damage the file; that is noticed, and all in it can be made.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS entry (key BLOB PRIMARY KEY, checksum BLOB NOT NULL,"
            " value BLOB NOT NULL, used INTEGER NOT NULL)"
        )
        with _transaction(connection):  # a file that can't be written is no cache
            connection.execute(f"PRAGMA user_version = {_FORMAT}")
    except BaseException:
        connection.close()
        raise
    return connection


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _checksum(key: bytes, packed: bytes) -> bytes:
    return hashlib.blake2b(packed, key=key, digest_size=16).digest()


def _unpacked(key: bytes, checksum: object, packed: object) -> bytes | None:
    if not isinstance(packed, bytes) or checksum != _checksum(key, packed):
        return None
    try:
        return zlib.decompress(packed)
    except zlib.error:
        return None
