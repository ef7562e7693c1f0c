"""What the portable report says of evidence: a class, its places, and how many quotes hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import pytest
from builders_judge_meta import GREEDY, TEXT, Pair, data_of, item
from builders_report import answer

from touchstone.evidence import EvidenceClass
from touchstone.gui.judge_meta.quality_words import TEXTS as QUALITY_TEXTS
from touchstone.gui.report_md import ReportData, section_model, section_prompt, section_provenance
from touchstone.gui.report_md.words import TEXTS
from touchstone.models import Suite

BOLD: Pair = ("alpha", "bold")
LETTER = "The letter has gone out with the second post."
SUM = "Two and two make four, as far as I can tell."


def judged(*items: dict[str, Any], quotes: Sequence[str] = (), language: str = "en") -> ReportData:
    """Return two models, of which the first was judged with this evidence."""
    return data_of(
        {"dim_scores": {"Q1": 3}, "evidence": {"Q1": list(items)}},
        answers=[
            answer(*GREEDY, "E1", TEXT),
            answer(*GREEDY, "E2", LETTER),
            answer(*BOLD, "D1", SUM),
        ],
        verdicts=[{**answer(*GREEDY, "E1", "", flag="yellow"), "quotes": list(quotes)}],
        models=(GREEDY, BOLD),
        language=language,
    )


def line_of(data: ReportData) -> str:
    text = section_model(data, data.rows[0])
    (line,) = (line for line in text.splitlines() if line.startswith("- E1 · "))
    return line


@pytest.mark.parametrize(
    ("quote", "line"),
    [
        ("Mr Novak is off sick", "verbatim 0–20"),
        ("MR NOVAK is off sick", "normalised 0–20"),
        ("Mr Novak is off … back on Monday", "in parts, all of them in this order 0–15, 33–47"),
        (
            "Mr Novak is off sick and will be home on Monday",
            "near, almost these words stand there 0–47",
        ),
        (
            LETTER,
            "misattributed, these words stand in this model's answer to E2, 0–45",
        ),
        (
            SUM,
            "of another model, these words stand in the answer of alpha (bold) to D1, 0–44",
        ),
        ("off sick", "too short to prove anything 12–20"),
        ("words that nobody has ever said", "unverifiable, these words do not stand in the answer"),
    ],
)
def test_a_quote_carries_its_class_and_places(quote: str, line: str) -> None:
    assert line_of(judged(item(quote=quote))) == f"- E1 · {line} · neutral: “{quote}”"


def test_the_prompt_is_where_some_quotes_come_from() -> None:
    data = judged()
    prompts = [
        one.model_copy(update={"text": "Write a short letter of thanks."})
        if one.id == "E1"
        else one
        for one in data.suite.prompts
    ]
    suite = Suite.model_validate({**dict(data.suite), "prompts": prompts})
    found = replace(data, suite=suite).quote_finding(GREEDY, "E1", "a short letter of thanks")

    assert found.kind == "from_prompt"


@pytest.mark.parametrize(
    ("terms", "line"),
    [
        (["Tuesday"], "absence, holds · neutral: missing there: “Tuesday”"),
        (
            ["Monday", "sick"],
            "absence, does not hold, it stands there 41–47, 16–20 · neutral: "
            "missing there: “Monday”, “sick”",
        ),
    ],
)
def test_an_absence_is_looked_up(terms: list[str], line: str) -> None:
    assert line_of(judged(item(kind="absence", absent_terms=terms))) == f"- E1 · {line}"


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("kind", get_args(EvidenceClass))
def test_every_class_has_a_word(language: str, kind: str) -> None:
    assert TEXTS[language][kind]
    assert QUALITY_TEXTS[language][kind]


def test_quotes_in_parts_are_among_those_that_stand_in_the_answers() -> None:
    data = judged(
        item(quote="Mr Novak is off … back on Monday"),
        item(quote=LETTER),
        item(kind="absence", absent_terms=["Tuesday"]),
    )

    assert "- **Quotes:** 1 of 2 stand in the answers" in section_model(data, data.rows[0])


def test_quotes_of_a_verdict_are_looked_up_in_the_same_way() -> None:
    data = judged(quotes=["Mr Novak is off … back on Monday", LETTER])
    text = section_prompt(data, data.suite.prompts[0])

    assert "- in parts, all of them in this order 0–15, 33–47: “Mr Novak" in text
    assert "- misattributed, these words stand in this model's answer to E2, 0–45: “The" in text


def test_a_model_that_is_left_out_still_lends_its_words() -> None:
    data = judged(item(quote=SUM))
    shown = replace(data, rows=data.rows[:1])

    assert "in the answer of alpha (bold) to D1" in line_of(shown)


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", "An absence holds if none of its terms"), ("de", "Eine Auslassung trifft zu, wenn")],
)
def test_the_limits_say_what_is_checked(language: str, words: str) -> None:
    text = section_provenance(judged(language=language))

    assert words in text
    assert "absences and the judge's reasoning" not in text


def test_names_in_a_place_cannot_break_the_line() -> None:
    evil: Pair = ("a](x)\n# b", "<i>")
    data = data_of(
        {"dim_scores": {"Q1": 3}, "evidence": {"Q1": [item(quote=SUM)]}},
        answers=[answer(*GREEDY, "E1", TEXT), answer(*evil, "D1", SUM)],
        models=(GREEDY, evil),
    )
    line = line_of(data)

    assert "<i>" not in line
    assert "a\\](x)" in line
