"""Words, numbers and dates of the site in its language; one catalogue per language."""

from __future__ import annotations

from datetime import datetime
from functools import cache, lru_cache
from importlib import resources

from babel.dates import format_date
from babel.messages.pofile import read_po
from babel.numbers import format_decimal
from markupsafe import Markup

from touchstone.gui.safe_html import text_html, visible
from touchstone.models import Text, pick_text

LANGUAGES = ("en", "de")
_CATALOGUES = resources.files("touchstone.gui") / "locales"
_NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"


def one_line(text: str) -> str:
    """Return a text on one line, with what has no picture made visible."""
    return " ".join(visible(text).split())


class Shown(str):
    """A text that somebody wrote, which knows its language (None: the page's own).

    In HTML the language is said where it is not the page's. Whatever is made of it (a part, one
    line, a longer text) is a plain ``str`` again.
    """

    __slots__ = ("language",)
    language: str | None

    def __new__(cls, words: str, language: str | None) -> Shown:
        """Return the text in its language."""
        shown = super().__new__(cls, words)
        shown.language = language
        return shown

    def __html__(self) -> Markup:
        html = Markup(text_html(str(self)))
        if self.language is None or not self.strip():
            return html
        return Markup('<span lang="{}">{}</span>').format(self.language, html)


class Locale:
    """Translates and formats for one language; English texts are their own keys."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._messages = _catalogue(language)

    def gettext(self, message: str) -> str:
        """Return a text in this language, or as it is where there is no translation."""
        found = self._messages.get(message)
        return found[0] if found else message

    def ngettext(self, singular: str, plural: str, number: int) -> str:
        """Return the form of a text that fits a number."""
        found = self._messages.get(singular)
        forms = found if found and len(found) > 1 else (singular, plural)
        return forms[0] if number == 1 else forms[1]

    def show(self, text: Text | None, written_in: str) -> Shown:
        """Return a text in this language, else in the one it was written in, else in its first."""
        words, spoken = pick_text(text, self.language, written_in)
        language = spoken or written_in
        return Shown(words, None if language == self.language else language)

    def number(self, value: float, digits: int | None = None) -> str:
        """Return a number with the language's marks; ``digits`` after the point, or as needed."""
        pattern = "#,##0.###" if digits is None else "#,##0" + ("." + "0" * digits) * bool(digits)
        return _decimal(value, pattern, self.language)

    def percent(self, value: float, digits: int = 1) -> str:
        """Return a value between 0 and 100 as a percentage."""
        return f"{self.number(value, digits)}{_NARROW_SPACE}%"

    def date(self, timestamp: str | None) -> str:
        """Return the day of a UTC timestamp (ISO 8601); what is none is shown as it is."""
        try:
            moment = datetime.fromisoformat(timestamp or "")
        except ValueError:
            return timestamp or "–"
        pattern = "d. MMMM y" if self.language == "de" else "d MMMM y"
        return format_date(moment, format=pattern, locale=self.language)


@lru_cache(maxsize=1 << 12)
def _decimal(value: float, pattern: str, language: str) -> str:
    return format_decimal(value, format=pattern, locale=language)


@cache
def _catalogue(language: str) -> dict[str, tuple[str, ...]]:
    file = _CATALOGUES / f"{language}.po"
    if language == "en" or not file.is_file():
        return {}
    with file.open("rb") as stream:
        messages = list(read_po(stream, locale=language))
    found: dict[str, tuple[str, ...]] = {}
    for message in messages:
        if message.id and not message.fuzzy:
            key = message.id if isinstance(message.id, str) else message.id[0]
            strings = message.string or ""
            forms = (strings,) if isinstance(strings, str) else tuple(strings)
            if all(forms):
                found[key] = forms
    return found
