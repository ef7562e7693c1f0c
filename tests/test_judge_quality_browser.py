"""The page about a compared judge in a real browser: wide and narrow, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from browser import Watch, open_browser, served
from judge_quality_figures import LEAST, PAGE, write_quality
from playwright.sync_api import Browser
from site_bundles import PAIR, build, write_judged
from test_site_browser import SCHEMES, barriers_on, overflow_of

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("site-browser")]

PAGES = {
    "whole": PAGE,
    "least": PAGE.replace("tiny", "least"),
    "scorecard": "bundles/tiny/index.html",
    "index": "index.html",
    "model": f"bundles/tiny/models/{PAIR}.html",
}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    bundles = tmp_path_factory.mktemp("browser") / "bundles"
    bundles.mkdir()
    write_quality(write_judged(bundles / "tiny"))
    write_quality(write_judged(bundles / "least"), markdown=None, figures=LEAST)
    with served(build(bundles)) as url:
        yield url


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


@pytest.mark.parametrize("name", PAGES)
def test_a_page_about_the_judge_is_sound_however_it_is_looked_at(
    name: str, address: str, chromium: Browser
) -> None:
    complaints: list[str] = []
    for script in (True, False):
        page = chromium.new_context(java_script_enabled=script).new_page()
        watch = Watch(page, address)
        for width, scheme in product((1440, 360, 320), SCHEMES):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            page.goto(address + PAGES[name])
            wider = overflow_of(page)
            found = [f"{wider} px wider than the window"] if wider > 0 else []
            found += barriers_on(page) if script and width != 320 else []
            complaints += [f"{width} px, {scheme}: {one}" for one in found]
        complaints += watch.complaints
        page.context.close()
    assert complaints == []


def test_a_mark_leads_to_the_rationale_without_javascript(address: str, chromium: Browser) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address + PAGE)
    page.locator(".ts-strip a[aria-label*='judge 4, reference 2']").click()
    assert page.url == f"{address}bundles/tiny/models/{PAIR}.html#q1"
    page.goto(address + PAGE)
    page.locator(".ts-segs a[href='#class-dangling']").click()
    assert page.locator("tr:target").inner_text().startswith("dangling")
    context.close()


def test_both_rationales_stand_side_by_side_and_one_over_the_other_on_a_phone(
    address: str, chromium: Browser
) -> None:
    page = chromium.new_page()
    page.goto(address + PAGE)
    seen = []
    for width in (1440, 360):
        page.set_viewport_size({"width": width, "height": 900})
        boxes = [one.bounding_box() for one in page.locator(".ts-vs > div").all()]
        assert boxes[0] is not None
        assert boxes[1] is not None
        seen.append((boxes[1]["x"] > boxes[0]["x"], boxes[1]["y"] > boxes[0]["y"]))
    assert seen == [(True, False), (False, True)]
    page.close()
