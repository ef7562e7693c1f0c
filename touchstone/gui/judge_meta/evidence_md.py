"""The evidence in judge_quality.md: its classes, what is cited, what contradicts what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from touchstone.evidence import EvidenceClass
from touchstone.evidence_audit import Contradiction, EvidenceAudit, Reuse
from touchstone.gui.report_md.markdown import blocks, facts, plain
from touchstone.gui.report_md.words import Words
from touchstone.intervals import Rate

NONE = "–"
SHOWN: tuple[EvidenceClass, ...] = (
    *("verbatim", "normalised", "in_parts", "near", "from_prompt", "misattributed"),
    *("cross_model", "unverifiable", "too_short", "dangling"),
    *("absence_passed", "absence_failed", "paraphrase"),
)
"""All classes, in the order in which they are listed."""
ALWAYS = frozenset({"verbatim", "normalised", "unverifiable", "dangling"})
"""Classes that are listed even where there are none."""
_CONTRADICTIONS = ("only_defects", "fatal_at_5", "same_rationale", "ids_differ")


def table(head: str, rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; ``head`` are its titles with ``|`` between them."""
    titles = head.replace("\\|", "\0").split("|")
    cells = [[title.replace("\0", "\\|") for title in titles], ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def render_evidence_md(words: Words, audit: EvidenceAudit) -> str:
    """Return the section on evidence fidelity and what stands beside it."""
    counts = audit.counts
    rows = [
        [words[kind], str(counts.classes[kind])]
        for kind in SHOWN
        if kind in ALWAYS or counts.classes[kind]
    ]
    said = words["fidelity_text"] if counts.fidelity.n else words["fidelity_none"]
    return blocks(
        f"## {words['fidelity']}",
        said.format(**_rate_words(counts.fidelity)),
        table(words["fidelity_head"], rows),
        words["fidelity_rest"] if counts.items else "",
        _beside(words, audit),
        *_reused(words, audit.reused),
        *_contradictions(words, audit.contradictions),
    )


def _rate_words(of: Rate) -> dict[str, object]:
    low, high = of.bounds or (0.0, 0.0)
    return {
        "found": of.count,
        "of": of.n,
        "share": _share(of.value or 0.0),
        "low": _share(low),
        "high": _share(high),
    }


def _share(value: float) -> str:
    return f"{100 * value:.0f} %"


def _beside(words: Words, audit: EvidenceAudit) -> str:
    position, prose = audit.position, audit.prose.fidelity
    place = "" if position is None else f"{position:.2f}".replace(".", words["point"])
    return facts(
        [
            (words["cited"], _rate(words, audit.cited)),
            (words["red_cited"], _rate(words, audit.red_cited)),
            (words["reused"], str(len(audit.reused))),
            (words["position"], words["position_text"].format(place=place) if place else NONE),
            (words["prose"], _rate(words, prose)),
            (words["contradictions"], str(len(audit.contradictions))),
        ]
    )


def _rate(words: Words, of: Rate) -> str:
    return words["rate"].format(**_rate_words(of)) if of.n else NONE


def _pair(pair: tuple[str, str]) -> str:
    return f"{plain(pair[0])} ({plain(pair[1])})"


def _reused(words: Words, reused: Sequence[Reuse]) -> list[str]:
    lines = [
        "- "
        + words["reused_line"].format(
            model=_pair(one.pair),
            id=plain(one.prompt_id),
            dimensions=", ".join(map(plain, one.dimensions)),
            quote=plain(one.quote),
        )
        for one in reused
    ]
    return [f"### {words['reused_head']}", "\n".join(lines)] if lines else []


def _contradictions(words: Words, found: Sequence[Contradiction]) -> list[str]:
    lines = []
    for kind in _CONTRADICTIONS:
        named = [_contradiction(words, one) for one in found if one.kind == kind]
        if named:
            lines.append(f"- {words[kind]}: {'; '.join(named)}.")
    return [f"### {words['contradictions']}", "\n".join(lines)] if lines else []


def _contradiction(words: Words, one: Contradiction) -> str:
    sides = [
        words[key].format(ids=", ".join(map(plain, ids)))
        for key, ids in (
            ("only_in_rationale", one.only_in_rationale),
            ("only_in_evidence", one.only_in_evidence),
        )
        if ids
    ]
    text = f"{_pair(one.pair)} {', '.join(map(plain, one.dimensions))}"
    return f"{text} ({', '.join(sides)})" if sides else text
