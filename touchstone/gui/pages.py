"""Plans all pages of all bundles: what is where, under which title, with which content.

Knows nothing of the site generator: a page is a path, texts and an HTML body.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from touchstone.gui.bundle_view import BundleView
from touchstone.gui.index_pages import SiteIndex, index_page_data, method_page_data
from touchstone.gui.ko_pages import gate_page_data, ko_page_data
from touchstone.gui.links import INDEX, METHOD
from touchstone.gui.locale import Locale
from touchstone.gui.model_pages import dimension_page_data, model_page_data
from touchstone.gui.prompt_pages import prompt_page_data
from touchstone.gui.render import Renderer
from touchstone.gui.run_pages import run_page_data
from touchstone.gui.safe_html import visible
from touchstone.gui.scorecard_pages import scorecard_page_data
from touchstone.gui.views import BrokenBundle
from touchstone.gui.wording import Wording
from touchstone.models import Prompt, Text, pick_text


@dataclass(frozen=True)
class Page:
    """One page: ``path`` from the site's root, plain-text title and description, HTML body.

    ``toc`` lists (anchor, plain-text title) of its sections; empty where none is shown.
    """

    path: str
    title: str
    description: str
    body: str
    toc: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Site:
    """Everything the site is made from: bundles that can be read, and those that can't."""

    views: Sequence[BundleView]
    broken: Sequence[BrokenBundle] = field(default=())


class PageMaker:
    """Makes the pages of a site in one language.

    ``decisions`` maps the number of a decision ("0007") to the page that the site has of it.
    """

    def __init__(
        self, site: Site, locale: Locale, decisions: Mapping[str, str] | None = None
    ) -> None:
        self.site = site
        self.decisions = decisions or {}
        self.locale = locale
        self.words = Wording(locale)
        self._renderer = Renderer(locale)

    def iter_pages(self) -> Iterator[Page]:
        """Yield every page except the prompts': the index, the method, then bundle by bundle."""
        index = SiteIndex(self.site.views, self.site.broken)
        yield self._page(INDEX, "index.html.j2", "en", index_page_data(index, self.words))
        yield self._page(
            METHOD, "method.html.j2", "en", method_page_data(index, self.decisions, self.words)
        )
        for view in self.site.views:
            yield from self._bundle_pages(view)

    def prompt_page(self, view: BundleView, prompt: Prompt) -> Page:
        """Return a prompt's page with all answers to it."""
        path = view.links.prompt(prompt.id)
        data = prompt_page_data(view, prompt, path, self.words)
        return self._page(path, "prompt.html.j2", view.suite.language, data)

    def _bundle_pages(self, view: BundleView) -> Iterator[Page]:
        links, language = view.links, view.suite.language
        data = scorecard_page_data(view, self.words)
        yield self._page(links.scorecard, "scorecard.html.j2", language, data)
        for entry in view.entries:
            path = links.model(entry.pair)
            data = model_page_data(view, entry.pair, path, self.words)
            yield self._page(path, "model.html.j2", language, data)
        for dimension in view.suite.dimensions:
            path = links.dimension(dimension.id)
            data = dimension_page_data(view, dimension, path, self.words)
            yield self._page(path, "dimension.html.j2", language, data)
        if view.suite.ko_rule is not None:
            data = gate_page_data(view, self.words)
            yield self._page(links.gate, "gate.html.j2", language, data)
            for entry in view.entries:
                path = links.knock_out(entry.pair)
                data = ko_page_data(view, entry.pair, path, self.words)
                yield self._page(path, "knock_out.html.j2", language, data)
        yield self._page(links.run, "run.html.j2", language, run_page_data(view, self.words))

    def _page(self, path: str, template: str, language: str, data: dict[str, Any]) -> Page:
        meta = data.pop("meta")
        body = self._renderer.render(template, path, language, **data)
        return Page(path, meta.title, meta.description, body, tuple(meta.toc))

    def show(self, text: Text | None, suite_language: str) -> str:
        """Return a shown text as plain words in the site's language."""
        return visible(pick_text(text, self.locale.language, suite_language)[0])
