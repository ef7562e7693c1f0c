"""The site in German: a whole catalogue, numbers and dates as they are written, no English left."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.frontend import parse_mapping_cfg
from babel.messages.pofile import read_po
from conftest import BundleFolder
from german_bundles import MANIFEST, SUITE, write_answers, write_judgement
from judge_quality_figures import write_quality
from site_bundles import write_judged

from touchstone.evidence import CLASSES
from touchstone.gui.build import BuildOptions, build_site
from touchstone.gui.bundle_view import CitationClass
from touchstone.gui.locale import Locale
from touchstone.gui.wording import Wording

ROOT = Path(__file__).parents[1]
GUI = ROOT / "touchstone" / "gui"
DOCS = ROOT / "site_src" / "docs"
CATALOGUE = GUI / "locales" / "de.po"
KEYWORDS: dict[str, tuple[int, ...] | None] = {
    "_": None,
    "gettext": None,
    "say": None,
    "markup": None,
    "ngettext": (1, 2),
    "count": (1, 2),
}
PLACEHOLDER = re.compile(r"%\(\w+\)s|%%")
Id = str | tuple[str, ...]


# --- the catalogue ---------------------------------------------------------------------------


def literals_in(source: str) -> Iterator[Id]:
    """Yield the messages of a module.

    Babel reads tokens: before Python 3.12 it does not see into f-strings.
    """
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", None))
        if name not in KEYWORDS:
            continue
        wanted = len(KEYWORDS[name] or (1,))
        texts = [
            arg.value
            for arg in node.args[:wanted]
            if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
        ]
        if len(texts) == wanted == 1:
            yield texts[0]
        elif len(texts) == wanted and len(node.args) > wanted:
            yield tuple(texts)


@cache
def theme_defaults() -> frozenset[str]:
    """Return the texts that the theme's overrides fall back on, beside names and addresses."""
    texts: set[str] = set()
    for path in (ROOT / "site_src" / "overrides").rglob("*.html"):
        source = path.read_text(encoding="utf-8")
        texts.update(found[2] for found in re.finditer(r"\bd\((['\"])(.*?)\1", source))
    return frozenset(text for text in texts if " " in text)


@cache
def messages_in_sources() -> frozenset[Id]:
    with (ROOT / "babel.cfg").open(encoding="utf-8") as config:
        methods, options = parse_mapping_cfg(config)  # type: ignore[no-untyped-call]
    found = extract_from_dir(GUI, methods, options, keywords=KEYWORDS)
    by_babel: set[Id] = {text if isinstance(text, str) else tuple(text) for _, _, text, *_ in found}
    in_modules = (literals_in(path.read_text(encoding="utf-8")) for path in GUI.glob("*.py"))
    return frozenset(by_babel.union(theme_defaults(), *in_modules))


@cache
def catalogue() -> Catalog:
    with CATALOGUE.open("rb") as stream:
        return read_po(stream, abort_invalid=True)


def entries() -> list[Message]:
    return [message for message in catalogue() if message.id]


def id_of(message: Message) -> Id:
    return message.id if isinstance(message.id, str) else tuple(message.id)


def pairs() -> list[tuple[str, str]]:
    """Return every form of every message with its translation."""
    found: list[tuple[str, str]] = []
    for message in entries():
        texts = [message.id] if isinstance(message.id, str) else list(message.id)
        forms = message.string or ""
        strings = [forms] if isinstance(forms, str) else list(forms)
        found += zip(texts, strings, strict=True)
    return found


def test_the_extraction_reads_modules_and_templates() -> None:
    found = messages_in_sources()
    assert "Not judged yet" in found
    assert "Quality, %% of weighted points" in found
    assert ("%(num)s answer", "%(num)s answers") in found
    assert "Page not found" in found
    assert list(literals_in("f'{say(\"In here.\")}'")) == ["In here."]


def test_every_message_is_translated() -> None:
    translated = {id_of(message) for message in entries() if not message.fuzzy}
    assert messages_in_sources() - translated == frozenset()
    assert [text for text, string in pairs() if not string.strip()] == []


def test_no_translation_is_left_over_or_fuzzy() -> None:
    assert {id_of(message) for message in entries()} - messages_in_sources() == set()
    assert list(catalogue().obsolete) == []
    assert [message.id for message in entries() if message.fuzzy] == []


def test_the_catalogue_says_which_plural_it_means_and_names_no_place() -> None:
    assert (catalogue().num_plurals, catalogue().plural_expr) == (2, "(n != 1)")
    assert [message.locations for message in entries() if message.locations] == []


def test_placeholders_are_the_same_in_both_languages() -> None:
    different = [
        (text, string)
        for text, string in pairs()
        if Counter(PLACEHOLDER.findall(text)) != Counter(PLACEHOLDER.findall(string))
    ]
    assert different == []
    assert [string for _, string in pairs() if "%" in PLACEHOLDER.sub("", string)] == []


def test_translations_fit_where_the_source_stood() -> None:
    """Some texts are put together, and the templates take translations for safe HTML."""

    def edges(text: str) -> tuple[str, str]:
        found = re.fullmatch(r"([\s;,]*).*?([\s.:;,?]*)", text, re.DOTALL)
        assert found is not None
        return found[1], found[2]

    assert [pair for pair in pairs() if edges(pair[0]) != edges(pair[1])] == []
    assert [string for _, string in pairs() if re.search(r"[<>&\"']", string)] == []


@pytest.mark.parametrize("kind", [*CLASSES, "mention"])
def test_every_class_of_citation_has_a_german_word(kind: CitationClass) -> None:
    assert Wording(Locale("de")).cited(kind) != Wording(Locale("en")).cited(kind)


# --- numbers, dates, forms -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "digits", "english", "german"),
    [
        (1234.5, None, "1,234.5", "1.234,5"),
        (1234567, None, "1,234,567", "1.234.567"),
        (0.12345, None, "0.123", "0,123"),
        (3.0, 2, "3.00", "3,00"),
        (12.6, 0, "13", "13"),
        (0, None, "0", "0"),
        (-1234.5, 1, "-1,234.5", "-1.234,5"),
    ],
)
def test_numbers(value: float, digits: int | None, english: str, german: str) -> None:
    assert Locale("en").number(value, digits) == english
    assert Locale("de").number(value, digits) == german


@pytest.mark.parametrize(
    ("value", "digits", "english", "german"),
    [
        (65.71, 1, "65.7\u202f%", "65,7\u202f%"),
        (33.333, 0, "33\u202f%", "33\u202f%"),
    ],
)
def test_percentages(value: float, digits: int, english: str, german: str) -> None:
    assert Locale("en").percent(value, digits) == english
    assert Locale("de").percent(value, digits) == german


@pytest.mark.parametrize(
    ("timestamp", "english", "german"),
    [
        ("2026-12-01T09:00:00Z", "1 December 2026", "1. Dezember 2026"),
        ("2026-03-31", "31 March 2026", "31. März 2026"),
        ("last week", "last week", "last week"),
        ("", "–", "–"),
        (None, "–", "–"),
    ],
)
def test_dates(timestamp: str | None, english: str, german: str) -> None:
    assert Locale("en").date(timestamp) == english
    assert Locale("de").date(timestamp) == german


@pytest.mark.parametrize(
    ("number", "english", "german"),
    [
        (0, "0 answers", "0 Antworten"),
        (1, "1 answer", "1 Antwort"),
        (1234, "1,234 answers", "1.234 Antworten"),
    ],
)
def test_plural_forms(number: int, english: str, german: str) -> None:
    for language, expected in (("en", english), ("de", german)):
        words = Wording(Locale(language))
        assert words.count("%(num)s answer", "%(num)s answers", number) == expected


@pytest.mark.parametrize("language", ["en", "de"])
def test_an_unknown_message_is_its_own_translation(language: str) -> None:
    locale = Locale(language)
    assert locale.gettext("Nobody wrote this.") == "Nobody wrote this."
    assert locale.ngettext("%(num)s owl", "%(num)s owls", 1) == "%(num)s owl"
    assert locale.ngettext("%(num)s owl", "%(num)s owls", 3) == "%(num)s owls"


# --- the built site --------------------------------------------------------------------------


@cache
def documents() -> frozenset[str]:
    """Return the pages of hand-written documents, which exist in English only."""
    paths = (path.relative_to(DOCS) for path in DOCS.rglob("*.md"))
    return frozenset(path.with_suffix(".html").as_posix() for path in paths)


class Visible(HTMLParser):
    """Collects what a reader meets outside of what says it is English, and links to such pages."""

    ATTRIBUTES = ("alt", "aria-label", "placeholder", "title")
    DESCRIPTIONS = ("description", "og:title", "og:description")

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self._open: list[tuple[str, bool]] = []

    @property
    def _hidden(self) -> bool:
        return bool(self._open) and self._open[-1][1]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        language = given.get("lang")
        hidden = self._hidden if language is None else language == "en"
        if tag == "a":
            hidden = hidden or (given.get("href") or "").endswith(tuple(documents()))
        if not hidden:
            self.texts += [given[name] or "" for name in self.ATTRIBUTES if name in given]
            if (given.get("name") or given.get("property")) in self.DESCRIPTIONS:
                self.texts.append(given.get("content") or "")
        self._open.append((tag, hidden or tag in ("script", "style")))

    def handle_endtag(self, tag: str) -> None:
        tags = [name for name, _ in self._open]
        if tag in tags:
            del self._open[len(tags) - 1 - tags[::-1].index(tag) :]

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.texts.append(data)


def visible_texts(html: str) -> list[str]:
    reader = Visible()
    reader.feed(html)
    reader.close()
    found = (" ".join(text.split()) for text in reader.texts)
    return [text for text in found if text]


def filled_in(text: str) -> str:
    """Return a pattern for a text with its values filled in, from its first word to its last."""
    core = re.sub(r"^(?:\s|%\(\w+\)s)+|(?:\s|%\(\w+\)s)+$", "", text).replace("%%", "%")
    return ".{1,80}?".join(re.escape(piece) for piece in re.split(r"%\(\w+\)s", core))


def has_two_words(text: str) -> bool:
    return len(re.findall(r"[^\W\d_]{2,}", PLACEHOLDER.sub(" ", text))) >= 2


@cache
def english_texts() -> frozenset[str]:
    """Return the English texts of the site without those that German has too ("Profile")."""
    return frozenset(text for text, _ in pairs()) - {string for _, string in pairs()}


@cache
def english_phrases() -> dict[str, re.Pattern[str]]:
    return {
        text: re.compile(rf"(?<!\w){filled_in(text)}(?!\w)")
        for text in english_texts()
        if has_two_words(text)
    }


def english_in(html: str) -> set[str]:
    """Return the English texts that a page still shows: sentences anywhere, labels as a whole."""
    texts = visible_texts(html)
    whole = " ".join(texts)
    phrases = {text for text, pattern in english_phrases().items() if pattern.search(whole)}
    return phrases | (english_texts() & set(texts))


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ("<p>Not judged yet</p>", {"Not judged yet"}),
        ("<p>1 of 3 models pass the gate</p>", {"%(passed)s of %(all)s models pass the gate"}),
        ("<th>Rank</th>", {"Rank"}),
        ('<a aria-label="All evaluations">x</a>', {"All evaluations"}),
        ("<p>a <b>alpha</b> is knocked out</p>", {"%(model)s is knocked out"}),
        ('<p lang="en">Not judged yet<br><b>Rank</b></p><p>Rang</p>', set()),
        ("<script>Rank</script><p>Noch nicht bewertet, Rank 1<br>", set()),
        ('<p lang="en">Total<br>a <i lang="de">Rank</i></p>', {"Rank"}),
    ],
)
def test_english_is_found_where_it_stands(html: str, found: set[str]) -> None:
    assert found <= english_in(html)
    assert bool(found) == bool(english_in(html))


@pytest.fixture
def bundles(tmp_path: Path) -> Path:
    """Bundles that make the site say most of what it can say; their own texts are German."""
    bundles = tmp_path / "bundles"
    bundles.mkdir()
    for name in ("tiny", "fresh", "out"):
        folder = BundleFolder(bundles / name)
        folder.write("suite.yaml", SUITE)
        folder.write("bundle.yaml", MANIFEST.replace("tiny", name))
        write_answers(folder)
        if name == "tiny":
            write_judgement(folder)
            write_quality(folder)
        if name == "out":
            folder.report({"Q1": 1, "Q2": 1, "Q3": 1})
    free = BundleFolder(bundles / "free")
    free.write(
        "suite.yaml", re.sub(r"(?m)^ko_rule:.*\n", "", SUITE).replace("weight: 3", "weight: 9")
    )
    free.write("bundle.yaml", "format: 1\nid: free\nsuite: {id: small}\nmodels: [model: alpha]\n")
    free.answers("E1")
    free.report({"Q1": 4})
    (bundles / "broken").mkdir()
    (bundles / "broken" / "bundle.yaml").write_text("format: 1\n", encoding="utf-8")
    return bundles


def said_by(pages: list[Path]) -> float:
    """Return which share of the German texts stands on these pages."""
    texts = (text for page in pages for text in visible_texts(page.read_text(encoding="utf-8")))
    whole = " ".join(texts)
    found = [re.search(filled_in(string.strip()), whole) for _, string in pairs()]
    return sum(match is not None for match in found) / len(found)


def test_a_german_site_says_nothing_in_english(bundles: Path) -> None:
    lost = bundles.parent / "lost"
    lost.mkdir()
    write_judged(lost / "tiny-2")
    published = build_site(BuildOptions(lost, bundles.parent / "published")).site
    lock = bundles.parent / "lock.json"
    lock.write_bytes((published / "permalinks.json").read_bytes())
    options = BuildOptions(bundles, bundles.parent / "site", language="de", lock=lock)
    site = build_site(replace(options, tombstone=True, reason="Zu alt.")).site
    pages = sorted(site.rglob("*.html"))
    left = {
        name: found
        for page in pages
        if (name := page.relative_to(site).as_posix()) not in documents()
        and (found := english_in(page.read_text(encoding="utf-8")))
    }
    assert left == {}
    assert said_by(pages) > 0.7  # else the search above finds nothing because nothing is said
    index = (site / "bundles" / "tiny" / "index.html").read_text(encoding="utf-8")
    assert '<html lang="de"' in index
    assert "wegen E1 ausgeschieden" in index


def test_an_empty_german_site_says_nothing_in_english(tmp_path: Path) -> None:
    (tmp_path / "bundles").mkdir()
    site = build_site(BuildOptions(tmp_path / "bundles", tmp_path / "site", language="de")).site
    index = (site / "index.html").read_text(encoding="utf-8")
    assert english_in(index) == set()
    assert "Noch keine Evaluationen" in index
