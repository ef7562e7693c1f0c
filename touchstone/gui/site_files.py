"""Checks the files of a built site against the list of them that the build wrote."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from touchstone.errors import InputError, Problem
from touchstone.files import sha256_of
from touchstone.gui.audit import Audit, read_json
from touchstone.gui.target import MANIFEST, MANIFEST_FORMAT, MARK

_SHA256 = re.compile(r"[0-9a-f]{64}")
_REPOSITORY = ".git"


def is_site(path: Path) -> bool:
    """Say whether a folder holds a site that touchstone built."""
    return (path / MANIFEST).is_file()


def read_manifest(site: Path) -> dict[str, str]:
    """Return the SHA-256 of every file of a site, by its name from the site's root.

    Raises:
        InputError: the list can't be read, or was written by a newer version.
    """
    try:
        data = read_json(site / MANIFEST)
    except ValueError as failure:
        raise _unreadable(site, str(failure)) from None
    found = data.get("format") if isinstance(data, dict) else None
    if isinstance(found, int) and found > MANIFEST_FORMAT:
        raise InputError(
            f"{site / MANIFEST} has format {found}; "
            f"this version of touchstone reads up to {MANIFEST_FORMAT}.",
            hint="Update touchstone.",
        )
    files = data.get("files") if isinstance(data, dict) else None
    if not isinstance(files, dict) or not all(isinstance(one, str) for one in files.values()):
        raise _unreadable(site, "does not map names of files to their SHA-256")
    return files


def _unreadable(site: Path, why: str) -> InputError:
    problem = Problem("manifest_unreadable", MANIFEST, why)
    return InputError(f"{site / MANIFEST} {why}.", [problem])


def check_files(site: Path, listed: Mapping[str, str], audit: Audit) -> None:
    """Compare every file of a site with the list: changed, missing, not listed.

    What signs the list (``touchstone-manifest.json.asc`` and the like) may lie beside it. Without
    this tool the same is checked, in the site's folder, by::

        python3 -c "import json; [print(sha + '  ' + name) for name, sha in
            json.load(open('touchstone-manifest.json'))['files'].items()]" | sha256sum --check

    or with ``jq -r '.files | to_entries[] | .value + "  " + .key'`` in place of Python.
    """
    present = set(_files(site))
    for name, sha256 in sorted(listed.items()):
        if not _is_inside(name) or not _SHA256.fullmatch(sha256):
            audit.problem("manifest_unreadable", MANIFEST, f"the entry {name!r} can't be used")
        elif name not in present:
            audit.problem("file_missing", name, f"is listed in {MANIFEST}, but not there")
        else:
            audit.checked["files"] += 1
            _check_file(site, name, sha256, audit)
    for name in sorted(present - set(listed)):
        if name not in (MANIFEST, MARK) and not _is_signature(name):
            audit.problem("foreign_file", name, f"is not listed in {MANIFEST}")


def _check_file(site: Path, name: str, sha256: str, audit: Audit) -> None:
    path = site / name
    if path.is_symlink():
        audit.problem("file_changed", name, "is a link, not the file that was built")
        return
    try:
        actual = sha256_of(path)
    except OSError as failure:
        audit.problem("file_changed", name, f"can't be read: {failure.strerror or failure}")
        return
    if actual != sha256:
        message = f"was changed: its SHA-256 is {actual[:12]}…, not {sha256[:12]}…"
        audit.problem("file_changed", name, message)


def _files(site: Path) -> Iterator[str]:
    """Yield the names of all files below a folder; links to folders count as files."""
    for folder, folders, names in os.walk(site):
        here = Path(folder)
        if here == site and _REPOSITORY in folders:
            folders.remove(_REPOSITORY)
        links = [name for name in folders if (here / name).is_symlink()]
        for name in (*names, *links):
            yield (here / name).relative_to(site).as_posix()


def _is_inside(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return bool(parts) and parts[0] != "/" and ".." not in parts and not set(name) & set("\\:\0")


def _is_signature(name: str) -> bool:
    return name.startswith(f"{MANIFEST}.") and "/" not in name
