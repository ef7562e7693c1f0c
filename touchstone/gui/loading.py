"""Reads the bundles of a site; one that can't be read does not keep the others from it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from touchstone.bundle import Bundle, find_bundles
from touchstone.errors import InputError, Problem, SiteError
from touchstone.gui.bundle_view import BundleView


@dataclass(frozen=True)
class BrokenBundle:
    """A bundle that can't be read, and why."""

    name: str
    message: str
    problems: tuple[Problem, ...] = field(default=())


@dataclass(frozen=True)
class Site:
    """Everything the site is made from: bundles that can be read, and those that can't."""

    views: Sequence[BundleView]
    broken: Sequence[BrokenBundle] = field(default=())


def require_bundles(folder: Path) -> None:
    """Raise SiteError if there is no folder of bundles."""
    if not folder.is_dir():
        raise SiteError(
            f"There is no folder of bundles: {folder}",
            hint="Name it with --bundles DIR, or make a first bundle: touchstone run SUITE "
            "--model NAME -o bundles/NAME",
        )


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
        except OSError as failure:
            broken.append(BrokenBundle(path.name, _why(failure, path)))
            continue
        known = seen.setdefault(view.links.root.casefold(), path)
        if known != path:
            raise SiteError(
                f"{known} and {path} both say that they are bundle {view.bundle.id!r}.",
                hint="A bundle's id is the name of its folder: set id in bundle.yaml.",
            )
        views.append(view)
    return Site(views, broken)


def _why(failure: OSError, bundle: Path) -> str:
    """Return what the system said about a file of a bundle."""
    reason = failure.strerror or str(failure)
    if failure.filename is None:
        return f"{reason}."
    file = Path(str(failure.filename))
    name = file.relative_to(bundle) if file.is_relative_to(bundle) else file
    return f"{name} can't be read: {reason}."


def newest(views: Sequence[BundleView]) -> str | None:
    """Return the newest ``created`` of the bundles: the site's date, so that builds are equal."""
    return max((dated for view in views for dated in _dates(view.bundle)), default=(None, None))[1]


def _dates(bundle: Bundle) -> Iterator[tuple[datetime, str]]:
    """Yield when a bundle was made, as a moment and as it stands there, if it is a date."""
    created = bundle.manifest.created or ""
    with contextlib.suppress(ValueError):
        moment = datetime.fromisoformat(created)
        yield moment if moment.tzinfo else moment.replace(tzinfo=UTC), created
