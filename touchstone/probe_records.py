"""What a probe of a judge saw: one record for every score or flag it was given (ADR-0013)."""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal, get_args

from pydantic import Field, StrictInt

from touchstone.fields import Flag, RawStr, Record, Score

Probe = Literal[
    "repeat", "reverse", "permute", "named", "swapped", "padding", "canary", "injection"
]
"""What was changed before the judge was asked again; ``repeat`` changes nothing."""

PROBES: tuple[Probe, ...] = get_args(Probe)


def basis_of(suite_sha256: str, answers_sha256: str) -> str:
    """Return the ``basis`` of observations of these answers to this suite: 64 hex digits."""
    return hashlib.sha256(f"{suite_sha256}\n{answers_sha256}".encode()).hexdigest()


class Observation(Record):
    """One score (of ``dimension``) or one flag (of ``prompt_id``) given under a probe.

    ``run`` counts the repetitions of a probe from 1. ``target`` names the answer that was changed
    where only one was; ``planted`` the words put before the judge, ``template`` what they were
    made from. ``quoted`` says whether the reply quotes words of a planted defect; whether the
    defect was noticed shows only beside the flags of the unaltered answer (``probe_summary``).
    ``judge`` is the judge's fingerprint, ``basis`` the hash of suite and answers (``basis_of``).
    ``reason`` says why there is neither score nor flag, ``parse`` how the reply was read, as in a
    report.
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
    quoted: bool | None = None
    parse: RawStr | None = None
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

    @property
    def is_settled(self) -> bool:
        """True if the judge has answered: with a score, a flag, or a null that it meant."""
        if self.score is not None or self.flag is not None:
            return True
        return self.parse not in (None, "missing", "error")
