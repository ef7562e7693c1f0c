"""Reads the bundles of a site; one that can't be read does not keep the others from it."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from touchstone.bundle import Bundle, find_bundles
from touchstone.errors import InputError, SiteError
from touchstone.gui.bundle_view import BundleView
from touchstone.gui.pages import Site
from touchstone.gui.views import BrokenBundle
from touchstone.models import Manifest


def load_site(folder: Path) -> Site:
    """Return all bundles below a folder, in the order of their names.

    Raises:
        SiteError: two bundles have the same id, so that their pages would be the same.
    """
    views: list[BundleView] = []
    broken: list[BrokenBundle] = []
    seen: dict[str, Path] = {}
    for path in find_bundles(folder):
        try:
            view = BundleView(Bundle.open(path))
        except InputError as failure:
            broken.append(BrokenBundle(path.name, failure.message, failure.problems))
            continue
        known = seen.setdefault(view.links.root.casefold(), path)
        if known != path:
            raise SiteError(
                f"{known} and {path} both say that they are bundle {view.bundle.id!r}.",
                hint="A bundle's id is the name of its folder: set id in bundle.yaml.",
            )
        views.append(view)
    return Site(views, broken)


def newest_date(folder: Path) -> str | None:
    """Return the newest ``created`` of the bundles below a folder that can be read."""
    manifests = []
    for path in find_bundles(folder):
        with contextlib.suppress(InputError):
            manifests.append(Bundle(path).manifest)
    return _newest(manifests)


def newest(views: Sequence[BundleView]) -> str | None:
    """Return the newest ``created`` of the bundles: the site's date, so that builds are equal."""
    return _newest([view.bundle.manifest for view in views])


def _newest(manifests: Sequence[Manifest]) -> str | None:
    dates = [one.created for one in manifests if one.created and _is_date(one.created)]
    return max(dates, default=None)


def _is_date(timestamp: str) -> bool:
    try:
        datetime.fromisoformat(timestamp)
    except ValueError:
        return False
    return True
