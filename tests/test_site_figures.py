"""Numbers on pages: read by their marks, compared as a reader would; tags read fast and safely."""

from __future__ import annotations

import time
from html import escape
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.gui.link_check import read_links
from touchstone.gui.markup import iter_tags
from touchstone.gui.site_figures import Figures, ShownFigure, difference, read_figures

ALPHA = "bundles/tiny/models/alpha--default.html"
FIGURES = Figures(
    rank=1, gate="passed", quality=200 / 3, points=1234.5, scores={"Q1": 4, "Q2": None}
)
UNRANKED = Figures(rank=None, gate="failed", quality=None, points=None, scores={})


# --- reading -------------------------------------------------------------------------------


def read(html: str) -> list[tuple[str, str, str]]:
    return [(one.kind, one.value, one.text) for one in read_figures(html)[0]]


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ('<p data-of="m"><b data-rank>1</b></p>', [("rank", "", "1")]),
        ('<p data-of="m" data-points>4 <i>9</i>\n</p>', [("points", "", "4 9")]),
        ('<p data-of="m"><b data-score="Q1">4</b></p>', [("score", "Q1", "4")]),
        ('<p data-of="m"><b data-score="A&amp;B">4</b></p>', [("score", "A&B", "4")]),
        ('<P DATA-OF="m" ><B Data-Rank>1</B></P >', [("rank", "", "1")]),
        ('<p data-of="m"><a data-gate="failed"><i></i>K.-o.</a>', [("gate", "failed", "K.-o.")]),
        ('<p data-of="m"><b data-rank>1<br>2<img src="x"></b>', [("rank", "", "12")]),
        ('<p data-of="m"><b data-rank>1&#8239;%<!-- <b> 3 --></b>', [("rank", "", "1 %")]),
        ('<p data-of="m"><b data-rank><b>1</b></b>', [("rank", "", "1")]),
        ('<p data-of="m"></p><b data-rank>1</b>', []),
        ('<b data-rank>1</b><p data-of="m"></p>', []),
        ('<p data-of="m"><b data-rank>never closed', []),
        ('<p data-of="m"></i></b></p></p><b data-of="m"><i data-rank>1</i>', [("rank", "", "1")]),
        ("<p>data-rank 1</p>", []),
        ("", []),
    ],
)
def test_numbers_are_read_by_their_marks(html: str, found: list[tuple[str, str, str]]) -> None:
    assert read(html) == found


def test_a_number_belongs_to_the_innermost_model_around_it() -> None:
    html = (
        '<html lang="de"><div data-of="m"><p data-of="n"><b data-rank>1</b></p><b data-rank>2</b>'
    )
    found, language = read_figures(html)
    assert [(one.of, one.text) for one in found] == [("n", "1"), ("m", "2")]
    assert language == "de"


# --- comparing -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "value", "text", "language"),
    [
        ("rank", "", "1", "en"),
        ("quality", "", "66.7\u202f%", "en"),
        ("quality", "", "66,7\u202f%", "de"),
        ("quality", "", "67 %", "en"),
        ("quality", "", "66.667", "en"),
        ("points", "", "1,234.5", "en"),
        ("points", "", "1.234,5", "de"),
        ("points", "", "1234,5", "de-AT"),
        ("score", "Q1", "4", "en"),
        ("score", "Q2", "–", "en"),
        ("score", "Q2", "", "en"),
        ("gate", "passed", "passed", "en"),
        ("gate", "passed", "bestanden", "de"),
        ("gate", "passed", "a word of another version", "en"),
        ("gate", "passed", "réussi", "fr"),
    ],
)
def test_a_number_may_be_shown_rounded_and_in_the_pages_language(
    kind: str, value: str, text: str, language: str
) -> None:
    assert difference(ShownFigure(ALPHA, kind, value, text), FIGURES, language) == ""


@pytest.mark.parametrize(
    ("kind", "value", "text", "language", "words"),
    [
        ("rank", "", "2", "en", "shows '2' as rank, it is 1"),
        ("rank", "", "–", "en", "shows '–' as rank, it is 1"),
        ("quality", "", "66.6 %", "en", "it is 66.66666667"),
        ("quality", "", "66,7 %", "en", "it is 66.66666667"),
        ("quality", "", "6.6.7", "en", "it is 66.66666667"),
        ("quality", "", "none", "en", "it is 66.66666667"),
        ("points", "", "1,234.4", "en", "it is 1234.5"),
        ("score", "Q1", "5", "en", "shows '5' as score in Q1, it is 4"),
        ("score", "Q2", "1", "en", "shows '1' as score in Q2, there is none"),
        ("score", "Q3", "1", "en", "which the suite lacks"),
        ("gate", "failed", "passed", "en", "it is passed"),
        ("gate", "passed", "K.-o.", "en", "it is passed"),
        ("gate", "passed", "nicht beurteilbar", "de", "it is passed"),
    ],
)
def test_a_number_that_is_another_one_is_said_so(
    kind: str, value: str, text: str, language: str, words: str
) -> None:
    assert words in difference(ShownFigure(ALPHA, kind, value, text), FIGURES, language)


@pytest.mark.parametrize("kind", ["rank", "quality", "points"])
def test_what_is_not_there_is_shown_by_a_dash_alone(kind: str) -> None:
    assert difference(ShownFigure(ALPHA, kind, "", "–"), UNRANKED, "en") == ""
    assert "there is none" in difference(ShownFigure(ALPHA, kind, "", "0"), UNRANKED, "en")


@given(st.floats(0, 100), st.integers(0, 3))
def test_every_number_is_found_in_its_own_rounding_and_not_in_the_next(
    value: float, digits: int
) -> None:
    figures = Figures(rank=1, gate="none", quality=value, points=0, scores={})
    step = 10.0**-digits
    shown = ShownFigure(ALPHA, "quality", "", f"{value:.{digits}f} %")
    other = ShownFigure(ALPHA, "quality", "", f"{value + 2 * step:.{digits}f} %")
    assert difference(shown, figures, "en") == ""
    assert difference(other, figures, "en") != ""


# --- tags ----------------------------------------------------------------------------------


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name in ("href", "src", "xlink:href"):
                self.links.append(value)
            elif value and name == "id":
                self.anchors.add(value)


_WORD = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8)
_ATTRIBUTE = st.builds(
    lambda name, value, mark: f" {name}={mark}{escape(value, quote=True)}{mark}",
    st.sampled_from(["href", "SRC", "id", "class", "data-x", "xlink:href", "title"]),
    _WORD,
    st.sampled_from(["'", '"']),
)
_TAG = st.builds(
    lambda name, attributes, end: f"<{name}{''.join(attributes)}{end}",
    st.sampled_from(["a", "b", "IMG", "section", "h1", "svg"]),
    st.lists(_ATTRIBUTE, max_size=3),
    st.sampled_from([">", " >", "/>"]),
)
_PIECE = st.one_of(
    _TAG,
    st.builds(escape, _WORD),
    st.just("</a>"),
    st.builds(lambda tag: f"<!-- {tag.replace('-', '')} -->", _TAG),
    st.builds(lambda tag: f"<script>{tag.replace('/', '')}</script>", _TAG),
)


@given(st.lists(_PIECE, max_size=12))
def test_links_are_those_that_a_parser_for_all_of_html_finds(pieces: list[str]) -> None:
    html = "".join(pieces)
    parser = _Parser()
    parser.feed(html)
    parser.close()
    found = read_links(html)
    assert (set(found.links), found.anchors) == (set(parser.links), parser.anchors)


@given(st.text("<>/=\"'!-ab \n", max_size=60))
def test_no_text_is_too_odd_to_be_read(html: str) -> None:
    read_links(html)
    read_figures(f"data-of={html}")
    for tag in iter_tags(html):
        assert html[tag.start] == "<"
        assert html[tag.end - 1] == ">"


@pytest.mark.parametrize(
    "piece", ["<a ", '<a "', "<a '\"", "<!--", "<script>", "<title ", "<a x='", '<b="', "<", "</"]
)
def test_a_page_made_to_be_slow_is_read_in_time(piece: str) -> None:
    start = time.process_time()
    read_links(piece * 200_000)
    read_figures(f"data-of={piece * 200_000}")
    assert time.process_time() - start < 5


def test_elements_that_never_end_take_no_more_time_than_others() -> None:
    start = time.process_time()
    assert read_figures('<p data-of="m">' + "<b>" * 50_000 + "</i>" * 50_000)[0] == []
    assert time.process_time() - start < 5
