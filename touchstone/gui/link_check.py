"""Checks the links and anchors of a built site, those in raw HTML included."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from touchstone.errors import Problem

_NO_PAGES = {"404.html"}


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
        if name in _NO_PAGES:
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
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = _target(name, parts.path)
        if f"{target}/index.html" in pages:
            target = f"{target}/index.html"
        if target.startswith("../"):
            yield Problem("broken_link", name, f"{link} leads out of the site")
        elif target not in pages and not (site / target).is_file():
            yield Problem("broken_link", name, f"{link} leads nowhere")
        elif parts.fragment and target in pages:
            anchor = unquote(parts.fragment)
            # Material's own link for "no fragment" and the browser's for the top of a page.
            if anchor not in pages[target].anchors and anchor not in {"", "__skip"}:
                yield Problem("broken_link", name, f"{link} leads to a page without that anchor")


def _target(page: str, path: str) -> str:
    if not path:
        return page
    target = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(path)))
    return "index.html" if target == "." else target
