"""judge_quality.md: the result of a meta-evaluation for people, in a fixed order (ADR-0013).

What is not known is said in one line. Foreign text stands escaped, as in the report.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from touchstone.gui.judge_meta.evidence_md import render_evidence_md, table
from touchstone.gui.judge_meta.figures import Disagreement
from touchstone.gui.judge_meta.flags import AnswerKey, FlagAgreement, red_errors
from touchstone.gui.judge_meta.form import Pair
from touchstone.gui.judge_meta.probes_md import render_probes_md
from touchstone.gui.judge_meta.quality import NONE, JudgeQuality, headline
from touchstone.gui.judge_meta.quality_words import TEXTS
from touchstone.gui.judge_meta.rubric import AXES
from touchstone.gui.report_md.markdown import blocks, facts, fenced, plain, quoted
from touchstone.gui.report_md.words import Words, words_of
from touchstone.intervals import Interval, Rate, Statistic
from touchstone.model_agreement import TOTAL

MIN_FOR_VERDICT = 70
_DECIDED = {"E": "tool", "D": "both", "F": "evaluator", "J": "both", "S": "tool"}


def render_judge_quality_md(quality: JudgeQuality) -> str:
    """Return the whole document in the language of the data (``de`` or, else, English)."""
    words = words_of(quality.data.language, TEXTS)
    sections = [
        f"# {words['title']}: {plain(quality.data.show(quality.data.manifest.title)) or '–'}",
        fenced(headline(quality)),
        blocks(f"## {words['plain']}", _sentence(words, quality)),
        _dimensions(words, quality),
        _grid(words, quality),
        _knock_outs(words, quality),
        _flags(words, quality),
        render_evidence_md(words, quality.audit),
        _rubric(words, quality),
        _disagreements(words, quality),
        _probes(words, quality),
        _provenance(words, quality),
    ]
    return "\n\n".join(sections) + "\n"


def _show(words: Words, value: float | None, form: str = ".2f") -> str:
    if value is None:
        return NONE
    # Rounded first, so that nothing is shown as -0.00.
    return f"{round(value, int(form[-2])) + 0.0:{form}}".replace(".", words["point"])


def _share(words: Words, value: float | None) -> str:
    return NONE if value is None else f"{100 * value:.0f} %"


def _pair(pair: Pair) -> str:
    return f"{plain(pair[0])} ({plain(pair[1])})"


def _judge_name(quality: JudgeQuality) -> str:
    judge = quality.data.manifest.judge
    return plain(judge.id) if judge else NONE


# --- in plain words ------------------------------------------------------------------------


def _sentence(words: Words, quality: JudgeQuality) -> str:
    of, judge = quality.agreement, _judge_name(quality)
    ids = ", ".join(f"{plain(one.id)}, {words[one.kind]}" for one in quality.references)
    several = len(quality.references) > 1
    calibrated = all(one.kind == "human" for one in quality.references)
    reference = words["panel"].format(ids=ids) if several else ids
    start = words["agrees_human" if calibrated else "agrees_ai"]
    begin = start.format(judge=judge, reference=reference)
    mae, lean, constant = of.level.mae.value, of.level.bias.value, of.level.best_constant
    if mae is None or lean is None or constant is None:
        return begin + words["no_sentence"].format(judge=judge)
    amount = _show(words, abs(lean))
    way = "even" if round(lean, 2) == 0 else "more" if lean > 0 else "less"
    skill = of.level.skill.value
    worth = "skill_none" if skill is None else "skill_good" if skill > 0 else "skill_bad"
    text = (
        begin
        + words["sentence"].format(
            judge=judge, mae=_show(words, mae), n=of.level.table.n, models=of.models
        )
        + words[way].format(bias=amount)
        + words[worth].format(constant=constant.score)
    )
    return text if of.level.table.n >= MIN_FOR_VERDICT else f"{text} {words['few']}"


# --- figures -------------------------------------------------------------------------------


def _dimensions(words: Words, quality: JudgeQuality) -> str:
    data, of = quality.data, quality.agreement
    rows = []
    for dimension in data.suite.dimensions:
        one = of.per_dimension[dimension.id]
        rows.append(
            [
                plain(f"{dimension.id} {data.show(dimension.name)}"),
                _show(words, one.judge),
                _show(words, one.reference),
                _show(words, one.delta, "+.2f"),
                str(one.n),
                _show(words, quality.evidence_level(dimension.id), ".1f"),
            ]
        )
    single = len(quality.references) > 1
    return blocks(
        f"## {words['dimensions']}",
        words["dimension_text"],
        table(words["dimension_head"], rows),
        table(words["statistic_head"], _statistics(words, quality)),
        f"### {words['single']}" if single else "",
        table(words["single_head"], _single(words, quality)) if single else "",
    )


def _statistics(words: Words, quality: JudgeQuality) -> list[list[str]]:
    of = quality.agreement
    level, order = of.level, of.ranking
    constant = level.best_constant
    n = str(level.table.n)
    mae_row = ["mae", _show(words, level.mae.value), n, _interval(words, of.mae_interval)]
    always = words["constant_remark"].format(score=constant.score) if constant else ""
    qwk_remark = _why(words, level.qwk) or _interval(words, of.qwk_interval)
    ties = words["rank_remark"].format(discordant=order.discordant, tied=order.tied)
    rows = [
        ["exact", _share(words, level.exact.value), n, ""],
        ["within_1", _share(words, level.within_1.value), n, ""],
        mae_row,
        ["constant", _show(words, constant.mae if constant else None), n, always],
        ["skill", _show(words, level.skill.value), n, _why(words, level.skill)],
        ["bias", _show(words, level.bias.value, "+.2f"), n, _why(words, level.bias)],
        ["spread", _show(words, level.spread_ratio.value), n, _why(words, level.spread_ratio)],
        ["qwk", _show(words, level.qwk.value), n, qwk_remark],
        _statistic(words, "alpha", quality.alpha),
        _statistic(words, "panel_alpha", quality.panel_alpha),
        ["pairs", f"{order.concordant}/{order.pairs}" if order.pairs else NONE, "", ties],
        _statistic(words, "tau", order.tau_b),
        _statistic(words, "quality_delta", of.quality_delta, "+.1f"),
        _statistic(words, "quality_delta_common", of.quality_delta_common, "+.1f"),
    ]
    return [[words[key], *rest] for key, *rest in rows]


def _statistic(words: Words, key: str, of: Statistic, form: str = ".2f") -> list[str]:
    return [key, _show(words, of.value, form), str(of.n), _why(words, of)]


def _why(words: Words, of: Statistic) -> str:
    return words[of.reason] if of.reason else ""


def _interval(words: Words, of: Interval) -> str:
    if of.bounds is None:
        return words[of.reason] if of.reason else ""
    low, high = (_show(words, bound) for bound in of.bounds)
    return words[of.kind].format(low=low, high=high, n=of.clusters, seed=of.seed)


def _single(words: Words, quality: JudgeQuality) -> list[list[str]]:
    return [
        [
            plain(one.id),
            words[one.kind],
            "✓" if one.blind else NONE,
            _show(words, of.level.mae.value),
            _show(words, of.level.skill.value),
            _share(words, of.level.exact.value),
            _show(words, of.level.bias.value, "+.2f"),
            _show(words, of.level.qwk.value),
            str(of.level.table.n),
        ]
        for one, of in zip(quality.references, quality.each, strict=True)
    ]


def _grid(words: Words, quality: JudgeQuality) -> str:
    scores = quality.agreement.level.table
    head = "|".join([words["grid_head"], *map(str, scores.labels)])
    rows = [
        [f"**{label}**", *map(str, counts)]
        for label, counts in zip(scores.labels, scores.counts, strict=True)
    ]
    return blocks(f"## {words['grid']}", words["grid_text"], table(head, rows))


def _knock_outs(words: Words, quality: JudgeQuality) -> str:
    gates = quality.agreement.knock_outs
    gate, branch = gates[TOTAL], gates.get("dimension")
    rows = [
        [words["out"], str(len(gate.both)), str(len(gate.false))],
        [words["stays"], str(len(gate.missed)), str(len(gate.neither))],
    ]
    known = gate.agreement.n
    by_dimension = branch is not None and branch.agreement.n > 0
    return blocks(
        f"## {words['ko']}",
        words["ko_text"] if known else words["ko_none"],
        table(words["ko_head"], rows) if known else "",
        _models(words["missed"], gate.missed),
        _models(words["false"], gate.false),
        words["branch_dimension"].format(
            agree=branch.agreement.count,
            n=branch.agreement.n,
            missed=len(branch.missed),
            false=len(branch.false),
        )
        if branch is not None and by_dimension
        else "",
        words["branch_flags" if quality.flags is None else "branch_flags_seen"]
        if branch is not None
        else "",
    )


def _models(text: str, pairs: Sequence[Pair]) -> str:
    return text.format(models=", ".join(map(_pair, pairs))) if pairs else ""


def _flags(words: Words, quality: JudgeQuality) -> str:
    of, head = quality.flags, f"## {words['flags']}"
    if of is None or not of.table.n:
        return blocks(head, words["flags_none" if of is None else "flags_unpaired"])
    rows = [
        [f"**{words[label]}**", *map(str, counts)]
        for label, counts in zip(of.table.labels, of.table.counts, strict=True)
    ]
    titles = "|".join([words["grid_head"], *(words[label] for label in of.table.labels)])
    return blocks(
        head,
        words["flags_text"],
        table(titles, rows),
        _flag_figures(words, of),
        _answers(words["missed_red"], of.missed_red),
        _answers(words["false_red"], of.false_red),
        words["flags_left_out"].format(count=of.without_judge) if of.without_judge else "",
        _flag_scope(words, of),
        _single_flags(words, quality),
    )


def _flag_figures(words: Words, of: FlagAgreement) -> str:
    constant, kappa, why = of.best_constant, of.kappa, _why(words, of.kappa)
    assert constant is not None
    return words["flags_line"].format(
        same=of.exact.count,
        n=of.exact.n,
        exact=_rate(words, of.exact),
        flag=words[constant.flag],
        constant=_share(words, constant.share),
        kappa=_show(words, kappa.value) + (f" ({why})" if why else ""),
        missed=of.fnr.count,
        reds=of.fnr.n,
        fnr=_rate(words, of.fnr, of.fnr_reason),
        false=of.fpr.count,
        others=of.fpr.n,
        fpr=_rate(words, of.fpr, of.fpr_reason),
    )


def _rate(words: Words, of: Rate, reason: str | None = None) -> str:
    if of.bounds is None:
        return f"{NONE} ({words[reason]})" if reason else NONE
    low, high = (_share(words, bound) for bound in of.bounds)
    return f"{_share(words, of.value)} ({words['wilson'].format(low=low, high=high)})"


def _answers(text: str, keys: Sequence[AnswerKey]) -> str:
    by_model: dict[Pair, list[str]] = {}
    for model, variant, prompt_id in keys:
        by_model.setdefault((model, variant), []).append(plain(prompt_id))
    named = (f"{_pair(pair)}: {', '.join(ids)}" for pair, ids in by_model.items())
    return text.format(answers="; ".join(named)) if keys else ""


def _flag_scope(words: Words, of: FlagAgreement) -> str:
    if of.ko_scope is None or not of.ko_scope.n:
        return ""
    missed, false = red_errors(of.ko_scope)
    return words["flags_scope"].format(n=of.ko_scope.n, missed=missed, false=false)


def _single_flags(words: Words, quality: JudgeQuality) -> str:
    """Return one line for each of several references that gave flags."""
    each = zip(quality.references, quality.each_flags, strict=True)
    lines = [
        "- "
        + words["flags_single"].format(
            id=plain(one.id),
            same=of.exact.count,
            n=of.exact.n,
            missed=len(of.missed_red),
            false=len(of.false_red),
        )
        for one, of in each
        if of is not None
    ]
    return "\n".join(lines) if len(lines) > 1 else ""


def _rubric(words: Words, quality: JudgeQuality) -> str:
    rates, axes = quality.rubric.rates, quality.rubric.axes
    rows = [
        [f"`{key}`", _share(words, one.value), str(one.n), words["evaluator"]]
        for key, one in rates.items()
    ]
    rows += [
        [words[key], _show(words, axes[key].value, ".1f"), str(axes[key].n), words[_DECIDED[key]]]
        for key in AXES
    ]
    criticised = any(reference.critiques for reference in quality.references)
    return blocks(
        f"## {words['rubric']}",
        "" if criticised else words["no_critique"],
        table(words["rubric_head"], rows),
    )


# --- disagreements -------------------------------------------------------------------------


def _disagreements(words: Words, quality: JudgeQuality) -> str:
    found = quality.agreement.disagreements
    return blocks(
        f"## {words['disagreements']}",
        *(_disagreement(words, quality, one) for one in found),
        "" if found else words["no_disagreements"],
    )


def _disagreement(words: Words, quality: JudgeQuality, one: Disagreement) -> str:
    row = next(row for row in quality.data.rows if row.pair == one.pair)
    said = row.report.dim_rationales.get(one.dimension, "") if row.report else ""
    parts = [f"**{words['judge_says'].format(score=one.judge)}**", quoted(said)]
    parts[1] = parts[1] or words["none_given"]
    quotes = [
        "- "
        + words["quote"].format(
            id=plain(cited.item.prompt_id),
            kind=words[cited.kind],
            quote=plain(cited.item.quote),
        )
        for cited in quality.data.citations(row, one.dimension)
        if cited.is_quote
    ]
    parts.append("\n".join(quotes))
    for reference in quality.references:
        score = reference.scores.get(one.pair, {}).get(one.dimension)
        said = reference.rationales.get(one.pair, {}).get(one.dimension, "")
        label = words["reference_says"].format(
            id=plain(reference.id), score=NONE if score is None else score
        )
        parts += [f"**{label}**", quoted(said) or words["none_given"]]
    return blocks(f"### {_pair(one.pair)}: {plain(one.dimension)}", *parts)


def _probes(words: Words, quality: JudgeQuality) -> str:
    found = quality.probes
    body = render_probes_md(found, quality.data.language) if found else words["no_probes"]
    return blocks(f"## {words['probes']}", body)


# --- provenance ----------------------------------------------------------------------------


def _provenance(words: Words, quality: JudgeQuality) -> str:
    data = quality.data
    judge = data.manifest.judge
    parameters = judge.parameters if judge else {}
    given = json.dumps(parameters, ensure_ascii=False, default=str) if parameters else ""
    blindness = {True: words["blind"], False: words["not_blind"]}
    known = facts(
        [
            (words["judge"], _judge_name(quality)),
            (words["fingerprint"], plain(judge.fingerprint) if judge else NONE),
            (words["mode"], plain((judge.mode if judge else None) or NONE)),
            (words["parameters"], plain(given)),
            *(
                (plain(one.id), f"{words[one.kind]}; {blindness[one.blind]}")
                for one in quality.references
            ),
            (words["hash_suite"], data.hashes.suite),
            (words["hash_answers"], data.hashes.answers),
            (words["hash_bundle"], data.hashes.bundle),
            *(
                (words["hash_response"].format(id=plain(one.id), part=part.upper()), sha256)
                for one in quality.references
                for part, sha256 in one.sources.items()
            ),
        ]
    )
    limits = [words[key] for key in ("limit_truth", "limit_blind", "limit_ko")]
    return blocks(f"## {words['provenance']}", known, "\n".join(f"- {limit}" for limit in limits))
