"""The scorecard as Markdown: golden files, and names that try to break out of their cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from conftest import SUITE_YAML
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from touchstone.models import ModelEntry, ModelReport, Verdict
from touchstone.scorecard import MasterRow, master_rows, md_escape, render_scorecard_md
from touchstone.suite import parse_suite

Golden = Callable[[str, str], None]
SUITE = parse_suite(SUITE_YAML.encode(), "suite.yaml").suite
HOSTILE = "a|b `c` *d* <script>alert(1)</script> [x](javascript:1)\n\n# e\x1b[31m \u202e {{ f }} \\"


def report(model: str, scores: Mapping[str, int | None], **more: Any) -> ModelReport:
    return ModelReport(model=model, variant="v1", dim_scores=dict(scores), **more)


def verdict(model: str, prompt_id: str, flag: str | None, rationale: str = "") -> Verdict:
    return Verdict.model_validate(
        {
            "model": model,
            "variant": "v1",
            "prompt_id": prompt_id,
            "flag": flag,
            "rationale": rationale,
        }
    )


def rows(reports: list[ModelReport], verdicts: list[Verdict], *models: str) -> list[MasterRow]:
    entries = [ModelEntry(model=model, variant="v1") for model in models]
    return master_rows(SUITE, entries, reports, verdicts)


def judged_rows() -> list[MasterRow]:
    """Return two ranked models, one out by both branches, one that can't be assessed."""
    flags = [
        verdict(model, prompt_id, "green")
        for model in ("alpha", "beta", "gamma")
        for prompt_id in ("E1", "E2", "D1")
    ]
    flags += [
        verdict("omega", "E1", "red", "Gives the doctor's note\nto a stranger."),
        verdict("omega", "E2", "yellow"),
        verdict("omega", "D1", "green"),
    ]
    reports = [
        report("alpha", {"Q1": 4, "Q2": 3, "Q3": 5, "Q4": None}),
        report("beta", {"Q1": 5, "Q2": 5, "Q3": 4, "Q4": 4}),
        report("gamma", {"Q1": 5, "Q2": 5, "Q4": 5}),
        report(
            "omega",
            {"Q1": 5, "Q2": 5, "Q3": 2, "Q4": 5},
            dim_rationales={"Q3": "It tells whoever asks (E1); level 3 would be silence."},
        ),
    ]
    return rows(reports, flags, "alpha", "omega", "gamma", "beta")


def test_ranks_and_knock_outs(golden: Golden) -> None:
    golden("scorecard.md", render_scorecard_md(SUITE, judged_rows()))


def test_dimension_names_in_another_language(golden: Golden) -> None:
    golden("scorecard.de.md", render_scorecard_md(SUITE, judged_rows(), "de"))


def test_a_bundle_without_verdicts_says_so(golden: Golden) -> None:
    golden(
        "scorecard-no-verdicts.md",
        render_scorecard_md(SUITE, rows([report("alpha", {"Q1": 4, "Q3": 3})], [], "alpha", "b")),
    )


def test_hostile_names_and_reasons(golden: Golden) -> None:
    flags = [verdict(HOSTILE, "E1", "red", HOSTILE)]
    golden("scorecard-hostile.md", render_scorecard_md(SUITE, rows([], flags, HOSTILE)))


def test_the_order_is_ranked_first_then_by_quality() -> None:
    lines = render_scorecard_md(SUITE, judged_rows()).splitlines()[3:7]

    assert [line.split(" | ")[:4] for line in lines] == [
        ["| 1", "beta", "v1", "passed"],
        ["| 2", "alpha", "v1", "passed"],
        ["| –", "omega", "v1", "K.-o."],
        ["| –", "gamma", "v1", "not assessable"],
    ]


def test_without_a_gate_the_card_says_so() -> None:
    free = SUITE.model_copy(update={"ko_rule": None})
    entries = [ModelEntry(model="alpha", variant="v1")]
    text = render_scorecard_md(free, master_rows(free, entries, [report("alpha", {"Q1": 1})], []))

    assert "| 1 | alpha | v1 | no gate |" in text
    assert "no verdicts" not in text


# --- escaping -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain text, with. (marks)!", "plain text, with. (marks)!"),
        ("a|b", r"a\|b"),
        ("a\nb\r\n\tc", "a b c"),
        ("<b>", r"\<b\>"),
        ("&amp;", r"\&amp;"),
        ("\\", r"\\"),
        ("\x00\x1b[0m\x7f", "\ufffd\ufffd\\[0m\ufffd"),
        ("\ud800", "\ufffd"),
        ("\u202eabc\u2066", "\ufffdabc\ufffd"),
        ("👩\u200d🔬", "👩\u200d🔬"),
        ("a\u00a0b", "a b"),
        ("", ""),
    ],
)
def test_text_is_escaped(text: str, escaped: str) -> None:
    assert md_escape(text) == escaped


MARKDOWN = MarkdownIt("commonmark").enable("table").enable("strikethrough")


def cells(text: str) -> list[str]:
    """Return the text of the body cells of a table, as a Markdown reader sees them."""
    tokens = MARKDOWN.parse(f"| h | i |\n|---|---|\n| {md_escape(text)} | end |\n")
    inlines = [token for token in tokens if token.type == "inline"]
    assert all(
        child.type in {"text", "text_special"} for one in inlines for child in one.children or []
    )
    return ["".join(child.content for child in one.children or []) for one in inlines]


@given(st.text(st.sampled_from([*"ab|\\`*_{}[]()<>#~&;!:/.-+=1 \n\t"]), max_size=30))
def test_a_markdown_reader_sees_the_text_letter_for_letter(text: str) -> None:
    assert cells(text) == ["h", "i", " ".join(text.split()), "end"]


@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_any_text_stays_in_its_cell(text: str) -> None:
    found = cells(text)

    assert len(found) == 4
    assert found[3] == "end"
    md_escape(text).encode("utf-8")
