"""Answers that have another text now: what differs, word by word, as HTML."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from touchstone.gui.compare import AnswerMatch, Colour, Comparison
from touchstone.gui.locale import Shown
from touchstone.gui.safe_html import visible
from touchstone.gui.word_diff import Piece, TextDiff, diff_texts, fold
from touchstone.gui.wording import Wording
from touchstone.models import Answer, ModelEntry

_LINE_END = re.compile(r"\r\n|\r|\n")
_SPACES = {" ": "␣", "\t": "⇥", "\u00a0": "⍽"}
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
"""Characters without a picture that no script needs: soft hyphen, spaces without width."""


@dataclass(frozen=True)
class ChangedAnswer:
    """An answer before and after; ``flags`` are None where a bundle has none.

    ``size`` says how much differs, ``note`` what there is to know of the diff or in place of it.
    """

    prompt_id: str
    title: Shown
    entry: ModelEntry
    urls: tuple[str, str]
    flags: tuple[Colour, Colour] | None
    size: str
    note: str
    diff: Markup


def changed_answer(
    comparison: Comparison,
    match: AnswerMatch,
    flags: tuple[Colour, Colour] | None,
    words: Wording,
) -> ChangedAnswer:
    """Return one changed answer; both texts are read now and not kept."""
    old, new = comparison.before, comparison.after
    pair, prompt_id = match.after[:2], match.after[2]
    prompt = new.suite.prompt(prompt_id)
    assert prompt is not None
    before, after = old.answer(match.before[:2], match.before[2]), new.answer(pair, prompt_id)
    assert before is not None
    assert after is not None
    size, note, diff = _difference(before, after, words)
    return ChangedAnswer(
        prompt_id=prompt_id,
        title=words.prompt_title(prompt, new.suite),
        entry=new.row_of[pair].entry,
        urls=answer_urls(comparison, match),
        flags=flags,
        size=size,
        note=note,
        diff=diff,
    )


def answer_urls(comparison: Comparison, match: AnswerMatch) -> tuple[str, str]:
    """Return where an answer stands before and after."""
    old, new = match.before, match.after
    return (
        comparison.before.links.answer(old[:2], old[2]),
        comparison.after.links.answer(new[:2], new[2]),
    )


def _difference(before: Answer, after: Answer, words: Wording) -> tuple[str, str, Markup]:
    failed = [one for one in (before, after) if one.error is not None]
    if failed:
        if len(failed) == 2:
            note = words.say("The answer failed both times.")
        elif before.error is not None:
            note = words.say("The answer failed before.")
        else:
            note = words.say("The answer fails now.")
        return words.say("failed"), note, Markup("")
    diff = diff_texts(before.text, after.text)
    if diff.unit == "none":
        note = words.say(
            "Too long to be compared here: %(before)s characters before, %(after)s after.",
            before=words.locale.number(len(before.text)),
            after=words.locale.number(len(after.text)),
        )
        return words.say("too long"), note, Markup("")
    note = ""
    if diff.unit == "sentences":
        note = words.say(
            "Too much differs for single words, so whole lines and sentences are compared."
        )
    return _size(diff, words), note, diff_html(fold(diff.pieces), words)


def _size(diff: TextDiff, words: Wording) -> str:
    if not diff.deleted and not diff.inserted:
        return words.say("only white space or punctuation")
    return words.say(
        "−%(deleted)s +%(inserted)s words",
        deleted=words.locale.number(diff.deleted),
        inserted=words.locale.number(diff.inserted),
    )


def diff_html(pieces: Iterable[Piece], words: Wording) -> Markup:
    """Return the pieces of a diff as HTML: every change has an element, a mark and a word."""
    marks = {
        "deleted": (words.say("removed:"), "−", "del"),
        "inserted": (words.say("added:"), "+", "ins"),
    }
    html = Markup("")
    for piece in pieces:
        if piece.kind in marks:
            word, mark, tag = marks[piece.kind]
            html += Markup(
                '<{} class="ts-d-{}"><b aria-hidden="true">{}</b><span class="ts-sr"> {} </span>'
                "{}</{}>"
            ).format(Markup(tag), Markup(tag), mark, word, _with_space(piece.text), Markup(tag))
        elif piece.kind == "same":
            html += Markup.escape(_LINE_END.sub("\n", visible(piece.text)))
        else:
            html += Markup('<span class="ts-gap" lang="{}">{}</span>').format(
                words.locale.language, _left_out(piece, words)
            )
    return html


def _left_out(piece: Piece, words: Wording) -> str:
    if piece.kind == "rest":
        return words.count(
            "… and %(num)s changed word more", "… and %(num)s changed words more", piece.words
        )
    if not piece.words:
        return "…"
    return words.count("… %(num)s word …", "… %(num)s words …", piece.words)


def _with_space(text: str) -> str:
    """Return changed text; line ends are seen, other space where there is nothing else to see."""
    shown = visible(text)
    if not any(_has_picture(char) for char in shown):
        shown = "".join(_SPACES.get(char) or _named(char) for char in shown)
    shown = _INVISIBLE.sub(lambda found: _named(found[0]), shown)
    return _LINE_END.sub(lambda end: f"{'␍' if end[0][0] == chr(13) else ''}↵\n", shown)


def _has_picture(char: str) -> bool:
    return not char.isspace() and unicodedata.category(char) != "Cf"


def _named(char: str) -> str:
    return char if char in "\r\n" else f"⟨U+{ord(char):04X}⟩"
