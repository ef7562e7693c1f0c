"""One prompt of the report, with every answer to it and what was said about each."""

from __future__ import annotations

from collections.abc import Mapping

from touchstone.evidence import Finding
from touchstone.gui.report_md.data import ReportData
from touchstone.gui.report_md.markdown import blocks, facts, fenced, labelled, name, plain, quoted
from touchstone.gui.report_md.words import Words, decimal
from touchstone.models import Answer, ForeignScore, Metrics, ModelEntry, Prompt, Review, Verdict
from touchstone.scorecard import EffectiveFlag, tidy


def section_prompt(data: ReportData, prompt: Prompt, *, judged: bool = True) -> str:
    """Return one prompt and all answers to it, in the bundle's order of models.

    With ``judged`` False nothing is shown that anybody said about an answer.
    """
    words, rule = data.words, data.suite.ko_rule
    fatal = rule is not None and rule.covers(prompt)
    follows = words["follows_text"].format(id=plain(prompt.follows)) if prompt.follows else ""
    title = ": ".join(filter(None, [plain(prompt.id), plain(data.show(prompt.title))]))
    return blocks(
        f"### {words['prompt'].format(id=title)}",
        facts([(words["group"], plain(prompt.group)), (words["follows"], follows)]),
        words["gate_scope"] if fatal else "",
        *([words["system"], fenced(prompt.system)] if prompt.system else ()),
        *_task(words, prompt),
        labelled(words["expected"], data.show(prompt.expectation)),
        labelled(words["forbidden"], data.show(prompt.forbidden)),
        *(_answer(data, entry, prompt, judged=judged) for entry in data.entries),
    )


def _task(words: Words, prompt: Prompt) -> list[str]:
    if prompt.messages is None:
        return [words["task"], fenced(prompt.text or "")]
    *context, last = prompt.messages
    turns = [
        part for turn in context for part in (words[f"turn_{turn.role}"], fenced(turn.content))
    ]
    return [*turns, words["task"], fenced(last.content)]


def _answer(data: ReportData, entry: ModelEntry, prompt: Prompt, *, judged: bool) -> str:
    words, answer = data.words, data.answer(entry.pair, prompt.id)
    flag = data.flags.get((*entry.pair, prompt.id)) if judged else None
    model = name(entry)
    head = words["answer"].format(model=model)
    if flag is not None:
        colour = words[flag.flag or "no_flag"]
        head = words["answer_flag"].format(model=model, flag=colour)
    return blocks(
        f"#### {head}",
        *(_text(data, answer) if answer is not None else [words["no_answer"]]),
        *(_said(data, flag, entry, prompt) if flag is not None else ()),
    )


def _text(data: ReportData, answer: Answer) -> list[str]:
    words = data.words
    parts = [_how(words, answer)]
    if answer.error is not None:
        error = answer.error
        status = "" if error.status is None else f" {error.status}"
        text = f"{error.type}{status}: {error.message}" if error.message else error.type + status
        parts.append(words["request_failed"].format(error=plain(text)))
    elif answer.is_empty:
        parts.append(words["empty"])
    if answer.text and data.with_answers:
        parts.append(fenced(answer.text))
    return parts


def _how(words: Words, answer: Answer) -> str:
    tokens = answer.usage.completion_tokens if answer.usage else None
    reasoning = len((answer.reasoning or "").split())
    seconds, cut = answer.duration_s, answer.finish_reason == "length"
    ended = words["finish"].format(reason=plain(answer.finish_reason or ""))
    parts = [
        f"SHA-256 {answer.sha256[:12]}…" if answer.text else "",
        words["length"] if cut else ended if answer.finish_reason else "",
        "" if tokens is None else words["tokens"].format(n=tokens),
        "" if seconds is None else f"{decimal(words, seconds, 1)} s",
        words["attempts"].format(n=answer.attempts) if (answer.attempts or 1) > 1 else "",
        words["reasoning"].format(n=reasoning) if reasoning else "",
    ]
    return " · ".join(filter(None, parts))


# --- what was said about an answer ---------------------------------------------------------


def author_of(data: ReportData, flag: EffectiveFlag | None) -> str:
    """Return who set a flag, and whether that is an AI or a person; without a flag, the judge."""
    words, judge = data.words, data.manifest.judge
    if flag is not None and flag.set_by is not None:
        return _reviewer(words, flag.set_by)
    source = flag.verdict.source if flag is not None and flag.verdict is not None else "judge"
    if source == "judge" and judge is not None:
        return words["by_judge_kind"].format(kind=words[judge.kind])
    return words[f"by_{source}"]


def _reviewer(words: Words, review: Review) -> str:
    author = review.author
    return words["by_review"].format(
        id=plain(author.id), kind=words[author.kind], date=plain(review.date)
    )


def _said(data: ReportData, flag: EffectiveFlag, entry: ModelEntry, prompt: Prompt) -> list[str]:
    parts = [] if flag.verdict is None else _verdict(data, flag.verdict, entry, prompt)
    return parts if flag.review is None else [*parts, *_review(data.words, flag, flag.review)]


def _verdict(data: ReportData, verdict: Verdict, entry: ModelEntry, prompt: Prompt) -> list[str]:
    words = data.words
    author = author_of(data, EffectiveFlag(verdict.flag, verdict))
    said = quoted(verdict.rationale) or quoted(verdict.reason or "") or words["no_reason"]
    metrics = _metrics(verdict.metrics) if verdict.metrics is not None else ""
    quotes = [
        _quote_line(words, quote, data.quote_finding(entry.pair, prompt.id, quote))
        for quote in verdict.quotes
        if quote.strip()
    ]
    known = facts(
        [
            (words["category"], plain(verdict.category or "")),
            (words["metrics"], metrics),
            (words["foreign"], foreign_scores(verdict.foreign_scores)),
        ]
    )
    return [
        words["verdict"].format(by=author),
        said,
        "\n".join(filter(None, [known, *quotes])),
    ]


def _quote_line(words: Words, quote: str, finding: Finding) -> str:
    return f"- {class_of(words, finding)}: {words['quote'].format(quote=plain(quote))}"


def class_of(words: Words, finding: Finding) -> str:
    """Return the class of a piece of evidence in words, with the places it was found at."""
    spans = ", ".join(f"{start}–{end}" for start, end in finding.spans)
    if finding.place is not None:
        model, variant, prompt_id = finding.place
        place = f"{plain(prompt_id)}, {spans}"
        return words[finding.kind].format(model=f"{plain(model)} ({plain(variant)})", place=place)
    return f"{words[finding.kind]} {spans}" if spans else words[finding.kind]


def _review(words: Words, flag: EffectiveFlag, review: Review) -> list[str]:
    before = flag.verdict.flag if flag.verdict is not None else None
    decision = words.get(review.decision) or words["set_to"].format(
        flag=words[review.flag or "no_flag"], before=words[before or "no_flag"]
    )
    said = words["decision"].format(decision=decision, by=_reviewer(words, review))
    return [said, quoted(review.reason)]


def _metrics(metrics: Metrics) -> str:
    given = metrics.model_dump(exclude_none=True, exclude={"category"})
    return plain(", ".join(f"{key} {_number(value)}" for key, value in given.items()))


def foreign_scores(scores: Mapping[str, ForeignScore]) -> str:
    """Return imported scores with their own scales, as they are."""
    return "; ".join(_foreign(key, score) for key, score in scores.items())


def _foreign(key: str, score: ForeignScore) -> str:
    scale = "" if score.min is None or score.max is None else f"{score.min:g}–{score.max:g}"
    about = ", ".join(filter(None, [scale, score.source]))
    value = "–" if score.value is None else _number(score.value)
    return plain(f"{key} = {value}" + (f" ({about})" if about else ""))


def _number(value: object) -> str:
    return str(tidy(value)) if isinstance(value, float) else str(value)
