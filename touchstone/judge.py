"""Has a judge rate answers: a verdict for each, then one holistic report a model (ADR-0007)."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from touchstone.endpoints import ChatReply, ChatRequest, Endpoint
from touchstone.errors import EndpointError
from touchstone.evidence import locate_quote
from touchstone.judge_config import (
    BYTES_PER_TOKEN,
    CONTEXT_SHARE,
    JudgeConfig,
    estimate_tokens,
    nonce_for,
)
from touchstone.judge_prompt import Item, JudgeTexts
from touchstone.judge_reply import (
    DIMENSION_SCHEMA,
    EVIDENCE_SCHEMA,
    VERDICT_SCHEMA,
    DimensionResult,
    parse_dimension_report,
    parse_evidence_items,
    parse_verdict,
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

MOST_ASKED_AGAIN = 2
"""How often a judge is asked again for what is missing."""


@dataclass(frozen=True)
class RawReply:
    """A judge's reply as it came, kept before anything is read from it."""

    pair: Pair
    subject: str
    content: bytes


@dataclass(frozen=True)
class Missing:
    """No usable reply: why, and whether the request itself failed (so that it can be repeated)."""

    reason: str
    failed_request: bool = False


JudgeRecord = RawReply | Verdict | ModelReport
Keep = Callable[[RawReply], None]


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
        texts.material(item, in_full=mode == "single" or _is_red(item)) for item in items
    )
    one = len(dimensions) == 1
    task = texts.dimension_task(dimensions[0]) if one else texts.dimensions_task(dimensions)
    return (
        Message(role="system", content=texts.system()),
        Message(role="user", content=f"{shown}\n\n{task}"),
    )


def _is_red(item: Item) -> bool:
    return item.verdict is not None and item.verdict.flag == "red"


class Judge:
    """One judge at work on one (model, variant): asks, keeps raw replies, parses, asks again."""

    def __init__(
        self,
        suite: Suite,
        endpoint: Endpoint,
        config: JudgeConfig,
        *,
        fingerprint: str,
        nonce: str,
        context: int | None,
        keep: Keep,
    ) -> None:
        self.suite = suite
        self.endpoint = endpoint
        self.config = config
        self.fingerprint = fingerprint
        self.texts = JudgeTexts(suite, nonce)
        self.context = context
        self.keep = keep

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
        messages = self._about_one(Item(prompt, answer), self.texts.say("verdict"))
        seconds, attempt = 0.0, 0
        reason, parse = "no reply", "missing"
        for attempt in range(MOST_ASKED_AGAIN + 1):
            reply = await self._chat(messages, VERDICT_SCHEMA, answer.pair, answer.prompt_id)
            if isinstance(reply, Missing):
                reason = reply.reason
                parse = "error" if reply.failed_request else "missing"
                break
            seconds += reply.duration_s
            result = parse_verdict(
                reply.text, finish_reason=reply.finish_reason, reasoning=reply.reasoning
            )
            if result.flag is not None:
                return verdict.model_copy(
                    update={
                        "flag": result.flag,
                        "category": result.category,
                        "rationale": result.rationale,
                        "quotes": result.quotes,
                        "duration_s": round(seconds, 3),
                        "parse": result.parse if attempt == 0 else "retried",
                    }
                )
            reason = result.reason or "no flag found"
            messages = self._again(messages, reply, reason)
        update = {"reason": reason, "parse": parse, "duration_s": round(seconds, 3)}
        return verdict.model_copy(update=update)

    async def note_evidence(self, prompt: Prompt, answer: Answer) -> tuple[Evidence, ...]:
        """Return what the judge notes about one answer; quotes that do not stand in it are out."""
        if answer.is_empty:
            return ()
        messages = self._about_one(Item(prompt, answer), self.texts.map_task(prompt))
        subject = f"{answer.prompt_id} evidence"
        reply = await self._chat(messages, EVIDENCE_SCHEMA, answer.pair, subject)
        if isinstance(reply, Missing):
            return ()
        items, _ = parse_evidence_items(
            reply.text,
            prompt_ids=[prompt.id],
            finish_reason=reply.finish_reason,
            reasoning=reply.reasoning,
        )
        return tuple(item for item in items if _holds(item, answer))

    async def score(
        self, pair: Pair, items: Sequence[Item], dimensions: Sequence[Dimension]
    ) -> dict[str, DimensionResult | Missing]:
        """Return a result for each dimension; what is missing is asked for again, twice at most."""
        messages = _build_dimension_prompt(self.texts, items, dimensions, mode=self.config.mode)
        left = list(dimensions)
        results: dict[str, DimensionResult | Missing] = {}
        for attempt in range(MOST_ASKED_AGAIN + 1):
            subject = left[0].id if len(left) == 1 else "dimensions"
            reply = await self._chat(messages, _schema_for(left), pair, subject)
            if isinstance(reply, Missing):
                results.update({dimension.id: reply for dimension in left})
                break
            parsed = parse_dimension_report(
                reply.text,
                left,
                prompt_ids=[prompt.id for prompt in self.suite.prompts],
                finish_reason=reply.finish_reason,
                reasoning=reply.reasoning,
                asked=left[0].id if len(left) == 1 else None,
            )
            results.update(_marked(parsed, attempt))
            left = [d for d in left if parsed[d.id].score is None and not parsed[d.id].honest_null]
            if not left:
                break
            reasons = "; ".join(f"{d.id}: {parsed[d.id].reason}" for d in left)
            messages = self._again(messages, reply, reasons)
        return results

    def _about_one(self, item: Item, task: str) -> tuple[Message, ...]:
        return (
            Message(role="system", content=self.texts.system()),
            Message(role="user", content=f"{self.texts.material(item)}\n\n{task}"),
        )

    def fitting(self, items: Sequence[Item]) -> list[Item]:
        """Return the items with as much noted evidence of each answer as the context takes.

        The first items of an answer are its most telling ones. In single mode nothing is left out.
        """
        if self.config.mode == "single" or self.context is None:
            return list(items)
        room = CONTEXT_SHARE * self.context - min(self.config.max_tokens, self.context // 4)
        most = max((len(item.evidence or ()) for item in items), default=0)
        for limit in range(most, 0, -1):
            shown = [replace(item, evidence=(item.evidence or ())[:limit]) for item in items]
            dimensions = self.suite.dimensions[:1]
            messages = _build_dimension_prompt(self.texts, shown, dimensions, mode="map-reduce")
            if sum(estimate_tokens(message.content) for message in messages) <= room:
                return shown
        return [replace(item, evidence=(item.evidence or ())[:1]) for item in items]

    def _again(
        self, messages: tuple[Message, ...], reply: ChatReply, reason: str
    ) -> tuple[Message, ...]:
        said = reply.text[:2000] or "–"
        return (
            *messages[:2],
            Message(role="assistant", content=said),
            Message(role="user", content=self.texts.say("again", reason=reason)),
        )

    async def _chat(
        self,
        messages: tuple[Message, ...],
        schema: Mapping[str, Any],
        pair: Pair,
        subject: str,
    ) -> ChatReply | Missing:
        size = sum(len(m.content.encode("utf-8", "surrogatepass")) for m in messages)
        output = self.config.max_tokens
        if self.context and size / BYTES_PER_TOKEN > self.context - min(output, self.context // 4):
            needed = size // BYTES_PER_TOKEN + output
            return Missing(
                f"does not fit the judge's context (about {needed} tokens, {self.context} there)"
            )
        parameters = {**self.config.parameters, "max_tokens": output}
        try:
            reply = await self.endpoint.chat(
                ChatRequest(messages, parameters, schema=schema, schema_name="judgement")
            )
        except EndpointError as failure:
            return Missing(f"judge request failed: {failure.message}", failed_request=True)
        self.keep(RawReply(pair, subject, _raw_bytes(reply)))
        seen = reply.usage.prompt_tokens if reply.usage else None
        if seen is not None and seen * 10 < size:
            about = size // BYTES_PER_TOKEN
            return Missing(f"the server cut the prompt: {seen} tokens read of about {about}")
        return reply


def _raw_bytes(reply: ChatReply) -> bytes:
    text = reply.text or reply.reasoning or ""
    return text.encode("utf-8", "surrogatepass")


def _holds(item: Evidence, answer: Answer) -> bool:
    return not item.quote or locate_quote(item.quote, answer.text).kind != "unverifiable"


def _schema_for(dimensions: Sequence[Dimension]) -> Mapping[str, Any]:
    one: Mapping[str, Any] = DIMENSION_SCHEMA
    if len(dimensions) == 1:
        return one
    ids = [dimension.id for dimension in dimensions]
    return {
        "type": "object",
        "properties": dict.fromkeys(ids, one),
        "required": ids,
        "additionalProperties": False,
    }


def _marked(results: Mapping[str, DimensionResult], attempt: int) -> dict[str, DimensionResult]:
    if attempt == 0:
        return dict(results)
    return {
        key: replace(value, parse="retried") if value.score is not None else value
        for key, value in results.items()
    }


async def score_dimensions(
    judge: Judge, pair: Pair, items: Sequence[Item], *, of: int
) -> ModelReport:
    """Return the holistic report of one (model, variant), missing scores with their reason.

    ``items`` are its prompts with answers, verdicts and, in map-reduce mode, noted evidence;
    ``of`` is the number of prompts in the suite. A report is made even if every score is missing.
    """
    dimensions = judge.suite.dimensions
    shown = judge.fitting(items)
    if judge.config.calls == "one":
        results = await judge.score(pair, shown, dimensions)
    else:
        results = {}
        for dimension in dimensions:
            results |= await judge.score(pair, shown, [dimension])
    scored = {key: value for key, value in results.items() if isinstance(value, DimensionResult)}
    return ModelReport(
        model=pair[0],
        variant=pair[1],
        dim_scores={d.id: scored[d.id].score if d.id in scored else None for d in dimensions},
        dim_rationales={key: value.rationale for key, value in scored.items() if value.rationale},
        evidence={key: value.evidence for key, value in scored.items() if value.evidence},
        parse_issues=tuple(
            ParseIssue(dimension=key, reason=value.reason or "no score found")
            for key, value in results.items()
            if isinstance(value, Missing) or value.score is None
        ),
        judge=judge.fingerprint,
        mode=judge.config.mode,
        saw=_saw(items, shown, of, judge.config.mode),
        parse={
            key: "missing" if isinstance(value, Missing) else value.parse
            for key, value in results.items()
        },
    )


def _saw(items: Sequence[Item], shown: Sequence[Item], of: int, mode: JudgingMode) -> Saw:
    answers = sum(not item.answer.is_empty for item in items)
    if mode == "single":
        return Saw(answers=answers, of=of)
    noted = sum(len(item.evidence or ()) for item in items)
    seen = sum(len(item.evidence or ()) for item in shown)
    return Saw(answers=answers, of=of, evidence=seen, evidence_of=noted)


@dataclass(frozen=True)
class Work:
    """What is there to judge of one (model, variant), and what was judged before.

    ``verdicts`` maps prompt ids to verdicts that stand; a verdict whose request failed is not
    among them. ``report`` is the finished report, or None.
    """

    pair: Pair
    answers: tuple[tuple[Prompt, Answer], ...]
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    report: ModelReport | None = None

    @property
    def open_verdicts(self) -> list[tuple[Prompt, Answer]]:
        """The answers that have no verdict yet."""
        return [(p, answer) for p, answer in self.answers if p.id not in self.verdicts]


async def judge_bundle(
    suite: Suite,
    work: Sequence[Work],
    endpoint: Endpoint,
    config: JudgeConfig,
    *,
    fingerprint: str,
    answers_sha256: str,
    context: int | None,
) -> AsyncIterator[JudgeRecord]:
    """Yield raw replies, verdicts and reports as they come, model by model.

    A raw reply comes before what was read from it, so that nothing is lost in between. What
    ``work`` holds already is not asked again.
    """

    async def produce(emit: Callable[[JudgeRecord], None]) -> None:
        for one in work:
            if one.report is not None and not one.open_verdicts:
                continue
            judge = Judge(
                suite,
                endpoint,
                config,
                fingerprint=fingerprint,
                nonce=nonce_for(answers_sha256, *one.pair),
                context=context,
                keep=emit,
            )
            await _judge_pair(judge, one, emit)

    async for record in stream(produce):
        yield record


async def _judge_pair(judge: Judge, work: Work, emit: Callable[[JudgeRecord], None]) -> None:
    verdicts = dict(work.verdicts)
    noted: dict[str, tuple[Evidence, ...]] = {}

    async def judge_answer(prompt: Prompt, answer: Answer) -> None:
        verdicts[prompt.id] = verdict = await judge.verdict(prompt, answer)
        emit(verdict)

    async def note(prompt: Prompt, answer: Answer) -> None:
        noted[prompt.id] = await judge.note_evidence(prompt, answer)

    limit = judge.config.concurrency
    await work_off((judge_answer(*pair) for pair in work.open_verdicts), limit)
    if work.report is not None:
        return
    if judge.config.mode == "map-reduce":
        await work_off((note(*pair) for pair in work.answers), limit)
    items = [Item(p, a, verdicts.get(p.id), noted.get(p.id)) for p, a in work.answers]
    if judge.config.order_seed is not None:
        # One order for all models, so that position favours none of them.
        random.Random(judge.config.order_seed).shuffle(items)  # noqa: S311
    emit(await score_dimensions(judge, work.pair, items, of=len(judge.suite.prompts)))
