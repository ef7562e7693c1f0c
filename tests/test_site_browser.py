"""The site in a real browser: every kind of page, light and dark, wide and narrow, with and
without JavaScript.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import Watch, open_browser, served
from conftest import review
from playwright.sync_api import Browser, Page
from site_bundles import PAIR, build, write_judged

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("site-browser")]

PAGES = {
    "index": "index.html",
    "scorecard": "bundles/tiny/index.html",
    "model": f"bundles/tiny/models/{PAIR}.html",
    "model that is out": "bundles/tiny/models/beta--default.html",
    "dimension": "bundles/tiny/dimensions/q1.html",
    "prompt": "bundles/tiny/prompts/E1.html",
    "gate": "bundles/tiny/ko/index.html",
    "knock-out": "bundles/tiny/ko/beta--default.html",
    "run": "bundles/tiny/run.html",
    "method": "method.html",
}
WIDTHS = (1440, 360)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bundles = tmp_path_factory.mktemp("browser") / "bundles"
    bundles.mkdir()
    folder = write_judged(bundles / "tiny")
    folder.write_lines("reviews.jsonl", review("E2", "accept", "Looked at it again."))
    return build(bundles)


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with served(site) as url:
        yield url


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


def overflow_of(page: Page) -> int:
    """Return by how many pixels the page is wider than the window."""
    root = "document.documentElement"
    return int(page.evaluate(f"() => {root}.scrollWidth - {root}.clientWidth"))


def barriers_on(page: Page) -> list[str]:
    """Return what axe finds, each with the first element that has it."""
    found: list[dict[str, Any]] = Axe().run(page).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:120]}" for one in found]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_sound_however_it_is_looked_at(
    name: str, address: str, chromium: Browser
) -> None:
    complaints: list[str] = []
    for script in (True, False):
        page = chromium.new_context(java_script_enabled=script).new_page()
        for width, scheme in product(WIDTHS, SCHEMES):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            watch = Watch(page, address)
            page.goto(address + PAGES[name])
            found = list(watch.complaints)
            wider = overflow_of(page)
            found += [f"{wider} px wider than the window"] if wider > 0 else []
            found += barriers_on(page) if script else []
            how = f"{width} px, {scheme}, {'with' if script else 'without'} JavaScript"
            complaints += [f"{how}: {one}" for one in found]
        page.context.close()
    assert complaints == []


def test_the_checks_see_what_is_wrong(chromium: Browser) -> None:
    page = chromium.new_page()
    watch = Watch(page, "http://127.0.0.1")
    page.set_content(
        "<html lang=en><title>x</title><div class=md-container><img src=http://x.invalid/a.png>"
        "<div style='width:9999px'>wide</div></div><script>oops()</script>"
    )
    assert overflow_of(page) > 1000
    assert any(one.startswith("image-alt") for one in barriers_on(page))
    assert any("left the site" in one for one in watch.complaints)
    assert any("oops" in one for one in watch.complaints)
    page.close()


def test_the_scheme_follows_the_reader(address: str, chromium: Browser) -> None:
    seen = []
    for scheme in ("light", "dark"):
        context = chromium.new_context(color_scheme=scheme)
        page = context.new_page()
        page.goto(address + PAGES["scorecard"])
        seen.append(page.locator("body").get_attribute("data-md-color-scheme"))
        context.close()
    assert seen == ["default", "slate"]


def test_two_clicks_lead_from_the_index_to_a_marked_quote_without_javascript(
    address: str, chromium: Browser
) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address + "index.html")
    page.locator(".ts-rankt a.ts-name", has_text="alpha").click()
    page.locator(".ts-ev a.ts-cite", has_text="E1").click()
    assert page.url == f"{address}bundles/tiny/prompts/E1.html#{PAIR}.q1.1"
    mark = page.locator("mark.ts-q:target")
    assert mark.inner_text() == "The alpha answer to E1"
    box = mark.bounding_box()
    height = page.viewport_size["height"] if page.viewport_size else 0
    assert box is not None
    assert 0 <= box["y"] < height
    context.close()


def test_the_keyboard_reaches_a_score_and_opens_its_rationale(
    address: str, chromium: Browser
) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.goto(address + PAGES["scorecard"])
    page.locator(".ts-score td.ts-c a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/models/*.html#q1")
    assert page.locator("h2:target").inner_text().startswith("Q1 Correctness")
    context.close()
