"""Checks the links and anchors of a built site, those in raw HTML included."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from touchstone.errors import Problem

# It is shown at any address, so its links are absolute.
_ANYWHERE = "404.html"
# The theme's link for "no fragment".
_NO_ANCHOR = "__skip"


@dataclass
class PageLinks:
    """What a page links to, and what can be linked to on it."""

    links: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    repeated: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found = PageLinks()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if not value:
                continue
            if name == "id":
                if value in self.found.anchors:
                    self.found.repeated.append(value)
                self.found.anchors.add(value)
            elif name in ("href", "src", "xlink:href"):
                self.found.links.append(value)


def read_links(html: str) -> PageLinks:
    """Return the links and anchors of one page."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.found


def check_links(site: Path) -> list[Problem]:
    """Return every internal link of a site that leads nowhere, and every id used twice."""
    pages = {
        path.relative_to(site).as_posix(): read_links(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
    }
    problems: list[Problem] = []
    for name, page in pages.items():
        if name == _ANYWHERE:
            continue
        problems += [
            Problem("repeated_id", name, f"the id {anchor!r} stands there more than once")
            for anchor in page.repeated
        ]
        problems += _broken(site, name, page, pages)
    return problems


def _broken(
    site: Path, name: str, page: PageLinks, pages: dict[str, PageLinks]
) -> Iterator[Problem]:
    for link in dict.fromkeys(page.links):
        why = _why_broken(site, name, link, pages)
        if why:
            yield Problem("broken_link", name, f"{link} {why}")


def _why_broken(site: Path, page: str, link: str, pages: dict[str, PageLinks]) -> str:
    """Return what is wrong with a link on a page; nothing about links to other sites."""
    try:
        parts = urlsplit(link)
    except ValueError:
        return "is no address"
    if parts.scheme or parts.netloc:
        return ""
    target = _target(page, parts.path)
    if f"{target}/index.html" in pages:
        target = f"{target}/index.html"
    if target.startswith(("../", "/")):
        return "leads out of the site"
    if target not in pages:
        return "" if _is_file(site / target) else "leads nowhere"
    anchor = unquote(parts.fragment)
    if anchor and anchor != _NO_ANCHOR and anchor not in pages[target].anchors:
        return "leads to a page without that anchor"
    return ""


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long a name, or one with a NUL
        return False


def _target(page: str, path: str) -> str:
    if not path:
        return page
    target = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(path)))
    return "index.html" if target == "." else target
