"""Texts for bundles of any size: made from our own sentences, the same at every run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

LANGUAGES = ("en", "de")

_SUBJECTS = {
    "en": "the supplier|our office|the tenant|the second invoice|the new plan|the head of the team"
    "|the delivery note|the court|a careful reader|the annual budget|this draft|the auditor",
    "de": "der Lieferant|unser Büro|die Mieterin|die zweite Rechnung|der neue Plan|die Teamleitung"
    "|der Lieferschein|das Gericht|eine aufmerksame Leserin|der Jahresetat|dieser Entwurf"
    "|die Prüferin",
}
_VERBS = {
    "en": "confirms|questions|leaves open|has to repeat|should not mention|moves to next week"
    "|compares line by line|sends back|sums up in one table|explains without delay",
    "de": "bestätigt|bezweifelt|verschweigt|wiederholt|prüft noch einmal|verschiebt um eine Woche"
    "|vergleicht Zeile für Zeile|schickt zurück|ordnet übersichtlich|erläutert ohne Umschweife",
}
_OBJECTS = {
    "en": "the amount of {n} euros|the deadline of day {n}|all {n} open items|the *agreed* discount"
    "|the **total before tax**|the minutes of meeting {n}|the missing signature|section `{n}.2`"
    "|the reply from [the archive](https://example.org/file/{n})|two of the {n} conditions",
    "de": "den Betrag von {n} Euro|die Frist am Tag {n}|alle {n} offenen Posten"
    "|den *vereinbarten* Nachlass|die **Summe vor Steuern**|das Protokoll der Sitzung {n}"
    "|die fehlende Unterschrift|den Abschnitt `{n}.2`"
    "|die Antwort aus [dem Archiv](https://example.org/akte/{n})|zwei der {n} Bedingungen",
}
_ENDS = {
    "en": "because the figures differ|before anyone signs|as the letter of May says"
    "|with one exception|so that nobody has to ask twice|although it was promised|in plain words",
    "de": "weil die Zahlen nicht passen|bevor jemand unterschreibt|wie im Brief vom Mai steht"
    "|mit einer Ausnahme|damit niemand zweimal fragen muss|obwohl es zugesagt war"
    "|in klaren Worten",
}
_TITLES = {
    "en": "What follows|The figures|Next steps|Open questions|In short",
    "de": "Was folgt|Die Zahlen|Nächste Schritte|Offene Fragen|Kurz gesagt",
}


def _words(table: dict[str, str]) -> dict[str, list[str]]:
    return {language: words.split("|") for language, words in table.items()}


_SENTENCE = [_words(table) for table in (_SUBJECTS, _VERBS, _OBJECTS, _ENDS)]
_TITLE = _words(_TITLES)


@dataclass(frozen=True)
class Author:
    """Writes texts in one language; equal seeds write equal texts."""

    language: str
    chance: Random

    def sentence(self) -> str:
        """Return one sentence, with Markdown within the line."""
        parts = [self.chance.choice(words[self.language]) for words in _SENTENCE]
        text = " ".join(parts).format(n=self.chance.randint(2, 999))
        return f"{text[0].upper()}{text[1:]}."

    def sentences(self, least: int, most: int) -> str:
        """Return a paragraph."""
        return " ".join(self.sentence() for _ in range(self.chance.randint(least, most)))

    def answer(self) -> str:
        """Return an answer of 50 to 600 words: paragraphs, headings, lists, tables, code."""
        blocks = [self.sentences(3, 5)]
        blocks += [self._block() for _ in range(self.chance.choice((1, 1, 2, 3, 4, 6, 8)))]
        return "\n\n".join([*blocks, self.sentences(1, 2)])

    def _block(self) -> str:
        kinds: tuple[Callable[[], str], ...] = (
            *(self._paragraph, self._paragraph, self._items, self._items, self._steps),
            *(self._table, self._code, self._quote),
        )
        return self.chance.choice(kinds)()

    def _paragraph(self) -> str:
        title = f"## {self.chance.choice(_TITLE[self.language])}\n\n"
        return title * self.chance.randint(0, 1) + self.sentences(2, 6)

    def _items(self) -> str:
        return "\n".join(f"- {self.sentence()}" for _ in range(self.chance.randint(2, 6)))

    def _steps(self) -> str:
        lines = range(1, self.chance.randint(3, 6))
        return "\n".join(f"{number}. {self.sentence()}" for number in lines)

    def _table(self) -> str:
        rows = [f"| {self.chance.randint(1, 31)} | {self.sentence()} | {i} |" for i in range(4)]
        return "\n".join(["| No. | Text | Sum |", "|---|---|--:|", *rows])

    def _code(self) -> str:
        n = self.chance.randint(2, 99)
        lines = [f"total = price * {n}", f"if total > {n * 100}:", "    total -= discount <= 3"]
        return "\n".join(["```python", *lines, "```"])

    def _quote(self) -> str:
        return f"> {self.sentence()}\n> {self.sentence()}"


def author(*seed: object) -> Author:
    """Return the author of the text with this name; three of ten write German."""
    chance = Random("/".join(map(str, seed)))
    return Author(LANGUAGES[chance.random() < 0.3], chance)


def quote_from(text: str, chance: Random) -> str:
    """Return six words in a row of a text, as a judge would quote them."""
    words = text.split(" ")
    start = chance.randrange(max(1, len(words) - 6))
    return " ".join(words[start : start + 6])
