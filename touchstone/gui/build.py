"""Builds the site: mkdocs in this process, strict, from the project here or the packaged one."""

from __future__ import annotations

import contextlib
import errno
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from jinja2 import TemplateError, TemplateSyntaxError
from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort, MkDocsException
from mkdocs.utils.yaml import yaml_load

import touchstone
from touchstone.errors import SiteError, UsageError
from touchstone.gui.evidence_demand import NO_DEMAND, DemandOptions
from touchstone.gui.loading import require_bundles
from touchstone.gui.plugin import BuildCounts, TouchstonePlugin, options_set_to
from touchstone.gui.target import Target

log = logging.getLogger("mkdocs.touchstone")

PROJECT = "mkdocs.yml"
UNTOUCHED = "The site that was there before is untouched."


@dataclass(frozen=True)
class BuildOptions:
    """What a build was asked for; None leaves what mkdocs.yml says.

    ``lock`` is the permalinks.json of the last publication. With ``tombstone``, what breaks gets
    a page that says so, and ``reason``. ``data`` publishes the bundles beside their pages;
    ``compare`` are pairs of bundle ids that get a page, beside those that follow one another.
    ``evidence`` says how much of the judges' evidence has to hold.
    """

    bundles: Path | None = None
    site_dir: Path = Path("site")
    language: str | None = None
    base_url: str | None = None
    index: bool | None = None
    lock: Path | None = None
    tombstone: bool = False
    reason: str = ""
    data: bool | None = None
    compare: tuple[tuple[str, str], ...] = ()
    evidence: DemandOptions = NO_DEMAND


@dataclass(frozen=True)
class BuildResult:
    """What a build made."""

    site: Path
    pages: int
    answers: int
    warnings: tuple[str, ...]
    broken_links: int
    tombstones: int = 0

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
    warnings = _Collected()
    try:
        target = Target(options.site_dir)
        with _mkdocs_log_to(warnings), _failures_as_site_errors(warnings):
            counts = _replace(target, options)
    except OSError as failure:
        # Where a copy fails for want of room the system names what was copied.
        is_full = failure.errno in (errno.ENOSPC, errno.EDQUOT)
        where = f" ({failure.filename})" if failure.filename and not is_full else ""
        raise SiteError(
            f"The site can't be built in {options.site_dir}: {failure.strerror or failure}{where}.",
            hint=f"{UNTOUCHED} Choose another place with --site-dir, or make room.",
        ) from None
    return BuildResult(
        target.site,
        counts.pages,
        counts.answers,
        tuple(warnings.lines),
        counts.broken_links,
        counts.tombstones,
    )


def _replace(target: Target, options: BuildOptions) -> BuildCounts:
    project = project_file()
    with options_set_to(**plugin_options(options, project)):
        config = _load(project, options, target.work)
        plugin = config.plugins["touchstone"]
        assert isinstance(plugin, TouchstonePlugin)
        bundles = plugin.bundles_dir(config)
        require_bundles(bundles)
        target.refuse_overlap(bundles)
        if options.tombstone and plugin.lock_path(config) is None:
            raise UsageError(
                "--tombstone needs a lock, which says what was published.",
                hint="Name the permalinks.json of the last publication with --lock FILE.",
            )
        with target.replaced(), _refusal_of(plugin):
            plugin.on_startup(command="build", dirty=False)
            mkdocs_build(config)
    return plugin.counts


@contextlib.contextmanager
def _refusal_of(plugin: TouchstonePlugin) -> Iterator[None]:
    """Say in the plugin's own words why it stopped the build."""
    try:
        yield
    except Abort:
        if plugin.refusal is None:
            raise
        refusal = plugin.refusal
        raise type(refusal)(refusal.message, hint=f"{refusal.hint} {UNTOUCHED}") from None


def _load(project: Path, options: BuildOptions, site_dir: Path) -> MkDocsConfig:
    given: dict[str, Any] = {"site_dir": str(site_dir), "strict": True}
    if options.base_url is not None:
        given["site_url"] = options.base_url
    return load_config(config_file=str(project), **given)


@contextlib.contextmanager
def _failures_as_site_errors(warnings: _Collected) -> Iterator[None]:
    try:
        yield
    except Abort:
        found = "\n".join(f"  {line}" for line in warnings.lines[:30])
        raise SiteError(
            f"The site was not built; these problems stand in the way:\n{found}", hint=UNTOUCHED
        ) from None
    except MkDocsException as failure:
        raise SiteError(f"The site can't be built: {failure}", hint=UNTOUCHED) from None
    except TemplateError as failure:
        raise SiteError(
            f"A template of the site can't be used: {_place_of(failure)}{failure}", hint=UNTOUCHED
        ) from None


def _place_of(failure: TemplateError) -> str:
    if not isinstance(failure, TemplateSyntaxError):
        return ""
    return f"{failure.filename or failure.name}:{failure.lineno}: "


# --- the project: a user's own mkdocs.yml, or the packaged one ------------------------------


def project_file() -> Path:
    """Return the mkdocs.yml to build with: a touchstone project here, else the packaged one.

    Raises:
        SiteError: there is a mkdocs.yml here, but it can't be read.
    """
    own = Path(PROJECT)
    if own.is_file():
        if "touchstone" in _plugin_names(own):
            return own.absolute()
        log.warning("%s has no plugin touchstone, so it was not used.", own.absolute())
    return packaged_project() / PROJECT


def plugin_options(options: BuildOptions, project: Path) -> dict[str, Any]:
    """Return the options of the plugin that win over those in mkdocs.yml."""
    bundles = options.bundles
    if bundles is None and project.parent == packaged_project():
        bundles = Path("bundles")
    return {
        "bundles": None if bundles is None else str(bundles.absolute()),
        "lang": options.language,
        "index": options.index,
        "lock": None if options.lock is None else str(options.lock.absolute()),
        "tombstone": options.tombstone or None,
        "reason": options.reason or None,
        "publish_data": options.data,
        "compare": [list(pair) for pair in options.compare] or None,
        "require_evidence": options.evidence.is_required or None,
        "min_fidelity": options.evidence.min_fidelity,
        "max_dangling": options.evidence.max_dangling,
    }


class _AnyTags(yaml.SafeLoader):
    """Reads mkdocs.yml without minding mkdocs' own tags."""


_AnyTags.add_multi_constructor("", lambda loader, suffix, node: None)


def _plugin_names(project: Path) -> list[object]:
    try:
        with project.open("rb") as file:
            data: object = yaml_load(file, loader=_AnyTags)  # type: ignore[arg-type]
    except (MkDocsException, OSError) as failure:
        raise SiteError(f"{project.absolute()} can't be used: {failure}") from None
    if not isinstance(data, dict):
        raise SiteError(f"{project.absolute()} can't be used: it holds no settings.")
    return _names(data.get("plugins"))


def _names(plugins: object) -> list[object]:
    """Return the names of plugins in a list of names and maps, or in one map, to options."""
    if isinstance(plugins, list):
        return [name for entry in plugins for name in _names(entry)]
    return list(plugins) if isinstance(plugins, dict) else [plugins]


def packaged_project() -> Path:
    """Return the folder with the mkdocs.yml and site_src that come with the package."""
    package = Path(touchstone.__file__).parent
    installed = package / "_site"
    return installed if installed.is_dir() else package.parent


# --- mkdocs' warnings -----------------------------------------------------------------------


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
