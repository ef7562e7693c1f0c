"""Fills a page that was rendered once with the content of many pages."""

from __future__ import annotations

import re
import secrets

_EMPTY_LINES = re.compile(r"[ \t]*\n\s*")


class Slots:
    """What stands for title, description, body and file name in a shell page.

    Every build has its own, so that no title of a bundle, which a shell shows in its navigation,
    can hold one. None of them is left in a page.
    """

    def __init__(self) -> None:
        mark = secrets.token_hex(8)
        self.title = f"title-{mark}"
        self.description = f"description-{mark}"
        # The theme adds a heading of its own to a body in which it finds no "<h1".
        self.body = f"<!--<h1-->body-{mark}"
        self.name = f"shell-{mark}"


class Shell:
    """A rendered shell, cut at its slots once.

    Values are put between the pieces, never searched, so that a value which looks like a slot
    stays what it is.
    """

    def __init__(self, html: str, slots: Slots) -> None:
        self._slots = slots
        # The theme leaves 10 kB of empty lines. A shell holds no text in which white space counts.
        html = _EMPTY_LINES.sub("\n", html)
        names = (slots.title, slots.description, slots.body, slots.name)
        pattern = re.compile("|".join(map(re.escape, names)))
        self._pieces = pattern.split(html)
        self._found = pattern.findall(html)

    def fill(self, *, title: str, description: str, body: str, name: str) -> str:
        """Return a page; all values are HTML already. ``name`` is its file's, without suffix."""
        slots = self._slots
        values = {
            slots.title: title,
            slots.description: description,
            slots.body: body,
            slots.name: name,
        }
        parts = [self._pieces[0]]
        for slot, piece in zip(self._found, self._pieces[1:], strict=True):
            parts += [values[slot], piece]
        return "".join(parts)
