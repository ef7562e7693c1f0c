"""What a bundle's pages say of the past: earlier ids of models and prompts, texts that changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from touchstone.aliases import followed
from touchstone.gui.links import Pair
from touchstone.gui.permalinks import AnswerKey, Key, Tombstone
from touchstone.models import Aliases


@dataclass(frozen=True)
class Renames:
    """Earlier ids of a bundle's models and prompts, each with the one it has today."""

    pairs: Mapping[Pair, Pair] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, aliases: Aliases, pairs: Collection[Pair], prompt_ids: Collection[str]) -> Renames:
        """Return the aliases that lead to one of today's models and prompts."""
        moved: dict[Pair, Pair] = {}
        for alias in aliases.models:
            old = alias.old.model, alias.old.variant
            moved.setdefault(old, (alias.to.model, alias.to.variant))
        return cls(followed(moved, frozenset(pairs)), followed(aliases.prompts, set(prompt_ids)))

    def __bool__(self) -> bool:
        return bool(self.pairs or self.prompts)

    def former(self, pair: Pair) -> list[Pair]:
        """Return the earlier ids of one of today's models, sorted."""
        return sorted(old for old, now in self.pairs.items() if now == pair)

    def today(self, answer: AnswerKey) -> AnswerKey:
        """Return the key that an answer has today."""
        model, variant, prompt_id = answer
        pair = self.pairs.get((model, variant), (model, variant))
        return *pair, self.prompts.get(prompt_id, prompt_id)

    def today_key(self, key: Key) -> Key:
        """Return the key that a permalink's content has today."""
        bundle, model, variant, prompt_id, *rest = key
        if model is not None and variant is not None:
            model, variant = self.pairs.get((model, variant), (model, variant))
        if prompt_id is not None:
            prompt_id = self.prompts.get(prompt_id, prompt_id)
        return bundle, model, variant, prompt_id, *rest


@dataclass(frozen=True)
class History:
    """What the prompt pages of a bundle say of the past.

    ``former`` lists the earlier ids of a model, ``changed`` the answers whose text is not the one
    that was published before.
    """

    former: Mapping[Pair, list[Pair]] = field(default_factory=dict)
    changed: Mapping[AnswerKey, Tombstone] = field(default_factory=dict)

    def facts(self) -> str:
        """Return all of it as one text, which is the same for the same history."""
        return repr((sorted(self.former.items()), sorted(self.changed.items())))
