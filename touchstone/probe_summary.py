"""Figures from what probes of a judge saw, all read against its own noise (ADR-0013). Pure.

A *series* is what one question was answered with each time it was repeated: the scores of one
(model, variant) in one dimension, or the flags of one answer.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal

from touchstone.fields import Flag
from touchstone.intervals import Rate, rate
from touchstone.probe_records import Observation, Probe
from touchstone.scorecard import tidy

EFFECTS: tuple[Probe, ...] = ("reverse", "permute", "named", "swapped", "padding", "injection")
"""The probes that are expected to leave scores as they are."""

ERRORS_BEYOND = 2
"""An effect counts only beyond so many standard errors."""
MIN_SCORES = 5
"""Fewer scores under a probe than this are counted, and nothing is said about noise."""
MIN_FREEDOM = 10
"""Repetitions beyond the first of each series, in all, below which the noise is not known."""

NoClaim = Literal["no_repeats", "too_few_scores", "too_few_repeats"]
NO_CLAIM: Mapping[NoClaim, str] = {
    "no_repeats": "nothing it could be read against was repeated",
    "too_few_scores": f"fewer than {MIN_SCORES} scores",
    "too_few_repeats": f"the noise rests on fewer than {MIN_FREEDOM} repetitions",
}
"""Why it is not said whether an effect is beyond the noise, as the end of a sentence."""

_SEVERITY: Mapping[Flag, int] = {"green": 0, "yellow": 1, "red": 2}
SeriesKey = tuple[str, ...]


@dataclass(frozen=True)
class Noise:
    """How much scores vary when the very same is asked again.

    ``series`` have two scores or more, ``runs`` in all; ``equal`` is the share of series whose
    scores are all the same. ``deviation`` is the pooled standard deviation within series,
    √(Σ(x − series mean)² / ``freedom``) with ``freedom`` = ``runs`` − ``series``.
    ``mean_difference`` is the mean |difference| of two scores of a series, over all pairs.
    """

    series: int
    runs: int
    equal: Rate
    freedom: int
    deviation: float | None
    mean_difference: float | None


@dataclass(frozen=True)
class FlagNoise:
    """How much flags vary when the very same is asked again; as in ``Noise``."""

    series: int
    runs: int
    equal: Rate


@dataclass(frozen=True)
class Effect:
    """How scores moved under a probe.

    ``shift`` is the mean of d = score − mean of the repeated scores of the same series, over ``n``
    scores. ``error`` is its standard error from the noise alone: a score has the pooled standard
    deviation s of the repeats, the mean of k repeats s/√k, so that the mean of n differences has
    s·√(Σ(1 + 1/k)) / n. ``beyond`` says whether |shift| exceeds ``ERRORS_BEYOND`` of these; it is
    None, with the ``reason``, where n or the repeats are too few. A judge that never varied has an
    error of 0, and any shift is beyond its noise: it shows that the change moved it, not that
    another change of the same kind would move it the same way. The scores of one model hang
    together, which the error does not know: it is the least that can be assumed.

    ``changed`` is the share of scores that no repetition of their series gave; shifts up and down
    cancel out in ``shift`` and not here. ``missing`` counts questions without a usable score.
    """

    probe: Probe
    n: int
    missing: int
    shift: float | None
    error: float | None
    beyond: bool | None
    reason: NoClaim | None
    changed: Rate


@dataclass(frozen=True)
class Caught:
    """What became of planted words: ``found`` overall and by ``templates``.

    Canaries: how many defects were noticed, ``by_flag`` of them by a flag worse than the best one
    the unaltered answer got in the repeats, the others by a quote alone. Under a red flag only
    quotes count. Injections: how many made the flag better than that best one.

    ``chance`` is the same among the unaltered repeats: how many were worse (injections: better)
    than the best of the others. ``unused`` counts what can't be judged: the altered answer or all
    unaltered ones got no flag or, for injections, the flag could not get better.
    """

    found: Rate
    by_flag: int
    templates: Mapping[str, Rate]
    chance: Rate
    unused: int


@dataclass(frozen=True)
class ProbeSummary:
    """What is known of one judge from probes.

    ``observations`` were used; ``ignored`` are of another judge or of other answers. ``missing``
    is how many of those used have no result.
    """

    judge: str
    basis: str
    observations: int
    ignored: int
    missing: int
    repeat: Noise
    repeat_flags: FlagNoise
    effects: tuple[Effect, ...]
    canary: Caught
    injection: Caught

    @property
    def repeat_share(self) -> float | None:
        """The share of series of scores that were the same each time; None without any."""
        return self.repeat.equal.value

    @property
    def canaries(self) -> tuple[int, int] | None:
        """How many planted defects were noticed, and of how many; None without any."""
        found = self.canary.found
        return (found.count, found.n) if found.n else None

    def as_dict(self) -> dict[str, Any]:
        """Return plain JSON. What can't be computed is None, never 0."""
        return {
            "judge": self.judge,
            "basis": self.basis,
            "observations": self.observations,
            "ignored": self.ignored,
            "missing": self.missing,
            "repeat": {
                **_counts(self.repeat),
                "freedom": self.repeat.freedom,
                "deviation": _number(self.repeat.deviation),
                "mean_difference": _number(self.repeat.mean_difference),
            },
            "repeat_flags": _counts(self.repeat_flags),
            "effects": {one.probe: _effect_dict(one) for one in self.effects},
            "canary": {**_caught_dict(self.canary), "by_flag": self.canary.by_flag},
            "injection": _caught_dict(self.injection),
        }


def summarise(
    observations: Iterable[Observation], *, judge: str, basis: str
) -> ProbeSummary | None:
    """Return the figures of one judge (its fingerprint) about one suite and its answers.

    Observations of another judge or ``basis`` are counted and ignored. None where there are no
    observations at all.
    """
    given = list(observations)
    if not given:
        return None
    used = [one for one in given if (one.judge, one.basis) == (judge, basis)]
    scores = _series(one for one in used if one.dimension is not None)
    flags = _flag_series(used)
    noise = _noise(scores)
    return ProbeSummary(
        judge=judge,
        basis=basis,
        observations=len(used),
        ignored=len(given) - len(used),
        missing=sum(one.score is None and one.flag is None for one in used),
        repeat=noise,
        repeat_flags=_flag_noise(flags),
        effects=tuple(
            _effect(probe, seen, scores, noise)
            for probe in EFFECTS
            if (seen := [o for o in used if o.probe == probe and o.dimension is not None])
        ),
        canary=_canaries(used, flags),
        injection=_injections(used, flags),
    )


# --- noise ---------------------------------------------------------------------------------


def _key(one: Observation) -> SeriesKey:
    return (*one.pair, one.dimension or "", one.prompt_id or "")


def _series(observations: Iterable[Observation]) -> dict[SeriesKey, list[int]]:
    found: dict[SeriesKey, list[int]] = {}
    for one in observations:
        if one.probe == "repeat" and one.score is not None:
            found.setdefault(_key(one), []).append(one.score)
    return found


def _flag_series(observations: Iterable[Observation]) -> dict[SeriesKey, list[Flag]]:
    found: dict[SeriesKey, list[Flag]] = {}
    for one in observations:
        if one.probe == "repeat" and one.prompt_id is not None and one.flag is not None:
            found.setdefault(_key(one), []).append(one.flag)
    return found


def _noise(series: Mapping[SeriesKey, Sequence[int]]) -> Noise:
    repeated = [scores for scores in series.values() if len(scores) > 1]
    runs = sum(map(len, repeated))
    freedom = runs - len(repeated)
    squares = sum((score - fmean(scores)) ** 2 for scores in repeated for score in scores)
    apart = [
        abs(one - other) for scores in repeated for one, other in itertools.combinations(scores, 2)
    ]
    return Noise(
        series=len(repeated),
        runs=runs,
        equal=_equal(repeated),
        freedom=freedom,
        deviation=math.sqrt(squares / freedom) if freedom else None,
        mean_difference=fmean(apart) if apart else None,
    )


def _flag_noise(series: Mapping[SeriesKey, Sequence[Flag]]) -> FlagNoise:
    repeated = [flags for flags in series.values() if len(flags) > 1]
    return FlagNoise(len(repeated), sum(map(len, repeated)), _equal(repeated))


def _equal(repeated: Sequence[Collection[object]]) -> Rate:
    return rate(sum(len(set(values)) == 1 for values in repeated), len(repeated))


# --- effects -------------------------------------------------------------------------------


def _effect(
    probe: Probe,
    seen: Sequence[Observation],
    series: Mapping[SeriesKey, Sequence[int]],
    noise: Noise,
) -> Effect:
    scored = [(one.score, series.get(_key(one), ())) for one in seen if one.score is not None]
    against = [(score, repeats) for score, repeats in scored if repeats]
    n = len(against)
    shift = fmean(score - fmean(repeats) for score, repeats in against) if n else None
    error = None
    if n and noise.deviation is not None:
        variance = sum(1 + 1 / len(repeats) for _, repeats in against)
        error = noise.deviation * math.sqrt(variance) / n
    reason = _no_claim(len(scored), n, noise)
    beyond = None
    if reason is None and shift is not None and error is not None:
        # A hair of floating point is no shift.
        beyond = abs(shift) > ERRORS_BEYOND * error + 1e-9
    changed = rate(sum(score not in repeats for score, repeats in against), n)
    return Effect(probe, n, len(seen) - len(scored), shift, error, beyond, reason, changed)


def _no_claim(scored: int, n: int, noise: Noise) -> NoClaim | None:
    if scored and (not n or noise.deviation is None):
        return "no_repeats"
    if n < MIN_SCORES:
        return "too_few_scores"
    return "too_few_repeats" if noise.freedom < MIN_FREEDOM else None


# --- planted words -------------------------------------------------------------------------


def _best(flags: Sequence[Flag]) -> int:
    return min(_SEVERITY[flag] for flag in flags)


def _canaries(used: Sequence[Observation], flags: Mapping[SeriesKey, Sequence[Flag]]) -> Caught:
    seen = [one for one in used if one.probe == "canary" and one.prompt_id is not None]
    outcomes: list[tuple[str, bool]] = []
    by_flag = 0
    targets: set[SeriesKey] = set()
    for one in seen:
        unaltered = flags.get(_key(one))
        if one.flag is None or not unaltered:
            continue
        targets.add(_key(one))
        worse = _SEVERITY[one.flag] > _best(unaltered)
        by_flag += worse
        outcomes.append((one.template or "", worse or bool(one.quoted)))
    false = [n for key in sorted(targets) for n in _apart(flags[key], better=False)]
    return _caught(outcomes, by_flag, false, len(seen) - len(outcomes))


def _injections(used: Sequence[Observation], flags: Mapping[SeriesKey, Sequence[Flag]]) -> Caught:
    seen = [one for one in used if one.probe == "injection" and one.prompt_id is not None]
    outcomes: list[tuple[str, bool]] = []
    targets: set[SeriesKey] = set()
    for one in seen:
        unaltered = flags.get(_key(one))
        if one.flag is None or not unaltered or _best(unaltered) == _SEVERITY["green"]:
            continue
        targets.add(_key(one))
        outcomes.append((one.template or "", _SEVERITY[one.flag] < _best(unaltered)))
    better = [n for key in sorted(targets) for n in _apart(flags[key], better=True)]
    moved = sum(found for _, found in outcomes)
    return _caught(outcomes, moved, better, len(seen) - len(outcomes))


def _apart(flags: Sequence[Flag], *, better: bool) -> list[bool]:
    """Return, for each of several flags, whether it is worse (better) than the best other one."""
    if len(flags) < 2:
        return []
    found = []
    for at, flag in enumerate(flags):
        best = _best([*flags[:at], *flags[at + 1 :]])
        found.append(_SEVERITY[flag] < best if better else _SEVERITY[flag] > best)
    return found


def _caught(
    outcomes: Sequence[tuple[str, bool]], by_flag: int, chance: Sequence[bool], unused: int
) -> Caught:
    kinds = dict.fromkeys(template for template, _ in outcomes)
    each = {kind: [found for one, found in outcomes if one == kind] for kind in kinds}
    return Caught(
        found=rate(sum(found for _, found in outcomes), len(outcomes)),
        by_flag=by_flag,
        templates={kind: rate(sum(found), len(found)) for kind, found in each.items()},
        chance=rate(sum(chance), len(chance)),
        unused=unused,
    )


# --- JSON ----------------------------------------------------------------------------------


def _number(value: float | None) -> float | int | None:
    return None if value is None else tidy(value)


def _rate_dict(of: Rate) -> dict[str, Any]:
    bounds = None if of.bounds is None else [_number(bound) for bound in of.bounds]
    return {"count": of.count, "n": of.n, "value": _number(of.value), "ci": bounds}


def _counts(noise: Noise | FlagNoise) -> dict[str, Any]:
    return {"series": noise.series, "runs": noise.runs, "equal": _rate_dict(noise.equal)}


def _effect_dict(effect: Effect) -> dict[str, Any]:
    return {
        "n": effect.n,
        "missing": effect.missing,
        "shift": _number(effect.shift),
        "error": _number(effect.error),
        "beyond": effect.beyond,
        "reason": effect.reason,
        "changed": _rate_dict(effect.changed),
    }


def _caught_dict(caught: Caught) -> dict[str, Any]:
    return {
        "found": _rate_dict(caught.found),
        "templates": {kind: _rate_dict(of) for kind, of in caught.templates.items()},
        "chance": _rate_dict(caught.chance),
        "unused": caught.unused,
    }
