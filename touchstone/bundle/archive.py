"""A bundle as one ZIP file: packed the same every time, unpacked without trusting it."""

from __future__ import annotations

import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from touchstone.bundle.reading import MANIFEST, Bundle, is_bundle_file
from touchstone.errors import BundleError, Problem
from touchstone.slugs import slug

MOST_FILES = 1_000_000
MOST_BYTES = 20 << 30
"""What an archive may unpack to, in all."""
SMALL_BYTES = 1 << 30
MOST_RATIO = 100
"""How many times its own size an archive may unpack to, where that is more than SMALL_BYTES."""

_TIME = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_CHUNK = 1 << 20
_ENCRYPTED = 0x1
_FAILURES = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, struct.error),
    *(EOFError, NotImplementedError, RuntimeError, ValueError, OverflowError),
)


@dataclass(frozen=True)
class Unpacked:
    """A bundle that lay in an archive: its folder, and what else lay there (not unpacked)."""

    folder: Path
    foreign: tuple[str, ...]


def is_archive(path: Path) -> bool:
    """Say whether a file is meant as an archive: by its name, or by its first bytes."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return path.suffix.lower() == ".zip" or stream.read(4) == b"PK\x03\x04"


def pack_bundle(bundle: Bundle, target: Path) -> None:
    """Write all files of a bundle into a ZIP, in one folder that is named by the bundle's id.

    Equal bundles make equal archives: names are sorted, times and permissions fixed. (The packed
    bytes are those of this machine's zlib.) Files are read in pieces.

    Raises:
        BundleError: a file that the bundle needs is a link, which is not packed.
    """
    names = bundle.files()
    missing = sorted({MANIFEST, *bundle.file_hashes()} - set(names))
    if missing:
        raise BundleError(
            f"{bundle.path / missing[0]} is a link to another file, so it can't be packed.",
            hint="Put a copy of the file in its place.",
        )
    folder = slug(bundle.id)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            source = bundle.path / name
            entry = zipfile.ZipInfo(f"{folder}/{name}", _TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = _UNIX
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            entry.file_size = source.stat().st_size  # decides whether 64-bit sizes are needed
            with source.open("rb") as stream, archive.open(entry, "w") as packed:
                shutil.copyfileobj(stream, packed, _CHUNK)


def unpack_bundle(path: Path, into: Path, *, most_files: int = MOST_FILES) -> Unpacked:
    """Unpack the bundle in a ZIP below an empty folder; only the files that belong to a bundle.

    The bundle may lie at the archive's root or in a folder there; without one, its folder is
    named as the archive is. ``most_files`` is how many files an archive may hold.

    Raises:
        BundleError: the archive can't be read, is encrypted or cut off, would fill the disk, names
            a place outside itself, holds links, or no bundle.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > most_files:
                raise _unreadable(path, f"holds {len(entries)} files: no bundle has that many")
            _refuse_unsafe(path, entries)
            return _unpack(path, archive, entries, into)
    except OSError as failure:
        raise _unreadable(path, f"can't be unpacked: {failure.strerror or failure}") from None
    except _FAILURES as failure:
        raise _unreadable(path, f"is damaged or no ZIP file: {failure}") from None


def _unpack(
    path: Path, archive: zipfile.ZipFile, entries: Sequence[zipfile.ZipInfo], into: Path
) -> Unpacked:
    prefix = _prefix(path, entries)
    folder = into / (prefix.rstrip("/") or path.stem)
    folder.mkdir()
    foreign = []
    for entry in entries:
        if entry.is_dir():
            continue
        name = entry.filename.removeprefix(prefix)
        if not entry.filename.startswith(prefix) or not is_bundle_file(name):
            foreign.append(entry.filename)
            continue
        target = folder / name
        target.parent.mkdir(exist_ok=True)
        with archive.open(entry) as packed, target.open("xb") as stream:
            shutil.copyfileobj(packed, stream, _CHUNK)
    return Unpacked(folder, tuple(foreign))


def _prefix(path: Path, entries: Sequence[zipfile.ZipInfo]) -> str:
    """Return what stands before the names of the bundle's files: nothing, or one folder."""
    manifests = [entry.filename for entry in entries if _is_manifest(entry.filename)]
    if not manifests:
        raise _unreadable(path, f"holds no bundle: neither it nor a folder in it has a {MANIFEST}")
    if len(manifests) > 1:
        raise _unreadable(path, f"holds several bundles: {', '.join(sorted(manifests)[:3])}")
    return manifests[0].removesuffix(MANIFEST)


def _is_manifest(name: str) -> bool:
    parts = name.split("/")
    return parts[-1] == MANIFEST and len(parts) <= 2


# --- archives that mean harm ---------------------------------------------------------------


def _refuse_unsafe(path: Path, entries: Sequence[zipfile.ZipInfo]) -> None:
    # No more than the declared size is ever unpacked of a file.
    unpacked, packed = sum(entry.file_size for entry in entries), path.stat().st_size
    if unpacked > MOST_BYTES or unpacked > max(SMALL_BYTES, MOST_RATIO * packed):
        raise _unreadable(path, f"would unpack {packed} bytes to {unpacked}: no bundle does that")
    seen: set[str] = set()
    for entry in entries:
        why = next(_reasons(entry, seen), "")
        if why:
            raise _unreadable(path, f"{entry.orig_filename[:200]!r} {why}")
        seen.add(entry.filename.casefold())


def _reasons(entry: zipfile.ZipInfo, seen: set[str]) -> Iterator[str]:
    """Yield why an entry must not be unpacked."""
    name, mode = entry.orig_filename, entry.external_attr >> 16
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or any(c in name for c in "\\:\0"):
        yield "names a place outside the archive"
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        yield "is a link or device, not a file"
    if entry.flag_bits & _ENCRYPTED:
        yield "is encrypted"
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        yield "is packed in an uncommon way"
    if entry.filename.casefold() in seen:
        yield "stands there twice"


def _unreadable(path: Path, why: str) -> BundleError:
    problem = Problem("bundle_unreadable", path.name, why)
    return BundleError(f"{path} can't be opened as a bundle: it {why}.", [problem])
