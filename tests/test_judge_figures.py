"""What is read from a judge_quality.json that anybody may have written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.gui.judge_figures import JudgeFigures

HUGE = 10**400


def read(**figures: Any) -> JudgeFigures:
    return JudgeFigures.model_validate(figures)


@pytest.mark.parametrize(
    ("key", "value", "taken"),
    [
        ("mae", 0.25, 0.25),
        ("mae", 0, 0.0),
        ("mae", True, None),
        ("mae", "0.25", None),
        ("mae", -0.1, None),
        ("mae", 4.1, None),
        ("mae", float("nan"), None),
        ("mae", float("inf"), None),
        ("mae", HUGE, None),
        ("mae", [0.25], None),
        ("n", 21, 21),
        ("n", 21.0, None),
        ("n", -1, None),
        ("n", HUGE, None),
        ("exact", 1.0, 1.0),
        ("exact", 81, None),
        ("bias", -0.5, -0.5),
        ("bias", -5, None),
        ("mae_ci", [0.1, 0.4], (0.1, 0.4)),
        ("mae_ci", [0.1], None),
        ("mae_ci", [0.1, None], None),
        ("mae_ci", {"low": 0.1}, None),
        ("blind", True, True),
        ("blind", 1, None),
        ("headline", "a\ud800", "a\ud800"),
        ("headline", ["a"], None),
        ("counts", [[1] * 5] * 5, ((1,) * 5,) * 5),
        ("counts", [[1] * 5] * 4, None),
        ("counts", [[1] * 5, [1] * 5, [1] * 5, [1] * 5, [1] * 4], None),
        ("counts", [[-1] * 5] * 5, None),
        ("flags", [], None),
        ("probes", 3, None),
        ("references", {"id": "a"}, ()),
        ("ratings", None, ()),
        ("per_dimension", [1], {}),
        ("hashes", "abc", {}),
    ],
)
def test_a_figure_that_can_not_be_one_is_none(key: str, value: object, taken: object) -> None:
    assert getattr(read(**{key: value}), key) == taken


def test_entries_that_can_not_be_used_leave_the_others() -> None:
    of = read(
        references=[{"id": "a", "kind": "human"}, 7, {"kind": "ai"}, {"id": "b", "kind": "robot"}],
        ratings=[
            {"model": "m", "variant": "v", "dimension": "Q1", "judge": 4, "reference": 2},
            {"model": "m", "variant": 3, "dimension": "Q1"},
            {"model": "m", "variant": "v", "dimension": "Q2", "judge": 9, "reference": "2"},
        ],
        per_dimension={"Q1": {"judge": 6, "reference": 2.5}, "Q2": 3, "\ud800": {"n": 1}},
        knock_out={"agree": 1, "n": 3, "missed": [["m", "v"], "m", [1, 2]], "false": "none"},
    )
    assert [(one.id, one.kind) for one in of.references] == [("a", "human"), ("b", None)]
    assert [one.delta for one in of.ratings] == [2, None]
    first = of.per_dimension["Q1"]
    assert first is not None
    assert (first.judge, first.reference) == (None, 2.5)
    assert of.per_dimension["Q2"] is None
    assert of.knock_out is not None
    assert of.knock_out.missed == (("m", "v"),)
    assert of.knock_out.false == ()


def test_a_key_that_is_not_there_is_told_from_null() -> None:
    of = read(flags=None, ratings="broken")
    assert of.holds("flags")
    assert of.holds("ratings")
    assert not of.holds("disagreements")


@pytest.mark.parametrize(
    ("kinds", "is_calibrated"),
    [
        (["human"], True),
        (["human", "human"], True),
        (["human", "ai"], False),
        (["ai"], False),
        (["robot"], False),
        ([], False),
    ],
)
def test_only_people_calibrate(kinds: list[str], is_calibrated: bool) -> None:
    of = read(references=[{"id": str(place), "kind": kind} for place, kind in enumerate(kinds)])
    assert of.is_calibrated is is_calibrated


KEYS = sorted(JudgeFigures.model_fields)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(KEYS), JSON))
def test_nothing_that_json_can_hold_is_an_error(figures: dict[str, Any]) -> None:
    of = JudgeFigures.model_validate(json.loads(json.dumps(figures)))
    assert of.n is None or of.n >= 0
    assert of.mae is None or 0 <= of.mae <= 4
    assert all(isinstance(one.id, str) for one in of.references)
    assert {key for key in KEYS if of.holds(key)} == set(figures)
