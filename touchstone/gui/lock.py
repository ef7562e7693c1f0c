"""The lock: what the last publication promised, and what is said if that would break."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from touchstone.errors import SiteError
from touchstone.gui.loading import BrokenBundle
from touchstone.gui.locale import Locale, one_line
from touchstone.gui.permalinks import FILE, MOST_BYTES, Permalink, order, parse_permalinks
from touchstone.gui.tombstone_pages import what_was
from touchstone.gui.wording import Wording

MOST_NAMED = 20
"""Broken permalinks that a message names."""
_ENGLISH = Wording(Locale("en"))


@dataclass(frozen=True)
class Lock:
    """The permalinks of the last publication, in the order of their keys."""

    name: str
    permalinks: Sequence[Permalink]

    def by_page(self) -> dict[str, list[Permalink]]:
        """Return the permalinks by the page they lead to."""
        pages: dict[str, list[Permalink]] = {}
        for link in self.permalinks:
            pages.setdefault(link.page, []).append(link)
        return pages


@dataclass(frozen=True)
class Break:
    """A permalink that would break: gone, or (``now``) leading to an answer with another text."""

    link: Permalink
    now: str | None = None

    def __str__(self) -> str:
        about = f"bundle {one_line(self.link.bundle)}: {what_was(self.link.key, _ENGLISH)}"
        if self.now is None:
            return f"gone: {self.link.url} ({about})"
        was = self.link.published_sha256 or ""
        return f"changed: {self.link.url} ({about}; sha256 was {was[:12]}…, is {self.now[:12]}…)"


def read_lock(path: Path) -> Lock:
    """Read a lock.

    Raises:
        SiteError: it is missing, can't be read, or is no list of permalinks.
    """
    if not path.is_file():
        raise SiteError(
            f"There is no lock {path}.",
            hint=f"A lock is the {FILE} of the last publication. The first publication has none: "
            "build it without a lock, and keep that file.",
        )
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as failure:
        raise SiteError(f"The lock {path} can't be read: {failure.strerror or failure}.") from None
    if len(data) > MOST_BYTES:
        raise SiteError(
            f"The lock {path} is larger than {MOST_BYTES // 1_000_000} MB.",
            hint=f"A lock is the {FILE} of the last publication.",
        )
    return Lock(str(path), parse_permalinks(data, str(path)))


def objection(breaks: Sequence[Break], lock: Lock, broken: Sequence[BrokenBundle]) -> SiteError:
    """Return the error that says which permalinks would break, and what can be done."""
    named = sorted(breaks, key=lambda one: order(one.link))
    lines = [f"  {one}" for one in named[:MOST_NAMED]]
    more = len(named) - MOST_NAMED
    if more > 0:
        lines.append(f"  … and {more} more")
    lines += [
        f"  Bundle {one_line(one.name)} can't be read, so all of it is gone." for one in broken
    ]
    count = "1 permalink" if len(named) == 1 else f"{len(named)} permalinks"
    return SiteError(
        "\n".join([f"{count} of the last publication ({lock.name}) would break:", *lines]),
        hint="Restore what is missing; or say under aliases in bundle.yaml what was renamed; or "
        "publish with --tombstone --reason TEXT, which keeps every address and says there what "
        "became of it.",
    )


def refusal_of_twins(twins: Sequence[tuple[str, str]]) -> SiteError:
    """Return the error for pages that are gone (left) and that only case tells from others."""
    lines = [f"  {page} and {other}" for page, other in twins[:MOST_NAMED]]
    more = len(twins) - MOST_NAMED
    if more > 0:
        lines.append(f"  … and {more} more")
    head = "Some pages that are gone differ from another page only in upper and lower case:"
    return SiteError(
        "\n".join([head, *lines]),
        hint="On many disks that is one file, so the old one can't have a tombstone. Give what is "
        "new another id.",
    )
