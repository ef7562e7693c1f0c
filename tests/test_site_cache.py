"""What a build keeps for the next one: found again, never trusted, never needed."""

from __future__ import annotations

import json
import multiprocessing
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scale_bundles import Shape, write_bundle, write_bundles
from site_bundles import build, read

from touchstone.gui.answer_cache import AnswerCache
from touchstone.gui.answer_pool import AnswerPool, render_all
from touchstone.gui.answer_texts import (
    AnswerText,
    RenderedPart,
    dump_parts,
    load_parts,
    render_answer,
)
from touchstone.gui.page_bodies import PageBodies
from touchstone.gui.plugin import options_set_to
from touchstone.gui.safe_html import SafeHtml, Span
from touchstone.gui.site_cache import SiteCache, key_of
from touchstone.gui.target import MANIFEST

KEY, OTHER = key_of("one"), key_of("other")
ENOUGH = Shape(prompts=140, models=4)
"""560 answers: kept from one build to the next, and rendered in several processes."""


def file_of(folder: Path) -> Path:
    (found,) = folder.glob("*.sqlite")
    return found


# --- values by key -------------------------------------------------------------------------


def test_a_value_is_found_by_a_later_build(tmp_path: Path) -> None:
    with SiteCache(tmp_path) as store:
        store.put([(KEY, b"value"), (OTHER, b"")])
    with SiteCache(tmp_path) as store:
        assert store.get(KEY) == b"value"
        assert store.get(OTHER) == b""
        assert store.has(KEY)
        assert store.get(key_of("unknown")) is None
        assert not store.has(key_of("unknown"))


def test_two_builds_at_once_see_what_the_other_keeps(tmp_path: Path) -> None:
    with SiteCache(tmp_path) as first, SiteCache(tmp_path) as second:
        first.put([(KEY, b"first")])
        second.put([(OTHER, b"second")])
        assert (first.get(OTHER), second.get(KEY)) == (b"second", b"first")


@pytest.mark.parametrize("column", ["value", "checksum"])
def test_a_damaged_value_is_not_given_out_and_can_be_kept_anew(tmp_path: Path, column: str) -> None:
    with SiteCache(tmp_path) as store:
        store.put([(KEY, b"value")])
    connection = sqlite3.connect(file_of(tmp_path))
    connection.execute(f"UPDATE entry SET {column} = zeroblob(16)")
    connection.commit()
    connection.close()
    with SiteCache(tmp_path) as store:
        assert store.get(KEY) is None
        store.put([(KEY, b"anew")])
        assert store.get(KEY) == b"anew"


def test_a_value_under_the_key_of_another_is_not_given_out(tmp_path: Path) -> None:
    with SiteCache(tmp_path) as store:
        store.put([(KEY, b"value")])
    connection = sqlite3.connect(file_of(tmp_path))
    connection.execute("UPDATE entry SET key = ?", (OTHER,))
    connection.commit()
    connection.close()
    with SiteCache(tmp_path) as store:
        assert store.get(OTHER) is None


@pytest.mark.parametrize("damage", [b"", b"no database at all" * 500])
def test_a_damaged_file_is_replaced(tmp_path: Path, damage: bytes) -> None:
    with SiteCache(tmp_path) as store:
        store.put([(KEY, b"value")])
    file_of(tmp_path).write_bytes(damage)
    with SiteCache(tmp_path) as store:
        assert store.get(KEY) is None
        store.put([(KEY, b"anew")])
    with SiteCache(tmp_path) as store:
        assert store.get(KEY) == b"anew"


def test_a_file_that_is_damaged_inside_is_replaced_while_it_is_used(tmp_path: Path) -> None:
    values = [(key_of(str(n)), Random(n).randbytes(3000)) for n in range(300)]
    with SiteCache(tmp_path) as store:
        store.put(values)
    path = file_of(tmp_path)
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    with SiteCache(tmp_path) as store:
        assert [store.get(key) for key, _ in values] == [None] * 300
        store.put(values)
        assert store.get(values[7][0]) == values[7][1]


def test_without_a_folder_to_write_to_values_are_kept_for_this_build(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with SiteCache(tmp_path / "file" / "site") as store:
        store.put([(KEY, b"value")])
        assert store.get(KEY) == b"value"
    with SiteCache(None) as store:
        assert store.get(KEY) is None


def test_what_was_not_used_longest_goes_where_there_is_too_much(tmp_path: Path) -> None:
    values = [(key_of(str(n)), Random(n).randbytes(10_000)) for n in range(100)]
    with SiteCache(tmp_path, most_bytes=400_000) as store:
        for value in values:
            store.put([value])
    with SiteCache(tmp_path, most_bytes=400_000) as store:
        kept = [store.has(key) for key, _ in values]
    assert kept == sorted(kept)  # the first went, the last stayed
    assert 20 <= sum(kept) <= 40


@given(st.lists(st.text(max_size=5), max_size=4), st.lists(st.text(max_size=5), max_size=4))
def test_keys_of_other_parts_are_others(one: list[str], other: list[str]) -> None:
    assert (key_of(*one) == key_of(*other)) == (one == other)


# --- the HTML of answers -------------------------------------------------------------------


def answers(count: int) -> list[AnswerText]:
    return [AnswerText(f"# Answer {n}\n\n- *one*\n- two", spans=()) for n in range(count)]


@pytest.fixture
def pool() -> Iterator[AnswerPool]:
    made = AnswerPool(workers=2, worth=300)
    yield made
    made.close()


def test_parts_can_be_written_down_whatever_they_hold() -> None:
    parts = [
        RenderedPart("thinking", SafeHtml("<p>\ud800\x00&lt;</p>"), 1),
        RenderedPart("answer", SafeHtml(""), 0),
    ]
    assert load_parts(dump_parts(parts)) == parts
    assert all(hasattr(one.html, "__html__") for one in load_parts(dump_parts(parts)))


def test_whatever_changes_the_html_changes_the_key() -> None:
    variants = [
        AnswerText("text"),
        AnswerText("text "),
        AnswerText("te", "xt"),
        AnswerText("text", "thought"),
        AnswerText("text", spans=(Span(0, 2, "a"),)),
        AnswerText("text", spans=(Span(0, 3, "a"),)),
        AnswerText("text", spans=(Span(0, 2, "a", "Q1"),)),
        AnswerText("text", spans=(Span(0, 2, "a", "", "Q1"),)),
        AnswerText("text", spans=(Span(0, 2, "a"), Span(0, 2, "b"))),
    ]
    assert len({one.key() for one in variants}) == len(variants)


def test_many_answers_are_rendered_in_processes_and_come_out_the_same(pool: AnswerPool) -> None:
    given = answers(450)
    made = [one for some in pool.render(given) for one in some]
    assert made == render_all(given)
    assert pool.started == 1


def test_few_answers_or_one_core_start_no_process(pool: AnswerPool) -> None:
    assert [one for some in pool.render(answers(299)) for one in some] == render_all(answers(299))
    assert pool.started == 0
    alone = AnswerPool(workers=1, worth=1)
    assert [one for some in alone.render(answers(5)) for one in some] == render_all(answers(5))
    assert (alone.started, alone.is_useful) == (0, False)


def test_if_the_processes_die_the_rest_is_rendered_here(pool: AnswerPool) -> None:
    made = pool.render(answers(2500))
    first = next(made)
    for process in multiprocessing.active_children():
        process.kill()
    rest = [one for some in made for one in some]
    assert [*first, *rest] == render_all(answers(2500))


def test_an_answer_that_is_kept_is_not_rendered_again(tmp_path: Path) -> None:
    given = answers(3)
    expected = [render_answer(one) for one in given]
    for rendered in (3, 0):
        with SiteCache(tmp_path) as store:
            cache = AnswerCache(store)
            assert [cache.parts(one) for one in given] == expected
            cache.write()
            assert cache.rendered == rendered


# --- the bodies of mkdocs' pages -----------------------------------------------------------


def test_a_body_takes_the_place_of_its_stand_in() -> None:
    bodies = PageBodies("<!--here-->")
    bodies.put("a.md", '<h2 id="x">T</h2><section data-search-exclude><p class="c">é &lt;</p>')
    assert bodies.fill("a.md", "<main><!--here--></main>") == (
        '<main><h2 id="x">T</h2><section><p class="c">é &lt;</p></main>'
    )
    words = bodies.searchable("a.md")
    assert words == '<h2 id="x">T</h2><section data-search-exclude> é &lt; '
    assert "a.md" in bodies
    with pytest.raises(ValueError, match="no place"):
        bodies.fill("a.md", "<main></main>")


# --- whole sites ---------------------------------------------------------------------------


@pytest.fixture
def bundles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_bundles(tmp_path / "bundles", 1, ENOUGH)
    return tmp_path / "bundles"


def files(site: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads(read(site, MANIFEST))["files"]
    return found


def test_a_site_is_the_same_with_an_empty_a_full_and_no_cache(bundles: Path) -> None:
    cold = files(build(bundles))
    assert len(cold) > ENOUGH.prompts
    assert files(build(bundles)) == cold
    file_of(bundles.parent / "cache/touchstone/site").write_bytes(b"damaged" * 1000)
    assert files(build(bundles)) == cold
    with options_set_to(cache=False):
        assert files(build(bundles)) == cold


def test_nothing_old_is_shown_when_a_bundle_or_the_language_changes(bundles: Path) -> None:
    build(bundles)
    write_bundle(bundles / "bundle-00", 0, ENOUGH, edition=1)
    changed = files(build(bundles))
    german = files(build(bundles, language="de"))
    with options_set_to(cache=False):
        assert files(build(bundles)) == changed
        assert files(build(bundles, language="de")) == german
