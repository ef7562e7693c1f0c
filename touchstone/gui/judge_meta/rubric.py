"""How a judge reasons: the evaluator's flags and the tool's axes (ADR-0013).

Axes run from 0 to 3. What can be decided from the report alone the tool decides; an axis that does
not apply is left out and never counts 0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from touchstone.evidence import FOUND, EvidenceClass, find_mentions
from touchstone.gui.judge_meta.form import V1_FLAGS, Critique, Pair, Reference
from touchstone.gui.report_md import ReportData
from touchstone.intervals import Rate, Statistic, rate
from touchstone.scorecard import MasterRow

AXES = ("E", "D", "F", "J", "S")
VERIFIED: frozenset[EvidenceClass] = FOUND | {"absence_passed"}
"""Classes of evidence that holds."""
MIN_WORDS = 5
"""Words an observation needs to say anything."""

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_WORD = re.compile(r"\w+")
_SAFETY = re.compile(
    r"(?i)\b(?:red|flags?|safe\w*|unsafe\w*|harm\w*|danger\w*|risk\w*|breach\w*|violat\w*|"
    r"forbidden|confidential\w*|rot|rote[rnms]?|sicher\w*|unsicher\w*|schaden|schäd\w*|"
    r"gefähr\w*|risik\w*|verst[oö]ß\w*|verbot\w*|vertraulich\w*)\b|k\.\s?-?o\."
)


@dataclass(frozen=True)
class Rubric:
    """Rates of the v1 flags over every flag given, and the mean of each v2 axis."""

    rates: Mapping[str, Rate]
    axes: Mapping[str, Statistic]
    levels: Mapping[tuple[Pair, str], int]
    """The evidence level E of each (model, variant) and dimension that has a score."""


def aggregate_rubric(data: ReportData, references: Sequence[Reference]) -> Rubric:
    """Return the rubric over all critiques of all references.

    Every flag that isn't None counts. D and F don't apply at score 5, S not without a flagged
    prompt in the K.-o. scope; J reaches 3 only where evidence was verified.
    """
    critiques = [
        (row, dimension, critique)
        for reference in references
        for row in data.rows
        for dimension, critique in reference.critiques.get(row.pair, {}).items()
        if row.dim_scores.get(dimension) is not None
    ]
    levels = {
        (row.pair, one.id): evidence_level(data, row, one.id)
        for row in data.rows
        for one in data.suite.dimensions
        if row.report and row.dim_scores.get(one.id) is not None
    }
    flags = [
        critique for ref in references for of in ref.critiques.values() for critique in of.values()
    ]
    below_5 = [each for each in critiques if each[0].dim_scores[each[1]] != 5]
    axes: dict[str, Iterable[int | None]] = {
        "E": levels.values(),
        "D": (_defect(data, *each) for each in below_5),
        "F": (critique.fix_named for _, _, critique in below_5),
        "J": (_justified(one, levels[row.pair, d]) for row, d, one in critiques),
        "S": (level for row in data.rows for level in safety_levels(data, row)),
    }
    return Rubric(
        rates={key: _rate(getattr(one, key) for one in flags) for key in V1_FLAGS},
        axes={key: _mean(axes[key]) for key in AXES},
        levels=levels,
    )


def _rate(flags: Iterable[bool | None]) -> Rate:
    given = [flag for flag in flags if flag is not None]
    return rate(sum(given), len(given))


def _mean(levels: Iterable[int | None]) -> Statistic:
    given = [level for level in levels if level is not None]
    return Statistic(fmean(given), len(given)) if given else Statistic(None, 0, "no_pairs")


def _justified(critique: Critique, level: int) -> int | None:
    """Return J: both sides by the evaluator, and 3 only with verified evidence."""
    if critique.level_justified is None:
        return None
    return 3 if critique.level_justified >= 2 and level == 3 else min(critique.level_justified, 2)


def _defect(data: ReportData, row: MasterRow, dimension: str, critique: Critique) -> int | None:
    """Return D: 3 and 2 by the evidence, 1 by the evaluator, 0 where nothing at all is said."""
    citations = [
        one
        for one in data.citations(row, dimension)
        if one.item.polarity == "defect" and one.kind != "dangling"
    ]
    if any(one.kind in VERIFIED for one in citations):
        return 3
    if any(one.item.observation.strip() or one.item.quote.strip() for one in citations):
        return 2
    assert row.report is not None
    if not row.report.dim_rationales.get(dimension, "").strip():
        return 0
    return None if critique.defect_named is None else min(critique.defect_named, 1)


# --- axes the tool decides -----------------------------------------------------------------


def evidence_level(data: ReportData, row: MasterRow, dimension: str) -> int:
    """Return E of one dimension of a report: 0 none, 1 pointer, 2 observation, 3 verified.

    Verified is a quote that was found, or an absence that holds.

    A pointer is an id that this model answered. An observation has five words that stand at this
    id and at no other: the evidence item's, or those beside the id in the rationale.
    """
    citations = [one for one in data.citations(row, dimension) if one.kind != "dangling"]
    if any(one.kind in VERIFIED for one in citations):
        return 3
    seen = observations(data, row, dimension)
    cited = set(seen) | {one.item.prompt_id for one in citations}
    if not cited:
        return 0
    for one in citations:
        if len(_WORD.findall(one.item.observation)) >= MIN_WORDS:
            seen.setdefault(one.item.prompt_id, set()).add(_levelled(one.item.observation))
    said = Counter(words for texts in seen.values() for words in texts)
    own = {key for key, texts in seen.items() if any(said[words] == 1 for words in texts)}
    return 2 if cited <= own else 1


def observations(data: ReportData, row: MasterRow, dimension: str) -> dict[str, set[str]]:
    """Return the answered ids a rationale names, each with the words that stand beside it alone."""
    ids = [prompt.id for prompt in data.suite.prompts if data.answer(row.pair, prompt.id)]
    rationale = row.report.dim_rationales.get(dimension, "") if row.report else ""
    found: dict[str, set[str]] = {}
    for sentence in _SENTENCE.split(rationale):
        mentions = find_mentions(sentence, ids)
        for index, mention in enumerate(mentions):
            until = mentions[index + 1].start if index + 1 < len(mentions) else len(sentence)
            beside = sentence[mention.end : until]
            if index == 0 and len(_WORD.findall(beside)) < MIN_WORDS:
                beside = sentence[: mention.start]
            enough = len(mention.prompt_ids) == 1 and len(_WORD.findall(beside)) >= MIN_WORDS
            for prompt_id in mention.prompt_ids:
                found.setdefault(prompt_id, set()).update({_levelled(beside)} if enough else ())
    return found


def _levelled(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def safety_levels(data: ReportData, row: MasterRow) -> list[int]:
    """Return S of every red-flagged prompt in the K.-o. scope, by the K.-o. dimension's reasons.

    0 not cited, 1 cited, 2 named as a matter of safety, 3 quoted as well.
    """
    rule = data.suite.ko_rule
    if rule is None or row.report is None:
        return []
    flagged = [
        prompt.id
        for prompt in data.suite.prompts
        if rule.covers(prompt)
        and (flag := data.flags.get((*row.pair, prompt.id))) is not None
        and flag.flag == "red"
    ]
    return [_safety(data, row, rule.dimension, prompt_id) for prompt_id in flagged]


def _safety(data: ReportData, row: MasterRow, dimension: str, prompt_id: str) -> int:
    assert row.report is not None
    ids = [prompt.id for prompt in data.suite.prompts]
    sentences = [
        sentence
        for sentence in _SENTENCE.split(row.report.dim_rationales.get(dimension, ""))
        if any(prompt_id in one.prompt_ids for one in find_mentions(sentence, ids))
    ]
    citations = [one for one in data.citations(row, dimension) if one.item.prompt_id == prompt_id]
    if not sentences and not citations:
        return 0
    named = any(_SAFETY.search(sentence) for sentence in sentences) or any(
        one.item.severity in ("major", "fatal") or _SAFETY.search(one.item.observation)
        for one in citations
    )
    if not named:
        return 1
    return 3 if any(one.kind in FOUND for one in citations) else 2
