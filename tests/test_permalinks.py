"""Permalinks as data: what a lock may hold, where aliases lead, what is copied as evidence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from site_bundles import write_judged
from strict_page import TEXTS

from touchstone.aliases import followed
from touchstone.errors import SiteError
from touchstone.gui.bundle_view import BundleView
from touchstone.gui.copied_evidence import MOST_QUOTED, answer_evidence, escaped, quote_evidence
from touchstone.gui.history import Renames
from touchstone.gui.locale import Locale
from touchstone.gui.lock import Break, Lock, objection, read_lock
from touchstone.gui.permalinks import (
    Permalink,
    Tombstone,
    earlier_texts,
    order,
    parse_permalinks,
    permalink_json,
)
from touchstone.gui.safe_html import visible
from touchstone.gui.tombstone_pages import what_was, what_was_html
from touchstone.gui.wording import Wording
from touchstone.models import Aliases
from touchstone.slugs import slug

ENGLISH = Wording(Locale("en"))
ONE, TWO, THREE = "1" * 64, "2" * 64, "3" * 64
PAGE = "bundles/tiny/prompts/E1.html"


def record(**changes: Any) -> dict[str, Any]:
    """Return an entry of a lock that can be used, with changes."""
    return {
        "key": ["tiny", None, None, "E1", None],
        "url": PAGE,
        "answer_sha256": None,
        **changes,
    }


def parsed(*records: object) -> list[Permalink]:
    return parse_permalinks(json.dumps(records).encode(), "lock.json")


# --- the file --------------------------------------------------------------------------------

IDS = st.text(max_size=8) | st.sampled_from(["", "E1", "../..", "\ud800", "a\u2028b", "\x00", "字"])
HASHES = st.none() | st.sampled_from([ONE, TWO])
STONES = st.builds(
    Tombstone,
    reason=st.text(max_size=20),
    since=st.none() | st.text(min_size=1, max_size=20),
    answer_sha256=HASHES,
    earlier=st.lists(st.sampled_from([ONE, TWO]), max_size=2).map(tuple),
)
KEYS = st.tuples(IDS, st.none() | IDS, st.none() | IDS, st.none() | IDS, st.none() | IDS)
LINKS = st.builds(
    lambda key, place, name, anchor, sha256, stone: Permalink(
        key if place is None else (*key, place),
        f"bundles/{slug(key[0])}/{name}.html{anchor}",
        sha256,
        stone,
    ),
    KEYS,
    st.none() | IDS,
    st.sampled_from(["index", "run", "ko/index", "models/a--b", "prompts/E1"]),
    st.sampled_from(["", "#a--b", "#a--b.q1.1"]),
    HASHES,
    st.none() | STONES,
)


@given(st.lists(LINKS, unique_by=lambda link: link.url))
def test_a_lock_gives_back_what_was_written_one_record_to_a_line(links: list[Permalink]) -> None:
    lines = [permalink_json(link) for link in links]
    assert all(line.isascii() and line.isprintable() for line in lines)
    read = parse_permalinks(f"[{','.join(lines)}]".encode(), "lock.json")
    assert read == sorted(links, key=order)


def test_a_record_has_the_form_that_is_promised() -> None:
    link = Permalink(("tiny", "alpha", "x", "E1", None), f"{PAGE}#alpha--x", ONE)
    assert permalink_json(link) == (
        '{"key":["tiny","alpha","x","E1",null],"url":"bundles/tiny/prompts/E1.html#alpha--x",'
        f'"answer_sha256":"{ONE}"}}'
    )
    gone = Permalink(link.key, link.url, None, Tombstone("Why.", "2026-12-01", ONE, (TWO,)))
    assert json.loads(permalink_json(gone))["tombstone"] == {
        "reason": "Why.",
        "answer_sha256": ONE,
        "since": "2026-12-01",
        "earlier": [TWO],
    }


def test_keys_are_sorted_with_what_they_lack_first() -> None:
    keys: list[Any] = [
        ("b", None, None, None, None),
        ("a", "m", "v", "p", "d"),
        ("a", "m", "v", "p", None),
        ("a", "m", "v", None, None, "ko"),
        ("a", "m", "v", None, None),
        ("a", None, None, "p", None),
        ("a", None, None, None, "d"),
        ("a", None, None, None, None),
    ]
    links = [Permalink(key, f"bundles/{key[0]}/index.html") for key in keys]
    assert [link.key for link in sorted(links, key=order)] == keys[:0:-1] + keys[:1]


@pytest.mark.parametrize(
    "url",
    [
        "/etc/passwd",
        "bundles/tiny/../../x.html",
        "../bundles/tiny/prompts/E1.html",
        "bundles/../tiny/index.html",
        "https://evil.example/bundles/tiny/index.html",
        "//evil.example/bundles/tiny/index.html",
        "javascript:alert(1)",
        "index.html",
        "bundles/tiny.html",
        "bundles/tiny/prompts/E1.html?x=1",
        "bundles/tiny/prompts/E1.html#",
        'bundles/tiny/prompts/E1.html#"><script>',
        "bundles/tiny/prompts/E1.html#a b",
        "bundles/tiny/prompts/E1.html\n",
        "bundles\\tiny\\index.html",
        "bundles/tiny/prompts/%2e%2e.html",
        "bundles/tiny/.hidden.html",
        "bundles/tiny/prompts/NUL.html",
        "bundles/tiny/com1.x.html",
        "bundles/tiny/elsewhere/E1.html",
        "bundles/tiny/prompts/deep/E1.html",
        "bundles/tiny/permalinks.json",
        f"bundles/tiny/{'n' * 151}.html",
        "bundles/other/prompts/E1.html",
        "",
        7,
        None,
        ["bundles/tiny/index.html"],
    ],
)
def test_an_address_that_is_no_page_of_its_bundle_is_refused(url: object) -> None:
    with pytest.raises(SiteError, match=r"lock\.json can't be used: entry 2: "):
        parsed(record(), record(url=url))


@pytest.mark.parametrize(
    "changes",
    [
        {"key": None},
        {"key": "tiny"},
        {"key": ["tiny", None, None, None]},
        {"key": ["tiny", None, None, None, None, None, None]},
        {"key": ["tiny", 1, None, None, None]},
        {"key": [None, None, None, None, None]},
        {"answer_sha256": "abc"},
        {"answer_sha256": ONE.replace("1", "G")},
        {"answer_sha256": 1},
        {"tombstone": "gone"},
        {"tombstone": {"reason": 1}},
        {"tombstone": {"reason": "x" * 2001}},
        {"tombstone": {"since": []}},
        {"tombstone": {"answer_sha256": "x"}},
        {"tombstone": {"earlier": ONE}},
        {"tombstone": {"earlier": ["x"]}},
    ],
)
def test_an_entry_of_another_shape_is_refused_by_its_number(changes: dict[str, Any]) -> None:
    with pytest.raises(SiteError, match=r"can't be used: entry 1: ") as failure:
        parsed(record(**changes))
    assert "permalinks.json of the last publication" in failure.value.hint


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is not JSON"),
        (b"[1, 2", "is not JSON"),
        (b"\xff\xfe\xfa", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b'{"format": 1, "tool": "touchstone", "files": {}}', "another kind or of a newer"),
        (b"{}", "something else"),
        (b'"text"', "something else"),
        (b"[1]", "entry 1: it must be an object"),
        (b"[null]", "entry 1: it must be an object"),
    ],
)
def test_what_is_no_lock_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(SiteError, match=said):
        parse_permalinks(data, "lock.json")


def test_an_address_that_stands_twice_is_refused_and_unknown_fields_are_not() -> None:
    with pytest.raises(SiteError, match=r"entry 2: the address .* stands there twice"):
        parsed(record(), record(key=["tiny", None, None, None, None]))
    assert parsed(record(note="newer")) == [Permalink(("tiny", None, None, "E1", None), PAGE)]
    assert parsed() == []


def test_a_lock_that_is_missing_or_huge_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SiteError, match="There is no lock") as failure:
        read_lock(tmp_path / "permalinks.json")
    assert "The first publication has none" in failure.value.hint
    with pytest.raises(SiteError, match="There is no lock"):
        read_lock(tmp_path)
    huge = tmp_path / "huge.json"
    with huge.open("wb") as file:
        file.truncate(100_000_001)
    with pytest.raises(SiteError, match="larger than 100 MB"):
        read_lock(huge)


def test_earlier_texts_are_those_that_are_neither_the_last_nor_shown() -> None:
    assert earlier_texts(ONE, None, TWO) == ()
    before = Tombstone(answer_sha256=TWO, earlier=(THREE, ONE))
    assert earlier_texts(ONE, before, "") == (TWO, THREE)
    assert earlier_texts(ONE, before, TWO) == (THREE,)


# --- aliases ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("aliases", "leads"),
    [
        ({}, {}),
        ({"a": "X"}, {"a": "X"}),
        ({"a": "b", "b": "c", "c": "X"}, {"a": "X", "b": "X", "c": "X"}),
        ({"c": "X", "b": "c", "a": "b"}, {"a": "X", "b": "X", "c": "X"}),
        ({"a": "nowhere"}, {}),
        ({"a": "a"}, {}),
        ({"a": "b", "b": "a"}, {}),
        ({"a": "b", "b": "c", "c": "b"}, {}),
        ({"a": "b", "b": "a", "c": "X"}, {"c": "X"}),
        ({"X": "Y", "a": "X"}, {"a": "X"}),
        ({"X": "X"}, {}),
    ],
)
def test_aliases_are_followed_to_what_is_there(
    aliases: dict[str, str], leads: dict[str, str]
) -> None:
    assert followed(aliases, {"X", "Y"}) == leads


@given(st.dictionaries(st.integers(0, 8).map(str), st.integers(0, 8).map(str)))
def test_following_aliases_comes_to_an_end_at_what_is_there(aliases: dict[str, str]) -> None:
    for old, now in followed(aliases, {"0", "1"}).items():
        assert now in {"0", "1"}
        assert old not in {"0", "1"}
        at = old
        for _ in aliases:
            at = at if at == now else aliases[at]
        assert at == now


def test_a_long_chain_of_aliases_is_followed_at_once() -> None:
    chain = {str(n): str(n + 1) for n in range(100_000)}
    assert len(followed(chain, {"100000"})) == 100_000


def test_a_renamed_model_and_prompt_are_found_under_their_names_of_today() -> None:
    old = {"model": "a", "variant": "x"}
    aliases = Aliases.model_validate(
        {
            "models": [
                {"from": old, "to": {"model": "alpha", "variant": "x"}},
                {"from": old, "to": {"model": "beta", "variant": "x"}},
            ],
            "prompts": {"old": "E1"},
        }
    )
    renames = Renames.of(aliases, [("alpha", "x"), ("beta", "x")], ["E1"])
    assert renames.today(("a", "x", "old")) == ("alpha", "x", "E1")
    assert renames.today(("alpha", "x", "E1")) == ("alpha", "x", "E1")
    assert renames.former(("alpha", "x")) == [("a", "x")]
    assert not Renames.of(Aliases(), [("alpha", "x")], ["E1"])


# --- what is said of a permalink -------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (("m", "v", "p", None), "Answer of m (v) to p"),
        (("m", "v", "p", "d"), "Words quoted for d from the answer of m (v) to p"),
        (("m", "v", None, None), "Report of m (v)"),
        (("m", "v", None, None, "ko"), "K.-o. page of m (v)"),
        (("m", "v", None, "d"), "d in the report of m (v)"),
        (("m", "v", None, "d", "dimension"), "m (v) on the page of d"),
        ((None, None, "p", None), "Prompt p"),
        ((None, None, None, "d"), "Dimension d"),
        ((None, None, None, None), "Scorecard of tiny"),
        ((None, None, None, None, "ko/index"), "Page ko/index of tiny"),
        (("m", None, None, None), "Part of tiny"),
        (("", "", "", ""), "Words quoted for  from the answer of () to "),
    ],
)
def test_what_a_key_stands_for_is_said_in_words(parts: tuple[str | None, ...], said: str) -> None:
    assert what_was(("tiny", *parts), ENGLISH) == said


def test_hostile_ids_stay_text() -> None:
    key = ("tiny", "<b>%(id)s", "\u202ev\x00", "{{ 7 }}\n%s", None)
    assert what_was(key, ENGLISH) == "Answer of <b>%(id)s (\ufffdv\u2400) to {{ 7 }} %s"
    html = what_was_html(key, ENGLISH)
    assert "<bdi>&lt;b&gt;%(id)s (\ufffdv\u2400)</bdi>" in html


def test_the_first_twenty_breaks_are_named_and_the_rest_counted() -> None:
    links = [
        Permalink(("tiny", None, None, f"P{n:02}", None), f"bundles/tiny/prompts/P{n:02}.html")
        for n in range(25)
    ]
    error = objection([Break(link) for link in reversed(links)], Lock("l.json", links), [])
    lines = error.message.splitlines()
    assert lines[0] == "25 permalinks of the last publication (l.json) would break:"
    assert lines[1] == "  gone: bundles/tiny/prompts/P00.html (bundle tiny: Prompt P00)"
    assert lines[20:] == [
        "  gone: bundles/tiny/prompts/P19.html (bundle tiny: Prompt P19)",
        "  … and 5 more",
    ]
    for way in ("--tombstone", "aliases", "Restore"):
        assert way in error.hint


# --- evidence to copy ------------------------------------------------------------------------


@given(TEXTS)
def test_a_line_of_text_is_shown_letter_for_letter(text: str) -> None:
    line = " ".join(visible(text).split())
    markdown = escaped(line)
    assert "{url}" not in markdown
    assert "\n" not in markdown
    tokens = (
        MarkdownIt("commonmark", {"html": True})
        .enable(["table", "strikethrough"])
        .parse(f"> {markdown}\n\nafter")
    )
    blocks = [token.tag for token in tokens if token.level == 0 and token.nesting == 1]
    *quoted, after = [token for token in tokens if token.type == "inline"]
    children = [child for token in quoted for child in token.children or []]
    assert (blocks, after.content) == (["blockquote", "p"], "after")
    assert {child.type for child in children} <= {"text", "text_special"}
    assert "".join(child.content for child in children) == line


def test_evidence_holds_words_address_and_both_hashes(tmp_path: Path) -> None:
    view = BundleView(write_judged(tmp_path / "tiny").open())
    answer = view.answer(("alpha", "default"), "E1")
    assert answer is not None
    citation = next(c for c in view.citing(("alpha", "default"), "E1") if c.is_found)
    assert quote_evidence(view, answer, citation, ENGLISH) == (
        "> The alpha answer to E1\n"
        "\n"
        "Words quoted for Q1 from the answer of alpha (default) to E1: <{url}>\n"
        "\n"
        f"- Bundle tiny: sha256 `{view.bundle.sha256}`\n"
        f"- Answer: sha256 `{answer.sha256}`"
    )
    whole = answer_evidence(view, answer, ENGLISH)
    assert whole.startswith("> The alpha answer to E1 is long enough to quote.\n\nAnswer of alpha")


def test_evidence_of_a_hostile_answer_keeps_every_line_in_its_quote(tmp_path: Path) -> None:
    view = BundleView(write_judged(tmp_path / "tiny").open())
    answer = view.answer(("alpha", "default"), "E1")
    assert answer is not None
    text = "one\n\n# two {url}\r\n> </blockquote>\r- <img src=x>\n```\n" + "x" * MOST_QUOTED
    lines = answer_evidence(view, answer.model_copy(update={"text": text}), ENGLISH).splitlines()
    assert lines[:9] == [
        "> one",
        ">",
        r"> \# two \{url\}",
        ">",
        r"> \> \</blockquote\>",
        ">",
        r"> \- \<img src=x\>",
        ">",
        r"> \`\`\`",
    ]
    assert lines[10].endswith(r"x \[…\]")
    assert len(lines[10]) < MOST_QUOTED
    empty = answer.model_copy(update={"text": " \n"})
    assert answer_evidence(view, empty, ENGLISH).startswith("Answer of alpha (default) to E1: <")
