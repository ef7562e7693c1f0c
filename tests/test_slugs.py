"""Slugs: readable where they can be, safe everywhere, never two ids on one page."""

from __future__ import annotations

import hashlib
import re
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.slugs import case_collisions, pair_slugs, slug, slugs

SAFE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,67}[A-Za-z0-9_-])?")
WINDOWS_DEVICES = {"con", "prn", "aux", "nul"} | {
    f"{port}{number}" for port in ("com", "lpt") for number in range(10)
}

any_id = st.text(st.characters(exclude_categories=()), max_size=80)
tricky_id = st.one_of(
    st.text("aAbBeE1.-_ ßSsİıKk%/\\#", max_size=8),
    st.sampled_from(["CON", "con.txt", "..", "", ".", "index", "INDEX", "E1", "e1", "ss", "ß"]),
    st.text("0123456789abcdef", min_size=8, max_size=8).map(lambda digits: f"a-{digits}"),
    any_id,
)


def hashed(stem: str, raw_id: str) -> str:
    digest = hashlib.sha256(raw_id.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{stem}-{digest[:8]}"


@pytest.mark.parametrize(
    "plain",
    ["E1", "C3", "smollm2-135m", "Q4_K_M.gguf", "0", "a" * 60, "v1.5", "a-b_c.d", "console", "a-"],
)
def test_a_plain_id_is_its_own_slug(plain: str) -> None:
    assert slug(plain) == plain


@pytest.mark.parametrize(
    ("raw_id", "stem"),
    [
        ("ä ö", "a-o"),
        ("a/b", "a-b"),
        ("..", "id"),
        (".", "id"),
        ("", "id"),
        ("💥", "id"),
        ("CON", "CON"),
        ("con.txt", "con-txt"),
        ("Lpt1.tar.gz", "Lpt1-tar-gz"),
        ("COM0", "COM0"),
        ("index", "index"),
        ("README", "README"),
        ("E1#2", "E1-2"),
        ("%2e%2e", "2e-2e"),
        ("qwen2:0.5b", "qwen2-0-5b"),
        ("org/model", "org-model"),
        ("a--b", "a-b"),
        ("-a", "a"),
        ("a.", "a"),
        ("a\x00b\n", "a-b"),
        ("\ud800", "id"),
        ("x" * 300, "x" * 60),
        ("{{ config }}", "config"),
        ("a" * 59 + " b", "a" * 59),
        ("name-0123abcd", "name-0123abcd"),
    ],
)
def test_any_other_id_gets_a_readable_stem_and_its_hash(raw_id: str, stem: str) -> None:
    assert slug(raw_id) == hashed(stem, raw_id)


def test_slugs_never_change_between_versions() -> None:
    """Permalinks hang on these; a change here breaks links that were mailed years ago."""
    assert [slug(raw_id) for raw_id in ("E1", "ä ö", "a/b", "CON", "", "qwen2:0.5b")] == [
        "E1",
        "a-o-abc33751",
        "a-b-c14cddc0",
        "CON-a3dbc4b6",
        "id-e3b0c442",
        "qwen2-0-5b-74493de0",
    ]


def test_ids_that_differ_only_in_case_all_get_the_suffix() -> None:
    assert slugs(["E1", "e1", "E2"]) == {
        "E1": hashed("E1", "E1"),
        "e1": hashed("e1", "e1"),
        "E2": "E2",
    }
    assert case_collisions(["E1", "e1", "E2", "E1"]) == [("E1", "e1")]


def test_an_id_given_twice_is_no_collision() -> None:
    assert slugs(["E1", "E1"]) == {"E1": "E1"}


def test_a_pair_is_model_and_variant_with_two_hyphens() -> None:
    assert pair_slugs([("smollm2-135m", "greedy"), ("a/b", "x#2")]) == {
        ("smollm2-135m", "greedy"): "smollm2-135m--greedy",
        ("a/b", "x#2"): f"{hashed('a-b', 'a/b')}--{hashed('x-2', 'x#2')}",
    }


@given(st.one_of(tricky_id, any_id))
def test_every_slug_is_safe_as_a_file_name_and_in_a_url(raw_id: str) -> None:
    result = slug(raw_id)

    assert SAFE.fullmatch(result)
    assert "--" not in result
    assert result.split(".")[0].lower() not in WINDOWS_DEVICES
    assert result.lower() not in {"index", "readme"}


@given(st.sets(tricky_id, max_size=12))
def test_no_two_ids_share_a_slug_even_where_case_is_ignored(raw_ids: set[str]) -> None:
    made = slugs(raw_ids)

    assert set(made) == raw_ids
    assert len({one.casefold() for one in made.values()}) == len(raw_ids)


@given(st.lists(tricky_id, max_size=6), tricky_id)
def test_another_id_moves_none_but_its_twins_in_case(raw_ids: list[str], other: str) -> None:
    before, after = slugs(raw_ids), slugs([*raw_ids, other])

    moved = {raw_id for raw_id in raw_ids if before[raw_id] != after[raw_id]}
    assert all(raw_id.casefold() == other.casefold() for raw_id in moved)


@given(st.sets(st.tuples(tricky_id, tricky_id), max_size=8))
def test_no_two_pairs_share_a_slug(pairs: set[tuple[str, str]]) -> None:
    made = pair_slugs(pairs)

    assert all(made[a].casefold() != made[b].casefold() for a, b in combinations(pairs, 2))
    assert all(SAFE.fullmatch(part) for one in made.values() for part in one.rsplit("--", 1))


@pytest.mark.parametrize(
    "pairs",
    [
        [("a-", "b"), ("a", "-b")],
        [("a--b", "c"), ("a", "b--c")],
        [("a", "b"), ("A", "b"), ("a", "B")],
    ],
)
def test_hyphens_and_case_do_not_mix_pairs_up(pairs: list[tuple[str, str]]) -> None:
    assert len({one.casefold() for one in pair_slugs(pairs).values()}) == len(pairs)
