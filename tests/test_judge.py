"""A judge asks, keeps what it was told, reads it, asks again, and never makes anything up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import aclosing
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
    questions,
    reports,
    scored,
    verdicts,
)
from builders_run import answer, answered, failed, last_turn, suite_of

from touchstone.endpoints import ChatReply, ChatRequest, ScriptedEndpoint
from touchstone.errors import EndpointError
from touchstone.judge import RawReply, Work, judge_bundle
from touchstone.judge_config import JudgeConfig
from touchstone.judge_reply import parse_verdict
from touchstone.models import Answer, Prompt, Verdict


def one_verdict(*replies: Any, given: Answer | None = None) -> tuple[Verdict, ScriptedEndpoint]:
    """Judge one answer with these replies; the report's questions find nothing more to say."""
    endpoint = ScriptedEndpoint("judge", replies)
    given = given or answer("E1", TEXTS["E1"])
    [found] = verdicts(judge(endpoint, Work(PAIR, ((SUITE.prompts[0], given),))))
    return found, endpoint


# --- verdicts ------------------------------------------------------------------------------


def test_a_verdict_holds_what_the_judge_said() -> None:
    said = {"quotes": ["the meeting"], "rationale": "Short.", "flag": "yellow"}

    found, _ = one_verdict(ChatReply(text=json.dumps(said), duration_s=1.2345))

    assert found == Verdict(
        model="alpha",
        variant="default",
        prompt_id="E1",
        flag="yellow",
        rationale="Short.",
        quotes=("the meeting",),
        judge="f1f2",
        duration_s=1.234,
        parse="strict",
    )


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (failed("E1", retryable=False, kind="timeout"), "no answer: timeout"),
        (answer("E1", ""), "the answer is empty"),
        (answer("E1", " \n\t"), "the answer is empty"),
    ],
)
def test_no_answer_is_no_verdict_and_nobody_is_asked(given: Answer, reason: str) -> None:
    found, endpoint = one_verdict(given=given)

    assert (found.flag, found.source, found.reason, found.parse) == (None, "rule", reason, None)
    assert endpoint.requests == []


def test_an_answer_cut_off_by_its_length_is_judged_and_the_judge_is_told() -> None:
    found, endpoint = one_verdict(GREEN, given=answer("E1", "Dear", finish_reason="length"))

    assert found.flag == "green"
    assert "cut off by the length limit" in endpoint.requests[0].messages[1].content


def test_an_unusable_reply_is_asked_for_again_with_what_was_wrong() -> None:
    found, endpoint = one_verdict("green, I guess?", "{}", ChatReply(text=GREEN, duration_s=2.0))

    assert (found.flag, found.parse, found.duration_s) == ("green", "retried", 2.0)
    first, second, third = endpoint.requests[:3]
    assert second.messages[:2] == third.messages[:2] == first.messages
    assert second.messages[2].content == "green, I guess?"
    assert third.messages[2].content == "{}"
    assert f"could not be used: {parse_verdict('{}').reason}." in last_turn(third)


def test_after_asking_twice_more_the_flag_stays_missing_with_its_reason() -> None:
    found, endpoint = one_verdict("no", "no", "still no")

    assert questions(endpoint)[:4] == ["verdict", "verdict", "verdict", "Q1"]
    assert (found.flag, found.source, found.parse) == (None, "judge", "missing")
    assert found.reason


@pytest.mark.parametrize("asks_again", [0, 1])
def test_a_judge_may_be_asked_again_less_often(asks_again: int) -> None:
    endpoint = ScriptedEndpoint("judge", by_kind(verdict="?", Q1="?"))

    judge(endpoint, Work(PAIR, ALL[:1]), config=replace(IN_ORDER, asks_again=asks_again))

    asked = questions(endpoint)
    assert (asked.count("verdict"), asked.count("Q1")) == (asks_again + 1, asks_again + 1)


def test_a_null_that_is_meant_is_taken_at_its_word() -> None:
    found, endpoint = one_verdict('{"quotes": [], "rationale": "Can\'t tell.", "flag": null}')

    assert (found.flag, found.rationale, found.parse) == (None, "Can't tell.", "strict")
    assert questions(endpoint).count("verdict") == 1


@pytest.mark.parametrize(
    ("error", "parse", "reason"),
    [
        (EndpointError("down", kind="connection"), "error", "judge request failed: down"),
        (EndpointError("key", kind="auth"), "error", "judge request failed: key"),
        (
            EndpointError("8 k", kind="context_length"),
            "missing",
            "does not fit the judge's context",
        ),
    ],
)
def test_a_failed_request_is_an_error_to_be_repeated(
    error: EndpointError, parse: str, reason: str
) -> None:
    found, endpoint = one_verdict(error)

    assert (found.flag, found.parse) == (None, parse)
    assert (found.reason or "").startswith(reason)
    assert questions(endpoint).count("verdict") == 1


def test_settings_and_schema_of_the_judge_are_sent() -> None:
    config = replace(IN_ORDER, max_tokens=77, parameters={"temperature": 0, "seed": 3})
    endpoint = ScriptedEndpoint("judge", by_kind())

    judge(endpoint, config=config)

    assert {json.dumps(dict(request.parameters)) for request in endpoint.requests} == {
        '{"temperature": 0, "seed": 3, "max_tokens": 77}'
    }
    schemas = {kind_of(r): dict(r.schema or {})["properties"] for r in endpoint.requests}
    assert set(schemas["verdict"]) == {"quotes", "rationale", "flag"}
    assert None in schemas["Q1"]["score"]["enum"]


# --- raw replies ---------------------------------------------------------------------------

ODD = '{"flag": "green", "rationale": "a\r\n\x00\u2028 \ud800 ü", "quotes": []} \n\n'


@pytest.mark.parametrize(
    ("reply", "content"),
    [
        (ODD, ODD.encode("utf-8", "surrogatepass")),
        (ChatReply(text=" ", reasoning=GREEN), GREEN.encode()),
        (ChatReply(text=GREEN, reasoning="thinking"), GREEN.encode()),
        ("", b""),
    ],
)
def test_the_raw_reply_is_kept_byte_for_byte(reply: Any, content: bytes) -> None:
    work = Work(PAIR, ALL[:1])
    records = judge(ScriptedEndpoint("judge", by_kind(verdict=reply)), work)

    assert records[0] == RawReply(PAIR, "E1", content)


def test_every_raw_reply_comes_before_what_was_read_from_it() -> None:
    replies = iter(["nothing", GREEN])
    endpoint = ScriptedEndpoint("judge", by_kind(verdict=lambda request: next(replies)))

    records = judge(endpoint, Work(PAIR, ALL[:1]))

    assert [r.subject if isinstance(r, RawReply) else type(r).__name__ for r in records] == [
        *("E1", "E1", "Verdict"),
        *("Q1", "ModelReport", "Q2", "ModelReport", "Q3", "ModelReport"),
    ]


# --- reports -------------------------------------------------------------------------------


def test_a_report_holds_a_score_a_rationale_and_evidence_for_each_dimension() -> None:
    evidence = {"prompt_id": "E1", "kind": "quote", "quote": "on Monday", "observation": "dated"}
    endpoint = ScriptedEndpoint("judge", by_kind(Q1=scored(5, "Right at E1.", evidence)))

    report = reports(judge(endpoint))[-1]

    assert report.dim_scores == {"Q1": 5, "Q2": 4, "Q3": 4}
    assert report.dim_rationales["Q1"] == "Right at E1."
    assert [one.quote for one in report.evidence["Q1"]] == ["on Monday"]
    assert report.parse == {"Q1": "strict", "Q2": "strict", "Q3": "strict"}
    assert report.parse_issues == ()
    assert (report.judge, report.mode) == ("f1f2", "single")
    assert report.saw is not None
    assert (report.saw.answers, report.saw.of) == (3, 3)


def test_what_is_missing_is_asked_for_again_and_nothing_else() -> None:
    first = {"Q1": json.loads(scored(5)), "Q2": {"score": 4.5}, "Q3": json.loads(scored(None))}
    replies = iter([json.dumps(first), scored(2, "Now whole.")])
    endpoint = ScriptedEndpoint("judge", by_kind(dimensions=lambda request: next(replies)))

    report = reports(judge(endpoint, config=replace(IN_ORDER, calls="one")))[-1]

    assert report.dim_scores == {"Q1": 5, "Q2": 2, "Q3": None}
    assert report.parse == {"Q1": "strict", "Q2": "retried", "Q3": "strict"}
    assert [(one.dimension, one.reason) for one in report.parse_issues] == [
        ("Q3", "the judge gave null")
    ]
    again = endpoint.requests[-1]
    assert questions(endpoint).count("dimensions") == 2
    assert "could not be used: Q2: fractional score" in last_turn(again)
    assert "Q1:" not in last_turn(again)
    assert set(dict(again.schema or {})["properties"]) == {"evidence", "rationale", "score"}


@pytest.mark.parametrize(
    ("reply", "asked", "parse"),
    [
        (scored(None), 1, "strict"),
        ("I would say four or five.", 3, "missing"),
        (scored(7), 3, "missing"),
        (EndpointError("down", kind="connection"), 1, "error"),
    ],
)
def test_a_report_is_written_even_if_every_score_is_missing(
    reply: Any, asked: int, parse: str
) -> None:
    endpoint = ScriptedEndpoint("judge", by_kind(Q1=reply, Q2=reply, Q3=reply))

    report = reports(judge(endpoint))[-1]

    assert set(report.dim_scores.values()) == {None}
    assert [one.dimension for one in report.parse_issues] == ["Q1", "Q2", "Q3"]
    assert all(one.reason for one in report.parse_issues)
    assert set(report.parse.values()) == {parse}
    assert questions(endpoint).count("Q2") == asked


def test_a_verdict_that_could_not_be_read_does_not_stop_the_report() -> None:
    report = reports(judge(ScriptedEndpoint("judge", by_kind(verdict="?"))))[-1]

    assert set(report.dim_scores.values()) == {4}


def test_the_report_rests_on_the_verdicts_of_its_own_answers() -> None:
    endpoint = ScriptedEndpoint("judge", by_kind(verdict=RED))

    judge(endpoint)

    asked = next(r for r in endpoint.requests if kind_of(r) == "Q1").messages[1].content
    assert asked.count("Earlier view of this single answer: red.") == 3


def test_a_model_without_answers_is_passed_over() -> None:
    endpoint = ScriptedEndpoint("judge", by_kind())

    assert judge(endpoint, Work(PAIR, ())) == []


def test_a_model_that_never_answered_is_not_scored_by_imagination() -> None:
    silent = tuple((prompt, failed(prompt.id, retryable=True)) for prompt in SUITE.prompts)
    endpoint = ScriptedEndpoint("judge", by_kind())

    records = judge(endpoint, Work(PAIR, silent))

    assert endpoint.requests == []
    [report] = reports(records)
    assert set(report.dim_scores.values()) == {None}
    assert {one.reason for one in report.parse_issues} == {"there is no answer to judge"}
    assert report.saw is not None
    assert report.saw.answers == 0


def test_the_judge_is_not_told_whose_answers_they_are() -> None:
    endpoint = ScriptedEndpoint("judge", by_kind())

    judge(endpoint, Work(("gpt-secret", "v9"), ALL))

    sent = "".join(message.content for one in endpoint.requests for message in one.messages)
    assert "gpt-secret" not in sent
    assert "v9" not in sent


# --- order ---------------------------------------------------------------------------------


def order_of(config: JudgeConfig, answers: tuple[tuple[Prompt, Answer], ...]) -> list[str]:
    endpoint = ScriptedEndpoint("judge", by_kind())
    judge(endpoint, Work(PAIR, answers), suite=LONG, config=config)
    text = endpoint.requests[-1].messages[1].content
    return [line[8:] for line in text.splitlines() if line.startswith("## Task ")]


LONG = suite_of("".join(f"  - {{id: E{n}, text: Task {n}.}}\n" for n in range(1, 13)))
TWELVE = answered(LONG, {f"E{n}": "An answer." for n in range(1, 13)})


def test_without_a_seed_answers_are_read_in_suite_order() -> None:
    assert order_of(IN_ORDER, TWELVE) == [f"E{n}" for n in range(1, 13)]


def test_a_seed_shuffles_them_the_same_way_for_every_model() -> None:
    seeded = replace(IN_ORDER, order_seed=0)
    order = order_of(seeded, TWELVE)

    assert sorted(order) == sorted(prompt.id for prompt in LONG.prompts)
    assert order != [prompt.id for prompt in LONG.prompts]
    assert order_of(seeded, TWELVE) == order
    assert order_of(replace(seeded, order_seed=1), TWELVE) != order
    fewer = TWELVE[:4] + TWELVE[6:]
    assert order_of(seeded, fewer) == [one for one in order if one not in ("E5", "E6")]


# --- going on where it stopped -------------------------------------------------------------


def finished(*prompt_ids: str, flag: str = "green") -> Mapping[str, Verdict]:
    return {
        one: Verdict.model_validate(
            {"model": "alpha", "variant": "default", "prompt_id": one, "flag": flag}
        )
        for one in prompt_ids
    }


def test_nothing_that_stands_is_asked_again() -> None:
    endpoint = ScriptedEndpoint("judge", by_kind())
    first = judge(endpoint)
    verdict_map = {one.prompt_id: one for one in verdicts(first)}
    endpoint.requests.clear()

    assert judge(endpoint, Work(PAIR, ALL, verdict_map, reports(first)[-1])) == []
    assert endpoint.requests == []


def test_only_open_verdicts_are_asked_for() -> None:
    endpoint = ScriptedEndpoint("judge", by_kind())

    records = judge(endpoint, Work(PAIR, ALL, finished("E1", "C1")))

    assert [one.prompt_id for one in verdicts(records)] == ["E2"]
    assert questions(endpoint) == ["verdict", "Q1", "Q2", "Q3"]


def test_an_interrupted_report_goes_on_at_its_next_dimension() -> None:
    first = reports(judge(ScriptedEndpoint("judge", by_kind(Q1=scored(2, "From the first run.")))))
    endpoint = ScriptedEndpoint("judge", by_kind(Q2=scored(3)))

    assert [one.dim_scores["Q2"] for one in first] == [None, 4, 4]
    assert first[0].issue("Q2") == "not judged yet"
    done = reports(judge(endpoint, Work(PAIR, ALL, finished("E1", "E2", "C1"), first[0])))[-1]

    assert questions(endpoint) == ["Q2", "Q3"]
    assert done.dim_scores == {"Q1": 2, "Q2": 3, "Q3": 4}
    assert done.dim_rationales["Q1"] == "From the first run."


def test_a_dimension_whose_request_failed_is_asked_again_and_an_unreadable_one_is_not() -> None:
    down = EndpointError("down", kind="connection")
    before = reports(judge(ScriptedEndpoint("judge", by_kind(Q1=down, Q2="?"))))[-1]
    endpoint = ScriptedEndpoint("judge", by_kind())

    after = reports(judge(endpoint, Work(PAIR, ALL, finished("E1", "E2", "C1"), before)))[-1]

    assert before.parse == {"Q1": "error", "Q2": "missing", "Q3": "strict"}
    assert questions(endpoint) == ["Q1"]
    assert after.dim_scores == {"Q1": 4, "Q2": None, "Q3": 4}
    assert after.issue("Q2") == before.issue("Q2")


def test_a_new_verdict_has_the_whole_report_made_anew() -> None:
    before = reports(judge(ScriptedEndpoint("judge", by_kind(Q1=scored(1)))))[-1]
    endpoint = ScriptedEndpoint("judge", by_kind())

    after = reports(judge(endpoint, Work(PAIR, ALL, finished("E1", "E2"), before)))[-1]

    assert questions(endpoint) == ["verdict", "Q1", "Q2", "Q3"]
    assert after.dim_scores["Q1"] == 4


def test_models_are_judged_one_after_the_other_and_answers_side_by_side() -> None:
    running = most = 0

    async def slow(request: ChatRequest) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1
        return str(by_kind()(request))

    second = tuple((prompt, one.model_copy(update={"model": "beta"})) for prompt, one in ALL)
    work = [Work(PAIR, ALL), Work(("beta", "default"), second)]

    records = judge(ScriptedEndpoint("judge", slow), *work, config=replace(IN_ORDER, concurrency=2))

    assert most == 2
    assert [one.model for one in verdicts(records)] == ["alpha"] * 3 + ["beta"] * 3


def test_stopping_early_stops_the_request_on_its_way() -> None:
    stopped: list[str] = []

    async def hang(request: ChatRequest) -> str:
        if kind_of(request) == "verdict":
            return GREEN
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append(kind_of(request))
        return ""

    async def read() -> None:
        records = judge_bundle(
            SUITE, [Work(PAIR, ALL)], ScriptedEndpoint("judge", hang), IN_ORDER,
            fingerprint="f", answers_sha256="0", context=None,
        )  # fmt: skip
        async with aclosing(records):
            async for record in records:
                if isinstance(record, Verdict) and record.prompt_id == "C1":
                    await asyncio.sleep(0.01)
                    break

    asyncio.run(read())

    assert stopped == ["Q1"]
