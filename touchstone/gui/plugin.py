"""The mkdocs plugin: hands pages to mkdocs, keeps untrusted text out of it, stamps prompt pages.

mkdocs sees a title, a description and an empty page; the finished body is put in after Markdown
has run. Prompt pages are never mkdocs pages: one shell per bundle is rendered with the theme and
filled once per prompt after the build.
"""

from __future__ import annotations

import contextlib
import logging
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import yaml
from mkdocs.config import config_options as opt
from mkdocs.config.base import Config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, CombinedEvent, event_priority
from mkdocs.structure.files import Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page as MkDocsPage
from mkdocs.structure.toc import AnchorLink, TableOfContents
from mkdocs.utils.templates import TemplateContext

from touchstone import __version__
from touchstone.errors import SiteError
from touchstone.gui.build_cache import BuildCache
from touchstone.gui.bundle_view import BundleView
from touchstone.gui.evidence_demand import DemandOptions, evidence_objection
from touchstone.gui.evidence_json import publish_evidence
from touchstone.gui.history import History
from touchstone.gui.link_check import check_links
from touchstone.gui.links import INDEX, JUDGES, METHOD
from touchstone.gui.loading import Site, load_site, newest, require_bundles
from touchstone.gui.locale import LANGUAGES, Locale, one_line
from touchstone.gui.lock import Lock, read_lock
from touchstone.gui.page_bodies import PageBodies
from touchstone.gui.pages import Page, PageMaker
from touchstone.gui.publication import Burial, Publication
from touchstone.gui.site_data import publish_data
from touchstone.gui.sitemap import write_sitemap
from touchstone.gui.stamp import Shell, Slots

log = logging.getLogger("mkdocs.plugins.touchstone")


class PluginOptions(Config):  # type: ignore[no-untyped-call]
    """The options under ``touchstone`` in mkdocs.yml."""

    bundles = opt.Type(str, default="bundles")
    lang = opt.Choice(LANGUAGES, default="en")
    index = opt.Type(bool, default=False)
    lock = opt.Type(str, default="")
    publish_data = opt.Type(bool, default=True)
    cache = opt.Type(bool, default=True)
    compare = opt.ListOfItems(opt.ListOfItems(opt.Type(str)), default=[])
    require_evidence = opt.Type(bool, default=False)
    min_fidelity = opt.Optional(opt.Type((int, float)))
    max_dangling = opt.Optional(opt.Type(int))


@dataclass(frozen=True)
class Source:
    """What mkdocs gets to see of a page: front matter and an empty body."""

    path: str
    text: str


@dataclass
class BuildCounts:
    """What a build made, for its summary."""

    pages: int = 0
    answers: int = 0
    broken_links: int = 0
    tombstones: int = 0


_overrides: dict[str, Any] = {}
_NOT_IN_FILE = {"tombstone", "reason"}
"""Decisions about one publication: in mkdocs.yml they would hold for all."""
_FRAMES = (2, 3)
"""How deep the pages of bundles lie: a page's links to the site's files depend on it."""


@contextlib.contextmanager
def options_set_to(**options: Any) -> Iterator[None]:
    """Let options of the command line win over those in mkdocs.yml while a build runs."""
    _overrides.update({name: value for name, value in options.items() if value is not None})
    try:
        yield
    finally:
        _overrides.clear()


class TouchstonePlugin(BasePlugin[PluginOptions]):  # type: ignore[no-untyped-call]
    """Builds the site's pages from bundles."""

    def __init__(self) -> None:
        self.counts = BuildCounts()
        self.refusal: SiteError | None = None
        self._is_preview = False
        self._slots = Slots()
        self._bodies = PageBodies(f"<!--<h1-->content-{self._slots.name}")
        self._tocs: dict[str, list[AnchorLink]] = {}
        self._cache = BuildCache()
        self._shells: dict[str, BundleView] = {}
        self._frames: dict[int, str] = {}
        self._lock: Lock | None = None
        self._site = Site([])
        self._maker = PageMaker(self._site, Locale("en"))
        self._decisions: dict[str, str] = {}
        self._gen_files: object = None

    def on_startup(self, *, command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:
        """Remember whether this is a preview, which goes without the security policy."""
        self._is_preview = command == "serve"

    @event_priority(100)
    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Read the bundles, set language, navigation and what the theme shows of them."""
        self.refusal = None  # mkdocs keeps plugins from one build to the next
        for name in _overrides.keys() - _NOT_IN_FILE:
            self.config[name] = _overrides[name]
        locale = Locale(self.config.lang)
        try:
            self._site = self._load(config)
        except SiteError as failure:
            raise PluginError(str(failure)) from None
        self._lock = self._read_lock(config)
        self._decisions = _decision_pages(Path(config.docs_dir))
        self.counts = BuildCounts(answers=sum(len(v.bundle.answers) for v in self._site.views))
        self._cache.close()
        self._cache = BuildCache(self.counts.answers, locale.language, is_kept=self.config.cache)
        for view in self._site.views:
            self._cache.pages.lend_audit(view)
        self._hold_evidence_to_demand()
        self._maker = self._page_maker(locale)
        self._bodies.clear()
        self._shells.clear()
        self._frames.clear()
        config.watch.append(str(self.bundles_dir(config)))
        config.theme["language"] = self.config.lang
        for scheme in config.theme.get("palette") or []:
            if isinstance(scheme, dict) and scheme.get("toggle"):
                scheme["toggle"]["name"] = locale.gettext(scheme["toggle"]["name"])
        config.extra["touchstone"] = self._theme_values(config, locale)
        if config.nav is None:
            config.nav = self._nav(config, locale)
        return config

    def sources(self) -> Iterator[Source]:
        """Yield what mkdocs gets to see of every page; called by ``gen_pages.py``."""
        yield from self._frame_sources()
        for page in self._maker.iter_pages():
            source = self._take(page)
            yield Source(source, _front_matter(page, searchable=page.is_searched))
        for view in self._site.views:
            shell = Page(
                path=view.links.prompt_shell(self._slots.name),
                title=self._slots.title,
                description=self._slots.description,
                body=self._slots.body,
            )
            self._shells[shell.path] = view
            yield Source(self._take(shell), _front_matter(shell, searchable=False))

    def _take(self, page: Page) -> str:
        """Take a page's body until mkdocs is done with the page; return its source's name."""
        source = _source(page.path)
        self._bodies.put(source, page.body)
        self._tocs[source] = [AnchorLink(_safe(title), anchor, 2) for anchor, title in page.toc]
        return source

    def _frame_sources(self) -> Iterator[Source]:
        """Yield what pages that keep old addresses alive are stamped from, if there may be any."""
        aliases = (view.bundle.manifest.aliases for view in self._site.views)
        if self._lock is None and not any(one.models or one.prompts for one in aliases):
            return
        slots = self._slots
        for depth in _FRAMES:
            path = "/".join(["bundles", *[slots.name] * (depth - 1), f"{slots.name}.html"])
            frame = Page(path, slots.title, slots.description, slots.body)
            self._frames[depth] = path
            source = self._take(frame)
            yield Source(source, _front_matter(frame, searchable=False, is_kept=True))

    def on_page_markdown(
        self, markdown: str, /, *, page: MkDocsPage, config: MkDocsConfig, files: Files
    ) -> str:
        """Link the decisions that hand-written pages name."""
        here = page.file.src_uri

        def link(match: re.Match[str]) -> str:
            target = _source(self._decisions.get(match[1], ""))
            if not target or target == here:
                return match[0]
            return f"[{match[0]}]({target.removeprefix('adr/') if here[:4] == 'adr/' else target})"

        return re.sub(r"(?<![\[\w/`-])ADR-(\d{4})(?![\w\]`-])", link, markdown)

    @event_priority(-100)
    def on_page_content(
        self, html: str, /, *, page: MkDocsPage, config: MkDocsConfig, files: Files
    ) -> str:
        """Let a stand-in take the place of the finished body, which Markdown never sees."""
        source = page.file.src_uri
        if source not in self._bodies:
            return html if self.config.lang == "en" else f'<div lang="en">{html}</div>'
        page.toc = TableOfContents(self._tocs[source])
        return self._bodies.stand_in

    @event_priority(100)
    def _show_words(
        self,
        context: TemplateContext,
        /,
        *,
        page: MkDocsPage,
        config: MkDocsConfig,
        nav: Navigation,
    ) -> TemplateContext:
        """Show the search plugin the words of a body."""
        if page.file.src_uri in self._bodies and not page.meta.get("search"):
            page.content = self._bodies.searchable(page.file.src_uri)
        return context

    @event_priority(-100)
    def _hide_words(
        self,
        context: TemplateContext,
        /,
        *,
        page: MkDocsPage,
        config: MkDocsConfig,
        nav: Navigation,
    ) -> TemplateContext:
        if page.file.src_uri in self._bodies:
            page.content = self._bodies.stand_in
        return context

    on_page_context = CombinedEvent(_show_words, _hide_words)

    @event_priority(-100)
    def on_post_page(self, output: str, /, *, page: MkDocsPage, config: MkDocsConfig) -> str:
        """Put the finished body in."""
        source = page.file.src_uri
        return self._bodies.fill(source, output) if source in self._bodies else output

    @event_priority(-50)
    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Stamp the prompt pages, write the sitemap, and check every link of the site."""
        site = Path(config.site_dir)
        publication = Publication(self._site, self._lock, _burial())
        for path, view in self._shells.items():
            self._stamp(site, path, view, publication.history(view))
        self._cache.end_processes()
        self._keep(site, publication)
        self._publish_data(site)
        write_sitemap(site, config.site_url, without=publication.kept)
        problems = check_links(site, self._cache.pages.links)
        self.counts.broken_links = sum(p.code == "broken_link" for p in problems)
        self.counts.pages = sum(1 for _ in site.rglob("*.html"))
        for problem in problems:
            log.warning("%s", one_line(str(problem)))
        self._cache.close()

    def on_build_error(self, *, error: Exception) -> None:
        """Remove the temporary folder of gen-files, which it does itself after a whole build."""
        self._cache.close()
        folder = getattr(self._gen_files, "_dir", None)
        if isinstance(folder, TemporaryDirectory):
            folder.cleanup()

    def _hold_evidence_to_demand(self) -> None:
        """Stop before anything is built where evidence is not good enough; a preview warns."""
        given = self.config
        options = DemandOptions(given.require_evidence, given.min_fidelity, given.max_dangling)
        demand = options.demand
        failure = evidence_objection(self._site.views, demand) if demand else None
        if failure is None:
            return
        if not self._is_preview:
            self.refusal = failure
            raise PluginError(str(failure))
        log.warning("%s", failure.message)

    def _publish_data(self, site: Path) -> None:
        for view in self._site.views:
            if view.is_judged:
                publish_evidence(site, view)
        if not self.config.publish_data:
            return
        for view in self._site.views:
            try:
                publish_data(site, view)
            except SiteError as failure:
                self.refusal = failure
                raise PluginError(str(failure)) from None

    def _stamp(self, site: Path, path: str, view: BundleView, history: History) -> None:
        shell = self._take_shell(site, path)
        self._maker.prepare_answers(view, history)
        for prompt in view.suite.prompts:
            _write_page(site, shell, self._maker.prompt_page(view, prompt, history))

    def _take_shell(self, site: Path, path: str) -> Shell:
        shell_file = site / path
        shell = Shell(shell_file.read_text(encoding="utf-8"), self._slots)
        shell_file.unlink()
        return shell

    def _keep(self, site: Path, publication: Publication) -> None:
        """Keep the addresses of the last publication alive, or say why that can't be.

        Raises:
            PluginError: one would break; ``refusal`` says it in full. A preview only warns.
        """
        frames = {depth: self._take_shell(site, path) for depth, path in self._frames.items()}
        shutil.rmtree(site / "bundles" / self._slots.name, ignore_errors=True)

        def stamp(page: Page) -> None:
            _write_page(site, frames[page.path.count("/")], page)

        try:
            publication.keep(site, self._maker, stamp)
            failure = publication.objection()
        except SiteError as refusal:
            failure = refusal
        self.counts.tombstones = publication.tombstones
        if failure is None:
            return
        if not self._is_preview:
            self.refusal = failure
            raise PluginError(str(failure))
        log.warning("%s", failure.message)

    def _read_lock(self, config: MkDocsConfig) -> Lock | None:
        path = self.lock_path(config)
        if path is None:
            return None
        try:
            lock = read_lock(path)
        except SiteError as failure:
            self.refusal = failure
            raise PluginError(str(failure)) from None
        config.watch.append(str(path))
        return lock

    def _load(self, config: MkDocsConfig) -> Site:
        self._gen_files = config.plugins.get("gen-files")
        if self._gen_files is None:
            raise SiteError(
                "mkdocs.yml has no plugin gen-files, which adds the pages of the bundles.",
                hint="Put it below touchstone: - gen-files: {scripts: [site_src/gen_pages.py]}",
            )
        folder = self.bundles_dir(config)
        require_bundles(folder)
        return load_site(folder)

    def bundles_dir(self, config: MkDocsConfig) -> Path:
        """Return the folder of bundles: named on the command line, or beside mkdocs.yml."""
        base = Path(config.config_file_path).parent if config.config_file_path else Path()
        return base / str(_overrides.get("bundles", self.config.bundles))

    def lock_path(self, config: MkDocsConfig) -> Path | None:
        """Return the lock: named on the command line, or beside mkdocs.yml; None without one."""
        base = Path(config.config_file_path).parent if config.config_file_path else Path()
        named = str(_overrides.get("lock", self.config.lock))
        return base / named if named else None

    def _page_maker(self, locale: Locale) -> PageMaker:
        try:
            wanted = [(before, after) for before, after in self.config.compare]
        except ValueError:
            text = "compare in mkdocs.yml takes pairs of bundles, e.g. [[before, after]]."
            raise PluginError(text) from None
        try:
            return PageMaker(
                self._site,
                locale,
                self._decisions,
                wanted,
                with_data=self.config.publish_data,
                pages=self._cache.pages,
                answers=self._cache.answers,
            )
        except SiteError as failure:
            raise PluginError(str(failure)) from None

    def _theme_values(self, config: MkDocsConfig, locale: Locale) -> dict[str, Any]:
        _, date = locale.gettext, newest(self._site.views)
        return {
            "tool": f"touchstone {__version__}",
            "date": _safe(locale.date(date)) if date else "",
            "csp": not self._is_preview,
            "index": bool(self.config.index),
            "method": METHOD,
            "strings": {
                "computed": _(
                    "Every number on this page is computed from the files of its bundle."
                ),
                "method": _("How the numbers come about"),
                "built_from": _("built from the bundles of"),
                "no_request": _("no request leaves this site"),
                "not_found": _("Page not found"),
                "not_found_hint": _("The address may have changed, or the page was never there."),
                "all_evaluations": _("All evaluations"),
                "search": _("Search"),
                "search_offline": _("Search works on a web server, not from the disk."),
                "copied": _("Link copied"),
                "dark": _("Dark scheme"),
                "light": _("Light scheme"),
            },
        }

    def _nav(self, config: MkDocsConfig, locale: Locale) -> list[Any]:
        _ = locale.gettext
        evaluations: list[Any] = [{_("All evaluations"): _source(INDEX)}]
        for view in self._site.views:
            title = self._maker.words.bundle_title(view)
            evaluations.append({_safe(title): _source(view.links.scorecard)})
        docs = Path(config.docs_dir)
        decisions = [_source(page) for page in self._decisions.values()]
        nav: list[Any] = [{_("Evaluations"): evaluations}, {_("Method"): _source(METHOD)}]
        nav.append({_("Judges"): _source(JUDGES)})
        guides = sorted(path.name for path in docs.glob("*.md"))
        nav += [{_("Guide"): guides}] if guides else []
        if decisions:
            nav.append({_("Decisions"): ["adr/index.md", *decisions]})
        return nav


def _decision_pages(docs: Path) -> dict[str, str]:
    """Return the page of each decision by its number."""
    names = sorted(path.stem for path in (docs / "adr").glob("[0-9][0-9][0-9][0-9]-*.md"))
    return {name[:4]: f"adr/{name}.html" for name in names}


def _source(path: str) -> str:
    """Return what mkdocs calls the source of a page."""
    return f"{path.removesuffix('.html')}.md" if path else ""


def _safe(text: str) -> str:
    """Return plain text for mkdocs and its theme, which escape none of their titles."""
    return escape(one_line(text), quote=True)


def _burial() -> Burial | None:
    """Return the decision for tombstones, which only the command line can take."""
    return Burial(_overrides.get("reason", "")) if _overrides.get("tombstone") else None


def _write_page(site: Path, shell: Shell, page: Page) -> None:
    target = site / page.path
    html = shell.fill(
        title=_safe(page.title),
        description=_safe(page.description),
        body=page.body,
        name=target.stem,
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(html, encoding="utf-8", newline="\n")


def _front_matter(page: Page, *, searchable: bool = True, is_kept: bool = False) -> str:
    meta: dict[str, Any] = {
        "title": _safe(page.title),
        "description": _safe(page.description),
        "hide": ["navigation"] if page.toc else ["navigation", "toc"],
        "from_bundle": page.path.startswith("bundles/") and not is_kept,
        "kept_address": is_kept,
    }
    if not searchable:
        meta["search"] = {"exclude": True}
    # Only ASCII, with escapes for all else: nothing in a title can end the front matter.
    return f"---\n{yaml.safe_dump(meta, allow_unicode=False, width=10_000)}---\n"
