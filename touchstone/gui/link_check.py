"""Checks the links and anchors of a built site, those in raw HTML included."""

from __future__ import annotations

import posixpath
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from touchstone.errors import Problem
from touchstone.gui.markup import attributes_in, iter_attributes

# It is shown at any address, so its links are absolute.
_ANYWHERE = "404.html"
# The theme's link for "no fragment".
_NO_ANCHOR = "__skip"

_KEPT_PAGES = 2_000
"""Pages whose links are held in memory: 2 to 10 kB each, as neighbours share most of them."""
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
    for tag, times in Counter(iter_attributes(html)).items():
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
    """

    def __init__(self, site: Path) -> None:
        self._site = site
        self._kept: dict[str, PageLinks] = {}
        self._anchors = {
            path.relative_to(site).as_posix(): self._anchors_on(path)
            for path in sorted(site.rglob("*.html"))
            if path.is_file()
        }
        self.count = 0
        self.problems = list(self._problems())

    def _anchors_on(self, path: Path) -> str:
        page = _read(path)
        if len(self._kept) < _KEPT_PAGES:
            links = [sys.intern(link) for link in dict.fromkeys(page.links)]
            self._kept[path.relative_to(self._site).as_posix()] = PageLinks(
                links, set(), page.repeated
            )
        return "".join(f"\0{one}\0" for one in page.anchors)

    @property
    def pages(self) -> int:
        """How many pages there are."""
        return len(self._anchors)

    def _problems(self) -> Iterator[Problem]:
        for name in self._anchors:
            if name == _ANYWHERE:
                continue
            page = self._kept.pop(name, None) or _read(self._site / name)
            for anchor in page.repeated:
                message = f"the id {anchor!r} stands there more than once"
                yield Problem("repeated_id", name, message)
            links = dict.fromkeys(page.links)
            self.count += len(links)
            for link in links:
                why = self.why_broken(link, name)
                if why:
                    yield Problem("broken_link", name, f"{link} {why}")

    def why_broken(self, link: str, page: str = "") -> str:
        """Return what is wrong with a link on a page (on none: from the site's root).

        Nothing is said of links to other sites.
        """
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


def check_links(site: Path) -> list[Problem]:
    """Return every internal link of a site that leads nowhere, and every id used twice."""
    return SiteLinks(site).problems


def _read(path: Path) -> PageLinks:
    return read_links(path.read_text(encoding="utf-8", errors="replace"))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long a name, or one with a NUL
        return False
