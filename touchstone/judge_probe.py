"""Asks a judge the same again, and slightly different, to see what moves it (ADR-0013).

Scores are asked for with the verdicts that stand in the bundle, single answers without any. What
the judge says is kept as observations; verdicts and reports stay as they are.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import cast

from touchstone.endpoints import Endpoint
from touchstone.judge import Judge, Missing, Outcome, Pair, RawReply, Work, in_judging_order
from touchstone.judge_config import JudgeConfig, TokenGauge, nonce_for
from touchstone.judge_prompt import Item
from touchstone.models import Answer, Evidence, Flag, Prompt, Suite, Verdict
from touchstone.probe_records import PROBES, Observation, Probe
from touchstone.probe_texts import CANARIES, INJECTIONS, Canary, Injection
from touchstone.probes import (
    NamedTexts,
    Planted,
    inject,
    other_name,
    pad,
    permuted_order,
    plant_canary,
    plant_injection,
    reversed_order,
    seeded_rank,
)
from touchstone.streaming import stream, work_off

HOLISTIC: tuple[Probe, ...] = ("reverse", "permute", "named", "swapped", "padding", "injection")
"""The probes of scores, beside ``repeat``."""
_CHANGES_ANSWERS = ("padding", "injection")
# A flag can get worse where it is good (under a red one only a quote shows what was noticed), and
# better where it is bad.
_PLANTED: tuple[tuple[Probe, tuple[str, ...], tuple[Flag, ...]], ...] = (
    ("canary", CANARIES, ("green", "yellow", "red")),
    ("injection", INJECTIONS, ("yellow", "red")),
)
"""Probes of single answers: what is planted, and in answers with which flags, the best first."""


ProbeRecord = RawReply | Observation


@dataclass(frozen=True)
class ProbeOptions:
    """What is to be probed.

    ``repeat``: how often the same is asked again, of all that ``probes`` need to be read against.
    ``dimensions``: ids, in suite order. ``canaries``: how many answers of a model get planted
    defects, and how many get injections. ``seed``: of their choice and of the other order.
    """

    dimensions: tuple[str, ...]
    probes: tuple[Probe, ...] = PROBES
    repeat: int = 3
    canaries: int = 2
    seed: int = 0


@dataclass(frozen=True)
class Question:
    """One question under a probe: for scores (``dimensions``) or for a flag (``prompt_id``)."""

    work: Work
    probe: Probe
    run: int = 1
    dimensions: tuple[str, ...] = ()
    prompt_id: str | None = None
    template: str | None = None
    told: str | None = None
    seed: int = 0

    @property
    def draw(self) -> tuple[str, int]:
        """Which noting of evidence a score rests on, in map-reduce mode: of what, and which."""
        changed = self.probe if self.probe in _CHANGES_ANSWERS else ""
        return changed, self.run if self.probe == "repeat" else 1

    def blanks(self, judge: str, basis: str) -> list[Observation]:
        """Return the observations that the reply will fill."""
        altered = self.probe in ("canary", "injection")
        blank = Observation(
            probe=self.probe,
            run=self.run,
            model=self.work.pair[0],
            variant=self.work.pair[1],
            prompt_id=self.prompt_id,
            target=self.prompt_id if altered else None,
            template=self.template,
            planted=self.told,
            judge=judge,
            basis=basis,
        )
        if self.prompt_id is not None:
            return [blank]
        return [blank.model_copy(update={"dimension": one}) for one in self.dimensions]


# --- the plan ------------------------------------------------------------------------------


def plan_probes(
    suite: Suite,
    work: Sequence[Work],
    options: ProbeOptions,
    *,
    one_call: bool,
    names: Sequence[str],
) -> list[Question]:
    """Return everything to be asked, model by model, what is only repeated first.

    ``names`` are those of all models of the bundle. With ``one_call`` the judge scores all
    dimensions in one reply. What a model's answers don't allow is left out.
    """
    questions: list[Question] = []
    for one in work:
        if all(answer.is_empty for _, answer in one.answers):
            continue
        scores = list(_score_questions(one, options, names))
        flags = list(_flag_questions(suite, one, options))
        if not one_call:
            scores = [replace(q, dimensions=(key,)) for q in scores for key in q.dimensions]
        questions += [*scores, *flags]
    return questions


def _score_questions(work: Work, options: ProbeOptions, names: Sequence[str]) -> Iterator[Question]:
    chosen = [probe for probe in HOLISTIC if probe in options.probes]
    if not options.dimensions or not (chosen or "repeat" in options.probes):
        return
    base = Question(work, "repeat", dimensions=options.dimensions, seed=options.seed)
    for run in range(1, options.repeat + 1):
        yield replace(base, run=run)
    model, count = work.pair[0], len(work.answers)
    for probe in chosen:
        question = replace(base, probe=probe)
        if probe == "permute":
            question = replace(question, template=f"seed {options.seed}")
        elif probe == "named":
            question = replace(question, told=model)
        elif probe == "swapped":
            question = replace(question, told=other_name(model, names))
        elif probe == "injection":
            question = replace(question, template=INJECTIONS[0])
        if count >= {"reverse": 2, "permute": 3}.get(probe, 1):
            yield question


def _flag_questions(suite: Suite, work: Work, options: ProbeOptions) -> Iterator[Question]:
    planted: list[Question] = []
    for probe, kinds, flags in _PLANTED:
        if not {probe, "repeat"} & set(options.probes):
            continue
        for answer in chosen_answers(work, options.canaries, options.seed, flags):
            each = [Question(work, probe, prompt_id=answer.prompt_id, template=k) for k in kinds]
            planted += [one for one in each if _plant(one, answer, suite.language) is not None]
    targets = dict.fromkeys(question.prompt_id for question in planted)
    for target, run in itertools.product(targets, range(1, options.repeat + 1)):
        yield Question(work, "repeat", run, prompt_id=target)
    yield from (question for question in planted if question.probe in options.probes)


def chosen_answers(work: Work, count: int, seed: int, flags: Sequence[Flag]) -> list[Answer]:
    """Return ``count`` answers whose flag is one of these, those with the first flags first.

    Among answers of one flag the seed chooses, by prompt: the same ones for every model.
    """
    ranked: list[tuple[int, str, Answer]] = []
    for prompt, answer in work.answers:
        verdict = work.verdicts.get(prompt.id)
        if not answer.is_empty and verdict is not None and verdict.flag in flags:
            ranked.append((flags.index(verdict.flag), seeded_rank(seed, prompt.id), answer))
    ranked.sort(key=lambda one: one[:2])
    return [answer for _, _, answer in ranked[:count]]


def _plant(question: Question, answer: Answer, language: str) -> Planted | None:
    if question.probe == "canary":
        return plant_canary(cast(Canary, question.template), answer, language)
    if question.probe == "injection":
        return plant_injection(cast(Injection, question.template), answer, language)
    return None


def open_questions(
    plan: Iterable[Question], settled: Collection[tuple[str, ...]], *, judge: str, basis: str
) -> list[Question]:
    """Return the questions that have something open; ``settled`` are keys of observations."""
    questions = []
    for question in plan:
        left = [one for one in question.blanks(judge, basis) if one.key not in settled]
        dimensions = tuple(one.dimension for one in left if one.dimension is not None)
        if left:
            questions.append(replace(question, dimensions=dimensions))
    return questions


def count_notes(questions: Iterable[Question]) -> int:
    """Return how many answers have to be noted evidence from first, in map-reduce mode."""
    draws = {(q.work.pair, q.draw): q.work for q in questions if q.prompt_id is None}
    return sum(not answer.is_empty for work in draws.values() for _, answer in work.answers)


# --- asking --------------------------------------------------------------------------------


async def probe_judge(
    suite: Suite,
    questions: Sequence[Question],
    endpoint: Endpoint,
    config: JudgeConfig,
    *,
    fingerprint: str,
    basis: str,
    answers_sha256: str,
    context: int | None,
) -> AsyncGenerator[ProbeRecord, None]:
    """Yield an observation for every score and flag that is asked for, as they come.

    Raw replies come too, before what was read from them: for progress, they need not be kept.
    In map-reduce mode evidence is noted anew for every repetition and wherever answers are
    changed; order and names are probed on the notes of the first repetition. Close it
    (``contextlib.aclosing``) to stop early.
    """

    async def produce(emit: Callable[[ProbeRecord], None]) -> None:
        asker = _Asker(suite, endpoint, config, fingerprint, basis, answers_sha256, context, emit)
        for _, group in itertools.groupby(questions, key=lambda q: q.work.pair):
            of_pair = list(group)
            await asker.ask_scores([q for q in of_pair if q.prompt_id is None])
            flags = (asker.ask_flag(q) for q in of_pair if q.prompt_id is not None)
            await work_off(flags, config.concurrency)

    async with aclosing(stream(produce)) as records:
        async for record in records:
            yield record


Noted = dict[str, tuple[Evidence, ...] | Missing]


@dataclass
class _Asker:
    """The judge of a bundle, asked under probes."""

    suite: Suite
    endpoint: Endpoint
    config: JudgeConfig
    fingerprint: str
    basis: str
    answers_sha256: str
    context: int | None
    emit: Callable[[ProbeRecord], None]
    gauge: TokenGauge = field(default_factory=TokenGauge)

    async def ask_scores(self, questions: Sequence[Question]) -> None:
        """Ask for scores of one (model, variant), those that rest on the same notes together."""
        by_evidence = self.config.mode == "map-reduce"
        ordered = sorted(questions, key=lambda q: q.draw) if by_evidence else questions
        for _, group in itertools.groupby(ordered, key=lambda q: q.draw if by_evidence else None):
            together = list(group)
            noted = await self._note(together[0]) if by_evidence else {}
            asking = (self._ask_scores(question, noted) for question in together)
            await work_off(asking, self.config.concurrency)

    async def ask_flag(self, question: Question) -> None:
        """Ask for the flag of one answer, with or without something planted in it."""
        [(prompt, answer)] = [
            one for one in question.work.answers if one[0].id == question.prompt_id
        ]
        planted = _plant(question, answer, self.suite.language)
        shown = planted.answer if planted else answer
        verdict = await self._judge(question.work.pair).verdict(prompt, shown)
        [blank] = question.blanks(self.fingerprint, self.basis)
        self.emit(blank.model_copy(update=_seen(verdict, planted, question.probe)))

    async def _ask_scores(self, question: Question, noted: Noted) -> None:
        judge = self._judge(question.work.pair, question.told)
        failed = [
            one for one in noted.values() if isinstance(one, Missing) and one.parse == "error"
        ]
        outcomes: dict[str, Outcome] = {}
        if failed:
            # Half of the evidence would pass for all of it.
            lost = Outcome(reason=failed[0].reason, parse="error")
            outcomes = dict.fromkeys(question.dimensions, lost)
        else:
            wanted = self.suite.dimensions
            if self.config.calls != "one":
                wanted = tuple(one for one in wanted if one.id in question.dimensions)
            items = judge.fitting(_in_order(question, _items(judge, question, noted)))
            outcomes = await judge.score(question.work.pair, items, wanted)
        for blank in question.blanks(self.fingerprint, self.basis):
            self.emit(blank.model_copy(update=_scored(outcomes[blank.dimension or ""])))

    async def _note(self, question: Question) -> Noted:
        noted: Noted = {}
        judge = self._judge(question.work.pair)

        async def note(prompt: Prompt, answer: Answer) -> None:
            noted[prompt.id] = await judge.note_evidence(prompt, answer)

        shown = _shown_answers(question, self.suite.language)
        await work_off((note(*one) for one in shown), self.config.concurrency)
        return noted

    def _judge(self, pair: Pair, told: str | None = None) -> Judge:
        nonce = nonce_for(self.answers_sha256, *pair)
        judge = Judge(
            self.suite,
            self.endpoint,
            self.config,
            self.fingerprint,
            nonce,
            self.context,
            self.emit,
            self.gauge,
        )
        if told is not None:
            judge.texts = NamedTexts(self.suite, nonce, told)
        return judge


def _shown_answers(question: Question, language: str) -> list[tuple[Prompt, Answer]]:
    change = {"padding": pad, "injection": inject}.get(question.probe)
    if change is None:
        return list(question.work.answers)
    return [(prompt, change(answer, language)) for prompt, answer in question.work.answers]


def _items(judge: Judge, question: Question, noted: Noted) -> list[Item]:
    items = []
    for prompt, answer in in_judging_order(judge, _shown_answers(question, judge.suite.language)):
        notes = noted.get(prompt.id)
        seen = None if isinstance(notes, Missing) else notes
        items.append(Item(prompt, answer, question.work.verdicts.get(prompt.id), seen))
    return items


def _in_order(question: Question, items: list[Item]) -> list[Item]:
    if question.probe == "reverse":
        return reversed_order(items) or items
    if question.probe == "permute":
        return permuted_order(items, question.seed, lambda item: item.prompt.id) or items
    return items


def _scored(outcome: Outcome) -> dict[str, object]:
    return {
        "score": outcome.score,
        "rationale": outcome.rationale,
        "quotes": tuple(item.quote for item in outcome.evidence if item.quote),
        "reason": None if outcome.score is not None else outcome.reason or "no score found",
        "parse": outcome.parse,
    }


def _seen(verdict: Verdict, planted: Planted | None, probe: Probe) -> dict[str, object]:
    update: dict[str, object] = {
        "flag": verdict.flag,
        "rationale": verdict.rationale,
        "quotes": verdict.quotes,
        "reason": verdict.reason,
        "parse": verdict.parse,
    }
    if planted is not None:
        update["planted"] = planted.words
        if probe == "canary" and verdict.flag is not None:
            update["quoted"] = planted.is_quoted(verdict.quotes)
    return update
