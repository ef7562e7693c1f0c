"""Citations as HTML: what a judge names or quotes, as links to the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from markupsafe import Markup

from touchstone.evidence import ProseFinding
from touchstone.gui.bundle_view import BAD, WEAK, BundleView, Citation, CitationClass
from touchstone.gui.links import Pair
from touchstone.gui.locale import one_line
from touchstone.gui.safe_html import text_html
from touchstone.gui.wording import Wording

Href = Callable[[str], str]
"""Makes an address relative to the page it stands on."""

ICONS: dict[CitationClass, str] = {
    "verbatim": "ok",
    "normalised": "approx",
    "in_parts": "parts",
    "near": "near",
    "from_prompt": "prompt",
    "misattributed": "other",
    "cross_model": "cross",
    "unverifiable": "unver",
    "too_short": "short",
    "dangling": "dangle",
    "absence_passed": "absent",
    "absence_failed": "present",
    "paraphrase": "para",
}
"""Icon of each class; an answer that is only named has none."""


def citation_html(
    view: BundleView, citation: Citation, label: str, href: Href, words: Wording
) -> Markup:
    """Return a citation as a link, with the mark and the word of its class.

    Where the words stand in another answer than the cited one, the link leads there and says so.
    """
    url = view.citation_url(citation)
    kind: CitationClass = "dangling" if url is None else citation.kind
    inner = Markup("<bdi>{}</bdi>").format(one_line(label)) + class_mark(kind, words)
    css = "ts-cite ts-bad" if kind in BAD else "ts-cite ts-weak" if kind in WEAK else "ts-cite"
    if url is None:
        return Markup('<span class="{}">{}</span>').format(css, inner)
    if citation.place is not None:
        css += " ts-far"
        inner += Markup('<bdi class="ts-cw">{}</bdi>').format(place_text(view, citation, words))
    return Markup('<a class="{}" href="{}">{}</a>').format(css, href(url), inner)


def class_mark(kind: CitationClass, words: Wording) -> Markup:
    """Return the icon of a class and its word, which is to be seen where not all is well."""
    if kind not in ICONS:
        return Markup("")
    is_quiet = kind not in BAD and kind not in WEAK
    return Markup(
        '<i class="ts-i ts-i-c-{}" aria-hidden="true"></i><span class="{}">{}{}</span>'
    ).format(
        ICONS[kind], "ts-sr" if is_quiet else "ts-cw", ", " if is_quiet else "", words.cited(kind)
    )


def place_text(view: BundleView, citation: Citation, words: Wording) -> str:
    """Return in which answer the words of a citation really stand."""
    assert citation.place is not None
    pair, prompt_id = citation.place[:2], one_line(citation.place[2])
    if pair == citation.pair:
        return prompt_id
    return f"{prompt_id}, {words.shorten(words.model(view.row_of[pair].entry), 60)}"


def rationale_html(
    view: BundleView, pair: Pair, dimension_id: str, href: Href, words: Wording
) -> Markup:
    """Return a rationale: ids as links to the answers, quotes with the mark of their class."""
    text = view.rationale(pair, dimension_id)
    pieces = [
        *_ids(view, pair, dimension_id, href, words),
        *_quotes(view, pair, dimension_id, words),
    ]
    html = Markup("")
    at = 0
    for start, end, piece in sorted(pieces, key=lambda one: one[:2]):
        html += text_html(text[at:start]) + piece
        at = max(at, end)
    return html + text_html(text[at:])


_Piece = tuple[int, int, Markup]
"""What stands in a rationale from one code point to another; nothing is replaced by a mark."""


def _ids(
    view: BundleView, pair: Pair, dimension_id: str, href: Href, words: Wording
) -> Iterator[_Piece]:
    """Yield the ids that a rationale names, those that it makes up included."""
    text = view.rationale(pair, dimension_id)
    by_prompt: dict[str, Citation] = {}
    for citation in view.citations(pair, dimension_id):
        by_prompt.setdefault(citation.prompt_id, citation)
    for mention in view.mentions(pair, dimension_id):
        label = text[mention.start : mention.end]
        citation = by_prompt[mention.prompt_ids[0]]
        yield mention.start, mention.end, citation_html(view, citation, label, href, words)
    for mention in view.made_up(pair, dimension_id):
        label = one_line(text[mention.start : mention.end])
        html = Markup('<span class="ts-cite ts-bad"><bdi>{}</bdi>{}</span>').format(
            label, class_mark("dangling", words)
        )
        yield mention.start, mention.end, html


def _quotes(view: BundleView, pair: Pair, dimension_id: str, words: Wording) -> Iterator[_Piece]:
    """Yield the marks behind the quotes of a rationale that were looked up."""
    said = view.said(pair, dimension_id)
    for one in said.quotes if said else ():
        # What is too short is a term or a tone of voice as often as a quote.
        if one.finding is not None and one.finding.kind != "too_short":
            yield one.quote.end, one.quote.end, _quote_mark(one, one.finding.kind, words)


def _quote_mark(one: ProseFinding, kind: CitationClass, words: Wording) -> Markup:
    css = "ts-pq ts-bad" if kind in BAD else "ts-pq ts-weak" if kind in WEAK else "ts-pq"
    title = f"{words.cited(kind)}: {one_line(one.prompt_id or '')}"
    return Markup('<span class="{}" title="{}">{}</span>').format(
        css, title, class_mark(kind, words)
    )
