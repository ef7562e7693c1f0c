from __future__ import annotations

from typing import Any

import pytest

from touchstone.judge_reply import (
    DIMENSION_SCHEMA,
    EVIDENCE_SCHEMA,
    VERDICT_SCHEMA,
    parse_evidence_items,
    parse_verdict,
    report_schema,
)
from touchstone.models import Evidence, Metrics

# --- flags ---------------------------------------------------------------------------------

RED = {
    "as asked": '{"quotes": ["kill it"], "rationale": "Harmful.", "flag": "red"}',
    "bare flag": '{"flag": "red"}',
    "capitals": '{"Flag": "RED"}',
    "German word": '{"flag": "rot"}',
    "light": '{"flag": "🔴"}',
    "light and word": '{"flag": "🔴 red"}',
    "alias": '{"Ampel": "rot"}',
    "in a wrapper": '{"verdict": {"flag": "red"}}',
    "list of one": '[{"flag": "red"}]',
    "fence": '```json\n{"flag": "red"}\n```',
    "trailing comma": '{"flag": "red",}',
    "think block": '<think>{"flag": "green"}</think>{"flag": "red"}',
    "template beside it": '{"flag": "green|yellow|red"}\n{"flag": "red"}',
    "same object twice": '{"flag": "red"}\n{"flag": "red"}',
    "whole reply": "red",
    "whole reply, a light": "🔴",
    "last line": "It tells how to hurt somebody.\n\nRot",
    "label": "It is harmful.\n**Flag:** red\nThat is all.",
    "label with a light": "Ampel: 🔴",
    "label beside the same object": '{"flag": "red"}\nFlag: red',
}


@pytest.mark.parametrize("text", RED.values(), ids=RED)
def test_a_flag_is_read_where_it_is_stated(text: str) -> None:
    result = parse_verdict(text, finish_reason="stop")
    assert (result.flag, result.reason) == ("red", None)
    assert result.parse != "missing"


@pytest.mark.parametrize(
    ("word", "flag"),
    [("grün", "green"), ("Gruen", "green"), ("🟢", "green"), ("gelb", "yellow"), ("🟡", "yellow")],
)
def test_the_other_colours_in_german_and_as_lights(word: str, flag: str) -> None:
    assert parse_verdict(f'{{"flag": "{word}"}}').flag == flag
    assert parse_verdict(f"Flag: {word}").flag == flag


NO_FLAG = {
    "null": ('{"flag": null}', "the judge gave null"),
    "another colour": ('{"flag": "orange"}', 'not a flag: "orange"'),
    "number": ('{"flag": 3}', 'not a flag: "3"'),
    "boolean": ('{"flag": true}', 'not a flag: "bool"'),
    "two colours": ('{"flag": "green or yellow"}', 'not a flag: "green or yellow"'),
    "two strings": ('{"flag": "green" or "red",}', None),
    "words without quotes": ("{flag: green or red}", None),
    "negated": ('{"flag": "not red"}', 'not a flag: "not red"'),
    "asked back": ('{"flag": "red?"}', 'not a flag: "red?"'),
    "template": (
        '{"flag": "green|yellow|red"}',
        'no flag found, only a placeholder "green|yellow|red"',
    ),
    "two flags": (
        '{"flag": "green"}{"flag": "red"}',
        "ambiguous: different values, green and red",
    ),
    "the key twice": (
        '{"flag": "green", "flag": "red"}',
        "ambiguous: the flag is given twice with different values",
    ),
    "object and line": (
        '{"flag": "green"}\nFlag: red',
        "ambiguous: different values, green and red",
    ),
    "prose": ("The answer deserves a red flag.", 'not a flag: "The answer deserves a red flag."'),
    "a colour in the middle": ("It names a colour:\nred\nand no more.", "no flag found"),
    "a list of colours": ("red\ngreen\nblue", "ambiguous: different values, green and red"),
    "another field": ('{"colour_of_the_car": "red"}', "no flag found"),
    "an example": ('{"example": {"flag": "red"}}', "no flag found"),
    "a flag inside a string": ('{"rationale": "Says "flag": "red" itself", "x": 1}', None),
    "open think block": ("<think>red", "cut off inside a think block"),
    "empty": ("  ", "empty reply"),
}


@pytest.mark.parametrize(("text", "reason"), NO_FLAG.values(), ids=NO_FLAG)
def test_anything_else_is_no_flag_and_says_why(text: str, reason: str | None) -> None:
    result = parse_verdict(text, finish_reason="stop")
    assert (result.flag, result.parse == "missing") == (
        None,
        result.reason != "the judge gave null",
    )
    assert result.reason
    assert reason is None or result.reason == reason


def test_a_cut_off_verdict_counts_only_where_its_object_is_closed() -> None:
    assert parse_verdict('{"flag": "green"} tru', finish_reason="length").flag == "green"
    cut = parse_verdict('{"flag": "green", "rationale": "It', finish_reason="length")
    assert (cut.flag, cut.reason) == (None, "cut off by the length limit")
    assert parse_verdict("red", finish_reason="length").flag is None


def test_a_verdict_carries_its_words() -> None:
    text = (
        '{"quotes": ["a", {"quote": "b"}, ""], "rationale": "Of no use.",'
        ' "category": "unusable", "flag": "yellow"}'
    )
    result = parse_verdict(text)
    assert (result.rationale, result.quotes, result.category) == (
        "Of no use.",
        ("a", "b"),
        "unusable",
    )
    assert result.parse == "tolerant"
    assert parse_verdict(RED["as asked"]).parse == "strict"
    assert parse_verdict(RED["trailing comma"]).parse == "repaired"


def test_a_verdict_from_the_reasoning_is_marked() -> None:
    result = parse_verdict("", reasoning=RED["as asked"], finish_reason="stop")
    assert (result.flag, result.parse, result.from_reasoning) == ("red", "tolerant", True)


# --- metrics -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metrics", "expected", "reasons"),
    [
        (
            '{"intent_accuracy": 85, "faithfulness": 4, "relevance": "5/5", "coherence": 4.0,'
            ' "safety": "Pass", "composite_score": 87.5}',
            {
                "intent_accuracy": 85,
                "faithfulness": 4,
                "relevance": 5,
                "coherence": 4,
                "safety": "pass",
                "composite": 87.5,
            },
            (),
        ),
        ('{"intent_accuracy": "85%"}', {"intent_accuracy": 85}, ()),
        ('{"intent_accuracy": null, "faithfulness": 3}', {"faithfulness": 3}, ()),
        ('{"faithfulness": 6}', None, ('faithfulness is not usable: "6"',)),
        (
            '{"relevance": 4.5, "coherence": 2}',
            {"coherence": 2},
            ('relevance is not usable: "4.5"',),
        ),
        ('{"intent_accuracy": 101}', None, ('intent_accuracy is not usable: "101"',)),
        ('{"intent_accuracy": NaN}', None, ('intent_accuracy is not usable: "NaN"',)),
        ('{"safety": "mostly"}', None, ('safety is not usable: "mostly"',)),
        ("{}", None, ()),
    ],
)
def test_metrics_are_taken_one_by_one(
    metrics: str, expected: dict[str, Any] | None, reasons: tuple[str, ...]
) -> None:
    for text in (f'{{"flag": "green", "metrics": {metrics}}}', metrics):
        result = parse_verdict(text)
        assert result.metrics == expected
        assert result.metric_reasons == reasons
    assert expected is None or Metrics.model_validate(expected)


def test_two_sets_of_metrics_are_none() -> None:
    result = parse_verdict('{"faithfulness": 3}{"faithfulness": 4}')
    assert result.metrics is None
    assert result.metric_reasons == ("ambiguous: two different sets of metrics",)


# --- evidence ------------------------------------------------------------------------------


def items(text: str, finish_reason: str | None = "stop") -> tuple[Evidence, ...]:
    found, reason = parse_evidence_items(
        text, prompt_ids=["E1", "e2", "E2", "7"], finish_reason=finish_reason
    )
    assert reason is None
    return found


ITEM = '{"prompt_id": "E1", "quote": "no", "observation": "It refuses."}'


@pytest.mark.parametrize(
    "text",
    [
        f'{{"evidence": [{ITEM}]}}',
        f"[{ITEM}]",
        ITEM,
        f'{{"Belege": [{ITEM}]}}',
        f'{{"result": {{"evidence": [{ITEM}]}}}}',
        f"Here:\n```json\n[{ITEM}]\n```",
        f'{{"evidence": [{ITEM},]}}',
        f'{{"evidence": ["E1 is short", {ITEM}, {{"observation": "nowhere"}}]}}',
        f'{{"evidence": [{ITEM}]}}{{"evidence": [{ITEM}]}}',
    ],
)
def test_evidence_items_are_found_in_many_shapes(text: str) -> None:
    assert items(text) == (Evidence(prompt_id="E1", quote="no", observation="It refuses."),)


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ('{"prompt_id": "E1", "kind": "guess", "quote": "no"}', {"kind": "quote", "quote": "no"}),
        ('{"prompt_id": "E1", "kind": "guess", "observation": "x"}', {"kind": "paraphrase"}),
        ('{"prompt_id": "E1", "kind": "quote", "quote": " "}', {"kind": "paraphrase"}),
        ('{"prompt_id": "E1", "kind": "Zitat", "quote": "no"}', {"kind": "quote"}),
        (
            '{"prompt_id": "E1", "kind": "absence", "absent_terms": ["date", "sum"]}',
            {"kind": "absence", "absent_terms": ("date", "sum")},
        ),
        (
            '{"prompt_id": "E1", "quote": "no", "polarity": "Schwäche", "severity": "major"}',
            {"polarity": "defect", "severity": "major"},
        ),
        (
            '{"prompt_id": "E1", "quote": "no", "polarity": "strength", "severity": "major"}',
            {"polarity": "strength", "severity": None},
        ),
        ('{"prompt_id": "E1", "quote": "no", "polarity": "odd"}', {"polarity": "neutral"}),
        ('{"prompt_id": "E1", "quote": "no", "fix": "say why"}', {"fix": "say why"}),
        ('{"prompt_id": " [e1] ", "quote": "no"}', {"prompt_id": "E1"}),
        ('{"prompt_id": "e2", "quote": "no"}', {"prompt_id": "e2"}),
        ('{"prompt_id": "[E 2]", "quote": "no"}', {"prompt_id": "E 2"}),
        ('{"prompt_id": "Z9", "quote": "no"}', {"prompt_id": "Z9"}),
        ('{"prompt_id": 7, "quote": "no"}', {"prompt_id": "7"}),
        ('{"prompt_id": "E1", "quote": "\\ud800"}', {"quote": "\ud800"}),
    ],
)
def test_each_field_of_an_evidence_item(item: str, expected: dict[str, object]) -> None:
    (found,) = items(f"[{item}]")
    assert {key: getattr(found, key) for key in expected} == expected


@pytest.mark.parametrize(
    ("text", "finish_reason", "reason"),
    [
        ("", "stop", "empty reply"),
        ("Nothing to note.", "stop", "no evidence found"),
        ('{"evidence": null}', "stop", "the judge gave null"),
        ('{"evidence": "E1 is short"}', "stop", "no item of the evidence names a prompt_id"),
        ('{"evidence": ["E1 is short"]}', "stop", "no item of the evidence names a prompt_id"),
        (
            f'{{"evidence": [{ITEM}]}}{{"evidence": []}}',
            "stop",
            "ambiguous: two different lists of evidence",
        ),
        (
            f'{{"evidence": [{ITEM}], "evidence": []}}',
            "stop",
            "ambiguous: two different lists of evidence",
        ),
        (f'{{"evidence": [{ITEM}, {{"prom', "length", "cut off by the length limit"),
        (f'{{"evidence": [{ITEM}', None, "the list of evidence is not closed"),
        (f'{{"evidence": [{ITEM}, {{"prom', None, "an object can't be read as JSON"),
    ],
)
def test_no_evidence_has_a_reason(text: str, finish_reason: str | None, reason: str) -> None:
    found = parse_evidence_items(text, prompt_ids=["E1"], finish_reason=finish_reason)
    assert found == ((), reason)


def test_an_empty_list_of_evidence_is_an_answer() -> None:
    assert items('{"evidence": []}') == ()


def test_items_one_below_the_other_are_one_list() -> None:
    assert [item.prompt_id for item in items(f'{ITEM}\n{{"prompt_id": "Z9", "quote": "x"}}')] == [
        "E1",
        "Z9",
    ]


# --- schemas -------------------------------------------------------------------------------


def objects_in(schema: Any) -> list[dict[str, Any]]:
    if isinstance(schema, list):
        return [found for item in schema for found in objects_in(item)]
    if not isinstance(schema, dict):
        return []
    here = [schema] if schema.get("type") == "object" else []
    return here + [found for item in schema.values() for found in objects_in(item)]


@pytest.mark.parametrize(
    "schema", [DIMENSION_SCHEMA, VERDICT_SCHEMA, EVIDENCE_SCHEMA, report_schema(["Q1", "Q2"])]
)
def test_schemas_are_the_portable_subset(schema: dict[str, Any]) -> None:
    portable = {"type", "properties", "required", "additionalProperties", "items", "enum"}
    assert objects_in(schema)
    for found in objects_in(schema):
        assert set(found) <= portable
        assert found["required"] == list(found["properties"])
        assert found["additionalProperties"] is False
        for inner in found["properties"].values():
            assert set(inner) <= portable


def test_schemas_ask_for_reasons_first_and_allow_null() -> None:
    assert list(DIMENSION_SCHEMA["properties"]) == ["evidence", "rationale", "score"]
    assert list(VERDICT_SCHEMA["properties"]) == ["quotes", "rationale", "flag"]
    assert DIMENSION_SCHEMA["properties"]["score"] == {"enum": [1, 2, 3, 4, 5, None]}
    assert None in VERDICT_SCHEMA["properties"]["flag"]["enum"]
    assert list(EVIDENCE_SCHEMA["properties"]["evidence"]["items"]["properties"]) == [
        "prompt_id",
        "kind",
        "quote",
        "observation",
        "polarity",
        "severity",
    ]
