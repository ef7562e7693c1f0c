"""Every citation of a bundle and what became of it: in the answers, on a page, as data."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import Watch, open_browser, served
from conftest import Outcome
from evidence_bundles import ANSWERS, E1, EVIDENCE, reports, write_evidence
from playwright.sync_api import Browser, Page
from site_bundles import build, read, structure_of, write_judged

from touchstone.bundle import Bundle
from touchstone.evidence import CLASSES
from touchstone.gui.build import BuildOptions, build_site
from touchstone.gui.bundle_view import BAD, WEAK, BundleView
from touchstone.gui.evidence_json import evidence_entries
from touchstone.gui.evidence_pages import evidence_page_data
from touchstone.gui.locale import Locale
from touchstone.gui.wording import Wording

ROOT = Path(__file__).parents[1]
PAGE = "bundles/proof/evidence.html"
ALPHA = ("alpha", "default")
NUMBERS = {kind: number for number, kind in enumerate(EVIDENCE, start=1)}
MARKED = {
    "verbatim": ["The meeting moves to Tuesday at ten."],
    "normalised": ["Please bring the **signed** contract"],
    "in_parts": ["The meeting moves", "approved by the whole board"],
    "near": ["has to be approved by the whole board on that day"],
    "too_short": ["at ten"],
    "absence_failed": ["budget"],
}


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evidence") / "bundles"
    folder.mkdir()
    write_evidence(folder / "proof")
    return folder


@pytest.fixture(scope="module")
def view(bundles: Path) -> BundleView:
    return BundleView(Bundle.open(bundles / "proof"))


@pytest.fixture(scope="module")
def site(bundles: Path) -> Path:
    return build(bundles)


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with served(site) as url:
        yield url


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


# --- the view ------------------------------------------------------------------------------


def test_the_bundle_has_evidence_of_every_class(view: BundleView) -> None:
    assert set(EVIDENCE) == set(CLASSES)
    assert [one.kind for one in view.citations(ALPHA, "Q1")] == list(EVIDENCE)


def test_spans_are_the_words_of_the_cited_answer(view: BundleView) -> None:
    found = {
        one.kind: [E1[start:end] for start, end in one.spans]
        for one in view.citations(ALPHA, "Q1")
        if one.is_marked
    }
    assert found == MARKED


def test_what_does_not_hold_comes_first_and_what_is_weak_is_neither(view: BundleView) -> None:
    kinds = [one.kind for one in view.evidence(ALPHA, "Q1")]
    assert set(kinds[:6]) == BAD
    assert {one.kind for one in view.citations(ALPHA, "Q1") if one.is_weak} == WEAK
    (cell, _) = view.line_of[ALPHA].cells
    assert (cell.found, cell.bad) == (3, 6)


# --- in the answers and rationales ---------------------------------------------------------


@pytest.mark.parametrize("kind", MARKED)
def test_the_words_of_a_citation_are_marked_at_its_anchor(site: Path, kind: str) -> None:
    page = read(site, "bundles/proof/prompts/E1.html")
    anchor = f"alpha--default.q1.{NUMBERS[kind]}"
    assert page.count(f'id="{anchor}"') == 1
    assert f'href="#{anchor}"' in page
    report = read(site, "bundles/proof/models/alpha--default.html")
    assert f'href="../prompts/E1.html#{anchor}"' in report


@pytest.mark.parametrize("kind", sorted(set(EVIDENCE) - set(MARKED)))
def test_words_that_stand_elsewhere_or_nowhere_have_no_anchor(site: Path, kind: str) -> None:
    page = read(site, "bundles/proof/prompts/E1.html")
    assert f".q1.{NUMBERS[kind]}" not in page


def test_every_part_of_a_quote_is_marked_and_one_link_leads_back(site: Path) -> None:
    body = read(site, "bundles/proof/prompts/E1.html")
    body = body.partition('<div class="ts-body"')[2].partition("</div>")[0]
    marked = re.sub(r"<(?!/?mark)[^>]+>", "", body)
    assert '<mark class="ts-q" title="Q1">approved by the whole board' in marked
    assert body.count('class="ts-back"') == len(MARKED)


def test_words_of_another_answer_lead_there_and_say_so(site: Path) -> None:
    page = structure_of(read(site, "bundles/proof/models/alpha--default.html"))
    links = {text: url for url, text in page.links}
    assert links["E1another answerE2"] == "../prompts/E2.html#alpha--default"
    assert links["E1another model’s answerE1, beta (default)"] == (
        "../prompts/E1.html#beta--default"
    )


def test_a_rationale_shows_made_up_ids_and_what_became_of_its_quotes(site: Path) -> None:
    text = structure_of(read(site, "bundles/proof/models/alpha--default.html")).text
    assert "says “The meeting moves to Tuesday at ten.”, verbatim, but" in text
    assert "a party for everyone in the garden”unverifiable. E99dangling is worse." in text


def test_the_legend_explains_every_class(site: Path) -> None:
    page = read(site, "bundles/proof/models/alpha--default.html")
    assert page.partition('<dl class="ts-marks">')[2].count("<dt>") == len(CLASSES)


# --- the page ------------------------------------------------------------------------------


def test_the_page_counts_what_was_found_and_what_was_not(site: Path) -> None:
    page = structure_of(read(site, PAGE))
    assert page.wrong == []
    assert page.headings[0] == (1, "3 of 10 quotes stand in the answers they are said to come from")
    # Wilson: 3 of 10 is 30 %, 10.8 to 60.3 %.
    assert "fidelity 30 % 95 % interval 11 % to 60 %" in page.text
    assert "answers cited 3 / 6 red-flagged answers cited 0 / 1 mean position 0.50" in page.text
    assert "red-flagged, and not cited: D1" in page.text
    assert "a score of 4 or 5, and nothing but defects as evidence" in page.text
    assert "(only in the rationale: E99; only in the evidence: Z9, D1)" in page.text
    assert "Beside ids the rationales quote 2 passages; 1 found in the answers named." in page.text


@pytest.mark.parametrize("kind", CLASSES)
def test_every_class_is_a_target_and_leads_to_its_first_citation(site: Path, kind: str) -> None:
    page = read(site, PAGE)
    row = page.partition(f'id="class-{kind}"')[2].partition("</tr>")[0]
    assert f'href="#first-{kind}"' in row
    first = page.partition(f' data-class="{kind}"')[2].partition("</td>")[0]
    assert f'<span class="ts-a" id="first-{kind}"></span>' in first


def test_the_list_holds_every_citation_those_that_fail_first(site: Path) -> None:
    kinds = re.findall(r'data-class="([a-z_]+)"', read(site, PAGE))
    assert len(kinds) == len(EVIDENCE)
    assert set(kinds[:6]) == BAD
    assert set(kinds[6:8]) == WEAK


def test_scorecard_tabs_and_reports_lead_to_the_page(site: Path) -> None:
    scorecard = read(site, "bundles/proof/index.html")
    assert '<dd><a href="evidence.html">3 / 10</a></dd>' in scorecard
    assert '<a href="evidence.html">Evidence</a>' in scorecard
    assert 'href="../evidence.html"' in read(site, "bundles/proof/models/alpha--default.html")
    assert '<a href="evidence.html" aria-current="true">' in read(site, PAGE)


def test_quotes_stay_out_of_the_search_index(site: Path) -> None:
    index = json.loads(read(site, "search/search_index.json"))
    assert not any("evidence.html" in one["location"] for one in index["docs"])


def test_many_citations_are_folded_by_model(tmp_path: Path) -> None:
    folder = write_evidence(tmp_path / "many")
    folder.write_lines("reports.jsonl", *reports([EVIDENCE["verbatim"]] * 2001))
    data = evidence_page_data(BundleView(folder.open()), Wording(Locale("en")))
    assert data["is_folded"]
    assert len(data["models"][0].rows) == 2001


def test_a_german_site_names_the_classes_in_german(tmp_path: Path) -> None:
    (tmp_path / "bundles").mkdir()
    write_evidence(tmp_path / "bundles" / "proof")
    text = structure_of(read(build(tmp_path / "bundles", language="de"), PAGE)).text
    for word in ("wörtlich", "normalisiert", "in Teilen", "nicht belegbar"):
        assert word in text
    assert "verbatim" not in text


def test_hostile_quotes_are_shown_and_do_nothing(tmp_path: Path) -> None:
    (tmp_path / "bundles").mkdir()
    folder = write_evidence(tmp_path / "bundles" / "proof")
    evil = "<script>alert(1)</script>\x00\u202e\ud800 <img src=x onerror=alert(1)> " + "x" * 5000
    hostile = {"prompt_id": evil[:60], "quote": evil, "observation": evil, "polarity": "defect"}
    absent = {"prompt_id": "E1", "kind": "absence", "absent_terms": [evil]}
    folder.write_lines("reports.jsonl", *reports([hostile, absent, {**hostile, "prompt_id": "E1"}]))
    site = build(tmp_path / "bundles")
    page = read(site, PAGE)
    assert "<script>alert" not in page
    assert "<img" not in page.partition('<div class="ts">')[2]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;␀��" in page
    assert structure_of(page).wrong == []
    entries = json.loads(read(site, "bundles/proof/evidence.json"))
    assert entries[0]["quote"] == evil


# --- the data ------------------------------------------------------------------------------


def test_the_data_says_where_the_words_stand(site: Path, view: BundleView) -> None:
    entries = json.loads(read(site, "bundles/proof/evidence.json"))
    assert entries == list(evidence_entries(view))
    by_class: dict[str, dict[str, Any]] = {one["class"]: one for one in entries}
    assert [one["n"] for one in entries] == list(range(1, 14))
    parts = by_class["in_parts"]
    assert [E1[start:end] for start, end in parts["spans"]] == MARKED["in_parts"]
    assert (parts["start"], parts["end"]) == (parts["spans"][0][0], parts["spans"][-1][1])
    far = by_class["cross_model"]
    assert far["place"] == ["beta", "default", "E1"]
    assert (far["start"], far["end"]) == (None, None)
    ((start, end),) = far["spans"]
    assert ANSWERS["beta", "E1"][start:end] == far["quote"]
    assert by_class["dangling"]["answer_sha256"] is None
    assert {by_class[kind]["start"] for kind in set(EVIDENCE) - set(MARKED)} == {None}


def test_two_builds_are_the_same_byte_for_byte(bundles: Path, site: Path, tmp_path: Path) -> None:
    copy = tmp_path / "bundles"
    copy.mkdir()
    write_evidence(copy / "proof")
    again = build(copy)
    for name in (PAGE, "bundles/proof/evidence.json", "bundles/proof/prompts/E1.html"):
        assert (again / name).read_bytes() == (site / name).read_bytes()


def test_a_site_with_evidence_of_every_class_passes_verify(
    site: Path, touchstone: Callable[..., Outcome]
) -> None:
    outcome = touchstone("verify", site)
    assert outcome.code == 0, outcome.err


# --- demanded evidence ---------------------------------------------------------------------


def test_bad_evidence_stops_a_build_and_leaves_the_site_alone(
    tmp_path: Path, touchstone: Callable[..., Outcome]
) -> None:
    (tmp_path / "bundles").mkdir()
    write_evidence(tmp_path / "bundles" / "proof")
    where = ("--bundles", tmp_path / "bundles", "--site-dir", tmp_path / "site")
    assert touchstone("build-site", *where).code == 0
    before = {one: one.read_bytes() for one in (tmp_path / "site").rglob("*") if one.is_file()}
    outcome = touchstone("build-site", *where, "--require-evidence")
    assert outcome.code == 6
    assert "proof, alpha (default): Q1 at Z9: dangling" in outcome.err
    assert "Q1 at E1: unverifiable, “words that stand in no answer of this bundle”" in outcome.err
    assert "untouched" in outcome.err
    after = {one: one.read_bytes() for one in (tmp_path / "site").rglob("*") if one.is_file()}
    assert after == before


@pytest.mark.parametrize(
    ("options", "code"),
    [
        # Alpha: 4 of 9 hold (44.4 %), Z9 and E99 lead nowhere.
        (("--min-fidelity", "44", "--max-dangling", "2"), 0),
        (("--min-fidelity", "45", "--max-dangling", "2"), 6),
        (("--min-fidelity", "44", "--max-dangling", "1"), 6),
        (("--max-dangling", "2"), 6),
        ((), 0),
    ],
)
def test_less_can_be_demanded(
    tmp_path: Path, touchstone: Callable[..., Outcome], options: tuple[str, ...], code: int
) -> None:
    (tmp_path / "bundles").mkdir()
    folder = write_evidence(tmp_path / "bundles" / "proof")
    folder.write_lines("reports.jsonl", reports(list(EVIDENCE.values()))[0])
    where = ("--bundles", tmp_path / "bundles", "--site-dir", tmp_path / "site")
    assert touchstone("build-site", *where, *options).code == code
    assert (tmp_path / "site" / "index.html").exists() is (code == 0)


def test_of_many_bad_citations_the_first_twenty_are_named(
    tmp_path: Path, touchstone: Callable[..., Outcome]
) -> None:
    (tmp_path / "bundles").mkdir()
    folder = write_evidence(tmp_path / "bundles" / "proof")
    folder.write_lines("reports.jsonl", reports([EVIDENCE["unverifiable"]] * 25)[0])
    where = ("--bundles", tmp_path / "bundles", "--site-dir", tmp_path / "site")
    outcome = touchstone("build-site", *where, "--min-fidelity", "1", "--max-dangling", "9")
    assert outcome.code == 6
    assert outcome.err.count("Q1 at E1: unverifiable") == 20
    assert "and 5 more" in outcome.err


# --- in a browser --------------------------------------------------------------------------


def rows_shown(page: Page) -> int:
    return page.locator(".ts-evl tbody tr:visible").count()


def test_the_list_can_be_narrowed_down(address: str, chromium: Browser) -> None:
    page = chromium.new_page()
    watch = Watch(page, address)
    page.goto(address + PAGE)
    assert rows_shown(page) == 13
    page.locator("select[data-filter=class]").select_option("unverifiable")
    assert rows_shown(page) == 1
    assert page.locator(".ts-filter output").inner_text() == "1 / 13"
    page.locator("select[data-filter=dimension]").select_option("q2")
    assert rows_shown(page) == 0
    # A link to a citation that is not shown shows it.
    page.locator('#class-verbatim a[href="#first-verbatim"]').click()
    assert page.locator("tr:has(#first-verbatim)").is_visible()
    assert watch.complaints == []
    page.close()


def test_without_javascript_the_list_is_whole(address: str, chromium: Browser) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address + PAGE)
    assert not page.locator(".ts-filter").is_visible()
    assert rows_shown(page) == 13
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 360])
def test_the_page_is_sound_however_it_is_looked_at(
    address: str, chromium: Browser, scheme: Any, width: int
) -> None:
    page = chromium.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
    for name in (PAGE, "bundles/proof/prompts/E1.html", "bundles/proof/models/alpha--default.html"):
        page.goto(address + name)
        root = "document.documentElement"
        assert page.evaluate(f"{root}.scrollWidth - {root}.clientWidth") == 0
        found = Axe().run(page).response["violations"]
        assert [f"{one['id']}: {one['nodes'][0]['html'][:120]}" for one in found] == []
    page.close()


# --- the bundles that come with the project ------------------------------------------------


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("shipped") / "site"
    return build_site(BuildOptions(ROOT / "bundles", target)).site


def test_from_the_index_two_clicks_lead_to_the_quoted_words(
    shipped: Path, chromium: Browser
) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    with served(shipped) as url:
        page.goto(url + "index.html")
        page.locator('.ts-rankt a[href*="office-en-smollm2/"].ts-name').first.click()
        cited = page.locator('.ts-ev li:not(.ts-badq):has(q):has(a.ts-cite[href*="."])').first
        quote = cited.locator("q").inner_text()
        cited.locator("a.ts-cite").click()
        target = page.locator("mark.ts-q:target, .ts-a:target ~ mark.ts-q").first
        assert " ".join(quote.split()) in " ".join(target.inner_text().split())
        box, size = target.bounding_box(), page.viewport_size
        assert box is not None
        assert size is not None
        assert 0 <= box["y"] < size["height"]
    context.close()


def test_every_citation_of_the_shipped_bundles_leads_to_its_words(shipped: Path) -> None:
    seen = 0
    for path in shipped.glob("bundles/*/models/*.html"):
        for url in re.findall(r'class="ts-cite[^"]*" href="([^"]+)"', path.read_text("utf-8")):
            name, _, anchor = html.unescape(url).partition("#")
            target = (path.parent / name).resolve().read_text("utf-8")
            assert f'id="{anchor}"' in target, url
            seen += 1
    assert seen > 100


def test_judged_bundles_all_have_the_page_and_unjudged_ones_have_not(tmp_path: Path) -> None:
    (tmp_path / "bundles").mkdir()
    write_judged(tmp_path / "bundles" / "judged")
    (write_judged(tmp_path / "bundles" / "unjudged").path / "reports.jsonl").unlink()
    site = build(tmp_path / "bundles")
    assert (site / "bundles/judged/evidence.html").exists()
    assert (site / "bundles/judged/evidence.json").exists()
    assert not list((site / "bundles/unjudged").glob("evidence.*"))
