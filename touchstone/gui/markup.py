"""Reads the tags of a page: fast, and whatever the page holds, in time that grows with its size.

A parser for all of HTML takes a third of the time in which a large site is built, and there are
pages at which Python's never gets done. The pages of a site are plainer: quotes are closed, and in
a tag a ``<`` stands only within them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from html import unescape

# Possessive throughout: nothing that was taken is given back and tried again.
_ATTRIBUTES = r"""(?:[^<>"']++|"[^"]*+"|'[^']*+')*+"""
_NAME = r"[a-z][^\s/<>\"']*+"
_COMMENT = r"<!--(?:>|.*?--!?>|.*)"
_RAW_TEXT = (
    rf"<(script|style|textarea|title)(?=[\s/>])({_ATTRIBUTES})>[^<]*+(?:<(?!/\1[\s/>])[^<]*+)*+"
)
_FLAGS = re.IGNORECASE | re.DOTALL
_START_TAGS = re.compile(
    rf"{_COMMENT}|{_RAW_TEXT}|<{_NAME}({_ATTRIBUTES})>", re.IGNORECASE | re.DOTALL
)
_TAGS = re.compile(
    rf"{_COMMENT}|{_RAW_TEXT}|<(/?)({_NAME})({_ATTRIBUTES})>", re.IGNORECASE | re.DOTALL
)
_ATTRIBUTE = re.compile(r"""([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+)))?""")


@dataclass(frozen=True)
class Tag:
    """A start tag (with its attributes) or an end tag, and where it stands in the page."""

    name: str
    is_end: bool
    attributes: dict[str, str]
    start: int
    end: int


def count_attributes(html: str) -> Counter[str]:
    """Return what stands in start tags behind their names, and how often."""
    found = Counter(one or other for _, one, other in _START_TAGS.findall(html))
    found.pop("", None)
    return found


@lru_cache(maxsize=1 << 12)
def attributes_in(tag: str) -> tuple[tuple[str, str], ...]:
    """Return the attributes that stand in a tag: names in lower case, values without entities."""
    return tuple(
        (name.lower(), unescape("".join(values))) for name, *values in _ATTRIBUTE.findall(tag)
    )


def iter_tags(html: str) -> Iterator[Tag]:
    """Yield every tag. A comment and a script (or other raw text) is one tag without a name."""
    for match in _TAGS.finditer(html):
        name = (match[4] or "").lower()
        attributes = dict(attributes_in(match[5])) if match[5] else {}
        yield Tag(name, match[3] == "/", attributes, *match.span())
