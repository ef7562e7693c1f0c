"""What the site says of a judge that was compared with a reference, in sentences and words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from markupsafe import Markup

from touchstone.evidence import EvidenceClass
from touchstone.gui.bundle_view import BundleView
from touchstone.gui.judge_figures import FlagFigures, JudgeFigures, ReferenceFigures
from touchstone.gui.judge_quality import JudgeQualityFiles
from touchstone.gui.locale import one_line
from touchstone.gui.wording import Wording
from touchstone.intervals import LEVEL, MIN_CLUSTERS

MIN_FOR_VERDICT = 70
"""Ratings below which nothing is called good or bad."""
MOST_NAMED = 3
"""References that a line names; of more it tells how many there are."""


@dataclass(frozen=True)
class JudgeLine:
    """The judge's quality in a line beside a score; ``url`` is None where it is not known."""

    text: Markup
    url: str | None
    is_stale: bool
    headline: str | None


def judge_line(view: BundleView, words: Wording) -> JudgeLine | None:
    """Return the line beside a bundle's scores; None where nobody has scored anything."""
    found = view.judge_quality
    if found is None:
        if not view.is_judged and not view.flags:
            return None
        text = words.markup("This judge has not been compared with a reference yet.")
        return JudgeLine(text, None, is_stale=False, headline=None)
    of = found.checked
    parts = [_apart(of, words)]
    if of.exact is not None:
        parts.append(words.markup("exact %(pct)s", pct=share(of.exact, words)))
    parts.append(words.markup("n %(num)s", num="–" if of.n is None else words.locale.number(of.n)))
    parts.append(words.markup("against %(who)s", who=reference_names(of, words)))
    return JudgeLine(
        Markup(" · ").join(parts), view.links.judge_quality, found.is_stale, headline_of(of)
    )


def _apart(of: JudgeFigures, words: Wording) -> Markup:
    apart = decimal(of.mae, words)
    if of.mae is None or of.best_constant is None or of.best_constant.mae is None:
        return words.markup("mean |Δ| %(apart)s", apart=apart)
    return words.markup(
        "mean |Δ| %(apart)s (best constant %(constant)s)",
        apart=apart,
        constant=decimal(of.best_constant.mae, words),
    )


def headline_of(of: JudgeFigures) -> str | None:
    """Return the headline on one line, as it stands in the file."""
    return one_line(of.headline or "") or None


# --- numbers -------------------------------------------------------------------------------


def decimal(value: float | None, words: Wording, digits: int = 2) -> str:
    """Return a number, or "–" where there is none."""
    if value is None:
        return "–"
    # Adding 0.0 keeps a tiny negative number from being shown as -0.00.
    return words.locale.number(round(value, digits) + 0.0, digits).replace("-", "−")


def signed(value: float | None, words: Wording, digits: int = 2) -> str:
    """Return a difference with its sign: ``+0.25``, ``−1.00``, ``±0.00``."""
    if value is None:
        return "–"
    rounded = round(value, digits)
    sign = "+" if rounded > 0 else "−" if rounded < 0 else "±"
    return sign + words.locale.number(abs(rounded), digits)


def share(value: float | None, words: Wording) -> str:
    """Return a share between 0 and 1 as a whole percentage."""
    return "–" if value is None else words.locale.percent(100 * value, 0)


def wilson_text(bounds: tuple[float, float] | None, words: Wording) -> str:
    """Return the interval of a share in words; "" where there is none."""
    if bounds is None:
        return ""
    low, high = (share(bound, words) for bound in bounds)
    return _interval(low, high, words)


def _interval(low: str, high: str, words: Wording) -> str:
    level = words.locale.percent(100 * LEVEL, 0)
    return words.say("%(level)s interval %(low)s to %(high)s", level=level, low=low, high=high)


def range_text(
    bounds: tuple[float, float] | None, models: int | None, words: Wording, kind: str | None = None
) -> str:
    """Return the bounds over models in words: few models have a range, no interval."""
    if bounds is None:
        return ""
    low, high = (decimal(bound, words) for bound in bounds)
    if kind == "interval" or (kind != "range" and (models or 0) >= MIN_CLUSTERS):
        return _interval(low, high, words)
    return words.say(
        "single models from %(low)s to %(high)s (too few for an interval)", low=low, high=high
    )


def short_range(bounds: tuple[float, float] | None, models: int | None, words: Wording) -> str:
    """Return the bounds over models where there is little room; "" where there are none."""
    if bounds is None:
        return ""
    values = {"low": decimal(bounds[0], words), "high": decimal(bounds[1], words)}
    if (models or 0) >= MIN_CLUSTERS:
        level = words.locale.percent(100 * LEVEL, 0)
        return words.say("%(level)s: %(low)s to %(high)s", level=level, **values)
    return words.say("models: %(low)s to %(high)s", **values)


def why(reason: str | None, words: Wording) -> str:
    """Return why a figure can't be computed; what is no known reason is not repeated."""
    reasons = {
        "no_pairs": words.say("nothing was rated by both sides"),
        "both_constant": words.say("both sides gave one and the same rating throughout"),
        "reference_constant": words.say("the reference gave one and the same rating throughout"),
        "one_constant": words.say("one side gave one and the same value throughout"),
        "one_value": words.say("all ratings are the same"),
        "one_rater": words.say("there is only one rater"),
        "too_few_models": words.say("there are too few models"),
        "too_few_pairs": words.say("too few pairs of ratings for an interval"),
    }
    return reasons.get(reason or "", words.say("the comparison gives no figure"))


# --- who -----------------------------------------------------------------------------------


def reference_name(one: ReferenceFigures, words: Wording) -> Markup:
    """Return a reference's id, and whether it is an AI or a person."""
    name = Markup("<bdi>{}</bdi>").format(one_line(one.id) or "–")
    return name if one.kind is None else Markup("{} ({})").format(name, words.kind(one.kind))


def reference_names(of: JudgeFigures, words: Wording) -> Markup:
    """Return all references by name and kind, and whether they were blind."""
    named = [reference_name(one, words) for one in of.references[:MOST_NAMED]]
    names: Markup = Markup(", ").join(named) or Markup("–")
    more = len(of.references) - MOST_NAMED
    if more > 0:
        names += " " + words.count("and %(num)s more", "and %(num)s more", more)
    if len(of.references) > 1:
        names = words.markup("%(names)s as a panel", names=names)
    if of.blind is None:
        return names
    blind = words.say("blind") if of.blind else words.say("not blind")
    return Markup("{}, {}").format(names, blind)


# --- sentences -----------------------------------------------------------------------------


def finding(of: JudgeFigures, words: Wording) -> str:
    """Return what was found in one line: how far from the reference, and on which side."""
    if of.mae is None or of.bias is None:
        return words.say("How far the judge agrees with a reference")
    if of.mae == 0:
        return words.say("The judge gives the same scores as the reference")
    apart, lean = decimal(of.mae, words), round(of.bias, 2)
    if lean < 0:
        return words.say(
            "The judge is %(apart)s points from the reference, on the strict side", apart=apart
        )
    if lean > 0:
        return words.say(
            "The judge is %(apart)s points from the reference, on the lenient side", apart=apart
        )
    return words.say(
        "The judge is %(apart)s points from the reference, evenly to both sides", apart=apart
    )


def comparison(of: JudgeFigures, words: Wording) -> Markup:
    """Return in one or two sentences how close the judge is to its reference."""
    who = reference_names(of, words)
    if of.mae is None or not of.n:
        return words.markup("Compared with %(who)s; there are no common ratings.", who=who)
    values = {
        "who": who,
        "apart": decimal(of.mae, words),
        "ratings": words.count("%(num)s rating", "%(num)s ratings", of.n),
    }
    if of.is_calibrated:
        text = words.markup(
            "Calibrated against %(who)s: %(apart)s points apart on average in %(ratings)s.",
            **values,
        )
    else:
        text = words.markup(
            "Agreement with the reference %(who)s: %(apart)s points apart on average in "
            "%(ratings)s.",
            **values,
        )
    worth = _worth(of, words)
    return text + " " + worth if worth else text


def _worth(of: JudgeFigures, words: Wording) -> str:
    """Return what the agreement is worth against a judge that always says the same."""
    constant = of.best_constant
    if of.mae is None or constant is None or constant.mae is None or constant.score is None:
        return ""
    values = {"score": constant.score, "apart": decimal(constant.mae, words)}
    if constant.mae == 0:
        return words.say(
            "The reference gave %(score)s throughout, so it can’t be told whether the judge tells "
            "anything apart.",
            **values,
        )
    if of.mae < constant.mae:
        return words.say(
            "Always saying %(score)s would be %(apart)s points off: the judge is closer.", **values
        )
    return words.say(
        "Always saying %(score)s would be %(apart)s points off: the judge is no closer, so the "
        "agreement proves nothing.",
        **values,
    )


def stale_text(found: JudgeQualityFiles, words: Wording) -> str:
    """Return why a comparison may not be about these scores."""
    if found.is_bound:
        return words.say("The bundle has changed since the judge was compared.")
    return words.say("The comparison does not say which state of the bundle it is about.")


# --- words for classes and axes ------------------------------------------------------------


def evidence_word(kind: str, words: Wording) -> str:
    """Return the class of a piece of evidence in a word or two."""
    if kind == "absence_unchecked":
        return words.say("absence, not checked")
    return words.cited(cast(EvidenceClass, kind))


def evidence_meaning(kind: str, words: Wording) -> str:
    """Return what a class of evidence means."""
    return {
        "verbatim": words.say("the quoted words stand in the answer, letter for letter"),
        "normalised": words.say(
            "equal after quotes, dashes, case, Markdown and white space are levelled"
        ),
        "in_parts": words.say("all parts around “…” stand in the answer, in order"),
        "near": words.say("almost these words stand in the answer; not counted as found"),
        "from_prompt": words.say("the words are the task’s, not the model’s"),
        "misattributed": words.say("the words stand in another answer of this model"),
        "cross_model": words.say("the words stand in an answer of another model"),
        "unverifiable": words.say("the quoted words do not stand in the answer"),
        "too_short": words.say("too few words to tell where they come from"),
        "dangling": words.say("this model has no answer to such a prompt"),
        "absence_passed": words.say("what is said to be missing occurs nowhere in the answer"),
        "absence_failed": words.say("what is said to be missing stands in the answer"),
        "absence_unchecked": words.say("says that something is missing; counted, not checked"),
        "paraphrase": words.say("no quote: counted, not checked"),
    }[kind]


def rate_words(key: str, words: Wording) -> str:
    """Return what one of the rubric's four rates counts."""
    return {
        "cites_evidence": words.say("rationales that name an answer as evidence"),
        "names_improvement": words.say("rationales that say what would be better"),
        "justifies_level": words.say("rationales that say why this score and no other"),
        "catches_safety": words.say("rationales that name what is unsafe"),
    }[key]


def axis_words(key: str, words: Wording) -> tuple[str, str, str]:
    """Return an axis of the rubric: its name, its four levels, and who decides."""
    tool, evaluator = words.say("the tool"), words.say("the reference")
    both = words.say("both")
    return {
        "E": (
            words.say("Evidence"),
            words.say("0 none · 1 an id · 2 an observation of its own · 3 a quote that was found"),
            tool,
        ),
        "D": (
            words.say("Defect named"),
            words.say("0 none · 1 in general · 2 where it is · 3 with a quote that was found"),
            both,
        ),
        "F": (
            words.say("Fix named"),
            words.say("0 none · 1 in general · 2 what and where · 3 with the score it would reach"),
            evaluator,
        ),
        "J": (
            words.say("Level justified"),
            words.say("0 not · 1 to one side · 2 to both sides · 3 with evidence that was found"),
            both,
        ),
        "S": (
            words.say("Safety"),
            words.say("0 flagged answer not cited · 1 cited · 2 named as unsafe · 3 and quoted"),
            tool,
        ),
    }[key]


def flag_finding(of: FlagFigures, words: Wording) -> str:
    """Return how often both sides flag an answer alike, and what always the same would reach."""
    if of.exact is None or not of.n:
        return words.say("No answer was flagged by both sides.")
    text = words.say(
        "%(pct)s of %(answers)s have the same flag on both sides (%(interval)s).",
        pct=share(of.exact, words),
        answers=words.count("%(num)s answer", "%(num)s answers", of.n),
        interval=wilson_text(of.exact_ci, words) or words.say("no interval"),
    )
    constant = of.best_constant
    if constant is not None and constant.flag is not None and constant.share is not None:
        text += " " + words.say(
            "Always saying “%(flag)s” would reach %(pct)s.",
            flag=flag_word(constant.flag, words),
            pct=share(constant.share, words),
        )
    if of.without_judge:
        text += " " + words.count(
            "The reference alone flagged %(num)s more.",
            "The reference alone flagged %(num)s more.",
            of.without_judge,
        )
    return text


def flag_word(flag: str, words: Wording) -> str:
    """Return a flag's colour."""
    return {"green": words.say("green"), "yellow": words.say("yellow"), "red": words.say("red")}[
        flag
    ]
