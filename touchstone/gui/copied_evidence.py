"""What "copy as evidence" copies: words, where they stand, and the hashes that prove it (Markdown).

The words are a model's or a judge's: whatever they hold, they stay in their block quote.
"""

from __future__ import annotations

import re

from touchstone.gui.bundle_view import BundleView, Citation
from touchstone.gui.safe_html import visible
from touchstone.gui.tombstone_pages import what_was
from touchstone.gui.wording import Wording
from touchstone.models import Answer

MOST_QUOTED = 600
"""Code points of an answer that are copied; its hash stands for the whole."""
URL = "{url}"
"""Stands for the full address, which only the reader's browser knows. No quoted text holds it,
because braces in texts are escaped."""

_LIVE = re.compile(r"[\\`*_{}\[\]<>#|~&]")
_NUMBER = re.compile(r"\A\d+(?=[.)](?: |\Z))")
_LINE_END = re.compile(r"\r\n?|\n")


def answer_evidence(view: BundleView, answer: Answer, words: Wording) -> str:
    """Return an answer, or its beginning, as evidence."""
    text = answer.text
    cut = text if len(text) <= MOST_QUOTED else f"{text[:MOST_QUOTED]} […]"
    return _evidence(view, answer, None, cut, words)


def quote_evidence(view: BundleView, answer: Answer, citation: Citation, words: Wording) -> str:
    """Return the quoted words of an answer as evidence; "" where they do not stand in it."""
    if citation.start is None or citation.end is None:
        return ""
    quote = answer.text[citation.start : citation.end]
    return _evidence(view, answer, citation.dimension, quote, words)


def _evidence(
    view: BundleView, answer: Answer, dimension: str | None, text: str, words: Wording
) -> str:
    bundle = view.bundle
    what = what_was((bundle.id, *answer.pair, answer.prompt_id, dimension), words)
    bundle_label, answer_label = words.say("Bundle"), words.say("Answer")
    lines = (
        f"{escaped(what)}: <{URL}>",
        "",
        f"- {bundle_label} {escaped(bundle.id)}: sha256 `{bundle.sha256}`",
        f"- {answer_label}: sha256 `{answer.sha256}`",
    )
    quoted = "\n>\n".join(f"> {line}" for line in escaped(text).split("\n") if line)
    return "\n".join([quoted, "", *lines] if quoted else lines)


def escaped(text: str) -> str:
    """Return text that Markdown shows letter for letter, line by line, also where a block begins.

    White space within a line becomes one space.
    """
    shown = _LIVE.sub(r"\\\g<0>", _LINE_END.sub("\n", visible(text)))
    return "\n".join(_no_block(" ".join(line.split())) for line in shown.split("\n"))


def _no_block(line: str) -> str:
    """Return a line that begins no list, underlines no heading and is no rule across the page."""
    if line[:1] in "-+=:":
        return f"\\{line}" if line else ""
    return _NUMBER.sub(r"\g<0>\\", line) if line[0].isdigit() else line
