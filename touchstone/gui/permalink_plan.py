"""Every permalink of a bundle, those with earlier ids of its models and prompts included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from touchstone.gui.bundle_view import BundleView
from touchstone.gui.history import Renames
from touchstone.gui.links import BundleLinks, Pair
from touchstone.gui.permalinks import KO, ON_DIMENSION, AnswerKey, Key


@dataclass(frozen=True, slots=True)
class Planned:
    """A permalink to be; ``now`` is where its content stands today, ``answer`` the answer's key.

    ``now`` differs from ``url`` where something was renamed. Keys have the earlier ids then.
    """

    key: Key
    url: str
    now: str
    answer: AnswerKey | None = None

    @property
    def is_former(self) -> bool:
        """True if this is an earlier address."""
        return self.url != self.now


@dataclass(frozen=True)
class _Model:
    """A model under one of its ids: the addresses it has with that id."""

    pair: Pair
    now: Pair
    links: BundleLinks


class BundlePlan:
    """The permalinks of a bundle, in the order of their keys; no answer is read for them."""

    def __init__(self, view: BundleView, renames: Renames, other_pages: Iterable[str] = ()) -> None:
        self._view = view
        self._renames = renames
        self._other_pages = sorted(other_pages)
        self._dimensions = sorted(dimension.id for dimension in view.suite.dimensions)
        self._prompts = sorted({*view.prompt_ids, *renames.prompts})

    def pages(self) -> set[str]:
        """Return the paths of the pages that have a key of their own, without earlier ones."""
        links, view = self._view.links, self._view
        found = {links.scorecard, *map(links.dimension, self._dimensions)}
        found.update(map(links.prompt, view.prompt_ids))
        for pair in view.row_of:
            found.update((links.model(pair), links.knock_out(pair)))
        return found

    def __iter__(self) -> Iterator[Planned]:
        """Yield the permalinks."""
        yield from self._without_model()
        view, renames = self._view, self._renames
        for pair in sorted({*view.row_of, *renames.pairs}):
            is_former = pair in renames.pairs
            links = view.links.renamed(pair=pair) if is_former else view.links
            yield from self._model(_Model(pair, renames.pairs.get(pair, pair), links))

    def _key(self, *parts: str | None) -> Key:
        return self._view.bundle.id, *parts

    def _without_model(self) -> Iterator[Planned]:
        links = self._view.links
        yield _current(self._key(None, None, None, None), links.scorecard)
        for path in self._other_pages:
            name = path.removeprefix(f"{links.root}/").removesuffix(".html")
            yield _current(self._key(None, None, None, None, name), path)
        for dimension in self._dimensions:
            yield _current(self._key(None, None, None, dimension), links.dimension(dimension))
        for prompt_id in self._prompts:
            now = self._renames.prompts.get(prompt_id, prompt_id)
            url = self._links_of(links, prompt_id).prompt(prompt_id)
            yield Planned(self._key(None, None, prompt_id, None), url, links.prompt(now))

    def _model(self, model: _Model) -> Iterator[Planned]:
        old, new = model.links, self._view.links
        pair, now = model.pair, model.now
        yield Planned(self._key(*pair, None, None), old.model(pair), new.model(now))
        if self._view.suite.ko_rule is not None:
            key = self._key(*pair, None, None, KO)
            yield Planned(key, old.knock_out(pair), new.knock_out(now))
        for dimension in self._dimensions:
            key = self._key(*pair, None, dimension)
            yield Planned(
                key, old.model_dimension(pair, dimension), new.model_dimension(now, dimension)
            )
            yield Planned(
                (*key, ON_DIMENSION), old.dimension(dimension, pair), new.dimension(dimension, now)
            )
        for prompt_id in self._prompts:
            yield from self._answer(model, prompt_id)

    def _answer(self, model: _Model, prompt_id: str) -> Iterator[Planned]:
        view, pair, now = self._view, model.pair, model.now
        today = self._renames.prompts.get(prompt_id, prompt_id)
        if not view.has_answer(now, today):
            return
        old, answer = self._links_of(model.links, prompt_id), (*now, today)
        yield Planned(
            self._key(*pair, prompt_id, None),
            old.answer(pair, prompt_id),
            view.links.answer(now, today),
            answer,
        )
        for dimension, number in sorted(self._quoted(answer).items()):
            yield Planned(
                self._key(*pair, prompt_id, dimension),
                old.quote(pair, prompt_id, dimension, number),
                view.links.quote(now, today, dimension, number),
                answer,
            )

    def _quoted(self, answer: AnswerKey) -> dict[str, int]:
        """Return the dimensions that quote an answer, each with its first quote that is found."""
        first: dict[str, int] = {}
        for one in self._view.citing(answer[:2], answer[2]):
            if one.is_found:
                number = first.get(one.dimension, one.number)
                first[one.dimension] = min(number, one.number)
        return first

    def _links_of(self, links: BundleLinks, prompt_id: str) -> BundleLinks:
        is_former = prompt_id in self._renames.prompts
        return links.renamed(prompt_id=prompt_id) if is_former else links


def _current(key: Key, url: str) -> Planned:
    return Planned(key, url, url)
