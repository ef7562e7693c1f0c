"""A site of hostile names and texts in a real browser: nothing runs, nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import hostile
import pytest
from browser import Watch, open_browser, served
from playwright.sync_api import Browser

from touchstone.bundle import Bundle
from touchstone.gui.build import BuildOptions, build_site
from touchstone.gui.links import BundleLinks
from touchstone.gui.safe_html import visible

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("hostile")]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; a strict build that finds a broken link would fail here."""
    root = tmp_path_factory.mktemp("hostile")
    hostile.write_hostile_bundle(root / "bundles" / "hostile")
    result = build_site(BuildOptions(root / "bundles", root / "site"))
    assert result.broken_links == 0
    assert result.warnings == ()
    return result.site


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """The site on a server of its own."""
    with served(site) as url:
        yield url


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


def pages_of(site: Path) -> list[str]:
    return sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))


def test_every_page_opens_without_running_anything(
    site: Path, address: str, chromium: Browser
) -> None:
    complaints: list[str] = []
    pages = pages_of(site)
    assert len(pages) > 40
    context = chromium.new_context()
    page = context.new_page()
    for name in pages:
        watch = Watch(page, address)
        page.goto(address + name)
        pwned = page.evaluate("window.pwned")
        found = [*watch.complaints, *(["a script ran"] if pwned else [])]
        # A missing favicon for 404.html's own path is the server's matter, not the page's.
        complaints += [f"{name}: {one}" for one in found]
    context.close()
    assert complaints == []


def test_every_page_opens_from_the_disk(site: Path, chromium: Browser) -> None:
    complaints: list[str] = []
    context = chromium.new_context()
    # 404.html is for servers alone: it does not know where it is shown, so its links are absolute.
    for name in [name for name in pages_of(site) if name != "404.html"][::4]:
        page = context.new_page()
        watch = Watch(page, "file://")
        page.goto((site / name).as_uri())
        if page.evaluate("window.pwned"):
            complaints.append(f"{name}: a script ran")
        complaints += [f"{name}: {one}" for one in watch.complaints]
        page.close()
    context.close()
    assert complaints == []


def test_every_answer_stands_at_its_anchor_with_no_text_lost(
    site: Path, address: str, chromium: Browser
) -> None:
    bundle = Bundle.open(site.parent / "bundles" / "hostile")
    links = BundleLinks.of(bundle)
    context = chromium.new_context(java_script_enabled=True)
    page = context.new_page()
    lost: list[str] = []
    for prompt in bundle.suite.prompts:
        page.goto(address + links.prompt(prompt.id))
        for entry in bundle.manifest.models:
            answer = bundle.answers.get((*entry.pair, prompt.id))
            assert answer is not None
            card = page.locator(f'article[id="{links.pair_slug(entry.pair)}"]')
            assert card.count() == 1
            raw = card.locator("footer pre.ts-raw").evaluate("node => node.textContent")
            expected = visible(answer.text).replace("\r\n", "\n").replace("\r", "\n")
            if raw != expected:
                lost.append(f"{prompt.id!r} of {entry.model!r}: {raw[:80]!r}")
    context.close()
    assert lost == []


def test_hostile_names_stay_visible(site: Path, address: str, chromium: Browser) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.goto(address + "index.html")
    body = page.locator("body").inner_text()
    for name in hostile.NAMES[:4]:
        assert " ".join(visible(name).split()) in " ".join(body.split())
    assert hostile.NAMES[0] in page.locator("h2").first.inner_text()
    page.goto(address + "bundles/hostile/index.html")
    assert hostile.NAMES[0] in page.title()
    context.close()


def test_the_policy_is_the_first_thing_in_every_head(site: Path) -> None:
    for name in pages_of(site):
        head = (site / name).read_text(encoding="utf-8").partition("<head>")[2]
        assert head.lstrip().startswith('<meta http-equiv="Content-Security-Policy"'), name
        assert "<script>" not in head, name


def test_search_shows_hostile_titles_as_text(address: str, chromium: Browser) -> None:
    context = chromium.new_context()
    page = context.new_page()
    watch = Watch(page, address)
    page.goto(address + "index.html")
    page.locator("[data-md-component=search-query]").first.press_sequentially("onerror")
    page.locator(".md-search-result__item").first.wait_for(timeout=10_000)
    page.wait_for_timeout(300)
    assert hostile.NAMES[0] in page.locator(".md-search-result__list").inner_text()
    assert not page.evaluate("window.pwned")
    assert watch.complaints == []
    context.close()
