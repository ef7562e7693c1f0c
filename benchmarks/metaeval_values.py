"""Worked examples and published figures of one file, and what our statistics make of them.

``metaeval/expected_values.json`` names a case, its ratings and the values they should give. Which
of them the package can compute stands in ``SECTIONS``; the others need ``LEFT_OUT``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from judge_data import ChatReply, text_of
from reproduction_table import agrees, digits_of

from touchstone.agreement import (
    LEVELS,
    Table,
    agreement_of,
    bias,
    exact_share,
    ordinal_alpha,
    quadratic_kappa,
    score_table,
)
from touchstone.correlation import kendall_tau_b, pearson, spearman
from touchstone.errors import InputError
from touchstone.intervals import wilson

LEAST_DIGITS = 4
"""The file's values have four or six decimals, of which JSON drops the zeros at the end."""
LEFT_OUT = (
    "statistics Touchstone does not use (nominal and interval alpha, Fleiss, ICC, AC1/AC2, kappa "
    "without quadratic weights, F1, Rogan-Gladen, PPI, Bland-Altman) or ratings it does not hold"
)
_UNKNOWN_FORM = (KeyError, TypeError, ValueError, IndexError, AttributeError)
Found = tuple[str, Decimal | None, float | None]
Expected = Mapping[str, Any]


@dataclass(frozen=True)
class Check:
    """One value of the file and ours; None is undefined, and then ours has to be as well."""

    name: str
    published: Decimal | None
    ours: float | None
    digits: int

    @property
    def agrees(self) -> bool:
        """Whether ours rounds to the published value, or both are undefined."""
        if self.published is None:
            return self.ours is None
        return agrees(float(self.published), self.ours, self.digits)


@dataclass(frozen=True)
class Checks:
    """Every value that was compared, and what the file's others would need."""

    done: tuple[Check, ...]
    left_out: str = LEFT_OUT


def read_expected(path: Path) -> Expected:
    """Return the cases of the file with its decimals as printed."""
    try:
        values = json.loads(text_of(path), parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no JSON: {error}") from None
    if not isinstance(values, dict):
        raise InputError(f"{path} holds no object.")
    return values


def summary_grid(expected: Expected) -> tuple[tuple[int, ...], ...]:
    """Return the 5x5 counts of two experts on all of SummEval; raise InputError without them."""
    try:
        grid = expected["summeval_relevance_1600"]["e0_x_e1"]
        return Table(LEVELS, tuple(map(tuple, grid))).counts
    except _UNKNOWN_FORM as error:
        raise _unusable("summeval_relevance_1600", error) from None


def checks_of(expected: Expected, replies: Sequence[ChatReply]) -> Checks:
    """Return the comparison of every value we can compute; raise InputError for a missing one."""
    done: list[Check] = []
    for section, found in SECTIONS.items():
        try:
            values = list(found(expected[section]))
        except _UNKNOWN_FORM as error:
            raise _unusable(section, error) from None
        done += (_check(f"{section}.{name}", published, ours) for name, published, ours in values)
    try:
        chat = list(_chat(expected["unieval"], replies))
    except _UNKNOWN_FORM as error:
        raise _unusable("unieval", error) from None
    return Checks((*done, *(_check(f"unieval.{name}", one, two) for name, one, two in chat)))


def _unusable(section: str, error: Exception) -> InputError:
    return InputError(
        f"metaeval/expected_values.json: {section} can't be used ({type(error).__name__}).",
        hint="It is missing or not of the known form; take the file anew.",
    )


def _check(name: str, published: object, ours: float | None) -> Check:
    if published is not None and not isinstance(published, Decimal | int):
        raise _unusable(name, TypeError())
    value = None if published is None else Decimal(published)
    least = 1 if name.endswith(SIGNED_POINTS) else LEAST_DIGITS
    return Check(name, value, ours, max(least, digits_of(str(value)) if value else 0))


# --- the cases -----------------------------------------------------------------------------

SIGNED_POINTS = "mean_signed_pts"
"""Percentage points, printed with one decimal."""


def _alpha(case: Expected) -> Iterator[Found]:
    yield "ordinal", case["ordinal"], ordinal_alpha(case["rows"]).value


def _binary(case: Expected) -> Iterator[Found]:
    """Yield what two ratings give: all metrics of alpha and all weights of kappa are then one."""
    one, two = ([rating + 1 for rating in row] for row in case["rows"])
    yield "nominal", case["nominal"], ordinal_alpha([one, two]).value
    table = score_table(zip(one, two, strict=True))
    yield "cohen_kappa", case["cohen_kappa"], quadratic_kappa(table).value


def _square(counts: Sequence[int]) -> Table[int]:
    upper_left, upper_right, lower_left, lower_right = counts
    return Table((0, 1), ((upper_left, upper_right), (lower_left, lower_right)))


def _paradox(case: Expected) -> Iterator[Found]:
    balanced, skewed = _square(case["balanced_2x2"]), _square(case["skewed_2x2"])
    yield "kappa", case["kappa"], quadratic_kappa(balanced).value
    yield "kappa_skewed", case["kappa_skewed"], quadratic_kappa(skewed).value
    yield "po", case["po"], exact_share(balanced).value
    yield "po of the skewed", case["po"], exact_share(skewed).value


def _cohen(case: Expected) -> Iterator[Found]:
    for name, published in case.items():
        counts = [int(count) for count in name.removeprefix("2x2_").split("_")]
        yield name, published, quadratic_kappa(_square(counts)).value


def _seven(case: Expected) -> Iterator[Found]:
    pairs = list(zip(case["judge"], case["ref"], strict=True))
    found = agreement_of(score_table(pairs))
    yield "exact", case["exact"], found.exact.value
    yield "within1", case["within1"], found.within_1.value
    yield "mae", case["mae"], found.mae.value
    yield "bias", case["bias"], found.bias.value
    yield "kappa_quadratic", case["kappa_quadratic"], found.qwk.value
    yield "alpha_ordinal", case["alpha_ordinal"], found.alpha.value
    yield "tau_b", case["tau_b"], kendall_tau_b(pairs).value
    yield "spearman", case["spearman"], spearman(pairs).value


def _constant(case: Expected) -> Iterator[Found]:
    found = agreement_of(score_table((one, two) for one, two in case["pairs"]))
    yield "exact", case["exact"], found.exact.value
    yield "kappa_quadratic", case["kappa_quadratic"], found.qwk.value
    yield "alpha_ordinal", case["alpha_ordinal"], found.alpha.value


def _wilson(case: Expected) -> Iterator[Found]:
    for share, (low, high) in case.items():
        count, n = map(int, share.split("/"))
        bounds = wilson(count, n) or (None, None)
        yield f"{share} low", low, bounds[0]
        yield f"{share} high", high, bounds[1]


def _scipy(case: Expected) -> Iterator[Found]:
    # The documentation's lists; the file has them in the names of its values.
    tau = kendall_tau_b(zip([12, 2, 1, 12, 2], [1, 4, 7, 1, 0], strict=True))
    yield "kendalltau", case["kendalltau_[12,2,1,12,2]_[1,4,7,1,0]"], tau.value
    rho = spearman(zip([1, 2, 3, 4, 5], [5, 6, 7, 8, 7], strict=True))
    yield "spearmanr", case["spearmanr_[1..5]_[5,6,7,8,7]"], rho.value


def _summaries(case: Expected) -> Iterator[Found]:
    for counts, suffix in (("e0_x_e1", ""), ("gpt4omini_x_median", "_j")):
        found = agreement_of(Table(LEVELS, tuple(map(tuple, case[counts]))))
        yield f"qwk{suffix}", case[f"qwk{suffix}"], found.qwk.value
        yield f"exact{suffix}", case[f"exact{suffix}"], found.exact.value
        yield f"mae{suffix}", case[f"mae{suffix}"], found.mae.value
        yield f"bias{suffix}", case[f"bias{suffix}"], found.bias.value
        if suffix:
            yield "within1_j", case["within1_j"], found.within_1.value


def _pandalm(case: Expected) -> Iterator[Found]:
    for judge in ("pandalm7b", "gpt35"):
        table = Table(("tie", "1", "2"), tuple(map(tuple, case[judge])))
        yield f"{judge}.acc", case[f"{judge}_metrics"]["acc"], exact_share(table).value


def _correct_answers(case: Expected) -> Iterator[Found]:
    """Yield judges of right and wrong answers; the counts are TP, FP, FN, TN."""
    for judge, published in case.items():
        if judge == "order":
            continue
        both, false, missed, neither = published["t"]
        table = _square([neither, missed, false, both])
        points = bias(table).value
        yield f"{judge}.agree", published["agree"], exact_share(table).value
        yield f"{judge}.kappa", published["kappa"], quadratic_kappa(table).value
        yield (
            f"{judge}.{SIGNED_POINTS}",
            published[SIGNED_POINTS],
            None if points is None else 100 * points,
        )


def _chat(case: Expected, replies: Sequence[ChatReply]) -> Iterator[Found]:
    statistics = {"pearson": pearson, "spearman": spearman, "kendall": kendall_tau_b}
    for dimension, figures in case["topical_chat_turn_level_pearson_spearman_kendall"].items():
        pairs = [(reply.metric[dimension], reply.human[dimension]) for reply in replies]
        for (name, statistic), published in zip(statistics.items(), figures, strict=True):
            yield f"{dimension}.{name}", published, statistic(pairs).value


SECTIONS: Mapping[str, Callable[[Any], Iterator[Found]]] = {
    "krippendorff_3x15": _alpha,
    "krippendorff_4x12": _alpha,
    "krippendorff_binary_2x10": _binary,
    "kappa_paradox_feinstein_cicchetti": _paradox,
    "cohen_wikipedia": _cohen,
    "seven_dims": _seven,
    "constant_raters": _constant,
    "one_off_constant": _constant,
    "wilson95": _wilson,
    "scipy_docs": _scipy,
    "summeval_relevance_1600": _summaries,
    "pandalm_999": _pandalm,
    "judging_the_judges_triviaqa_3600": _correct_answers,
}
