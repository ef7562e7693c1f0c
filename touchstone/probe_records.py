"""What a probe of a judge saw: one record for every score or flag it was given (ADR-0013)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictInt

from touchstone.fields import Flag, RawStr, Record, Score

Probe = Literal[
    "repeat", "reverse", "permute", "named", "swapped", "padding", "canary", "injection"
]
"""What was changed before the judge was asked again; ``repeat`` changes nothing."""


class Observation(Record):
    """One score (of ``dimension``) or one flag (of ``prompt_id``) given under a probe.

    ``run`` counts the repetitions of a probe from 1. ``target`` names the answer that was changed
    where only one was; ``planted`` the words put there, ``template`` what they were made from;
    ``noticed`` says whether the judge saw a planted defect. ``judge`` is the judge's fingerprint,
    ``basis`` the hash of suite and answers it was asked about. ``reason`` says why there is
    neither score nor flag.
    """

    probe: Probe
    run: Annotated[StrictInt, Field(ge=1)] = 1
    model: RawStr
    variant: RawStr
    dimension: RawStr | None = None
    prompt_id: RawStr | None = None
    score: Score | None = None
    flag: Flag | None = None
    reason: RawStr | None = None
    rationale: RawStr = ""
    quotes: tuple[RawStr, ...] = ()
    target: RawStr | None = None
    template: RawStr | None = None
    planted: RawStr | None = None
    noticed: bool | None = None
    judge: RawStr
    basis: RawStr

    @property
    def pair(self) -> tuple[str, str]:
        """The (model, variant) that was judged."""
        return self.model, self.variant

    @property
    def key(self) -> tuple[str, ...]:
        """What tells an observation from every other of the same judge and answers."""
        what = (self.dimension or "", self.prompt_id or "", self.target or "", self.template or "")
        return (self.basis, self.judge, self.probe, str(self.run), *self.pair, *what)
