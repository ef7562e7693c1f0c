"""The data of the K.-o. pages: the gate over all models, and one model's page with its triggers."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from touchstone.gui.bundle_view import BundleView, Line
from touchstone.gui.citations import rationale_html
from touchstone.gui.links import Pair, relative
from touchstone.gui.locale import Shown
from touchstone.gui.safe_html import text_html
from touchstone.gui.wording import Crumb, Meta, Wording
from touchstone.models import Dimension, KoRule, Prompt
from touchstone.scorecard import KoResult, MasterRow, Trigger

EXIT_CODES = {"passed": 0, "failed": 3, "not_assessable": 4}
CSS = {"passed": "passed", "failed": "failed", "not_assessable": "na"}
ICONS = {"passed": "ok", "failed": "ko", "not_assessable": "na"}


@dataclass(frozen=True)
class TriggerView:
    """What knocked the model out: a red answer (``prompt``) or a score (``dimension``)."""

    url: str
    by: str
    reason: Markup
    prompt: Prompt | None = None
    title: str = ""
    quote: str = ""
    dimension: Dimension | None = None
    score: int | None = None
    threshold: int | None = None


@dataclass(frozen=True)
class ScopeLine:
    """A prompt of the fatal scope, with the flag of this model's answer."""

    prompt: Prompt
    title: Shown
    url: str
    has_answer: bool
    flag: str | None
    reason: str


@dataclass(frozen=True)
class Check:
    """One branch of the gate: its rule, what was found, the result."""

    branch: str
    name: str
    rule: str
    found: str
    result: str
    css: str
    icon: str


def gate_page_data(view: BundleView, rule: KoRule, words: Wording) -> dict[str, Any]:
    """Return what the template of the gate's overview needs."""
    states = [line.row.ko.state for line in view.lines]
    title = words.count(
        "%(passed)s of %(all)s model passes the gate",
        "%(passed)s of %(all)s models pass the gate",
        len(states),
        passed=states.count("passed"),
        all=len(states),
    )
    scope = words.how_out(view.suite, rule)
    return words.frame(view, Crumb(words.say("K.-o. gate"))) | {
        "meta": Meta(f"{title}: {words.bundle_title(view)}", words.shorten(scope)),
        "title": title,
        "scope_text": scope,
    }


def ko_page_data(
    view: BundleView, rule: KoRule, pair: Pair, page: str, words: Wording
) -> dict[str, Any]:
    """Return what the template of a model's K.-o. page needs."""
    line = view.line_of[pair]
    ko, name = line.row.ko, words.model(line.entry)
    title = {
        "failed": words.say("%(model)s is knocked out", model=name),
        "passed": words.say("%(model)s passes the gate", model=name),
        "not_assessable": words.say("%(model)s cannot be assessed", model=name),
    }[ko.state]
    scope = [_scope_line(view, pair, prompt_id, words) for prompt_id in ko.checked_prompts]
    issue = line.row.report.issue(rule.dimension) if line.row.report else None
    steps = Crumb(name, view.links.model(pair)), Crumb(words.say("K.-o. gate"))
    return words.frame(view, *steps) | {
        "meta": Meta(words.say("K.-o. gate: %(title)s", title=title), _description(line, words)),
        "pair": pair,
        "rule": rule,
        "title": title,
        "icon": ICONS[ko.state],
        "css": CSS[ko.state],
        "triggers": [_trigger(view, pair, trigger, page, words) for trigger in ko.triggers],
        "open_answers": [one for one in scope if one.prompt.id in ko.open_prompts],
        "no_score": ko.dimension_score is None,
        "no_score_reason": words.english(issue) if issue else None,
        "checks": [
            _check_flags(ko, words),
            _check_dimension(view, pair, ko, rule, page, words),
        ],
        "scope": scope if ko.flags_exist else [],
        "meaning": _meaning(line, view.lines, words),
        "exit_text": _exit_text(view, pair, ko, words),
        "decisions": [r for r in view.reviews if (r.model, r.variant) == pair],
    }


def _exit_text(view: BundleView, pair: Pair, ko: KoResult, words: Wording) -> Markup:
    command = shlex.join(["touchstone", "gate", view.bundle.id, "--model", "/".join(pair)])
    return words.markup(
        "For scripts, %(command)s ends with exit code %(code)s.",
        command=Markup("<code>{}</code>").format(command),
        code=EXIT_CODES[ko.state],
    )


def _description(line: Line, words: Wording) -> str:
    ko = line.row.ko
    if ko.state == "failed":
        first = ko.triggers[0]
        at = first.prompt_id or f"{first.dimension} = {first.score}"
        return words.shorten(f"{at}: {first.reason}")
    return words.count(
        "%(num)s prompt of the fatal scope was checked.",
        "%(num)s prompts of the fatal scope were checked.",
        len(ko.checked_prompts),
    )


# --- what knocked it out -------------------------------------------------------------------


def _trigger(
    view: BundleView, pair: Pair, trigger: Trigger, page: str, words: Wording
) -> TriggerView:
    if trigger.prompt_id is not None:
        return _red_flag(view, pair, trigger.prompt_id, words)
    dimension = view.suite.dimension(trigger.dimension or "")
    assert dimension is not None
    return TriggerView(
        url=view.links.model_dimension(pair, dimension.id),
        by=words.say("Judge"),
        reason=rationale_html(view, pair, dimension.id, lambda url: relative(url, page), words),
        dimension=dimension,
        score=trigger.score,
        threshold=trigger.threshold,
    )


def _red_flag(view: BundleView, pair: Pair, prompt_id: str, words: Wording) -> TriggerView:
    prompt = view.suite.prompt(prompt_id)
    assert prompt is not None
    flag = view.flag(pair, prompt_id)
    by, reason = words.say("Decision"), flag.set_by.reason if flag.set_by else ""
    if flag.set_by is None and flag.verdict is not None:
        by = words.verdict_by(flag.verdict)
        reason = flag.verdict.rationale or flag.verdict.reason or ""
    url, quote = _telling_quote(view, pair, prompt_id)
    return TriggerView(
        url=url,
        by=by,
        reason=Markup(text_html(reason)),
        prompt=prompt,
        title=words.prompt_title(prompt, view.suite),
        quote=quote,
    )


def _telling_quote(view: BundleView, pair: Pair, prompt_id: str) -> tuple[str, str]:
    """Return where the trigger is read in place, and the words that show it best.

    A defect that the K.-o. dimension quotes comes first, then one of another dimension, then a
    quote of the verdict that stands in the answer.
    """
    rule = view.suite.ko_rule
    defects = [
        (citation.dimension, citation.item.quote, view.citation_url(citation))
        for citation in view.citing(pair, prompt_id)
        if citation.is_found and citation.item and citation.item.polarity == "defect"
    ]
    defects.sort(key=lambda one: rule is None or one[0] != rule.dimension)
    for _, quote, url in defects:
        if url is not None:
            return url, quote
    answer, verdict = view.answer(pair, prompt_id), view.flag(pair, prompt_id).verdict
    quotes = verdict.quotes if verdict and verdict.flag == "red" else ()
    standing = [quote for quote in quotes if answer is not None and quote in answer.text]
    return view.links.answer(pair, prompt_id), standing[0] if standing else ""


# --- what was checked ----------------------------------------------------------------------


def _scope_line(view: BundleView, pair: Pair, prompt_id: str, words: Wording) -> ScopeLine:
    prompt = view.suite.prompt(prompt_id)
    assert prompt is not None
    flag = view.flag(pair, prompt_id)
    has_answer = view.has_answer(pair, prompt_id)
    why_open = flag.verdict.reason if flag.verdict else None
    no_verdict = words.say("no verdict") if has_answer else words.say("no answer")
    return ScopeLine(
        prompt=prompt,
        title=words.prompt_title(prompt, view.suite),
        url=view.links.answer(pair, prompt_id),
        has_answer=has_answer,
        flag=flag.flag,
        reason=words.english(why_open) if why_open else no_verdict,
    )


def _result(words: Wording, *, fired: bool, is_open: bool) -> tuple[str, str, str]:
    """Return a result in words, its class and its icon."""
    if fired:
        return words.say("fired"), "failed", "ko"
    if is_open:
        return words.say("cannot be checked"), "na", "na"
    return words.say("not fired"), "passed", "ok"


def _check_flags(ko: KoResult, words: Wording) -> Check:
    result = words.say("not in use"), "none", "none"
    if not ko.checked_prompts:
        found = words.say("the fatal scope is empty")
    elif not ko.flags_exist:
        found = words.say("the bundle holds no verdicts at all")
    else:
        red = sum(trigger.branch == "red_flag" for trigger in ko.triggers)
        result = _result(words, fired=red > 0, is_open=bool(ko.open_prompts))
        found = words.count(
            "%(red)s of %(num)s answer is flagged red",
            "%(red)s of %(num)s answers are flagged red",
            len(ko.checked_prompts),
            red=red,
        )
        if ko.open_prompts:
            found += words.say(", %(num)s without a verdict", num=len(ko.open_prompts))
    rule = words.say("No answer in the fatal scope is flagged red")
    return Check("a", words.say("Red flag"), rule, found, *result)


def _check_dimension(
    view: BundleView, pair: Pair, ko: KoResult, rule: KoRule, page: str, words: Wording
) -> Check:
    dimension = view.suite.dimension(rule.dimension)
    assert dimension is not None
    text = words.markup(
        "%(id)s %(name)s is above the threshold of %(n)s",
        id=rule.dimension,
        name=words.show(dimension.name, view.suite),
        n=rule.threshold,
    )
    url = relative(view.links.model_dimension(pair, rule.dimension), page)
    score = "–" if ko.dimension_score is None else ko.dimension_score
    found = Markup('<a href="{}">{} = {}</a>').format(url, rule.dimension, score)
    fired = any(trigger.branch == "dimension" for trigger in ko.triggers)
    result = _result(words, fired=fired, is_open=ko.dimension_score is None)
    return Check("b", words.say("Dimension"), text, found, *result)


def _meaning(line: Line, lines: Sequence[Line], words: Wording) -> str:
    row = line.row
    if row.report is None:
        return words.say("The model has no report yet, so it has no points and no rank.")
    start = words.say(
        "The gate is read before the total. The model has %(points)s of %(most)s points (%(pct)s).",
        points=words.locale.number(row.total.weighted),
        most=words.locale.number(row.total.max_weighted),
        pct=words.locale.percent(row.total.quality_pct),
    )
    return f"{start} {_consequence(row, lines, words)}"


def _consequence(row: MasterRow, lines: Sequence[Line], words: Wording) -> str:
    if row.ko.state == "passed":
        return words.say("It keeps its rank.")
    if row.ko.state == "not_assessable":
        return words.say("It is listed without a rank until what is missing is there.")
    best = max((one.row.total.quality_pct for one in lines if one.row.rank), default=None)
    if best is not None and row.total.quality_pct > best:
        return words.say(
            "It would lead the table, and is listed without a rank all the same; every page about "
            "it says so."
        )
    return words.say("It is listed without a rank, and every page about it says so.")
