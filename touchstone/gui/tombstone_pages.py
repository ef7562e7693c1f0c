"""The data of what keeps old addresses alive: tombstones, and pages and places renamed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from touchstone.gui.bundle_view import BundleView
from touchstone.gui.history import Renames
from touchstone.gui.links import INDEX
from touchstone.gui.locale import one_line
from touchstone.gui.permalink_plan import Planned
from touchstone.gui.permalinks import KO, ON_DIMENSION, Key, Permalink
from touchstone.gui.wording import Crumb, Meta, Wording


@dataclass(frozen=True)
class Grave:
    """What an address stood for: the anchor ("" for the page itself), why and when it went."""

    anchor: str
    what: Markup
    sha256: str | None
    reason: str
    since: str | None


@dataclass(frozen=True)
class Moved:
    """An earlier address: its anchor, what stood there, what that is called now and where it is."""

    anchor: str
    what: Markup
    now: Markup
    url: str


@dataclass(frozen=True)
class Part:
    """One of the ids that something is named by, with the word for its kind."""

    label: str
    name: str


def what_was(key: Key, words: Wording) -> str:
    """Return what a permalink is about, as plain text on one line."""
    message, names = _what(key, words)
    return message % {name: words.shorten(value, 100) for name, value in names.items()}


def what_was_html(key: Key, words: Wording) -> Markup:
    """Return what a permalink is about, each id isolated."""
    message, names = _what(key, words)
    isolated = {
        name: Markup("<bdi>{}</bdi>").format(one_line(value) or "–")
        for name, value in names.items()
    }
    return Markup(message) % isolated


def _what(key: Key, words: Wording) -> tuple[str, dict[str, str]]:
    bundle, model, variant, prompt_id, dimension = (part or "" for part in key[:5])
    place = key[5] if len(key) > 5 else None
    names = {
        "bundle": bundle,
        "title": bundle,
        "model": f"{model} ({variant})",
        "id": prompt_id,
        "dimension": dimension,
        "page": place or "",
    }
    is_about = tuple(part is not None for part in key[1:5])
    return _message(is_about, place, words), names


def _message(is_about: tuple[bool, ...], place: str | None, words: Wording) -> str:
    """Return a sentence for a key, by which of its parts from the model on are there."""
    messages: dict[tuple[tuple[bool, ...], str | None], str] = {
        ((True, True, True, False), None): words.say("Answer of %(model)s to %(id)s"),
        ((True, True, True, True), None): words.say(
            "Words quoted for %(dimension)s from the answer of %(model)s to %(id)s"
        ),
        ((True, True, False, False), None): words.say("Report of %(model)s"),
        ((True, True, False, False), KO): words.say("K.-o. page of %(model)s"),
        ((True, True, False, True), None): words.say("%(dimension)s in the report of %(model)s"),
        ((True, True, False, True), ON_DIMENSION): words.say(
            "%(model)s on the page of %(dimension)s"
        ),
        ((False, False, True, False), None): words.say("Prompt %(id)s"),
        ((False, False, False, True), None): words.say("Dimension %(dimension)s"),
        ((False, False, False, False), None): words.say("Scorecard of %(bundle)s"),
        ((False, False, False, False), "evidence"): words.say("Evidence: %(title)s"),
    }
    other = words.say("Page %(page)s of %(bundle)s") if place else words.say("Part of %(bundle)s")
    return messages.get((is_about, place), other)


def tombstone_page_data(
    graves: Sequence[Permalink], view: BundleView | None, words: Wording
) -> dict[str, Any]:
    """Return what the template of a tombstone needs; ``graves`` stood on one page.

    ``view`` is the bundle, if it is still there.
    """
    own = next((grave for grave in graves if not grave.anchor), None)
    common = _common(graves)
    key = own.key if own else common
    title = words.say("Gone: %(what)s", what=what_was(key, words))
    return _frame(view, words, words.say("Gone")) | {
        "meta": Meta(
            title, words.say("This was published here and is no longer part of the site.")
        ),
        "what": what_was_html(key, words),
        "parts": _parts(common, words),
        "own": _grave(own or graves[0], words),
        "graves": [_grave(grave, words) for grave in graves if grave.anchor],
    }


def gone_section_data(graves: Iterable[Permalink], words: Wording) -> dict[str, Any]:
    """Return what the template of a page's section about lost anchors needs."""
    return {"graves": [_grave(grave, words) for grave in graves]}


def renamed_page_data(
    earlier: Sequence[Planned], view: BundleView, renames: Renames, words: Wording
) -> dict[str, Any]:
    """Return what the template needs for a page that was renamed; ``earlier`` were its places."""
    own = next(one for one in earlier if "#" not in one.url)
    what = what_was(own.key, words)
    return _frame(view, words, words.say("Renamed")) | {
        "meta": Meta(
            words.say("Renamed: %(what)s", what=what),
            words.say("Now: %(what)s", what=what_was(renames.today_key(own.key), words)),
        ),
        "what": what_was_html(own.key, words),
        "parts": _parts(own.key, words),
        "own": _moved([own], renames, words)[0],
        "moved": _moved((one for one in earlier if one is not own), renames, words),
    }


def renamed_section_data(
    earlier: Iterable[Planned], renames: Renames, words: Wording
) -> dict[str, Any]:
    """Return what the template of a page's section about renamed anchors needs."""
    return {"moved": _moved(earlier, renames, words)}


def _frame(view: BundleView | None, words: Wording, title: str) -> dict[str, Any]:
    if view is not None:
        return words.frame(view, Crumb(title)) | {"home": view.links.scorecard}
    crumbs = [Crumb(words.say("Evaluations"), INDEX), Crumb(title)]
    return {"view": None, "crumbs": crumbs, "tabs": [], "home": INDEX}


def _common(graves: Sequence[Permalink]) -> Key:
    """Return the parts of the keys that are the same in all that have them."""
    found = []
    for at in range(5):
        values = {grave.key[at] for grave in graves}
        found.append(values.pop() if len(values) == 1 else None)
    return tuple(found)


def _parts(key: Key, words: Wording) -> list[Part]:
    labels = (
        words.say("Bundle"),
        words.say("Model"),
        words.say("Variant"),
        words.say("Prompt"),
        words.say("Dimension"),
    )
    parts = zip(labels, key, strict=False)
    return [Part(label, one_line(value) or "–") for label, value in parts if value is not None]


def _grave(link: Permalink, words: Wording) -> Grave:
    stone = link.tombstone
    assert stone is not None
    return Grave(
        link.anchor,
        what_was_html(link.key, words),
        stone.answer_sha256,
        stone.reason or words.say("No reason was given."),
        stone.since,
    )


def _moved(earlier: Iterable[Planned], renames: Renames, words: Wording) -> list[Moved]:
    return [
        Moved(
            one.url.partition("#")[2],
            what_was_html(one.key, words),
            what_was_html(renames.today_key(one.key), words),
            one.now,
        )
        for one in earlier
    ]
