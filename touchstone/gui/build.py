"""Builds the site: mkdocs in this process, strict, into a folder beside the target, then a swap."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml
from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort, ConfigurationError, MkDocsException

import touchstone
from touchstone.errors import SiteError
from touchstone.files import sha256_of, write_atomic
from touchstone.gui.loading import newest_date
from touchstone.gui.plugin import TouchstonePlugin, options_set_to

MANIFEST = "touchstone-manifest.json"
MANIFEST_FORMAT = 1


@dataclass(frozen=True)
class BuildOptions:
    """What a build was asked for; None leaves what mkdocs.yml says."""

    bundles: Path
    site_dir: Path
    language: str | None = None
    base_url: str | None = None
    index: bool | None = None


@dataclass(frozen=True)
class BuildResult:
    """What a build made."""

    site: Path
    pages: int
    answers: int
    warnings: tuple[str, ...]
    broken_links: int

    def as_dict(self) -> dict[str, Any]:
        """Return the object that ``touchstone build-site --json`` prints."""
        return {
            "site": str(self.site),
            "pages": self.pages,
            "answers": self.answers,
            "warnings": list(self.warnings),
            "broken_links": self.broken_links,
        }


def build_site(options: BuildOptions) -> BuildResult:
    """Build the site and put it in place of the one before.

    Raises:
        SiteError: a page can't be made, a link leads nowhere, or the target is not ours.
    """
    target = options.site_dir.absolute()
    work = target.with_name(f"{target.name}.new")
    try:
        _finish_swap(target, work)
        _refuse_foreign_files(target)
        _remove(work)
        result = _build_into(work, target, options)
        _write_manifest(work)
        _swap(work, target)
    except OSError as failure:
        where = f": {failure.filename}" if failure.filename else ""
        raise SiteError(
            f"The site can't be written to {target}{where}: {failure.strerror or failure}.",
            hint="The site that was there before is untouched. Choose another place with "
            "--site-dir, or make room.",
        ) from None
    return result


def _build_into(work: Path, target: Path, options: BuildOptions) -> BuildResult:
    warnings = _Collected()
    with _mkdocs_log_to(warnings), _build_date(options.bundles):
        try:
            config = load_project(options, site_dir=work, strict=True)
            plugin = config.plugins["touchstone"]
            assert isinstance(plugin, TouchstonePlugin)
            with options_set_to(
                bundles=str(options.bundles.absolute()),
                lang=options.language,
                index=options.index,
            ):
                plugin.on_startup(command="build", dirty=False)
                mkdocs_build(config)
        except Abort:
            found = "\n".join(f"  {line}" for line in warnings.lines[:30])
            raise SiteError(
                f"The site was not built; these problems stand in the way:\n{found}",
                hint="The site that was there before is untouched.",
            ) from None
        except ConfigurationError as failure:
            raise SiteError(f"mkdocs.yml can't be used: {failure}") from None
        except MkDocsException as failure:
            raise SiteError(f"The site can't be built: {failure}") from None
    counts = plugin.counts
    return BuildResult(
        target, counts.pages, counts.answers, tuple(warnings.lines), counts.broken_links
    )


# --- the project: a user's own mkdocs.yml, or the packaged one ------------------------------


def project_file() -> Path:
    """Return the mkdocs.yml to build with: a touchstone project here, else the packaged one."""
    own = Path("mkdocs.yml")
    if own.is_file():
        with contextlib.suppress(yaml.YAMLError, UnicodeDecodeError):
            names = _plugin_names(own.read_text(encoding="utf-8"))
            if "touchstone" in names:
                return own.absolute()
    return packaged_project() / "mkdocs.yml"


def packaged_project() -> Path:
    """Return the folder with the mkdocs.yml and site_src that come with the package."""
    package = Path(touchstone.__file__).parent
    installed = package / "_site"
    return installed if installed.is_dir() else package.parent


class _AnyTags(yaml.SafeLoader):
    """Reads mkdocs.yml without minding mkdocs' own tags."""


_AnyTags.add_multi_constructor("", lambda loader, suffix, node: None)


def _plugin_names(text: str) -> set[str]:
    data = yaml.load(text, Loader=_AnyTags)  # noqa: S506 - a SafeLoader
    plugins = data.get("plugins") if isinstance(data, dict) else None
    names: set[str] = set()
    for entry in plugins if isinstance(plugins, list) else []:
        names |= (
            {entry} if isinstance(entry, str) else set(entry) if isinstance(entry, dict) else set()
        )
    return names


def load_project(options: BuildOptions, *, site_dir: Path, strict: bool) -> MkDocsConfig:
    """Return mkdocs' configuration for a build of these options."""
    given: dict[str, Any] = {"site_dir": str(site_dir), "strict": strict}
    if options.base_url is not None:
        given["site_url"] = options.base_url
    return load_config(config_file=str(project_file()), **given)


# --- mkdocs' surroundings -------------------------------------------------------------------


class _Collected(logging.Handler):
    """Keeps mkdocs' warnings for one clear message at the end."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@contextlib.contextmanager
def _mkdocs_log_to(handler: logging.Handler) -> Iterator[None]:
    logger = logging.getLogger("mkdocs")
    propagate = logger.propagate
    logger.propagate = False
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagate


@contextlib.contextmanager
def _build_date(bundles: Path) -> Iterator[None]:
    """Make mkdocs date the site by its newest bundle, not by today: two builds are then equal."""
    name = "SOURCE_DATE_EPOCH"
    before = os.environ.get(name)
    moment = _moment(newest_date(bundles))
    os.environ[name] = before or str(int(moment.timestamp()))
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]


def _moment(timestamp: str | None) -> datetime:
    try:
        moment = datetime.fromisoformat(timestamp or "")
    except ValueError:
        return datetime(2026, 1, 1, tzinfo=UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


# --- the target -----------------------------------------------------------------------------


def _old(target: Path) -> Path:
    return target.with_name(f"{target.name}.old")


def _finish_swap(target: Path, work: Path) -> None:
    """Finish a swap that a crash cut off: the new site if it is whole, else the old one."""
    old = _old(target)
    if target.exists() or not old.exists():
        return
    if (work / MANIFEST).is_file():
        work.rename(target)
    else:
        old.rename(target)


def _refuse_foreign_files(target: Path) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise SiteError(f"{target} is a file, not a folder.", hint="Choose another --site-dir.")
    present = {
        path.relative_to(target).as_posix() for path in target.rglob("*") if not path.is_dir()
    }
    if not present:
        return
    ours = _manifest_files(target)
    if ours is None:
        raise SiteError(
            f"{target} is not empty, and was not made by touchstone; nothing in it was touched.",
            hint="Choose another place with --site-dir.",
        )
    foreign = sorted(present - ours - {MANIFEST})
    if foreign:
        raise SiteError(
            f"{target} holds files that touchstone did not write: {', '.join(foreign[:5])}"
            f"{' …' if len(foreign) > 5 else ''}; nothing was touched.",
            hint="Move them away, or choose another place with --site-dir.",
        )


def _manifest_files(target: Path) -> set[str] | None:
    try:
        data = json.loads((target / MANIFEST).read_text(encoding="utf-8"))
        return set(data["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write_manifest(site: Path) -> None:
    """List every file with its SHA-256: what is ours, and what a signature would cover."""
    files = sorted(path for path in site.rglob("*") if path.is_file())
    data = {
        "format": MANIFEST_FORMAT,
        "tool": f"touchstone {touchstone.__version__}",
        "files": {path.relative_to(site).as_posix(): sha256_of(path) for path in files},
    }
    text = json.dumps(data, ensure_ascii=False, indent=1) + "\n"
    write_atomic(site / MANIFEST, text.encode("utf-8"))


def _swap(work: Path, target: Path) -> None:
    old = _old(target)
    _remove(old)
    if target.exists():
        target.rename(old)
    work.rename(target)
    _remove(old)


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
