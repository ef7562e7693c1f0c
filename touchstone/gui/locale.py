"""Words, numbers and dates of the site in its language; one catalogue per language."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from importlib import resources

from babel.dates import format_date
from babel.messages.pofile import read_po
from babel.numbers import format_decimal

LANGUAGES = ("en", "de")
_CATALOGUES = resources.files("touchstone.gui") / "locales"
_NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"


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

    def number(self, value: float, digits: int | None = None) -> str:
        """Return a number with the language's marks; ``digits`` after the point, or as needed."""
        pattern = "#,##0.###" if digits is None else "#,##0" + ("." + "0" * digits) * bool(digits)
        return format_decimal(value, format=pattern, locale=self.language)

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
