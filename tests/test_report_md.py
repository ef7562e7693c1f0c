"""The portable report: golden documents, and what each of its sections says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from string import Formatter
from typing import Any

import pytest
from builders_report import (
    ANSWERED,
    MANIFEST,
    REPORTS,
    SUITE,
    VERDICTS,
    answer,
    fences,
    outline,
    report_of,
    section,
)
from conftest import review
from hostile import NAMES

from touchstone.errors import ExchangeError
from touchstone.gui.report_md import (
    ReportData,
    _eval_task,
    render_report_md,
    section_gate,
    section_master_scorecard,
    section_model,
    section_prompt,
    section_provenance,
)
from touchstone.gui.report_md import task as task_module
from touchstone.gui.report_md import words as words_module
from touchstone.models import Manifest
from touchstone.yaml_source import parse_yaml

Golden = Callable[[str, str], None]


# --- whole documents ------------------------------------------------------------------------------


@pytest.mark.parametrize(("language", "name"), [("en", "report.md"), ("de", "report.de.md")])
def test_a_judged_bundle(golden: Golden, language: str, name: str) -> None:
    golden(name, render_report_md(report_of(language=language)))


def test_a_bundle_with_only_the_required_fields(golden: Golden) -> None:
    manifest = Manifest.model_validate(
        {"format": 1, "id": "tiny", "suite": {"id": "small"}, "models": [{"model": "alpha"}]}
    )
    answers = [answer("alpha", "default", "D1", "4")]
    data = report_of(manifest=manifest, answers=answers, verdicts=[], reports=[])
    golden("report-unjudged.md", render_report_md(data))


def test_sections_stand_in_this_order() -> None:
    top = [one for one in outline(render_report_md(report_of())) if one[0] in "12"]

    assert top == [
        "1 Small, in December",
        "2 What this is",
        "2 Scorecard",
        "2 K.-o. gate",
        "2 Model alpha (greedy)",
        "2 Model alpha (bold)",
        "2 Model omega (default)",
        "2 Prompts and answers",
        "2 Provenance and limits",
        "2 Evaluation task for an outside reader",
    ]


def test_every_prompt_and_answer_has_its_heading_and_its_fence() -> None:
    text = section(render_report_md(report_of()), "## Prompts and answers")
    shown = {
        (one["model"], one["variant"], one["prompt_id"]): f"{one['text']}\n" for one in ANSWERED
    }

    assert [one for one in outline(text) if one[0] == "3"] == [
        "3 Prompt E1: A note",
        "3 Prompt E2",
        "3 Prompt D1",
    ]
    assert [one for one in outline(text) if one[0] == "4"][:4] == [
        "4 Answer of alpha (greedy): red",
        "4 Answer of alpha (bold): yellow",
        "4 Answer of omega (default)",
        "4 Answer of alpha (greedy): yellow",
    ]
    assert fences(text) == [
        "You are a clerk.\n",
        "Write a note.\n```\nkeep this\n```\n",
        shown["alpha", "greedy", "E1"],
        shown["alpha", "bold", "E1"],
        shown["omega", "default", "E1"],
        "Hello.\n",
        "Good day.\n",
        "Write a letter.\n",
        shown["alpha", "greedy", "E2"],
        "Add two numbers.\n",
        shown["alpha", "greedy", "D1"],
    ]


def test_the_language_falls_back_to_english_and_to_the_suite() -> None:
    text = render_report_md(report_of(language="fr"))

    assert "## What this is" in text
    assert "### Q1 Correctness: 4 of 5" in text
    assert "## Was das ist" in render_report_md(report_of(language="de-AT"))


# --- scorecard and gate ---------------------------------------------------------------------------


def test_the_scorecard_says_what_is_missing_and_how_much_of_the_bundle_is_shown() -> None:
    data = report_of()
    text = section_master_scorecard(SUITE, data.rows[:2], "en", of=3)

    assert "| – | alpha | bold | not assessable | – | 5 | 33.3 |" in text
    assert "- alpha (bold): no score for Q1; on the scored dimensions alone 100.0 %." in text
    assert "This document holds 2 of the bundle's 3 models" in text
    assert "of the bundle's" not in section_master_scorecard(SUITE, data.rows, "en", of=3)
    assert "omega (default): no score" not in section_master_scorecard(SUITE, data.rows, "en")


def test_the_gate_names_every_trigger_with_its_reason_and_who_gave_it() -> None:
    text = section(render_report_md(report_of()), "### alpha (greedy): K.-o.")

    assert (
        "**(a) red flag at E1**, by the judge (AI):\n\n> It names a patient.\n>\n> Twice." in text
    )
    assert "**(b) Q3 = 2, threshold 2**, by the judge (AI):\n\n> E1 names a patient; a 3" in text


def test_the_gate_says_what_is_open() -> None:
    text = section_gate(report_of())
    bold = section(text, "### alpha (bold): not assessable")
    omega = section(text, "### omega (default): not assessable")

    assert "Open: no flag on D1, so (a) is not settled." in bold
    assert "(b) is not settled" not in bold
    assert "Open: no flag on E1, D1, so (a)" in omega
    assert "Open: Q3 has no score (not judged yet), so (b) is not settled." in omega


def test_the_gate_says_why_the_dimension_has_no_score() -> None:
    issues = [{"dimension": "Q3", "reason": "0 is no score"}]
    report = {**REPORTS[0], "dim_scores": {"Q1": 4}, "parse_issues": issues}

    assert "Q3 has no score (0 is no score), so" in section_gate(report_of(reports=[report]))


def decision(word: str, reason: str = "") -> dict[str, Any]:
    return {**review("E1", word, reason), "variant": "greedy"}


def test_a_decision_stands_beside_the_judges_flag() -> None:
    data = report_of(reviews=[decision("flag:green", "It is invented.")])
    text = section_prompt(data, SUITE.prompts[0])
    said = section(text, "#### Answer of alpha (greedy): green")

    assert "Verdict, by the judge (AI):\n\n> It names a patient." in said
    decided = (
        "Decision: flag set to green, from red, decided by Ada (human) on 2026-12-01T09:00:00Z."
    )
    assert f"{decided}\n\n> It is invented." in said
    assert "(a) red flag" not in section_gate(data)


def test_a_red_flag_that_a_person_set_is_said_to_be_theirs() -> None:
    text = section_gate(report_of(reviews=[decision("flag:red", "A patient.")]))

    assert "**(a) red flag at E1**, decided by Ada (human) on 2026-12-01T09:00:00Z:" in text
    assert "> A patient." in text


@pytest.mark.parametrize(("word", "said"), [("accept", "accepted"), ("reject", "rejected")])
def test_a_decision_that_leaves_the_flag_is_named(word: str, said: str) -> None:
    text = section_prompt(report_of(reviews=[decision(word)]), SUITE.prompts[0])

    assert f"Decision: {said}, decided by Ada (human)" in text
    assert "#### Answer of alpha (greedy): red" in text


def test_a_passed_gate_says_what_was_checked() -> None:
    flags = [{**one, "flag": "green"} for one in VERDICTS if one["variant"] == "greedy"]
    report = {**REPORTS[0], "dim_scores": {"Q1": 4, "Q3": 4}}
    text = section_gate(report_of(verdicts=flags, reports=[report]))

    assert "### alpha (greedy): passed" in text
    assert "Nothing fired: no red flag on 2 prompts in scope, Q3 = 4, threshold 2." in text


def test_without_verdicts_the_gate_rests_on_the_dimension() -> None:
    report = {**REPORTS[0], "dim_scores": {"Q1": 4, "Q3": 4}}
    text = section_gate(report_of(verdicts=[], reports=[report]))

    assert "The bundle holds no verdicts at all: (a) is not there, (b) alone decides." in text
    assert "Nothing fired: Q3 = 4, threshold 2." in text


def test_a_suite_without_a_rule_has_no_gate() -> None:
    free = SUITE.model_copy(update={"ko_rule": None})

    assert section_gate(report_of(suite=free)) == (
        "## K.-o. gate\n\nThe suite has no K.-o. rule: every model that was judged is ranked."
    )


@pytest.mark.parametrize(
    ("scope", "sentence"),
    [
        ("all", "A model is out by (a) a red flag on any prompt, or (b) Q3 Safety at 2 or below."),
        ("none", "A model is out by (b) Q3 Safety at 2 or below; (a), red flags, are not in use."),
        (
            ("E2",),
            "A model is out by (a) a red flag on one of the prompts E2, or (b) Q3 Safety at 2 or "
            "below.",
        ),
    ],
)
def test_the_rule_is_said_in_words(scope: Any, sentence: str) -> None:
    assert SUITE.ko_rule is not None
    rule = SUITE.ko_rule.model_copy(update={"red_flag_scope": scope})
    suite = SUITE.model_copy(update={"ko_rule": rule})

    assert sentence in section_gate(report_of(suite=suite))
    assert sentence in _eval_task(suite, "en")


# --- a model --------------------------------------------------------------------------------------


def model_section(data: ReportData, variant: str) -> str:
    row = next(row for row in data.rows if row.entry.variant == variant)
    return section_model(data, row)


def test_a_model_starts_with_its_figures() -> None:
    text = model_section(report_of(), "greedy")

    assert "- **Total:** 15 of 22.5 points, 66.7 %\n" in text
    assert "- **Flags:** green 1, yellow 1, red 1, none 0\n" in text
    assert "- **The judge saw:** 3 of 3 answers\n" in text
    assert "- **Quotes:** 2 of 4 stand in the answers" in text


@pytest.mark.parametrize(
    "line",
    [
        "- D1 · verbatim 0–1 · strength: “4” – Right.",
        "- E2 · paraphrase, not checked · neutral: It breaks off:",
        "- E2 · absence, holds · defect · minor: missing there: “Yours”, “Regards” – No "
        "close. – Better: Close it.",
        "- C9 · dangling, this model has no such answer · neutral: “four” – Invented.",
        '- E1 · normalised 51–68 · defect · fatal: “He had a "stroke"” – A diagnosis.',
        "- E1 · too short to prove anything · neutral: “he died” – Worse.",
    ],
)
def test_evidence_carries_its_class(line: str) -> None:
    assert line in model_section(report_of(), "greedy").splitlines()


def test_the_offsets_are_code_points_of_the_answer() -> None:
    assert str(ANSWERED[0]["text"])[51:68] == "He had a “stroke”"


def test_a_rationale_stands_in_a_block_quote_of_its_own() -> None:
    text = model_section(report_of(), "greedy")

    assert "> D1 is right.\n>\n> \\# E2 is cut off; a 5 would end." in text


def test_a_missing_score_is_no_zero_and_says_why() -> None:
    text = model_section(report_of(), "bold")

    assert "### Q1 Correctness: no score (weight 3)" in text
    assert "No score: fractional score 4.5. It counts 0 in the total." in text
    assert "The judge gave no rationale." in text
    assert "- **Total:** 7.5 of 22.5 points, 33.3 %; on the scored dimensions alone 100.0 %" in text
    assert "- **Missing scores:** Q1" in text


def test_what_the_judge_saw_by_noted_evidence_and_imported_scores_are_named() -> None:
    text = model_section(report_of(), "bold")

    assert "1 of 1 answers, by 2 of 4 pieces of evidence noted before" in text
    assert "on their own scales:** accuracy = 0.8 (0–1, inspect)" in text


def test_a_model_without_a_report_is_not_judged() -> None:
    text = model_section(report_of(), "default")

    assert text.endswith("Not judged yet.")
    assert "###" not in text


# --- a prompt -------------------------------------------------------------------------------------


def prompt_section(prompt_id: str, **more: Any) -> str:
    prompt = SUITE.prompt(prompt_id)
    assert prompt is not None
    return section_prompt(report_of(**more), prompt)


@pytest.mark.parametrize(
    ("prompt_id", "words"),
    [
        ("E1", "**Expected:** \\- two sentences\n\n1\\. no names"),
        ("E1", "**Red flag for:** It names the patient."),
        ("E1", "A red flag here knocks a model out."),
        ("E1", " · finish reason stop · 21 tokens · 1.2 s · 3 words of reasoning"),
        ("E1", "- verbatim 0–24: “Mr Novak is \\*\\*off sick\\*\\*”"),
        ("E1", "- unverifiable, these words do not stand in the answer: “a stroke of luck”"),
        ("E2", "- **Next turn after:** E1; the model saw"),
        (
            "E2",
            "Context, user:\n\n```text\nHello.\n```\n\nContext, assistant:\n\n```text\nGood day.",
        ),
        ("E2", " · cut off by the length limit · 3 attempts"),
        ("E2", "- **Category:** unusable"),
        ("E2", "#### Answer of alpha (bold): no flag"),
        ("E2", "No answer, the request failed: timeout 504: no byte for 120 s"),
        ("E2", "Verdict, by a rule, not by the judge:\n\n> no answer: timeout"),
        ("E2", "#### Answer of omega (default)\n\nThere is no answer in the bundle."),
        ("D1", "- **Metrics:** faithfulness 5, composite 87.5"),
        ("D1", "The answer is empty.\n\nVerdict, by the judge (AI):\n\n> no JSON in the reply"),
    ],
)
def test_a_prompt_shows_what_is_known_about_each_answer(prompt_id: str, words: str) -> None:
    assert words in prompt_section(prompt_id)


def test_a_prompt_outside_the_scope_of_the_gate_does_not_claim_to_be_in_it() -> None:
    assert "knocks a model out" not in prompt_section("E2")


def test_a_prompt_can_be_shown_without_any_judgement() -> None:
    prompt = SUITE.prompts[0]
    data = report_of(reviews=[decision("flag:red", "A patient.")])
    blind = section_prompt(data, prompt, judged=False)

    assert outline(blind) == [
        "3 Prompt E1: A note",
        "4 Answer of alpha (greedy)",
        "4 Answer of alpha (bold)",
        "4 Answer of omega (default)",
    ]
    assert fences(blind) == fences(section_prompt(data, prompt))
    for word in ("Verdict", "Decision", "names a patient", "verbatim", "Ada"):
        assert word not in blind


def test_without_answers_no_answer_and_no_task_is_left() -> None:
    text = render_report_md(replace(report_of(), with_answers=False))

    assert "The answers are left out of this document" in text
    assert "Dear Ann, thank" not in text
    assert "Evaluation task" not in text
    assert "#### Answer of alpha (greedy): red\n\nSHA-256 " in text
    assert fences(text)[1] == "Write a note.\n```\nkeep this\n```\n"


# --- provenance -----------------------------------------------------------------------------------


def test_provenance_says_how_the_answers_and_the_judgement_came_about() -> None:
    text = section_provenance(report_of())

    assert "### alpha (greedy)\n\n- **Endpoint:** http://127.0.0.1:8080/v1\n" in text
    assert '- **Parameters:** \\{"temperature": 0\\}\n' in text
    assert "- **Weights:** 135M, Q4\\_1\n" in text
    assert "System message:\n\n```text\nBe brief.\n```" in text
    assert "### omega (default)\n\n–\n" in text
    assert "### Judge: judge-1 (AI)\n\n- **Way:** over an endpoint\n" in text
    assert "- **How its replies were read:** repaired 1, strict 1" in text


def test_a_human_judge_is_not_called_an_ai() -> None:
    judge = MANIFEST.judges[0].model_copy(update={"kind": "human"})
    text = render_report_md(report_of(manifest=MANIFEST.model_copy(update={"judges": (judge,)})))

    assert "- **Judge:** judge-1 (human)" in text
    assert "by the judge (human)" in text
    assert "The judge is an AI" not in text
    assert "The judge is an AI" in render_report_md(report_of())


def test_a_bundle_that_does_not_name_its_judge_is_not_called_unjudged() -> None:
    text = render_report_md(report_of(manifest=MANIFEST.model_copy(update={"judges": ()})))

    assert "- **Judge:** the bundle does not say who judged" in text
    assert "Verdict, by the judge:" in text
    assert "Nobody has judged" not in text


def test_answers_that_belong_nowhere_are_counted() -> None:
    strays = [answer("beta", "default", "E1", "x"), answer("alpha", "bold", "C9", "y")]
    text = render_report_md(report_of(answers=[*ANSWERED, *strays]))

    assert "2 answers in the bundle belong to none of its models or prompts" in text
    assert "belong to none" not in render_report_md(report_of())


def test_evidence_at_an_answer_to_an_unknown_prompt_leads_nowhere() -> None:
    strays = [answer("alpha", "greedy", "C9", "four")]
    text = model_section(report_of(answers=[*ANSWERED, *strays]), "greedy")

    assert "- C9 · dangling" in text


# --- the evaluation task --------------------------------------------------------------------------


def test_the_task_asks_for_every_dimension_by_its_levels() -> None:
    text = _eval_task(SUITE, "en")

    assert outline(text) == [
        "2 Evaluation task for an outside reader",
        "3 What to do",
        "3 Rules of evidence",
        "3 The dimensions",
        "4 Q1 Correctness",
        "4 Q3 Safety",
        "3 K.-o. opinion",
    ]
    assert "It is right.\n\n- **5:** All is.\n- **1:** Nothing is right." in text
    assert "#### Q3 Safety\n\n1 is poor, 5 is excellent." in text


def test_the_task_speaks_the_language_of_the_report() -> None:
    text = _eval_task(SUITE, "de", level=3)

    assert text.startswith("### Bewertungsauftrag für Außenstehende\n")
    assert "##### Q1 Korrektheit\n\nEs stimmt.\n\n- **5:** Alles stimmt." in text
    assert "einen Wert von höchstens 2 in Q3 Sicherheit." in text


def test_the_task_is_the_same_for_every_bundle_of_a_suite() -> None:
    text = render_report_md(report_of())

    assert "another judge's scores" in text
    assert "another judge's scores" not in _eval_task(SUITE, "en")
    assert "another judge's" not in render_report_md(report_of(verdicts=[], reports=[]))


def test_the_task_without_a_rule_asks_for_no_opinion() -> None:
    text = _eval_task(SUITE.model_copy(update={"ko_rule": None}), "en")

    assert "The suite has no K.-o. rule: leave this opinion at null." in text
    assert "must not be used" not in text


def test_the_form_of_the_reply_is_yaml_that_names_every_model_and_dimension() -> None:
    models = [one.model_copy(update={"model": name}) for one in MANIFEST.models for name in NAMES]
    (form,) = fences(_eval_task(SUITE, "en", models))
    data = parse_yaml(form, "form", ExchangeError).data

    # What reorders a line is replaced in a fence, also in a name.
    asked = [(one.model.replace("\u202e", "\ufffd"), one.variant) for one in models]
    assert [(one["model"], one["variant"]) for one in data["reports"]] == asked
    blank = {"rationale": "", "score": None}
    assert all(one["fresh"] == {"Q1": blank, "Q3": blank} for one in data["reports"])
    assert all(one["knock_out"] is None for one in data["reports"])


# --- the texts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("texts", [words_module.TEXTS, task_module.TEXTS], ids=["words", "task"])
def test_both_languages_say_the_same(texts: Mapping[str, Mapping[str, str]]) -> None:
    def gaps(text: str) -> set[str]:
        return {name for _, name, _, _ in Formatter().parse(text) if name is not None}

    assert list(texts) == ["en", "de"]
    assert list(texts["en"]) == list(texts["de"])
    for key, text in texts["en"].items():
        assert gaps(text) == gaps(texts["de"][key]), key
        assert text.strip() == text != ""
