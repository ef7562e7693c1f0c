"""The site in German: a whole catalogue, numbers and dates as they are written, no English left."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import get_args

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.frontend import parse_mapping_cfg
from babel.messages.pofile import read_po
from conftest import BundleFolder, answer, review, verdict

from touchstone.gui.build import BuildOptions, build_site
from touchstone.gui.bundle_view import CitationClass
from touchstone.gui.locale import Locale
from touchstone.gui.wording import Wording

ROOT = Path(__file__).parents[1]
GUI = ROOT / "touchstone" / "gui"
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
def messages_in_sources() -> frozenset[Id]:
    with (ROOT / "babel.cfg").open(encoding="utf-8") as config:
        methods, options = parse_mapping_cfg(config)  # type: ignore[no-untyped-call]
    found = extract_from_dir(GUI, methods, options, keywords=KEYWORDS)
    by_babel: set[Id] = {text if isinstance(text, str) else tuple(text) for _, _, text, *_ in found}
    in_modules = (literals_in(path.read_text(encoding="utf-8")) for path in GUI.glob("*.py"))
    return frozenset(by_babel.union(*in_modules))


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
    assert " and keeps its rank." in found


def test_every_message_is_translated() -> None:
    translated = {id_of(message) for message in entries() if not message.fuzzy}
    assert messages_in_sources() - translated == frozenset()
    assert [text for text, string in pairs() if not string.strip()] == []


def test_no_translation_is_left_over_or_fuzzy() -> None:
    assert {id_of(message) for message in entries()} - messages_in_sources() == set()
    assert list(catalogue().obsolete) == []
    assert [message.id for message in entries() if message.fuzzy] == []


def test_the_catalogue_says_which_plural_it_means_and_names_no_place() -> None:
    assert catalogue().num_plurals == 2
    assert catalogue().plural_expr == "(n != 1)"
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


@pytest.mark.parametrize("kind", get_args(CitationClass))
def test_every_class_of_citation_has_a_german_word(kind: str) -> None:
    message = "named" if kind == "mention" else kind
    assert Wording(Locale("de")).say(message) != message


# --- numbers, dates, forms -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "digits", "english", "german"),
    [
        (1234.5, None, "1,234.5", "1.234,5"),
        (1234567, None, "1,234,567", "1.234.567"),
        (0.12345, None, "0.123", "0,123"),
        (3.0, None, "3", "3"),
        (3.0, 2, "3.00", "3,00"),
        (2.71828, 1, "2.7", "2,7"),
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
        (100, 1, "100.0\u202f%", "100,0\u202f%"),
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
        ("2026-12-01T23:30:00+00:00", "1 December 2026", "1. Dezember 2026"),
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
        (2, "2 answers", "2 Antworten"),
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


class Visible(HTMLParser):
    """Collects what a reader meets outside of elements that say they are English."""

    ATTRIBUTES = ("alt", "aria-label", "placeholder", "title")
    DESCRIPTIONS = ("description", "og:title", "og:description")
    VOID = frozenset(
        ["area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"]
    )

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
        if not hidden:
            self.texts += [given[name] or "" for name in self.ATTRIBUTES if name in given]
            if (given.get("name") or given.get("property")) in self.DESCRIPTIONS:
                self.texts.append(given.get("content") or "")
        if tag not in self.VOID:
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


def phrase_pattern(text: str) -> re.Pattern[str] | None:
    """Return a pattern for a text with its values filled in; None if it has not two words."""
    pieces = re.split(r"%\(\w+\)s", text.replace("%%", "%"))
    if len(re.findall(r"[^\W\d_]{2,}", " ".join(pieces))) < 2:
        return None
    inner = r".{1,80}?".join(re.escape(piece) for piece in pieces)
    return re.compile(rf"(?<!\w){inner}(?!\w)")


@cache
def english_phrases() -> dict[str, re.Pattern[str]]:
    """Return the English texts of the site and of its theme, those that German shares left out."""
    defaults: set[str] = set()
    for path in (ROOT / "site_src" / "overrides").rglob("*.html"):
        defaults.update(
            found[2] for found in re.finditer(r"d\((['\"])(.*?)\1\)", path.read_text("utf-8"))
        )
    texts = [text for text, string in pairs() if text != string]
    patterns = {text: phrase_pattern(text) for text in [*texts, *sorted(defaults)]}
    return {text: pattern for text, pattern in patterns.items() if pattern is not None}


def english_in(html: str) -> set[str]:
    """Return the English texts that a page still shows: sentences anywhere, labels as a whole."""
    texts = visible_texts(html)
    whole = " ".join(texts)
    labels = {text for text, string in pairs() if text != string}
    return {text for text, pattern in english_phrases().items() if pattern.search(whole)} | (
        labels & set(texts)
    )


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ("<p>Not judged yet</p>", {"Not judged yet"}),
        ("<p>1 of 3 models pass the gate</p>", {"%(passed)s of %(all)s models pass the gate"}),
        ("<th>Rank</th>", {"Rank"}),
        ('<a aria-label="All evaluations">x</a>', {"All evaluations"}),
        ("<p>a <b>alpha</b> is knocked out</p>", {"%(model)s is knocked out"}),
        ('<p lang="en">Not judged yet<br><b>Rank</b></p><p>Rang</p>', set()),
        ('<p lang="en">a <i lang="de">Rank</i></p>', {"Rank"}),
        ("<script>Rank</script><p>Noch nicht bewertet, Rank 1</p>", set()),
    ],
)
def test_english_is_found_where_it_stands(html: str, found: set[str]) -> None:
    assert found <= english_in(html)
    assert bool(found) == bool(english_in(html))


MANIFEST = """\
format: 1
id: tiny
suite: {id: small}
created: 2026-12-01T09:00:00Z
models:
  - {model: alpha, label: Ein Versuch, endpoint: embedded, parameters: {seed: 1}, engine: e1}
  - {model: beta}
  - {model: gamma}
  - {model: delta}
judge: {id: j1, kind: ai, via: exchange}
"""


@pytest.fixture
def bundles(tmp_path: Path) -> Path:
    """Bundles that make the site say nearly everything it can say; their own texts are German."""
    bundles = tmp_path / "bundles"
    bundles.mkdir()
    _write_judged(BundleFolder(bundles / "tiny"))
    unjudged = BundleFolder(bundles / "fresh")
    unjudged.write("bundle.yaml", MANIFEST.partition("judge:")[0].replace("tiny", "fresh"))
    unjudged.answers("E1")
    ungated = BundleFolder(bundles / "open")
    suite = (ungated.path / "suite.yaml").read_text(encoding="utf-8")
    ungated.write("suite.yaml", re.sub(r"(?m)^ko_rule:.*\n", "", suite))
    ungated.write(
        "bundle.yaml", "format: 1\nid: open\nsuite: {id: small}\nmodels: [model: alpha]\n"
    )
    ungated.answers("E1")
    ungated.report({"Q1": 4})
    (bundles / "broken").mkdir()
    (bundles / "broken" / "bundle.yaml").write_text("format: 1\n", encoding="utf-8")
    return bundles


def _write_judged(folder: BundleFolder) -> None:
    suite = (folder.path / "suite.yaml").read_text(encoding="utf-8")
    folder.write("suite.yaml", suite.replace("language: en", "language: de"))
    folder.write("bundle.yaml", MANIFEST)
    failed = {"error": {"type": "timeout", "message": "zu langsam"}}
    folder.write_lines(
        "answers.jsonl",
        *(
            answer(prompt, model, f"Der Text von {model} zu {prompt} ist lang genug.")
            for model in ("alpha", "beta", "delta")
            for prompt in ("E1", "E2", "D1")
        ),
        answer("E1", "gamma", "<think>Erst denken.</think> Dann reden.")
        | {"finish_reason": "length", "duration_s": 1.5, "usage": {"completion_tokens": 7}},
        answer("E2", "gamma", "") | failed,
    )
    folder.write_lines(
        "verdicts.jsonl",
        *(verdict(prompt, "green") for prompt in ("E1", "E2", "D1")),
        verdict("E1", "red", "beta") | {"rationale": "Erfunden.", "quotes": ["Der Text von beta"]},
        *(verdict(prompt, "yellow", "beta") for prompt in ("E2", "D1")),
        *(verdict(prompt, "green", "delta") for prompt in ("E1", "E2", "D1")),
    )
    evidence = [
        {"prompt_id": "E1", "quote": "Der Text von alpha", "polarity": "strength"},
        {"prompt_id": "E2", "quote": "steht nirgends", "polarity": "defect", "severity": "fatal"},
        {"prompt_id": "Z9", "quote": "kein Prompt", "polarity": "defect", "severity": "minor"},
        {"prompt_id": "D1", "kind": "absence", "observation": "Es fehlt.", "severity": "major"},
        {"prompt_id": "D1", "kind": "paraphrase", "observation": "Ungefähr so."},
    ]
    folder.write_lines(
        "reports.jsonl",
        {
            "model": "alpha",
            "variant": "default",
            "dim_scores": {"Q1": 4, "Q2": 3, "Q3": 5, "Q4": None},
            "dim_rationales": {"Q1": "Stark bei E1, schwach bei E2.", "Q2": "Siehe D1."},
            "evidence": {"Q1": evidence},
            "saw": {"answers": 3, "of": 3},
        },
        *(
            {"model": model, "variant": "default", "dim_scores": scores}
            for model, scores in (
                ("beta", {"Q1": 5, "Q2": 5, "Q3": 5, "Q4": 5}),
                ("gamma", {"Q1": 2, "Q2": 2, "Q4": 2}),
                ("delta", {"Q1": 2, "Q2": 2, "Q3": 1, "Q4": 2}),
            )
        ),
    )
    folder.write_lines("reviews.jsonl", review("E2", "accept", "Geprüft."))


def test_a_german_site_says_nothing_in_english(bundles: Path) -> None:
    site = build_site(BuildOptions(bundles, bundles.parent / "site", language="de")).site
    pages = sorted(site.rglob("*.html"))
    left = {
        page.relative_to(site).as_posix(): found
        for page in pages
        if (found := english_in(page.read_text(encoding="utf-8")))
    }
    assert left == {}
    assert len(pages) > 30
    index = (site / "bundles" / "tiny" / "index.html").read_text(encoding="utf-8")
    assert '<html lang="de"' in index
    for word in ("Rang", "bestanden", "nicht beurteilbar", "wegen E1 ausgeschieden", "65,7"):
        assert word in index


def test_an_empty_german_site_says_nothing_in_english(tmp_path: Path) -> None:
    (tmp_path / "bundles").mkdir()
    site = build_site(BuildOptions(tmp_path / "bundles", tmp_path / "site", language="de")).site
    index = (site / "index.html").read_text(encoding="utf-8")
    assert english_in(index) == set()
    assert "Noch keine Evaluationen" in index
