"""The sections of the report, and the document they make."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from touchstone.gui.report_md.answers import (
    author_of,
    class_of,
    foreign_scores,
    section_prompt,
)
from touchstone.gui.report_md.data import Citation, Pair, ReportData
from touchstone.gui.report_md.markdown import blocks, facts, fenced, name, plain, quoted
from touchstone.gui.report_md.task import _eval_task
from touchstone.gui.report_md.words import Words, decimal, rule_sentence, words_of
from touchstone.models import Dimension, ModelEntry, ModelReport, Suite, Weights
from touchstone.scorecard import MasterRow, Trigger, render_scorecard_md

__all__ = [
    "render_report_md",
    "section_gate",
    "section_master_scorecard",
    "section_model",
    "section_overview",
    "section_prompt",
    "section_provenance",
]


def render_report_md(data: ReportData) -> str:
    """Return the whole report. The evaluation task needs the answers and is left out with them."""
    return "\n\n".join(_sections(data)) + "\n"


def _sections(data: ReportData) -> Iterator[str]:
    words = data.words
    yield section_overview(data)
    yield section_master_scorecard(
        data.suite, data.rows, data.language, of=len(data.manifest.models)
    )
    yield section_gate(data)
    for row in data.rows:
        yield section_model(data, row)
    intro = words["prompts_text"] if data.with_answers else words["no_answers"]
    yield blocks(f"## {words['prompts']}", intro)
    for prompt in data.suite.prompts:
        yield section_prompt(data, prompt)
    yield section_provenance(data)
    if data.with_answers:
        yield _eval_task(data.suite, data.language, data.entries, scores_seen=data.is_judged)


# --- what this is --------------------------------------------------------------------------


def section_overview(data: ReportData) -> str:
    """Return the title and what the document is about: suite, judge, hashes, models."""
    words, manifest, suite = data.words, data.manifest, data.suite
    title = plain(data.show(manifest.title)) or plain(manifest.id)
    size = words["size_text"].format(prompts=len(suite.prompts), dimensions=len(suite.dimensions))
    about = facts(
        [
            (words["bundle"], plain(manifest.id)),
            (words["made"], plain(manifest.created or "")),
            (words["tool"], plain(manifest.tool or "")),
            (words["suite"], f"{plain(data.show(suite.title))} ({plain(suite.id)})"),
            (words["about"], plain(data.show(suite.description))),
            (words["language"], plain(suite.language)),
            (words["size"], size),
            (words["judge"], _judge(data)),
            (words["fingerprint"], plain(manifest.judge.fingerprint if manifest.judge else "")),
            (words["hash_suite"], data.hashes.suite),
            (words["hash_answers"], data.hashes.answers),
            (words["hash_bundle"], data.hashes.bundle),
            (words["seal"], words["unsealed" if manifest.sealed is None else "sealed"]),
        ]
    )
    return blocks(
        f"# {title}",
        f"## {words['overview']}",
        words["overview_text"],
        words["follow"].format(id=plain(suite.prompts[0].id)),
        about,
        words["models"] if data.entries else "",
        "\n".join(f"- {_model_line(data, entry)}" for entry in data.entries),
    )


def _judge(data: ReportData) -> str:
    judge = data.manifest.judge
    if judge is None:
        return data.words["unknown_judge" if data.is_judged else "no_judge"]
    return f"{plain(judge.id)} ({data.words[judge.kind]})"


def _model_line(data: ReportData, entry: ModelEntry) -> str:
    answers = data.answers_of(entry.pair)
    counts = data.words["counts"].format(
        answers=len(answers),
        failed=sum(answer.error is not None for answer in answers),
        cut=sum(answer.finish_reason == "length" for answer in answers),
    )
    return "; ".join(filter(None, [name(entry), plain(data.show(entry.label)), counts]))


# --- scorecard and gate --------------------------------------------------------------------


def section_master_scorecard(
    suite: Suite, rows: Sequence[MasterRow], language: str, *, of: int | None = None
) -> str:
    """Return the scorecard, with what is missing in it; ``of`` is how many models there are."""
    words = words_of(language)
    gaps = [
        words["missing_in"].format(
            model=name(row.entry),
            missing=", ".join(plain(one) for one in row.total.missing),
            scored=_percent(words, row.total.quality_pct_scored),
        )
        for row in rows
        if row.report is not None and row.total.missing
    ]
    part = of is not None and len(rows) < of
    return blocks(
        f"## {words['scorecard']}",
        words["scorecard_text"],
        words["part"].format(shown=len(rows), all=of) if part else "",
        render_scorecard_md(suite, rows, language).strip(),
        f"{words['missing']}:" if gaps else "",
        "\n".join(f"- {gap}" for gap in gaps),
    )


def section_gate(data: ReportData) -> str:
    """Return the K.-o. gate: its rule, and for each model every trigger with its reason."""
    words = data.words
    head, rule = f"## {words['gate']}", rule_sentence(data.suite, data.language)
    if rule is None:
        return blocks(head, words["no_rule"])
    lacks_flags = any(not row.ko.flags_exist for row in data.rows)
    return blocks(
        head,
        f"{words['gate_text']} {rule}",
        words["no_flags"] if lacks_flags else "",
        *(_gate_of(data, row) for row in data.rows),
    )


def _gate_of(data: ReportData, row: MasterRow) -> str:
    words, rule = data.words, data.suite.ko_rule
    assert rule is not None
    dimension, ko = plain(rule.dimension), row.ko
    parts = [_trigger(data, row.pair, trigger) for trigger in ko.triggers]
    if ko.open_prompts:
        prompts = ", ".join(plain(prompt_id) for prompt_id in ko.open_prompts)
        parts.append(words["open_prompts"].format(prompts=prompts))
    if ko.dimension_score is None:
        reason = _why_missing(data, row.report, rule.dimension)
        parts.append(words["open_dimension"].format(dimension=dimension, reason=reason))
    if ko.state == "passed":
        checked = len(ko.checked_prompts) if ko.flags_exist else 0
        flags = f"{words['no_red'].format(n=checked)}, " if checked else ""
        parts.append(
            words["nothing_fired"].format(
                flags=flags, dimension=dimension, score=ko.dimension_score, threshold=rule.threshold
            )
        )
    return blocks(f"### {name(row.entry)}: {words[ko.state]}", *parts)


def _trigger(data: ReportData, pair: Pair, trigger: Trigger) -> str:
    words = data.words
    if trigger.prompt_id is not None:
        what = words["red_at"].format(prompt=plain(trigger.prompt_id))
        by = author_of(data, data.flags.get((*pair, trigger.prompt_id)))
    else:
        what = words["low"].format(
            dimension=plain(trigger.dimension or ""),
            score=trigger.score,
            threshold=trigger.threshold,
        )
        by = author_of(data, None)
    return blocks(f"**{what}**, {by}:", quoted(trigger.reason) or words["no_reason"])


# --- a model -------------------------------------------------------------------------------


def section_model(data: ReportData, row: MasterRow) -> str:
    """Return one model's report: totals, then score, rationale and evidence by dimension."""
    words, report, total = data.words, row.report, row.total
    head = f"## {words['model'].format(model=name(row.entry))}"
    gate = (words["gate"], words[row.ko.state])
    if report is None:
        return blocks(head, facts([gate, _flag_counts(data, row)]), words["not_judged"])
    missing = ", ".join(plain(dimension_id) for dimension_id in total.missing)
    citations = {d.id: data.citations(row, d.id) for d in data.suite.dimensions}
    return blocks(
        head,
        facts(
            [
                gate,
                (words["rank"], "–" if row.rank is None else str(row.rank)),
                (words["total"], _total(words, row)),
                (words["missing"], missing),
                _flag_counts(data, row),
                (words["saw"], _saw(words, report)),
                (words["quotes"], _quotes_found(words, chain(*citations.values()))),
                (words["foreign"], foreign_scores(report.foreign_scores)),
            ]
        ),
        *(_dimension(data, row, report, d, citations[d.id]) for d in data.suite.dimensions),
    )


def _total(words: Words, row: MasterRow) -> str:
    total = row.total
    return words["total_scored" if total.missing else "total_text"].format(
        points=decimal(words, total.weighted),
        most=decimal(words, total.max_weighted),
        quality=_percent(words, total.quality_pct),
        scored=_percent(words, total.quality_pct_scored),
    )


def _percent(words: Words, value: float | None) -> str:
    return "–" if value is None else f"{decimal(words, value, 1)} %"


def _flag_counts(data: ReportData, row: MasterRow) -> tuple[str, str]:
    if not data.flags:
        return data.words["flags"], ""
    flags = (data.flags.get((*row.pair, one.prompt_id)) for one in data.answers_of(row.pair))
    counts = Counter((flag.flag if flag else None) or "none" for flag in flags)
    numbers = {colour: counts[colour] for colour in ("green", "yellow", "red", "none")}
    return data.words["flags"], data.words["flag_counts"].format(**numbers)


def _saw(words: Words, report: ModelReport) -> str:
    saw = report.saw
    if saw is None:
        return ""
    kind = "saw_text" if saw.evidence is None else "saw_noted"
    return words[kind].format(
        answers=saw.answers, of=saw.of, shown=saw.evidence, noted=saw.evidence_of
    )


def _quotes_found(words: Words, citations: Iterable[Citation]) -> str:
    quotes = [one for one in citations if one.is_quote]
    found = sum(one.finding.is_found for one in quotes)
    return words["quotes_text"].format(found=found, all=len(quotes)) if quotes else ""


def _why_missing(data: ReportData, report: ModelReport | None, dimension_id: str) -> str:
    if report is None:
        return data.words["no_report"]
    return plain(report.issue(dimension_id) or "") or data.words["none_given"]


def _dimension(
    data: ReportData,
    row: MasterRow,
    report: ModelReport,
    dimension: Dimension,
    citations: Sequence[Citation],
) -> str:
    words, score = data.words, row.dim_scores[dimension.id]
    points = words["no_score"] if score is None else words["of_5"].format(score=score)
    weight = words["weight"].format(weight=decimal(words, dimension.weight))
    title = plain(f"{dimension.id} {data.show(dimension.name)}")
    reason = _why_missing(data, report, dimension.id)
    return blocks(
        f"### {title}: {points} ({weight})",
        words["why_missing"].format(reason=reason) if score is None else "",
        quoted(report.dim_rationales.get(dimension.id, "")) or words["no_rationale"],
        words["evidence"] if citations else words["no_evidence"],
        "\n".join(_citation(words, one) for one in citations),
    )


def _citation(words: Words, citation: Citation) -> str:
    item = citation.item
    kinds = [
        class_of(words, citation.finding),
        words[item.polarity],
        words.get(item.severity or ""),
    ]
    terms = ", ".join(words["quote"].format(quote=plain(term)) for term in item.absent_terms)
    said = [
        words["quote"].format(quote=plain(item.quote)) if item.quote.strip() else "",
        words["absent"].format(terms=terms) if terms else "",
        plain(item.observation),
        words["fix"].format(fix=plain(item.fix)) if item.fix else "",
    ]
    head = " · ".join([plain(item.prompt_id), *filter(None, kinds)])
    return f"- {': '.join(filter(None, [head, ' – '.join(filter(None, said))]))}"


# --- provenance and limits -----------------------------------------------------------------


def section_provenance(data: ReportData) -> str:
    """Return how answers and judgement came about, and what this document can't tell."""
    words, strays = data.words, data.strays
    return blocks(
        f"## {words['provenance']}",
        words["stray"].format(n=strays) if strays else "",
        *(_ran(data, entry) for entry in data.entries),
        *_judging(data),
        f"### {words['limits']}",
        "\n".join(f"- {words[key]}" for key in _limits(data)),
    )


def _limits(data: ReportData) -> list[str]:
    if not data.is_judged:
        return ["limit_unjudged"]
    judge = data.manifest.judge
    by_ai = ["limit_ai"] if judge is not None and judge.kind == "ai" else []
    return ["limit_opinion", *by_ai, "limit_quotes", "limit_missing"]


def _ran(data: ReportData, entry: ModelEntry) -> str:
    words = data.words
    seconds = [one.duration_s for one in data.answers_of(entry.pair) if one.duration_s is not None]
    known = facts(
        [
            (words["served"], plain(entry.endpoint or "")),
            (words["parameters"], _json(entry.parameters)),
            *_weights(words, entry.weights),
            (words["engine"], plain(entry.engine or "")),
            (words["hardware"], plain(entry.hardware or "")),
            (words["time"], f"{decimal(words, sum(seconds), 1)} s" if seconds else ""),
        ]
    )
    system = [words["system"], fenced(entry.system)] if entry.system else []
    return blocks(f"### {name(entry)}", *([known, *system] if known or system else ["–"]))


def _judging(data: ReportData) -> list[str]:
    words, judge = data.words, data.manifest.judge
    if judge is None:
        return []
    replies = Counter(how for row in data.rows if row.report for how in row.report.parse.values())
    known = facts(
        [
            (words["way"], words[judge.via] if judge.via else ""),
            (words["judge_model"], plain(judge.model or "")),
            (words["mode"], plain(judge.mode or "")),
            (words["version"], str(judge.prompt_version or "")),
            (words["parameters"], _json(judge.parameters)),
            *_weights(words, judge.weights),
            (words["engine"], plain(judge.engine or "")),
            (
                words["replies"],
                plain(", ".join(f"{how} {n}" for how, n in sorted(replies.items()))),
            ),
        ]
    )
    return [f"### {words['judge']}: {_judge(data)}", known or "–"]


def _weights(words: Words, weights: Weights | None) -> list[tuple[str, str]]:
    if weights is None:
        return []
    parts = [weights.name, weights.parameters, weights.quantization, weights.source]
    return [
        (words["weights"], plain(", ".join(part for part in parts if part))),
        (words["weights_hash"], plain(weights.sha256 or "")),
    ]


def _json(parameters: dict[str, Any]) -> str:
    if not parameters:
        return ""
    return plain(json.dumps(parameters, ensure_ascii=False, default=str))
