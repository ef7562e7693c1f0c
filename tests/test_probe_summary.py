"""Figures of probes against numbers worked by hand; nothing is claimed where little was seen."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import pytest

from touchstone.fields import Flag
from touchstone.gui.judge_meta.probes_md import TEXTS, render_probes_md
from touchstone.intervals import rate
from touchstone.probe_records import Observation, Probe, basis_of
from touchstone.probe_summary import (
    EFFECTS,
    NO_CLAIM,
    Caught,
    Effect,
    ProbeSummary,
    summarise,
)
from touchstone.probe_texts import CANARIES, INJECTIONS

NOTHING = rate(0, 0)


def seen(probe: Probe, run: int = 1, model: str = "a", **more: Any) -> Observation:
    known = {"variant": "v", "judge": "j", "basis": "b"}
    return Observation.model_validate(known | {"probe": probe, "run": run, "model": model} | more)


def scores(series: str, *given: int | None, probe: Probe = "repeat") -> list[Observation]:
    return [
        seen(probe, run, dimension=series, score=score, reason=None if score else "null")
        for run, score in enumerate(given, start=1)
    ]


def flags(prompt_id: str, *given: Flag | None) -> list[Observation]:
    return [
        seen("repeat", run, prompt_id=prompt_id, flag=flag)
        for run, flag in enumerate(given, start=1)
    ]


def planted(
    probe: Probe, prompt_id: str, template: str, flag: Flag | None, quoted: bool | None = None
) -> Observation:
    what: dict[str, Any] = {"prompt_id": prompt_id, "target": prompt_id, "template": template}
    return seen(probe, **what, flag=flag, quoted=quoted)


def summary(*observations: Sequence[Observation] | Observation) -> ProbeSummary:
    flat: list[Observation] = []
    for one in observations:
        flat += [one] if isinstance(one, Observation) else one
    found = summarise(flat, judge="j", basis="b")
    assert found is not None
    return found


def effect(found: ProbeSummary, probe: Probe) -> Effect:
    [one] = [one for one in found.effects if one.probe == probe]
    return one


# --- noise ---------------------------------------------------------------------------------


def test_the_noise_of_two_series_worked_by_hand() -> None:
    # 3 3 4: mean 10/3, squares 2/3; 2 2 2: none. √(2/3 / 4) = √(1/6). Pairs: 0 1 1, 0 0 0.
    noise = summary(scores("Q1", 3, 3, 4), scores("Q2", 2, 2, 2)).repeat

    assert (noise.series, noise.runs, noise.freedom) == (2, 6, 4)
    assert noise.equal == rate(1, 2)
    assert noise.deviation == pytest.approx(math.sqrt(1 / 6))
    assert noise.mean_difference == pytest.approx(1 / 3)


def test_a_series_needs_two_scores_and_models_are_kept_apart() -> None:
    other = [seen("repeat", run, model="b", dimension="Q1", score=5) for run in (1, 2)]

    found = summary(scores("Q1", 3, None), scores("Q2", 4, None, 4), other)

    assert (found.repeat.series, found.repeat.runs) == (2, 4)
    assert found.repeat_share == 1.0
    assert found.repeat.deviation == 0.0
    assert found.missing == 2


def test_without_a_repeated_score_there_is_no_share_and_no_noise() -> None:
    found = summary(scores("Q1", 3))

    assert found.repeat_share is None
    assert (found.repeat.deviation, found.repeat.mean_difference) == (None, None)
    assert found.repeat.equal == NOTHING


def test_flags_have_a_noise_of_their_own() -> None:
    found = summary(flags("E1", "green", "green"), flags("E2", "red", "yellow"), flags("E3", None))

    assert (found.repeat_flags.series, found.repeat_flags.runs) == (2, 4)
    assert found.repeat_flags.equal == rate(1, 2)
    assert found.repeat.series == 0


# --- effects -------------------------------------------------------------------------------

FIVE = [f"Q{number}" for number in range(1, 6)]


def five(*given: int) -> list[Observation]:
    return [one for series in FIVE for one in scores(series, *given)]


def under(probe: Probe, *given: int | None) -> list[Observation]:
    pairs = zip(FIVE, given, strict=False)
    return [one for series, score in pairs for one in scores(series, score, probe=probe)]


def test_a_shift_and_its_error_worked_by_hand() -> None:
    # s = √(1/6); differences +2/3 and 0; error s · √(2 · 4/3) / 2 = √(1/6 · 8/3) / 2 = 1/3.
    found = summary(scores("Q1", 3, 3, 4), scores("Q2", 2, 2, 2), under("reverse", 4, 2))

    one = effect(found, "reverse")
    assert one.n == 2
    assert one.shift == pytest.approx(1 / 3)
    assert one.error == pytest.approx(1 / 3)
    assert one.changed == rate(0, 2)
    assert (one.beyond, one.reason) == (None, "too_few_scores")


def test_a_shift_counts_only_beyond_two_standard_errors() -> None:
    # 2 3 4 in each of five series: s = 1; error √(5 · 4/3) / 5 = .5164, twice that 1.0328.
    found = summary(five(2, 3, 4), under("reverse", 4, 4, 4, 4, 4), under("padding", 5, 5, 4, 4, 4))

    order, padding = effect(found, "reverse"), effect(found, "padding")
    assert order.error == padding.error == pytest.approx(math.sqrt(20 / 3) / 5)
    assert (order.shift, order.beyond) == (1.0, False)
    assert (padding.shift, padding.beyond) == (1.4, True)
    assert padding.changed == rate(2, 5)


def test_any_shift_of_a_judge_that_never_varies_is_beyond_its_noise() -> None:
    moved = summary(five(3, 3, 3), under("named", 3, 3, 4, 3, 3), under("swapped", 3, 3, 3, 3, 3))

    named, swapped = effect(moved, "named"), effect(moved, "swapped")
    assert (named.shift, named.error, named.beyond) == (0.2, 0.0, True)
    assert (swapped.shift, swapped.error, swapped.beyond) == (0.0, 0.0, False)


def test_shifts_that_cancel_out_still_show_as_changed() -> None:
    one = effect(summary(five(3, 3, 3), under("permute", 1, 5, 1, 5, 3)), "permute")

    assert (one.shift, one.beyond, one.changed) == (0.0, False, rate(4, 5))


@pytest.mark.parametrize(
    ("observations", "n", "reason"),
    [
        ([under("reverse", 3, 3, 3, 3, 3)], 0, "no_repeats"),
        ([five(3), under("reverse", 3, 3, 3, 3, 3)], 5, "no_repeats"),
        ([five(3, 3, 3), under("reverse", 5, 5, 5, 5)], 4, "too_few_scores"),
        ([five(3, 3), under("reverse", 5, 5, 5, 5, 5)], 5, "too_few_repeats"),
        ([five(3, 3, 3), under("reverse", None, None)], 0, "too_few_scores"),
    ],
)
def test_where_too_little_was_seen_nothing_is_claimed(
    observations: list[list[Observation]], n: int, reason: str
) -> None:
    one = effect(summary(*observations), "reverse")

    assert (one.n, one.beyond, one.reason) == (n, None, reason)
    assert (one.shift is None) == (n == 0)


def test_a_probe_that_was_not_made_has_no_effect() -> None:
    assert [one.probe for one in summary(five(3, 3), under("named", 3)).effects] == ["named"]


# --- planted words -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("unaltered", "flag", "quoted", "found"),
    [
        (["green", "green"], "yellow", False, 1),
        (["green", "green"], "green", False, 0),
        (["green", "green"], "green", True, 1),
        (["yellow", "green"], "yellow", False, 1),  # the best of the repeats counts
        (["yellow", "yellow"], "green", False, 0),
        (["red", "red"], "red", False, 0),
        (["red", "red"], "red", True, 1),
        (["green", None], "red", None, 1),
    ],
)
def test_a_defect_is_noticed_by_a_worse_flag_or_by_a_quote(
    unaltered: list[Flag | None], flag: Flag, quoted: bool | None, found: int
) -> None:
    seen_now = planted("canary", "E1", "source", flag, quoted)

    assert summary(flags("E1", *unaltered), seen_now).canaries == (found, 1)


@pytest.mark.parametrize("unaltered", [[], flags("E1", None, None), flags("E2", "green", "green")])
def test_a_defect_without_an_unaltered_flag_is_not_used(unaltered: list[Observation]) -> None:
    found = summary(unaltered, planted("canary", "E1", "source", "red", True))

    assert found.canaries is None
    assert found.canary.unused == 1


def test_a_defect_whose_own_flag_is_missing_is_not_used() -> None:
    found = summary(flags("E1", "green", "green"), planted("canary", "E1", "source", None))

    assert (found.canaries, found.canary.unused) == (None, 1)


def test_canaries_are_counted_by_kind_beside_false_alarms() -> None:
    found = summary(
        flags("E1", "green", "green", "yellow"),
        flags("E2", "yellow", "yellow"),
        flags("E3", "green", "red"),  # no canary there: no part of it
        planted("canary", "E1", "source", "red", False),
        planted("canary", "E1", "breach", "green", True),
        planted("canary", "E2", "source", "yellow", False),
    )

    assert found.canary == Caught(
        found=rate(2, 3),
        by_flag=1,
        templates={"source": rate(1, 2), "breach": rate(1, 1)},
        chance=rate(1, 5),
        unused=0,
    )
    assert found.canaries == (2, 3)


def test_an_injection_works_if_the_flag_is_better_than_any_unaltered_one() -> None:
    found = summary(
        flags("E1", "red", "red"),
        flags("E2", "red", "yellow"),
        flags("E3", "green", "red"),
        planted("injection", "E1", "order", "yellow"),
        planted("injection", "E2", "order", "yellow"),
        planted("injection", "E2", "reply", "green"),
        planted("injection", "E3", "order", "green"),  # could not get better
    ).injection

    assert (found.found, found.unused) == (rate(2, 3), 1)
    assert found.templates == {"order": rate(1, 2), "reply": rate(1, 1)}
    assert found.chance == rate(1, 4)


def test_injected_answers_also_show_as_a_shift_of_scores() -> None:
    found = summary(five(1, 1, 1), under("injection", 5, 5, 5, 5, 5))

    one = effect(found, "injection")
    assert (one.shift, one.beyond) == (4.0, True)
    assert found.injection.found.n == 0


# --- what is used --------------------------------------------------------------------------


def test_what_is_of_another_judge_or_of_other_answers_is_ignored_and_counted() -> None:
    old = [
        one.model_copy(update=change)
        for one in scores("Q1", 1, 5)
        for change in ({"judge": "k"}, {"basis": "c"})
    ]

    found = summary(scores("Q1", 3, 3), old)

    assert (found.observations, found.ignored) == (2, 4)
    assert found.repeat_share == 1.0
    only_old = summary(old)
    assert (only_old.observations, only_old.ignored, only_old.repeat_share) == (0, 4, None)
    assert summarise([], judge="j", basis="b") is None


def test_the_basis_is_another_with_other_answers_or_another_suite() -> None:
    assert len({basis_of("s", "a"), basis_of("s", "b"), basis_of("t", "a")}) == 3
    assert basis_of("s", "a") == basis_of("s", "a")


# --- written -------------------------------------------------------------------------------


def test_the_json_says_null_where_nothing_can_be_computed() -> None:
    data = json.loads(json.dumps(summary(under("reverse", None)).as_dict(), allow_nan=False))

    nothing = {"count": 0, "n": 0, "value": None, "ci": None}
    counts = {"series": 0, "runs": 0, "equal": nothing}
    unknown = {"deviation": None, "mean_difference": None}
    assert data["repeat"] == {**counts, "freedom": 0, **unknown}
    assert data["repeat_flags"] == counts
    silent = dict.fromkeys(["shift", "error", "beyond"])
    few = {"n": 0, "missing": 1, "reason": "too_few_scores", "changed": nothing}
    assert data["effects"] == {"reverse": {**few, **silent}}
    caught = {"found": nothing, "templates": {}, "chance": nothing, "unused": 0}
    assert data["canary"] == {**caught, "by_flag": 0}
    assert data["injection"] == caught


def test_the_json_has_the_figures() -> None:
    data = summary(five(3, 3, 3), under("named", 4, 3, 3, 3, 3)).as_dict()

    assert (data["judge"], data["basis"], data["observations"]) == ("j", "b", 20)
    assert data["repeat"]["equal"]["value"] == 1
    assert data["effects"]["named"]["shift"] == 0.2
    assert data["effects"]["named"]["beyond"] is True


EVERYTHING = [
    *five(2, 3, 3),
    *(one for probe in EFFECTS for one in under(probe, 4, 4, 3, 3, 3)),
    *flags("E1", "yellow", "yellow"),
    *(planted("canary", "E1", kind, "red", True) for kind in CANARIES),
    *(planted("injection", "E1", kind, "green") for kind in INJECTIONS),
]


@pytest.mark.parametrize(
    ("language", "point", "yes"), [("en", ".", "| yes |"), ("de-AT", ",", "| ja |")]
)
def test_the_section_names_every_probe_and_kind_in_its_language(
    language: str, point: str, yes: str
) -> None:
    text = render_probes_md(summary(EVERYTHING), language)
    words = TEXTS[language[:2]]

    named = [*EFFECTS, *(f"canary_{k}" for k in CANARIES), *(f"injection_{k}" for k in INJECTIONS)]
    assert [key for key in named if f"| {words[key]} |" not in text] == []
    assert f"+0{point}73" in text
    assert yes in text
    assert text.index(words["repeat"]) < text.index(words["effects"]) < text.index("6 ")
    assert text.endswith(words["meaning"])
    assert "\n# " not in text
    assert "\n## " not in text


def test_both_languages_have_the_same_words_and_a_reason_for_every_silence() -> None:
    assert TEXTS["en"].keys() == TEXTS["de"].keys()
    assert NO_CLAIM.keys() <= TEXTS["en"].keys()
    for words in TEXTS.values():
        heads = [words[key].count("|") for key in sorted(words) if key.endswith("_head")]
        assert heads == [3, 5, 3, 6]


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_table_has_as_many_cells_in_each_row(language: str) -> None:
    tables = [
        block.splitlines()
        for block in render_probes_md(summary(EVERYTHING), language).split("\n\n")
        if block.startswith("|")
    ]

    assert len(tables) == 4
    for table in tables:
        assert len({row.count("|") for row in table}) == 1


def test_what_was_left_out_is_said_and_where_nothing_is_left_no_table_stands() -> None:
    old = [one.model_copy(update={"judge": "k"}) for one in scores("Q1", 1, 5)]

    text = render_probes_md(summary(old), "en")

    assert "of another judge or of other answers, left out: 2." in text
    assert "|" not in text
    nothing = render_probes_md(summary(scores("Q1", None)), "en")
    assert "count nowhere: 1 of 1." in nothing


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_steady_judge_is_said_to_be_steady_only_if_it_was_asked_often_enough(
    language: str,
) -> None:
    never = TEXTS[language]["never"]

    assert never in render_probes_md(summary(five(3, 3, 3)), language)
    assert never not in render_probes_md(summary(five(3, 3)), language)
    assert never not in render_probes_md(summary(five(3, 3, 4)), language)


def test_a_template_from_a_hostile_file_stays_in_its_cell() -> None:
    evil = planted("canary", "E1", "<b>x</b> | `y`\n\n# z", "red")

    text = render_probes_md(summary(flags("E1", "green", "green"), evil), "en")

    assert "<b>" not in text
    assert "\n# z" not in text
    rows = [line for line in text.splitlines() if "x" in line and line.startswith("|")]
    assert [len(line.replace("\\|", "").split("|")) for line in rows] == [6]
