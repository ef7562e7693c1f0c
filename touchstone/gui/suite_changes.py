"""What differs between two versions of a suite: prompts, dimensions, the K.-o. rule. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from touchstone.models import Dimension, KoRule, Prompt, Suite

PROMPT_FIELDS = (
    *("text", "messages", "system", "follows", "expectation", "forbidden"),
    *("max_tokens", "group", "title"),
)
DIMENSION_FIELDS = ("weight", "name", "description", "levels")
SUITE_FIELDS = ("answer_rubric", "escalation", "language", "title", "description")


@dataclass(frozen=True)
class Changed:
    """A prompt or dimension by its id before and after; None where that suite lacks it.

    ``fields`` are what differs of one that both have, apart from the id.
    """

    before: str | None
    after: str | None
    fields: tuple[str, ...] = ()

    @property
    def is_renamed(self) -> bool:
        """True if both suites have it, under different ids."""
        return None not in (self.before, self.after) and self.before != self.after


@dataclass(frozen=True)
class SuiteChanges:
    """Everything in which two suites differ; ``rules`` are both K.-o. rules if they differ."""

    prompts: tuple[Changed, ...] = ()
    dimensions: tuple[Changed, ...] = ()
    rules: tuple[KoRule | None, KoRule | None] | None = None
    fields: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.prompts or self.dimensions or self.rules or self.fields)

    @property
    def affects_total(self) -> bool:
        """True if dimensions came, went or have another weight: totals are on other scales."""
        return any(
            None in (one.before, one.after) or "weight" in one.fields for one in self.dimensions
        )


def suite_changes(before: Suite, after: Suite, same_prompts: Mapping[str, str]) -> SuiteChanges:
    """Return what differs between two suites.

    ``same_prompts`` maps the ids of prompts before to those after, of all that both suites have.
    """
    dimensions = {one.id: one.id for one in before.dimensions if after.dimension(one.id)}
    is_same_rule = _rule(before.ko_rule, same_prompts) == _rule(after.ko_rule, {})
    return SuiteChanges(
        prompts=_changes(before.prompts, after.prompts, same_prompts, same_prompts),
        dimensions=_changes(before.dimensions, after.dimensions, dimensions, {}),
        rules=None if is_same_rule else (before.ko_rule, after.ko_rule),
        fields=tuple(one for one in SUITE_FIELDS if getattr(before, one) != getattr(after, one)),
    )


def _rule(rule: KoRule | None, names: Mapping[str, str]) -> tuple[object, ...] | None:
    """Return a rule for comparing, with today's ids of prompts, in whatever order."""
    if rule is None:
        return None
    scope = rule.red_flag_scope
    covered = scope if isinstance(scope, str) else frozenset(names.get(one, one) for one in scope)
    return rule.dimension, rule.threshold, covered


def _changes(
    before: Sequence[Prompt] | Sequence[Dimension],
    after: Sequence[Prompt] | Sequence[Dimension],
    same: Mapping[str, str],
    names: Mapping[str, str],
) -> tuple[Changed, ...]:
    """Return what went, then what came or changed, each in the order of its suite."""
    old = {same[one.id]: one for one in before if one.id in same}
    found = [Changed(one.id, None) for one in before if one.id not in same]
    for new in after:
        if new.id not in old:
            found.append(Changed(None, new.id))
            continue
        change = Changed(old[new.id].id, new.id, _differing(old[new.id], new, names))
        if change.fields or change.is_renamed:
            found.append(change)
    return tuple(found)


def _differing(
    before: Prompt | Dimension, after: Prompt | Dimension, names: Mapping[str, str]
) -> tuple[str, ...]:
    fields = PROMPT_FIELDS if isinstance(before, Prompt) else DIMENSION_FIELDS
    return tuple(name for name in fields if _value(before, name, names) != _value(after, name, {}))


def _value(of: Prompt | Dimension, name: str, names: Mapping[str, str]) -> object:
    value: object = getattr(of, name)
    return names.get(value, value) if name == "follows" and isinstance(value, str) else value
