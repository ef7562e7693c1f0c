"""``search``: what it prints for people and for scripts, and that its permalinks hold."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import MANIFEST_YAML, BundleFolder, Outcome, answer, verdict
from site_bundles import build

from touchstone.bundle import Bundle, find_bundles

ROOT = Path(__file__).parents[1]
SHIPPED = ROOT / "bundles"
Run = Callable[..., Outcome]


@pytest.fixture
def tiny(tmp_path: Path) -> BundleFolder:
    (tmp_path / "bundles").mkdir()
    folder = BundleFolder(tmp_path / "bundles" / "tiny")
    folder.write_lines(
        "answers.jsonl",
        answer("E1", text="A zebra\nand a \x1b[1m lion\x1b[0m."),
        answer("E2", text="One zebra more."),
    )
    folder.write_lines("verdicts.jsonl", {**verdict("E1", "red"), "rationale": "No zebra asked."})
    folder.report({"Q1": 3}, dim_rationales={"Q1": "Zebra after zebra."})
    return folder


@pytest.fixture
def search(tmp_path: Path, tiny: BundleFolder, touchstone: Run) -> Run:
    """Call ``touchstone search`` on the folder of the bundle tiny."""

    def call(*args: object) -> Outcome:
        where = ("--bundles", tiny.path.parent, "--cache", tmp_path / "cache")
        return touchstone("search", *args, *where)

    return call


def test_a_hit_is_a_permalink_with_the_words_beneath(search: Run) -> None:
    result = search("zebra", "lion")

    assert (result.code, result.err) == (0, "")
    assert result.out == (
        "bundles/tiny/prompts/E1.html#alpha--default\n"
        "  answer · alpha/default · E1 · red\n"
        "  A **zebra** and a \ufffd[1m **lion**\ufffd[0m.\n\n"
    )
    assert "\x1b" not in result.out


def test_json_holds_every_hit_and_nothing_else(search: Run) -> None:
    result = search("zebra", "--kind", "answer", "--flag", "red", "--json")

    assert (result.code, result.err) == (0, "")
    (hit,) = result.json
    assert hit.pop("score") > 0
    assert hit == {
        "bundle": "tiny",
        "model": "alpha",
        "variant": "default",
        "prompt_id": "E1",
        "dimension": None,
        "kind": "answer",
        "flag": "red",
        "snippet": "A zebra and a \x1b[1m lion\x1b[0m.",
        "hits": [[2, 7]],
        "url": "bundles/tiny/prompts/E1.html#alpha--default",
        "rank": 1,
    }
    (hit,) = search("zebra", "--kind", "rationale", "--json").json
    assert (hit["prompt_id"], hit["dimension"], hit["flag"]) == (None, "Q1", None)
    assert search("nowhere", "--json").json == []


def test_a_base_url_makes_permalinks_whole(search: Run) -> None:
    for url in ("https://eval.example/site", "https://eval.example/site/"):
        (hit,) = search("zebra", "--kind", "rationale", "--json", "--base-url", url).json
        assert hit["url"] == "https://eval.example/site/bundles/tiny/models/alpha--default.html#q1"
        assert search("lion", "--base-url", url).out.startswith(f"{url.rstrip('/')}/bundles/tiny/")


def test_no_hit_and_too_many_are_said(search: Run) -> None:
    result = search("nowhere")
    assert (result.code, result.out, result.err) == (0, "", "Nothing found.\n")
    result = search("zebra", "--limit", "1")
    assert result.code == 0
    assert len(result.out.splitlines()) == 4
    assert "4 hits, the best 1 of them shown" in result.err


def test_hostile_words_and_options_are_no_stack_trace(search: Run) -> None:
    for words in ('"', "*", "a NEAR", "text:", "🎉", "\ud800", "'; DROP TABLE texts"):
        assert search("--", words).code == 0
    assert search("--raw", '"').code == 2
    assert search("x", "--raw", "--prefix").code == 2
    assert search("x", "--model", "nobody").code == 2
    assert search("x", "--bundle", "none").code == 2
    assert search("x", "--limit", "0").code == 2
    assert search().code == 2


def test_models_with_a_variant_and_kinds_can_be_repeated(search: Run) -> None:
    options = ("--kind", "verdict", "--kind", "rationale", "--model", "alpha/default", "--json")
    kinds = {hit["kind"] for hit in search("zebra", *options).json}
    assert kinds == {"verdict", "rationale"}


def test_an_unreadable_bundle_is_skipped_with_exit_code_1(search: Run, tiny: BundleFolder) -> None:
    broken = BundleFolder(tiny.path.parent / "broken")
    broken.write("bundle.yaml", MANIFEST_YAML + "colour: \x1b[31mred\n")
    result = search("zebra", "--json")

    assert (result.code, len(result.json)) == (1, 4)
    assert "Warning: broken was not searched:" in result.err
    assert "\x1b" not in result.err


def test_lines_that_cannot_be_used_are_exit_code_5(search: Run, tiny: BundleFolder) -> None:
    with (tiny.path / "answers.jsonl").open("ab") as stream:
        stream.write(b"{}\n[1]\n")
    result = search("zebra")
    assert result.code == 5
    assert "Warning: tiny has lines that can't be used: answers.jsonl:3" in result.err


def test_a_damaged_index_is_named_on_stderr(search: Run, tmp_path: Path) -> None:
    search("zebra")
    (index,) = (tmp_path / "cache" / "search").iterdir()
    index.write_bytes(b"x" * 5000)
    result = search("zebra", "--json")

    assert (result.code, len(result.json)) == (0, 4)
    assert result.err.startswith("note: The search index ")


def test_where_there_is_nothing_to_search_a_way_out_is_named(
    touchstone: Run, tiny: BundleFolder, tmp_path: Path
) -> None:
    cache = ("--cache", tmp_path / "cache")
    result = touchstone("search", "x", "--bundles", tiny.path, *cache)
    assert result.code == 2
    assert f"--bundles {tiny.path.parent} --bundle tiny" in result.err
    result = touchstone("search", "x", "--bundles", tmp_path / "nowhere", *cache)
    assert result.code == 1
    assert "Say where the bundles are" in result.err
    result = touchstone("search", "x", "--bundles", tmp_path, *cache)
    assert (result.code, result.err) == (
        0,
        f"note: There is no bundle in {tmp_path}.\nNothing found.\n",
    )


@pytest.mark.skipif(sys.platform != "linux", reason="the cache folder is set by XDG_CACHE_HOME")
def test_the_index_lies_in_the_users_cache(tiny: BundleFolder, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "touchstone", "search", "zebra"]
    command += ["--bundles", str(tiny.path.parent)]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "home")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)

    assert done.stdout.count(b".html#") == 4
    (index,) = (tmp_path / "home" / "touchstone" / "search").iterdir()
    assert index.suffix == ".sqlite"


# --- the shipped bundles --------------------------------------------------------------------------


def test_every_permalink_is_one_the_site_promises(tmp_path: Path, touchstone: Run) -> None:
    shutil.copytree(SHIPPED, tmp_path / "bundles")
    site = build(tmp_path / "bundles")
    lines = (site / "permalinks.json").read_text(encoding="utf-8")
    where = ("--bundles", tmp_path / "bundles", "--cache", tmp_path / "cache")
    words = ("the OR a OR is OR and OR of OR to OR in", "--raw", "--limit", "10000", "--json")
    hits = touchstone("search", *words, *where).json

    assert {hit["kind"] for hit in hits} == {"answer", "verdict", "rationale"}
    assert {hit["bundle"] for hit in hits} == {path.name for path in find_bundles(SHIPPED)}
    assert [hit["url"] for hit in hits if f'"{hit["url"]}"' not in lines] == []


def test_every_answer_of_the_shipped_bundles_is_found_by_its_own_words(
    tmp_path: Path, touchstone: Run
) -> None:
    where = ("--bundles", SHIPPED, "--cache", tmp_path / "cache", "--json", "--limit", "10000")
    for path in find_bundles(SHIPPED):
        for record in list(Bundle.open(path).answers)[::9]:
            words = " ".join(record.text.replace('"', " ").split()[:12])
            found = touchstone("search", "--bundle", path.name, *where, "--", f'"{words}"').json
            places = {(hit["model"], hit["variant"], hit["prompt_id"]) for hit in found}
            assert not words or (record.model, record.variant, record.prompt_id) in places
    assert json.loads(touchstone("search", *where, "--", "zebrafish").out) == []
