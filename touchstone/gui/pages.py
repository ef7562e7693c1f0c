"""Plans all pages of all bundles: what is where, under which title, with which content.

Knows nothing of the site generator: a page is a path, texts and an HTML body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import TypeAdapter

from touchstone.gui.answer_cache import AnswerCache
from touchstone.gui.bundle_view import BundleView
from touchstone.gui.compare_pages import compare_page_data
from touchstone.gui.compare_plan import comparison_links, planned_comparisons
from touchstone.gui.evidence_pages import evidence_page_data
from touchstone.gui.history import History
from touchstone.gui.index_pages import index_page_data, method_page_data
from touchstone.gui.judge_quality_pages import judge_quality_page_data
from touchstone.gui.judges_pages import judges_page_data
from touchstone.gui.ko_pages import gate_page_data, ko_page_data
from touchstone.gui.links import INDEX, JUDGES, METHOD
from touchstone.gui.loading import Site
from touchstone.gui.locale import Locale
from touchstone.gui.model_pages import dimension_page_data, model_page_data
from touchstone.gui.page_cache import PageCache
from touchstone.gui.prompt_pages import answer_texts, prompt_page_data
from touchstone.gui.render import Renderer
from touchstone.gui.run_pages import run_page_data
from touchstone.gui.scorecard_pages import scorecard_page_data
from touchstone.gui.wording import Wording
from touchstone.models import Prompt

EVIDENCE_TEMPLATE = "evidence.html.j2"
PageData = Callable[[], dict[str, Any]]


@dataclass(frozen=True)
class Page:
    """One page: ``path`` from the site's root, plain-text title and description, HTML body.

    ``toc`` lists (anchor, plain-text title) of its sections; empty where none is shown. Where
    ``is_searched`` is False the page stays out of the search index, which every page loads.
    """

    path: str
    title: str
    description: str
    body: str
    toc: tuple[tuple[str, str], ...] = ()
    is_searched: bool = True


_PAGE = TypeAdapter(Page)


class PageMaker:
    """Makes the pages of a site in one language.

    ``decisions`` maps the number of a decision ("0007") to the page that the site has of it;
    ``wanted`` are pairs of bundle ids that are compared, beside those that follow one another;
    ``with_data`` says whether the data lies beside the pages. ``pages`` and ``answers`` know what
    an earlier build made.

    Raises:
        SiteError: a wanted bundle is not there, or two can't be compared.
    """

    def __init__(
        self,
        site: Site,
        locale: Locale,
        decisions: Mapping[str, str] | None = None,
        wanted: Sequence[tuple[str, str]] = (),
        *,
        with_data: bool = True,
        pages: PageCache | None = None,
        answers: AnswerCache | None = None,
    ) -> None:
        self.site = site
        self._pages = pages or PageCache()
        self._answers = answers or AnswerCache()
        self.decisions = decisions or {}
        self.words = Wording(locale)
        self._with_data = with_data
        self.comparisons = planned_comparisons(site, wanted)
        self._renderer = Renderer(self.words)

    def iter_pages(self) -> Iterator[Page]:
        """Yield every page except the prompts': those of the site, then bundle by bundle."""
        words = self.words
        yield self._page(INDEX, "index.html.j2", index_page_data(self.site, words))
        yield self._page(
            METHOD, "method.html.j2", method_page_data(self.site, self.decisions, words)
        )
        yield self._page(JUDGES, "judges.html.j2", judges_page_data(self.site, words))
        for view in self.site.views:
            yield self._scorecard(view)
            for path, template, data in self._plan(view):
                yield self._kept(view, path, template, data)
        for one in self.comparisons:
            data = partial(compare_page_data, one, words)
            before = self._pages.state(one.before)
            yield self._kept(one.after, one.path, "compare.html.j2", data, facts=before)

    def prompt_page(self, view: BundleView, prompt: Prompt, history: History) -> Page:
        """Return a prompt's page with all answers to it, and what is to be said of their past."""
        path = view.links.prompt(prompt.id)
        data = partial(
            prompt_page_data, view, prompt, path, history, self.words, self._answers.parts
        )
        return self._kept(view, path, "prompt.html.j2", data, facts=history.facts())

    def prepare_answers(self, view: BundleView, history: History) -> None:
        """Render the answers that the pages of prompts need, in several processes if they are many.

        Pages that an earlier build made need none.
        """
        facts = history.facts()
        wanted = [
            prompt
            for prompt in view.suite.prompts
            if not self._pages.has(view, view.links.prompt(prompt.id), facts)
        ]
        self._answers.prepare(answer_texts(view, wanted, history))

    def kept_page(self, path: str, template: str, data: dict[str, Any]) -> Page:
        """Return a page that keeps an old address alive."""
        return self._page(path, template, data)

    def kept_section(self, path: str, template: str, data: dict[str, Any]) -> str:
        """Return the HTML of a section that keeps old anchors alive at the end of a page."""
        return self._renderer.render(template, path, data)

    def _scorecard(self, view: BundleView) -> Page:
        comparisons = comparison_links(view, self.comparisons, self.words)

        def data() -> dict[str, Any]:
            found = scorecard_page_data(view, self.words)
            return found | {"with_data": self._with_data, "comparisons": comparisons}

        facts = repr((self._with_data, comparisons))
        return self._kept(view, view.links.scorecard, "scorecard.html.j2", data, facts=facts)

    def _plan(self, view: BundleView) -> Iterator[tuple[str, str, PageData]]:
        """Yield path, template and data of a bundle's pages that show nothing but the bundle."""
        links, words, rule = view.links, self.words, view.suite.ko_rule
        for entry in view.entries:
            path = links.model(entry.pair)
            yield path, "model.html.j2", partial(model_page_data, view, entry.pair, path, words)
        for dimension in view.suite.dimensions:
            path = links.dimension(dimension.id)
            data = partial(dimension_page_data, view, dimension, path, words)
            yield path, "dimension.html.j2", data
        if rule is not None:
            yield links.gate, "gate.html.j2", partial(gate_page_data, view, rule, words)
            for entry in view.entries:
                path = links.knock_out(entry.pair)
                data = partial(ko_page_data, view, rule, entry.pair, path, words)
                yield path, "knock_out.html.j2", data
        if view.is_judged:
            yield links.evidence, EVIDENCE_TEMPLATE, partial(evidence_page_data, view, words)
        if view.judge_quality is not None:
            data = partial(judge_quality_page_data, view, view.judge_quality, words)
            yield links.judge_quality, "judge_quality.html.j2", data
        yield links.run, "run.html.j2", partial(run_page_data, view, words)

    def _kept(
        self, view: BundleView, path: str, template: str, data: PageData, facts: str = ""
    ) -> Page:
        """Return a page of a bundle, as an earlier build made it if it would be the same now."""

        def make() -> Page:
            return self._page(path, template, data())

        return self._pages.get(view, path, facts, _PAGE, make)

    def _page(self, path: str, template: str, data: dict[str, Any]) -> Page:
        meta = data["meta"]
        return Page(
            path,
            meta.title,
            meta.description,
            self._renderer.render(template, path, data),
            meta.toc,
            is_searched=template != EVIDENCE_TEMPLATE,
        )
