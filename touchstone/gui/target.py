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
# mkdocs empties the folder it builds into, but leaves hidden files.
BEGUN = ".touchstone-build"


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
            SiteError: the target is not ours, or another build is writing it.
        """
        with self._locked():
            self._finish_swap()
            for folder in (self.site, self._old):
                _refuse_foreign_files(folder)
            self._refuse_foreign_work()
            try:
                _remove(self.work)
                self.work.mkdir()
                (self.work / BEGUN).touch()
                yield self.work
                _write_manifest(self.work)
                self._swap()
            except BaseException:
                if self._old.exists() and not self.site.exists():
                    self._old.rename(self.site)
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
        if self.site.exists() or not self._old.exists():
            return
        if (self.work / MANIFEST).is_file():
            self._move_in()
        else:
            self._old.rename(self.site)

    def _refuse_foreign_work(self) -> None:
        """Raise SiteError if what stands where the new site is made was not left by a build."""
        ours = (self.work / BEGUN).is_file() or (self.work / MANIFEST).is_file()
        if not ours:
            _refuse_foreign_files(self.work)

    def _swap(self) -> None:
        _remove(self._old)
        if self.site.exists():
            self.site.rename(self._old)
        self._move_in()
        _remove(self._old)

    def _move_in(self) -> None:
        (self.work / BEGUN).unlink(missing_ok=True)
        self.work.rename(self.site)


def _refuse_foreign_files(folder: Path) -> None:
    if not folder.exists():
        return
    if not folder.is_dir():
        raise SiteError(f"{folder} is a file, not a folder.", hint="Choose another --site-dir.")
    present = {
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()
    }
    if not present:
        return
    ours = _manifest_files(folder)
    if ours is None:
        raise SiteError(
            f"{folder} is not empty, and was not made by touchstone; nothing in it was touched.",
            hint="Choose another place with --site-dir.",
        )
    foreign = sorted(present - ours - {MANIFEST})
    if foreign:
        raise SiteError(
            f"{folder} holds files that touchstone did not write: {', '.join(foreign[:5])}"
            f"{' …' if len(foreign) > 5 else ''}; nothing was touched.",
            hint="Move them away, or choose another place with --site-dir.",
        )


def _manifest_files(folder: Path) -> set[str] | None:
    try:
        data = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return set(data["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write_manifest(site: Path) -> None:
    """List every file with its SHA-256: what is ours, and what a signature would cover."""
    files = sorted(path for path in site.rglob("*") if path.is_file() and path.name != BEGUN)
    data = {
        "format": MANIFEST_FORMAT,
        "tool": f"touchstone {touchstone.__version__}",
        "files": {path.relative_to(site).as_posix(): sha256_of(path) for path in files},
    }
    text = json.dumps(data, ensure_ascii=False, indent=1) + "\n"
    write_atomic(site / MANIFEST, text.encode("utf-8"))


def _remove(folder: Path) -> None:
    """Remove a folder; what says that it is ours goes last, in case this is cut off."""
    if not folder.exists():
        return
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name not in (MANIFEST, BEGUN):
            path.unlink()
    shutil.rmtree(folder)
