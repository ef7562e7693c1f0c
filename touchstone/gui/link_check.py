"""Checks the links and anchors of a built site, those in raw HTML included."""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from touchstone.errors import Problem
from touchstone.gui.markup import attributes_in, count_attributes

# It is shown at any address, so its links are absolute.
_ANYWHERE = "404.html"
# The theme's link for "no fragment".
_NO_ANCHOR = "__skip"

_KEPT_PAGES = 2_000
"""Pages whose links are held in memory: 2 to 10 kB each, as neighbours share most of them."""
_KEPT_LINKS = 20_000
_SAME_PAGE = re.compile(r"#[A-Za-z0-9_.-]+")
_LINKING = ("href", "src", "xlink:href")


@dataclass
class PageLinks:
    """What a page links to, and what can be linked to on it."""

    links: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    repeated: list[str] = field(default_factory=list)


def read_links(html: str) -> PageLinks:
    """Return the links and anchors of one page."""
    found = PageLinks()
    # Most tags of a page are alike: each form is read once, and an id in two of them seen twice.
    for tag, times in count_attributes(html).items():
        for name, value in attributes_in(tag):
            if not value:
                continue
            if name in _LINKING:
                found.links.append(value)
            elif name == "id":
                if times > 1 or value in found.anchors:
                    found.repeated.append(value)
                found.anchors.add(value)
    return found


class SiteLinks:
    """The pages of a site, and where the links on them lead.

    ``problems`` lists every internal link that leads nowhere and every id used twice, ``count``
    how many links were followed (each once per page). The names of pages and anchors are held in
    memory, and of links as many as have room: the other pages are read a second time for them.
    ``read`` finds links and anchors in HTML, as ``read_links`` does.
    """

    def __init__(self, site: Path, read: Callable[[str], PageLinks] = read_links) -> None:
        self._site = site
        self._read_links = read
        self._kept: dict[str, PageLinks] = {}
        self._anchors = {
            path.relative_to(site).as_posix(): self._anchors_on(path)
            for path in sorted(site.rglob("*.html"))
            if path.is_file()
        }
        self.count = 0
        self.problems = list(self._problems())

    def _anchors_on(self, path: Path) -> str:
        page = self._read(path)
        if len(self._kept) < _KEPT_PAGES:
            links = [sys.intern(link) for link in dict.fromkeys(page.links)]
            self._kept[path.relative_to(self._site).as_posix()] = PageLinks(
                links, set(), page.repeated
            )
        return sys.intern("".join(f"\0{one}\0" for one in sorted(page.anchors)))

    def _read(self, path: Path) -> PageLinks:
        return self._read_links(path.read_text(encoding="utf-8", errors="replace"))

    @property
    def pages(self) -> int:
        """How many pages there are."""
        return len(self._anchors)

    def _problems(self) -> Iterator[Problem]:
        folder, known = "", _Known()
        for name in self._anchors:
            if name == _ANYWHERE:
                continue
            if posixpath.dirname(name) != folder:
                folder, known = posixpath.dirname(name), _Known()
            page = self._kept.pop(name, None) or self._read(self._site / name)
            for anchor in page.repeated:
                message = f"the id {anchor!r} stands there more than once"
                yield Problem("repeated_id", name, message)
            links = dict.fromkeys(page.links)
            self.count += len(links)
            for link in links:
                why = known.get(link)
                if why is None:
                    why = known.keep(link, self.why_broken(link, name))
                if why:
                    yield Problem("broken_link", name, f"{link} {why}")

    def why_broken(self, link: str, page: str = "") -> str:
        """Return what is wrong with a link on a page (on none: from the site's root).

        Nothing is said of links to other sites.
        """
        if page and _SAME_PAGE.fullmatch(link):  # half of all links
            is_there = link == f"#{_NO_ANCHOR}" or f"\0{link[1:]}\0" in self._anchors[page]
            return "" if is_there else "leads to a page without that anchor"
        place = _place(posixpath.dirname(page), link)
        if place is None:
            return "is no address"
        if place.is_outside:
            return ""
        target = place.path or page
        if f"{target}/index.html" in self._anchors:
            target = f"{target}/index.html"
        if target.startswith(("../", "/")):
            return "leads out of the site"
        if target not in self._anchors:
            return "" if _is_file(self._site / target) else "leads nowhere"
        if place.anchor and f"\0{place.anchor}\0" not in self._anchors[target]:
            return "leads to a page without that anchor"
        return ""


class _Known:
    """What was found of links on the pages of one folder; those within a page are its own."""

    def __init__(self) -> None:
        self._found: dict[str, str] = {}

    def get(self, link: str) -> str | None:
        return self._found.get(link)

    def keep(self, link: str, why: str) -> str:
        if link[0] not in "#?" and len(self._found) < _KEPT_LINKS:
            self._found[link] = why
        return why


@dataclass(frozen=True)
class _Place:
    """Where a link leads: ``path`` from the site's root ("" for the page it stands on)."""

    path: str
    anchor: str
    is_outside: bool = False


@lru_cache(maxsize=1 << 12)
def _place(folder: str, link: str) -> _Place | None:
    """Return where a link on a page in a folder leads, or None; neighbours share most links."""
    try:
        parts = urlsplit(link)
    except ValueError:
        return None
    if parts.scheme or parts.netloc:
        return _Place("", "", is_outside=True)
    path = ""
    if parts.path:
        path = posixpath.normpath(posixpath.join(folder, unquote(parts.path)))
    anchor = unquote(parts.fragment)
    return _Place("index.html" if path == "." else path, "" if anchor == _NO_ANCHOR else anchor)


def check_links(site: Path, read: Callable[[str], PageLinks] = read_links) -> list[Problem]:
    """Return every internal link of a site that leads nowhere, and every id used twice."""
    return SiteLinks(site, read).problems


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long a name, or one with a NUL
        return False
