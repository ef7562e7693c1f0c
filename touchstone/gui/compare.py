"""What differs between two bundles of one suite: scores, gate, answers, flags, citations.

Nothing is read but what the views read; texts are hashed one at a time, and none is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeVar

from touchstone.gui.bundle_view import AnswerKey, BundleView, Citation, Line
from touchstone.gui.history import Renames
from touchstone.gui.links import Pair
from touchstone.gui.suite_changes import SuiteChanges, suite_changes

Judges = Literal["same", "different", "unknown", "one", "none"]
Colour = Literal["green", "yellow", "red", "none"]
Id = TypeVar("Id", str, Pair)

SEVERITY: Mapping[Colour, int] = {"green": 0, "yellow": 1, "red": 2}


@dataclass(frozen=True)
class ScoreChange:
    """The scores of a dimension; ``in_before`` and ``in_after``: that suite has it at all."""

    dimension: str
    before: int | None
    after: int | None
    in_before: bool = True
    in_after: bool = True

    @property
    def delta(self) -> int | None:
        """By how much the score rose, where there are two."""
        return None if self.before is None or self.after is None else self.after - self.before

    @property
    def is_changed(self) -> bool:
        """True if the score is another one, came or went."""
        return self.before != self.after


@dataclass(frozen=True)
class ModelChange:
    """A (model, variant) in both bundles, with its lines on the two scorecards."""

    before: Line
    after: Line
    scores: tuple[ScoreChange, ...]

    @property
    def is_renamed(self) -> bool:
        """True if it has another id now."""
        return self.before.row.pair != self.after.row.pair

    @property
    def is_judged(self) -> bool:
        """True if both bundles have a report on it."""
        return self.before.row.report is not None and self.after.row.report is not None

    @property
    def quality_delta(self) -> float | None:
        """By how many percentage points Quality rose, where both have a report."""
        if not self.is_judged:
            return None
        delta = self.after.row.total.comparable - self.before.row.total.comparable
        return round(delta, 6)

    @property
    def common_delta(self) -> float | None:
        """The same over what both scored, with the weights of after; None if that is nothing."""
        weights = {cell.dimension.id: cell.dimension.weight for cell in self.after.cells}
        scored = [(one.delta, weights[one.dimension]) for one in self.scores if one.in_after]
        both = [(delta, weight) for delta, weight in scored if delta is not None]
        most = sum(5 * weight for _, weight in both)
        return round(100 * sum(d * w for d, w in both) / most, 6) if most else None

    @property
    def missing_delta(self) -> int:
        """How many more scores are missing now; what is missing counts 0 in the Quality."""
        return len(self.after.row.total.missing) - len(self.before.row.total.missing)

    @property
    def is_gate_changed(self) -> bool:
        """True if the K.-o. gate says something else."""
        return self.before.row.ko.state != self.after.row.ko.state


@dataclass(frozen=True, slots=True)
class AnswerMatch:
    """One answer under its two keys."""

    before: AnswerKey
    after: AnswerKey


@dataclass(frozen=True)
class AnswerChanges:
    """Of the models and prompts in both bundles: how many answers both have, and the others.

    ``changed`` have another text; the other two are answers that only one bundle has.
    """

    common: int
    changed: tuple[AnswerMatch, ...]
    only_before: tuple[AnswerKey, ...]
    only_after: tuple[AnswerKey, ...]


@dataclass(frozen=True, slots=True)
class FlagChange:
    """An answer whose flag is another one; ``none`` is no verdict."""

    answer: AnswerMatch
    before: Colour
    after: Colour

    @property
    def direction(self) -> int:
        """1 if it got worse, -1 if better, 0 if there was or is no verdict."""
        if "none" in (self.before, self.after):
            return 0
        return 1 if SEVERITY[self.after] > SEVERITY[self.before] else -1


@dataclass(frozen=True)
class FlagChanges:
    """How many common answers have which flags before and after, and those that changed."""

    counts: Mapping[tuple[Colour, Colour], int]
    changed: tuple[FlagChange, ...]


@dataclass(frozen=True)
class CitationChange:
    """A citation of another class, or one that came (``before`` is None) or went.

    ``has_other_words``: both cite the same answer, but not with the same words.
    """

    before: Citation | None
    after: Citation | None
    has_other_words: bool = False


@dataclass(frozen=True)
class CitationChanges:
    """What changed in the evidence of one model in one dimension.

    ``reworded`` counts citations of the same answer and class, with other words.
    """

    model: ModelChange
    dimension: str
    changed: tuple[CitationChange, ...]
    reworded: int = 0

    @cached_property
    def counts(self) -> tuple[int, int, int]:
        """How many have another class, came, went."""
        came = sum(one.before is None for one in self.changed)
        went = sum(one.after is None for one in self.changed)
        return len(self.changed) - came - went, came, went


@dataclass(frozen=True)
class Matches:
    """What two bundles have in common, by their ids before and after; aliases count."""

    models: Mapping[Pair, Pair] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)

    def answers(self) -> Iterator[AnswerMatch]:
        """Yield the keys of every answer that there could be on both sides."""
        for old, new in self.models.items():
            for prompt_before, prompt_after in self.prompts.items():
                yield AnswerMatch((*old, prompt_before), (*new, prompt_after))


def matches_of(before: BundleView, after: BundleView) -> Matches:
    """Return which models and prompts of two bundles are the same."""
    old, new = _renames(before), _renames(after)
    return Matches(
        _matched(list(before.row_of), list(after.row_of), old.pairs, new.pairs),
        _matched(before.prompt_ids, after.prompt_ids, old.prompts, new.prompts),
    )


def _renames(view: BundleView) -> Renames:
    return Renames.of(view.bundle.manifest.aliases, view.row_of.keys(), view.prompt_ids)


def _matched(
    before: Sequence[Id],
    after: Sequence[Id],
    former_before: Mapping[Id, Id],
    former_after: Mapping[Id, Id],
) -> dict[Id, Id]:
    """Return today's ids before → after, in the order of after; equal ids first, each id once.

    ``former_…`` map earlier ids to today's: who had the same id once is the same.
    """
    there = set(before)
    equal = {one: one for one in after if one in there}
    known = {one: one for one in before if one not in equal}
    for earlier, now in former_before.items():
        if now in known:
            known.setdefault(earlier, now)
    names: dict[Id, list[Id]] = {one: [one] for one in after if one not in equal}
    for earlier, now in former_after.items():
        if now in names:
            names[now].append(earlier)
    found = dict(equal)
    for now, called in names.items():
        old = next((known[one] for one in called if one in known), None)
        if old is not None and old not in found:
            found[old] = now
    places = {one: place for place, one in enumerate(after)}
    return dict(sorted(found.items(), key=lambda pair: places[pair[1]]))


class Comparison:
    """Two views of one suite and everything that differs between them, each found when asked."""

    def __init__(self, before: BundleView, after: BundleView) -> None:
        self.before = before
        self.after = after
        self.matches = matches_of(before, after)

    @cached_property
    def models(self) -> list[ModelChange]:
        """The models that both bundles have, in the order of the scorecard after."""
        old = {new: pair for pair, new in self.matches.models.items()}
        lines = self.before.line_of
        return [
            ModelChange(
                lines[old[line.row.pair]], line, self._scores(lines[old[line.row.pair]], line)
            )
            for line in self.after.lines
            if line.row.pair in old
        ]

    @property
    def only_before(self) -> list[Line]:
        """The models that are gone, in the order of their scorecard."""
        return [one for one in self.before.lines if one.row.pair not in self.matches.models]

    @property
    def only_after(self) -> list[Line]:
        """The models that are new, in the order of their scorecard."""
        known = set(self.matches.models.values())
        return [one for one in self.after.lines if one.row.pair not in known]

    def _scores(self, before: Line, after: Line) -> tuple[ScoreChange, ...]:
        old, new = before.row.dim_scores, after.row.dim_scores
        return tuple(
            ScoreChange(one, old.get(one), new.get(one), one in old, one in new)
            for one in dict.fromkeys([*new, *old])
        )

    @cached_property
    def suite(self) -> SuiteChanges | None:
        """What changed in the suite; None if it is the same file."""
        if self.before.bundle.suite_sha256 == self.after.bundle.suite_sha256:
            return None
        return suite_changes(self.before.suite, self.after.suite, self.matches.prompts)

    @property
    def judges(self) -> Judges:
        """Whether one judge judged both bundles, as far as they say."""
        judged = [view.is_judged or bool(view.flags) for view in (self.before, self.after)]
        if not all(judged):
            return "one" if any(judged) else "none"
        old, new = self.before.bundle.manifest.judge, self.after.bundle.manifest.judge
        if old is None or new is None:
            return "unknown"
        return "same" if old.fingerprint == new.fingerprint else "different"

    @cached_property
    def answers(self) -> AnswerChanges:
        """What differs in the answers; hashes are compared, one text in memory at a time."""
        old, new = self.before.bundle.answers, self.after.bundle.answers
        common: list[AnswerMatch] = []
        only_before: list[AnswerKey] = []
        only_after: list[AnswerKey] = []
        for match in self.matches.answers():
            if match.before in old and match.after in new:
                common.append(match)
            elif match.before in old:
                only_before.append(match.before)
            elif match.after in new:
                only_after.append(match.after)
        changed = () if self.has_same_answers else tuple(self._changed(common))
        return AnswerChanges(len(common), changed, tuple(only_before), tuple(only_after))

    @property
    def has_same_answers(self) -> bool:
        """True if both bundles hold the same answers under the same ids."""
        return self.before.bundle.answers_sha256 == self.after.bundle.answers_sha256

    def _changed(self, common: Sequence[AnswerMatch]) -> Iterator[AnswerMatch]:
        old = _digests(self.before, {match.before for match in common})
        new = _digests(self.after, {match.after for match in common})
        return (match for match in common if old[match.before] != new[match.after])

    @cached_property
    def flags(self) -> FlagChanges | None:
        """What differs in the flags of common answers; None if a bundle has none at all."""
        if not self.before.flags or not self.after.flags:
            return None
        counts: Counter[tuple[Colour, Colour]] = Counter()
        changed: list[FlagChange] = []
        for match in self.matches.answers():
            if not (
                match.before in self.before.bundle.answers
                and match.after in self.after.bundle.answers
            ):
                continue
            old, new = _colour(self.before, match.before), _colour(self.after, match.after)
            counts[old, new] += 1
            if old != new:
                changed.append(FlagChange(match, old, new))
        return FlagChanges(counts, tuple(changed))

    @cached_property
    def citations(self) -> list[CitationChanges]:
        """What differs in the evidence, by model and dimension; where both sides have a report."""
        found = (
            _citation_changes(
                model,
                score.dimension,
                self.before.citations(model.before.row.pair, score.dimension),
                self.after.citations(model.after.row.pair, score.dimension),
                self.matches.prompts,
            )
            for model in self.models
            if model.is_judged
            for score in model.scores
            if score.in_before and score.in_after
        )
        return [one for one in found if one.changed or one.reworded]


def _digests(view: BundleView, wanted: set[AnswerKey]) -> dict[AnswerKey, bytes]:
    """Return the hashes of answers; they are read in file order, and only once."""
    answers = view.bundle.answers
    return {
        key: bytes.fromhex(answer.sha256)
        for answer in answers
        if (key := (answer.model, answer.variant, answer.prompt_id)) in wanted
    }


def _colour(view: BundleView, key: AnswerKey) -> Colour:
    return view.flag(key[:2], key[2]).flag or "none"


# --- citations -----------------------------------------------------------------------------


def _citation_changes(
    model: ModelChange,
    dimension: str,
    before: Sequence[Citation],
    after: Sequence[Citation],
    prompts: Mapping[str, str],
) -> CitationChanges:
    """Pair the citations of one rationale: by answer and words, then by answer alone."""

    def prompt_of(one: Citation) -> str:
        return prompts.get(one.prompt_id, one.prompt_id)

    def words_of(one: Citation) -> tuple[str, ...]:
        item = one.item
        if item is None:
            return ()
        return item.kind, " ".join(item.quote.split()), *sorted(item.absent_terms)

    pairs, old, new = _paired(
        before,
        after,
        lambda one: (prompt_of(one), *words_of(one)),
        lambda one: (one.prompt_id, *words_of(one)),
    )
    looser, old, new = _paired(
        old, new, lambda one: (prompt_of(one),), lambda one: (one.prompt_id,)
    )
    changed = [CitationChange(*pair) for pair in pairs if pair[0].kind != pair[1].kind]
    changed += [
        CitationChange(*pair, has_other_words=True)
        for pair in looser
        if pair[0].kind != pair[1].kind
    ]
    changed += [CitationChange(None, one) for one in new]
    changed += [CitationChange(one, None) for one in old]
    reworded = sum(one.kind == other.kind for one, other in looser)
    return CitationChanges(model, dimension, tuple(changed), reworded)


_Key = Callable[[Citation], tuple[str, ...]]


def _paired(
    before: Iterable[Citation], after: Iterable[Citation], key_before: _Key, key_after: _Key
) -> tuple[list[tuple[Citation, Citation]], list[Citation], list[Citation]]:
    """Return the pairs of equal keys in order, and what is left on both sides."""
    waiting: dict[tuple[str, ...], list[Citation]] = {}
    for one in before:
        waiting.setdefault(key_before(one), []).append(one)
    pairs: list[tuple[Citation, Citation]] = []
    new: list[Citation] = []
    for one in after:
        same = waiting.get(key_after(one))
        if same:
            pairs.append((same.pop(0), one))
        else:
            new.append(one)
    return pairs, [one for left in waiting.values() for one in left], new
