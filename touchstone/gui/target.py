"""The folder a site goes to: what in it is ours, one build at a time, the new in one step."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

import touchstone
from touchstone.errors import SiteError
from touchstone.files import sha256_of, write_atomic

MANIFEST = "touchstone-manifest.json"
MANIFEST_FORMAT = 1
MARK = ".touchstone-temporary"
"""Lies in a folder of ours that is to go away. (mkdocs empties the folder it builds into, but
leaves hidden files.)"""


class Target:
    """Where a site goes. It is made in a folder beside it and then swapped in.

    ``site.new`` is the site in the making, ``site.old`` the one before while they change places.
    """

    def __init__(self, site: Path) -> None:
        self.site = site.resolve()
        if self.site.is_mount():
            raise SiteError(
                f"{site} can't be replaced by a new site: something is mounted there.",
                hint="Choose a folder in it with --site-dir.",
            )
        self.work = self.site.with_name(f"{self.site.name}.new")
        self._old = self.site.with_name(f"{self.site.name}.old")

    def refuse_overlap(self, bundles: Path) -> None:
        """Raise SiteError if the site would lie among the bundles, or the bundles in the site."""
        folder = bundles.resolve()
        if self.site.is_relative_to(folder) or folder.is_relative_to(self.site):
            raise SiteError(
                f"The site ({self.site}) and the bundles ({folder}) can't lie in each other.",
                hint="Choose a folder beside the bundles with --site-dir.",
            )

    @contextlib.contextmanager
    def replaced(self) -> Iterator[Path]:
        """Yield an empty folder to build into; afterwards it is the site.

        If anything goes wrong the folder is removed, and the site stays as it was.

        Raises:
            SiteError: there are files that are not ours, or another build is writing this site.
        """
        with self._locked():
            _refuse_foreign_files(self.site)
            for folder in (self.work, self._old):
                _refuse_unmarked(folder)
            self._finish_swap()
            try:
                _remove(self.work)
                self.work.mkdir()
                (self.work / MARK).touch()
                yield self.work
                _write_manifest(self.work)
                self._swap()
            except BaseException:
                if not self.site.exists() and self._old.exists():
                    _move(self._old, self.site)
                _remove(self.work)
                raise

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        path = self.site.with_name(f".{self.site.name}.lock")
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path, timeout=0)
        try:
            lock.acquire()
        except Timeout:
            raise SiteError(
                f"Another touchstone process is building {self.site}.",
                hint="Wait until it is done, or stop it.",
            ) from None
        try:
            yield
        finally:
            # While it is held: afterwards it may be the next build's.
            with contextlib.suppress(OSError):
                path.unlink()
            lock.release()

    def _finish_swap(self) -> None:
        """Finish a swap that a crash cut off: the new site if it is whole, else the old one."""
        if not self.site.exists() and self._old.exists():
            is_whole = (self.work / MANIFEST).is_file()
            _move(self.work if is_whole else self._old, self.site)

    def _swap(self) -> None:
        _remove(self._old)
        if self.site.exists():
            (self.site / MARK).touch()
            self.site.rename(self._old)
        _move(self.work, self.site)
        _remove(self._old)


def _move(folder: Path, site: Path) -> None:
    """Put a folder in the site's place, for good."""
    folder.rename(site)
    (site / MARK).unlink(missing_ok=True)


def _refuse_unmarked(folder: Path) -> None:
    """Raise SiteError if a folder that has to go was not left there by a build."""
    is_empty = folder.is_dir() and not any(folder.iterdir())
    if folder.exists() and not is_empty and not (folder / MARK).is_file():
        raise SiteError(
            f"{folder} is in the way, and was not made by touchstone; nothing in it was touched.",
            hint="Move it away, or choose another place with --site-dir.",
        )


def _refuse_foreign_files(site: Path) -> None:
    """Raise SiteError if there is anything in a site's place that is no site of ours."""
    if not site.exists():
        return
    if not site.is_dir():
        raise SiteError(f"{site} is a file, not a folder.", hint="Choose another --site-dir.")
    present = {path.relative_to(site).as_posix() for path in site.rglob("*") if not path.is_dir()}
    if not present:
        return
    ours = _manifest_files(site)
    if ours is None:
        raise SiteError(
            f"{site} is not empty, and was not made by touchstone; nothing in it was touched.",
            hint="Choose another place with --site-dir.",
        )
    # A signature of the manifest is made after the build, by whoever publishes it.
    signatures = {name for name in present if name.startswith(f"{MANIFEST}.")}
    foreign = sorted(present - ours - {MANIFEST, MARK} - signatures)
    if foreign:
        raise SiteError(
            f"{site} holds files that touchstone did not write: {', '.join(foreign[:5])}"
            f"{' …' if len(foreign) > 5 else ''}; nothing in it was touched.",
            hint="Move them away, or choose another place with --site-dir.",
        )


def _manifest_files(site: Path) -> set[str] | None:
    try:
        data = json.loads((site / MANIFEST).read_text(encoding="utf-8"))
        return set(data["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write_manifest(site: Path) -> None:
    """List every file with its SHA-256: what is ours, and what a signature would cover."""
    files = sorted(path for path in site.rglob("*") if path.is_file() and path.name != MARK)
    data = {
        "format": MANIFEST_FORMAT,
        "tool": f"touchstone {touchstone.__version__}",
        "files": {path.relative_to(site).as_posix(): sha256_of(path) for path in files},
    }
    text = json.dumps(data, ensure_ascii=False, indent=1) + "\n"
    write_atomic(site / MANIFEST, text.encode("utf-8"))


def _remove(folder: Path) -> None:
    """Remove a folder; its mark goes last, in case this is cut off."""
    if not folder.exists():
        return
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != MARK:
            path.unlink()
    shutil.rmtree(folder)
