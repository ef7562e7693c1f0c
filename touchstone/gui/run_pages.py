"""The data of a bundle's provenance page: how the answers and the judgement came about."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from touchstone.bundle import SUITE
from touchstone.gui.bundle_view import BundleView
from touchstone.gui.links import Pair
from touchstone.gui.wording import Crumb, Meta, Wording
from touchstone.models import Answer, JudgeEntry, ModelEntry, Weights

_REPEAT = re.compile(r"(.+)#([0-9]{1,6})", re.DOTALL)
MOST_PROBLEMS = 50
_OPTIONS = ("temperature", "top_p", "seed", "max_tokens")
"""Parameters that ``touchstone run`` has options of their own for."""


@dataclass(frozen=True)
class Fact:
    """A named value; ``code`` sets it in monospace."""

    name: str
    value: str
    code: bool = False


@dataclass(frozen=True)
class Figures:
    """Timings and tokens of one model over a run; None where nothing is known.

    ``seconds`` is the sum over its answers, ``first_token`` the median wait in seconds,
    ``tokens_per_second`` over the answers that have both.
    """

    entry: ModelEntry
    answers: int
    cut: int
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float | None
    first_token: float | None
    tokens_per_second: float | None
    errors: tuple[Answer, ...]


def run_page_data(view: BundleView, words: Wording) -> dict[str, Any]:
    """Return what the provenance page's template needs."""
    manifest = view.bundle.manifest
    return words.frame(view, Crumb(words.say("Run"))) | {
        "meta": Meta(
            words.say("Run: %(title)s", title=words.bundle_title(view)),
            words.say("Parameters, weights, engine, timings and hashes of this evaluation."),
        ),
        "problems": view.problems[:MOST_PROBLEMS],
        "more_problems": _more_problems(view, words),
        "about": _about(view, words),
        "figures": _figures(view),
        "models": [(entry, _model_facts(view, entry, words)) for entry in view.models],
        "judge": manifest.judge,
        "judge_facts": _judge_facts(manifest.judge, words) if manifest.judge else [],
        "parse_health": _parse_health(view, words),
        "hashes": _hashes(view, words),
        "sealed": manifest.sealed is not None,
        "commands": _commands(view),
    }


def _known(facts: Iterable[Fact]) -> list[Fact]:
    return [fact for fact in facts if fact.value.strip()]


def _more_problems(view: BundleView, words: Wording) -> str:
    more = len(view.problems) - MOST_PROBLEMS
    return words.count("and %(num)s more", "and %(num)s more", more) if more > 0 else ""


def _about(view: BundleView, words: Wording) -> list[Fact]:
    manifest = view.bundle.manifest
    facts = [
        Fact(words.say("Bundle"), manifest.id),
        Fact(words.say("Suite"), manifest.suite.id),
        Fact(words.say("Made"), manifest.created or ""),
        Fact(words.say("With"), manifest.tool or ""),
    ]
    return _known(facts)


def _model_facts(view: BundleView, entry: ModelEntry, words: Wording) -> list[Fact]:
    facts = [
        Fact(words.say("About"), words.show(entry.label, view.suite)),
        Fact(words.say("Parameters"), _json(entry.parameters), code=True),
        Fact(words.say("System message"), entry.system or ""),
        Fact(words.say("Endpoint"), entry.endpoint or ""),
        *_weights_facts(entry.weights, words),
        Fact(words.say("Engine"), entry.engine or ""),
        Fact(words.say("Hardware"), entry.hardware or ""),
    ]
    return _known(facts)


def _weights_facts(weights: Weights | None, words: Wording) -> list[Fact]:
    if weights is None:
        return []
    parts = [weights.name, weights.parameters, weights.quantization, weights.source]
    return [
        Fact(words.say("Weights"), " · ".join(part for part in parts if part)),
        Fact(words.say("Weights, sha256"), weights.sha256 or "", code=True),
    ]


def _judge_facts(judge: JudgeEntry, words: Wording) -> list[Fact]:
    ways = {"exchange": words.say("by file exchange"), "endpoint": words.say("over an endpoint")}
    facts = [
        Fact(words.say("Judge"), f"{judge.id} ({words.kind(judge.kind)})"),
        Fact(words.say("Model"), judge.model or ""),
        Fact(words.say("Way"), ways.get(judge.via or "", "")),
        Fact(words.say("Mode"), words.mode(judge.mode)),
        Fact(words.say("Parameters"), _json(judge.parameters), code=True),
        Fact(words.say("Judging texts, version"), str(judge.prompt_version or "")),
        *_weights_facts(judge.weights, words),
        Fact(words.say("Engine"), judge.engine or ""),
        Fact(words.say("Fingerprint"), judge.fingerprint, code=True),
    ]
    return _known(facts)


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False) if value else ""


# --- timings and tokens --------------------------------------------------------------------


def _figures(view: BundleView) -> list[Figures]:
    """Return the figures of each model, in the bundle's order; the answers are read once."""
    answers: dict[Pair, list[Answer]] = {}
    for answer in view.bundle.answers:
        light = answer.model_copy(update={"text": "", "reasoning": None})
        answers.setdefault(answer.pair, []).append(light)
    return [_figures_of(entry, answers.get(entry.pair, [])) for entry in view.models]


def _figures_of(entry: ModelEntry, answers: Sequence[Answer]) -> Figures:
    usage = [answer.usage for answer in answers if answer.usage]
    asked = [u.prompt_tokens for u in usage if u.prompt_tokens is not None]
    made = [u.completion_tokens for u in usage if u.completion_tokens is not None]
    times = [a.duration_s for a in answers if a.duration_s is not None]
    first = [a.ttft_s for a in answers if a.ttft_s is not None]
    return Figures(
        entry=entry,
        answers=len(answers),
        cut=sum(answer.finish_reason == "length" for answer in answers),
        prompt_tokens=sum(asked) if asked else None,
        completion_tokens=sum(made) if made else None,
        seconds=sum(times) if times else None,
        first_token=median(first) if first else None,
        tokens_per_second=_speed(answers),
        errors=tuple(answer for answer in answers if answer.error is not None),
    )


def _speed(answers: Sequence[Answer]) -> float | None:
    timed = [
        (answer.usage.completion_tokens, answer.duration_s)
        for answer in answers
        if answer.usage and answer.usage.completion_tokens is not None and answer.duration_s
    ]
    seconds = sum(duration for _, duration in timed)
    return sum(tokens for tokens, _ in timed) / seconds if seconds > 0 else None


# --- the judge's replies, hashes, commands -------------------------------------------------


def _parse_health(view: BundleView, words: Wording) -> list[tuple[str, int]]:
    """Return how the judge's replies about dimensions were read, most frequent first."""
    reports = [row.report for row in view.rows if row.report]
    counts = Counter(words.parse(how) for report in reports for how in report.parse.values())
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def _hashes(view: BundleView, words: Wording) -> list[Fact]:
    bundle = view.bundle
    return [
        Fact(words.say("Bundle"), bundle.sha256, code=True),
        Fact(words.say("Suite"), bundle.suite_sha256, code=True),
        Fact(words.say("Answers"), bundle.answers_sha256, code=True),
    ]


def _commands(view: BundleView) -> list[str]:
    """Return the commands that make such a bundle again, one for each model and its repeats."""
    pairs = {entry.pair for entry in view.models}
    epochs: dict[Pair, int] = {}
    for entry in view.models:
        base, epoch = _epoch_of(entry.pair, pairs)
        epochs[base] = max(epoch, epochs.get(base, 1))
    return [
        _command(view, entry, epochs[entry.pair]) for entry in view.models if entry.pair in epochs
    ]


def _epoch_of(pair: Pair, pairs: Container[Pair]) -> tuple[Pair, int]:
    """Return which (model, variant) a pair repeats, and the how manieth time this is."""
    found = _REPEAT.fullmatch(pair[1])
    base = (pair[0], found[1]) if found else pair
    return (base, int(found[2])) if found and base in pairs else (pair, 1)


def _command(view: BundleView, entry: ModelEntry, repeat: int) -> str:
    is_local = entry.endpoint == "embedded"
    words = ["touchstone", "run", f"{view.bundle.id}/{SUITE}"]
    words += ["--model", f"local:{entry.model}" if is_local else entry.model]
    words += ["--variant", entry.variant]
    for name, value in entry.parameters.items():
        if name in _OPTIONS and isinstance(value, int | float):
            words += ["--" + name.replace("_", "-"), str(value)]
        else:
            words += ["--parameter", f"{name}={json.dumps(value, ensure_ascii=False)}"]
    if entry.system:
        words += ["--system", entry.system]
    if entry.endpoint and not is_local:
        words += ["--base-url", entry.endpoint]
    if repeat > 1:
        words += ["--repeat", str(repeat)]
    return shlex.join([*words, "-o", f"{view.bundle.id}-again"])
