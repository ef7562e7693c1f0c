from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from touchstone.judge_reply import parse_dimension_report, parse_evidence_items, parse_verdict
from touchstone.models import Dimension
from touchstone.reply_json import MAX_OBJECTS, FoundObject, Reply, open_reply, visible_text
from touchstone.reply_syntax import Conflict, Number, Tree, Unsure, normal_key


def only(text: str, finish_reason: str | None = "stop") -> FoundObject:
    (found,) = open_reply(text, finish_reason=finish_reason).objects
    return found


def value(text: str, finish_reason: str | None = "stop") -> Tree:
    return only(text, finish_reason).value


# --- think blocks --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "visible", "left_open"),
    [
        ("no block", "no block", False),
        ("<think>a</think>b", "b", False),
        ("<THINKING>a</THINKING>b", "b", False),
        ("[THINK]a[/THINK]b", "b", False),
        ("a<think>b</think>c<think>d</think>e", "ace", False),
        ("a</think>b", "b", False),
        ("<think>a<think>b</think>c</think>d", "d", False),
        ("a<think>b</think>c</think>d", "d", False),
        ("a<think>b", "", True),
        ("<think>a</think>b<think>c", "", True),
        ('{"a": "<think>"}', '{"a": "<think>"}', False),
        ('<think>x</think>{"a": "</think>"}', '{"a": "</think>"}', False),
        ("<thinker>a", "<thinker>a", False),
    ],
)
def test_think_blocks(text: str, visible: str, left_open: bool) -> None:
    assert visible_text(text) == (visible, left_open)


# --- finding -------------------------------------------------------------------------------


def test_objects_are_found_and_the_rest_is_prose() -> None:
    reply = open_reply('a {"x": 1} b [{"y": 2}] c', finish_reason="stop")
    assert [found.value for found in reply.objects] == [{"x": Number("1")}, [{"y": Number("2")}]]
    assert reply.prose == "a \n b \n c"


@pytest.mark.parametrize(
    "text",
    [
        "{E1} and {C3}",
        "a { b } c",
        "[1], [p01] and [a link](x)",
        "if (x) { return; }",
        r"\frac{1}{2}",
        "}}}]]]",
        "{}",
    ],
)
def test_braces_in_prose_are_no_objects(text: str) -> None:
    reply = open_reply(text, finish_reason="stop")
    assert (reply.objects, reply.prose) == ((), text)


def test_braces_inside_strings_do_not_count() -> None:
    assert value('{"a": "}{", "b": "\\"}"}') == {"a": "}{", "b": '"}'}
    assert only('say \\"hi\\" {"a": "b"} }').value == {"a": "b"}


def test_whole_means_that_nothing_else_stands_there() -> None:
    assert only(' {"a": 1}\n').whole
    assert not only('{"a": 1}.').whole


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": {"x": 1}, "b": 2', {"a": {"x": Number("1")}}),
        ('{"a": {"x": 1}, "b": {"y": 2', {"a": {"x": Number("1")}}),
        ('{"d": [{"x": 1}, {"y": 2', {"d": [{"x": Number("1")}]}),
        ('[{"x": 1}, {"y": 2', [{"x": Number("1")}]),
        ('{"s": 1, "d": {"s": 2, "a": {"x": 1}, "b": 3', {"d": {"a": {"x": Number("1")}}}),
        ('{"a": {"x": 1,}, "b": {"y"', {"a": {"x": Number("1")}}),
    ],
)
def test_of_a_cut_off_object_only_the_closed_inner_objects_are_left(
    text: str, expected: Tree
) -> None:
    found = only(text, "length")
    assert (found.value, found.closed) == (expected, False)


def test_a_cut_off_object_without_a_closed_one_in_it_is_none() -> None:
    assert open_reply('{"a": 1, "b": [2', finish_reason="length").objects == ()


def test_an_open_object_is_complete_only_if_the_model_ended_there() -> None:
    assert only('{"a": "x"', "stop").closed
    assert not only('{"a": "x"', None).closed


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ('Q2: {"a": 1}', "Q2"),
        ('**My verdict:**\n{"a": 1}', "**My verdict"),
        ('So {"a": 1}', ""),
        ('{"a": 1}', ""),
    ],
)
def test_the_words_before_an_object_are_its_label(text: str, label: str) -> None:
    found = only(text)
    assert (found.value, found.label, found.fragment) == ({"a": Number("1")}, label, False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"Q2": {"a": 1}', {"Q2": {"a": Number("1")}}),
        ("x', 'Q2': {\"a\": 1}", {"Q2": {"a": Number("1")}}),
        ('"Q2"}: {"a": 1}', {"": {"a": Number("1")}}),
        (': {"a": 1}', {"": {"a": Number("1")}}),
        (': \\ {"a": 1}', {"": {"a": Number("1")}}),
    ],
)
def test_a_piece_of_a_broken_object_stays_under_its_key(text: str, expected: Tree) -> None:
    found = only(text)
    assert (found.value, found.fragment, found.whole) == (expected, True, False)


def test_an_unreadable_object_is_doubtful_if_it_has_a_key_of_an_answer() -> None:
    for keys, doubtful in [(["score"], True), (["other"], False), ([], False)]:
        reply = open_reply('{"score" = "the other one"}', telling=keys)
        assert (reply.unreadable, reply.doubtful) == (
            ("an object can't be read as JSON",),
            doubtful,
        )


# --- repair --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('{"a": 1,}', {"a": Number("1")}),
        ('{"a": 1.0, b: "x"}', {"a": Number("1.0"), "b": "x"}),
        ("{'a': None}", {"a": None}),
        ('{"a": 1 // c\n}', {"a": Number("1")}),
        ('{"a": 1, ...}', {"a": Number("1")}),
        (
            '{"a": "E1: 10 km, 2026-12-01", "b": 1,}',
            {"a": "E1: 10 km, 2026-12-01", "b": Number("1")},
        ),
        ('{"1": 2,}', {"1": Number("2")}),
        ('{"a": "5 of 7",}', {"a": "5 of 7"}),
        ('{"a": true,}', {"a": True}),
        ('{"a": "x", "a": "y",}', {"a": Conflict(("x", "y"))}),
        ('{"a": 1, "a": 1,}', {"a": Number("1")}),
        ('{"a": 1 or 2,}', {"a": Unsure("1", "1 or 2")}),
        ('{"a": "1" or "2",}', None),
        ('{"a": null or 2,}', {"a": Unsure("null", "null or 2")}),
        ('{"a":: 1,}', {"a": Unsure("1", "1")}),
        ('{"a": /* x */ 1,}', {"a": Unsure("1", "1")}),
        ('{"a": 1_0,}', {"a": Unsure("10", "10")}),
        ('{"a": 1e0,}', {"a": Unsure("1.0", "1.0")}),
        ('{"a": 1 so "b": 2}', {"a": Unsure("1", '1 so "b": 2'), "b": Number("2")}),
        ('{"a": 1, or 2 "b": 3}', None),
    ],
)
def test_a_repaired_value_counts_only_where_it_stands_alone(source: str, expected: Tree) -> None:
    found = only(source)
    assert found.repaired
    if expected is None:
        assert isinstance(found.value, dict)
        assert not isinstance(found.value["a"], Number)
        assert found.value["a"] != "1"
    else:
        assert found.value == expected


@settings(deadline=None)
@given(junk=st.text(alphabet="or-–/%|.~_*+e0123456789 abc()<>&", min_size=1))
@example(junk="/5")
@example(junk=" 5")
@example(junk=".")
def test_nothing_stands_between_a_repaired_number_and_its_end(junk: str) -> None:
    for found in open_reply('{"a": 4' + junk + ', "b": "x",}', finish_reason="stop").objects:
        assert isinstance(found.value, dict)
        number = found.value.get("a")
        if isinstance(number, Number):
            without_comment = re.split(r"//|/\*", f"4{junk}")[0]
            assert number.literal == without_comment.strip()


def test_a_key_that_must_not_be_lost_makes_an_object_unreadable() -> None:
    text = '{"r": "it says "score": 2 there", "score": 4}'
    assert open_reply(text, finish_reason="stop", telling=["other"]).objects
    reply = open_reply(text, finish_reason="stop", telling=["score"])
    assert (reply.objects, reply.unreadable) == ((), ("an object can't be read as JSON",))


# --- what there is no answer in ------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "finish_reason", "problem"),
    [
        ("", "stop", "empty reply"),
        ("\ufeff\n\0", "stop", "empty reply"),
        ("", "length", "cut off by the length limit"),
        ("<think>", "length", "cut off inside a think block"),
        ('{"a": 1}' * (MAX_OBJECTS + 1), "stop", "more than 200 objects in one reply"),
    ],
)
def test_a_reply_without_an_answer_names_its_problem(
    text: str, finish_reason: str, problem: str
) -> None:
    reply = open_reply(text, finish_reason=finish_reason)
    assert (reply.problem, reply.objects) == (problem, ())


def test_as_many_objects_as_allowed_are_read() -> None:
    assert len(open_reply('{"a": 1}' * MAX_OBJECTS).objects) == MAX_OBJECTS


@pytest.mark.parametrize(
    ("key", "normal"),
    [
        ("Q1 – Vollständigkeit", "q1vollstaendigkeit"),
        ("GROSSE_Straße", "grossestrasse"),
        ("Fla\u0308che", "flaeche"),
        ("ＳＣＯＲＥ", "score"),
        ("\ud800", ""),
    ],
)
def test_normal_key(key: str, normal: str) -> None:
    assert normal_key(key) == normal


# --- hostile input -------------------------------------------------------------------------

SIZE = 200_000
HOSTILE: dict[str, Callable[[], str]] = {
    "opening braces": lambda: "{" * 10_000,
    "braces and quotes": lambda: '{"' * (SIZE // 2),
    "nested objects": lambda: '{"a":' * (SIZE // 5),
    "nested and closed": lambda: '{"a":' * (SIZE // 6) + "1" + "}" * (SIZE // 6),
    "nested lists": lambda: '[{"a":' * (SIZE // 6),
    "closing braces": lambda: "}" * SIZE,
    "mixed brackets": lambda: '{"score": 4 ]' * (SIZE // 13),
    "many objects": lambda: '{"score": 4}' * (SIZE // 12),
    "many broken objects": lambda: '{"score": 4,}' * (SIZE // 13),
    "end tags": lambda: "</think>{" * (SIZE // 9),
    "duplicate keys": lambda: "{" + '"score": 4, ' * (SIZE // 12) + '"x": 1}',
    "different duplicates": lambda: "{" + ",".join(f'"score": {n}' for n in range(15_000)) + "}",
    "long string": lambda: '{"score": 4, "rationale": "' + "x" * SIZE + '"}',
    "long broken string": lambda: '{"score": 4, "rationale": "' + "1 a: " * 18_000 + '",}',
    "too long to repair": lambda: '{"score": 4, "rationale": "' + "x" * SIZE + '",}',
    "open string": lambda: '{"score": 4, "x": "' + "a" * 90_000,
    "parentheses": lambda: '{"score": ' + "(" * 90_000 + "}",
    "white space": lambda: "{" + " " * SIZE + '"score": 4}',
    "words behind a brace": lambda: ("{" + "a" * 60) * (SIZE // 61),
    "huge number": lambda: '{"score": ' + "9" * SIZE + "}",
    "backslashes": lambda: '{"a": "' + "\\" * SIZE,
    "lines": lambda: "4\n" * (SIZE // 2),
    "labels": lambda: "Score: 4\n" * (SIZE // 9),
    "emphasis": lambda: "*a*\n" * (SIZE // 4),
    "scales": lambda: "scale 1 - " * (SIZE // 10),
}


@pytest.mark.parametrize("build", HOSTILE.values(), ids=HOSTILE)
def test_hostile_replies_take_a_moment_at_most(build: Callable[[], str]) -> None:
    text = build()
    dimensions = [Dimension(id="Q1", name="Correctness", weight=1)]
    started = time.process_time()
    parse_dimension_report(text, dimensions, prompt_ids=["E1"], finish_reason="stop", asked="Q1")
    parse_verdict(text, finish_reason="length")
    parse_evidence_items(text, prompt_ids=["E1"])
    assert time.process_time() - started < 3, "three parses, one second each"


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ('{"result":' * 25 + '{"score": 4}' + "}" * 25, 4),
        ('{"result":' * 63 + '{"score": 4}' + "}" * 63, 4),
        ('{"result":' * 64 + '{"score": 4}' + "}" * 64, None),
        ('{"score": 4, "rationale": "\\ud800 \ud800 \\u0000 \0"}', 4),
        ('\0{"score": 4}', 4),
        ('{"score": 4, "x": NaN, "y": -Infinity}', 4),
        ('{"score": 4, "x": ' + "9" * 5_000 + "}", 4),
        ('{"score": 4, "x": 1e999}', 4),
        ("{" * 10_000 + '"score": 4}', 4),
    ],
)
def test_odd_but_harmless_replies_are_survived(text: str, score: int | None) -> None:
    dimensions = [Dimension(id="Q1", name="Correctness", weight=1)]
    results = parse_dimension_report(text, dimensions, prompt_ids=[], asked="Q1")
    assert results["Q1"].score == score


def test_an_object_nested_too_deeply_says_so() -> None:
    reply = open_reply('{"a":' * 65 + "1" + "}" * 65)
    assert reply == Reply(
        text='{"a":' * 65 + "1" + "}" * 65,
        prose="\n",
        unreadable=("an object is nested too deeply",),
    )
