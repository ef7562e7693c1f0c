"""The data of the K.-o. pages: the gate over all models, and one model's page with its triggers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from touchstone.gui.bundle_view import BundleView
from touchstone.gui.links import relative
from touchstone.gui.safe_html import text_html, visible
from touchstone.gui.views import Crumb, ScoreRow, rationale_html, score_rows
from touchstone.gui.wording import Meta, Wording
from touchstone.models import Dimension, KoRule, Prompt
from touchstone.scorecard import KoResult, MasterRow, Trigger

Pair = tuple[str, str]

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
    title: str
    url: str
    has_answer: bool
    flag: str | None
    reason: str


@dataclass(frozen=True)
class Check:
    """One branch of the gate: its rule, what was found, the result."""

    branch: str
    name: str
    rule: Markup
    found: Markup
    result: str
    css: str
    icon: str


def gate_page_data(view: BundleView, words: Wording) -> dict[str, Any]:
    """Return what the template of the gate's overview needs."""
    lines = score_rows(view)
    rule = view.suite.ko_rule
    assert rule is not None
    states = [line.row.ko.state for line in lines]
    title = words.say(
        "%(passed)s of %(all)s models pass the gate",
        passed=states.count("passed"),
        all=len(states),
    )
    scope = words.how_out(view.suite, rule)
    return {
        "meta": Meta(f"{title}: {words.show(view.bundle.title, view.suite)}", words.shorten(scope)),
        "view": view,
        "crumbs": words.crumbs(view, Crumb(words.say("K.-o. gate"))),
        "tabs": words.tabs(view),
        "title": title,
        "scope_text": scope,
        "lines": lines,
    }


def ko_page_data(view: BundleView, pair: Pair, page: str, words: Wording) -> dict[str, Any]:
    """Return what the template of a model's K.-o. page needs."""
    rule = view.suite.ko_rule
    assert rule is not None
    lines = score_rows(view)
    line = next(one for one in lines if one.row.pair == pair)
    ko, name = line.row.ko, words.model(line.entry)
    title = {
        "failed": words.say("%(model)s is knocked out", model=name),
        "passed": words.say("%(model)s passes the gate", model=name),
    }.get(ko.state, words.say("%(model)s cannot be assessed", model=name))
    scope = [_scope_line(view, pair, prompt_id, words) for prompt_id in ko.checked_prompts]
    report = line.row.report
    return {
        "meta": Meta(words.say("K.-o. gate: %(title)s", title=title), _description(line, words)),
        "view": view,
        "pair": pair,
        "rule": rule,
        "crumbs": words.crumbs(
            view, Crumb(name, view.links.model(pair)), Crumb(words.say("K.-o. gate"))
        ),
        "tabs": words.tabs(view),
        "title": title,
        "icon": ICONS[ko.state],
        "css": CSS[ko.state],
        "triggers": [_trigger(view, pair, t, page, words) for t in ko.triggers],
        "open_answers": [one for one in scope if one.prompt.id in ko.open_prompts],
        "no_score": ko.dimension_score is None,
        "no_score_reason": report.issue(rule.dimension) if report else None,
        "checks": _checks(view, pair, ko, rule, page, words),
        "scope": scope,
        "meaning": _meaning(line, lines, words),
        "exit_text": _exit_text(view, pair, ko, words),
        "decisions": [r for r in view.reviews if (r.model, r.variant) == pair],
        "words": words,
    }


def _exit_text(view: BundleView, pair: Pair, ko: KoResult, words: Wording) -> Markup:
    command = f"touchstone gate {view.bundle.id} --model {'/'.join(pair)}"
    return words.markup(
        "For scripts, %(command)s ends with exit code %(code)s.",
        command=Markup("<code>{}</code>").format(visible(command)),
        code=EXIT_CODES[ko.state],
    )


def _description(line: ScoreRow, words: Wording) -> str:
    ko = line.row.ko
    if ko.state == "failed":
        first = ko.triggers[0]
        at = first.prompt_id or f"{first.dimension} = {first.score}"
        return words.shorten(f"{at}: {first.reason}")
    return words.say(
        "%(num)s prompts of the fatal scope were checked.", num=len(ko.checked_prompts)
    )


def _trigger(
    view: BundleView, pair: Pair, trigger: Trigger, page: str, words: Wording
) -> TriggerView:
    if trigger.prompt_id is None:
        dimension = view.suite.dimension(trigger.dimension or "")
        assert dimension is not None

        def href(url: str) -> str:
            return relative(url, page)

        return TriggerView(
            url=view.links.model(pair, dimension.id),
            by=words.say("Judge"),
            reason=rationale_html(view, pair, dimension.id, href, words.say),
            dimension=dimension,
            score=trigger.score,
            threshold=trigger.threshold,
        )
    prompt = view.suite.prompt(trigger.prompt_id)
    assert prompt is not None
    flag = view.flag(pair, prompt.id)
    review = flag.review if flag.review is not None and flag.review.flag is not None else None
    url, quote = _telling_quote(view, pair, prompt)
    return TriggerView(
        url=url,
        by=words.say("Decision") if review else words.say("Judge"),
        reason=Markup(text_html(trigger.reason)),
        prompt=prompt,
        title=words.prompt_title(prompt, view.suite),
        quote=quote,
    )


def _telling_quote(view: BundleView, pair: Pair, prompt: Prompt) -> tuple[str, str]:
    """Return where the trigger is read in place, and the words that show it best.

    The K.-o. dimension's own quote comes first, then any other found quote, then a quote of the
    verdict that stands in the answer.
    """
    rule = view.suite.ko_rule
    found = [citation for citation in view.citing(pair, prompt.id) if citation.is_found]
    found.sort(key=lambda citation: rule is None or citation.dimension != rule.dimension)
    if found and found[0].item is not None:
        url = view.citation_url(found[0]) or view.links.answer(pair, prompt.id)
        return url, found[0].item.quote
    answer, verdict = view.answer(pair, prompt.id), view.flag(pair, prompt.id).verdict
    quotes = verdict.quotes if verdict else ()
    standing = [quote for quote in quotes if answer is not None and quote in answer.text]
    return view.links.answer(pair, prompt.id), standing[0] if standing else ""


def _scope_line(view: BundleView, pair: Pair, prompt_id: str, words: Wording) -> ScopeLine:
    prompt = view.suite.prompt(prompt_id)
    assert prompt is not None
    flag = view.flag(pair, prompt_id)
    has_answer = view.has_answer(pair, prompt_id)
    no_verdict = words.say("no verdict") if has_answer else words.say("no answer")
    return ScopeLine(
        prompt=prompt,
        title=words.prompt_title(prompt, view.suite),
        url=view.links.answer(pair, prompt_id),
        has_answer=has_answer,
        flag=flag.flag,
        reason=(flag.verdict.reason if flag.verdict else None) or no_verdict,
    )


def _checks(
    view: BundleView, pair: Pair, ko: KoResult, rule: KoRule, page: str, words: Wording
) -> list[Check]:
    red = sum(trigger.branch == "red_flag" for trigger in ko.triggers)
    return [_check_flags(ko, red, words), _check_dimension(view, pair, ko, rule, page, words)]


def _result(fired: bool, open_: bool, words: Wording) -> tuple[str, str, str]:
    if fired:
        return words.say("fired"), "failed", "ko"
    if open_:
        return words.say("cannot be checked"), "na", "na"
    return words.say("not fired"), "passed", "ok"


def _check_flags(ko: KoResult, red: int, words: Wording) -> Check:
    rule = words.markup("No answer in the fatal scope is flagged red")
    if not ko.checked_prompts:
        found = words.markup("the fatal scope is empty")
        result, css, icon = words.say("not in use"), "none", "none"
    elif not ko.flags_exist:
        found = words.markup("the bundle holds no verdicts at all")
        result, css, icon = words.say("not in use"), "none", "none"
    else:
        found = words.markup(
            "%(red)s of %(all)s answers are flagged red", red=red, all=len(ko.checked_prompts)
        )
        if ko.open_prompts:
            found += words.markup(", %(num)s without a verdict", num=len(ko.open_prompts))
        result, css, icon = _result(red > 0, bool(ko.open_prompts), words)
    return Check("a", words.say("Red flag"), rule, found, result, css, icon)


def _check_dimension(
    view: BundleView, pair: Pair, ko: KoResult, rule: KoRule, page: str, words: Wording
) -> Check:
    dimension = view.suite.dimension(rule.dimension)
    name = words.show(dimension.name, view.suite) if dimension else ""
    text = words.markup(
        "%(id)s %(name)s is above the threshold of %(n)s",
        id=visible(rule.dimension),
        name=name,
        n=rule.threshold,
    )
    url = relative(view.links.model(pair, rule.dimension), page)
    score = "–" if ko.dimension_score is None else ko.dimension_score
    found = Markup('<a href="{}">{} = {}</a>').format(url, visible(rule.dimension), score)
    fired = any(trigger.branch == "dimension" for trigger in ko.triggers)
    result, css, icon = _result(fired, ko.dimension_score is None, words)
    return Check("b", words.say("Dimension"), text, found, result, css, icon)


def _meaning(line: ScoreRow, lines: list[ScoreRow], words: Wording) -> str:
    row = line.row
    if row.report is None:
        return words.say("The model has no report yet, so nothing can be said about its gate.")
    start = words.say(
        "The gate is read before the total. The model has %(points)s of %(most)s points (%(pct)s).",
        points=words.locale.number(row.total.weighted),
        most=words.locale.number(row.total.max_weighted),
        pct=words.locale.percent(row.total.quality_pct),
    )
    return start + " " + _consequence(row, lines, words)


def _consequence(row: MasterRow, lines: list[ScoreRow], words: Wording) -> str:
    if row.ko.state == "passed":
        return words.say("It keeps its rank.")
    if row.ko.state == "not_assessable":
        return words.say("It is listed without a rank until what is missing is there.")
    best = max((o.row.total.quality_pct for o in lines if o.row.rank is not None), default=None)
    if best is not None and row.total.quality_pct > best:
        return words.say(
            "It would lead the table, and is listed without a rank all the same; every page about "
            "it says so."
        )
    return words.say("It is listed without a rank, and every page about it says so.")
