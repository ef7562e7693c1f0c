from __future__ import annotations

import pytest

from touchstone.judge_reply import DimensionResult, parse_dimension_report
from touchstone.models import Dimension

PROMPTS = ["E1", "C3", "12"]
DIMENSIONS = [
    Dimension(id="Q1", name={"de": "Korrektheit", "en": "Correctness"}, weight=3),
    Dimension(id="Q2", name={"de": "Vollständigkeit", "en": "Completeness"}, weight=1),
    Dimension(id="Q3", name="Sicherheit", weight=2),
]
TICKS = "```"


def one(
    text: str, finish_reason: str | None = "stop", reasoning: str | None = None
) -> DimensionResult:
    results = parse_dimension_report(
        text,
        DIMENSIONS,
        prompt_ids=PROMPTS,
        finish_reason=finish_reason,
        reasoning=reasoning,
        asked="Q1",
    )
    assert list(results) == ["Q1"]
    return results["Q1"]


def scores(text: str, finish_reason: str | None = "stop") -> dict[str, int | None]:
    results = parse_dimension_report(
        text, DIMENSIONS, prompt_ids=PROMPTS, finish_reason=finish_reason
    )
    return {key: result.score for key, result in results.items()}


# --- what is absorbed ----------------------------------------------------------------------

ABSORBED = {
    "as asked": '{"evidence": [], "rationale": "Right.", "score": 4}',
    "bare score without rationale": '{"score": 4}',
    "nested under the id": '{"Q1": {"score": 4, "rationale": "Right."}}',
    "nested twice": '{"Q1": {"Q1": {"score": 4}}}',
    "bare integer under the id": '{"Q1": 4}',
    "in a wrapper": '{"scores": {"Q1": 4, "Q2": 2}}',
    "list in a wrapper": '{"dimensions": [{"id": "Q1", "score": 4}, {"id": "Q2", "score": 2}]}',
    "list of objects": '[{"id": "Q1", "score": 4}, {"id": "Q2", "score": 2}]',
    "list of one-key objects": '[{"Q2": {"score": 2}}, {"Q1": {"score": 4}}]',
    "list with one object": '[{"score": 4}]',
    "number as string": '{"score": "4"}',
    "out of five": '{"score": "4/5"}',
    "out of five, spaced": '{"score": "4 / 5"}',
    "out of five in words": '{"score": "4 out of 5 points"}',
    "trailing zero": '{"score": 4.0}',
    "score in an object": '{"score": {"value": 4}}',
    "alias of score": '{"Bewertung": 4, "Begründung": "Stimmt."}',
    "id in lower case": '{"q1": 4}',
    "id and name": '{"Q1 – Korrektheit": {"score": 4}}',
    "id and name with a colon": '{"Q1: Correctness": 4}',
    "German name": '{"KORREKTHEIT": 4}',
    "English name": '{"correctness": {"score": 4}}',
    "name in a field": '{"dimension": "Korrektheit", "score": 4}',
    "code fence": f'{TICKS}json\n{{"score": 4}}\n{TICKS}',
    "prose around it": 'My verdict:\n{"score": 4}\nI hope this helps.',
    "byte order mark": '\ufeff{"score": 4}',
    "doubled braces": '{{"score": 4}}',
    "closed think block": '<think>Maybe {"score": 2}?</think>{"score": 4}',
    "only the end of a think block": 'Maybe {"score": 2}?\n</think>\n{"score": 4}',
    "the same object twice": '{"score": 4}\n{"score": 4}',
    "the same key twice": '{"score": 4, "score": 4}',
    "a schema before it": '{"properties": {"score": {"enum": [1, 2, null]}}} {"score": 4}',
    "a template before it": '{"rationale": "...", "score": "<1-5>"}\n{"score": 4}',
    "trailing comma": '{"score": 4, "rationale": "Right.",}',
    "comment": '{"score": 4, // not a 5\n "rationale": "Right."}',
    "keys without quotes": '{score: 4, rationale: "Right."}',
    "single quotes": "{'score': 4, 'rationale': 'Right.'}",
    "smart quotes": "{“score”: 4, “rationale”: “Right.”}",
    "missing comma": '{"score": 4\n"rationale": "Right."}',
    "quotes inside a string": '{"rationale": "E1 says "no" twice.", "score": 4}',
    "line break inside a string": '{"rationale": "E1 is\nright.", "score": 4}',
    "missing last brace": '{"rationale": "Right.", "score": 4',
    "missing last brace in a fence": f'{TICKS}json\n{{"score": 4\n{TICKS}',
    "remark under an alias": '{"score": 4, "note": "3 of them are off"}',
    "number on a line beside an object": 'Step\n3\n{"score": 4}',
    "label before prose": f"Rating: 3 things are {'very ' * 10} good.\nScore: 4",
    "bare number": "4",
    "bare number with zero": " 4.0\n",
    "bare out of five": "4/5",
    "bare in double brackets": "[[4]]",
    "label": "Score: 4",
    "bold label": "**Score:** 4",
    "all bold": "**Score: 4**",
    "heading": "### Rating: [[4]]",
    "list item": "- **Bewertung:** 4/5",
    "German label": "Bewertung: 4 von 5",
    "label with the scale": "Score (1-5): 4",
    "label with the dimension's name": "1. Korrektheit: 4.",
    "piece of a broken object under its name": '"Q2": {"score": 2}, "Q1": {"score": 4}}',
    "label before the object": 'Q2: {"score": 2}\n**Q1:** {"score": 4}',
    "a line of its own": "The answers are mostly right.\n4\nOnly C3 is off.",
    "bare in a fence": f"{TICKS}\n4\n{TICKS}",
}


@pytest.mark.parametrize("text", ABSORBED.values(), ids=ABSORBED)
def test_drift_in_form_is_absorbed(text: str) -> None:
    result = one(text)
    assert (result.score, result.reason) == (4, None)
    assert result.parse != "missing"


NOT_A_SCORE = {
    "fraction": ('{"score": 4.5}', 'fractional score "4.5"'),
    "decimal comma": ('{"score": "4,5"}', 'fractional score "4,5"'),
    "decimal comma without quotes": ('{"score": 4,5}', 'fractional score "4,5"'),
    "fraction out of five": ('{"score": "4.5/5"}', 'not 1 to 5 of 5: "4.5/5"'),
    "zero": ('{"score": 0}', "out of range 0"),
    "six": ('{"score": 6}', "out of range 6"),
    "negative": ('{"score": -4}', "out of range -4"),
    "true": ('{"score": true}', "not a number: true"),
    "range": ('{"score": "3-4"}', 'range "3-4"'),
    "range in German": ('{"score": "3 bis 4"}', 'range "3 bis 4"'),
    "either": ('{"score": 4 or 5}', 'range "4 or 5"'),
    "difference": ('{"score": 4 - 5}', 'range "4 - 5"'),
    "words": ('{"score": "four or five"}', 'not a number: "four or five"'),
    "not available": ('{"score": "N/A"}', 'not a number: "N/A"'),
    "unknown dimension": ('{"Q9": {"score": 4}}', 'no score found (unknown dimension "Q9")'),
    "misspelt dimension": ('{"Korektheit": 4}', 'no score found (unknown dimension "Korektheit")'),
    "unknown name in a field": (
        '{"dimension": "Stil", "score": 4}',
        'no score found (unknown dimension "Stil")',
    ),
    "other dimension": ('{"Q2": 4}', 'no score found (only one for "Q2")'),
    "other dimension in a field": (
        '{"dimension": "Q2", "score": 4}',
        'no score found (only one for "Q2")',
    ),
    "placeholder": ('{"score": "<score>"}', 'no score found, only a placeholder "<score>"'),
    "the whole scale": ('{"score": "1-5"}', 'range "1-5"'),
    "list": ('{"score": [5, 1, 3]}', "not a single number"),
    "scores without names": ('{"scores": [4, 4, 4]}', "no score found"),
    "out of ten": ('{"score": "4/10"}', 'another scale "4/10"'),
    "out of ten in words": ('{"score": "4 out of 10"}', 'another scale "4 out of 10"'),
    "another maximum": ('{"score": 4, "max_score": 10}', 'another scale "10"'),
    "scale from zero": ('{"score": 4, "scale": "0-5"}', 'another scale "0-5"'),
    "scale around it": (
        '{"scale": "1-10", "scores": {"Q1": 4}}',
        'another scale "1-10"',
    ),
    "scale in prose": (
        'On a scale from 1 to 10:\n{"score": 4}',
        'another scale "scale from 1 to 10"',
    ),
    "exponent": ('{"score": 4e0}', 'not a plain number from 1 to 5: "4e0"'),
    "full width": ('{"score": "４"}', 'not a plain number from 1 to 5: "４"'),
    "leading zero": ('{"score": 04}', 'not a plain number from 1 to 5: "04"'),
    "sign": ('{"score": "+4"}', 'not a plain number from 1 to 5: "+4"'),
    "underscore": ('{"score": 4_0}', "out of range 40"),
    "percent": ('{"score": 4%}', 'not a plain number from 1 to 5: "4%"'),
    "two strings": ('{"score": "4" "5"}', None),
    "not a number": ('{"score": NaN}', 'not a number: "NaN"'),
    "two objects": ('{"score": 4}\n{"score": 5}', "ambiguous: different values, 4 and 5"),
    "two rationales": (
        '{"score": 4, "rationale": "Right."}\n{"score": 4, "rationale": "Fine."}',
        "ambiguous: two different objects",
    ),
    "echoed example": (
        '{"score": 3, "rationale": "Example."}\n{"score": 4, "rationale": "Right."}',
        "ambiguous: different values, 3 and 4",
    ),
    "null and a score": ('{"score": null}\n{"score": 4}', "ambiguous: two different objects"),
    "the key twice": (
        '{"score": 4, "score": 5}',
        "ambiguous: the score is given twice with different values",
    ),
    "the key twice in a broken object": (
        '{"score": 4, "score": 5,}',
        "ambiguous: the score is given twice with different values",
    ),
    "two aliases": ('{"score": 4, "rating": 5}', "ambiguous: different values, 4 and 5"),
    "the dimension twice": ('{"Q1": 4, "q1": 5}', "ambiguous: different values, 4 and 5"),
    "the rationale twice": (
        '{"score": 4, "rationale": "a", "rationale": "b"}',
        "ambiguous: rationale is given twice with different values",
    ),
    "object and line": ('Score: 3\n{"score": 4}', "ambiguous: different values, 3 and 4"),
    "a score key inside a string": ('{"rationale": "E1: "score": 2 is low", "score": 4}', None),
    "piece of a broken object under another name": ('"Q2": {"score": 4}}', None),
    "object under another label": ('Q2: {"score": 4}', 'no score found (only one for "Q2")'),
    "beside another dimension": ('{"Q2": {"score": 3}, "score": 4}', None),
    "beside a piece of a broken object": ('{"score": 4}, "Q2": {"score": 3}}', None),
    "beside an unreadable object": (
        '{"score" = 5}\n{"score": 4}',
        "ambiguous: beside the answer, an object can't be read as JSON",
    ),
    "open think block": ('<think>{"score": 4}', "cut off inside a think block"),
    "empty": ("", "empty reply"),
    "only thinking": ("<think>4</think>", "empty reply"),
    "bare fraction": ("4.5", 'fractional score "4.5"'),
    "bare decimal comma": ("4,5", 'fractional score "4,5"'),
    "bare words": ("three to four", 'not a number: "three to four"'),
    "bare out of ten": ("4/10", 'another scale "4/10"'),
    "bare full width": ("４", 'not a plain number from 1 to 5: "４"'),
    "bare list": ("[[5,1,3]]", 'not a plain number from 1 to 5: "[[5,1,3]]"'),
    "list behind a label": ("Rating: [[4], [1]]", 'not a plain number from 1 to 5: "[[4], [1]]"'),
    "label with another scale": ("Score (1-10): 4", 'another scale "1-10"'),
    "two lines": ("Score: 4\nScore: 5", "ambiguous: different values, 4 and 5"),
    "prose behind the number": ("Score: 4 because", 'not a plain number from 1 to 5: "4 because"'),
    "digit in prose": ("I would rate it 4 or so.", 'not a number: "I would rate it 4 or so."'),
    "number before prose": (
        "4 — mostly right",
        'not a plain number from 1 to 5: "4 — mostly right"',
    ),
    "glued to the next word": ("Fine.\n4Indifferent: 3", "no score found"),
    "score on a line of prose": ("So the verdict is clear. Score: [[4]]", "no score found"),
    "line about another dimension": ("Q2: 4", 'no score found (only one for "Q2")'),
}


@pytest.mark.parametrize(("text", "reason"), NOT_A_SCORE.values(), ids=NOT_A_SCORE)
def test_what_is_not_one_plain_score_stays_missing(text: str, reason: str | None) -> None:
    result = one(text)
    assert (result.score, result.parse, result.honest_null) == (None, "missing", False)
    assert result.reason
    assert reason is None or result.reason == reason


# Each rule that absorbs something, beside an input that looks alike and must not be touched.
TWINS = {
    "wrapper": ('{"result": {"score": 4}}', '{"example": {"score": 4}}'),
    "dimension name": ('{"Korrektheit": 4}', '{"Korrektheiten": 4}'),
    "score alias": ('{"Punktzahl": 4}', '{"Seitenzahl": 4}'),
    "value in an object": ('{"score": {"value": 4}}', '{"score": {"count": 4}}'),
    "out of five": ('{"score": "4 von 5"}', '{"score": "4 von 6"}'),
    "trailing zero": ('{"score": 4.00}', '{"score": 4.01}'),
    "number as string": ('{"score": "4"}', '{"score": "four"}'),
    "fence": (f"{TICKS}\nScore: 4\n{TICKS}", f"{TICKS}\nScore: 4; 3\n{TICKS}"),
    "think block": ('<think>3</think>{"score": 4}', '<thought>3{"score": 4}'),
    "template": ('{"score": "1|2|3|4|5"} {"score": 4}', '{"score": "1|2"} {"score": 4}'),
    "equal object": ('{"score": 4} {"score": 4.0}', '{"score": 4} {"score": 4.1}'),
    "trailing comma": ('{"score": 4,}', '{"score": 4, 5}'),
    "comment": ('{"score": 4 /* of 5 */}', '{"score": 4 of 6}'),
    "missing comma": ('{"score": 4 "rationale": "x"}', '{"score": 4 so "rationale": "x"}'),
    "keys without quotes": ("{score: 4}", "{score is 4}"),
    "smart quotes": ("{“score”: 4}", "{“score”: “4”, “score”: “3”}"),
    "missing brace": ('{"score": 4', '{"score": 4 and'),
    "whole line": ("Fine.\n4", "Fine.\n4 of them are right"),
    "label": ("Score: 4", "Scoreboard: 4"),
    "scale in the label": ("Score (1–5): 4", "Score (0–5): 4"),
    "scale in prose": ("Scale of 1 to 5.\nScore: 4", "Scale of 1 to 6.\nScore: 4"),
    "list item": ("- Score: 4", "- 4 right answers"),
    "name in a field": ('{"id": "Q1", "score": 4}', '{"id": "Q1-Q2", "score": 4}'),
}


@pytest.mark.parametrize(("absorbed", "untouched"), TWINS.values(), ids=TWINS)
def test_each_rule_leaves_its_look_alike_alone(absorbed: str, untouched: str) -> None:
    assert one(absorbed).score == 4
    assert one(untouched).score is None


# --- all dimensions in one call ------------------------------------------------------------

SEVERAL = {
    "as asked": ('{"Q1": {"score": 4}, "Q2": {"score": null}, "Q3": {"score": 2}}', (4, None, 2)),
    "one object a line": ('{"Q1": 4}\n{"Q2": 3}\n{"Q3": 2}', (4, 3, 2)),
    "labelled lines": ("Korrektheit: 4\nCompleteness: [[3]]\n**Sicherheit:** 2/5", (4, 3, 2)),
    "one is ambiguous": ('{"Q1": 4, "Q2": 3, "q2": 2, "Q3": 2}', (4, None, 2)),
    "one is wrong": ('{"Q1": 4, "Q2": "3-4", "Q3": 2}', (4, None, 2)),
    "transliterated name": ('{"vollstaendigkeit": 3}', (None, 3, None)),
    "misspelt name": ('{"vollestaendigkeit": 3}', (None, None, None)),
    "score without a name": ('{"score": 4}', (None, None, None)),
    "bare number": ("4", (None, None, None)),
    "label without a name": ("Score: 4", (None, None, None)),
    "three numbers": ('{"scores": [4, 3, 2]}', (None, None, None)),
    "under the wrong name": ('{"Q1": {"id": "Q2", "score": 4}}', (None, None, None)),
}


@pytest.mark.parametrize(("text", "expected"), SEVERAL.values(), ids=SEVERAL)
def test_one_reply_for_all_dimensions(text: str, expected: tuple[int | None, ...]) -> None:
    assert scores(text) == dict(zip(["Q1", "Q2", "Q3"], expected, strict=True))


def test_a_name_of_two_dimensions_is_never_guessed() -> None:
    twins = [Dimension(id="A", name="Tone", weight=1), Dimension(id="B", name="tone!", weight=1)]
    results = parse_dimension_report('{"Tone": 4, "A": 2}', twins, prompt_ids=[])
    assert [result.score for result in results.values()] == [2, None]
    assert results["B"].reason == 'no score found (two dimensions are called "Tone")'


@pytest.mark.parametrize("name", ["Evidence", "Rationale", "Score", "Value", "Note"])
def test_a_dimension_may_be_called_like_a_field(name: str) -> None:
    named = [Dimension(id="A", name=name, weight=1), Dimension(id="B", name="Tone", weight=1)]
    reply = '{"evidence": [], "rationale": "3 of 5 hold.", "score": 4}'
    for asked in ("A", "B"):
        results = parse_dimension_report(reply, named, prompt_ids=[], asked=asked)
        assert (results[asked].score, results[asked].parse) == (4, "strict")
    both = parse_dimension_report(f'{{"{name}": {{"score": 4}}, "B": 2}}', named, prompt_ids=[])
    assert [result.score for result in both.values()] == [4, 2]


def test_asking_for_an_unknown_dimension_is_an_error_of_the_caller() -> None:
    with pytest.raises(ValueError, match="'Q9' is not one of the dimensions"):
        parse_dimension_report("4", DIMENSIONS, prompt_ids=[], asked="Q9")


# --- cut off, reasoning, parse health ------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"rationale": "Right.", "score": 4}', 4),
        ('{"score": 4} and then', 4),
        ('{"score": 4, "rationale": "Ri', None),
        ('{"score": 4, "evidence": [{"prompt_id": "E1", "score": 3}]', None),
        ('{"Q1": {"score": 4}, "Q2": {"sco', 4),
        ('{"dimensions": {"Q2": {"score": 3}, "Q1": 4', None),
        ('{"Q2": {"score": 3}, "Q1": {"score": 4', None),
        ("4", None),
        ("Score: 4", None),
        ("<think>4", None),
    ],
)
def test_after_the_length_limit_only_closed_objects_count(text: str, expected: int | None) -> None:
    result = one(text, finish_reason="length")
    assert result.score == expected
    assert result.reason is None or "cut off" in result.reason


def test_a_number_at_the_very_end_counts_only_if_the_judge_ended_there() -> None:
    assert one('{"score": 4', finish_reason="stop").score == 4
    assert one('{"score": 4', finish_reason=None).score is None
    assert one('{"score": 4,', finish_reason=None).score is None
    assert one('{"score": 4, "rationale": "x', finish_reason=None).score == 4


def test_reasoning_is_read_where_the_content_is_empty_and_is_marked() -> None:
    reply = '{"evidence": [], "rationale": "Right.", "score": 4}'
    result = one(" \n", reasoning=reply)
    assert (result.score, result.parse, result.from_reasoning) == (4, "tolerant", True)
    assert one("", reasoning="4").score == 4
    assert one("", reasoning="Is it a 3?\n4").score is None
    assert one("", finish_reason="length", reasoning=reply).reason == "cut off by the length limit"
    kept = one('{"score": 2}', reasoning=reply)
    assert (kept.score, kept.from_reasoning) == (2, False)


@pytest.mark.parametrize(
    ("text", "parse"),
    [
        ('{"evidence": [], "rationale": "Right.", "score": 4}', "strict"),
        ('<think>Hm.</think>\n{"evidence": [], "rationale": "Right.", "score": 4}\n', "strict"),
        ('Sure: {"evidence": [], "rationale": "Right.", "score": 4}', "tolerant"),
        ('{"evidence": [], "rationale": "Right.", "score": "4"}', "tolerant"),
        ('{"evidence": ["E1"], "rationale": "Right.", "score": 4}', "tolerant"),
        ('{"rationale": "Right.", "score": 4}', "tolerant"),
        ('Sure: {"evidence": [], "rationale": "Right.", "score": 4,}', "repaired"),
    ],
)
def test_parse_health_says_how_the_score_was_found(text: str, parse: str) -> None:
    assert one(text).parse == parse


def test_strict_for_all_dimensions_means_the_exact_ids() -> None:
    inner = '{"evidence": [], "rationale": "Right.", "score": 4}'
    for key, parse in [("Q1", "strict"), ("q1", "tolerant")]:
        results = parse_dimension_report(f'{{"{key}": {inner}}}', DIMENSIONS, prompt_ids=[])
        assert results["Q1"].parse == parse


def test_an_honest_null_is_an_answer() -> None:
    result = one('{"evidence": [], "rationale": "Nothing was asked about it.", "score": null}')
    assert (result.score, result.honest_null, result.parse) == (None, True, "strict")
    assert (result.reason, result.rationale) == (
        "the judge gave null",
        "Nothing was asked about it.",
    )
    assert not one('{"score": null or 4,}').honest_null


def test_rationale_and_evidence_are_kept_where_the_score_is_wrong() -> None:
    result = one(
        '{"evidence": [{"prompt_id": "E1", "quote": "no"}], "rationale": "So-so.", "score": 3.5}'
    )
    assert (result.score, result.rationale, result.evidence[0].quote) == (None, "So-so.", "no")


def test_a_tag_quoted_in_a_json_reply_is_no_think_block() -> None:
    assert one('{"rationale": "E1 leaks its <think> tag.", "score": 2}').score == 2
