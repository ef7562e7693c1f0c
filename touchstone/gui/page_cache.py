"""Pages of bundles kept from one build to the next, as long as nothing they show has changed.

A page depends on the files of its bundle, on the language, on this package's own files and on the
versions of what it is made with; whatever else it shows, its maker names. All of that is the key.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

import touchstone
from touchstone.bundle import Bundle
from touchstone.evidence_audit import EvidenceAudit
from touchstone.files import sha256_of
from touchstone.gui.bundle_view import BundleView
from touchstone.gui.link_check import PageLinks, read_links
from touchstone.gui.site_cache import SiteCache, key_of

_BATCH = 100
_LIBRARIES = (
    *("jinja2", "markupsafe", "babel", "markdown-it-py", "nh3"),
    *("pydantic", "rapidfuzz", "pyyaml"),
)
MadeT = TypeVar("MadeT")


_LINKS = TypeAdapter(PageLinks)
_AUDIT = TypeAdapter(EvidenceAudit)


class PageCache:
    """Keeps what is made of bundles in one language; without a ``store`` all is made anew."""

    def __init__(self, store: SiteCache | None = None, language: str = "") -> None:
        self._store = store
        self._language = language
        self._states: dict[Path, bytes] = {}
        self._new: list[tuple[bytes, bytes]] = []

    def state(self, view: BundleView) -> str:
        """Return what stands for all files of a bundle; "" without a store."""
        return "" if self._store is None else self._state(view).hex()

    def has(self, view: BundleView, name: str, facts: str) -> bool:
        """Say whether something need not be made."""
        return self._store is not None and self._store.has(self._key(view, name, facts))

    def lend_audit(self, view: BundleView) -> None:
        """Give a bundle's view what became of the judge's evidence, if that is to be kept."""
        if self._store is not None and view.is_judged:
            view.audit = self.get(view, "audit", "", _AUDIT, lambda: view.audit)
            view.forget_answers()

    def links(self, html: str) -> PageLinks:
        """Return the links and anchors of a whole page, as ``read_links`` does."""
        if self._store is None:
            return read_links(html)
        key = key_of(_key_of_code(), "links", html)
        return self._find(key, _LINKS, lambda: read_links(html))

    def get(
        self,
        view: BundleView,
        name: str,
        facts: str,
        form: TypeAdapter[MadeT],
        make: Callable[[], MadeT],
    ) -> MadeT:
        """Return what ``make`` makes of a bundle, from an earlier build if it is still the same.

        ``name`` says what it is, ``facts`` what it shows beside the bundle, ``form`` how it is
        written down.
        """
        if self._store is None:
            return make()
        return self._find(self._key(view, name, facts), form, make)

    def _find(self, key: bytes, form: TypeAdapter[MadeT], make: Callable[[], MadeT]) -> MadeT:
        found = self._store.get(key) if self._store is not None else None
        if found is not None:
            try:
                return form.validate_json(found)
            except ValidationError:  # e.g. a lone surrogate, which JSON of this kind can't hold
                pass
        made = make()
        try:
            self._new.append((key, form.dump_json(made)))
        except ValueError:
            return made
        if len(self._new) >= _BATCH:
            self.write()
        return made

    def write(self) -> None:
        """Put what was made into the store."""
        if self._store is not None:
            self._store.put(self._new)
        self._new = []

    def _key(self, view: BundleView, name: str, facts: str) -> bytes:
        return key_of(_key_of_code(), self._state(view), self._language, name, facts)

    def _state(self, view: BundleView) -> bytes:
        path = view.bundle.path
        if path not in self._states:
            self._states[path] = _key_of_bundle(view.bundle)
        return self._states[path]


def _key_of_bundle(bundle: Bundle) -> bytes:
    files = [(name, sha256_of(bundle.path / name)) for name in bundle.files()]
    return key_of(bundle.path.resolve().name, json.dumps(files))


@cache
def _key_of_code() -> bytes:
    """Return what stands for this package's code and templates, and for what they use."""
    package = Path(touchstone.__file__).parent
    files = sorted(path for path in package.rglob("*") if path.is_file())
    own = [(one.as_posix(), sha256_of(one)) for one in files if one.suffix != ".pyc"]
    used = [(name, version(name)) for name in _LIBRARIES]
    return key_of(json.dumps([own, used, python_version()]))
