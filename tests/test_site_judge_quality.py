"""What the site says of a judge that was compared with a reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from judge_quality_figures import (
    ALPHA,
    FLAGS,
    HEADLINE,
    LEAST,
    PAGE,
    page_of,
    rating,
    rendered,
    row,
    text_of,
    write_quality,
)
from site_bundles import PAIR, build, read, structure_of, write_judged

SCORECARD = "bundles/tiny/index.html"
MODEL = f"bundles/tiny/models/{PAIR}.html"


@pytest.fixture
def bundles(tmp_path: Path) -> Path:
    folder = tmp_path / "bundles"
    folder.mkdir()
    return folder


# --- the line beside every score -----------------------------------------------------------

LINE = "mean |Δ| 0.57 (best constant 0.86) · exact 57 % · n 7 · against ref-1 (AI), blind"


def test_scores_stand_beside_how_good_their_judge_is(bundles: Path) -> None:
    write_quality(write_judged(bundles / "tiny"))
    site = build(bundles)
    for page, url in (
        (SCORECARD, "judge-quality.html"),
        (MODEL, "../judge-quality.html"),
        ("index.html", "bundles/tiny/judge-quality.html"),
    ):
        found = structure_of(read(site, page))
        assert found.wrong == []
        said = [text for link, text in found.links if link == url]
        expected = LINE if page == "index.html" else f"Judge quality: {LINE}"
        assert expected in said, page
        assert "ts-stale" not in read(site, page)


@pytest.mark.parametrize("page", ["index.html", SCORECARD, PAGE])
def test_the_headline_can_be_found_and_copied_on_one_line(page: str, bundles: Path) -> None:
    write_quality(write_judged(bundles / "tiny"), headline=HEADLINE.replace(" | ", "\n| "))
    lines = read(build(bundles), page).splitlines()
    assert [
        line.count(f'lang="en" dir="ltr">{HEADLINE}</code>') for line in lines if HEADLINE in line
    ] == [1]


def test_a_judge_that_was_not_compared_has_no_page_and_every_score_says_so(bundles: Path) -> None:
    write_judged(bundles / "tiny")
    site = build(bundles)
    assert not (site / PAGE).exists()
    for page in ("index.html", SCORECARD, MODEL):
        html = read(site, page)
        assert not [url for url, _ in structure_of(html).links if "judge-quality" in url]
        assert "This judge has not been compared with a reference yet." in html


def test_where_nobody_has_judged_nothing_is_said_of_a_judge(bundles: Path) -> None:
    folder = write_judged(bundles / "tiny")
    for name in ("reports.jsonl", "verdicts.jsonl"):
        (folder.path / name).unlink()
    site = build(bundles)
    for page in ("index.html", SCORECARD, MODEL):
        assert "has not been compared" not in read(site, page)


def test_a_bundle_judged_anew_makes_the_comparison_stale_everywhere(bundles: Path) -> None:
    folder = write_judged(bundles / "tiny")
    write_quality(folder)
    folder.verdicts({"E1": "yellow"})
    site = build(bundles)
    for page in ("index.html", SCORECARD, MODEL, PAGE):
        assert 'class="ts-stale"' in read(site, page), page
    assert "The bundle has changed since the judge was compared." in text_of(read(site, PAGE))


def test_a_comparison_that_names_no_bundle_is_not_taken_for_current(bundles: Path) -> None:
    html = page_of(bundles, figures=LEAST)
    assert "The comparison does not say which state of the bundle it is about." in html


# --- in plain words ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("references", "said"),
    [
        ([("ref-1", "ai")], "Agreement with the reference ref-1 (AI), blind:"),
        ([("ref-1", "human")], "Calibrated against ref-1 (human), blind:"),
        (
            [("a", "human"), ("b", "ai")],
            "Agreement with the reference a (human), b (AI) as a panel, blind:",
        ),
        ([("ref-1", "robot")], "Agreement with the reference ref-1, blind:"),
    ],
)
def test_only_people_are_something_to_calibrate_against(
    references: list[tuple[str, str]], said: str, bundles: Path
) -> None:
    named = [{"id": name, "kind": kind} for name, kind in references]
    html = page_of(bundles, references=named)
    assert f"{said} 0.57 points apart on average in 7 ratings." in text_of(html)
    assert ("alibrat" in html) == (said.startswith("Calibrated"))


@pytest.mark.parametrize(
    ("figures", "title"),
    [
        ({}, "The judge is 0.57 points from the reference, on the lenient side"),
        ({"bias": -0.1}, "The judge is 0.57 points from the reference, on the strict side"),
        (
            {"bias": 0.001},
            "The judge is 0.57 points from the reference, evenly to both sides",
        ),
        ({"mae": 0, "bias": 0}, "The judge gives the same scores as the reference"),
        ({"mae": None}, "How far the judge agrees with a reference"),
        ({"mae": "x"}, "How far the judge agrees with a reference"),
    ],
)
def test_the_page_is_headed_by_what_was_found(
    figures: dict[str, Any], title: str, bundles: Path
) -> None:
    assert structure_of(page_of(bundles, **figures)).headings[0] == (1, title)


@pytest.mark.parametrize(
    ("constant", "said"),
    [
        (6 / 7, "Always saying 4 would be 0.86 points off: the judge is closer."),
        (4 / 7, "the judge is no closer, so the agreement proves nothing."),
        (0, "The reference gave 4 throughout, so it can’t be told"),
    ],
)
def test_agreement_is_held_against_the_best_constant(
    constant: float, said: str, bundles: Path
) -> None:
    assert said in text_of(page_of(bundles, best_constant={"score": 4, "mae": constant}))


@pytest.mark.parametrize(("n", "is_said"), [(69, True), (70, False)])
def test_few_ratings_are_called_a_count(n: int, is_said: bool, bundles: Path) -> None:
    assert ("this is no verdict on the judge" in page_of(bundles, n=n)) is is_said


# --- what it is about ----------------------------------------------------------------------


def test_references_and_hashes_are_named(bundles: Path) -> None:
    one = {"id": "ref-1", "kind": "human", "blind": True, "n": 7, "mae": 0.5, "exact": 0.25}
    html = page_of(bundles, references=[{**one, "responses": {"a": "abc123"}}], seed=42)
    assert row(html, "ts-refs", "ref-1") == "ref-1 human yes 7 0.50 – 25 % – –"
    text = text_of(html)
    assert "Response of ref-1 A, sha256 abc123" in text
    assert "Seed of the intervals 42" in text
    assert ("../../judges.html#judge--tiny", "All judges side by side") in structure_of(html).links


def test_the_document_is_folded_under_the_page(bundles: Path) -> None:
    html = page_of(bundles, markdown="# T\n\n```text\nline\n```\n\n## Words\n\nSome.\n")
    folded = html.partition('<details class="ts-fold ts-doc">')[2]
    assert "<h3>Words</h3>" in folded
    assert "line" not in folded.partition("</details>")[0]


@pytest.mark.parametrize("probes", [None, {"repeat": {"equal": {"value": 0.94}}}, 3])
def test_probes_have_their_place(probes: Any, bundles: Path) -> None:
    html = page_of(bundles, probes=probes)
    assert ('href="#report"' in html) is isinstance(probes, dict)
    assert ("No probes have been run" in html) is not isinstance(probes, dict)


# --- less, none and worse ------------------------------------------------------------------


def test_the_least_that_a_file_may_hold_makes_a_page(bundles: Path) -> None:
    html = page_of(bundles, figures=LEAST, markdown=None)
    text = text_of(html)
    assert "does not hold: single ratings, counts score by score, verdict flags" in text
    assert "touchstone judge-meta ingest tiny" in html
    assert "ts-strip" not in html
    assert "ts-g5" not in html
    assert "ts-doc" not in html
    assert row(html, "ts-dumb", "Q1").endswith("4.50 3.50 +1.00 2")
    assert row(html, "ts-refs", "ref-1").startswith("ref-1 AI yes 7 0.57 0.33")


def test_figures_that_are_none_are_dashes(bundles: Path) -> None:
    html = page_of(bundles, figures={"hashes": {}}, markdown=None)
    assert "there are no common ratings" in html
    assert "Always saying" not in html
    assert ">None<" not in html
    assert "nan" not in text_of(html).lower().split()


@pytest.mark.parametrize("figures", ["{", "[]", "null", '{"headline": NaN', "\x00", "[" * 99999])
def test_figures_that_cannot_be_read_stop_nothing(figures: str, bundles: Path) -> None:
    folder = write_judged(bundles / "tiny")
    write_quality(folder)
    folder.write("judge_quality.json", figures)
    site = build(bundles)
    assert not (site / PAGE).exists()
    assert "has not been compared" in read(site, SCORECARD)


EVIL = '<img src=x onerror="window.pwned=1">\u202e\x00\ud800'


def test_hostile_figures_and_text_are_shown_as_text(bundles: Path) -> None:
    evil_rating = {**rating(ALPHA, "Q2", 5, 1), "rationales": {EVIL: EVIL}}
    write_quality(
        write_judged(bundles / "tiny"),
        f"# {EVIL[:-1]}\n\n{EVIL[:-1]}\n\n[x](javascript:alert(1))\n",
        headline=EVIL,
        references=[{"id": EVIL, "kind": EVIL, "responses": {EVIL: EVIL}}, 7],
        disagreements=[evil_rating],
        ratings=[rating((EVIL, EVIL), EVIL, 1, 5)],
        mae=True,
        best_constant=[1],
        hashes={"bundle": EVIL, "requests": {EVIL: EVIL}, "suite": {EVIL: 1}},
        knock_out={"agree": 1, "n": 2, "missed": [[EVIL, EVIL], [], [EVIL] * 99]},
        flags={**FLAGS, "missed_red": [[EVIL, EVIL, EVIL]], "best_constant": {"flag": EVIL}},
        skill_reason=EVIL,
    )
    site = build(bundles)
    for name in (PAGE, SCORECARD, MODEL, "index.html"):
        html = read(site, name)
        assert "<img src=x" not in html
        assert 'href="javascript' not in html
        assert structure_of(html).wrong == []
        assert "&lt;img src=x" in html


def test_the_page_is_the_same_every_time(bundles: Path) -> None:
    assert page_of(bundles) == rendered(bundles)


def test_numbers_are_written_as_the_language_does(bundles: Path) -> None:
    write_quality(write_judged(bundles / "tiny"))
    site = build(bundles, language="de")
    assert row(read(site, PAGE), "ts-dumb", "Q1").endswith("4,50 3,50 +1,00 2")
    assert "0,57" in read(site, "index.html")
