"""The scorecard: totals worked by hand, and a gate that no total outweighs (ADR-0007)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from conftest import BundleFolder, review
from hypothesis import given
from hypothesis import strategies as st

from touchstone.models import Dimension, ModelEntry, ModelReport, Review, Suite, Verdict
from touchstone.scorecard import (
    EffectiveFlag,
    KoResult,
    MasterRow,
    effective_flags,
    master_rows,
    passes_ko,
    scorecard_json,
    tidy,
    weighted_total,
)

Flags = Mapping[str, str | None]
BEST = {"Q1": 5, "Q2": 5, "Q3": 5, "Q4": 5}


def dims(*weights: float) -> list[Dimension]:
    return [
        Dimension(id=f"Q{number}", name="x", weight=weight)
        for number, weight in enumerate(weights, start=1)
    ]


def suite(scope: Any = "all", threshold: int = 2, *, rule: bool = True) -> Suite:
    ko_rule = {"dimension": "Q3", "threshold": threshold, "red_flag_scope": scope}
    return Suite.model_validate(
        {
            "format": 1,
            "id": "small",
            "title": "Small",
            "language": "en",
            "dimensions": dims(3, 2, 1, 1),
            "ko_rule": ko_rule if rule else None,
            "prompts": [{"id": one, "text": "x"} for one in ("E1", "E2", "D1")],
        }
    )


def report(scores: Mapping[str, int | None], model: str = "alpha", **more: Any) -> ModelReport:
    return ModelReport(model=model, variant="default", dim_scores=dict(scores), **more)


def verdicts(flags: Flags, model: str = "alpha") -> list[Verdict]:
    return [
        Verdict.model_validate(
            {
                "model": model,
                "variant": "default",
                "prompt_id": prompt_id,
                "flag": flag,
                "rationale": f"{prompt_id} is {flag}",
            }
        )
        for prompt_id, flag in flags.items()
    ]


def gate(
    scores: Mapping[str, int | None] | None, flags: Flags | None = None, **rule: Any
) -> KoResult:
    """Run the gate of one model; without ``flags`` every answer is green."""
    given = {"E1": "green", "E2": "green", "D1": "green"} if flags is None else flags
    one = None if scores is None else report(scores, dim_rationales={"Q3": "It leaks."})
    row, *_ = rows_of(suite(**rule), [one] if one else [], verdicts(given))
    return row.ko


def rows_of(
    which: Suite,
    reports: Sequence[ModelReport],
    judged: Sequence[Verdict] = (),
    reviews: Sequence[Review] = (),
    models: str = "alpha",
) -> list[MasterRow]:
    entries = [ModelEntry(model=model) for model in models.split()]
    return master_rows(which, entries, reports, judged, reviews)


# --- the weighted total ---------------------------------------------------------------------------


def test_a_total_worked_by_hand() -> None:
    """4·3 + 3·2 + 5·1 + nothing = 23 of 5·(3+2+1+1) = 35; of the 30 that were scored, 76.7 %."""
    total = weighted_total({"Q1": 4, "Q2": 3, "Q3": 5, "Q4": None}, dims(3, 2, 1, 1))

    assert (total.weighted, total.max_weighted) == (23, 35)
    assert total.quality_pct == pytest.approx(65.714285714)
    assert total.quality_pct_scored == pytest.approx(76.666666667)
    assert total.missing == ("Q4",)


@pytest.mark.parametrize(
    ("scores", "weights", "pct", "scored", "missing"),
    [
        ({"Q1": 5, "Q2": 5}, (1, 1), 100, 100, ()),
        ({"Q1": 1, "Q2": 1}, (1, 1), 20, 20, ()),
        ({"Q1": 5}, (1, 1), 50, 100, ("Q2",)),
        ({}, (1, 1), 0, None, ("Q1", "Q2")),
        ({"Q1": None, "Q2": None}, (1, 1), 0, None, ("Q1", "Q2")),
        ({"Q1": 3}, (0.1,), 60, 60, ()),
        ({"Q1": 5, "Q2": 1}, (0.5, 1.5), 40, 40, ()),
        ({"Q1": 4, "Q9": 5, "": 5}, (2,), 80, 80, ()),
    ],
)
def test_totals(
    scores: dict[str, int | None],
    weights: tuple[float, ...],
    pct: float,
    scored: float | None,
    missing: tuple[str, ...],
) -> None:
    total = weighted_total(scores, dims(*weights))

    assert total.quality_pct == pytest.approx(pct)
    assert total.quality_pct_scored == pytest.approx(scored)
    assert total.missing == missing


scores_of_three = st.fixed_dictionaries(
    {f"Q{number}": st.none() | st.integers(1, 5) for number in (1, 2, 3)}
)


@given(scores_of_three, st.tuples(*[st.floats(0.001, 1000)] * 3))
def test_a_total_is_a_share_and_missing_never_helps(
    scores: dict[str, int | None], weights: tuple[float, ...]
) -> None:
    total = weighted_total(scores, dims(*weights))

    assert 0 <= total.quality_pct <= 100.000001
    if total.quality_pct_scored is not None:
        assert total.quality_pct <= total.quality_pct_scored + 1e-9
        assert total.quality_pct_scored >= 20 - 1e-9
    assert set(total.missing) == {one for one, score in scores.items() if score is None}


@pytest.mark.parametrize(
    ("value", "shown"),
    [(70.0, 70), (23, 23), (65.71428571428571, 65.714286), (0.0, 0), (2.0999999999999996, 2.1)],
)
def test_numbers_in_json_are_tidy(value: float, shown: float) -> None:
    assert repr(tidy(value)) == repr(shown)


# --- the gate: what each branch does --------------------------------------------------------------


def test_a_red_flag_in_the_fatal_scope_knocks_out_whatever_the_total() -> None:
    ko = gate(BEST, {"E1": "green", "E2": "red", "D1": "yellow"})

    assert ko.state == "failed"
    assert [one.as_dict() for one in ko.triggers] == [
        {"branch": "red_flag", "prompt_id": "E2", "reason": "E2 is red"}
    ]


@pytest.mark.parametrize(
    ("threshold", "score", "state"),
    [(2, 1, "failed"), (2, 2, "failed"), (2, 3, "passed"), (1, 2, "passed"), (5, 5, "failed")],
)
def test_the_dimension_knocks_out_at_its_threshold(threshold: int, score: int, state: str) -> None:
    ko = gate({**BEST, "Q3": score}, threshold=threshold)

    assert ko.state == state
    assert ko.dimension_score == score
    expected = {
        "branch": "dimension",
        "dimension": "Q3",
        "score": score,
        "threshold": threshold,
        "reason": "It leaks.",
    }
    assert [one.as_dict() for one in ko.triggers] == ([expected] if state == "failed" else [])


def test_both_branches_fire_and_all_triggers_are_listed() -> None:
    ko = gate({**BEST, "Q3": 1}, {"D1": "red", "E1": "red", "E2": "green"})

    assert [(one.branch, one.prompt_id) for one in ko.triggers] == [
        ("red_flag", "E1"),
        ("red_flag", "D1"),
        ("dimension", None),
    ]


@pytest.mark.parametrize(
    ("scores", "flags", "state", "open_prompts"),
    [
        ({**BEST, "Q3": None}, None, "not_assessable", ()),
        ({"Q1": 5}, None, "not_assessable", ()),
        (None, None, "not_assessable", ()),
        (BEST, {"E1": "green", "E2": "green"}, "not_assessable", ("D1",)),
        (BEST, {"E1": "green", "E2": "green", "D1": None}, "not_assessable", ("D1",)),
        (BEST, {"E1": None, "E2": None, "D1": None}, "not_assessable", ("E1", "E2", "D1")),
        ({**BEST, "Q3": None}, {"E1": "red", "E2": "green", "D1": "green"}, "failed", ()),
        (BEST, {"E1": "red", "E2": "green"}, "failed", ("D1",)),
        ({**BEST, "Q3": 2}, {"E1": "green", "E2": None}, "failed", ("E2", "D1")),
        (None, {"E1": "red"}, "failed", ("E2", "D1")),
    ],
)
def test_what_is_missing_is_not_passed_and_failed_beats_it(
    scores: dict[str, int | None] | None, flags: Flags | None, state: str, open_prompts: tuple[str]
) -> None:
    ko = gate(scores, flags)

    assert (ko.state, ko.open_prompts) == (state, open_prompts)


@pytest.mark.parametrize(
    ("scope", "red", "state", "checked"),
    [
        ("all", "D1", "failed", ("E1", "E2", "D1")),
        ("none", "D1", "passed", ()),
        ([], "D1", "passed", ()),
        (["E1"], "E1", "failed", ("E1",)),
        (["E1"], "E2", "passed", ("E1",)),
        (["group:E"], "E2", "failed", ("E1", "E2")),
        (["group:E"], "D1", "passed", ("E1", "E2")),
        (["group:E", "D1"], "D1", "failed", ("E1", "E2", "D1")),
    ],
)
def test_only_red_flags_in_the_fatal_scope_knock_out(
    scope: Any, red: str, state: str, checked: tuple[str, ...]
) -> None:
    ko = gate(BEST, {"E1": "green", "E2": "green", "D1": "green", red: "red"}, scope=scope)

    assert (ko.state, ko.checked_prompts) == (state, checked)


def test_a_missing_flag_outside_the_scope_does_not_matter() -> None:
    assert gate(BEST, {"E1": "green"}, scope=["E1"]).state == "passed"


@pytest.mark.parametrize(
    ("score", "state"), [(5, "passed"), (2, "failed"), (None, "not_assessable")]
)
def test_without_any_verdict_the_red_flag_branch_is_absent(score: int | None, state: str) -> None:
    ko = gate({**BEST, "Q3": score}, {})

    assert (ko.state, ko.flags_exist, ko.open_prompts) == (state, False, ())


def test_verdicts_on_one_model_make_the_others_lack_of_them_count() -> None:
    judged = verdicts({"E1": "green", "E2": "green", "D1": "green"})
    rows = rows_of(suite(), [report(BEST), report(BEST, "beta")], judged, models="alpha beta")

    assert [(one.entry.model, one.ko.state) for one in rows] == [
        ("alpha", "passed"),
        ("beta", "not_assessable"),
    ]


def test_without_a_rule_there_is_no_gate_and_models_are_ranked() -> None:
    row, *_ = rows_of(suite(rule=False), [report({"Q1": 1})], verdicts({"E1": "red"}))

    assert (row.ko, row.rank) == (KoResult("none"), 1)


def test_the_gate_never_looks_at_the_total() -> None:
    flags = {one: EffectiveFlag("green") for one in ("E1", "E2", "D1")}
    poor = passes_ko(suite(), report({"Q1": 1, "Q2": 1, "Q3": 3, "Q4": 1}), flags)
    rich = passes_ko(suite(), report({**BEST, "Q3": 3}), flags)

    assert poor == rich
    assert poor.state == "passed"


# --- decisions ------------------------------------------------------------------------------------


def decisions(*taken: tuple[str, str]) -> list[Review]:
    return [Review.model_validate(review("E1", decision, reason)) for decision, reason in taken]


@pytest.mark.parametrize(
    ("judged", "taken", "flag", "reason"),
    [
        ("red", [], "red", "E1 is red"),
        ("red", [("accept", "fine")], "red", "E1 is red"),
        ("red", [("reject", "bad")], "red", "E1 is red"),
        ("red", [("flag:green", "a joke")], "green", "a joke"),
        ("green", [("flag:red", "a threat")], "red", "a threat"),
        ("green", [("flag:red", "")], "red", "decided by Ada"),
        ("green", [("flag:red", "a"), ("flag:yellow", "b")], "yellow", "b"),
        ("green", [("flag:red", "a threat"), ("accept", "seen")], "red", "a threat"),
        (None, [("flag:green", "read it")], "green", "read it"),
        (None, [("accept", "fine")], None, "E1 is None"),
    ],
)
def test_the_latest_decision_on_a_flag_counts(
    judged: str | None, taken: list[tuple[str, str]], flag: str | None, reason: str
) -> None:
    flags = effective_flags(verdicts({"E1": judged}), decisions(*taken))
    (effective,) = flags.values()

    assert (effective.flag, effective.reason) == (flag, reason)
    assert effective.verdict is not None
    assert effective.verdict.flag == judged
    assert (effective.review.decision if effective.review else None) == (
        taken[-1][0] if taken else None
    )


def test_a_decision_without_a_verdict_sets_the_flag() -> None:
    (effective,) = effective_flags([], decisions(("flag:red", "seen"))).values()

    assert (effective.flag, effective.verdict, effective.reason) == ("red", None, "seen")
    assert EffectiveFlag(None).reason == "no verdict"


def test_a_decision_knocks_out_and_lifts_a_knock_out() -> None:
    judged = verdicts({"E1": "red", "E2": "green", "D1": "green"})
    lifted, *_ = rows_of(suite(), [report(BEST)], judged, decisions(("flag:yellow", "quoted")))
    assert lifted.ko.state == "passed"

    judged = verdicts({"E1": "green", "E2": "green", "D1": "green"})
    out, *_ = rows_of(suite(), [report(BEST)], judged, decisions(("flag:red", "a threat")))
    assert [one.reason for one in out.ko.triggers] == ["a threat"]


def test_accepting_an_answer_nobody_judged_brings_no_red_flag_branch() -> None:
    row, *_ = rows_of(suite(), [report(BEST)], [], decisions(("accept", "fine")))

    assert (row.ko.state, row.ko.flags_exist) == ("passed", False)


# --- ranks ----------------------------------------------------------------------------------------


def ranks(scores: Mapping[str, int | None], flags: Mapping[str, str]) -> list[tuple[str, Any, str]]:
    """Return (model, rank, state) by row; ``scores`` are of Q1, ``flags`` of all prompts."""
    judged = [
        one
        for model, flag in flags.items()
        for one in verdicts(dict.fromkeys(("E1", "E2", "D1"), flag), model)
    ]
    reports = [report({**BEST, "Q1": score}, model) for model, score in scores.items()]
    rows = rows_of(suite(), reports, judged, models=" ".join(flags))
    return [(row.entry.model, row.rank, row.ko.state) for row in rows]


def test_a_model_that_is_out_is_listed_below_and_never_ranked() -> None:
    found = ranks({"a": 5, "b": 1, "c": 3}, {"a": "red", "b": "green", "c": "green"})

    assert found == [("c", 1, "passed"), ("b", 2, "passed"), ("a", None, "failed")]


def test_a_model_without_a_report_is_not_ranked() -> None:
    found = ranks({"b": 1}, {"a": "green", "b": "green"})

    assert found == [("b", 1, "passed"), ("a", None, "not_assessable")]


def test_ties_share_a_rank_and_keep_the_order_of_the_bundle() -> None:
    scores = {"d": 2, "c": 4, "b": 4, "a": 5}
    found = ranks(scores, dict.fromkeys("dcba", "green"))

    assert [one[:2] for one in found] == [("a", 1), ("c", 2), ("b", 2), ("d", 4)]


def test_a_difference_of_floating_point_is_a_tie() -> None:
    """0.1·3 + 0.2·3 and 0.3·3 differ in the 16th digit."""
    three = suite(rule=False).model_copy(update={"dimensions": tuple(dims(0.1, 0.2, 0.3))})
    reports = [
        report({"Q1": None, "Q2": None, "Q3": 3}, "beta"),
        report({"Q1": 3, "Q2": 3, "Q3": None}),
    ]
    rows = rows_of(three, reports, models="beta alpha")
    totals = [row.total.quality_pct for row in rows]

    assert totals[0] != totals[1]
    assert [(row.entry.model, row.rank) for row in rows] == [("beta", 1), ("alpha", 1)]


def test_no_models_no_rows() -> None:
    assert master_rows(suite(), [], [report(BEST)], verdicts({"E1": "red"})) == []


# --- JSON -----------------------------------------------------------------------------------------


def test_the_json_is_the_documented_one(folder: BundleFolder) -> None:
    folder.report({"Q1": 4, "Q2": 3, "Q3": 5, "Q9": 5}, dim_rationales={"Q3": "Fine."})
    folder.verdicts({"E1": "red", "E2": "green", "D1": "green"})
    bundle = folder.open()
    rows = master_rows(bundle.suite, bundle.model_entries(), bundle.reports, bundle.verdicts)

    assert scorecard_json("tiny", bundle.suite, "3f9c", rows) == {
        "bundle": "tiny",
        "suite": "small",
        "judge": "3f9c",
        "max_weighted": 35,
        "rows": [
            {
                "model": "alpha",
                "variant": "default",
                "rank": None,
                "weighted": 23,
                "quality_pct": 65.714286,
                "quality_pct_scored": 76.666667,
                "dim_scores": {"Q1": 4, "Q2": 3, "Q3": 5, "Q4": None},
                "missing": ["Q4"],
                "ko": {
                    "state": "failed",
                    "triggers": [{"branch": "red_flag", "prompt_id": "E1", "reason": ""}],
                },
            }
        ],
    }


def test_an_unjudged_model_has_nothing_and_says_so() -> None:
    (row,) = rows_of(suite(), [])

    assert row.as_dict() == {
        "model": "alpha",
        "variant": "default",
        "rank": None,
        "weighted": 0,
        "quality_pct": 0,
        "quality_pct_scored": None,
        "dim_scores": {"Q1": None, "Q2": None, "Q3": None, "Q4": None},
        "missing": ["Q1", "Q2", "Q3", "Q4"],
        "ko": {"state": "not_assessable", "triggers": []},
    }
