"""The figures of judge_quality.json with their types (ADR-0013); anybody may have written it.

Nothing here raises: a figure of the wrong type, out of its range or not finite is None, and an
entry of a list that can't be used is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    WrapValidator,
)

from touchstone.models import Flag, Kind, RawStr, Score

LEVELS = 5
FLAGS: tuple[Flag, ...] = ("green", "yellow", "red")
QUOTES = (
    *("verbatim", "normalised", "in_parts", "near", "from_prompt", "misattributed"),
    *("cross_model", "unverifiable", "too_short", "dangling"),
)
"""Classes of quotes; the first three stand in the answer they are said to come from."""
FOUND = QUOTES[:3]
OTHERS = ("absence_passed", "absence_failed", "absence_unchecked", "paraphrase")
"""Classes of evidence that quotes nothing."""


def _or_none(value: Any, validate: Callable[[Any], Any]) -> Any:
    try:
        return validate(value)
    except (ValueError, OverflowError):
        return None


def _each(shape: Any) -> BeforeValidator:
    """Keep the entries of a list that have a shape; what is no list is an empty one."""
    adapter: TypeAdapter[Any] = TypeAdapter(shape)

    def keep(value: Any) -> list[Any]:
        items = value if isinstance(value, list | tuple) else []
        found = (_or_none(item, adapter.validate_python) for item in items)
        return [item for item in found if item is not None]

    return BeforeValidator(keep)


def _as_dict(value: Any) -> Any:
    return value if isinstance(value, Mapping) else {}


_OR_NONE = WrapValidator(_or_none)
_AS_DICT = BeforeValidator(_as_dict)


def _number(low: float, high: float) -> Any:
    return Field(strict=True, allow_inf_nan=False, ge=low, le=high)


Count = Annotated[Annotated[int, _number(0, 1e9)] | None, _OR_NONE]
Share = Annotated[Annotated[float, _number(0, 1)] | None, _OR_NONE]
Apart = Annotated[Annotated[float, _number(0, 4)] | None, _OR_NONE]
Mean = Annotated[Annotated[float, _number(1, 5)] | None, _OR_NONE]
Lean = Annotated[Annotated[float, _number(-4, 4)] | None, _OR_NONE]
Axis = Annotated[Annotated[float, _number(0, 3)] | None, _OR_NONE]
Points = Annotated[Annotated[float, _number(-100, 100)] | None, _OR_NONE]
Value = Annotated[Annotated[float, _number(-1e6, 1e6)] | None, _OR_NONE]
Level = Annotated[Score | None, _OR_NONE]
Words = Annotated[RawStr | None, _OR_NONE]
Bounds = Annotated[
    tuple[Annotated[float, _number(-4, 4)], Annotated[float, _number(-4, 4)]] | None, _OR_NONE
]
Names = Annotated[tuple[tuple[RawStr, ...], ...], _each(tuple[RawStr, ...])]
"""Lists of names: (model, variant) or (model, variant, prompt id)."""


class Loose(BaseModel):
    """Part of a file that may hold more, less and other things than it should."""

    model_config = ConfigDict(frozen=True, extra="ignore", protected_namespaces=())


class Constant(Loose):
    """The rating that would come closest if it were given throughout; ``mae`` is how close."""

    score: Level = None
    mae: Apart = None


class Ranking(Loose):
    """Pairs of models by whether both sides order them alike; Kendall's τ_b."""

    concordant: Count = None
    discordant: Count = None
    tied: Count = None
    tau_b: Value = None


class DimensionFigures(Loose):
    """Means of both sides over the ``n`` models that both rated, and judge − reference."""

    judge: Mean = None
    reference: Mean = None
    delta: Lean = None
    n: Count = None
    evidence_level: Axis = None


class Gate(Loose):
    """The K.-o. gate on both sides: how many models alike, which missed, which out for one side.

    ``both`` and ``neither`` are counts that a file need not have.
    """

    agree: Count = None
    n: Count = None
    both: Count = None
    neither: Count = None
    missed: Names = ()
    false: Names = ()
    fnr: Share = None
    fnr_ci: Bounds = None
    fpr: Share = None
    fpr_ci: Bounds = None


def _square(size: int) -> AfterValidator:
    def check(rows: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
        if len(rows) != size or any(len(row) != size for row in rows):
            raise ValueError(f"must have {size} rows of {size} counts")
        return rows

    return AfterValidator(check)


_Counts = tuple[tuple[Annotated[int, _number(0, 1e9)], ...], ...]


class Agreement(Loose):
    """The judge against one reference, or against the panel of several.

    ``counts[i][k]`` are the ratings where the judge said i + 1 and the reference k + 1.
    """

    n: Count = None
    models: Count = None
    coverage: Share = None
    exact: Share = None
    within_1: Share = None
    mae: Apart = None
    mae_ci: Bounds = None
    bias: Lean = None
    spread_ratio: Value = None
    skill: Value = None
    skill_reason: Words = None
    best_constant: Annotated[Constant | None, _OR_NONE] = None
    qwk: Value = None
    qwk_reason: Words = None
    qwk_ci: Bounds = None
    qwk_ci_kind: Words = None
    alpha: Value = None
    ranking: Annotated[Ranking | None, _OR_NONE] = None
    per_dimension: Annotated[
        dict[RawStr, Annotated[DimensionFigures | None, _OR_NONE]], _AS_DICT
    ] = Field(default_factory=dict)
    quality_pct_delta: Points = None
    quality_pct_delta_common: Points = None
    knock_out: Annotated[Gate | None, _OR_NONE] = None
    knock_out_by_branch: Annotated[dict[RawStr, Annotated[Gate | None, _OR_NONE]], _AS_DICT] = (
        Field(default_factory=dict)
    )
    counts: Annotated[Annotated[_Counts, _square(LEVELS)] | None, _OR_NONE] = None


class ReferenceFigures(Agreement):
    """Who rated beside the judge, whether blind, and how far the judge agrees."""

    id: RawStr
    kind: Annotated[Kind | None, _OR_NONE] = None
    blind: Annotated[Annotated[bool, Field(strict=True)] | None, _OR_NONE] = None
    responses: Annotated[dict[RawStr, Words], _AS_DICT] = Field(default_factory=dict)


class Rating(Loose):
    """One model in one dimension: both scores, where there are any."""

    model: RawStr
    variant: RawStr
    dimension: RawStr
    judge: Level = None
    reference: Level = None

    @property
    def pair(self) -> tuple[str, str]:
        """The (model, variant)."""
        return self.model, self.variant

    @property
    def delta(self) -> int | None:
        """Judge − reference, where both rated."""
        if self.judge is None or self.reference is None:
            return None
        return self.judge - self.reference


class Disagreement(Rating):
    """Two scores far apart; ``rationales`` are the references' words by their ids."""

    rationales: Annotated[dict[RawStr, Words], _AS_DICT] = Field(default_factory=dict)


class FlagConstant(Loose):
    """The flag that the reference gives most, and its share."""

    flag: Annotated[Flag | None, _OR_NONE] = None
    share: Share = None


class FlagFigures(Loose):
    """The verdict flags of both sides; ``counts[i][k]``: the judge labels[i], the reference [k]."""

    n: Count = None
    without_judge: Count = None
    labels: Annotated[tuple[Flag, Flag, Flag] | None, _OR_NONE] = None
    counts: Annotated[Annotated[_Counts, _square(len(FLAGS))] | None, _OR_NONE] = None
    exact: Share = None
    exact_ci: Bounds = None
    best_constant: Annotated[FlagConstant | None, _OR_NONE] = None
    missed_red: Names = ()
    false_red: Names = ()
    fnr: Share = None
    fnr_ci: Bounds = None
    fpr: Share = None
    fpr_ci: Bounds = None
    kappa: Value = None


class EvidenceFigures(Loose):
    """What became of the judge's evidence: a count for each class, and the share found."""

    quotes: Count = None
    verbatim: Count = None
    normalised: Count = None
    in_parts: Count = None
    near: Count = None
    from_prompt: Count = None
    misattributed: Count = None
    cross_model: Count = None
    unverifiable: Count = None
    too_short: Count = None
    dangling: Count = None
    absence_passed: Count = None
    absence_failed: Count = None
    absence_unchecked: Count = None
    paraphrase: Count = None
    fidelity: Share = None
    fidelity_ci: Bounds = None

    def count(self, kind: str) -> int:
        """Return how many there are of one of the classes ``QUOTES`` and ``OTHERS``."""
        return getattr(self, kind) or 0


_Rates = Annotated[dict[RawStr, Share], _AS_DICT]
_Axes = Annotated[dict[RawStr, Axis], _AS_DICT]
_Ns = Annotated[dict[RawStr, Count], _AS_DICT]


class JudgeFigures(Agreement):
    """Everything that judge_quality.json says, as far as it can be used.

    ``holds`` tells a key that is not there from one that is null.
    """

    headline: Words = None
    judge: Words = None
    judge_id: Words = None
    blind: Annotated[Annotated[bool, Field(strict=True)] | None, _OR_NONE] = None
    references: Annotated[tuple[ReferenceFigures, ...], _each(ReferenceFigures)] = ()
    panel_alpha: Value = None
    rubric: _Rates = Field(default_factory=dict)
    rubric_n: _Ns = Field(default_factory=dict)
    rubric_v2: _Axes = Field(default_factory=dict)
    rubric_v2_n: _Ns = Field(default_factory=dict)
    evidence: Annotated[EvidenceFigures | None, _OR_NONE] = None
    ratings: Annotated[tuple[Rating, ...], _each(Rating)] = ()
    disagreements: Annotated[tuple[Disagreement, ...], _each(Disagreement)] = ()
    flags: Annotated[FlagFigures | None, _OR_NONE] = None
    probes: Annotated[dict[RawStr, Any] | None, _OR_NONE] = None
    seed: Count = None
    hashes: Annotated[dict[RawStr, Any], _AS_DICT] = Field(default_factory=dict)

    def holds(self, key: str) -> bool:
        """Say whether the file has a key, whatever stands there."""
        return key in self.model_fields_set

    @property
    def is_calibrated(self) -> bool:
        """True if all references are people: only then is agreement a calibration."""
        return bool(self.references) and all(one.kind == "human" for one in self.references)
