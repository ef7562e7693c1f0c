"""Judged answers, a plan of probes and a scripted judge that is asked under them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from builders_judge import GREEN, IN_ORDER
from builders_run import answered, collect, suite_of

from touchstone.endpoints import ChatRequest, ScriptedEndpoint
from touchstone.fields import Flag
from touchstone.judge import Work
from touchstone.judge_config import JudgeConfig
from touchstone.judge_probe import ProbeOptions, Question, plan_probes, probe_judge
from touchstone.models import Suite, Verdict
from touchstone.probe_records import Observation, Probe
from touchstone.probe_summary import ProbeSummary, summarise

SUITE = suite_of("".join(f"  - {{id: E{n}, text: Task {n}.}}\n" for n in range(1, 6)))
IDS = [prompt.id for prompt in SUITE.prompts]
WHO = {"judge": "f1f2", "basis": "b"}
YELLOW = GREEN.replace("green", "yellow")
ANSWERS_SHA256 = "0" * 64


def work_of(
    model: str = "alpha", flags: Mapping[str, Flag | None] | None = None, suite: Suite = SUITE
) -> Work:
    """Return a model with five judged answers; they are yellow unless a test says otherwise."""
    answers = answered(suite, {one: f"This is the answer to {one}, a good one." for one in IDS})
    given = tuple((p, a.model_copy(update={"model": model})) for p, a in answers)
    verdicts = {
        one: Verdict(model=model, variant="default", prompt_id=one, flag=(flags or {}).get(one))
        if flags is not None
        else Verdict(model=model, variant="default", prompt_id=one, flag="yellow")
        for one in IDS
    }
    return Work((model, "default"), given, verdicts)


def plan(
    *probes: Probe,
    work: Sequence[Work] = (),
    config: JudgeConfig = IN_ORDER,
    dimensions: tuple[str, ...] = ("Q1", "Q2", "Q3"),
    suite: Suite = SUITE,
    **options: Any,
) -> list[Question]:
    chosen: dict[str, Any] = {"probes": probes} if probes else {}
    given = list(work) or [work_of(suite=suite)]
    return plan_probes(
        suite,
        given,
        ProbeOptions(dimensions, **chosen, **options),
        one_call=config.calls == "one",
        names=[one.pair[0] for one in given],
    )


def probe(
    replies: Callable[[ChatRequest], Any] | ScriptedEndpoint,
    questions: Sequence[Question],
    *,
    config: JudgeConfig = IN_ORDER,
    context: int | None = None,
    suite: Suite = SUITE,
) -> list[Observation]:
    endpoint = replies if isinstance(replies, ScriptedEndpoint) else scripted(replies)
    records = collect(
        probe_judge(
            suite,
            questions,
            endpoint,
            config,
            fingerprint="f1f2",
            basis="b",
            answers_sha256=ANSWERS_SHA256,
            context=context,
        )
    )
    return [record for record in records if isinstance(record, Observation)]


def scripted(replies: Callable[[ChatRequest], Any]) -> ScriptedEndpoint:
    return ScriptedEndpoint("judge", replies)


def summary(observations: Sequence[Observation]) -> ProbeSummary:
    found = summarise(observations, **WHO)
    assert found is not None
    return found


def asked(request: ChatRequest) -> str:
    return request.messages[1].content


def order_in(request: ChatRequest) -> list[str]:
    return [line[8:] for line in asked(request).splitlines() if line.startswith("## Task ")]
