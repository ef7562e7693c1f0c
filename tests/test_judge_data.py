"""The loaders of public ratings: a small file of each kind, and what is wrong in a bad one."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import judge_data
import metaeval_values
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judge_data import ChatReply, RatedSummary, StoryScores

from touchstone.errors import InputError

CHAT = {
    "scores": {"overall": 4, "coherence": 2.5},
    "predict_scores": {"overall": 1, "coherence": 0.5},
}
RATER = {"coherence": 1, "consistency": 5, "fluency": 4, "relevance": 2}
SUMMARY = {"model_id": "M8", "expert_annotations": [RATER] * 3, "turker_annotations": [RATER] * 5}
JUDGMENT = {
    "judge_id": "strict",
    "model_id": "small",
    "question_id": 81,
    "score_turn1": 8.5,
    "score_turn2": -1.0,
}
STORIES_CSV = 'Model,Coherence,Length\nHuman,"[1.5, 5]","[10, 20]"\nGPT,"[2, 3]","[7, 9]"\n'


def written(folder: Path, content: str | list[Any], name: str = "ratings.json") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    return path


def read_two_columns(path: Path) -> StoryScores:
    return judge_data.read_stories(path, ["Coherence", "Length"])


def test_chat_replies_are_read(tmp_path: Path) -> None:
    assert judge_data.read_chat_replies(written(tmp_path, [CHAT])) == [
        ChatReply({"overall": 1, "coherence": 0.5}, {"overall": 4, "coherence": 2.5})
    ]


def test_summaries_are_read_and_empty_lines_skipped(tmp_path: Path) -> None:
    odd = json.dumps({**SUMMARY, "decoded": "a\u2028b"}, ensure_ascii=False)
    text = f"{json.dumps(SUMMARY)}\n\n{odd}\r\n"

    summaries = judge_data.read_summaries(written(tmp_path, text))

    assert summaries == [RatedSummary("M8", (RATER,) * 3, (RATER,) * 5)] * 2


def test_stories_are_read_by_column_with_and_without_one_writer(tmp_path: Path) -> None:
    stories = read_two_columns(written(tmp_path, STORIES_CSV))

    assert stories.column("Coherence") == [1.5, 5, 2, 3]
    assert stories.column("Length", without="Human") == [7, 9]


def test_repeats_are_read(tmp_path: Path) -> None:
    path = written(tmp_path, [{"gpt4_score": [5, 5, 5]}, {"gpt4_score": [3, 2, 3], "idx": 1}])

    assert judge_data.read_repeats(path) == [(5, 5, 5), (3, 2, 3)]


def test_judgments_of_all_files_are_read_and_minus_one_is_missing(tmp_path: Path) -> None:
    written(tmp_path, json.dumps(JUDGMENT), "a/strict/single_grade/small.jsonl")
    other = {**JUDGMENT, "judge_id": "mild", "score_turn2": 10}
    written(tmp_path, json.dumps(other), "b/mild/single_grade/small.jsonl")
    written(tmp_path, "no judgment", "b/mild/pairwise/small.jsonl")

    assert judge_data.read_judgments(tmp_path) == {
        "strict": {("small", 81, 1): 8.5, ("small", 81, 2): None},
        "mild": {("small", 81, 1): 8.5, ("small", 81, 2): 10},
    }


def test_an_answer_judged_twice_by_one_judge_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, f"{json.dumps(JUDGMENT)}\n" * 2, "a/strict/single_grade/small.jsonl")

    with pytest.raises(InputError, match="turn 1 of question 81 by 'small' again") as refused:
        judge_data.read_judgments(tmp_path)
    assert str(path) in str(refused.value)


HUGE = "1" + "0" * 400
DEEP = "[" * 100_000
BAD_LINES: list[tuple[Callable[[Path], object], str, str, str]] = [
    (judge_data.read_chat_replies, "[{}]", "record 1", "predict_scores is missing"),
    (judge_data.read_chat_replies, "[7]", "record 1", "predict_scores is missing"),
    (judge_data.read_chat_replies, "{}", "", "holds no list"),
    (judge_data.read_chat_replies, "[]", "", "holds no records"),
    (judge_data.read_chat_replies, DEEP, "", "is no JSON"),
    (
        judge_data.read_chat_replies,
        '[{"predict_scores": {}, "scores": {}}]',
        "record 1",
        "same dim",
    ),
    (
        judge_data.read_chat_replies,
        '[{"predict_scores": {"a": 1}, "scores": {"b": 1}}]',
        *("record 1", "same dimensions"),
    ),
    *(
        (
            judge_data.read_chat_replies,
            f'[{{"predict_scores": {{"a": {value}}}, "scores": {{"a": 1}}}}]',
            *("record 1", reason),
        )
        for value, reason in [
            ("true", "'a' is no number"),
            ("null", "'a' is no number"),
            ("NaN", "finite"),
            (HUGE, "too large"),
        ]
    ),
    (judge_data.read_summaries, f"{json.dumps(SUMMARY)}\n{{broken", "json:2", "Expecting"),
    (judge_data.read_summaries, DEEP, "json:1", "recursion"),
    (judge_data.read_summaries, "\n \n", "", "holds no records"),
    (
        judge_data.read_summaries,
        json.dumps({**SUMMARY, "expert_annotations": [RATER] * 2}),
        *("json:1", "expert_annotations holds 2 raters, not 3"),
    ),
    *(
        (
            judge_data.read_summaries,
            json.dumps({**SUMMARY, "turker_annotations": [{**RATER, "fluency": bad}] * 5}),
            *("json:1", reason),
        )
        for bad, reason in [(0, "1 to 5"), (6, "1 to 5"), (2.0, "no int"), (True, "no int")]
    ),
    (read_two_columns, "", "", "lacks columns: Model, Coherence, Length"),
    (read_two_columns, "Model,Coherence,Length\n", "", "holds no records"),
    (read_two_columns, STORIES_CSV + "RoBERTa,[1]\n", "json:4", "2 cells, not 3"),
    (read_two_columns, STORIES_CSV + "X,[1],nothing\n", "json:4", "Length is no list of numbers"),
    (read_two_columns, STORIES_CSV + "X,[1],[]\n", "json:4", "Length is no list of numbers"),
    (read_two_columns, STORIES_CSV + "X,[1],[null]\n", "json:4", "Length is no number"),
    (read_two_columns, STORIES_CSV + 'X,[1],"[1, 2]"\n', "json:4", "not equally long"),
    (read_two_columns, STORIES_CSV + "GPT,[1],[1]\n", "", "two rows of one Model"),
    (read_two_columns, f"{STORIES_CSV}X,{'1' * 200_000},[1]", "line 4", "no CSV"),
    (judge_data.read_repeats, '[{"gpt4_score": [5, 5]}]', "record 1", "holds 2 scores, not 3"),
    (judge_data.read_repeats, '[{"gpt4_score": [5, 5, null]}]', "record 1", "no int"),
    (judge_data.read_repeats, '[{"gpt4_score": "555"}]', "record 1", "no list"),
]


@pytest.mark.parametrize(("read", "text", "where", "why"), BAD_LINES)
def test_a_bad_record_is_refused_with_its_place_and_reason(
    tmp_path: Path, read: Callable[[Path], object], text: str, where: str, why: str
) -> None:
    path = written(tmp_path, text)

    with pytest.raises(InputError) as refused:
        read(path)

    message = str(refused.value)
    assert where in message
    assert why in message
    assert str(path) in message
    assert len(message) < 1000


@pytest.mark.parametrize("grade", [0, 10.5, -2, None, "8", True])
def test_a_grade_off_the_scale_is_refused(tmp_path: Path, grade: object) -> None:
    lines = [json.dumps(JUDGMENT), json.dumps({**JUDGMENT, "score_turn2": grade})]
    written(tmp_path, "\n".join(lines), "a/strict/single_grade/small.jsonl")

    with pytest.raises(InputError, match=r"small\.jsonl:2: score_turn2 is n"):
        judge_data.read_judgments(tmp_path)


def test_of_many_bad_records_the_first_are_named(tmp_path: Path) -> None:
    path = written(tmp_path, "{}\n" * 500)

    with pytest.raises(InputError, match=r"can't be used: 500\. The first 20:") as refused:
        judge_data.read_summaries(path)
    assert len(refused.value.problems) == 20


def test_a_file_that_is_missing_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.json is missing"):
        judge_data.read_repeats(tmp_path / "nowhere.json")
    with pytest.raises(InputError, match="can't be opened"):
        judge_data.read_repeats(tmp_path)
    path = tmp_path / "latin.json"
    path.write_bytes(b'["\xe4"]')
    with pytest.raises(InputError, match="not UTF-8"):
        judge_data.read_repeats(path)
    with pytest.raises(InputError, match="holds no single_grade"):
        judge_data.read_judgments(tmp_path)


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*SUMMARY, *CHAT, *RATER, *JUDGMENT]), inner, max_size=3)
    ),
)
READERS = [
    judge_data.read_chat_replies,
    judge_data.read_summaries,
    read_two_columns,
    judge_data.read_repeats,
    metaeval_values.read_expected,
]


@given(json_values | st.text(max_size=60), st.sampled_from(READERS))
def test_whatever_a_file_holds_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: Any, read: Callable[[Path], object]
) -> None:
    path = tmp_path_factory.getbasetemp() / "anything.json"
    text = content if isinstance(content, str) else json.dumps([content])
    path.write_bytes(text.encode("utf-8", "surrogatepass"))

    with contextlib.suppress(InputError):
        assert read(path) is not None
