"""The pages that compare two bundles: what they say, where their numbers lead, what they bear."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import builders_compare as made
import hostile
import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import Watch, open_browser, served
from builders_compare import SUITE, answers, flags, report, write
from conftest import answer
from site_bundles import Structure, build, read, structure_of

from touchstone.errors import SiteError
from touchstone.gui.bundle_view import BundleView
from touchstone.gui.compare import Comparison
from touchstone.gui.compare_conditions import remarks
from touchstone.gui.compare_lists import MOST_DIFFS, MOST_FLAGS
from touchstone.gui.compare_texts import diff_html
from touchstone.gui.loading import Site, load_site
from touchstone.gui.locale import Locale
from touchstone.gui.pages import PageMaker
from touchstone.gui.site_figures import Figures, difference, read_figures
from touchstone.gui.word_diff import diff_texts
from touchstone.gui.wording import Wording

ENGLISH = Wording(Locale("en"))
PAIR = "compare/notes-1--notes-2.html"
UNJUDGED = "compare/notes-2--notes-3.html"
TWINS = "compare/twin-1--twin-2.html"
OTHER_JUDGE = "compare/twin-2--twin-3.html"
MANY = "compare/many-1--many-2.html"
PAGES = (PAIR, UNJUDGED, TWINS, OTHER_JUDGE, MANY)
MANY_PROMPTS = 35


def write_twin(folder: Path, day: int, fingerprint: str) -> None:
    """Write a bundle that is like its twins but for the date and, perhaps, the judge."""
    evidence = {"Q1": [made.quoted("E1", "Beta one")]}
    records = {
        "answers": answers({"beta": made.BEFORE["beta"]}),
        "verdicts": flags({"beta": {"E1": "green", "E2": "yellow", "E3": "green", "D1": "green"}}),
        "reports": [report("beta", 4, 4, 4, evidence=evidence)],
    }
    suite = SUITE | {"id": "twins"}
    facts = {"created": f"2026-12-0{day}T00:00:00Z", "judges": [made.judge(fingerprint)]}
    write(folder, ["beta"], records, suite=suite, **facts)


def write_many(folder: Path, day: int) -> None:
    """Write a bundle of which every answer and every second flag is another one each day."""
    prompts = [{"id": f"P{number}", "text": "Write."} for number in range(MANY_PROMPTS)]
    texts = {
        name: {
            one["id"]: f"The {name} answer to {one['id']} on day {day} is here." for one in prompts
        }
        for name in ("alpha", "beta")
    }
    colours = {
        name: {
            one["id"]: "green" if day == 1 or at % 2 else "red" for at, one in enumerate(prompts)
        }
        for name in texts
    }
    records = {"answers": answers(texts), "verdicts": flags(colours)}
    suite = SUITE | {"id": "many", "prompts": prompts}
    write(folder, list(texts), records, suite=suite, created=f"2026-12-0{day}T00:00:00Z")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bundles = tmp_path_factory.mktemp("compare") / "bundles"
    made.write_before(bundles / "notes-1")
    made.write_after(bundles / "notes-2")
    records = {"answers": answers(made.AFTER)}
    facts = {"created": "2026-12-02T09:00:00Z", "title": "Not judged"}
    write(bundles / "notes-3", ["alpha", "beta"], records, suite=made.later_suite(), **facts)
    for day, fingerprint in enumerate((made.FIRST, made.FIRST, made.SECOND), start=1):
        write_twin(bundles / f"twin-{day}", day, fingerprint)
    for day in (1, 2):
        write_many(bundles / f"many-{day}", day)
    return build(bundles)


def page(site: Path, name: str) -> Structure:
    return structure_of(read(site, name))


def links_in(html: str, text: str) -> list[str]:
    """Return where the links with these words lead."""
    found = re.findall(r'<a [^>]*?href="([^"]*)"[^>]*>(.*?)</a>', html, re.DOTALL)
    return [url for url, words in found if re.sub(r"<[^>]+>|\s", "", words) == text]


# --- which pages, and their structure ------------------------------------------------------


def test_every_bundle_is_compared_with_the_one_before_it(site: Path) -> None:
    assert sorted(f"compare/{path.name}" for path in (site / "compare").iterdir()) == sorted(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_sound(site: Path, name: str) -> None:
    found = page(site, name)
    assert found.wrong == []
    assert [text for level, text in found.headings if level == 2][:1] == ["Conditions#"]
    assert ("../index.html", "Evaluations") in found.links


def test_the_finding_comes_first_and_the_gate_before_the_quality(site: Path) -> None:
    text = page(site, PAIR).text
    assert (
        "November →and then December The K.-o. gate now says otherwise of alpha (default) "
        "(passed → K.-o.), beta (default) (passed → not assessable). beta (default) moved most: "
        "Quality 100.0 % → 86.7 % (−13.3 percentage points)."
    ) in text
    assert "Different judges: a difference in scores, flags or citations may come from" in text
    assert "so Quality is measured on another scale" in text


# --- conditions and suite ------------------------------------------------------------------


def test_conditions_stand_side_by_side(site: Path) -> None:
    text = page(site, PAIR).text
    for row in (
        "Judge judge-x (AI) judge-x (AI) = the same",
        f"Fingerprint {made.FIRST} {made.SECOND} ≠ differs",
        "Mode all answers at once all answers at once = the same",
        'Parameters – {"temperature": 0.5} ≠ differs',
        "Decisions 1 0 ≠ differs",
        "alpha (default): name alpha-old (default) alpha (default) ≠ differs",
    ):
        assert row in text


def test_changes_of_the_suite_are_listed_with_links_to_what_is_there(site: Path) -> None:
    text = page(site, PAIR).text
    for row in (
        "Dimension Q1 Correctness × 3 Q1 Correctness × 2 weight",
        "Dimension – Q4 Form × 1 new",
        "Prompt D1 – gone",
        "Prompt E2 E2 expectation",
    ):
        assert row in text
    urls = [url for url in links_in(read(site, PAIR), "D1") if "#" not in url]
    assert urls == ["../bundles/notes-1/prompts/D1.html"]


def test_models_in_one_bundle_alone_are_named(site: Path) -> None:
    found = page(site, PAIR)
    assert "Only before: gonedefault" in found.text
    assert "Only after: newdefault" in found.text
    assert ("../bundles/notes-1/models/gone--default.html", "gonedefault") in found.links


# --- numbers -------------------------------------------------------------------------------


def test_every_score_leads_to_the_rationale_of_its_own_bundle(site: Path) -> None:
    html = read(site, PAIR)
    old, new = "../bundles/notes-1/models/", "../bundles/notes-2/models/"
    assert f"{old}alpha-old--default.html#q1" in links_in(html, "4")
    assert links_in(html, "2") == [f"{new}alpha--default.html#q1"]
    assert f"{new}beta--default.html#q4" in links_in(html, "3")
    assert f"{old}beta--default.html#q4" not in html
    assert "alphadefaultbefore: alpha-old (default)" in page(site, PAIR).text


def test_differences_have_a_sign_and_an_arrow(site: Path) -> None:
    text = page(site, PAIR).text
    assert "Q1 Correctness × 3 → 2 Q1 Correctness: 4 before, 2 after 4 2 ↓ −2" in text
    assert "Q2 Tone × 2 Q2 Tone: 3 before, 4 after 3 4 ↑ +1" in text
    assert "Q3 Safety × 1 Q3 Safety: 5 before, 5 after 5 5 = ±0" in text
    assert "Q4 Form × 1 not in the suite before –not in the suite 3 –" in text
    assert "76.7 % →66.7 % ↓ −10.0on what both scored: −8.0" in text


@pytest.mark.parametrize("name", [PAIR, TWINS, OTHER_JUDGE, UNJUDGED])
def test_numbers_are_marked_and_are_those_of_their_bundles(site: Path, name: str) -> None:
    views = load_site(site.parent / "bundles").views
    expected = {view.links.model(row.pair): Figures.of(row) for view in views for row in view.rows}
    shown, language = read_figures(read(site, name))
    assert len(shown) >= 6
    assert [why for one in shown if (why := difference(one, expected[one.of], language))] == []


def test_numbers_are_written_as_in_the_language_of_the_site(tmp_path: Path) -> None:
    views = [made.write_before(tmp_path / "notes-1"), made.write_after(tmp_path / "notes-2")]
    maker = PageMaker(Site(views), Locale("de"))
    html = next(one.body for one in maker.iter_pages() if one.path == PAIR)
    assert "100,0\u202f%" in html
    assert "−13,3" in html
    assert "1. November 2026" in html


# --- answers, flags, citations -------------------------------------------------------------


def test_changed_answers_are_shown_word_by_word_with_both_links(site: Path) -> None:
    html = read(site, PAIR)
    assert (
        'It costs <del class="ts-d-del"><b aria-hidden="true">−</b><span class="ts-sr"> removed: '
        '</span>10</del><ins class="ts-d-ins"><b aria-hidden="true">+</b><span class="ts-sr"> '
        "added: </span>12</ins> euros."
    ) in html
    assert "2 of 6 answers have another text." in page(site, PAIR).text
    for url in (
        "notes-1/prompts/E1.html#alpha-old--default",
        "notes-2/prompts/E1.html#alpha--default",
    ):
        assert f'href="../bundles/{url}"' in html


def test_flags_that_changed_are_listed_worst_first(site: Path) -> None:
    text = page(site, PAIR).text
    assert (
        "3 of 6 answers have another flag: 1 worse, 1 better, 1 with no verdict before or after."
    ) in text
    rows = text.partition("Answers whose flag has changed")[2].partition("Citations#")[0]
    assert re.findall(r"(E\d) (?:alpha|beta)default (.*?) (?:the same|changed)", rows) == [
        ("E1", "green →red"),
        ("E3", "yellow →green"),
        ("E2", "green →no verdict"),
    ]


def test_citations_that_changed_are_listed_by_model_and_dimension(site: Path) -> None:
    text = page(site, PAIR).text.partition("Citations#")[2]
    assert text.strip().startswith(
        "Citations: 2 of another class, 1 new, 1 gone. 1 quote that stood in its answer does not "
        "stand there any more."
    )
    assert "Q1 Correctness another class: 2 · new: 1 · other words: 1" in text
    assert "another class E1, verbatim verbatim E1unverifiable It costs 10 euros" in text
    assert "new – E9dangling nowhere" in text
    assert "gone D1 named –" in text


# --- special pairs -------------------------------------------------------------------------


def test_equal_bundles_are_said_to_be_equal(site: Path) -> None:
    text = page(site, TWINS).text
    for sentence in (
        "No score has changed.",
        "The same judge and the same answers: what differs below shows how far",
        "The same, letter for letter: 3 answers.",
        "No flag has changed: 3 answers.",
        "The same answers are cited, and every citation has the class it had.",
    ):
        assert sentence in text
    assert "<details" not in read(site, TWINS).partition('<div class="ts">')[2]


def test_with_another_judge_of_the_same_answers_it_is_the_judge(site: Path) -> None:
    text = page(site, OTHER_JUDGE).text
    assert "Different judges, the same answers: no difference below comes from the models" in text
    assert "removed:" not in text


def test_a_bundle_that_is_not_judged_is_compared_by_its_answers(site: Path) -> None:
    text = page(site, UNJUDGED).text
    assert "There are no scores to compare. The same, letter for letter: 6 answers." in text
    assert "“Not judged” is not judged yet, so scores, flags and citations" in text
    assert "Not to be compared: one of the bundles has no flags." in text
    assert "Not to be compared: no model has a report in both bundles." in text
    assert "K.-o.by E1 →not assessable 66.7 % →– – Rank" in text


def test_of_many_changes_the_first_are_shown_and_the_others_are_links(site: Path) -> None:
    html, text = read(site, MANY), page(site, MANY).text
    assert html.count('<div class="ts-diff"') == MOST_DIFFS
    assert "70 of 70 answers have another text." in text
    rest = text.partition("Further answers with another text:")[2].partition("Flags#")[0]
    # First the 36 that are red now, 18 of each model; then 14 of the other 17 of alpha.
    assert [int(one) for one in re.findall(r"default: (\d+)", rest)] == [3, 17]
    assert len(re.findall(r"\(before\)", rest)) == 70 - MOST_DIFFS
    shown = text.partition("Answers whose flag has changed")[2]
    assert shown.partition("Further answers")[0].count("→red") == MOST_FLAGS
    assert "green → red · beta default: 6" in " ".join(shown.split())
    assert len(html) < 300_000


def test_answers_stay_out_of_the_search_index(site: Path) -> None:
    entries = json.loads(read(site, "search/search_index.json"))["docs"]
    texts = [one["text"] for one in entries if one["location"].startswith("compare/notes-1--")]
    found = " ".join(texts)
    assert "moved most" in found
    assert "Different judges" in found
    for words in ("we think", "12", "costs 10 euros", "It costs"):
        assert words not in found.partition("Conditions")[2]


# --- asked for, refused --------------------------------------------------------------------


def test_a_page_can_be_asked_for(site: Path) -> None:
    bundles = load_site(site.parent / "bundles")
    wanted = [("notes-3", "notes-1"), ("notes-1", "notes-2")]
    maker = PageMaker(bundles, Locale("en"), wanted=wanted)
    names = [one.path for one in maker.iter_pages() if one.path.startswith("compare/")]
    assert names.count(PAIR) == 1
    assert len(names) == len(PAGES) + 1
    assert names[-1] == "compare/notes-3--notes-1.html"
    with pytest.raises(SiteError, match="different suites"):
        PageMaker(bundles, Locale("en"), wanted=[("notes-1", "twin-1")])


# --- judges that were asked again ----------------------------------------------------------


def with_probes(view: BundleView, share: object, *, is_stale: bool = False) -> BundleView:
    figures = {
        "hashes": {"bundle": "0" * 64 if is_stale else view.bundle.sha256},
        "probes": {"repeat": {"equal": {"value": share}}},
    }
    path = view.bundle.quality_paths[0]
    path.write_text(json.dumps(figures), encoding="utf-8")
    return BundleView(view.bundle)


@pytest.mark.parametrize(
    ("share", "is_stale", "said"),
    [
        (0.875, False, "Asked again, judge-x gave the same score in 88\u202f% of the cases."),
        (0.875, True, "How far a judge repeats itself was not probed."),
        (7, False, "How far a judge repeats itself was not probed."),
        ("x", False, "How far a judge repeats itself was not probed."),
        (None, False, "How far a judge repeats itself was not probed."),
    ],
)
def test_the_judges_own_noise_is_told_if_it_is_known(
    tmp_path: Path, share: object, is_stale: bool, said: str
) -> None:
    for day in (1, 2):
        write_twin(tmp_path / f"twin-{day}", day, made.FIRST)
    first, second = load_site(tmp_path).views
    comparison = Comparison(with_probes(first, share, is_stale=is_stale), second)
    assert said in remarks(comparison, ENGLISH)


# --- texts ---------------------------------------------------------------------------------


def diffed(before: str, after: str) -> str:
    """Return the diff of two texts as HTML, without the words for assistive software."""
    html = str(diff_html(diff_texts(before, after).pieces, ENGLISH))
    html = re.sub(r'<span class="ts-sr">[^<]*</span>| class="[^"]*"| aria-hidden="true"', "", html)
    return html.replace("<b>", "").replace("</b>", "")


@pytest.mark.parametrize(
    ("before", "after", "html"),
    [
        ("a b", "a\nb", "a<del>−␣</del><ins>+↵\n</ins>b"),
        ("a\r\nb", "a\nb", "a<del>−␍↵\n</del><ins>+↵\n</ins>b"),
        ("a b", "a\u00a0b", "a<del>−␣</del><ins>+⍽</ins>b"),
        ("a b", "a \tb", "a <ins>+⇥</ins>b"),
        ("ab c", "a\u200bb c", "<del>−ab</del><ins>+a⟨U+200B⟩b</ins> c"),
        ("a \u200d b", "a b", "a<del>−␣⟨U+200D⟩</del> b"),
        ("a", "a b\nc", "a<ins>+ b↵\nc</ins>"),
        ("a <b>", "a <i>", "a &lt;<del>−b</del><ins>+i</ins>&gt;"),
        ("x\x00", "x\x1b", "x<del>−␀</del><ins>+␛</ins>"),
        ("e \ud800", "e \u202e", "e <del>−\ufffd</del><ins>+\ufffd</ins>"),
    ],
)
def test_what_changed_is_escaped_and_visible(before: str, after: str, html: str) -> None:
    assert diffed(before, after) == html


def changed_page(tmp_path: Path, before: dict[str, Any], after: dict[str, Any]) -> str:
    """Return the page about one answer that was like this, and is like that."""
    views = [
        write(
            tmp_path / name,
            ["alpha"],
            {"answers": [answer("E1", "alpha", "") | changes]},
        )
        for name, changes in (("a", before), ("b", after))
    ]
    maker = PageMaker(Site(views), Locale("en"))
    return next(one.body for one in maker.iter_pages() if one.path.startswith("compare/"))


FAILED = {"error": {"type": "timeout"}}


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ({"text": "Well."}, FAILED, "The answer fails now."),
        (FAILED, {"text": "Well."}, "The answer failed before."),
        (FAILED | {"text": "x"}, FAILED | {"text": "y"}, "The answer failed both times."),
        ({"text": "x" * 70_000}, {"text": "y"}, "70,000 characters before, 1 after."),
        ({"text": "One thing."}, {"text": "Quite another!"}, "whole lines and sentences"),
        ({"text": "a b"}, {"text": "a  b"}, "only white space or punctuation"),
    ],
)
def test_what_cannot_be_shown_word_by_word_is_said(
    tmp_path: Path, before: dict[str, Any], after: dict[str, Any], said: str
) -> None:
    html = changed_page(tmp_path, before, after)
    assert said in structure_of(html).text
    assert ('<div class="ts-diff"' in html) == (
        "text" in before and "text" in after and "70" not in said and "both" not in said
    )


class _Attributes(HTMLParser):
    """Collects what could run on a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        if tag in ("script", "iframe", "object", "img", "style", "base", "meta", "form"):
            self.found.append(tag)
        self.found += [name for name, _ in attrs if name.startswith("on")]
        self.found += [
            value or "" for name, value in attrs if name == "href" and ":" in (value or "")
        ]


def test_hostile_names_and_texts_stay_text(tmp_path: Path) -> None:
    names = ("h<b onclick=x>", 'h"><img src=x onerror=y>')
    for at, name in enumerate(names):
        folder = hostile.write_hostile_bundle(tmp_path / "bundles" / name)
        path = folder / "answers.jsonl"
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        changed = [one | {"text": f"{'{{ 7*7 }}' * at}{one['text']}</div>{at}"} for one in lines]
        path.write_text("".join(json.dumps(one) + "\n" for one in changed), encoding="utf-8")
    site = build(tmp_path / "bundles")
    (compared,) = (site / "compare").iterdir()
    html = compared.read_text(encoding="utf-8").partition('<div class="ts">')[2]
    parser = _Attributes()
    parser.feed(html.partition("</article>")[0])
    assert parser.found == []
    found = structure_of(compared.read_text(encoding="utf-8"))
    assert found.wrong == []
    assert "{{ 7*7 }}" in found.text
    assert "<script>window.pwned=1;alert(1)</script>" in found.text
    assert compared.stat().st_size < 2_000_000


# --- in a browser --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with served(site) as url:
        yield url


@pytest.mark.browser
@pytest.mark.xdist_group("site-browser")
@pytest.mark.parametrize("name", [PAIR, MANY])
def test_pages_fit_and_have_no_barriers(name: str, address: str) -> None:
    complaints: list[str] = []
    with open_browser() as chromium:
        for width in (1440, 360):
            for scheme in ("light", "dark"):
                context = chromium.new_context(color_scheme=scheme)
                page = context.new_page()
                page.set_viewport_size({"width": width, "height": 900})
                watch = Watch(page, address)
                page.goto(address + name)
                page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
                root = "document.documentElement"
                wider = page.evaluate(f"() => {root}.scrollWidth - {root}.clientWidth")
                found = [f"{wider} px wider"] if wider > 0 else []
                found += [one["id"] for one in Axe().run(page).response["violations"]]
                complaints += [f"{width} {scheme}: {one}" for one in [*watch.complaints, *found]]
                context.close()
    assert complaints == []
