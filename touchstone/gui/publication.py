"""This publication beside the last one: what would break, and the pages that keep it alive."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from touchstone.errors import SiteError
from touchstone.gui.bundle_view import BundleView
from touchstone.gui.history import History, Renames
from touchstone.gui.link_check import read_links
from touchstone.gui.loading import Site, newest
from touchstone.gui.lock import Break, Lock, objection, refusal_of_twins
from touchstone.gui.pages import Page, PageMaker
from touchstone.gui.permalink_plan import BundlePlan, Planned
from touchstone.gui.permalinks import (
    FILE,
    ON_DIMENSION,
    AnswerKey,
    Permalink,
    Tombstone,
    earlier_texts,
    order,
    permalink_json,
)
from touchstone.gui.tombstone_pages import (
    gone_section_data,
    renamed_page_data,
    renamed_section_data,
    tombstone_page_data,
)

_ENDS = ("</article>", "</body>")
"""Where the content of a page ends: the last of the first of these that it has."""


@dataclass(frozen=True)
class Burial:
    """The decision that what would break gets a tombstone."""

    reason: str = ""


class Publication:
    """A site in the making, compared with its lock.

    ``breaks`` lists the permalinks that break and have no tombstone, ``kept`` the pages that keep
    old addresses alive, ``tombstones`` counts the permalinks with one.
    """

    def __init__(self, site: Site, lock: Lock | None = None, burial: Burial | None = None) -> None:
        self._site = site
        self._lock = lock or Lock("", ())
        self._burial = burial
        self._since = newest(site.views)
        self._views = {view.bundle.id: view for view in site.views}
        self._renames = {name: _renames_of(view) for name, view in self._views.items()}
        self._changed: dict[str, dict[AnswerKey, Tombstone]] = {name: {} for name in self._views}
        self.breaks: list[Break] = []
        self.kept: set[str] = set()
        self.tombstones = 0
        self._compare_texts()

    def history(self, view: BundleView) -> History:
        """Return what the prompt pages of a bundle say of the past."""
        renames = self._renames[view.bundle.id]
        former = {pair: renames.former(pair) for pair in set(renames.pairs.values())}
        return History(former, self._changed[view.bundle.id])

    def keep(self, folder: Path, maker: PageMaker, stamp: Callable[[Page], None]) -> None:
        """Keep every old address of the site in ``folder`` alive, and write its permalinks.

        ``stamp`` writes a page with the theme around it. What breaks without a decision for
        tombstones is left as it is and listed in ``breaks``.

        Raises:
            SiteError: a tombstone would share its file with a page on disks that ignore case.
        """
        pages = _Pages(folder, maker, stamp)
        plans = {name: self._plan(view, pages.names) for name, view in sorted(self._views.items())}
        for name, plan in plans.items():
            self._keep_renamed(plan, self._views[name], pages)
        graves, alive = self._sort_out(pages)
        self._bury(graves, pages)
        self.tombstones = len(graves) + sum(map(len, self._changed.values()))
        others = [*graves, *self._carried(alive, plans.values())]
        records = heapq.merge(self._current(plans), sorted(others, key=order), key=order)
        _write(folder / FILE, records)

    def objection(self) -> SiteError | None:
        """Return the error that names what breaks, if anything does."""
        return objection(self.breaks, self._lock, self._site.broken) if self.breaks else None

    def _plan(self, view: BundleView, pages: Iterable[str]) -> BundlePlan:
        renames, root = self._renames[view.bundle.id], f"{view.links.root}/"
        known = BundlePlan(view, renames).pages()
        others = (page for page in pages if page.startswith(root) and page not in known)
        return BundlePlan(view, renames, others)

    # --- answers whose text is another -------------------------------------------------------

    def _compare_texts(self) -> None:
        found: dict[tuple[str, AnswerKey], Break] = {}
        for link in self._lock.permalinks:
            bundle, answer = link.bundle, self._today(link)
            if answer is None or link.published_sha256 is None or self._stays_gone(link):
                continue
            now = self._sha256(bundle, answer)
            if link.tombstone is not None and now == link.answer_sha256:
                self._changed[bundle].setdefault(answer, link.tombstone)
            elif now != link.published_sha256 and (now or link.key[4] is None):
                found.setdefault((bundle, answer), Break(link, now))
        for (bundle, answer), one in found.items():
            if self._burial is None:
                self.breaks.append(one)
            else:
                stone = self._stone(one.link, self._burial, one.now or "")
                self._changed[bundle][answer] = stone

    def _today(self, link: Permalink) -> AnswerKey | None:
        """Return the key of the answer whose card a permalink leads to now, if there is one."""
        view = self._views.get(link.bundle)
        if view is None or link.answer is None:
            return None
        *pair, prompt_id = answer = self._renames[link.bundle].today(link.answer)
        is_shown = tuple(pair) in view.row_of and view.links.knows_prompt(prompt_id)
        return answer if is_shown else None

    def _stays_gone(self, link: Permalink) -> bool:
        """Say whether the answer's card is not at this address again."""
        if not link.is_gone or link.answer is None:
            return False
        *parts, prompt_id = link.answer
        pair, renames = (parts[0], parts[1]), self._renames[link.bundle]
        links = self._views[link.bundle].links.renamed(
            pair=pair if pair in renames.pairs else None,
            prompt_id=prompt_id if prompt_id in renames.prompts else None,
        )
        return link.url != links.answer(pair, prompt_id)

    def _sha256(self, bundle: str, answer: AnswerKey) -> str | None:
        found = self._views[bundle].answer(answer[:2], answer[2])
        return found.sha256 if found else None

    def _stone(self, link: Permalink, burial: Burial, now: str = "") -> Tombstone:
        last = link.published_sha256
        earlier = earlier_texts(last or "", link.tombstone, now)
        return Tombstone(burial.reason, self._since, last, earlier)

    # --- places that are gone, and earlier ones ----------------------------------------------

    def _keep_renamed(self, plan: BundlePlan, view: BundleView, pages: _Pages) -> None:
        renames = self._renames[view.bundle.id]
        if not renames:
            return
        by_page: dict[str, list[Planned]] = {}
        for one in plan:
            if one.is_former:
                by_page.setdefault(one.url.partition("#")[0], []).append(one)
        for page, earlier in by_page.items():
            if page in pages.names:
                # The anchors on prompt pages stand in the answers.
                rest = [one for one in earlier if one.key[5:] == (ON_DIMENSION,)]
                if rest:
                    data = renamed_section_data(rest, renames, pages.words)
                    pages.append(page, "renamed_section.html.j2", data)
            elif pages.twin(page) is None:
                data = renamed_page_data(earlier, view, renames, pages.words)
                pages.put(page, "renamed.html.j2", data)
                self.kept.add(page)

    def _sort_out(self, pages: _Pages) -> tuple[list[Permalink], list[Permalink]]:
        """Return what needs a tombstone and what is alive; list what breaks."""
        graves: list[Permalink] = []
        alive: list[Permalink] = []
        for page, links in self._lock.by_page().items():
            anchors = pages.anchors(page)
            for link in links:
                if anchors is not None and (not link.anchor or link.anchor in anchors):
                    alive.append(link)
                elif link.is_gone:
                    graves.append(link)
                elif self._burial is None:
                    self.breaks.append(Break(link))
                else:
                    stone = self._stone(link, self._burial)
                    graves.append(replace(link, answer_sha256=None, tombstone=stone))
        return graves, alive

    def _bury(self, graves: Iterable[Permalink], pages: _Pages) -> None:
        by_page: dict[str, list[Permalink]] = {}
        for grave in graves:
            by_page.setdefault(grave.page, []).append(grave)
        _refuse_twins(by_page, pages)
        for page, links in by_page.items():
            if page in pages.names:
                data = gone_section_data(links, pages.words)
                pages.append(page, "tombstone_section.html.j2", data)
            else:
                data = tombstone_page_data(links, self._views.get(links[0].bundle), pages.words)
                pages.put(page, "tombstone.html.j2", data)
                self.kept.add(page)

    # --- the permalinks of this publication --------------------------------------------------

    def _current(self, plans: Mapping[str, BundlePlan]) -> Iterator[Permalink]:
        """Yield the permalinks to what is there; each answer is read once, and none is kept."""
        read: tuple[str, AnswerKey] | None = None
        sha256: str | None = None
        for bundle, plan in plans.items():
            for one in plan:
                if one.answer is not None and (bundle, one.answer) != read:
                    read, sha256 = (bundle, one.answer), self._sha256(bundle, one.answer)
                stone = None
                if one.answer is not None and one.key[4] is None:
                    stone = self._changed[bundle].get(one.answer)
                yield Permalink(one.key, one.url, sha256 if one.answer else None, stone)

    def _carried(
        self, alive: Iterable[Permalink], plans: Iterable[BundlePlan]
    ) -> Iterator[Permalink]:
        """Yield what the lock has and the plans have not: it is alive, and was promised."""
        rest = {link.url: link for link in alive}
        for plan in plans if rest else ():
            for one in plan:
                rest.pop(one.url, None)
        for link in rest.values():
            answer = self._today(link)
            sha256 = self._sha256(link.bundle, answer) if answer else None
            # The card of an answer stays where the answer is gone.
            is_lost = answer is not None and sha256 is None and link.key[4] is None
            stone = self._changed[link.bundle].get(answer) if answer and is_lost else None
            yield Permalink(link.key, link.url, sha256, stone)


class _Pages:
    """The pages of the site as far as it is built; ``names`` are their paths."""

    def __init__(self, folder: Path, maker: PageMaker, stamp: Callable[[Page], None]) -> None:
        self._folder = folder
        self._maker = maker
        self._stamp = stamp
        self.words = maker.words
        self.names = {path.relative_to(folder).as_posix() for path in folder.rglob("*.html")}
        self._by_lower_case = {page.casefold(): page for page in self.names}

    def twin(self, page: str) -> str | None:
        """Return the page whose path only upper and lower case tell from this one."""
        found = self._by_lower_case.get(page.casefold())
        return None if found == page else found

    def anchors(self, page: str) -> set[str] | None:
        """Return the anchors of a page, None if there is no such page."""
        if page not in self.names:
            return None
        return read_links((self._folder / page).read_text(encoding="utf-8")).anchors

    def put(self, page: str, template: str, data: dict[str, Any]) -> None:
        """Write a page that was not there."""
        self._stamp(self._maker.kept_page(page, template, data))
        self.names.add(page)
        self._by_lower_case[page.casefold()] = page

    def append(self, page: str, template: str, data: dict[str, Any]) -> None:
        """Put a section at the end of a page's content."""
        section = self._maker.kept_section(page, template, data)
        path = self._folder / page
        html = path.read_text(encoding="utf-8")
        at = next((at for end in _ENDS if (at := html.rfind(end)) >= 0), len(html))
        path.write_text(f"{html[:at]}{section}\n{html[at:]}", encoding="utf-8", newline="\n")


def _refuse_twins(graves: Iterable[str], pages: _Pages) -> None:
    """Raise SiteError if pages that are gone and others are one file where case is ignored."""
    twins: list[tuple[str, str]] = []
    first: dict[str, str] = {}
    for page in graves:
        twin = pages.twin(page) or first.setdefault(page.casefold(), page)
        if twin != page:
            twins.append((page, twin))
    if twins:
        raise refusal_of_twins(twins)


def _renames_of(view: BundleView) -> Renames:
    return Renames.of(view.bundle.manifest.aliases, view.row_of, view.prompt_ids)


def _write(path: Path, links: Iterable[Permalink]) -> None:
    """Write permalinks as a list of JSON, one to a line."""
    with path.open("w", encoding="ascii", newline="\n") as file:
        between = "[\n"
        for link in links:
            file.write(between + permalink_json(link))
            between = ",\n"
        file.write("[]\n" if between == "[\n" else "\n]\n")
