"""Suites: what is accepted, and every mistake named with file, line and key at once."""

from __future__ import annotations

import codecs
import hashlib
from pathlib import Path

import pytest
from conftest import SUITE_YAML

from touchstone.errors import SuiteError
from touchstone.suite import LoadedSuite, load_suite, parse_suite, shipped_suites

HEAD = """\
format: 1
id: small
title: Small
language: en
"""
DIMENSIONS = """\
dimensions:
  - {id: Q1, name: Correctness, weight: 3}
"""
PROMPTS = """\
prompts:
  - {id: E1, text: Write.}
"""
MINIMAL = HEAD + DIMENSIONS + PROMPTS


def parse(text: str | bytes) -> LoadedSuite:
    return parse_suite(text if isinstance(text, bytes) else text.encode(), "s.yaml")


def problems_of(text: str | bytes) -> list[tuple[str, str, str]]:
    with pytest.raises(SuiteError) as raised:
        parse(text)
    return [(one.code, one.where, one.message) for one in raised.value.problems]


def test_a_suite_with_only_the_required_keys_loads() -> None:
    loaded = parse(MINIMAL)

    assert loaded.suite.ko_rule is None
    assert loaded.suite.max_weighted == 15
    assert [(one.id, one.group) for one in loaded.suite.prompts] == [("E1", "E")]
    assert loaded.warnings == ()


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(codecs.BOM_UTF8 + MINIMAL.encode(), id="BOM"),
        pytest.param(MINIMAL.replace("\n", "\r\n").encode(), id="CRLF"),
        pytest.param(codecs.BOM_UTF8 + MINIMAL.replace("\n", "\r\n").encode(), id="both"),
        pytest.param(MINIMAL.rstrip().encode(), id="no newline at the end"),
    ],
)
def test_what_editors_do_to_a_file_does_no_harm(source: bytes, tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_bytes(source)
    loaded = load_suite(str(path))

    assert loaded.suite == parse(MINIMAL).suite
    assert loaded.source == source
    assert loaded.sha256 == hashlib.sha256(source).hexdigest()


@pytest.mark.parametrize(
    "written", ["NO", "yes", "true", "12:30", "007", "1e3", "4.0", "'null'", '"~"', "2026-12-01"]
)
def test_ids_are_read_as_written(written: str) -> None:
    text = MINIMAL.replace("E1", written).replace("Q1", written)
    text += f"ko_rule: {{dimension: {written}, threshold: 1, red_flag_scope: [{written}]}}\n"
    suite = parse(text).suite
    expected = written.strip("'\"")

    assert suite.prompts[0].id == expected
    assert suite.dimensions[0].id == expected
    assert suite.ko_rule is not None
    assert suite.ko_rule.dimension == expected
    assert suite.ko_rule.covers(suite.prompts[0])


def test_a_full_suite_keeps_everything() -> None:
    suite = parse(
        HEAD
        + """\
description: {de: Alles, en: Everything}
answer_rubric: quality-judge
escalation: {repeat: 2, window: 10, share: 0.5}
dimensions:
  - id: Q1
    name: {de: Korrektheit, en: Correctness}
    description: Right and complete.
    weight: 0.5
    levels: {1: bad, 3: {de: mittel, en: medium}, 5: good}
ko_rule: {dimension: Q1, threshold: 1, red_flag_scope: [E1, "group:D"]}
prompts:
  - {id: E1, group: X, title: Mail, system: Be brief., text: Write., expectation: Short.}
  - id: D1
    messages:
      - {role: user, content: Hi}
      - {role: assistant, content: Yes}
      - {role: user, content: Go}
    forbidden: Insults.
    max_tokens: 64
  - {id: D2, text: And now., follows: D1}
"""
    ).suite

    assert suite.dimensions[0].levels == {1: "bad", 3: {"de": "mittel", "en": "medium"}, 5: "good"}
    assert suite.escalation is not None
    assert suite.escalation.share == 0.5
    assert [one.group for one in suite.prompts] == ["X", "D", "D"]
    assert [one.content for one in suite.prompts[1].turns()] == ["Hi", "Yes", "Go"]
    assert suite.prompts[1].max_tokens == 64
    assert suite.prompts[2].follows == "D1"


MISTAKES = [
    ("unknown key", MINIMAL + "wieght: 3\n", "extra_forbidden", "s.yaml:9: wieght"),
    (
        "unknown key of a prompt",
        MINIMAL.replace("text: Write.", "text: Write., txt: W"),
        "extra_forbidden",
        "s.yaml:8: prompts[0].txt",
    ),
    ("duplicate YAML key", MINIMAL + "id: other\n", "duplicate_key", "s.yaml:9: id"),
    (
        "duplicate prompt id",
        MINIMAL + "  - {id: E1, text: Again.}\n",
        "duplicate_id",
        "s.yaml:9: prompts[1].id",
    ),
    (
        "duplicate dimension id",
        HEAD + DIMENSIONS + "  - {id: Q1, name: X, weight: 1}\n" + PROMPTS,
        "duplicate_id",
        "s.yaml:7: dimensions[1].id",
    ),
    (
        "unknown K.-o. dimension",
        MINIMAL + "ko_rule: {dimension: Q9, threshold: 2}\n",
        "unknown_dimension",
        "s.yaml:9: ko_rule.dimension",
    ),
    (
        "unknown prompt in the scope",
        MINIMAL + "ko_rule: {dimension: Q1, threshold: 2, red_flag_scope: [E1, E9]}\n",
        "unknown_prompt",
        "s.yaml:9: ko_rule.red_flag_scope[1]",
    ),
    (
        "unknown group in the scope",
        MINIMAL + 'ko_rule: {dimension: Q1, threshold: 2, red_flag_scope: ["group:Z"]}\n',
        "unknown_group",
        "s.yaml:9: ko_rule.red_flag_scope[0]",
    ),
    (
        "a word that is no scope",
        MINIMAL + "ko_rule: {dimension: Q1, threshold: 2, red_flag_scope: some}\n",
        "value_error",
        "s.yaml:9: ko_rule.red_flag_scope",
    ),
    (
        "threshold beyond the scale",
        MINIMAL + "ko_rule: {dimension: Q1, threshold: 6}\n",
        "less_than_equal",
        "s.yaml:9: ko_rule.threshold",
    ),
    (
        "threshold between two levels",
        MINIMAL + "ko_rule: {dimension: Q1, threshold: 2.5}\n",
        "int_type",
        "s.yaml:9: ko_rule.threshold",
    ),
    (
        "follows nothing",
        MINIMAL + "  - {id: E2, text: More., follows: E9}\n",
        "unknown_prompt",
        "s.yaml:9: prompts[1].follows",
    ),
    (
        "follows itself",
        MINIMAL + "  - {id: E2, text: More., follows: E2}\n",
        "circle",
        "s.yaml:9: prompts[1].follows",
    ),
    ("text of spaces", MINIMAL.replace("Write.", "' '"), "empty_prompt", "s.yaml:8: prompts[0]"),
    ("no text", MINIMAL.replace(", text: Write.", ""), "value_error", "s.yaml:8: prompts[0]"),
    (
        "text and messages",
        MINIMAL.replace("text: Write.", "text: W, messages: [{role: user, content: W}]"),
        "value_error",
        "s.yaml:8: prompts[0]",
    ),
    (
        "messages that end in the model's turn",
        MINIMAL.replace("text: Write.", "messages: [{role: assistant, content: W}]"),
        "value_error",
        "s.yaml:8: prompts[0]",
    ),
    ("empty id", MINIMAL.replace("E1", "''"), "empty_id", "s.yaml:8: prompts[0].id"),
    ("empty dimension id", MINIMAL.replace("Q1", "' '"), "empty_id", "s.yaml:6: dimensions[0].id"),
    ("id missing", MINIMAL.replace("id: E1, ", ""), "missing", "s.yaml:8: prompts[0].id"),
    ("id null", MINIMAL.replace("E1", "null"), "value_error", "s.yaml:8: prompts[0].id"),
    ("id a list", MINIMAL.replace("E1", "[E1]"), "value_error", "s.yaml:8: prompts[0].id"),
    ("no dimensions", HEAD + "dimensions: []\n" + PROMPTS, "value_error", "s.yaml:5: dimensions"),
    ("no prompts", HEAD + DIMENSIONS + "prompts:\n", "tuple_type", "s.yaml:7: prompts"),
    ("prompts empty", HEAD + DIMENSIONS + "prompts: []\n", "value_error", "s.yaml:7: prompts"),
    ("title empty map", MINIMAL.replace("Small", "{}"), "value_error", "s.yaml:3: title"),
    (
        "suite id",
        MINIMAL.replace("id: small", "id: Small Suite"),
        "string_pattern_mismatch",
        "s.yaml:2: id",
    ),
    ("older format", MINIMAL.replace("format: 1", "format: 0"), "format", "s.yaml:1: format"),
    ("format a word", MINIMAL.replace("format: 1", "format: one"), "int_type", "s.yaml:1: format"),
    ("format true", MINIMAL.replace("format: 1", "format: true"), "int_type", "s.yaml:1: format"),
    (
        "level beyond the scale",
        MINIMAL.replace("weight: 3", "weight: 3, levels: {6: x}"),
        "value_error",
        "s.yaml:6: dimensions[0].levels",
    ),
    (
        "level that is no text",
        MINIMAL.replace("weight: 3", "weight: 3, levels: {2: [x]}"),
        "value_error",
        "s.yaml:6: dimensions[0].levels.2",
    ),
    (
        "max_tokens",
        MINIMAL.replace("Write.", "W, max_tokens: 0"),
        "greater_than",
        "s.yaml:8: prompts[0].max_tokens",
    ),
    ("tab", MINIMAL + "ko_rule:\n\tdimension: Q1\n", "yaml", "s.yaml:10"),
    ("not UTF-8", MINIMAL.replace("Small", "\xf6").encode("latin-1"), "encoding", "s.yaml:3"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "code", "where"), [one[1:] for one in MISTAKES], ids=[one[0] for one in MISTAKES]
)
def test_a_mistake_is_named_with_file_line_and_key(
    text: str | bytes, code: str, where: str
) -> None:
    assert [found[:2] for found in problems_of(text)] == [(code, where)]


@pytest.mark.parametrize(
    "weight", ["0", "-1", "heavy", "true", "[3]", ".inf", ".nan", "1e999", "1e30"]
)
def test_a_weight_must_be_a_number_above_zero(weight: str) -> None:
    (found,) = problems_of(MINIMAL.replace("weight: 3", f"weight: {weight}"))

    assert found[1] == "s.yaml:6: dimensions[0].weight"


def test_a_circle_is_named_at_each_of_its_prompts() -> None:
    text = HEAD + DIMENSIONS + (
        "prompts:\n"
        "  - {id: A, text: a, follows: C}\n"
        "  - {id: B, text: b, follows: A}\n"
        "  - {id: C, text: c, follows: B}\n"
        "  - {id: D, text: d}\n"
        "  - {id: E, text: e, follows: D}\n"
    )  # fmt: skip

    assert [(code, where) for code, where, _ in problems_of(text)] == [
        ("circle", "s.yaml:8: prompts[0].follows"),
        ("circle", "s.yaml:9: prompts[1].follows"),
        ("circle", "s.yaml:10: prompts[2].follows"),
    ]


def test_mistakes_of_every_kind_come_in_one_message() -> None:
    text = """\
format: 1
id: small
title: Small
language: en
colour: red
dimensions:
  - {id: Q1, name: Correctness, weight: 0}
  - {id: Q1, name: Tone, weight: 1}
ko_rule: {dimension: Q9, threshold: 2, red_flag_scope: [E9, "group:Z"]}
prompts:
  - {id: E1, text: Write., text: Again.}
  - {id: E1, text: " "}
  - {id: E2, follows: E7}
"""
    assert [(code, where) for code, where, _ in problems_of(text)] == [
        ("extra_forbidden", "s.yaml:5: colour"),
        ("greater_than", "s.yaml:7: dimensions[0].weight"),
        ("duplicate_id", "s.yaml:8: dimensions[1].id"),
        ("unknown_dimension", "s.yaml:9: ko_rule.dimension"),
        ("unknown_prompt", "s.yaml:9: ko_rule.red_flag_scope[0]"),
        ("unknown_group", "s.yaml:9: ko_rule.red_flag_scope[1]"),
        ("duplicate_key", "s.yaml:11: prompts[0].text"),
        ("duplicate_id", "s.yaml:12: prompts[1].id"),
        ("empty_prompt", "s.yaml:12: prompts[1]"),
        ("unknown_prompt", "s.yaml:13: prompts[2].follows"),
        ("value_error", "s.yaml:13: prompts[2]"),
    ]


def test_a_newer_format_is_refused_with_both_versions_named() -> None:
    newer = MINIMAL.replace("format: 1", "format: 2") + "new_key: 1\n"
    with pytest.raises(SuiteError, match=r"has format 2; this version .* reads up to 1") as raised:
        parse(newer)

    assert raised.value.problems == ()
    assert "Update touchstone" in str(raised.value)


@pytest.mark.parametrize("text", ["", "# nothing\n", "- a\n- b\n", "word\n", "~\n", "[]\n"])
def test_a_file_that_is_no_map_is_no_suite(text: str) -> None:
    with pytest.raises(SuiteError, match=r"s\.yaml is no suite: it holds no keys"):
        parse(text)


def test_the_shapes_of_sections_do_not_matter_to_the_checks() -> None:
    text = "format: [1]\ndimensions: {a: 1}\nprompts: word\nko_rule: [1]\n"

    assert {where for _, where, _ in problems_of(text)} >= {
        "s.yaml:1: format",
        "s.yaml:2: dimensions",
        "s.yaml:3: prompts",
        "s.yaml:4: ko_rule",
    }


def test_an_anchor_bomb_is_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    with pytest.raises(SuiteError, match="repeats its parts too often"):
        parse("\n".join(lines))


def test_ids_that_differ_only_in_case_are_a_warning() -> None:
    text = SUITE_YAML + "  - {id: e1, text: Again.}\n"
    text = text.replace("ko_rule:", "  - {id: q1, name: Twin, weight: 1}\nko_rule:")

    assert [(one.code, one.where) for one in parse(text).warnings] == [
        ("case_collision", "s.yaml:5: dimensions"),
        ("case_collision", "s.yaml:12: prompts"),
    ]


# --- where suites come from -----------------------------------------------------------------------


@pytest.mark.parametrize("name", shipped_suites())
def test_a_suite_that_ships_loads_without_a_remark(name: str) -> None:
    loaded = load_suite(name)

    assert loaded.suite.id == name
    assert loaded.warnings == ()
    assert loaded.suite.ko_rule is not None


def test_a_suite_is_found_by_path_folder_and_name(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(MINIMAL, encoding="utf-8")

    assert load_suite(str(tmp_path)) == load_suite(str(tmp_path / "suite.yaml"))
    assert load_suite("buero").suite.language == "de"


def test_a_suite_that_does_not_exist_is_an_error_that_names_those_that_do() -> None:
    with pytest.raises(SuiteError, match="There is no suite 'nosuch'") as raised:
        load_suite("nosuch")

    assert "Suites that ship: buero, demo-en, office-en." in str(raised.value)


def test_problems_carry_the_path_that_was_given(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(MINIMAL + "colour: red\n", encoding="utf-8")
    with pytest.raises(SuiteError) as raised:
        load_suite(str(path))

    assert raised.value.problems[0].where == f"{path}:9: colour"
