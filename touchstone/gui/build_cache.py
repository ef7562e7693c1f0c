"""What a build keeps for the next one, opened and closed as one."""

from __future__ import annotations

from touchstone.gui.answer_cache import AnswerCache
from touchstone.gui.answer_pool import AnswerPool
from touchstone.gui.page_cache import PageCache
from touchstone.gui.site_cache import SiteCache, cache_folder

WORTH_A_CACHE = 300
"""Answers of a site from which on something is kept; a smaller one is built in a second or two."""


class BuildCache:
    """The cache and the processes of one build; a small site goes without both."""

    def __init__(self, answers: int = 0, language: str = "", *, is_kept: bool = True) -> None:
        """Take the number of answers of the site; ``is_kept`` False keeps nothing afterwards."""
        self._store: SiteCache | None = None
        self._pool: AnswerPool | None = None
        if answers >= WORTH_A_CACHE:
            self._store = SiteCache(cache_folder() if is_kept else None)
            self._pool = AnswerPool()
        self.pages = PageCache(self._store, language)
        self.answers = AnswerCache(self._store, self._pool)

    def end_processes(self) -> None:
        """End the processes; what is rendered from now on is rendered in this one."""
        if self._pool is not None:
            self._pool.close()

    def close(self) -> None:
        """End the processes and write what is still to be written."""
        self.end_processes()
        self.pages.write()
        self.answers.write()
        if self._store is not None:
            self._store.close()
            self._store = None
        self.pages, self.answers = PageCache(), AnswerCache()
