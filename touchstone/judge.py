"""Has a judge rate answers: a verdict for each, then one holistic report a model (ADR-0007)."""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

from touchstone.endpoints import ChatReply, ChatRequest, Endpoint
from touchstone.errors import EndpointError
from touchstone.evidence import stands_in
from touchstone.judge_config import (
    JudgeConfig,
    TokenGauge,
    fit_evidence,
    nonce_for,
    prompt_room,
    reply_room,
    shorten_red,
)
from touchstone.judge_prompt import Item, JudgeTexts
from touchstone.judge_reply import (
    DIMENSION_SCHEMA,
    EVIDENCE_SCHEMA,
    VERDICT_SCHEMA,
    DimensionResult,
    VerdictResult,
    parse_dimension_report,
    parse_evidence_items,
    parse_verdict,
    report_schema,
)
from touchstone.models import (
    Answer,
    Dimension,
    Evidence,
    JudgingMode,
    Message,
    ModelReport,
    ParseIssue,
    Prompt,
    Saw,
    Suite,
    Verdict,
)
from touchstone.streaming import stream, work_off

Pair = tuple[str, str]
UsableT = TypeVar("UsableT")


@dataclass(frozen=True)
class RawReply:
    """A judge's reply as it came, kept before anything is read from it."""

    pair: Pair
    subject: str
    content: bytes


@dataclass(frozen=True)
class Missing:
    """No usable reply, and why; with ``parse`` error the request failed and is made again."""

    reason: str
    parse: Literal["missing", "error"] = "missing"
    seconds: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """What became of one dimension; ``parse`` is ``error`` while it has to be asked (again)."""

    score: int | None = None
    rationale: str = ""
    evidence: tuple[Evidence, ...] = ()
    reason: str | None = None
    parse: str = "missing"


_NOT_YET = Outcome(reason="not judged yet", parse="error")

JudgeRecord = RawReply | Verdict | ModelReport


def _build_dimension_prompt(
    texts: JudgeTexts,
    items: Sequence[Item],
    dimensions: Sequence[Dimension],
    *,
    mode: JudgingMode = "single",
) -> tuple[Message, ...]:
    """Return the messages that ask for a holistic score of one dimension, or of several.

    The order is rules, answers, dimension, so that a server's prefix cache serves all dimensions.
    In map-reduce mode the noted evidence stands for the answers, red-flagged ones in full.
    """
    shown = "\n\n".join(
        texts.material(item, in_full=mode == "single" or (item.is_red and not item.brief))
        for item in items
    )
    one = len(dimensions) == 1
    task = texts.dimension_task(dimensions[0]) if one else texts.dimensions_task(dimensions)
    return (
        Message(role="system", content=texts.system()),
        Message(role="user", content=f"{shown}\n\n{task}"),
    )


@dataclass
class Judge:
    """One judge at work on one (model, variant): asks, keeps raw replies, parses, asks again."""

    suite: Suite
    endpoint: Endpoint
    config: JudgeConfig
    fingerprint: str
    nonce: str
    context: int | None
    keep: Callable[[RawReply], None]
    gauge: TokenGauge = field(default_factory=TokenGauge)

    def __post_init__(self) -> None:
        self.texts = JudgeTexts(self.suite, self.nonce)

    async def verdict(self, prompt: Prompt, answer: Answer) -> Verdict:
        """Return the judge's view of one answer; without a usable reply its flag is None."""
        verdict = Verdict(
            model=answer.model,
            variant=answer.variant,
            prompt_id=answer.prompt_id,
            flag=None,
            judge=self.fingerprint,
        )
        if answer.is_empty:
            reason = f"no answer: {answer.error.type}" if answer.error else "the answer is empty"
            return verdict.model_copy(update={"source": "rule", "reason": reason})
        messages = self.texts.about_one(Item(prompt, answer), self.texts.say("verdict"))
        reply = await self._until_usable(
            messages, VERDICT_SCHEMA, answer.pair, answer.prompt_id, _read_verdict
        )
        if isinstance(reply, Missing):
            update = {"reason": reply.reason, "parse": reply.parse, "duration_s": reply.seconds}
            return verdict.model_copy(update=update)
        result, attempt, seconds = reply
        return verdict.model_copy(
            update={
                "flag": result.flag,
                "category": result.category,
                "rationale": result.rationale,
                "quotes": result.quotes,
                "reason": None if result.flag else result.reason,
                "duration_s": seconds,
                "parse": "retried" if attempt else result.parse,
            }
        )

    async def note_evidence(self, prompt: Prompt, answer: Answer) -> tuple[Evidence, ...] | Missing:
        """Return what the judge notes about one answer; quotes that do not stand in it are out."""
        if answer.is_empty:
            return ()

        def read(reply: ChatReply) -> tuple[tuple[Evidence, ...] | None, str]:
            items, reason = parse_evidence_items(
                reply.text,
                prompt_ids=[prompt.id],
                finish_reason=reply.finish_reason,
                reasoning=reply.reasoning,
            )
            return (None if reason else items), reason or ""

        noted = await self._until_usable(
            self.texts.about_one(Item(prompt, answer), self.texts.map_task(prompt)),
            EVIDENCE_SCHEMA,
            answer.pair,
            f"{answer.prompt_id} evidence",
            read,
        )
        if isinstance(noted, Missing):
            return noted
        return tuple(item for item in noted[0] if _holds(item, answer))

    async def score(
        self, pair: Pair, items: Sequence[Item], dimensions: Sequence[Dimension]
    ) -> dict[str, Outcome]:
        """Return what became of each dimension; what is missing is asked for again, twice at most.

        A null that the judge meant is an answer.
        """
        messages = _build_dimension_prompt(self.texts, items, dimensions, mode=self.config.mode)
        left = list(dimensions)
        outcomes: dict[str, Outcome] = {}
        for attempt in range(self.config.asks_again + 1):
            one = left[0].id if len(left) == 1 else None
            schema = DIMENSION_SCHEMA if one else report_schema([d.id for d in left])
            reply = await self._chat(messages, schema, pair, one or "dimensions")
            if isinstance(reply, Missing):
                lost = Outcome(reason=reply.reason, parse=reply.parse)
                return outcomes | {dimension.id: lost for dimension in left}
            parsed = parse_dimension_report(
                reply.text,
                left,
                prompt_ids=[item.prompt.id for item in items],
                finish_reason=reply.finish_reason,
                reasoning=reply.reasoning,
                asked=one,
            )
            outcomes |= {key: _outcome(result, attempt) for key, result in parsed.items()}
            left = [d for d in left if parsed[d.id].score is None and not parsed[d.id].honest_null]
            if not left:
                break
            reasons = "; ".join(f"{d.id}: {parsed[d.id].reason}" for d in left)
            messages = self.texts.again(messages, reply.text, reasons)
        return outcomes

    def fitting(self, items: Sequence[Item]) -> list[Item]:
        """Return the items with as much evidence and red-flagged text as the context takes."""
        if self.config.mode == "single" or self.context is None:
            return list(items)
        dimensions = list(self.suite.dimensions)
        if self.config.calls != "one":
            dimensions = [max(dimensions, key=lambda d: len(self.texts.dimension_task(d)))]

        def tokens(shown: Sequence[Item]) -> int:
            messages = _build_dimension_prompt(self.texts, shown, dimensions, mode="map-reduce")
            return sum(self.gauge.tokens(message.content) for message in messages)

        room = prompt_room(self.context, self.config.max_tokens)
        return shorten_red(fit_evidence(items, tokens, room), tokens, room, self.suite.ko_rule)

    async def _until_usable(
        self,
        messages: tuple[Message, ...],
        schema: Mapping[str, Any],
        pair: Pair,
        subject: str,
        read: Callable[[ChatReply], tuple[UsableT | None, str]],
    ) -> tuple[UsableT, int, float] | Missing:
        """Ask, and ask again with the reason, until ``read`` finds something in a reply.

        Returns it with the number of the attempt (from 0) and the seconds of all of them.
        """
        seconds, reason = 0.0, ""
        for attempt in range(self.config.asks_again + 1):
            reply = await self._chat(messages, schema, pair, subject)
            seconds += reply.seconds if isinstance(reply, Missing) else reply.duration_s
            if isinstance(reply, Missing):
                return replace(reply, seconds=round(seconds, 3))
            value, reason = read(reply)
            if value is not None:
                return value, attempt, round(seconds, 3)
            messages = self.texts.again(messages, reply.text, reason)
        return Missing(reason, seconds=round(seconds, 3))

    async def _chat(
        self,
        messages: tuple[Message, ...],
        schema: Mapping[str, Any],
        pair: Pair,
        subject: str,
    ) -> ChatReply | Missing:
        asked = "\n".join(message.content for message in messages)
        output = self.config.max_tokens
        about = self.gauge.tokens(asked)
        if self.context and about > self.context - reply_room(self.context, output):
            size = f"about {about + output} tokens, {self.context} there"
            return Missing(f"does not fit the judge's context ({size})")
        parameters = {**self.config.parameters, "max_tokens": output}
        try:
            reply = await self.endpoint.chat(
                ChatRequest(messages, parameters, schema=schema, schema_name="judgement")
            )
        except EndpointError as failure:
            if failure.kind == "context_length":
                return Missing(f"does not fit the judge's context: {failure.message}")
            return Missing(f"judge request failed: {failure.message}", parse="error")
        self.keep(RawReply(pair, subject, _raw_bytes(reply)))
        counted = reply.usage.prompt_tokens if reply.usage else None
        if counted is not None and self.gauge.was_cut(asked, counted):
            size = f"{counted} tokens read of about {about}"
            return Missing(f"the server cut the prompt: {size}", seconds=reply.duration_s)
        return reply


def _read_verdict(reply: ChatReply) -> tuple[VerdictResult | None, str]:
    result = parse_verdict(reply.text, finish_reason=reply.finish_reason, reasoning=reply.reasoning)
    # A null that the judge meant is an answer too.
    usable = result.flag is not None or result.parse != "missing"
    return (result if usable else None), result.reason or "no flag found"


def _outcome(result: DimensionResult, attempt: int) -> Outcome:
    usable = result.score is not None or result.honest_null
    return Outcome(
        result.score,
        result.rationale,
        result.evidence,
        result.reason,
        "retried" if usable and attempt else result.parse,
    )


def _raw_bytes(reply: ChatReply) -> bytes:
    text = reply.text if reply.text.strip() else reply.reasoning or reply.text
    return text.encode("utf-8", "surrogatepass")


def _holds(item: Evidence, answer: Answer) -> bool:
    return not item.quote or stands_in(item.quote, answer.text)


async def score_dimensions(
    judge: Judge,
    pair: Pair,
    items: Sequence[Item],
    *,
    of: int,
    earlier: ModelReport | None = None,
    emit: Callable[[ModelReport], None] | None = None,
) -> ModelReport:
    """Return the holistic report of one (model, variant), missing scores with their reason.

    ``items`` are its prompts with answers, verdicts and, in map-reduce mode, noted evidence;
    ``of`` is the number of prompts in the suite. Dimensions that ``earlier`` holds are not asked
    again; ``emit`` gets the report as far as it is after every call but the last. A report is
    made even if every score is missing.
    """
    shown = judge.fitting(items)
    outcomes = dict.fromkeys((d.id for d in judge.suite.dimensions), _NOT_YET)
    if all(item.answer.is_empty for item in items):
        outcomes = dict.fromkeys(outcomes, Outcome(reason="there is no answer to judge"))
    outcomes |= standing_outcomes(earlier)
    left = [d for d in judge.suite.dimensions if outcomes[d.id].parse == "error"]
    calls = [[dimension] for dimension in left] if judge.config.calls != "one" else [left]
    for number, call in enumerate(calls if left else ()):
        if number and emit is not None:
            emit(_report(judge, pair, outcomes, items, shown, of))
        outcomes |= await judge.score(pair, shown, call)
    return _report(judge, pair, outcomes, items, shown, of)


def standing_outcomes(report: ModelReport | None) -> dict[str, Outcome]:
    """Return what a report says about the dimensions that need not be asked (again)."""
    if report is None:
        return {}
    return {
        key: Outcome(
            score,
            report.dim_rationales.get(key, ""),
            report.evidence.get(key, ()),
            report.issue(key),
            report.parse.get(key, "missing"),
        )
        for key, score in report.dim_scores.items()
        if report.parse.get(key) != "error"
    }


def _report(
    judge: Judge,
    pair: Pair,
    outcomes: Mapping[str, Outcome],
    items: Sequence[Item],
    shown: Sequence[Item],
    of: int,
) -> ModelReport:
    return ModelReport(
        model=pair[0],
        variant=pair[1],
        dim_scores={key: one.score for key, one in outcomes.items()},
        dim_rationales={key: one.rationale for key, one in outcomes.items() if one.rationale},
        evidence={key: one.evidence for key, one in outcomes.items() if one.evidence},
        parse_issues=tuple(
            ParseIssue(dimension=key, reason=one.reason or "no score found")
            for key, one in outcomes.items()
            if one.score is None
        ),
        judge=judge.fingerprint,
        mode=judge.config.mode,
        saw=_saw(items, shown, of, judge.config.mode),
        parse={key: one.parse for key, one in outcomes.items()},
    )


def _saw(items: Sequence[Item], shown: Sequence[Item], of: int, mode: JudgingMode) -> Saw:
    answered = [item for item in items if not item.answer.is_empty]
    if mode == "single":
        return Saw(answers=len(answered), of=of)
    return Saw(
        answers=sum(item.evidence is not None or item.is_red for item in answered),
        of=of,
        evidence=sum(len(item.evidence or ()) for item in shown),
        evidence_of=sum(len(item.evidence or ()) for item in items),
        red_in_full=sum(item.is_red and not item.brief for item in shown),
        red=sum(item.is_red for item in shown),
    )


@dataclass(frozen=True)
class Work:
    """What is there to judge of one (model, variant), and what was judged before.

    ``verdicts`` maps prompt ids to verdicts that stand; a verdict whose request failed is not
    among them. ``report`` is the report so far: with all verdicts there, only its open dimensions
    are asked for; with a new verdict all of it, for it rests on them.
    """

    pair: Pair
    answers: tuple[tuple[Prompt, Answer], ...]
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    report: ModelReport | None = None

    @property
    def open_verdicts(self) -> list[tuple[Prompt, Answer]]:
        """The answers that have no verdict yet."""
        return [(p, answer) for p, answer in self.answers if p.id not in self.verdicts]

    def open_dimensions(self, suite: Suite) -> list[str]:
        """Return the dimensions that have to be asked for (again)."""
        standing = {} if self.open_verdicts else standing_outcomes(self.report)
        return [d.id for d in suite.dimensions if d.id not in standing]


async def judge_bundle(
    suite: Suite,
    work: Sequence[Work],
    endpoint: Endpoint,
    config: JudgeConfig,
    *,
    fingerprint: str,
    answers_sha256: str,
    context: int | None,
) -> AsyncGenerator[JudgeRecord, None]:
    """Yield raw replies, verdicts and reports as they come, model by model.

    A raw reply comes before what was read from it, so that nothing is lost in between. A report
    comes after every call for it, each time with one score more: the last one counts. What
    ``work`` holds already is not asked again. Close it (``contextlib.aclosing``) to stop early.
    """
    gauge = TokenGauge()

    async def produce(emit: Callable[[JudgeRecord], None]) -> None:
        for one in work:
            if one.answers and one.open_dimensions(suite):
                nonce = nonce_for(answers_sha256, *one.pair)
                judge = Judge(suite, endpoint, config, fingerprint, nonce, context, emit, gauge)
                await _judge_pair(judge, one, emit)

    async with aclosing(stream(produce)) as records:
        async for record in records:
            yield record


async def _judge_pair(judge: Judge, work: Work, emit: Callable[[JudgeRecord], None]) -> None:
    verdicts = dict(work.verdicts)
    noted: dict[str, tuple[Evidence, ...] | Missing] = {}

    async def judge_answer(prompt: Prompt, answer: Answer) -> None:
        verdicts[prompt.id] = verdict = await judge.verdict(prompt, answer)
        emit(verdict)

    async def note(prompt: Prompt, answer: Answer) -> None:
        noted[prompt.id] = await judge.note_evidence(prompt, answer)

    limit = judge.config.concurrency
    earlier = None if work.open_verdicts else work.report
    await work_off((judge_answer(*pair) for pair in work.open_verdicts), limit)
    if judge.config.mode == "map-reduce":
        await work_off((note(*pair) for pair in work.answers), limit)
    items = []
    for prompt, answer in in_judging_order(judge, work.answers):
        notes = noted.get(prompt.id)
        seen = None if isinstance(notes, Missing) else notes
        items.append(Item(prompt, answer, verdicts.get(prompt.id), seen))
    of = len(judge.suite.prompts)
    failed = [one for one in noted.values() if isinstance(one, Missing) and one.parse == "error"]
    if failed:
        # Half of the evidence would pass for all of it.
        lost = Outcome(reason=failed[0].reason, parse="error")
        outcomes = dict.fromkeys((d.id for d in judge.suite.dimensions), lost)
        outcomes |= standing_outcomes(earlier)
        emit(_report(judge, work.pair, outcomes, items, items, of))
        return
    emit(await score_dimensions(judge, work.pair, items, of=of, earlier=earlier, emit=emit))


def in_judging_order(
    judge: Judge, answers: Sequence[tuple[Prompt, Answer]]
) -> list[tuple[Prompt, Answer]]:
    """Return the answers as the judge reads them: one order for all models, favouring none."""
    order = [prompt.id for prompt in judge.suite.prompts]
    if judge.config.order_seed is not None:
        random.Random(judge.config.order_seed).shuffle(order)  # noqa: S311
    return sorted(answers, key=lambda pair: order.index(pair[0].id))
