"""Looks up the evidence of a bundle's reports in the bundle's answers."""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.bundle import Bundle, Pair
from touchstone.evidence import EvidenceChecker
from touchstone.evidence_audit import EvidenceAudit, audit_evidence
from touchstone.scorecard import effective_flags


def checker_of(bundle: Bundle) -> EvidenceChecker:
    """Return what looks up evidence in the answers of a bundle, which are read when needed."""

    def text_of(pair: Pair, prompt_id: str) -> str | None:
        answer = bundle.answers.get((*pair, prompt_id))
        return None if answer is None else answer.text

    return EvidenceChecker(bundle.suite, text_of, [one.pair for one in bundle.manifest.models])


def audit_bundle(bundle: Bundle, order: Sequence[str] | None = None) -> EvidenceAudit:
    """Check all evidence of a bundle's reports and return what became of it.

    ``order`` are the prompt ids as the judge read them, the suite's order unless given.

    Raises:
        BundleError: an answer, report, verdict or decision can't be read; what it says or cites
            would be missing.
    """
    bundle.answers.require_clean()
    bundle.reports.require_clean()
    bundle.verdicts.require_clean()
    flags = effective_flags(bundle.verdicts, bundle.reviews())

    def has_answer(pair: Pair, prompt_id: str) -> bool:
        return (*pair, prompt_id) in bundle.answers

    red = {key for key, flag in flags.items() if flag.flag == "red"}
    return audit_evidence(bundle.suite, bundle.reports, checker_of(bundle), has_answer, red, order)
