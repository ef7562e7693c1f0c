"""Pieces of Markdown that hold foreign text, which cannot get out of them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from touchstone.gui.safe_html import visible
from touchstone.models import ModelEntry
from touchstone.scorecard import md_escape

_MARKS = re.compile(r"`+|~+")
_LINE_END = re.compile(r"\r\n?|\n")
# What would begin a list, underline a heading or a table's head, or be a rule across the page.
_BLOCK_START = re.compile(r"\A(?:\d+(?=[.)](?: |\Z))|(?=[-+=:]))")


def fenced(text: str, kind: str = "text") -> str:
    """Return text as a code block, letter for letter, between fences longer than any run in it.

    A Markdown reader gets back the text and one line break. Line ends are LF; characters without a
    picture, lone surrogates and what reorders a line are shown as on the site. ``kind`` is ours:
    the language on the line of the fence.
    """
    shown = _LINE_END.sub("\n", visible(text))
    longest = max((len(run) for run in _MARKS.findall(shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{kind}\n{shown}\n{fence}"


def plain(text: str) -> str:
    """Return text on one line that is shown letter for letter, also where it begins a block."""
    return _BLOCK_START.sub(r"\g<0>\\", md_escape(text))


def quoted(text: str) -> str:
    """Return text as a block quote, each of its lines a paragraph; "" for blank text."""
    lines = [plain(line) for line in _LINE_END.split(text)]
    return "\n>\n".join(f"> {line}" for line in lines if line)


def labelled(label: str, text: str) -> str:
    """Return a bold label of ours and text of others, each of its lines a paragraph."""
    lines = [line for line in map(plain, _LINE_END.split(text)) if line]
    return "\n\n".join([f"**{label}** {lines[0]}", *lines[1:]]) if lines else ""


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Return a list of labels with values, which are Markdown; an empty value is left out."""
    return "\n".join(f"- **{label}:** {value}" for label, value in pairs if value)


def blocks(*parts: str) -> str:
    """Return the parts that are not empty as blocks of their own."""
    return "\n\n".join(part for part in parts if part)


def name(entry: ModelEntry) -> str:
    """Return a (model, variant) as it is named everywhere."""
    return f"{plain(entry.model)} ({plain(entry.variant)})"
