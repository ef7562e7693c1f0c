"""What the site says of a judge that was compared with a reference (ADR-0013)."""

from __future__ import annotations

import re
from typing import Any

from markupsafe import Markup

from touchstone.gui.bundle_view import BundleView
from touchstone.gui.judge_quality import JudgeQualityFiles
from touchstone.gui.safe_html import answer_html
from touchstone.gui.wording import Crumb, Meta, Wording

KINDS = ("ai", "human")


def comparison(found: JudgeQualityFiles, words: Wording) -> str:
    """Return in one or two sentences how close the judge is to its reference."""
    references = found.figures.get("references")
    names = [
        f"{one.get('id')} ({words.kind(one['kind'])})"
        if one.get("kind") in KINDS
        else one.get("id")
        for one in (references if isinstance(references, list) else [])
        if isinstance(one, dict)
    ]
    who = ", ".join(map(str, names)) or "–"
    apart, count = found.number("mae"), found.number("n")
    constant, constant_apart = (
        found.number("best_constant", "score"),
        found.number("best_constant", "mae"),
    )
    if apart is None or count is None:
        text = words.say("Compared with %(who)s; there are no common ratings.", who=who)
    else:
        text = words.say(
            "Compared with %(who)s: %(apart)s points apart on average in %(count)s ratings.",
            who=who,
            apart=words.locale.number(apart, 2),
            count=words.locale.number(count),
        )
    if constant is not None and constant_apart is not None:
        text += " " + words.say(
            "Always saying %(score)s would be %(apart)s points off.",
            score=words.locale.number(constant),
            apart=words.locale.number(constant_apart, 2),
        )
    return text


def judge_quality_page_data(
    view: BundleView, found: JudgeQualityFiles, words: Wording
) -> dict[str, Any]:
    """Return what the template of the judge-quality page needs."""
    said = comparison(found, words)
    headline = found.figures.get("headline")
    # The document's own title stands above already, and its headline in a line of its own.
    text = re.sub(r"\A#[^\n]*\n+(```text\n.*?\n```\n)?", "", found.markdown, flags=re.DOTALL)
    return {
        "meta": Meta(
            words.say("Judge quality: %(title)s", title=words.bundle_title(view)),
            words.shorten(said),
        ),
        **words.frame(view, Crumb(words.say("Judge quality"))),
        "comparison": said,
        "is_stale": found.is_stale,
        "headline": headline if isinstance(headline, str) else "–",
        "document": Markup(answer_html(text, first_heading=3)),
    }
