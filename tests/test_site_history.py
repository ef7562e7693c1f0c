"""What a site says of its past: answers whose text changed, models and prompts with new names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import BundleFolder
from publications import (
    BETA,
    REASON,
    broken_in,
    buried,
    change_answer,
    edit,
    links_of,
    published,
    refusal,
    text_of,
    urls_of,
)
from site_bundles import PAIR, build, read, structure_of, write_judged


@pytest.fixture
def bundles(tmp_path: Path) -> Path:
    folder = tmp_path / "bundles"
    folder.mkdir()
    return folder


@pytest.fixture
def tiny(bundles: Path) -> BundleFolder:
    """A bundle with two models; alpha cites, beta is knocked out."""
    return write_judged(bundles / "tiny")


# --- answers whose text is another -----------------------------------------------------------


def test_a_changed_answer_fails_the_build_and_is_named_once(
    tiny: BundleFolder, bundles: Path
) -> None:
    lock = published(bundles)
    change_answer(tiny, "to E1 is long enough to quote", "to E1 was long enough to quote")
    said = refusal(bundles, lock)
    assert said.count("changed: ") == 2
    assert f"changed: bundles/tiny/prompts/E1.html#{PAIR} (bundle tiny: Answer of" in said
    assert re.search(r"sha256 was [0-9a-f]{12}…, is [0-9a-f]{12}…", said)


def test_a_changed_answer_says_on_its_card_that_it_is_another(
    tiny: BundleFolder, bundles: Path
) -> None:
    first = published(bundles)
    change_answer(tiny, "The beta answer to D1", "Another answer")
    second = buried(bundles, first, reason=REASON)
    site = bundles.parent / "site"
    old, new = (
        next(
            one.answer_sha256 or "" for one in links_of(lock) if one.url.endswith(f"D1.html#{BETA}")
        )
        for lock in (first, second)
    )
    card = read(site, "bundles/tiny/prompts/D1.html").partition(f'id="{BETA}"')[2]
    note = card.partition('<div class="ts-was')[2].partition("</div>")[0]
    assert f"Then sha256 {old[:8]}, now {new[:8]}." in note
    assert "It named a &lt;b&gt;real&lt;/b&gt; person." in note
    assert "ts-was" not in read(site, "bundles/tiny/prompts/E1.html")
    assert urls_of(second, gone=True) == [f"prompts/D1.html#{BETA}"]
    assert published(bundles, lock=second).read_bytes() == second.read_bytes()


def test_every_text_that_was_published_is_remembered(tiny: BundleFolder, bundles: Path) -> None:
    locks = [published(bundles)]
    for new in ("Second answer", "Third answer"):
        edit(tiny, "answers.jsonl", r'("beta".*"D1", "text": ")[^"]*', rf"\g<1>{new}")
        locks.append(buried(bundles, locks[-1]))
    hashes = [
        next(one.answer_sha256 for one in links_of(lock) if one.url.endswith(f"D1.html#{BETA}"))
        for lock in locks
    ]
    stone = next(one.tombstone for one in links_of(locks[-1]) if one.tombstone)
    assert (stone.answer_sha256, stone.earlier) == (hashes[1], (hashes[0],))
    page = text_of(read(bundles.parent / "site", "bundles/tiny/prompts/D1.html"))
    assert f"Earlier still: {(hashes[0] or '')[:8]}." in page


def test_an_answer_that_is_gone_says_so_on_its_card(tiny: BundleFolder, bundles: Path) -> None:
    first = published(bundles)
    lines = (tiny.path / "answers.jsonl").read_text(encoding="utf-8")
    edit(tiny, "answers.jsonl", r'.*"beta".*"D1".*\n', "")
    said = refusal(bundles, first)
    assert said.startswith("1 permalink ")
    assert f"gone: bundles/tiny/prompts/D1.html#{BETA} (bundle tiny: Answer of beta" in said
    second = buried(bundles, first, reason=REASON)
    page = read(bundles.parent / "site", "bundles/tiny/prompts/D1.html")
    card = page.partition(f'id="{BETA}"')[2]
    assert "The answer published here is gone." in card.partition('<div class="ts-body"')[0]
    assert urls_of(second, gone=True) == [f"prompts/D1.html#{BETA}"]
    assert published(bundles, lock=second).read_bytes() == second.read_bytes()
    tiny.write("answers.jsonl", lines)
    assert published(bundles, lock=second).read_bytes() == first.read_bytes()


# --- aliases ---------------------------------------------------------------------------------


def rename(folder: BundleFolder, *, aliases: str) -> None:
    """Give prompt E1 and model alpha new names, and the bundle these aliases."""
    edit(folder, "suite.yaml", "id: E1", "id: mail")
    for name in ("answers.jsonl", "verdicts.jsonl", "reports.jsonl"):
        edit(folder, name, '"prompt_id": "E1"', '"prompt_id": "mail"')
    for name in ("bundle.yaml", "answers.jsonl", "verdicts.jsonl", "reports.jsonl"):
        edit(folder, name, r'(?<=model)(": "|: )alpha\b', r"\1omega")
    edit(folder, "bundle.yaml", "models:", f"aliases: {aliases}\nmodels:")


def alias(old: str, new: str) -> str:
    return f"{{from: {{model: {old}, variant: default}}, to: {{model: {new}, variant: default}}}}"


RENAMED = f"{{models: [{alias('alpha', 'omega')}], prompts: {{E1: mail}}}}"
CHAINED = (
    f"{{models: [{alias('alpha', 'psi')}, {alias('psi', 'omega')}],"
    " prompts: {E1: letter, letter: mail}}"
)
CIRCULAR = (
    f"{{models: [{alias('alpha', 'psi')}, {alias('psi', 'alpha')}],"
    " prompts: {E1: letter, letter: E1}}"
)


def test_what_is_renamed_without_an_alias_is_gone(tiny: BundleFolder, bundles: Path) -> None:
    lock = published(bundles)
    rename(tiny, aliases=CIRCULAR)
    said = refusal(bundles, lock)
    assert "gone: bundles/tiny/prompts/E1.html " in said
    assert f"gone: bundles/tiny/models/{PAIR}.html " in said


@pytest.mark.parametrize("aliases", [RENAMED, CHAINED])
def test_aliases_keep_every_old_address_alive(
    tiny: BundleFolder, bundles: Path, aliases: str
) -> None:
    first = published(bundles, index=True)
    rename(tiny, aliases=aliases)
    second = published(bundles, lock=first, index=True, base_url="https://example.org/")
    site = bundles.parent / "site"
    assert urls_of(second, gone=True) == []
    assert set(urls_of(first)) < set(urls_of(second))
    assert broken_in(site) == []
    page = read(site, "bundles/tiny/prompts/E1.html")
    assert structure_of(page).wrong == []
    assert "Renamed" in text_of(page)
    assert '<meta name="robots" content="noindex">' in page
    assert "E1.html" not in read(site, "sitemap.xml")
    rows = dict(re.findall(r'<tr role="row" id="([^"]+)">.*?<a href="([^#][^"]*)"', page))
    assert rows[PAIR] == "mail.html#omega--default"
    assert rows[f"{PAIR}.q1.1"] == rows["omega--default.q1.1"] == "mail.html#omega--default.q1.1"
    report = read(site, f"bundles/tiny/models/{PAIR}.html")
    assert 'href="omega--default.html#q3"' in report
    assert 'href="omega--default.html"' in read(site, f"bundles/tiny/ko/{PAIR}.html")
    assert published(bundles, lock=second).read_bytes() == second.read_bytes()


def test_an_old_anchor_leads_into_the_answer_and_to_its_words(
    tiny: BundleFolder, bundles: Path
) -> None:
    rename(tiny, aliases=RENAMED)
    site = build(bundles)
    page = read(site, "bundles/tiny/prompts/mail.html")
    card = page.partition('id="omega--default" aria')[2].partition("</article>")[0]
    assert re.search(rf'<p class="ts-was" id="{PAIR}">Renamed\. Published before as', card)
    assert re.search(
        rf'<span class="ts-a" id="{PAIR}\.q1\.1"></span><mark[^>]*id="omega--default\.q1\.1"', card
    )
    dimension = read(site, "bundles/tiny/dimensions/q1.html")
    assert f'<tr role="row" id="{PAIR}">' in dimension.rpartition("Renamed")[2]
    keys = [link.key for link in links_of(site / "permalinks.json") if "E1" in link.key]
    assert ("tiny", "alpha", "default", "E1", "Q1") in keys


def test_a_text_that_changed_with_its_name_is_seen(tiny: BundleFolder, bundles: Path) -> None:
    lock = published(bundles)
    rename(tiny, aliases=RENAMED)
    change_answer(tiny, "The alpha answer to D1", "Another answer")
    said = refusal(bundles, lock)
    assert said.count("changed: ") == 1
    assert f"changed: bundles/tiny/prompts/D1.html#{PAIR}" in said
    buried(bundles, lock)
    page = read(bundles.parent / "site", "bundles/tiny/prompts/D1.html")
    assert "Not the text published here before." in page.partition('id="omega--default" aria')[2]


def test_an_alias_that_is_taken_back_breaks_what_it_kept(tiny: BundleFolder, bundles: Path) -> None:
    first = published(bundles)
    rename(tiny, aliases=RENAMED)
    second = published(bundles, lock=first)
    edit(tiny, "bundle.yaml", "aliases: .*\n", "")
    assert "gone: bundles/tiny/prompts/E1.html " in refusal(bundles, second)
