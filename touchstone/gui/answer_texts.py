"""The HTML of one answer: its text in parts, its reasoning, quoted words marked.

This is what takes time in a build, so it depends on an answer's text and spans alone: it can be
made in another process, and kept.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from touchstone.gui.safe_html import (
    Part,
    SafeHtml,
    Span,
    answer_html,
    renderer_key,
    share_spans,
    split_thinking,
)
from touchstone.gui.site_cache import key_of


@dataclass(frozen=True)
class AnswerText:
    """What is to be rendered: an answer as the model gave it, and the words to mark in it."""

    text: str
    reasoning: str = ""
    spans: tuple[Span, ...] = ()

    def key(self) -> bytes:
        """Return what the HTML depends on; no two answers with other HTML have the same."""
        spans = [(one.start, one.end, one.id, one.label, one.href) for one in self.spans]
        return key_of(renderer_key(), self.text, self.reasoning, json.dumps(spans))


@dataclass(frozen=True)
class RenderedPart:
    """A stretch of an answer as HTML; ``words`` counts those of its text."""

    kind: Literal["answer", "thinking"]
    html: SafeHtml
    words: int


def render_answer(answer: AnswerText) -> list[RenderedPart]:
    """Return an answer's reasoning and its parts in order."""
    made: list[RenderedPart] = []
    if answer.reasoning:
        made.append(_part("thinking", answer.reasoning, answer_html(answer.reasoning)))
    parts = split_thinking(answer.text)
    if not parts and answer.text.strip():
        parts = [Part("answer", answer.text, 0)]
    for part, share in zip(parts, share_spans(parts, answer.spans), strict=True):
        made.append(_part(part.kind, part.text, answer_html(part.text, spans=share)))
    return made


def _part(kind: Literal["answer", "thinking"], text: str, html: SafeHtml) -> RenderedPart:
    return RenderedPart(kind, html, len(text.split()))


def dump_parts(parts: Sequence[RenderedPart]) -> bytes:
    """Return parts as bytes that ``load_parts`` reads."""
    return json.dumps([[one.kind, str(one.html), one.words] for one in parts]).encode("ascii")


def load_parts(data: bytes) -> list[RenderedPart]:
    """Return the parts that ``dump_parts`` wrote."""
    return [RenderedPart(kind, SafeHtml(html), words) for kind, html, words in json.loads(data)]
