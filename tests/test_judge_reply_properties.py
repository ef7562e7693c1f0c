"""What holds for any reply, and for the real ones beside the project."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from touchstone.judge_reply import parse_dimension_report, parse_evidence_items, parse_verdict
from touchstone.models import Dimension

DATA = Path(__file__).parents[1].parent / "shared" / "data"
DIMENSIONS = [
    Dimension(id="Q1", name={"de": "Korrektheit", "en": "Correctness"}, weight=3),
    Dimension(id="Q2", name={"de": "Vollständigkeit", "en": "Completeness"}, weight=1),
]
relaxed = settings(deadline=None)
FINISH = st.sampled_from(["stop", "length", None])


def dimensions(*names: str) -> list[Dimension]:
    return [Dimension(id=name, name=name, weight=1) for name in names]


EN = dimensions(
    "accuracy",
    "helpfulness",
    "clarity",
    "completeness",
    "safety",
    "tone",
    "instruction_following",
)
DE = dimensions(
    "korrektheit",
    "hilfsbereitschaft",
    "klarheit",
    "vollstaendigkeit",
    "sicherheit",
    "tonfall",
    "instruktionstreue",
)


def stands_alone(score: int, text: str) -> bool:
    """Say whether a digit stands in a text as a number of its own."""
    return re.search(rf"(?<![\d.,]){score}(?:\.0+)?(?![\d]|[.,][1-9])", text) is not None


def check(text: str, finish_reason: str | None, asked: str | None = "Q1") -> dict[str, int | None]:
    """Run all three parsers; return the scores, each of which stands in the text."""
    results = parse_dimension_report(
        text, DIMENSIONS, prompt_ids=["E1"], finish_reason=finish_reason, asked=asked
    )
    assert list(results) == ([asked] if asked else ["Q1", "Q2"])
    for result in results.values():
        assert (result.score is None) == (result.reason is not None)
        assert result.score is None or stands_alone(result.score, text)
        assert (result.parse == "missing") == (result.score is None and not result.honest_null)
    verdict = parse_verdict(text, finish_reason=finish_reason)
    assert (verdict.flag is None) == (verdict.reason is not None)
    evidence, reason = parse_evidence_items(text, prompt_ids=["E1"], finish_reason=finish_reason)
    assert reason is None or not evidence
    return {key: result.score for key, result in results.items()}


# --- any text ------------------------------------------------------------------------------

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()))
PIECES = st.lists(
    st.sampled_from(
        [
            *('{"score": ', '{"Q1": ', '"score"', "score", ": ", ", ", "{", "}", "[", "]", "[["),
            *('"', "'", "“", "”", "\\", "\n", " ", "```json", "```", "//", "/*", "#", "...", "-"),
            *("1", "4", "5", "6", "4.0", "4.5", "4/5", "4 von 5", "10", "null", "true", "four"),
            *("<think>", "</think>", "Score: ", "Q1: ", "**", "or", '"rationale": "x"', '"flag": '),
            *("red", '"green"', "🔴", '"evidence": [', '"prompt_id": "E1"', "\ud800", "\0", "NaN"),
        ]
    ),
    max_size=40,
).map("".join)


@relaxed
@given(text=ANY_TEXT | PIECES, finish_reason=FINISH, asked=st.sampled_from(["Q1", None]))
@example(text='{"score": 4, "score": 5,}', finish_reason="stop", asked="Q1")
def test_any_text_is_survived_and_no_score_is_made_up(
    text: str, finish_reason: str | None, asked: str | None
) -> None:
    check(text, finish_reason, asked)


@relaxed
@given(text=ANY_TEXT | PIECES, reasoning=ANY_TEXT | PIECES | st.none(), finish_reason=FINISH)
def test_reasoning_counts_only_beside_an_empty_content(
    text: str, reasoning: str | None, finish_reason: str | None
) -> None:
    results = parse_dimension_report(
        text,
        DIMENSIONS,
        prompt_ids=[],
        finish_reason=finish_reason,
        reasoning=reasoning,
        asked="Q1",
    )
    assert not (text.strip() and results["Q1"].from_reasoning)
    parse_verdict(text, finish_reason=finish_reason, reasoning=reasoning)
    parse_evidence_items(text, prompt_ids=[], finish_reason=finish_reason, reasoning=reasoning)


# --- a reply that is well formed -----------------------------------------------------------

PROSE = st.text(alphabet=st.characters(exclude_characters="{}[]<>`:=", exclude_categories=["Nd"]))
WORDS = st.text(alphabet=st.characters(exclude_characters="0123456789"))


@relaxed
@given(before=PROSE, after=PROSE, rationale=WORDS, score=st.integers(1, 5), finish_reason=FINISH)
def test_a_well_formed_reply_is_found_in_any_prose(
    before: str, after: str, rationale: str, score: int, finish_reason: str | None
) -> None:
    reply = {"evidence": [], "rationale": rationale, "score": score}
    text = f"{before}{json.dumps(reply)}{after}"
    assert check(text, finish_reason) == {"Q1": score}


@relaxed
@given(
    key=st.sampled_from(["score", "rating", "Bewertung"]),
    wrap=st.sampled_from(["{}", '{{"Q1": {}}}', '{{"Q1 – Korrektheit": {}}}', '{{"result": {}}}']),
    number=st.sampled_from(["{}", '"{}"', "{}.0", '"{}/5"', '"{} von 5"']),
    score=st.integers(1, 5),
    finish_reason=FINISH,
)
def test_shapes_combine(
    key: str, wrap: str, number: str, score: int, finish_reason: str | None
) -> None:
    inner = f'{{"{key}": {number.format(score)}, "rationale": "x"}}'
    assert check(wrap.format(inner), finish_reason) == {"Q1": score}


def damaged(data: st.DataObject, text: str) -> str:
    """Cut pieces out of a text and put others in."""
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 5)))
        junk = data.draw(st.text(alphabet="{}[]\"':,/*#- \nabn.", max_size=3))
        text = text[:start] + junk + text[end:]
    return text


@relaxed
@given(data=st.data(), score=st.integers(1, 5), finish_reason=FINISH)
def test_damage_may_lose_a_score_but_never_changes_it(
    data: st.DataObject, score: int, finish_reason: str | None
) -> None:
    item = '{"prompt_id": "E", "quote": "x"}'
    text = damaged(data, f'{{"evidence": [{item}], "rationale": "a", "score": {score}}}')
    (found,) = check(text, finish_reason).values()
    assert found in {score, None}


@relaxed
@given(data=st.data(), flag=st.sampled_from(["green", "yellow", "red"]), finish_reason=FINISH)
def test_damage_may_lose_a_flag_but_never_changes_it(
    data: st.DataObject, flag: str, finish_reason: str | None
) -> None:
    text = damaged(data, f'{{"quotes": ["x", "y"], "rationale": "a", "flag": "{flag}"}}')
    assert parse_verdict(text, finish_reason=finish_reason).flag in {flag, None}


@relaxed
@given(
    first=st.integers(1, 5),
    second=st.integers(1, 5),
    between=PROSE,
    form=st.sampled_from(['{{"score": {}}}', '{{"Q1": {}}}', '{{"score": {},}}', "Score: {}\n"]),
)
def test_two_different_scores_are_never_one(
    first: int, second: int, between: str, form: str
) -> None:
    assume(first != second)
    text = f'{{"score": {first}}}\n{between}\n{form.format(second)}'
    assert check(text, "stop") == {"Q1": None}


# --- real replies --------------------------------------------------------------------------


def real_replies() -> Mapping[str, str]:
    folder = DATA / "llm-samples" / "judge_raw"
    return {path.stem: path.read_text("utf-8") for path in sorted(folder.glob("*.txt"))}


def finish_reasons() -> dict[str, str]:
    files = sorted((DATA / "llm-samples").glob("judge_results_*.jsonl"))
    lines = [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
    return {line["name"]: line["finish"] for line in lines}


def drift_samples() -> list[dict[str, Any]]:
    path = DATA / "drift-samples" / "raw_judge_completions.jsonl"
    if not path.exists():
        pytest.skip("the drift samples are not beside the project")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


REAL = real_replies()
needs_real_replies = pytest.mark.skipif(not REAL, reason="no real judge replies beside the project")


@needs_real_replies
@pytest.mark.parametrize("name", REAL or ["absent"])
def test_a_real_reply_gives_only_scores_that_stand_under_the_dimension(name: str) -> None:
    text = REAL[name]
    finish_reason = finish_reasons().get(name)
    for asked in ("Q1", None):
        check(text, finish_reason, asked)
    results = parse_dimension_report(
        text, DE if "_de_" in name else EN, prompt_ids=["p01"], finish_reason=finish_reason
    )
    for key, result in results.items():
        written = re.findall(rf'"{key}"\s*:\s*\{{\s*"score"\s*:\s*(\d)', text)
        assert result.score is None or written == [str(result.score)]
        assert result.score is not None or not written


@needs_real_replies
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("qwen0.5b_de_none_t0.0_s1", [3, 4, 4, None, 4, 4, 4]),  # one key is misspelt
        ("qwen0.5b_de_none_t0.7_s1", [3, *[None] * 6]),  # breaks off with an ellipsis
        ("qwen0.5b_en_schema_t0.0_s1", [4, 3, 3, 3, 3, 3, 3]),  # braces inside strings
        ("smollm2-135m_de_object_t0.7_s2", [3, *[None] * 6]),  # cut off, one object closed
        ("smollm2-135m_en_object_t1.2_s2", [3, *[None] * 6]),  # list in a wrapper
        ("smollm2-135m_en_none_t0.7_s2", [None] * 7),  # numbers in prose
        ("smollm2-135m_en_none_t0.7_s1", [None] * 7),  # begins with "3. The Prompt"
    ],
)
def test_real_replies_read_by_hand(name: str, expected: list[int | None]) -> None:
    results = parse_dimension_report(
        REAL[name],
        DE if "_de_" in name else EN,
        prompt_ids=[],
        finish_reason=finish_reasons().get(name),
    )
    assert [result.score for result in results.values()] == expected


@pytest.mark.parametrize("model", ["smollm2-135m", "gemma3-270m"])
def test_real_replies_for_one_dimension_each(model: str) -> None:
    path = DATA / "llm-samples" / f"per_dimension_judge_{model}.json"
    if not path.exists():
        pytest.skip("no real judge replies beside the project")
    for asked, text in json.loads(path.read_text("utf-8")).items():
        result = parse_dimension_report(text, EN, prompt_ids=[], finish_reason="stop", asked=asked)
        assert result[asked].score == int(text.rstrip("}\n ")[-1])
        assert result[asked].rationale == json.loads(text)["rationale"]


def bare_line_scores(text: str) -> set[str]:
    """Return the numbers that fill a line, by a rule of its own: with a label, or alone."""
    pattern = r"^[\W_]*(?:(?:rating|bewertung)\W+)?([1-5])\W*$"
    return set(re.findall(pattern, text, re.IGNORECASE | re.MULTILINE))


def test_of_real_drifting_replies_only_whole_lines_are_taken() -> None:
    taken: Counter[str] = Counter()
    for sample in drift_samples():
        text = sample["raw"]
        (score,) = check(text, "stop").values()
        assert parse_verdict(text).flag is None
        assert parse_evidence_items(text, prompt_ids=["E1"])[0] == ()
        if score is not None:
            taken[sample["drift"]] += 1
            assert bare_line_scores(text) == {str(score)}
            official = sample["official_score"]
            assert official in (None, -1.0) or official == score
    # Read by hand: each is right. Nothing else is a line that holds one score and no more.
    assert taken == {
        'control: "n — text" / "n\\n\\ntext"': 45,
        "control: text after the verdict": 2,
        "placeholder [[rating]] kept, number outside": 2,
        "control: strict": 1,
        'control: German "Bewertung: [[n]]"': 1,
    }


def test_real_drifting_replies_say_nothing_when_cut_off() -> None:
    for sample in drift_samples():
        assert set(check(sample["raw"], "length").values()) == {None}
