"""The Jinja2 environment of the site: strict, autoescaping, one language, relative links.

Every value that goes into a template is escaped unless it was made safe by ``safe_html``. Answers
and judge texts never become template source.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from touchstone.gui import charts
from touchstone.gui.bundle_view import BundleView, Citation
from touchstone.gui.citations import ICONS, citation_html, place_text
from touchstone.gui.links import relative
from touchstone.gui.locale import Shown, one_line
from touchstone.gui.safe_html import text_html, visible
from touchstone.gui.wording import Wording
from touchstone.models import Text


class Renderer:
    """Renders the body of a page in the site's language."""

    def __init__(self, words: Wording) -> None:
        self._words = words
        self._environment = Environment(
            loader=PackageLoader("touchstone.gui", "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=False,
            auto_reload=False,
            extensions=["jinja2.ext.i18n"],
        )
        locale = words.locale
        install = self._environment.install_gettext_callables  # type: ignore[attr-defined]
        install(locale.gettext, locale.ngettext, newstyle=True)
        self._environment.filters.update(
            text=_text,
            name=_name,
            number=locale.number,
            percent=locale.percent,
            day=locale.date,
            short=_short,
            shell=shlex.quote,
        )
        self._environment.globals.update(
            charts=charts,
            citation_icons=ICONS,
            english=words.english,
            page_language=locale.language,
            words=words,
        )

    def render(self, template: str, page: str, data: Mapping[str, Any]) -> str:
        """Return the HTML of a template for the page at ``page``."""
        view: BundleView | None = data.get("view")

        def href(url: str) -> str:
            return relative(url, page)

        def local(text: Text | None) -> Shown:
            """Return a text of the bundle that the page is about."""
            assert view is not None
            return self._words.show(text, view.suite)

        def cite(citation: Citation) -> Markup:
            assert view is not None
            return citation_html(view, citation, citation.prompt_id, href, self._words)

        def place(citation: Citation) -> str:
            assert view is not None
            return place_text(view, citation, self._words)

        made = self._environment.get_template(template)
        html = made.render(data, href=href, local=local, cite=cite, place=place)
        # Once more over the whole: whatever way a text took, the page can be written as UTF-8.
        return visible(html)


def _text(value: str) -> Markup:
    """Return a text with its line breaks; one that knows its language says it."""
    return value.__html__() if isinstance(value, Shown) else Markup(text_html(value))


def _name(value: str) -> Markup:
    """Return a name on one line, isolated so that it can't reorder the words around it."""
    return Markup("<bdi>{}</bdi>").format(one_line(value) or "–")


def _short(value: str | None) -> str:
    return (value or "–")[:8]
