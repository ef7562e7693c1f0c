"""The shapes of everything a suite and a bundle hold, as frozen pydantic models.

Files that people write (suite, bundle.yaml) refuse unknown keys; records that tools write
(answers, verdicts, reports) keep keys they do not know, so that nothing is lost.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, StrictInt, field_validator, model_validator

from touchstone.fields import (
    Flag,
    JudgingMode,
    Kind,
    Number,
    RawStr,
    Record,
    Score,
    Text,
    Written,
    at_least_one,
    pick_text,
)

__all__ = [  # re-exported: callers need one import
    "FORMAT",
    "Flag",
    "JudgingMode",
    "Kind",
    "RawStr",
    "Score",
    "Text",
    "pick_text",
]

FORMAT = 1
"""The newest file format this version reads and the one it writes."""


# --- suite ---------------------------------------------------------------------------------


class Dimension(Written):
    """A master dimension: a quality axis over the whole behaviour of a model (ADR-0007)."""

    id: RawStr
    name: Text
    weight: Annotated[Number, Field(gt=0, le=1_000_000, allow_inf_nan=False)]
    description: Text | None = None
    levels: dict[int, Text] = Field(default_factory=dict)

    @field_validator("levels", mode="before")
    @classmethod
    def _levels_are_scores(cls, levels: Any) -> Any:
        if not isinstance(levels, Mapping):
            return levels
        unknown = [str(level) for level in levels if str(level) not in {"1", "2", "3", "4", "5"}]
        if unknown:
            raise ValueError(f"levels are 1 to 5, not {', '.join(unknown)}")
        return {int(level): text for level, text in levels.items()}


class Message(Written):
    """One turn of a fixed context."""

    role: Literal["system", "user", "assistant"]
    content: RawStr


def group_of(prompt_id: str) -> str:
    """Return the group a prompt id implies: its leading letters."""
    letters = re.match(r"[^\W\d_]+", prompt_id)
    return letters[0] if letters else ""


class Prompt(Written):
    """One task. Exactly one of ``text`` and ``messages`` is given."""

    id: RawStr
    group: RawStr = ""
    title: Text | None = None
    system: RawStr | None = None
    text: RawStr | None = None
    messages: tuple[Message, ...] | None = None
    follows: RawStr | None = None
    expectation: Text | None = None
    forbidden: Text | None = None
    max_tokens: Annotated[StrictInt, Field(gt=0)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _group_from_id(cls, data: Any) -> Any:
        if isinstance(data, dict) and not data.get("group") and isinstance(data.get("id"), str):
            return {**data, "group": group_of(data["id"])}
        return data

    @model_validator(mode="after")
    def _has_one_task(self) -> Prompt:
        if (self.text is None) == (self.messages is None):
            raise ValueError("give either text or messages")
        if self.messages is not None and (not self.messages or self.messages[-1].role != "user"):
            raise ValueError("messages must end in a user turn")
        return self

    def turns(self) -> tuple[Message, ...]:
        """Return the turns that are sent for this prompt, without any system message."""
        if self.messages is not None:
            return self.messages
        return (Message(role="user", content=self.text or ""),)


class KoRule(Written):
    """The knock-out rule: a red flag in the fatal scope, or one dimension at its threshold."""

    dimension: RawStr
    threshold: Score
    red_flag_scope: Literal["all", "none"] | tuple[RawStr, ...] = "all"

    @field_validator("red_flag_scope", mode="before")
    @classmethod
    def _scope_word(cls, scope: Any) -> Any:
        if isinstance(scope, str) and scope not in {"all", "none"}:
            raise ValueError('must be all, none, or a list such as [E1, "group:D"]')
        return scope

    def covers(self, prompt: Prompt) -> bool:
        """Say whether a red flag on this prompt knocks a model out (branch a)."""
        if isinstance(self.red_flag_scope, str):
            return self.red_flag_scope == "all"
        return prompt.id in self.red_flag_scope or f"group:{prompt.group}" in self.red_flag_scope


class Escalation(Written):
    """When repeated failures become an alert: ``repeat`` in a row, or a share of a window."""

    repeat: Annotated[StrictInt, Field(ge=1)] = 3
    window: Annotated[StrictInt, Field(ge=1)] = 20
    share: Annotated[Number, Field(gt=0, le=1)] = 0.25


class Suite(Written):
    """Prompts, master dimensions and the K.-o. rule of one kind of work."""

    format: StrictInt
    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    title: Text
    language: str
    description: Text | None = None
    dimensions: Annotated[tuple[Dimension, ...], AfterValidator(at_least_one)]
    ko_rule: KoRule | None = None
    answer_rubric: Literal["verdict", "quality-judge"] = "verdict"
    escalation: Escalation | None = None
    prompts: Annotated[tuple[Prompt, ...], AfterValidator(at_least_one)]

    def dimension(self, dimension_id: str) -> Dimension | None:
        """Return the dimension with this id, or None."""
        return next((d for d in self.dimensions if d.id == dimension_id), None)

    def prompt(self, prompt_id: str) -> Prompt | None:
        """Return the prompt with this id, or None."""
        return next((p for p in self.prompts if p.id == prompt_id), None)

    @property
    def max_weighted(self) -> float:
        """The weighted points of a model that scores 5 everywhere."""
        return sum(5 * dimension.weight for dimension in self.dimensions)


# --- answers -------------------------------------------------------------------------------


class AnswerError(Record):
    """Why there is no answer. ``retryable``: the same request may succeed later."""

    type: RawStr
    message: RawStr = ""
    status: int | None = None
    retryable: bool = False


class Usage(Record):
    """Token counts as the server reported them."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Answer(Record):
    """One model's reply to one prompt; times in seconds, ``started_at`` in UTC (ISO 8601)."""

    model: RawStr
    variant: RawStr
    prompt_id: RawStr
    text: RawStr
    reasoning: RawStr | None = None
    finish_reason: RawStr | None = None
    error: AnswerError | None = None
    usage: Usage | None = None
    ttft_s: float | None = None
    duration_s: float | None = None
    started_at: RawStr | None = None
    attempts: int | None = None
    response_model: RawStr | None = None

    @property
    def sha256(self) -> str:
        """SHA-256 of the UTF-8 bytes of ``text``; lone surrogates count as they are."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def pair(self) -> tuple[str, str]:
        """The (model, variant) this answer belongs to."""
        return self.model, self.variant

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to judge: it failed, or it is white space."""
        return self.error is not None or not self.text.strip()


# --- judgements ----------------------------------------------------------------------------


class ForeignScore(Record):
    """A score on another tool's scale, kept as it is."""

    value: float | str | bool | None
    min: float | None = None
    max: float | None = None
    source: RawStr = ""


class Metrics(Record):
    """QualityJudge's five metrics of one answer, and the composite as it was stored."""

    intent_accuracy: Annotated[Number, Field(ge=0, le=100)] | None = None
    faithfulness: Score | None = None
    relevance: Score | None = None
    coherence: Score | None = None
    safety: Literal["pass", "fail"] | None = None
    composite: Number | None = None
    category: RawStr | None = None

    @model_validator(mode="before")
    @classmethod
    def _older_names(cls, data: Any) -> Any:
        if isinstance(data, dict) and "composite" not in data and "composite_score" in data:
            data = dict(data)
            data["composite"] = data.pop("composite_score")
        return data


class Verdict(Record):
    """The judge's view of one answer. ``flag`` is None where there is none; ``reason`` says why."""

    model: RawStr
    variant: RawStr
    prompt_id: RawStr
    flag: Flag | None
    category: RawStr | None = None
    rationale: RawStr = ""
    quotes: tuple[RawStr, ...] = ()
    metrics: Metrics | None = None
    reason: RawStr | None = None
    source: Literal["judge", "rule", "human", "import"] = "judge"
    judge: RawStr | None = None
    duration_s: float | None = None
    parse: RawStr | None = None
    foreign_scores: dict[str, ForeignScore] = Field(default_factory=dict)

    @property
    def pair(self) -> tuple[str, str]:
        """The (model, variant) this verdict is about."""
        return self.model, self.variant


class Evidence(Record):
    """What a rationale rests on: an observation at one answer, with the words it saw there."""

    prompt_id: RawStr
    kind: Literal["quote", "paraphrase", "absence"] = "quote"
    quote: RawStr = ""
    absent_terms: tuple[RawStr, ...] = ()
    observation: RawStr = ""
    polarity: Literal["strength", "defect", "neutral"] = "neutral"
    severity: Literal["minor", "major", "fatal"] | None = None
    fix: RawStr | None = None


class ParseIssue(Record):
    """Why a dimension has no score."""

    dimension: RawStr
    reason: RawStr


class Saw(Record):
    """How many of the answers the judge was shown.

    Where it judged by noted evidence (map-reduce): how much of that, and how many of the
    red-flagged answers in full.
    """

    answers: int
    of: int
    evidence: int | None = None
    evidence_of: int | None = None
    red_in_full: int | None = None
    red: int | None = None


class ModelReport(Record):
    """The holistic judgement of one (model, variant): a score and a rationale per dimension.

    ``parse`` says how the reply about a dimension was read: strict, repaired, tolerant, retried
    or missing.
    """

    model: RawStr
    variant: RawStr
    dim_scores: dict[RawStr, Score | None]
    dim_rationales: dict[RawStr, RawStr] = Field(default_factory=dict)
    evidence: dict[RawStr, tuple[Evidence, ...]] = Field(default_factory=dict)
    parse_issues: tuple[ParseIssue, ...] = ()
    judge: RawStr | None = None
    mode: JudgingMode | None = None
    saw: Saw | None = None
    parse: dict[RawStr, RawStr] = Field(default_factory=dict)
    duration_s: float | None = None
    foreign_scores: dict[str, ForeignScore] = Field(default_factory=dict)

    @property
    def pair(self) -> tuple[str, str]:
        """The (model, variant) this report is about."""
        return self.model, self.variant

    def issue(self, dimension_id: str) -> str | None:
        """Return why a dimension has no score, or None."""
        return next((i.reason for i in self.parse_issues if i.dimension == dimension_id), None)


# --- reviews and the manifest --------------------------------------------------------------


class Author(Record):
    """Who decided: a person or an AI, said everywhere."""

    id: RawStr
    kind: Kind


class Review(Record):
    """A decision on one answer; the latest one counts, the judge's view stays visible."""

    model: RawStr
    variant: RawStr
    prompt_id: RawStr
    decision: Annotated[str, Field(pattern=r"^(accept|reject|flag:(green|yellow|red))$")]
    author: Author
    date: RawStr
    reason: RawStr = ""

    @property
    def flag(self) -> Flag | None:
        """The flag this decision sets, or None where it says nothing about the flag."""
        colour = self.decision.removeprefix("flag:")
        return colour if colour in ("green", "yellow", "red") else None  # type: ignore[return-value]


class SuiteRef(Written):
    """Which suite a bundle was made with, and its hash."""

    id: RawStr
    sha256: RawStr | None = None


class Weights(Written):
    """What is known about a model's weights."""

    sha256: RawStr | None = None
    quantization: RawStr | None = None
    name: RawStr | None = None
    parameters: RawStr | None = None
    source: RawStr | None = None


class ModelEntry(Written):
    """One (model, variant) of a bundle, with what is known about how it ran."""

    model: RawStr
    variant: RawStr = "default"
    label: Text | None = None
    endpoint: RawStr | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    system: RawStr | None = None
    weights: Weights | None = None
    engine: RawStr | None = None
    hardware: RawStr | None = None

    @property
    def pair(self) -> tuple[str, str]:
        """The (model, variant) as a key."""
        return self.model, self.variant


class JudgeEntry(Written):
    """Who judged: one judge a bundle. ``via`` endpoint or exchange (by file)."""

    fingerprint: RawStr
    id: RawStr
    kind: Kind = "ai"
    model: RawStr | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    prompt_version: int | None = None
    mode: JudgingMode | None = None
    via: Literal["endpoint", "exchange"] | None = None
    weights: Weights | None = None
    engine: RawStr | None = None


class ModelPair(Written):
    """A (model, variant) in the alias table."""

    model: RawStr
    variant: RawStr


class ModelAlias(Written):
    """A renamed (model, variant): old permalinks of ``from`` lead to ``to``."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    old: ModelPair = Field(alias="from")
    to: ModelPair


class Aliases(Written):
    """Renamed models and prompts, so that old permalinks keep working."""

    models: tuple[ModelAlias, ...] = ()
    prompts: dict[RawStr, RawStr] = Field(default_factory=dict)


class Manifest(Written):
    """bundle.yaml: what a bundle is, who answered, who judged, what is sealed."""

    format: StrictInt
    id: RawStr
    title: Text | None = None
    created: RawStr | None = None
    tool: RawStr | None = None
    suite: SuiteRef
    models: tuple[ModelEntry, ...]
    judges: tuple[JudgeEntry, ...] = ()
    aliases: Aliases = Field(default_factory=Aliases)
    sealed: dict[str, RawStr] | None = None

    @property
    def judge(self) -> JudgeEntry | None:
        """The judge of this bundle, if it was judged."""
        return self.judges[-1] if self.judges else None
