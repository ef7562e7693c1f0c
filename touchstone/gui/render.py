"""The Jinja2 environment of the site: strict, autoescaping, one language, relative links.

Every value that goes into a template is escaped unless it was made safe by ``safe_html``. Answers
and judge texts never become template source.
"""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from touchstone import __version__
from touchstone.gui import charts
from touchstone.gui.links import relative
from touchstone.gui.locale import Locale
from touchstone.gui.safe_html import text_html, visible
from touchstone.models import Text, pick_text


class Renderer:
    """Renders the body of a page; ``locale`` is the site's language."""

    def __init__(self, locale: Locale) -> None:
        self.locale = locale
        self._environment = Environment(
            loader=PackageLoader("touchstone.gui", "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=False,
            extensions=["jinja2.ext.i18n"],
        )
        install = self._environment.install_gettext_callables  # type: ignore[attr-defined]
        install(locale.gettext, locale.ngettext, newstyle=True)
        self._environment.filters.update(
            text=_text,
            name=_name,
            number=locale.number,
            percent=locale.percent,
            day=locale.date,
            short=_short,
        )
        self._environment.globals.update(charts=charts, tool=f"touchstone {__version__}")

    def render(self, template: str, page: str, language: str, **data: Any) -> str:
        """Return the HTML of a template for the page at ``page``.

        ``language`` is the language of the suite, the second choice for shown texts.
        """

        def href(url: str) -> str:
            return relative(url, page)

        def local(text: Text | None) -> Markup:
            """Return a shown text, marked where it is not in the page's language."""
            words, spoken = pick_text(text, self.locale.language, language)
            return _marked(words, spoken or (language if words else None), self.locale.language)

        made = self._environment.get_template(template)
        html = made.render(href=href, local=local, page_language=self.locale.language, **data)
        # Once more over the whole: whatever way a text took, the page can be written as UTF-8.
        return visible(html)


def _marked(words: str, language: str | None, page_language: str) -> Markup:
    html = Markup(text_html(words))
    if language is None or language == page_language:
        return html
    return Markup('<span lang="{}">{}</span>').format(language, html)


def _text(value: str) -> Markup:
    return Markup(text_html(value))


def _name(value: str) -> Markup:
    """Return a name on one line, isolated so that it can't reorder the words around it."""
    return Markup("<bdi>{}</bdi>").format(" ".join(visible(value).split()) or "–")


def _short(value: str | None) -> str:
    return (value or "–")[:8]
