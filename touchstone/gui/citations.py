"""Citations as HTML: what a judge names or quotes, as links to the answers."""

from __future__ import annotations

from collections.abc import Callable

from markupsafe import Markup

from touchstone.gui.bundle_view import BundleView, Citation, CitationClass
from touchstone.gui.links import Pair
from touchstone.gui.locale import one_line
from touchstone.gui.safe_html import text_html
from touchstone.gui.wording import Wording

Href = Callable[[str], str]
"""Makes an address relative to the page it stands on."""

ICONS: dict[CitationClass, str] = {
    "verbatim": "ok",
    "normalised": "approx",
    "unverifiable": "unver",
    "paraphrase": "para",
    "absence": "absent",
    "dangling": "dangle",
}
"""Icon of each class; an answer that is only named has none."""


def citation_html(
    view: BundleView, citation: Citation, label: str, href: Href, words: Wording
) -> Markup:
    """Return a citation as a link, with the mark and the word of its class."""
    url = view.citation_url(citation)
    kind: CitationClass = "dangling" if url is None else citation.kind
    is_bad = url is None or citation.is_bad
    inner = Markup("<bdi>{}</bdi>").format(one_line(label))
    if kind in ICONS:
        inner += Markup(
            '<i class="ts-i ts-i-c-{}" aria-hidden="true"></i><span class="{}">{}{}</span>'
        ).format(
            ICONS[kind], "ts-cw" if is_bad else "ts-sr", "" if is_bad else ", ", words.cited(kind)
        )
    css = "ts-cite ts-bad" if is_bad else "ts-cite"
    if url is None:
        return Markup('<span class="{}">{}</span>').format(css, inner)
    return Markup('<a class="{}" href="{}">{}</a>').format(css, href(url), inner)


def rationale_html(
    view: BundleView, pair: Pair, dimension_id: str, href: Href, words: Wording
) -> Markup:
    """Return a rationale with every prompt id it names as a link to that answer."""
    text = view.rationale(pair, dimension_id)
    by_prompt: dict[str, Citation] = {}
    for citation in view.citations(pair, dimension_id):
        by_prompt.setdefault(citation.prompt_id, citation)
    html = Markup("")
    at = 0
    for mention in view.mentions(pair, dimension_id):
        html += text_html(text[at : mention.start])
        label = text[mention.start : mention.end]
        html += citation_html(view, by_prompt[mention.prompt_ids[0]], label, href, words)
        at = mention.end
    return html + text_html(text[at:])
