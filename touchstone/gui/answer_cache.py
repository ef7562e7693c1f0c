"""The HTML of answers as it is needed: kept from an earlier build, or rendered now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from touchstone.gui.answer_pool import AnswerPool
from touchstone.gui.answer_texts import (
    AnswerText,
    RenderedPart,
    dump_parts,
    load_parts,
    render_answer,
)
from touchstone.gui.site_cache import SiteCache

_BATCH = 200


class AnswerCache:
    """Gives the HTML of answers; without a ``store`` each is rendered when it is asked for."""

    def __init__(self, store: SiteCache | None = None, pool: AnswerPool | None = None) -> None:
        self._store = store
        self._pool = pool
        self._new: list[tuple[bytes, bytes]] = []
        self.rendered = 0

    def parts(self, answer: AnswerText) -> list[RenderedPart]:
        """Return an answer's reasoning and its parts as HTML."""
        if self._store is None:
            return render_answer(answer)
        key = answer.key()
        kept = self._store.get(key)
        if kept is not None:
            return load_parts(kept)
        made = render_answer(answer)
        self.rendered += 1
        self._new.append((key, dump_parts(made)))
        if len(self._new) >= _BATCH:
            self.write()
        return made

    def prepare(self, answers: Iterable[AnswerText]) -> None:
        """Render what is not there yet in several processes, if that is worth it."""
        store, pool = self._store, self._pool
        if store is None or pool is None or not pool.is_useful:
            return

        def missing(store: SiteCache) -> Iterator[AnswerText]:
            return (one for one in answers if not store.has(one.key()))

        for made in pool.render(missing(store)):
            self.rendered += len(made)
            store.put(made)

    def write(self) -> None:
        """Put what was rendered into the store."""
        if self._store is not None:
            self._store.put(self._new)
        self._new = []
