"""Permalinks of built sites: all listed, and none vanishes unseen or without a trace."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import hostile
import pytest
import yaml
from conftest import BundleFolder, Outcome
from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config
from publications import (
    BETA,
    REASON,
    broken_in,
    buried,
    change_answer,
    drop_beta,
    drop_prompt,
    edit,
    links_of,
    published,
    refusal,
    text_of,
    urls_of,
)
from site_bundles import PAIR, build, read, structure_of, write_judged

from touchstone.gui.build import BuildOptions, build_site
from touchstone.gui.link_check import read_links
from touchstone.gui.permalinks import Permalink, order
from touchstone.gui.plugin import options_set_to
from touchstone.gui.target import MANIFEST

ROOT = Path(__file__).parents[1]


@pytest.fixture
def bundles(tmp_path: Path) -> Path:
    folder = tmp_path / "bundles"
    folder.mkdir()
    return folder


@pytest.fixture
def tiny(bundles: Path) -> BundleFolder:
    """A bundle with two models; alpha cites, beta is knocked out."""
    return write_judged(bundles / "tiny")


# --- permalinks.json -------------------------------------------------------------------------


def test_every_kind_of_place_is_listed_with_its_key(tiny: BundleFolder, bundles: Path) -> None:
    site = build(bundles)
    links = links_of(site / "permalinks.json")
    model = "alpha", "default"
    urls: dict[tuple[str | None, ...], str] = {
        (None, None, None, None): "index.html",
        (None, None, None, None, "ko/index"): "ko/index.html",
        (None, None, None, None, "run"): "run.html",
        (None, None, None, None, "evidence"): "evidence.html",
        (*model, None, None): f"models/{PAIR}.html",
        (*model, None, None, "ko"): f"ko/{PAIR}.html",
        (*model, "E1", "Q1"): f"prompts/E1.html#{PAIR}.q1.1",
    }
    for prompt_id in ("E1", "E2", "D1"):
        urls[None, None, prompt_id, None] = f"prompts/{prompt_id}.html"
        urls[*model, prompt_id, None] = f"prompts/{prompt_id}.html#{PAIR}"
    for n in range(1, 5):
        urls[None, None, None, f"Q{n}"] = f"dimensions/q{n}.html"
        urls[*model, None, f"Q{n}"] = f"models/{PAIR}.html#q{n}"
        urls[*model, None, f"Q{n}", "dimension"] = f"dimensions/q{n}.html#{PAIR}"
    listed = {link.key[1:]: link.url for link in links if link.key[1] != "beta"}
    assert listed == {key: f"bundles/tiny/{url}" for key, url in urls.items()}
    hashes = {link.answer_sha256 for link in links if link.answer == (*model, "E1")}
    assert len(hashes) == 1
    assert {link.answer_sha256 for link in links if link.answer is None} == {None}
    assert broken_in(site) == []


def test_permalinks_are_sorted_and_stand_one_to_a_line(tiny: BundleFolder, bundles: Path) -> None:
    write_judged(bundles / "another")
    text = read(build(bundles), "permalinks.json")
    lines = text.splitlines()
    assert (lines[0], lines[-1]) == ("[", "]")
    assert [json.loads(line.rstrip(",")) for line in lines[1:-1]] == json.loads(text)
    links = [Permalink(tuple(one["key"]), one["url"]) for one in json.loads(text)]
    assert links == sorted(links, key=order)
    assert [link.bundle for link in links] == sorted(link.bundle for link in links)
    assert len({link.url for link in links}) == len(links)


def test_a_site_without_bundles_has_no_permalinks(bundles: Path) -> None:
    lock = published(bundles)
    assert lock.read_text(encoding="utf-8") == "[]\n"
    assert published(bundles, lock=lock).read_text(encoding="utf-8") == "[]\n"


def test_the_same_bundles_keep_their_lock_byte_for_byte(tiny: BundleFolder, bundles: Path) -> None:
    lock = published(bundles)
    site = bundles.parent / "site"
    before = json.loads(read(site, MANIFEST))["files"]
    assert published(bundles, lock=lock).read_bytes() == lock.read_bytes()
    assert json.loads(read(site, MANIFEST))["files"] == before


def test_another_language_keeps_every_permalink(tiny: BundleFolder, bundles: Path) -> None:
    lock = published(bundles)
    assert published(bundles, lock=lock, language="de").read_bytes() == lock.read_bytes()


# --- what vanishes ---------------------------------------------------------------------------


def test_a_removed_prompt_fails_the_build_and_is_named(tiny: BundleFolder, bundles: Path) -> None:
    lock = published(bundles)
    drop_prompt(tiny)
    said = refusal(bundles, lock)
    assert said.startswith("3 permalinks of the last publication")
    for line in (
        "gone: bundles/tiny/prompts/E2.html (bundle tiny: Prompt E2)",
        f"gone: bundles/tiny/prompts/E2.html#{PAIR} (bundle tiny: Answer of alpha (default) to E2)",
    ):
        assert line in said


def test_a_tombstone_says_what_was_there_and_why_it_went(tiny: BundleFolder, bundles: Path) -> None:
    lock = published(bundles)
    sha256 = next(
        link.answer_sha256 for link in links_of(lock) if link.url.endswith(f"E2.html#{PAIR}")
    )
    drop_prompt(tiny)
    new = buried(bundles, lock, reason=REASON, index=True, base_url="https://example.org/")
    site = bundles.parent / "site"
    page = read(site, "bundles/tiny/prompts/E2.html")
    assert {PAIR, BETA} <= read_links(page).anchors
    text = text_of(page)
    for words in ("Prompt E2", "tiny", "alpha (default)", str(sha256), REASON, "1 December 2026"):
        assert words in text
    assert structure_of(page).wrong == []
    assert '<a href="../index.html">' in page
    assert '<meta name="robots" content="noindex">' in page
    assert 'property="og:title" content="Gone: Prompt E2"' in page
    assert "og:url" not in page
    assert 'name="robots"' not in read(site, "bundles/tiny/prompts/E1.html")
    assert "prompts/E1.html" in read(site, "sitemap.xml")
    assert "prompts/E2.html" not in read(site, "sitemap.xml")
    assert "bundles/tiny/prompts/E2.html" in json.loads(read(site, MANIFEST))["files"]
    assert len(urls_of(new, gone=True)) == 3


def test_a_tombstone_stays_with_every_later_build(tiny: BundleFolder, bundles: Path) -> None:
    first = published(bundles)
    drop_prompt(tiny)
    second = buried(bundles, first, reason=REASON)
    site = bundles.parent / "site"
    files = json.loads(read(site, MANIFEST))["files"]
    third = published(bundles, lock=second)
    assert third.read_bytes() == second.read_bytes()
    assert json.loads(read(site, MANIFEST))["files"] == files
    edit(tiny, "bundle.yaml", "2026-12-01", "2027-12-01")
    published(bundles, lock=third)
    text = text_of(read(site, "bundles/tiny/prompts/E2.html"))
    assert REASON in text
    assert "1 December 2026" in text
    assert "2027" not in text
    (bundles.parent / "site/permalinks.json").unlink()
    assert urls_of(third, gone=True) == urls_of(second, gone=True)


def test_a_tombstone_without_a_reason_says_so(tiny: BundleFolder, bundles: Path) -> None:
    lock = published(bundles)
    drop_prompt(tiny)
    buried(bundles, lock)
    page = read(bundles.parent / "site", "bundles/tiny/prompts/E2.html")
    assert "No reason was given." in text_of(page)


def test_a_removed_model_leaves_its_anchors_on_pages_that_stay(
    tiny: BundleFolder, bundles: Path
) -> None:
    lock = published(bundles)
    drop_beta(tiny)
    said = refusal(bundles, lock)
    assert f"gone: bundles/tiny/models/{BETA}.html (bundle tiny: Report of beta (default))" in said
    new = buried(bundles, lock, reason=REASON)
    site = bundles.parent / "site"
    for name in (f"models/{BETA}.html", f"ko/{BETA}.html"):
        assert REASON in text_of(read(site, f"bundles/tiny/{name}"))
    for name in ("prompts/E1.html", "dimensions/q1.html"):
        page = read(site, f"bundles/tiny/{name}")
        assert BETA in read_links(page).anchors
        assert "No longer on this page" in page.rpartition("ts-pn")[2]
        assert page.rindex("No longer on this page") < page.rindex("</article>")
    assert {f"q{n}" for n in range(1, 5)} <= read_links(
        read(site, f"bundles/tiny/models/{BETA}.html")
    ).anchors
    assert broken_in(site) == []
    assert published(bundles, lock=new).read_bytes() == new.read_bytes()


def test_what_comes_back_loses_its_tombstone(tiny: BundleFolder, bundles: Path) -> None:
    first = published(bundles)
    kept = {path.name: path.read_bytes() for path in tiny.path.iterdir() if path.is_file()}
    drop_prompt(tiny)
    second = buried(bundles, first)
    for name, content in kept.items():
        tiny.write(name, content)
    assert published(bundles, lock=second).read_bytes() == first.read_bytes()
    change_answer(tiny, "The beta answer to E2", "Another answer")
    said = refusal(bundles, second)
    assert said.count("changed: ") == 1
    assert f"changed: bundles/tiny/prompts/E2.html#{BETA}" in said


def test_a_bundle_that_is_gone_leaves_tombstones_that_lead_to_the_index(
    tiny: BundleFolder, bundles: Path
) -> None:
    lock = published(bundles)
    tiny.path.rename(bundles.parent / "elsewhere")
    said = refusal(bundles, lock)
    assert said.count("gone: ") == 20
    assert "… and " in said
    new = buried(bundles, lock)
    site = bundles.parent / "site"
    for name, up in (("index.html", "../../"), ("prompts/E1.html", "../../../")):
        page = read(site, f"bundles/tiny/{name}")
        assert f'<a href="{up}index.html">All evaluations</a>' in page
        assert structure_of(page).wrong == []
    assert broken_in(site) == []
    assert published(bundles, lock=new).read_bytes() == new.read_bytes()


def test_a_bundle_that_cannot_be_read_is_named_as_the_cause(
    tiny: BundleFolder, bundles: Path
) -> None:
    lock = published(bundles)
    tiny.write("suite.yaml", "format: 1\n")
    assert "Bundle tiny can't be read, so all of it is gone." in refusal(bundles, lock)


def test_a_quote_that_is_no_longer_found_fails_the_build(tiny: BundleFolder, bundles: Path) -> None:
    lock = published(bundles)
    edit(tiny, "reports.jsonl", "The alpha answer to E1", "other words")
    said = refusal(bundles, lock)
    assert said.count("gone: ") == 1
    assert "Words quoted for Q1 from the answer of alpha (default) to E1" in said
    buried(bundles, lock)
    page = read(bundles.parent / "site", "bundles/tiny/prompts/E1.html")
    assert f"{PAIR}.q1.1" in read_links(page).anchors


def test_a_quote_that_moved_keeps_its_old_address(tiny: BundleFolder, bundles: Path) -> None:
    """The first quote of a dimension has the permalink; an earlier one may be found later."""
    edit(tiny, "reports.jsonl", "words that stand nowhere", "The alpha answer to E2")
    edit(
        tiny,
        "reports.jsonl",
        '"prompt_id": "Z9", "quote": "no such prompt"',
        '"prompt_id": "E2", "quote": "is long enough to quote"',
    )
    edit(tiny, "reports.jsonl", "The alpha answer to E2", "words that are not there yet")
    first = published(bundles)
    assert f"prompts/E2.html#{PAIR}.q1.3" in urls_of(first)
    edit(tiny, "reports.jsonl", "words that are not there yet", "The alpha answer to E2")
    second = published(bundles, lock=first)
    assert {f"prompts/E2.html#{PAIR}.q1.2", f"prompts/E2.html#{PAIR}.q1.3"} <= set(urls_of(second))
    assert published(bundles, lock=second).read_bytes() == second.read_bytes()


def test_a_page_that_only_case_tells_from_the_new_one_cannot_be_kept(
    tiny: BundleFolder, bundles: Path
) -> None:
    lock = published(bundles)
    for name in ("suite.yaml", "answers.jsonl", "verdicts.jsonl"):
        edit(tiny, name, "E2", "e2")
    assert "gone: bundles/tiny/prompts/E2.html" in refusal(bundles, lock)
    said = refusal(bundles, lock, tombstone=True)
    assert "bundles/tiny/prompts/E2.html and bundles/tiny/prompts/e2.html" in said
    edit(tiny, "bundle.yaml", "models:", "aliases: {prompts: {E2: e2}}\nmodels:")
    assert "gone: bundles/tiny/prompts/E2.html" in refusal(bundles, lock)


# --- hostile input ---------------------------------------------------------------------------


def test_hostile_ids_and_texts_keep_their_permalinks_and_get_tombstones(tmp_path: Path) -> None:
    bundles = tmp_path / "bundles"
    folder = hostile.write_hostile_bundle(bundles / "hostile")
    first = published(bundles)
    assert broken_in(tmp_path / "site") == []
    manifest = yaml.safe_load(
        (folder / "bundle.yaml").read_text(encoding="utf-8", errors="replace")
    )
    gone = manifest["models"].pop()
    folder.joinpath("bundle.yaml").write_text(
        yaml.safe_dump(manifest, allow_unicode=False), encoding="utf-8"
    )
    result = build_site(
        BuildOptions(bundles, tmp_path / "site", lock=first, tombstone=True, reason=hostile.EVIL)
    )
    assert (result.broken_links, result.warnings) == (0, ())
    assert result.tombstones > len(hostile.PROMPT_IDS)
    assert broken_in(tmp_path / "site") == []
    for path in (tmp_path / "site").rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        assert "<img src=x" not in page, path
        assert "<script>window" not in page, path
    assert gone["model"] in first.read_text(encoding="utf-8").encode().decode("unicode-escape")


@pytest.mark.parametrize("url", ["../escaped.html", "bundles/tiny/../../escaped.html"])
def test_a_lock_cannot_write_outside_the_folder_of_bundles(
    tiny: BundleFolder, bundles: Path, url: str
) -> None:
    published(bundles)
    entry = {"key": ["tiny", None, None, None, None], "url": url, "answer_sha256": None}
    lock = bundles.parent / "evil.json"
    lock.write_text(json.dumps([entry]), encoding="utf-8")
    said = refusal(bundles, lock, tombstone=True)
    assert "url must be the address of a page below bundles/" in said
    assert list(bundles.parent.rglob("escaped*")) == []


def test_a_lock_that_names_what_never_was_is_kept_in_its_place(
    tiny: BundleFolder, bundles: Path
) -> None:
    published(bundles)
    entry = {
        "key": ["tiny", hostile.EVIL, "\u202e", "\ud800", '"><script>'],
        "url": "bundles/tiny/prompts/Z9.html#a--b",
        "answer_sha256": None,
        "tombstone": {"reason": hostile.EVIL, "since": hostile.EVIL, "answer_sha256": None},
    }
    lock = bundles.parent / "evil.json"
    lock.write_text(json.dumps([entry]), encoding="utf-8")
    build(bundles, lock=lock)
    page = read(bundles.parent / "site", "bundles/tiny/prompts/Z9.html")
    assert structure_of(page).wrong == []
    assert "<script>window" not in page
    assert "<img src=x" not in page


# --- the command, a preview ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--tombstone"], "--tombstone needs a lock"),
        (["--reason", "Because."], "it goes with --tombstone"),
        (["--lock", "x", "--tombstone", "--reason", "x" * 2001], "at most 2000 characters"),
    ],
)
def test_a_decision_about_nothing_is_refused(
    tiny: BundleFolder,
    bundles: Path,
    touchstone: Callable[..., Outcome],
    options: list[str],
    said: str,
) -> None:
    site = bundles.parent / "site"
    done = touchstone("build-site", "--bundles", bundles, "--site-dir", site, *options)
    assert done.code == 2
    assert said in done.err
    assert not site.exists()


def test_a_preview_warns_of_what_would_break_and_shows_the_rest(
    tiny: BundleFolder, bundles: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lock = published(bundles)
    drop_prompt(tiny)
    site = bundles.parent / "preview"
    config = load_config(config_file=str(ROOT / "mkdocs.yml"), site_dir=str(site))
    with options_set_to(bundles=str(bundles), lock=str(lock)):
        config.plugins.on_startup(command="serve", dirty=False)
        mkdocs_build(config)
    assert "gone: bundles/tiny/prompts/E2.html" in caplog.text
    assert str(lock) in config.watch
    assert (site / "bundles/tiny/prompts/E1.html").is_file()
    assert not (site / "bundles/tiny/prompts/E2.html").exists()
