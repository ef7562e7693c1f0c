"""Citations are found where they stand, and nothing else is taken for one."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from touchstone.evidence import Mention, find_dangling_mentions, find_mentions

IDS = ["E1", "E2", "E3", "E10", "C1", "C3", "D4"]
Named = list[tuple[str, tuple[str, ...]]]


def named(text: str, prompt_ids: list[str] = IDS, dimension_ids: tuple[str, ...] = ()) -> Named:
    """Return the words of each mention and what they stand for."""
    found = find_mentions(text, prompt_ids, dimension_ids)
    return [(text[m.start : m.end], m.prompt_ids) for m in found]


def only(*prompt_ids: str) -> Named:
    """Return mentions that are written as their ids."""
    return [(one, (one,)) for one in prompt_ids]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Weak at E1.", only("E1")),
        ("E10 is fine", only("E10")),
        ("schwach bei C3, sonst gut", only("C3")),
        ("as seen (E1, C3)", only("E1", "C3")),
        ("**E1**: good; _C3_ too", only("E1", "C3")),
        ('[E1], `E2`, "E3" and „C3“', only("E1", "E2", "E3", "C3")),
        ("E1: weak\nE2 – weak", only("E1", "E2")),
        ("E1/E2 and [D4]", only("E1", "E2", "D4")),
        ("E1's tone, E2’s tone", only("E1", "E2")),
        ("Prompt E1, task E2, Antwort E3", only("E1", "E2", "E3")),
        ("die E1-Antwort", only("E1")),
        ("nur E1,C3&D4", only("E1", "C3", "D4")),
        ("e1 and c3", [("e1", ("E1",)), ("c3", ("C3",))]),
        ("E1 and E3", only("E1", "E3")),
    ],
)
def test_a_mention_is_a_whole_id_in_any_usual_form(text: str, expected: Named) -> None:
    assert named(text) == expected


E1_TO_E3 = ("E1", "E2", "E3")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((t, [(t, E1_TO_E3)]) for t in ("E1–E3", "E1-E3", "E1—E3", "E1 – E3", "E1...E3")),
        *((t, [(t, E1_TO_E3)]) for t in ("E1 bis E3", "E1 to E3", "E1 through E3", "E1-3", "E1–3")),
        ("**E1**–**E3**", [("E1**–**E3", E1_TO_E3)]),
        ("`E1` bis `E3`", [("`E1` bis `E3`"[1:-1], E1_TO_E3)]),
        ("E1 – E3 are weak", [("E1 – E3", E1_TO_E3)]),
        ("E1, E2–E10", [("E1", ("E1",)), ("E2–E10", ("E2", "E3", "E10"))]),
        ("E2–D4", [("E2–D4", ("E2", "E3", "E10", "C1", "C3", "D4"))]),
        ("E1–E3, C3", [("E1–E3", E1_TO_E3), ("C3", ("C3",))]),
        ("E3–E1", only("E3", "E1")),
        ("E1–E1", only("E1", "E1")),
        ("E1–E9", only("E1")),
        ("E1–99", only("E1")),
        ("E1-3D print", only("E1")),
    ],
)
def test_a_range_names_all_between(text: str, expected: Named) -> None:
    assert named(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "E11 and E100",
        "XE1",
        "E1st",
        "E 1",
        "file_E1_x",
        "EE1",
        "ÄE1ß",
        "version E1.5",
        "E1\u0301",
    ],
)
def test_what_only_looks_like_an_id_is_none(text: str) -> None:
    assert named(text) == []


@pytest.mark.parametrize(
    "text",
    [
        *("on A4 paper", "DIN A4", "DIN-A4-Blatt", "auf A4-Papier", "two A4 pages", "an A4 sheet"),
        *("a C4 envelope", "Format: A4-Format", "E10 petrol", "E10-Sprit", "Super E10 Benzin"),
        *(
            "booked room C4",
            "Raum C4",
            "in cell A4",
            "Zelle A4",
            "Vitamin B12",
            "Q1 2027",
            "Q1/2027",
        ),
    ],
)
def test_units_papers_rooms_and_quarters_are_no_prompts(text: str) -> None:
    assert named(text, ["A4", "C4", "E10", "B12", "Q1"]) == []


@pytest.mark.parametrize(
    "text", ["A4 is weak", "the room A4 books", "Antwort A4", "bei A4: nichts"]
)
def test_the_same_id_is_one_where_nothing_speaks_against_it(text: str) -> None:
    assert named(text, ["A4"]) == only("A4")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Q3 is low because of Q1", only("Q1")),
        ("q3 is low", []),
        ("at prompt Q3, not in Q3", only("Q3")),
        ("Aufgabe „Q3“", only("Q3")),
    ],
)
def test_an_id_that_is_a_dimension_too_is_the_prompt_only_after_a_word_for_prompt(
    text: str, expected: Named
) -> None:
    assert named(text, ["Q1", "Q3"], ("Q3",)) == expected


def test_case_may_differ_only_where_one_prompt_is_meant() -> None:
    assert named("e1 E1", ["e1", "E1"]) == only("e1", "E1")
    assert named("Ab1 is none", ["AB1", "ab1"]) == []
    assert named("no, con", ["NO", "CON"]) == []


LONG = "x" * 300


@pytest.mark.parametrize(
    ("prompt_ids", "text", "expected"),
    [
        (["C#", "C"], "C# beats [C]", only("C#", "C")),
        (["a.b", "a"], "a.b, a", only("a.b", "a")),
        (["a/b"], "a/b (a/b)", only("a/b", "a/b")),
        (["ä ö"], "bei ä ö", only("ä ö")),
        (["ä ö"], "bei ä\u00a0ö", [("ä\u00a0ö", ("ä ö",))]),
        (["CON", ".."], "CON and task ..", only("CON", "..")),
        (["😀", "👍"], "see 😀, not 👍🏽", only("😀")),
        ([LONG], f"{LONG}, {LONG}x", only(LONG)),
        (["#", "%2e"], "C#, prompt #, %2e", only("#", "%2e")),
        (["E1", "E1-b"], "E1-b or E1", only("E1-b", "E1")),
        (["(x)", "[y]*", "."], "(x) [y]* z.", only("(x)", "[y]*")),
        (["mail to Bo"], "the mail to Bo", only("mail to Bo")),
        (["Ü1"], "bei Ü1", only("Ü1")),
        (["Ü1"], "bei U\u03081", [("U\u03081", ("Ü1",))]),
        (["U\u03081"], "bei Ü1", [("Ü1", ("U\u03081",))]),
        (["Ü1", "U\u03081"], "U\u03081 Ü1", only("U\u03081", "Ü1")),
        (["NO", "12:30"], "NO, 12:30", only("NO", "12:30")),
        ([""], "anything", []),
        ([], "E1", []),
    ],
)
def test_ids_may_hold_any_character(prompt_ids: list[str], text: str, expected: Named) -> None:
    assert named(text, prompt_ids) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("81 percent of a good summary", []),
        ("It says no. 81 is too much", only("81")),
        ("prompt 81, task no. 83, Frage #81", only("81", "83", "81")),
        ("tasks 81, 83 and 90", only("81", "83", "90")),
        ("[81] `a` **summary**", only("81", "a", "summary")),
        ("81: weak\n- **83**: strong", only("81", "83")),
        ("prompt a, see summary, at summary", only("a", "summary", "summary")),
        ("at a glance, (a) first", []),
        ("in (summary)", only("summary")),
        ("wait... and then", []),
        ("questions 81–90", [("81–90", ("81", "83", "90"))]),
    ],
)
def test_an_id_that_could_be_any_word_or_number_needs_a_cue(text: str, expected: Named) -> None:
    assert named(text, ["81", "83", "90", "a", "summary", ".."]) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("E99 is weak", ["E99"]),
        ("E4, E1 to E9", ["E4", "E9"]),
        ("(E1, G2)", ["G2"]),
        ("task G2; G7 summit", ["G2"]),
        ("E1–C9 and C2", ["C9", "C2"]),
        ("E407 additive", ["E407"]),
        ("E2024", []),
        ("E10 petrol, E99 petrol, Raum C9", []),
        ("It says “see E99” at E1", []),
        ("Q9 is a dimension", []),
        ("e99, XE99, E99a, E 99, file_E99_x", []),
        ("F16 and B12 are no group of these", []),
    ],
)
def test_what_is_written_like_an_id_but_is_none_dangles(text: str, expected: list[str]) -> None:
    found = find_dangling_mentions(text, IDS, ["Q9"])

    assert [one.prompt_ids for one in found] == [(one,) for one in expected]
    assert [text[one.start : one.end] for one in found] == expected


def test_without_a_scheme_nothing_dangles() -> None:
    assert find_dangling_mentions("E99, prompt G2", ["intro", "81"]) == []
    assert [m.prompt_ids for m in find_dangling_mentions("t-9 t-1", ["t-1"])] == [("t-9",)]


@settings(deadline=None)
@given(
    st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=5, unique=True),
    st.text(max_size=30),
)
def test_mentions_are_in_order_apart_and_hold_what_they_name(ids: list[str], text: str) -> None:
    end = 0
    for one in find_mentions(text, ids):
        assert end <= one.start < one.end <= len(text)
        end = one.end
        written, first = (readable(part) for part in (text[one.start : one.end], one.prompt_ids[0]))
        assert written.startswith(first)
        assert set(one.prompt_ids) <= set(ids)


def readable(text: str) -> str:
    composed = unicodedata.normalize("NFC", text)
    return "".join(" " if char.isspace() else char for char in composed).casefold()


@settings(deadline=None)
@given(st.lists(st.text("AB12-. \u0308ü", min_size=1, max_size=4), min_size=1, max_size=5))
def test_an_id_after_a_word_for_prompt_is_found_whatever_it_is(ids: list[str]) -> None:
    for one in ids:
        if one == one.strip() and not one.startswith("\u0308"):
            found = find_mentions(f"prompt {one}, see", ids)
            assert found
            assert readable(found[0].prompt_ids[0]) == readable(one)


def test_a_lone_id_is_its_own_mention() -> None:
    assert find_mentions("E1", ["E1"]) == [Mention(0, 2, ("E1",))]
