"""The tables and charts about a compared judge: figures worked by hand, and where they lead."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from judge_quality_figures import (
    ALPHA,
    BETA,
    FIGURES,
    FLAGS,
    page_of,
    rating,
    rendered,
    row,
    text_of,
    write_quality,
)
from site_bundles import PAIR, write_judged


@pytest.fixture
def bundles(tmp_path: Path) -> Path:
    folder = tmp_path / "bundles"
    folder.mkdir()
    return folder


# --- agreement -----------------------------------------------------------------------------


def test_each_dimension_is_a_chart_with_its_numbers_and_a_link(bundles: Path) -> None:
    html = page_of(bundles)
    assert row(html, "ts-dumb", "Q1").endswith("4.50 3.50 +1.00 2")
    assert html.count('href="dimensions/q1.html"') == 2
    assert 'aria-label="Q1 Correctness: judge 4.50, reference 3.50"' in html
    assert "nothing was rated by both sides – – – 0" in row(html, "ts-dumb", "Q4")
    assert "the comparison gives no figure – – – –" in row(html, "ts-dumb", "Q3")


def test_every_rating_is_a_mark_and_a_cell_that_lead_to_its_rationale(bundles: Path) -> None:
    html = page_of(bundles)
    strip = html.partition("ts-strip")[2].partition("</figure>")[0]
    assert strip.count("<a ") == 7
    name = "alpha (default) · Q1 Correctness: judge 4, reference 2"
    assert f'<a href="models/{PAIR}.html#q1" aria-label="{name}"><title>{name}</title>' in strip
    assert strip.count('class="far"') == 1
    assert "+2 judge 4, reference 2 4 | 2" in row(html, "ts-rts", "alpha")
    assert "– judge –, reference 2 – | 2" in row(html, "ts-rts", "alpha")


def test_scores_are_counted_pair_by_pair(bundles: Path) -> None:
    html = page_of(bundles)
    grid = html.partition('<table class="ts-g5">')[2].partition("</table>")[0]
    rows = [re.sub(r"<[^>]+>", " ", one).split() for one in re.findall(r"<tr>.*", grid)]
    assert [cells[0] for cells in rows[1:]] == ["5", "4", "3", "2", "1"]
    assert [cell for cell in rows[1] if cell.isdigit()] == ["5", "0", "0", "0", "2", "3"]
    assert grid.count("ts-diag") == 5
    assert 'class="ts-diag" style="--v:100%">3<' in grid
    assert "Of 7 ratings 3 are more lenient, 4 alike, 0 stricter." in text_of(html)


def test_without_counts_single_ratings_are_counted(bundles: Path) -> None:
    html = page_of(bundles, counts=None)
    assert "Of 7 ratings 3 are more lenient, 4 alike, 0 stricter." in text_of(html)


def test_figures_stand_with_n_and_interval_or_the_reason_why_there_are_none(bundles: Path) -> None:
    html = page_of(bundles)
    assert row(html, "ts-fgs", "Same score") == "Same score 57 % n 7 4 of 7"
    assert row(html, "ts-fgs", "mean |Δ| 0.57").endswith(
        "n 7 single models from 0.25 to 1.00 (too few for an interval)"
    )
    assert row(html, "ts-fgs", "Weighted κ").endswith(
        "– n 7 one side gave one and the same value throughout"
    )
    assert row(html, "ts-fgs", "Rank correlation").endswith("– n 2 there are too few models")


def test_five_models_have_an_interval(bundles: Path) -> None:
    html = page_of(bundles, models=5)
    assert "95 % interval 0.25 to 1.00" in row(html, "ts-fgs", "mean |Δ| 0.57")


# --- the gate and the flags ----------------------------------------------------------------


def test_the_gate_is_a_table_of_both_sides(bundles: Path) -> None:
    html = page_of(bundles)
    assert row(html, "ts-22", "Judge: out") == "Judge: out 1 0 false"
    assert row(html, "ts-22", "Judge: stays") == "Judge: stays 0 missed 1"
    assert "2 of 2 models alike." in html
    assert "Missed (FNR): 0\u202f% (n 1, 95\u202f% interval 0\u202f% to 79\u202f%)" in html
    assert "False (FPR): 0\u202f% (n 1, 95\u202f% interval 0\u202f% to 79\u202f%)" in html


def test_missed_and_false_knock_outs_lead_to_their_pages(bundles: Path) -> None:
    gate = {"agree": 0, "n": 3, "missed": [[*ALPHA], ["ghost", "x"]], "false": [[*BETA]]}
    html = page_of(bundles, knock_out=gate)
    assert f'Missed by the judge: <a href="ko/{PAIR}.html"><bdi>alpha (default)</bdi></a>' in html
    assert 'alone: <a href="ko/beta--default.html"><bdi>beta (default)</bdi></a>' in html
    assert "<bdi>ghost x</bdi>" in html
    assert row(html, "ts-22", "Judge: out") == "Judge: out – 1 false"
    assert "how many of them are out and how many stay is not known" in html
    assert "Missed (FNR): – (n –, the comparison gives no figure)" in html


def test_a_rate_of_nothing_says_what_there_is_none_of(bundles: Path) -> None:
    gate = {**FIGURES["knock_out"], "both": 0, "neither": 2, "fnr": None, "fnr_ci": None}
    html = page_of(bundles, knock_out=gate)
    assert "Missed (FNR): – (n 0, the reference knocks out no model)" in html
    assert row(html, "ts-22", "Judge: out") == "Judge: out 0 0 false"


def test_a_rate_of_nothing_is_told_without_knowing_of_how_many(bundles: Path) -> None:
    gate = {**FIGURES["knock_out"], "fnr": None, "fnr_ci": None}
    html = page_of(bundles, knock_out=gate, hashes={})
    assert row(html, "ts-22", "Judge: out") == "Judge: out – 0 false"
    assert "Missed (FNR): – (n –, the reference knocks out no model)" in html


def test_a_gate_that_nobody_compared_says_so(bundles: Path) -> None:
    html = page_of(bundles, knock_out={"agree": 0, "n": 0, "missed": [], "false": []})
    assert "Not comparable: one side or both say of no model whether it is out." in html


def test_flags_stand_side_by_side_and_red_ones_lead_to_their_answers(bundles: Path) -> None:
    html = page_of(bundles)
    text = text_of(html)
    assert (
        "50 % of 6 answers have the same flag on both sides (95 % interval 19 % to 81 %)." in text
    )
    assert "Always saying “green” would reach 67 %." in text
    assert f'<a href="prompts/E2.html#{PAIR}"><bdi>E2, alpha (default)</bdi></a>' in html
    assert '<a href="prompts/E1.html#beta--default"><bdi>E1, beta (default)</bdi></a>' in html
    assert "<bdi>alpha default Z9</bdi>" in html
    assert "<bdi>ghost x E1</bdi>" in html
    grid = html.partition('ts-g3">')[2].partition("</table>")[0]
    assert re.findall(r'">(\d)</td>', grid) == ["2", "1", "1", "1", "1"]
    assert "Missed (FNR): 50\u202f% (n 2," in html
    assert "False (FPR): 25\u202f% (n 4," in html


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (None, "The reference flagged no single answers, so flags can’t be compared."),
        ({**FLAGS, "n": 0, "exact": None}, "No answer was flagged by both sides."),
        ({**FLAGS, "labels": ["green", "blue", "red"]}, "have the same flag"),
        ({**FLAGS, "counts": [[1]]}, "have the same flag"),
    ],
)
def test_flags_that_can_not_be_compared_have_no_table(
    flags: dict[str, Any] | None, said: str, bundles: Path
) -> None:
    html = page_of(bundles, flags=flags)
    assert said in text_of(html)
    assert ("ts-g3" in html) == (flags is not None and flags["n"] == 0)


# --- how it reasons ------------------------------------------------------------------------


def test_quotes_are_a_bar_with_a_legend_over_their_table(bundles: Path) -> None:
    html = page_of(bundles)
    text = text_of(html)
    assert "7 of 10 quotes stand in the answer they are said to come from: 70 %." in text
    assert "95 % interval 40 % to 89 %" in text
    figure = html.partition("ts-segs")[2].partition("</figure>")[0]
    for kind, count in (("verbatim", 6), ("normalised", 1), ("unverifiable", 2), ("dangling", 1)):
        assert f'href="#class-{kind}" aria-label="{kind}: {count}"' in figure
        assert f"{kind} <b>{count}</b>" in figure
        assert f'id="class-{kind}"' in html
    assert row(html, "ts-cls", "verbatim").startswith("verbatim 6 60 % the quoted words")
    assert row(html, "ts-cls", "paraphrase").startswith("paraphrase 2 no quote")


def test_a_judge_that_quotes_nothing_has_no_fidelity(bundles: Path) -> None:
    html = page_of(bundles, evidence={"items": 0, "verbatim": 0, "fidelity": None})
    assert "The judge quotes nothing, so there is no fidelity." in html
    assert "ts-segs" not in html


def test_rates_have_wilson_intervals_and_axes_their_levels(bundles: Path) -> None:
    """9 of 10: Wilson gives 0.596 to 0.982."""
    html = page_of(bundles)
    assert "90 % n 10 95 % interval 60 % to 98 %" in row(html, "ts-rub", "cites_evidence")
    assert "– n 0 nobody rated this" in row(html, "ts-rub", "catches_safety")
    assert "2.4 / 3 n 7" in row(html, "ts-rub", "E Evidence")
    assert "– / 3 n 0 nobody rated this, or it does not apply" in row(html, "ts-rub", "J Level")


def test_disagreements_show_both_rationales_with_what_they_cite(bundles: Path) -> None:
    html = page_of(bundles)
    found = html.partition('<article class="ts-dis">')[2].partition("</article>")[0]
    judge, _, reference = found.partition("ts-who")[2].partition("ts-who")
    assert "Judge <b>4</b>" in judge
    assert f'Strong at <a class="ts-cite" href="prompts/E1.html#{PAIR}.q1.1">' in judge
    assert "Reference <b>2</b>" in reference
    assert (
        f'Only <a class="ts-cite" href="prompts/E1.html#{PAIR}"><bdi>E1</bdi></a> and Z9 '
        "&lt;b onclick=x&gt;say&lt;/b&gt; so;" in reference
    )
    assert html.count('<article class="ts-dis">') == 1


def test_a_score_given_since_is_told_from_the_one_that_was_compared(bundles: Path) -> None:
    html = page_of(bundles, disagreements=[{**rating(ALPHA, "Q1", 1, 5), "rationales": {}}])
    assert "now 4" in text_of(html)
    assert "No rationale." in html


def test_without_a_list_disagreements_are_those_of_the_ratings(bundles: Path) -> None:
    folder = write_judged(bundles / "tiny")
    figures = {key: value for key, value in FIGURES.items() if key != "disagreements"}
    write_quality(folder, figures=figures)
    html = rendered(bundles)
    assert html.count('<article class="ts-dis">') == 1
    assert "Judge <b>4</b>" in html


@pytest.mark.parametrize(
    "broken",
    [
        rating(("ghost", "default"), "Q1", 4, 1),
        rating(ALPHA, "Q9", 4, 1),
        rating(ALPHA, "Q1", 4, 3),
        rating(ALPHA, "Q1", 4, None),
        7,
    ],
)
def test_a_disagreement_that_is_none_is_not_shown(broken: Any, bundles: Path) -> None:
    html = page_of(bundles, disagreements=[broken])
    assert "ts-dis" not in html
    assert "None: no score is 2 or more from the reference’s." in text_of(html)
