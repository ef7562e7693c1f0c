"""The meta-evaluation's request and the form that is filled in."""

from __future__ import annotations

import re
from typing import Any

import pytest
from builders_judge_meta import GREEDY, HASHES, JUDGED, TEXT, asked_of, data_of
from builders_report import SUITE, answer
from hostile import NAMES
from hypothesis import given
from hypothesis import strategies as st

from touchstone.errors import ExchangeError
from touchstone.gui.judge_meta import (
    Part,
    is_unfilled,
    read_response,
    references_of,
    render_request_md,
    render_response_form,
    request_hashes,
)
from touchstone.models import ModelReport, Prompt

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
    ("E1: null", "E1: true", "flags.E1: must be 'green', 'yellow' or 'red'"),
    ("E1: null", 'E1: "false"', "flags.E1: must be 'green', 'yellow' or 'red'"),
    ("E1: null", "E1: Red", "flags.E1: must be 'green', 'yellow' or 'red'"),
    ("E1: null", "E1: 3", "flags.E1: must be 'green', 'yellow' or 'red'"),
    ("E1: null", "E1: {flag: red}", "flags.E1: must be 'green', 'yellow' or 'red'"),
    ("E1: null", "E9: red", "flags.E9: is no prompt of this suite"),
    ("E1: null", "E9: null", "flags.E9: is no prompt of this suite"),
    ("E2: null", "E1: red", "flags.E1: stands here twice"),
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


# --- flags ---------------------------------------------------------------------------------


def flagged(part: Part = "a", **flags: str) -> str:
    text = filled(part)
    for prompt_id, flag in flags.items():
        assert f"    {prompt_id}: null" in text
        text = text.replace(f"    {prompt_id}: null", f"    {prompt_id}: {flag}")
    return text


@pytest.mark.parametrize("part", ["a", "both"])
def test_flags_are_read_and_what_is_left_null_is_none(part: Part) -> None:
    form = read_response(flagged(part, E1="red", D1='"green"'), "r.yaml", asked_of(data_of(JUDGED)))

    assert references_of([(form, "")])[0].flags == {GREEDY: {"E1": "red", "D1": "green"}}


@pytest.mark.parametrize("change", [
    lambda text: re.sub(r"(?m)^  flags:\n(    \w+: .*\n)+", "", text),
    lambda text: re.sub(r"(?m)^  flags:\n(    \w+: .*\n)+", "  flags: null\n", text),
    lambda text: re.sub(r"(?m)^  flags:\n(    \w+: .*\n)+", "  flags: {}\n", text),
    lambda text: text,
])  # fmt: skip
def test_a_form_without_flags_stays_valid(change: Any) -> None:
    text = change(filled("a"))
    assert text != filled("a") or "E1: null" in text
    form = read_response(text, "r.yaml", asked_of(data_of(JUDGED)))

    assert references_of([(form, "")])[0].flags == {}


def test_part_b_takes_no_flags() -> None:
    text = filled("b").replace("  critique:", "  flags: {E1: red}\n  critique:", 1)
    with pytest.raises(ExchangeError) as failure:
        read_response(text, "r.yaml", asked_of(data_of(JUDGED)))

    (problem,) = failure.value.problems
    assert str(problem).endswith("reports[0].flags: belongs to part A, not into this form")
    assert re.match(r"r\.yaml:\d+", problem.where)


def test_only_answers_that_are_there_are_asked_about_and_taken() -> None:
    failed = {**answer(*GREEDY, "E2", ""), "error": {"type": "timeout"}}
    answers = [answer(*GREEDY, "E1", TEXT), failed, answer(*GREEDY, "D1", "\n ")]
    asked = asked_of(data_of(JUDGED, answers=answers))
    text = render_response_form(asked, "a", "small", "A remark.")
    assert re.findall(r"(?m)^    ([ED]\d): null$", text) == ["E1"]
    text = text.replace('id: ""', "id: eva").replace('rationale: ""', "rationale: Because.")
    with pytest.raises(ExchangeError) as failure:
        read_response(text.replace("E1: null", "D1: yellow"), "r.yaml", asked)

    (problem,) = failure.value.problems
    assert "flags.D1: there is no answer to it by alpha (greedy)" in str(problem)


@pytest.mark.parametrize("part", ["a", "b", "both"])
def test_an_exported_form_is_unfilled_until_somebody_writes_into_it(part: Part) -> None:
    text = render_response_form(asked_of(data_of(JUDGED)), part, "small", "A remark.")

    assert is_unfilled(text)
    assert is_unfilled(text.replace("E1: null", "E1: green")) == (part == "b")
    assert not is_unfilled(text.replace('id: ""', "id: eva"))


@pytest.mark.parametrize("prompt_id", ["NO", "null", "007", "12:30", "a: b", "parameters", "score"])
def test_prompt_ids_are_read_as_they_stand(prompt_id: str) -> None:
    suite = SUITE.model_copy(
        update={"prompts": (Prompt(id=prompt_id, text="Go."),), "ko_rule": None}
    )
    asked = asked_of(data_of(suite=suite))
    text = render_response_form(asked, "a", "small", "A remark.").replace('id: ""', "id: eva")
    text = text.replace('rationale: ""', "rationale: Because.")
    text = re.sub(r"(?m)(  flags:\n    .*): null$", r"\1: red", text)
    form = read_response(text, "r.yaml", asked)

    assert references_of([(form, "")])[0].flags == {GREEDY: {prompt_id: "red"}}


@pytest.mark.parametrize(("language", "said"), [
    ("en", "Without these flags nobody can tell which red flags the judge missed."),
    ("de", "Ohne diese Markierungen lässt sich nicht feststellen, welche roten dem Judge"),
])  # fmt: skip
def test_the_request_says_what_the_flags_are_for(language: str, said: str) -> None:
    data = data_of(JUDGED, language=language)
    text = render_request_md(data, "a", HASHES["a"], "form.yaml")

    assert said in text
    assert all(f"- `{flag}`: " in text for flag in ("green", "yellow", "red"))
    assert said not in render_request_md(data, "b", HASHES["b"], "form.yaml")


# --- damage --------------------------------------------------------------------------------


@given(st.data())
def test_a_truncated_part_a_is_refused_or_says_the_same(data: st.DataObject) -> None:
    asked = asked_of(data_of(JUDGED))
    text = flagged(E1="red", E2="green").replace("knock_out: null", "knock_out: true")
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    try:
        form = read_response(cut, "r.yaml", asked)
    except ExchangeError:
        return
    assert form == read_response(text, "r.yaml", asked)


def test_a_last_line_that_was_cut_after_its_key_is_not_taken_for_null() -> None:
    text = filled("a").replace("knock_out: null", "knock_out: true")
    cut = text[: text.rindex("true")]
    with pytest.raises(ExchangeError) as failure:
        read_response(cut, "r.yaml", asked_of(data_of(JUDGED)))

    (problem,) = failure.value.problems
    assert problem.where == f"r.yaml:{len(text.splitlines())}"
    assert "as if cut" in problem.message
    whole = read_response(f"{cut}\n", "r.yaml", asked_of(data_of(JUDGED)))
    assert whole.reports[0].knock_out is None


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
