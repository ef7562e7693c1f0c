"""How a judge works: its identity, what fits its context, and evidence where answers don't fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from builders_judge import (
    ALL,
    GREEN,
    IN_ORDER,
    PAIR,
    RED,
    SUITE,
    TEXTS,
    by_kind,
    judge,
    kind_of,
    noted,
    questions,
    reports,
    scored,
    verdicts,
)
from builders_run import answer, answered, failed, suite_of

from touchstone.endpoints import ChatReply, ChatRequest, ScriptedEndpoint
from touchstone.errors import EndpointError
from touchstone.judge import JudgeRecord, RawReply, Work
from touchstone.judge_config import (
    JudgeConfig,
    TokenGauge,
    choose_mode,
    judge_fingerprint,
    prompt_room,
)
from touchstone.models import Answer, ModelReport, Prompt, Usage

MAP_REDUCE = replace(IN_ORDER, mode="map-reduce")

# --- the fingerprint -----------------------------------------------------------------------

IDENTITY: dict[str, Any] = {
    "model": "qwen2.5:32b",
    "weights_sha256": None,
    "parameters": {"temperature": 0, "max_tokens": 1200},
    "template_sha256": "t" * 64,
    "mode": "single",
    "kind": "ai",
}


def test_the_fingerprint_is_the_same_in_every_process_and_version() -> None:
    assert judge_fingerprint(**IDENTITY) == "c45f8163326bb0a3"


def test_the_order_of_parameters_is_nothing() -> None:
    turned = {"max_tokens": 1200, "temperature": 0}

    assert judge_fingerprint(**{**IDENTITY, "parameters": turned}) == judge_fingerprint(**IDENTITY)


@pytest.mark.parametrize(
    "change",
    [
        {"model": "qwen2.5:7b"},
        {"weights_sha256": "a" * 64},
        {"parameters": {"temperature": 0.1, "max_tokens": 1200}},
        {"parameters": {"temperature": 0}},
        {"template_sha256": "u" * 64},
        {"mode": "map-reduce"},
        {"kind": "human"},
        {"soul_sha256": "s"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_can_change_a_judgement_changes_the_fingerprint(change: dict[str, Any]) -> None:
    assert judge_fingerprint(**{**IDENTITY, **change}) != judge_fingerprint(**IDENTITY)


def test_all_settings_but_the_number_of_requests_at_once_are_recorded() -> None:
    plain = JudgeConfig().recorded()

    assert plain == {
        "temperature": 0,
        "max_tokens": 1200,
        "calls": "per-dimension",
        "order_seed": 0,
    }
    assert JudgeConfig(concurrency=9).recorded() == plain
    for other in ({"calls": "one"}, {"order_seed": None}, {"max_tokens": 9}, {"asks_again": 0}):
        assert JudgeConfig(**other).recorded() != plain


# --- choosing the mode ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("context", "output", "words", "mode"),
    [
        (None, 1200, 100_000, "single"),
        (8192, 1200, 10, "single"),
        (8192, 1200, 3000, "map-reduce"),
        (32768, 1200, 3000, "single"),
        (1024, 1200, 10, "map-reduce"),
    ],
)
def test_all_at_once_only_if_every_models_answers_fit(
    context: int | None, output: int, words: int, mode: str
) -> None:
    answers = [answer("E1", "short"), answer("E1", "word " * words, model="beta")]

    assert choose_mode(SUITE, answers, context, output) == mode


def test_answers_to_prompts_the_suite_lacks_take_no_room() -> None:
    assert choose_mode(SUITE, [answer("X9", "word " * 9999)], 8192, 1200) == "single"


@pytest.mark.parametrize(
    ("context", "output", "room"), [(8192, 1200, 4534), (10_000, 0, 7000), (1000, 1200, 450)]
)
def test_the_room_for_a_prompt_leaves_a_margin_and_the_reply(
    context: int, output: int, room: float
) -> None:
    assert prompt_room(context, output) == pytest.approx(room, abs=1)


# --- what a server makes of a prompt -------------------------------------------------------

ENGLISH = "The quick brown fox jumps over the lazy dog. " * 100


def test_until_the_server_has_counted_the_estimate_is_cautious() -> None:
    gauge = TokenGauge()
    assert gauge.tokens(ENGLISH) == 4500 // 3 + 1

    assert not gauge.was_cut(ENGLISH, 1000)
    assert gauge.tokens(ENGLISH) == 1001


@pytest.mark.parametrize(
    ("learned", "counted", "cut"),
    [
        (None, 1000, False),
        (None, 449, True),
        (1000, 900, False),
        (1000, 640, False),
        (1000, 600, True),
        (1000, 0, True),
    ],
)
def test_a_count_far_below_what_was_usual_gives_a_cut_away(
    learned: int | None, counted: int, cut: bool
) -> None:
    gauge = TokenGauge()
    if learned is not None:
        assert not gauge.was_cut(ENGLISH, learned)

    assert gauge.was_cut(ENGLISH, counted) is cut


def test_a_row_of_the_same_character_is_not_taken_for_a_cut() -> None:
    gauge = TokenGauge()
    assert not gauge.was_cut(ENGLISH, 1000)

    assert not gauge.was_cut(ENGLISH + "-" * 20_000, 1010)


# --- prompts that do not fit or are cut ----------------------------------------------------


def test_a_prompt_that_does_not_fit_is_not_sent_and_said_to_be_missing() -> None:
    long = answered(SUITE, {"E1": "word " * 3000, "E2": "short"})
    endpoint = ScriptedEndpoint("judge", by_kind())

    records = judge(endpoint, Work(PAIR, long), context=2048)

    by_id = {one.prompt_id: one for one in verdicts(records)}
    assert questions(endpoint) == ["verdict"]
    assert (by_id["E1"].flag, by_id["E1"].parse) == (None, "missing")
    assert "does not fit the judge's context (about " in (by_id["E1"].reason or "")
    assert by_id["E2"].flag == "green"
    report = reports(records)[-1]
    assert {one.reason[:30] for one in report.parse_issues} == {"does not fit the judge's conte"}
    assert set(report.parse.values()) == {"missing"}


def with_tokens(reply: str, tokens: int) -> ChatReply:
    return ChatReply(text=reply, usage=Usage(prompt_tokens=tokens))


def test_a_reply_to_a_cut_prompt_is_kept_but_counts_for_nothing() -> None:
    endpoint = ScriptedEndpoint("judge", by_kind(verdict=with_tokens(GREEN, 40)))

    records = judge(endpoint, Work(PAIR, ALL[:1]))

    assert records[0] == RawReply(PAIR, "E1", GREEN.encode())
    [verdict] = verdicts(records)
    assert (verdict.flag, verdict.parse) == (None, "missing")
    assert (verdict.reason or "").startswith("the server cut the prompt: 40 tokens read of about")


def test_short_prompts_teach_what_a_long_one_should_have_counted() -> None:
    """A server with a window of 2000 tokens that says nothing: 4 bytes a token, cut at the end."""
    long = answered(SUITE, {"E1": "word " * 100, "E2": "word " * 100, "C1": "word " * 3000})

    def count(request: ChatRequest) -> ChatReply:
        size = sum(len(message.content) for message in request.messages)
        text = scored(4) if kind_of(request).startswith("Q") else GREEN
        return with_tokens(text, min(2000, size // 4))

    records = judge(ScriptedEndpoint("judge", count), Work(PAIR, long))

    flags = {one.prompt_id: one.flag for one in verdicts(records)}
    assert flags == {"E1": "green", "E2": "green", "C1": None}
    assert all(score is None for score in reports(records)[-1].dim_scores.values())


# --- evidence instead of answers -----------------------------------------------------------


def reduced(
    *, answers: tuple[tuple[Prompt, Answer], ...] = ALL, context: int | None = None, **replies: Any
) -> tuple[ModelReport, ScriptedEndpoint, list[JudgeRecord]]:
    """Judge by evidence; return the report, the endpoint and every record."""
    endpoint = ScriptedEndpoint("judge", by_kind(**replies))
    records = judge(endpoint, Work(PAIR, answers), config=MAP_REDUCE, context=context)
    return reports(records)[-1], endpoint, records


def shown_at(endpoint: ScriptedEndpoint, dimension: str = "Q1") -> str:
    """Return what the judge was shown when it scored a dimension."""
    asked = [one for one in endpoint.requests if kind_of(one) == dimension]
    return asked[-1].messages[1].content


def by_answer(**replies: Any) -> Any:
    """Reply to a request about one answer by the prompt it is about."""
    return lambda request: replies[request.messages[1].content[len("## Task ") :][:2]]


def test_evidence_is_noted_answer_by_answer_before_anything_is_scored() -> None:
    _, endpoint, records = reduced()

    assert questions(endpoint) == ["verdict"] * 3 + ["evidence"] * 3 + ["Q1", "Q2", "Q3"]
    kept = [record.subject for record in records if isinstance(record, RawReply)]
    assert "E1 evidence" in kept


def test_only_evidence_whose_quote_stands_in_the_answer_reaches_the_score() -> None:
    evidence = by_answer(
        E1=noted("the meeting is on Monday", "on Friday"),
        E2=noted("THANK you", prompt_id="E2"),
        C1=noted("2+2=5", prompt_id="C1"),
    )

    report, endpoint, _ = reduced(evidence=evidence)

    shown = shown_at(endpoint)
    assert "«the meeting is on Monday»" in shown
    assert "«THANK you»" in shown
    assert "on Friday" not in shown
    assert "2+2=5" not in shown
    assert TEXTS["E1"] not in shown
    assert report.mode == "map-reduce"
    assert report.saw is not None
    assert (report.saw.answers, report.saw.evidence, report.saw.evidence_of) == (3, 2, 2)


def test_a_quote_with_an_omission_reaches_the_score_if_its_parts_stand_in_order() -> None:
    text = "The meeting has been moved from the hall to the big room upstairs."
    held, turned = "The meeting has been … the big room", "the big room … The meeting has been"
    evidence = by_answer(E1=noted(held, turned), E2=noted(prompt_id="E2"), C1=noted())

    report, endpoint, _ = reduced(answers=answered(SUITE, {**TEXTS, "E1": text}), evidence=evidence)

    assert f"«{held}»" in shown_at(endpoint)
    assert turned not in shown_at(endpoint)
    assert report.saw is not None
    assert report.saw.evidence == 1


def test_a_red_flagged_answer_is_shown_in_full() -> None:
    report, endpoint, _ = reduced(verdict=by_answer(E1=GREEN, E2=RED, C1=GREEN))

    shown = shown_at(endpoint)
    assert TEXTS["E2"] in shown
    assert TEXTS["E1"] not in shown
    assert report.saw is not None
    assert (report.saw.red_in_full, report.saw.red) == (1, 1)


def test_an_answer_whose_evidence_can_t_be_read_is_not_said_to_have_been_seen() -> None:
    evidence = by_answer(E1="no JSON", E2=noted("thank you"), C1=noted())

    report, endpoint, _ = reduced(evidence=evidence)

    assert questions(endpoint).count("evidence") == 5
    assert report.saw is not None
    assert (report.saw.answers, report.saw.of) == (2, 3)
    assert report.dim_scores["Q1"] == 4


def test_a_failed_request_for_evidence_leaves_the_report_to_the_next_run() -> None:
    down = EndpointError("down", kind="connection")
    evidence = by_answer(E1=noted(), E2=down, C1=noted())

    report, endpoint, _ = reduced(evidence=evidence)

    assert "Q1" not in questions(endpoint)
    assert set(report.parse.values()) == {"error"}
    assert {one.reason for one in report.parse_issues} == {"judge request failed: down"}
    again = Work(PAIR, ALL, {one: _green(one) for one in TEXTS}, report)
    endpoint = ScriptedEndpoint("judge", by_kind())
    after = reports(judge(endpoint, again, config=MAP_REDUCE))[-1]
    assert questions(endpoint) == ["evidence"] * 3 + ["Q1", "Q2", "Q3"]
    assert set(after.dim_scores.values()) == {4}


def _green(prompt_id: str) -> Any:
    [one] = verdicts(
        judge(
            ScriptedEndpoint("judge", by_kind()),
            Work(PAIR, answered(SUITE, {prompt_id: TEXTS[prompt_id]})),
        )
    )
    return one


def test_nothing_is_noted_about_an_answer_that_is_not_there() -> None:
    prompt = SUITE.prompts[1]
    answers = (ALL[0], (prompt, failed(prompt.id, retryable=True)))

    report, endpoint, _ = reduced(answers=answers)

    assert questions(endpoint) == ["verdict", "evidence", "Q1", "Q2", "Q3"]
    assert "gave no answer (" in shown_at(endpoint)
    assert report.saw is not None
    assert report.saw.answers == 1


WORDS = [f"word{n} " * 30 for n in range(6)]


def crowded(context: int, verdict: str = GREEN) -> tuple[ModelReport, str]:
    """Judge six answers by three long pieces of evidence each; return what was shown of them."""
    suite_prompts = "".join(f"  - {{id: E{n}, text: Task {n}.}}\n" for n in range(1, 7))
    suite = suite_of(suite_prompts)
    texts = {f"E{n + 1}": "".join(WORDS) for n in range(6)}
    evidence = by_answer(**{key: noted(*WORDS[:3], prompt_id=key) for key in texts})
    endpoint = ScriptedEndpoint("judge", by_kind(evidence=evidence, verdict=verdict))
    config = replace(MAP_REDUCE, max_tokens=200)
    work = Work(PAIR, answered(suite, texts))
    records = judge(endpoint, work, suite=suite, config=config, context=context)
    return reports(records)[-1], shown_at(endpoint)


@pytest.mark.parametrize(
    ("context", "pieces"), [(100_000, 18), (4400, 12), (3000, 6)], ids=["all", "two", "one"]
)
def test_where_the_evidence_does_not_fit_every_answer_keeps_its_first(
    context: int, pieces: int
) -> None:
    report, shown = crowded(context)

    assert report.saw is not None
    assert (report.saw.evidence, report.saw.evidence_of) == (pieces, 18)
    assert shown.count("saw word0") == 6
    assert shown.count("saw word2") == (6 if pieces == 18 else 0)


def test_red_answers_that_do_not_fit_in_full_keep_their_flag_and_evidence() -> None:
    report, shown = crowded(4000, RED)

    assert report.saw is not None
    assert report.saw.red == 6
    assert report.saw.red_in_full is not None
    assert 0 < report.saw.red_in_full < 6
    assert shown.count("single answer: red.") == 6
    # The fatal scope is E1: its answer is the last to lose its text.
    first = shown[shown.index("## Task E1") :]
    assert "The model's answer:" in first[: first.index("## Task E2")]
