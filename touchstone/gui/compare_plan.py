"""Which bundles of a site are compared: neighbours in time, and whatever was asked for."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from touchstone.errors import SiteError
from touchstone.gui.bundle_view import BundleView
from touchstone.gui.compare import matches_of
from touchstone.gui.links import compare_page
from touchstone.gui.loading import Site
from touchstone.gui.locale import Shown, one_line
from touchstone.gui.wording import Wording

MOST_NAMED = 12
"""Ids of bundles that a message names."""
_NO_DATE = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class PlannedComparison:
    """A page that compares two bundles."""

    before: BundleView
    after: BundleView

    @property
    def path(self) -> str:
        """Where the page lies."""
        return compare_page(self.before.bundle.id, self.after.bundle.id)


@dataclass(frozen=True)
class ComparisonLink:
    """What a scorecard says of a comparison: with which bundle, from when, and where it is."""

    title: Shown
    bundle_id: str
    created: str | None
    url: str


def planned_comparisons(
    site: Site, wanted: Sequence[tuple[str, str]] = ()
) -> list[PlannedComparison]:
    """Return the comparisons of a site: each bundle with the one before it, then the wanted ones.

    The one before is the latest earlier bundle of the same suite id (by ``created``, then by id)
    that has an answer or all models in common with it.

    Args:
        site: the bundles.
        wanted: pairs of bundle ids, before and after; each gets its page, once.

    Raises:
        SiteError: a wanted bundle is not there or can't be read, or two can't be compared.
    """
    found = [PlannedComparison(*pair) for pair in _neighbours(site.views)]
    found += [_wanted(site, *pair) for pair in wanted]
    return list({one.path: one for one in found}.values())


def comparison_links(
    view: BundleView, planned: Sequence[PlannedComparison], words: Wording
) -> list[ComparisonLink]:
    """Return what the scorecard of a bundle says of its comparisons, in their order."""
    links = []
    for one in planned:
        if view in (one.before, one.after):
            other = one.after if view is one.before else one.before
            created = other.bundle.manifest.created
            title = words.bundle_title(other)
            links.append(ComparisonLink(title, other.bundle.id, created, one.path))
    return links


# --- neighbours ----------------------------------------------------------------------------


def _neighbours(views: Sequence[BundleView]) -> Iterator[tuple[BundleView, BundleView]]:
    suites: dict[str, list[BundleView]] = {}
    for view in sorted(views, key=lambda view: (_moment(view), view.bundle.id)):
        earlier = suites.setdefault(view.suite.id, [])
        before = next((one for one in reversed(earlier) if _have_common(one, view)), None)
        if before is not None:
            yield before, view
        earlier.append(view)


def _moment(view: BundleView) -> datetime:
    """Return when a bundle was made; one that does not say was before all others."""
    try:
        moment = datetime.fromisoformat(view.bundle.manifest.created or "")
    except ValueError:
        return _NO_DATE
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _have_common(before: BundleView, after: BundleView) -> bool:
    """Say whether two bundles have the same models, or an answer of one of them to one prompt."""
    matches = matches_of(before, after)
    if len(matches.models) == len(before.row_of) == len(after.row_of) != 0:
        return True
    old, new = before.bundle.answers, after.bundle.answers
    return any(match.before in old and match.after in new for match in matches.answers())


# --- what was asked for --------------------------------------------------------------------


def _wanted(site: Site, before_id: str, after_id: str) -> PlannedComparison:
    before, after = _view(site, before_id), _view(site, after_id)
    if before is after:
        raise SiteError(
            f"The bundle {before_id!r} can't be compared with itself.",
            hint="--compare takes two different bundles.",
        )
    if before.suite.id != after.suite.id:
        raise SiteError(
            f"{before_id!r} and {after_id!r} can't be compared: they are of different suites, "
            f"{before.suite.id!r} and {after.suite.id!r}, with other prompts and dimensions.",
            hint="Only bundles of one suite can be compared.",
        )
    return PlannedComparison(before, after)


def _view(site: Site, bundle_id: str) -> BundleView:
    found = next((view for view in site.views if view.bundle.id == bundle_id), None)
    if found is not None:
        return found
    broken = next((one for one in site.broken if one.name == bundle_id), None)
    if broken is not None:
        raise SiteError(
            f"The bundle {bundle_id!r} can't be compared: {broken.message}",
            hint=f"See what is wrong with it: touchstone verify {shlex.quote(bundle_id)}",
        )
    ids = sorted(one_line(view.bundle.id) for view in site.views)
    named = ", ".join(ids[:MOST_NAMED]) + (", …" if len(ids) > MOST_NAMED else "")
    raise SiteError(
        f"There is no bundle {bundle_id!r} to compare.",
        hint=f"--compare takes the ids of two bundles. There are: {named or 'none'}.",
    )
