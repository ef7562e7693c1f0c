"""Fills a page that was rendered once with the content of many pages."""

from __future__ import annotations

import re

_SLOT = re.compile(r"(?:<!--<h1-->)?TOUCHSTONE-SLOT-(TITLE|DESCRIPTION|BODY)")


def shell_slots() -> tuple[str, str, str]:
    """Return what stands for title, description and body in a shell page."""
    # The theme adds a heading of its own to a body in which it finds no "<h1".
    body = "<!--<h1-->TOUCHSTONE-SLOT-BODY"
    return "TOUCHSTONE-SLOT-TITLE", "TOUCHSTONE-SLOT-DESCRIPTION", body


class Shell:
    """A rendered shell, cut at its slots once.

    Values are put between the pieces, never searched, so that a value which looks like a slot
    stays what it is. ``file_name`` is the shell's own name, which links to itself may carry.
    """

    def __init__(self, html: str, file_name: str) -> None:
        pattern = re.compile(f"{_SLOT.pattern}|{re.escape(file_name)}")
        self._pieces: list[str] = []
        self._slots: list[str] = []
        at = 0
        for match in pattern.finditer(html):
            self._pieces.append(html[at : match.start()])
            self._slots.append(match[1] or "FILE_NAME")
            at = match.end()
        self._pieces.append(html[at:])

    def fill(self, *, title: str, description: str, body: str, file_name: str) -> str:
        """Return a page; all values are HTML already."""
        values = {
            "TITLE": title,
            "DESCRIPTION": description,
            "BODY": body,
            "FILE_NAME": file_name,
        }
        parts = [self._pieces[0]]
        for slot, piece in zip(self._slots, self._pieces[1:], strict=True):
            parts += [values[slot], piece]
        return "".join(parts)
