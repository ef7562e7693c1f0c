"""The shapes: what they take, what they refuse, what they keep as it was."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from pydantic import ValidationError

from touchstone.models import (
    FORMAT,
    Answer,
    Dimension,
    ForeignScore,
    KoRule,
    Manifest,
    Metrics,
    ModelReport,
    Prompt,
    Review,
    Suite,
    Text,
    Verdict,
    group_of,
    pick_text,
)

ANSWER = {"model": "m", "variant": "v", "prompt_id": "E1", "text": "x"}
VERDICT = {"model": "m", "variant": "v", "prompt_id": "E1", "flag": "green"}
REPORT = {"model": "m", "variant": "v", "dim_scores": {"Q1": 4}}
REVIEW = {
    "model": "m",
    "variant": "v",
    "prompt_id": "E1",
    "decision": "accept",
    "author": {"id": "Ada", "kind": "human"},
    "date": "2026-12-01",
}
MANIFEST = {"format": 1, "id": "b", "suite": {"id": "s"}, "models": [{"model": "m"}]}
HOSTILE = ["", "\x00", "\ud800", "a\nb", "{{ x }}", "</script>", "💥" * 9, "‮", '"']


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_model_said_is_kept_as_it_is(text: str) -> None:
    answer = Answer.model_validate({**ANSWER, "text": text, "model": text})

    assert (answer.text, answer.model) == (text, text)
    assert answer.sha256 == hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@pytest.mark.parametrize("value", [None, 3, True, ["x"], b"x"])
def test_a_text_must_be_a_string(value: object) -> None:
    with pytest.raises(ValidationError, match="must be a string"):
        Answer.model_validate({**ANSWER, "text": value})


@pytest.mark.parametrize(
    ("fields", "is_empty"),
    [
        ({"text": "x"}, False),
        ({"text": ""}, True),
        ({"text": " \n\t"}, True),
        ({"text": "x", "error": {"type": "timeout"}}, True),
        ({"text": "x", "finish_reason": "length"}, False),
    ],
)
def test_an_answer_is_empty_if_there_is_nothing_to_judge(
    fields: dict[str, Any], is_empty: bool
) -> None:
    assert Answer.model_validate({**ANSWER, **fields}).is_empty is is_empty


@pytest.mark.parametrize("score", [1, 2, 3, 4, 5, None])
def test_scores_are_whole_numbers_from_one_to_five_or_missing(score: int | None) -> None:
    report = ModelReport.model_validate({**REPORT, "dim_scores": {"Q1": score}})

    assert report.dim_scores == {"Q1": score}


@pytest.mark.parametrize("score", [0, 6, -1, 4.5, 4.0, "4", True, [4], float("nan")])
def test_anything_else_is_no_score(score: object) -> None:
    with pytest.raises(ValidationError):
        ModelReport.model_validate({**REPORT, "dim_scores": {"Q1": score}})


def test_a_dimension_may_have_any_id() -> None:
    report = ModelReport.model_validate({**REPORT, "dim_scores": {"\ud800": 3, "": 2}})

    assert report.dim_scores == {"\ud800": 3, "": 2}


@pytest.mark.parametrize(
    ("model", "data"),
    [(Answer, ANSWER), (Verdict, VERDICT), (ModelReport, REPORT), (Review, REVIEW)],
)
def test_records_keep_what_a_newer_version_wrote(model: type[Any], data: dict[str, Any]) -> None:
    record = model.model_validate({**data, "novelty": {"deep": [1, "\ud800"]}})

    assert record.model_dump()["novelty"] == {"deep": [1, "\ud800"]}


@pytest.mark.parametrize(
    ("model", "data", "missing"),
    [
        *((Answer, ANSWER, key) for key in ANSWER),
        *((Verdict, VERDICT, key) for key in VERDICT),
        *((ModelReport, REPORT, key) for key in REPORT),
        *((Review, REVIEW, key) for key in REVIEW),
        *((Manifest, MANIFEST, key) for key in MANIFEST),
    ],
)
def test_required_fields_are_the_documented_ones(
    model: type[Any], data: dict[str, Any], missing: str
) -> None:
    assert model.model_validate(data)
    with pytest.raises(ValidationError, match=missing):
        model.model_validate({key: value for key, value in data.items() if key != missing})


def test_files_that_people_write_refuse_unknown_keys() -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        Manifest.model_validate({**MANIFEST, "colour": "red"})


@pytest.mark.parametrize("field", ["duration_s", "ttft_s"])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_times_are_finite(field: str, value: float) -> None:
    with pytest.raises(ValidationError, match="finite"):
        Answer.model_validate({**ANSWER, field: value})


def test_models_are_frozen() -> None:
    answer = Answer.model_validate(ANSWER)
    with pytest.raises(ValidationError, match="frozen"):
        answer.text = "other"  # type: ignore[misc]


@pytest.mark.parametrize("flag", ["green", "yellow", "red", None])
def test_flags(flag: str | None) -> None:
    assert Verdict.model_validate({**VERDICT, "flag": flag}).flag == flag


@pytest.mark.parametrize("flag", ["Green", "orange", "", 1, False])
def test_no_other_flags(flag: object) -> None:
    with pytest.raises(ValidationError):
        Verdict.model_validate({**VERDICT, "flag": flag})


@pytest.mark.parametrize(
    ("decision", "flag"),
    [
        ("accept", None),
        ("reject", None),
        ("flag:red", "red"),
        ("flag:yellow", "yellow"),
        ("flag:green", "green"),
    ],
)
def test_a_decision_sets_a_flag_only_if_it_names_one(decision: str, flag: str | None) -> None:
    assert Review.model_validate({**REVIEW, "decision": decision}).flag == flag


@pytest.mark.parametrize("decision", ["", "flag:", "flag:blue", "red", "accept\n", "ACCEPT"])
def test_other_decisions_are_refused(decision: str) -> None:
    with pytest.raises(ValidationError):
        Review.model_validate({**REVIEW, "decision": decision})


def test_older_names_of_metrics_are_read() -> None:
    metrics = Metrics.model_validate({"composite_score": 83.5, "notes": "short", "verdict": "ok"})

    assert metrics.composite == 83.5
    assert metrics.model_dump()["notes"] == "short"


@pytest.mark.parametrize("value", [0.8, "N/A", True, None, 3])
def test_foreign_scores_are_kept_as_they_are(value: object) -> None:
    score = ForeignScore.model_validate({"value": value, "min": 0, "max": 1, "source": "x"})

    assert score.value == value
    assert type(score.value) is (float if value == 3 else type(value))


# --- suites --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt_id", "group"),
    [("E1", "E"), ("C3", "C"), ("mail-1", "mail"), ("Ä1", "Ä"), ("12", ""), ("_x", ""), ("", "")],
)
def test_the_group_is_the_leading_letters(prompt_id: str, group: str) -> None:
    assert group_of(prompt_id) == group
    assert Prompt(id=prompt_id, text="x").group == group


def test_a_group_that_is_given_stands() -> None:
    assert Prompt(id="E1", group="D", text="x").group == "D"


@pytest.mark.parametrize(
    ("scope", "covered"),
    [
        ("all", ["E1", "E2", "D1", "12"]),
        ("none", []),
        ((), []),
        (("E1",), ["E1"]),
        (("group:E",), ["E1", "E2"]),
        (("group:E", "12"), ["E1", "E2", "12"]),
        (("group:",), ["12"]),
        (("E",), []),
    ],
)
def test_what_the_fatal_scope_covers(scope: Any, covered: list[str]) -> None:
    rule = KoRule(dimension="Q1", threshold=2, red_flag_scope=scope)
    prompts = [Prompt(id=prompt_id, text="x") for prompt_id in ("E1", "E2", "D1", "12")]

    assert [prompt.id for prompt in prompts if rule.covers(prompt)] == covered


def test_the_fatal_scope_is_everything_unless_said_otherwise() -> None:
    assert KoRule(dimension="Q1", threshold=2).red_flag_scope == "all"


def test_points_at_most() -> None:
    suite = Suite(
        format=FORMAT,
        id="s",
        title="S",
        language="en",
        dimensions=tuple(
            Dimension(id=f"Q{n}", name="x", weight=weight)
            for n, weight in enumerate((3, 2, 3, 2, 2, 1, 1))
        ),
        prompts=(Prompt(id="E1", text="x"),),
    )

    assert suite.max_weighted == 70
    assert suite.dimension("Q1") == suite.dimensions[1]
    assert suite.dimension("Q9") is None
    assert suite.prompt("E1") == suite.prompts[0]
    assert suite.prompt("E9") is None


@pytest.mark.parametrize(
    ("text", "languages", "picked"),
    [
        ("plain", ("de",), ("plain", None)),
        (None, ("de",), ("", None)),
        ({"de": "Ton", "en": "Tone"}, ("en", "de"), ("Tone", "en")),
        ({"de": "Ton", "en": "Tone"}, ("fr", "de"), ("Ton", "de")),
        ({"de": "Ton", "en": "Tone"}, ("fr",), ("Ton", "de")),
        ({"de": "Ton", "en": "Tone"}, (), ("Ton", "de")),
    ],
)
def test_a_shown_text_is_picked_by_language(
    text: Text | None, languages: tuple[str, ...], picked: tuple[str, str | None]
) -> None:
    assert pick_text(text, *languages) == picked


# --- the manifest --------------------------------------------------------------------------------


def test_the_judge_is_the_last_one_listed() -> None:
    assert Manifest.model_validate(MANIFEST).judge is None
    judges = [{"fingerprint": "a", "id": "first"}, {"fingerprint": "b", "id": "second"}]
    judge = Manifest.model_validate({**MANIFEST, "judges": judges}).judge

    assert judge is not None
    assert (judge.id, judge.kind) == ("second", "ai")


def test_an_alias_leads_from_a_pair_to_a_pair() -> None:
    aliases = {
        "models": [{"from": {"model": "a", "variant": "x"}, "to": {"model": "b", "variant": "x"}}]
    }
    manifest = Manifest.model_validate({**MANIFEST, "aliases": aliases})

    assert manifest.aliases.models[0].old.model == "a"
    assert manifest.model_dump(by_alias=True)["aliases"]["models"][0]["from"]["model"] == "a"


def test_a_model_without_a_variant_has_the_default_one() -> None:
    assert Manifest.model_validate(MANIFEST).models[0].pair == ("m", "default")
