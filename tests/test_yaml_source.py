"""YAML as people write it: strings as they stand, numbers where numbers belong, lines for all."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from touchstone.errors import InputError
from touchstone.fields import Written
from touchstone.yaml_source import (
    TYPED_KEYS,
    TYPED_TREES,
    YamlSource,
    decode_text,
    dump_yaml,
    parse_yaml,
)


def parse(text: str) -> YamlSource:
    return parse_yaml(text, "f.yaml", InputError)


def refusal(text: str) -> InputError:
    with pytest.raises(InputError) as raised:
        parse(text)
    return raised.value


@pytest.mark.parametrize(
    "word",
    [
        *("NO", "yes", "on", "true", "False", "12:30", "007", "1e3", "0x10", "1_000", "3", "4.5"),
        *("2026-12-01", "1.", "=", "<<", ".inf", ".nan", "nil", "None", "NUL", "E1"),
    ],
)
def test_words_are_read_as_they_stand(word: str) -> None:
    assert parse(f"id: {word}\nlist: [{word}]\n").data == {"id": word, "list": [word]}


@pytest.mark.parametrize("word", ["null", "Null", "NULL", "~", ""])
def test_null_is_nothing_but_a_quoted_null_is_a_word(word: str) -> None:
    assert parse(f"a: {word}\nb: '{word}'\nc: \"{word}\"\n").data == {
        "a": None,
        "b": word,
        "c": word,
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("weight: 3", 3),
        ("weight: 0.5", 0.5),
        ("weight: .5", 0.5),
        ("weight: 1e3", 1000.0),
        ("weight: '3'", "3"),
        ("weight: three", "three"),
        ("weight: 1e999", "1e999"),
        ("weight: .inf", ".inf"),
        ("weight: true", True),
        ("weight: null", None),
        ("format: 1", 1),
        ("seed: 7", "7"),
        ("weight: {a: 1}", {"a": "1"}),
        ("weight: [1]", ["1"]),
        ("parameters: {seed: 7, stop: [1, x], deep: {t: 0.1, on: true}}", ...),
        ("extra_body: 18446744073709551615", 18446744073709551615),
    ],
)
def test_numbers_are_read_under_the_keys_that_hold_numbers(text: str, value: object) -> None:
    if value is ...:
        value = {"seed": 7, "stop": [1, "x"], "deep": {"t": 0.1, "on": True}}
    assert next(iter(parse(text).data.values())) == value


def test_a_number_with_thousands_of_digits_stays_a_word() -> None:
    assert parse("weight: " + "9" * 5000).data == {"weight": "9" * 5000}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\nb: [\n", 2),
        ("a: 1\n\tb: 2\n", 2),
        ("a: 1\nb: 'open\nc: 3\n", 3),
        ("a: *unknown\n", 1),
        ("a: 1\n---\nb: 2\n", 2),
        ("a: 1\r\nb: [\r\n", 2),
        ("# \u2028 \x85 one line\nb: [\n", 2),
        ("a: 1\nb: x\x08y\n", 2),
        ("a: 1\nb: x\x00y\n", 2),
        ("a: b: c\n", 1),
        ("a: 1\nb\n", 2),
    ],
)
def test_a_syntax_error_names_its_line(text: str, line: int) -> None:
    problems = refusal(text).problems

    assert [problem.where for problem in problems] == [f"f.yaml:{line}"]
    assert problems[0].code == "yaml"


def test_a_bracket_left_open_names_where_it_was_opened() -> None:
    assert "it begins on line 2" in str(refusal("a: 1\nb: [x,\n  y,\n  z\n"))


def test_every_part_knows_its_line() -> None:
    source = parse("a: 1\nb:\n  - x\n  - c: 3\n    d: 4\n")

    assert source.where(("a",)) == "f.yaml:1: a"
    assert source.where(("b", 0)) == "f.yaml:3: b[0]"
    assert source.where(("b", 1, "d")) == "f.yaml:5: b[1].d"
    assert source.where(("b", 1, "missing")) == "f.yaml:4: b[1].missing"
    assert source.where(()) == "f.yaml:1"


@pytest.mark.parametrize(
    ("text", "code", "where"),
    [
        ("a: 1\nb: 2\na: 3\n", "duplicate_key", "f.yaml:3: a"),
        ("x:\n  a: 1\n  a: 2\n", "duplicate_key", "f.yaml:3: x.a"),
        ("? [a, b]\n: c\n", "complex_key", "f.yaml:1"),
        ("x:\n  ? {a: b}\n  : c\n", "complex_key", "f.yaml:2: x"),
    ],
)
def test_keys_that_can_not_be_meant_are_named(text: str, code: str, where: str) -> None:
    assert [(one.code, one.where) for one in parse(text).problems] == [(code, where)]


def test_the_first_of_two_equal_keys_is_kept() -> None:
    assert parse("a: 1\na: 2\n").data == {"a": "1"}


def test_tags_construct_nothing() -> None:
    data = parse("a: !!python/object/apply:os.system ['x']\nb: !!int '3'\nc: !mine d\n").data

    assert data == {"a": ["x"], "b": "3", "c": "d"}


def bomb(levels: int, width: int) -> str:
    lines = ["l0: &l0 [" + ", ".join("x" * width) + "]"]
    lines += [
        f"l{one}: &l{one} [" + ", ".join([f"*l{one - 1}"] * width) + "]" for one in range(1, levels)
    ]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (bomb(9, 10), "repeats its parts too often"),
        ("a: &a [*a]", "refers to itself"),
        ("&a {k: *a}", "refers to itself"),
        ("[" * 2000, "nested too deeply"),
        ("- " * 2000, "nested too deeply"),
        ('a: "\\UFFFFFFFF"', "beyond all bounds"),
        ("%YAML 1." + "9" * 5000 + "\n---\na: 1", "beyond all bounds"),
        ("x\ud800y", "forbids"),
    ],
)
def test_hostile_documents_are_refused_in_a_sentence(text: str, words: str) -> None:
    assert words in str(refusal(text))


def test_an_alias_that_is_no_bomb_is_read() -> None:
    assert parse("a: &a [x, y]\nb: *a\n").data == {"a": ["x", "y"], "b": ["x", "y"]}


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n"])
def test_an_empty_document_holds_nothing(text: str) -> None:
    assert parse(text).data is None


@pytest.mark.parametrize(
    ("content", "text"),
    [(b"\xef\xbb\xbfa: b", "a: b"), (b"a: b\r\n", "a: b\r\n"), ("ä💥".encode(), "ä💥")],
)
def test_utf8_is_decoded_with_or_without_a_bom(content: bytes, text: str) -> None:
    assert decode_text(content, "f.yaml", InputError) == text


@pytest.mark.parametrize(
    ("content", "where"),
    [(b"a: 1\nb: \xe4\n", "f.yaml:2"), ("a: b".encode("utf-16"), "f.yaml:1")],
)
def test_other_encodings_are_refused_with_their_line(content: bytes, where: str) -> None:
    with pytest.raises(InputError, match="Save it as UTF-8") as raised:
        decode_text(content, "f.yaml", InputError)

    assert [(one.code, one.where) for one in raised.value.problems] == [("encoding", where)]


class Part(Written):
    size: int


class Whole(Written):
    name: str
    parts: tuple[Part, ...] = ()
    by_level: dict[int, Part] | None = None


def test_all_problems_come_at_once_and_in_the_order_of_their_lines() -> None:
    text = (
        "parts:\n  - {size: 1}\n  - {size: big}\n  - {}\nby_level:\n  1: {size: x}\n"
        "extra: 1\nextra: 2\n"
    )
    with pytest.raises(InputError) as raised:
        parse(text).validate(Whole, InputError, hint="Read the manual.")

    assert [(one.where, one.message) for one in raised.value.problems] == [
        ("f.yaml:1: name", "is required"),
        ("f.yaml:3: parts[1].size", "must be a whole number, unable to parse string as an integer"),
        ("f.yaml:4: parts[2].size", "is required"),
        (
            "f.yaml:6: by_level.1.size",
            "must be a whole number, unable to parse string as an integer",
        ),
        ("f.yaml:7: extra", "is not a key here (a typing error?)"),
        ("f.yaml:8: extra", "stands here twice"),
    ]
    assert str(raised.value).endswith("\nRead the manual.")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: [a]", "must be a string"),
        ("name: a\nparts: b", "must be a list"),
        ("name: a\nparts: [b]", "must be a map"),
    ],
)
def test_messages_speak_of_yaml_not_of_python(text: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        parse(text).validate(Whole, InputError)

    assert [one.message for one in raised.value.problems] == [message]


# --- what is written is read back -----------------------------------------------------------------

any_text = st.text(st.characters(exclude_categories=()))
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | any_text
    | st.text("0123456789.eE+-_:~", max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=6,
)


@given(values)
def test_any_data_is_read_back_as_it_was_written(data: object) -> None:
    read = parse(dump_yaml({"parameters": data})).data

    assert repr(read) == repr({"parameters": data})


@given(st.dictionaries(any_text.filter(lambda key: key not in TYPED_KEYS | TYPED_TREES), any_text))
def test_any_strings_are_read_back_everywhere(data: dict[str, str]) -> None:
    assert parse(dump_yaml(data)).data == (data or {})


def test_what_is_written_reads_well() -> None:
    data = {"id": "büro", "note": "two\nlines", "no": "NO", "list": [{"a": "1e3", "b": "💥"}, {}]}

    assert dump_yaml(data) == (
        "id: büro\nnote: 'two\n\n  lines'\n'no': 'NO'\nlist:\n- a: \"1e3\"\n  b: 💥\n- {}\n"
    )


# --- any text at all ------------------------------------------------------------------------------

yaml_like = st.text(
    st.sampled_from(
        [*"ab1:-[]{}&*!|>'\"%@`,#?~ \n\t\r\\", "\x85", "\u2028", "\ufeff", "\x00", "é"]
    ),
    max_size=60,
)


@given(st.one_of(yaml_like, st.text(max_size=60), st.text(st.characters(exclude_categories=()))))
def test_any_text_is_read_or_refused_at_a_line_of_the_file(text: str) -> None:
    lines = len(re.split(r"\r\n?|\n", text))
    try:
        source = parse(text)
    except InputError as failure:
        places = [problem.where for problem in failure.problems]
    else:
        places = [problem.where for problem in source.problems]
        places += [source.where(loc) for loc in source.lines]
        assert only_plain_values(source.data)
    numbers = [int(found[1]) for place in places if (found := re.match(r"f\.yaml:(\d+)", place))]
    assert all(1 <= number <= lines for number in numbers)


def only_plain_values(data: Any) -> bool:
    if isinstance(data, dict):
        return all(isinstance(key, str) and only_plain_values(data[key]) for key in data)
    if isinstance(data, list):
        return all(only_plain_values(part) for part in data)
    return data is None or isinstance(data, str | int | float | bool)


class Anything(BaseModel):
    format: int = 0


@given(yaml_like)
def test_any_text_is_a_model_or_a_list_of_problems(text: str) -> None:
    try:
        found: Anything | str = parse(text).validate(Anything, InputError)
    except InputError as failure:
        found = str(failure)
    assert isinstance(found, Anything) or found.startswith("f.yaml ")
