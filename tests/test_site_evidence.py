"""Permalinks for readers: on every section, to copy, seen where they lead, shown in a mail."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import Watch, open_browser, served
from playwright.sync_api import Browser
from publications import BETA, buried, drop_beta, drop_prompt, edit, published
from site_bundles import PAIR, build, read, write_judged


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with a tombstone, lost anchors, a changed answer and a renamed model."""
    bundles = tmp_path_factory.mktemp("evidence") / "bundles"
    bundles.mkdir()
    folder = write_judged(bundles / "tiny")
    lock = published(bundles)
    drop_prompt(folder)
    drop_beta(folder)
    edit(folder, "answers.jsonl", "The alpha answer to D1", "A wholly new answer")
    alias = "{from: {model: a, variant: b}, to: {model: alpha, variant: default}}"
    edit(folder, "bundle.yaml", "models:", f"aliases: {{models: [{alias}]}}\nmodels:")
    buried(bundles, lock, reason="Removed on request.", base_url="https://example.org/evals/")
    return bundles.parent / "site"


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with served(site) as url:
        yield url


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


def test_every_section_answer_and_quote_has_a_permalink(site: Path) -> None:
    for path in (site / "bundles").rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        anchors = re.findall(r'<(?:h2|article|tr)[^>]* id="([^"]+)"', page)
        anchors += re.findall(r'<mark class="ts-q" id="([^"]+)"', page)
        without = [one for one in anchors if f'<a class="ts-perma" href="#{one}"' not in page]
        assert without == [], path.relative_to(site)


def test_an_answer_and_its_quotes_can_be_copied_as_evidence(site: Path) -> None:
    page = read(site, "bundles/tiny/prompts/E1.html")
    pattern = r'<button class="ts-copy" type="button" hidden data-ts-anchor="#([^"]+)"'
    assert re.findall(pattern, page) == [f"{PAIR}.q1.1", PAIR]


def test_every_page_says_in_its_head_what_a_mail_shows_of_it(site: Path) -> None:
    for path in site.rglob("*.html"):
        name = path.relative_to(site).as_posix()
        head = path.read_text(encoding="utf-8").partition("</head>")[0]
        shown = dict(re.findall(r'<meta property="og:([a-z_]+)" content="([^"]*)">', head))
        assert all(shown[one] for one in ("title", "description", "type", "site_name")), name
        if name == "404.html" or "Gone" in shown["title"] or "Renamed" in shown["title"]:
            assert "url" not in shown, name
            assert "canonical" not in head, name
        else:
            assert shown["url"] == f"https://example.org/evals/{name}"
            assert f'<link rel="canonical" href="https://example.org/evals/{name}">' in head
    prompt = read(site, "bundles/tiny/prompts/E1.html")
    assert 'property="og:title" content="E1 Write a note."' in prompt
    assert 'property="og:description" content="1 answer. Write a note."' in prompt


def test_without_an_address_no_page_claims_one(tmp_path: Path) -> None:
    (tmp_path / "bundles").mkdir()
    write_judged(tmp_path / "bundles" / "tiny")
    page = read(build(tmp_path / "bundles"), "bundles/tiny/prompts/E1.html")
    assert "og:title" in page
    assert "og:url" not in page
    assert "canonical" not in page


KEPT = {
    "tombstone of a prompt": f"bundles/tiny/prompts/E2.html#{BETA}",
    "tombstone of a model": f"bundles/tiny/models/{BETA}.html#q2",
    "lost anchors": f"bundles/tiny/prompts/E1.html#{BETA}",
    "changed answer": f"bundles/tiny/prompts/D1.html#{PAIR}",
    "renamed model": "bundles/tiny/models/a--b.html#q1",
    "renamed on a page": "bundles/tiny/dimensions/q1.html#a--b",
    "quote": f"bundles/tiny/prompts/E1.html#{PAIR}.q1.1",
    "section": f"bundles/tiny/models/{PAIR}.html#q3",
}


@pytest.mark.browser
@pytest.mark.xdist_group("site-browser")
@pytest.mark.parametrize("name", KEPT)
def test_where_a_permalink_leads_is_seen_at_once(
    name: str, address: str, chromium: Browser
) -> None:
    for script, width, scheme in (
        (True, 1440, "light"),
        (True, 360, "dark"),
        (False, 1440, "dark"),
        (False, 360, "light"),
    ):
        context = chromium.new_context(
            java_script_enabled=script,
            color_scheme="dark" if scheme == "dark" else "light",
            viewport={"width": width, "height": 700},
        )
        page = context.new_page()
        watch = Watch(page, address)
        page.goto(address + KEPT[name])
        target = page.locator(":target")
        box = target.bounding_box()
        assert box is not None
        assert 0 <= box["y"] < 700, (script, width)
        style = "e => { const s = getComputedStyle(e); return s.boxShadow + s.outlineStyle; }"
        marked = target.locator("xpath=self::*|./*[1]").evaluate_all(f"all => all.map({style})")
        assert any(one != "nonenone" for one in marked), (script, width)
        root = "document.documentElement"
        assert page.evaluate(f"{root}.scrollWidth <= {root}.clientWidth"), width
        assert watch.complaints == []
        if script:
            assert Axe().run(page).response["violations"] == []
        context.close()


@pytest.mark.browser
@pytest.mark.xdist_group("site-browser")
def test_copied_evidence_holds_the_words_and_the_full_address(
    address: str, chromium: Browser
) -> None:
    context = chromium.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{address}bundles/tiny/prompts/E1.html")
    page.get_by_role("button", name="Copy as evidence: the words quoted for Q1").click()
    page.locator(".ts-live", has_text="Copied as evidence").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("> The alpha answer to E1\n\nWords quoted for Q1")
    assert f": <{address}bundles/tiny/prompts/E1.html#{PAIR}.q1.1>\n" in copied
    assert len(re.findall(r"sha256 `[0-9a-f]{64}`", copied)) == 2
    page.get_by_role("button", name="Copy as evidence: the answer of alpha").click()
    page.wait_for_function("async () => (await navigator.clipboard.readText()).includes('long')")
    assert f"#{PAIR}>" in page.evaluate("navigator.clipboard.readText()")
    context.close()


@pytest.mark.browser
@pytest.mark.xdist_group("site-browser")
def test_without_a_script_there_is_nothing_to_press(address: str, chromium: Browser) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}bundles/tiny/prompts/E1.html")
    assert page.locator("button.ts-copy:visible").count() == 0
    assert page.locator("button.ts-copy").count() == 2
    context.close()
