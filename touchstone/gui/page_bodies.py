"""The bodies of mkdocs' pages while a site is built: packed, and put in when all else is done.

mkdocs holds the content of all pages at once, and the search plugin parses each of them tag by
tag. So mkdocs gets a stand-in, the search plugin the words, and the finished page the body.
"""

from __future__ import annotations

import re
import zlib

_SLIM = re.compile(r"<(?!/?(?:h[1-6]|section)[\s>])[^<>]*>")
_SEARCH_MARK = re.compile(r'\s?data-search-\w+="[^"]+"|\sdata-search-exclude(?=[\s>])')


class PageBodies:
    """Bodies by the name of their page; ``stand_in`` is what mkdocs gets in place of each.

    Nothing that a page shows can hold the stand-in, so it is found once.
    """

    def __init__(self, stand_in: str) -> None:
        self.stand_in = stand_in
        self._packed: dict[str, bytes] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._packed

    def clear(self) -> None:
        """Forget all of them."""
        self._packed.clear()

    def put(self, name: str, body: str) -> None:
        """Take the body of a page."""
        self._packed[name] = zlib.compress(body.encode("utf-8"), 1)

    def body(self, name: str) -> str:
        """Return the body of a page."""
        return zlib.decompress(self._packed[name]).decode("utf-8")

    def searchable(self, name: str) -> str:
        """Return what of a body can be searched: its words, below its headings."""
        return _SLIM.sub(" ", self.body(name))

    def fill(self, name: str, html: str) -> str:
        """Return a page with its body in place of the stand-in, and without marks for the search.

        Raises:
            ValueError: the stand-in is not there.
        """
        before, found, after = html.partition(self.stand_in)
        if not found:
            raise ValueError(f"{name} has no place for its content")
        return "".join((before, _SEARCH_MARK.sub("", self.body(name)), after))
