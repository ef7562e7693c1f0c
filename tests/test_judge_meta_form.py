"""The meta-evaluation's request and the form that is filled in."""

from __future__ import annotations

import re
from typing import Any

import pytest
from builders_judge_meta import GREEDY, HASHES, JUDGED, TEXT, asked_of, data_of
from builders_report import answer
from hostile import NAMES
from hypothesis import given
from hypothesis import strategies as st

from touchstone.errors import ExchangeError
from touchstone.gui.judge_meta import (
    Part,
    read_response,
    references_of,
    render_request_md,
    render_response_form,
    request_hashes,
)
from touchstone.models import ModelReport

RED = [answer(*GREEDY, "E1", "", flag="red", rationale="It leaks a name.")]


@pytest.mark.parametrize("language", ["en", "de"])
def test_part_a_shows_nothing_that_anybody_said(language: str) -> None:
    blank = render_request_md(data_of(language=language), "a", HASHES["a"], "form.yaml")
    judged = data_of(JUDGED, verdicts=RED, language=language)

    assert render_request_md(judged, "a", HASHES["a"], "form.yaml") == blank
    assert TEXT in blank


def test_in_one_pass_part_a_stands_before_part_b() -> None:
    text = render_request_md(data_of(JUDGED, verdicts=RED), "both", HASHES["both"], "form.yaml")
    before, after = text.split("## Part B")

    for said in ("Splendid throughout", "A dreadful breach"):
        assert said not in before
        assert said in after
    assert "It leaks a name" not in before
    assert HASHES["both"] in before


def test_a_german_request_is_german() -> None:
    text = render_request_md(data_of(JUDGED, language="de"), "both", HASHES["both"], "form.yaml")

    assert "## Teil A: deine eigene Bewertung" in text
    assert "## Teil B: wie der Judge begründet" in text
    assert "Part " not in text


def test_hashes_bind_part_b_to_the_reports_and_part_a_to_the_answers_alone() -> None:
    one = [ModelReport(model="m", variant="v", dim_scores={"Q1": 1})]
    two = [ModelReport(model="m", variant="v", dim_scores={"Q1": 2})]
    first, other = request_hashes("s", "a", one), request_hashes("s", "a", two)

    assert first["a"] == other["a"]
    assert first["b"] != other["b"]
    assert first["both"] != other["both"]
    assert len(set(first.values())) == 3
    assert request_hashes("s", "b", one)["a"] != first["a"]


def filled(part: Part = "both", evaluator: str = "eva") -> str:
    text = render_response_form(asked_of(data_of(JUDGED)), part, "small", "A remark.")
    text = text.replace('id: ""', f"id: {evaluator}").replace("score: null", "score: 3")
    return text.replace('rationale: ""', "rationale: Because.").replace(
        "cites_evidence: null", "cites_evidence: true"
    )


@pytest.mark.parametrize("part", ["a", "b", "both"])
def test_a_filled_form_is_read_back(part: Part) -> None:
    form = read_response(filled(part), "r.yaml", asked_of(data_of(JUDGED)))

    assert form.part == part
    assert (form.reports[0].fresh is None) == (part == "b")
    assert (form.reports[0].critique is None) == (part == "a")


PROBLEMS = [
    ("score: 3", "score: true", "fresh.Q1.score: must be a whole number"),
    ("score: 3", "score: 6", "fresh.Q1.score: must be less than or equal to 5"),
    ("score: 3", "score: 2.5", "fresh.Q1.score: must be a whole number"),
    ("cites_evidence: true", "cites_evidence: 1", "critique.Q1.cites_evidence: must be a"),
    ("fix_named: null", "fix_named: true", "critique.Q1.fix_named: must be a whole number"),
    ("fix_named: null", "fix_named: 4", "critique.Q1.fix_named: must be less than"),
    ("    Q1:", "    Q9:", "fresh.Q9: is no dimension of this suite"),
    ("    Q1:", "    Q9:", "there is no Q1"),
    ("model: alpha", "model: beta", "model: the request has no beta (greedy)"),
    ("model: alpha", "model: beta", "there is none on alpha (greedy)"),
    ("id: eva", 'id: ""', "evaluator.id: must say who evaluated"),
    ("id: eva", "id: Judge-1", "evaluator.id: is the judge of this bundle"),
    ("id: eva", "id: b", "evaluator.id: must not be or end in a part's name"),
    ("kind: ai", "kind: robot", "evaluator.kind: "),
    ("knock_out: null", "knock_out: 1", "knock_out: must be a"),
    ("part: both", "part: a", "critique: belongs to part B"),
    ('request_sha256: "33', 'request_sha256: "34', "belongs to another request"),
    ("format: 1", "format: 2", "format: must be 1"),
    ("      comment:", "      coment:", "is not a key here"),
]


@pytest.mark.parametrize(("old", "new", "message"), PROBLEMS)
def test_a_problem_is_named_with_file_line_and_key(old: str, new: str, message: str) -> None:
    text = filled()
    assert old in text
    with pytest.raises(ExchangeError) as failure:
        read_response(text.replace(old, new, 1), "r.yaml", asked_of(data_of(JUDGED)))

    assert any(message in str(one) for one in failure.value.problems), str(failure.value)
    assert all(re.match(r"r\.yaml:\d+", one.where) for one in failure.value.problems)


@pytest.mark.parametrize("change", [
    lambda text: text.replace("\n", "\r\n"),
    lambda text: f"```yaml\n{text}```\n",
    lambda text: text.replace("      ", "\t\t\t"),
    lambda text: text.replace("bundle: small", "bundle: another"),
])  # fmt: skip
def test_what_editors_do_to_a_form_changes_nothing(change: Any) -> None:
    asked = asked_of(data_of(JUDGED))
    expected = read_response(filled(), "r.yaml", asked)
    form = read_response(change(filled()), "r.yaml", asked)

    assert form.reports == expected.reports


@given(st.data())
def test_a_truncated_form_is_refused_or_says_the_same(data: st.DataObject) -> None:
    asked = asked_of(data_of(JUDGED))
    text = filled()
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    try:
        form = read_response(cut, "r.yaml", asked)
    except ExchangeError:
        return
    # Nothing but the last, empty comment can be missing.
    assert len(text) - len(cut) <= len('      comment: ""\n')
    scores = references_of([(form, "")])[0].scores
    assert scores == {GREEDY: {"Q1": 3, "Q3": 3}}


@pytest.mark.parametrize("name", NAMES)
def test_hostile_model_names_come_back_from_the_form(name: str) -> None:
    data = data_of(models=((name, "greedy"), ("alpha", name)))
    asked = asked_of(data)
    text = render_response_form(asked, "a", name, "A remark.")
    text = text.replace('id: ""', "id: eva").replace("score: null", "score: 2")
    form = read_response(text, "r.yaml", asked)

    assert [report.pair for report in form.reports] == [(name, "greedy"), ("alpha", name)]
