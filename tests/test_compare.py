"""What differs between two bundles, with figures worked out by hand (see builders_compare)."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import builders_compare as made
import pytest
from builders_compare import ALPHA, BETA, OLD, SUITE, Record, write

from touchstone.bundle import Bundle
from touchstone.errors import SiteError
from touchstone.gui.bundle_view import BundleView
from touchstone.gui.compare import AnswerMatch, Comparison, FlagChange, ModelChange
from touchstone.gui.compare_plan import comparison_links, planned_comparisons
from touchstone.gui.links import compare_page
from touchstone.gui.loading import BrokenBundle, Site
from touchstone.gui.locale import Locale
from touchstone.gui.suite_changes import Changed, SuiteChanges, suite_changes
from touchstone.gui.wording import Wording
from touchstone.models import Suite
from touchstone.slugs import slug

ENGLISH = Wording(Locale("en"))
FIRST = "The delivery is due on Monday."
NEXT = "It needs two signatures."
LAST = "Nobody else may open it."


@pytest.fixture
def comparison(tmp_path: Path) -> Comparison:
    return made.compared(tmp_path)


def model(comparison: Comparison, name: str) -> ModelChange:
    return next(one for one in comparison.models if one.after.entry.model == name)


# --- models and scores ---------------------------------------------------------------------


def test_models_are_found_again_by_id_and_by_alias(comparison: Comparison) -> None:
    pairs = [(one.before.row.pair, one.after.row.pair) for one in comparison.models]
    assert pairs == [(BETA, BETA), (OLD, ALPHA)]
    assert [one.is_renamed for one in comparison.models] == [False, True]
    assert [line.entry.model for line in comparison.only_before] == ["gone"]
    assert [line.entry.model for line in comparison.only_after] == ["new"]


def test_quality_moves_by_percentage_points(comparison: Comparison) -> None:
    alpha, beta = model(comparison, "alpha"), model(comparison, "beta")
    assert alpha.before.row.total.quality_pct == pytest.approx(100 * 23 / 30)
    assert alpha.after.row.total.quality_pct == pytest.approx(100 * 20 / 30)
    assert (alpha.quality_delta, beta.quality_delta) == (-10.0, -13.333333)
    assert (alpha.common_delta, beta.common_delta) == (-8.0, -8.0)
    assert [one.row.rank for one in (alpha.before, alpha.after)] == [2, None]


def test_each_dimension_has_both_scores(comparison: Comparison) -> None:
    scores = [(one.before, one.after, one.delta) for one in model(comparison, "alpha").scores]
    assert scores == [(4, 2, -2), (3, 4, 1), (5, 5, 0), (None, 3, None)]
    last = model(comparison, "alpha").scores[-1]
    assert (last.dimension, last.in_before, last.in_after) == ("Q4", False, True)
    assert last.is_changed


def test_the_gate_is_compared(comparison: Comparison) -> None:
    states = [(one.before.row.ko.state, one.after.row.ko.state) for one in comparison.models]
    assert states == [("passed", "not_assessable"), ("passed", "failed")]
    assert all(one.is_gate_changed for one in comparison.models)


def test_missing_scores_are_told_from_low_ones(tmp_path: Path) -> None:
    first = write(tmp_path / "a", ["alpha"], {"reports": [made.report("alpha", 2, 2, 3)]})
    second = write(tmp_path / "b", ["alpha"], {"reports": [made.report("alpha", 2, None, 3)]})
    change = Comparison(first, second).models[0]
    assert (change.missing_delta, change.common_delta) == (1, 0.0)
    assert change.quality_delta == pytest.approx(-100 * 4 / 30)


@pytest.mark.parametrize(
    ("aliases", "before", "after", "found"),
    [
        ({"a": "b"}, ["a"], ["b"], {"a": "b"}),
        ({"a": "b"}, ["a", "b"], ["b"], {"b": "b"}),
        ({"a": "b", "b": "c"}, ["a"], ["c"], {"a": "c"}),
        ({"a": "b", "b": "a"}, ["a"], ["c"], {}),
        ({}, ["a"], ["b"], {}),
    ],
)
@pytest.mark.parametrize("is_turned", [False, True])
def test_aliases_lead_to_one_model_each_whichever_bundle_comes_first(
    tmp_path: Path,
    aliases: Mapping[str, str],
    before: Sequence[str],
    after: Sequence[str],
    found: Mapping[str, str],
    is_turned: bool,
) -> None:
    renamed = [
        {"from": {"model": old, "variant": "default"}, "to": {"model": new, "variant": "default"}}
        for old, new in aliases.items()
    ]
    views = (
        write(tmp_path / "one", before, {}),
        write(tmp_path / "two", after, {}, aliases={"models": renamed}),
    )
    comparison = Comparison(*(reversed(views) if is_turned else views))
    pairs = {one.before.entry.model: one.after.entry.model for one in comparison.models}
    assert pairs == ({new: old for old, new in found.items()} if is_turned else found)


def test_a_model_that_two_became_is_compared_with_one_of_them(tmp_path: Path) -> None:
    renamed = [
        {"from": {"model": old, "variant": "default"}, "to": {"model": "c", "variant": "default"}}
        for old in ("a", "b")
    ]
    first = write(tmp_path / "one", ["b", "a"], {})
    second = write(tmp_path / "two", ["c"], {}, aliases={"models": renamed})
    comparison = Comparison(first, second)
    assert [one.before.entry.model for one in comparison.models] == ["a"]
    assert [line.entry.model for line in comparison.only_before] == ["b"]


def test_two_bundles_that_both_renamed_a_model_still_have_it_in_common(tmp_path: Path) -> None:
    def renamed(to: str) -> dict[str, Any]:
        old, new = ({"model": one, "variant": "default"} for one in ("first", to))
        return {"aliases": {"models": [{"from": old, "to": new}]}}

    first = write(tmp_path / "one", ["x"], {}, **renamed("x"))
    second = write(tmp_path / "two", ["y"], {}, **renamed("y"))
    assert Comparison(first, second).matches.models == {("x", "default"): ("y", "default")}


# --- answers and flags ---------------------------------------------------------------------


def test_answers_are_compared_by_their_hash(comparison: Comparison) -> None:
    found = comparison.answers
    assert found.common == 6
    assert found.changed == (
        AnswerMatch((*BETA, "E2"), (*BETA, "E2")),
        AnswerMatch((*OLD, "E1"), (*ALPHA, "E1")),
    )
    assert (found.only_before, found.only_after) == ((), ())
    assert not comparison.has_same_answers


def test_answers_that_one_bundle_lacks_are_named(tmp_path: Path) -> None:
    texts = {"alpha": {"E1": "one", "E2": "two"}}
    first = write(tmp_path / "a", ["alpha"], {"answers": made.answers(texts)})
    texts = {"alpha": {"E2": "two", "E3": "three"}}
    second = write(tmp_path / "b", ["alpha"], {"answers": made.answers(texts)})
    found = Comparison(first, second).answers
    assert (found.common, found.changed) == (1, ())
    assert (found.only_before, found.only_after) == (((*ALPHA, "E1"),), ((*ALPHA, "E3"),))


def test_a_renamed_prompt_keeps_its_answers(tmp_path: Path) -> None:
    suite = copy.deepcopy(SUITE)
    suite["prompts"][0]["id"] = "E9"
    first = write(tmp_path / "a", ["alpha"], {"answers": made.answers({"alpha": {"E1": "one"}})})
    records = {"answers": made.answers({"alpha": {"E9": "one"}})}
    aliases = {"prompts": {"E1": "E9"}}
    second = write(tmp_path / "b", ["alpha"], records, suite=suite, aliases=aliases)
    comparison = Comparison(first, second)
    assert (comparison.answers.common, comparison.answers.changed) == (1, ())
    assert comparison.suite == SuiteChanges(prompts=(Changed("E1", "E9"),))


def test_flags_that_count_are_compared_for_every_common_answer(comparison: Comparison) -> None:
    found = comparison.flags
    assert found is not None
    assert found.changed == (
        FlagChange(AnswerMatch((*BETA, "E2"), (*BETA, "E2")), "green", "none"),
        FlagChange(AnswerMatch((*OLD, "E1"), (*ALPHA, "E1")), "green", "red"),
        FlagChange(AnswerMatch((*OLD, "E3"), (*ALPHA, "E3")), "yellow", "green"),
    )
    assert [one.direction for one in found.changed] == [0, 1, -1]
    # Beta's red flag on E1 was set to green by a decision: it has not changed.
    assert sum(found.counts.values()) == 6
    assert found.counts["green", "green"] == 3


def test_without_flags_on_one_side_there_is_nothing_to_compare(tmp_path: Path) -> None:
    records = {"answers": made.answers(made.AFTER)}
    first = made.write_before(tmp_path / "a")
    second = write(tmp_path / "b", ["beta"], records)
    comparison = Comparison(first, second)
    assert comparison.flags is None
    assert comparison.citations == []
    assert [one.quality_delta for one in comparison.models] == [None]
    assert comparison.judges == "one"


# --- citations -----------------------------------------------------------------------------


def test_citations_are_paired_by_answer_and_words_then_by_answer(comparison: Comparison) -> None:
    first, second = comparison.citations
    assert (first.dimension, first.counts, first.reworded) == ("Q1", (2, 1, 0), 1)
    lost, levelled, new = first.changed
    assert lost.before is not None
    assert lost.after is not None
    assert (lost.before.kind, lost.after.kind) == ("verbatim", "unverifiable")
    assert levelled.after is not None
    assert (levelled.after.kind, levelled.has_other_words) == ("normalised", False)
    assert new.after is not None
    assert (new.before, new.after.prompt_id, new.after.kind) == (None, "E9", "dangling")
    assert (second.dimension, second.counts) == ("Q2", (0, 0, 1))


@pytest.mark.parametrize(
    ("before", "after", "counts", "reworded"),
    [
        ([], [], (0, 0, 0), 0),
        ([FIRST], [FIRST], (0, 0, 0), 0),
        ([FIRST, FIRST], [FIRST], (0, 0, 1), 0),
        ([FIRST], [NEXT], (0, 0, 0), 1),
        ([FIRST], ["no such words stand anywhere here"], (1, 0, 0), 0),
        ([FIRST, NEXT], [NEXT, LAST], (0, 0, 0), 1),
        ([], [FIRST, NEXT], (0, 2, 0), 0),
    ],
)
def test_citations_of_one_answer(
    tmp_path: Path,
    before: Sequence[str],
    after: Sequence[str],
    counts: tuple[int, int, int],
    reworded: int,
) -> None:
    answers = made.answers({"alpha": {"E1": f"{FIRST} {NEXT} {LAST}"}})

    def view(name: str, quotes: Sequence[str]) -> BundleView:
        evidence = {"Q1": [made.quoted("E1", quote) for quote in quotes]}
        reports = [made.report("alpha", 3, 3, 3, evidence=evidence)]
        return write(tmp_path / name, ["alpha"], {"answers": answers, "reports": reports})

    found = Comparison(view("a", before), view("b", after)).citations
    if counts == (0, 0, 0) and not reworded:
        assert found == []
    else:
        assert [(one.counts, one.reworded) for one in found] == [(counts, reworded)]


# --- judges and suites ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "judges"),
    [
        ([made.judge("a" * 16)], [made.judge("a" * 16)], "same"),
        ([made.judge("a" * 16)], [made.judge("b" * 16)], "different"),
        ([made.judge("a" * 16)], [], "unknown"),
        ([], [], "unknown"),
    ],
)
def test_judges_are_told_apart_by_their_fingerprints(
    tmp_path: Path, first: Sequence[Record], second: Sequence[Record], judges: str
) -> None:
    records = {"reports": [made.report("alpha", 3, 3, 3)]}
    views = [
        write(tmp_path / name, ["alpha"], records, judges=list(given))
        for name, given in (("a", first), ("b", second))
    ]
    assert Comparison(*views).judges == judges


def test_bundles_that_nobody_judged_have_no_judges(tmp_path: Path) -> None:
    views = [write(tmp_path / name, ["alpha"], {}) for name in ("a", "b")]
    assert Comparison(*views).judges == "none"


def test_the_suite_is_compared_part_by_part(comparison: Comparison) -> None:
    assert comparison.suite == SuiteChanges(
        prompts=(Changed("D1", None), Changed("E2", "E2", ("expectation",))),
        dimensions=(Changed("Q1", "Q1", ("weight",)), Changed(None, "Q4")),
    )
    assert comparison.suite.affects_total


def changed_suite(**changes: Any) -> Suite:
    return Suite.model_validate(SUITE | changes)


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, SuiteChanges()),
        ({"title": "Other", "language": "de"}, SuiteChanges(fields=("language", "title"))),
        (
            {"prompts": [*SUITE["prompts"][:3], {"id": "D1", "text": "Other.", "max_tokens": 5}]},
            SuiteChanges(prompts=(Changed("D1", "D1", ("text", "max_tokens")),)),
        ),
        ({"prompts": SUITE["prompts"][::-1]}, SuiteChanges()),
        (
            {"dimensions": [*SUITE["dimensions"][:2], {"id": "Q3", "name": "S", "weight": 1}]},
            SuiteChanges(dimensions=(Changed("Q3", "Q3", ("name",)),)),
        ),
    ],
)
def test_what_changed_in_a_suite(changes: Mapping[str, Any], found: SuiteChanges) -> None:
    before, after = changed_suite(), changed_suite(**changes)
    same = {prompt.id: prompt.id for prompt in before.prompts}
    assert suite_changes(before, after, same) == found
    assert bool(found) == bool(changes) or changes.keys() == {"prompts"}


@pytest.mark.parametrize(
    ("before", "after", "is_same"),
    [
        (["E1", "D1"], ["D1", "N1"], True),
        (["E1", "D1"], ["D1"], False),
        ("all", "none", False),
        ("all", "all", True),
    ],
)
def test_the_fatal_scope_is_compared_with_todays_names(
    before: object, after: object, is_same: bool
) -> None:
    rule = {"dimension": "Q3", "threshold": 2}
    prompts = [{"id": "N1", "text": "Write note E1."}, *SUITE["prompts"][1:]]
    first = changed_suite(ko_rule=rule | {"red_flag_scope": before})
    second = changed_suite(ko_rule=rule | {"red_flag_scope": after}, prompts=prompts)
    same = {"E1": "N1", "E2": "E2", "E3": "E3", "D1": "D1"}
    found = suite_changes(first, second, same)
    assert (found.rules is None) == is_same
    assert suite_changes(first, changed_suite(ko_rule=None), {}).rules == (first.ko_rule, None)


def test_the_same_suite_has_no_changes_and_another_form_no_differences(tmp_path: Path) -> None:
    first, second = (write(tmp_path / name, ["alpha"], {}) for name in ("a", "b"))
    assert Comparison(first, second).suite is None
    third = tmp_path / "c"
    write(third, ["alpha"], {})
    text = (third / "suite.yaml").read_text(encoding="utf-8")
    (third / "suite.yaml").write_text(f"# A note.\n{text}", encoding="utf-8")
    found = Comparison(first, BundleView(Bundle.open(third))).suite
    assert found == SuiteChanges()


# --- which bundles -------------------------------------------------------------------------


def bundles(root: Path, *facts: tuple[str, str | None, str, str]) -> Site:
    """Return a site of bundles: id, created, suite id and the model that answered E1."""
    views = []
    for name, created, suite_id, answered in facts:
        records = {"answers": made.answers({answered: {"E1": "x"}})}
        more = {"created": created} if created else {}
        suite = SUITE | {"id": suite_id}
        views.append(write(root / name, [answered], records, suite=suite, **more))
    return Site(views)


def paths(site: Site, *wanted: tuple[str, str]) -> list[str]:
    return [
        one.path.removeprefix("compare/").removesuffix(".html")
        for one in planned_comparisons(site, wanted)
    ]


def test_each_bundle_is_compared_with_the_one_before_it(tmp_path: Path) -> None:
    site = bundles(
        tmp_path,
        ("a", "2026-12-03", "notes", "x"),
        ("b", "2026-12-02T23:00:00-05:00", "notes", "x"),
        ("c", "2026-12-03T03:00:00Z", "notes", "x"),
        ("d", "2026-12-01", "other", "x"),
    )
    assert paths(site) == ["a--c", "c--b"]


def test_bundles_without_a_date_come_first_in_the_order_of_their_ids(tmp_path: Path) -> None:
    site = bundles(
        tmp_path,
        ("c", "2026-12-01", "notes", "x"),
        ("b", None, "notes", "x"),
        ("a", "yesterday", "notes", "x"),
    )
    assert paths(site) == ["a--b", "b--c"]


def test_bundles_with_nothing_in_common_are_passed_over(tmp_path: Path) -> None:
    site = bundles(
        tmp_path,
        ("a", "2026-12-01", "notes", "x"),
        ("b", "2026-12-02", "notes", "y"),
        ("c", "2026-12-03", "notes", "x"),
    )
    assert paths(site) == ["a--c"]


def test_the_same_models_are_enough_even_without_a_common_answer(tmp_path: Path) -> None:
    views = [write(tmp_path / name, ["alpha"], {}) for name in ("a", "b")]
    assert paths(Site(views)) == ["a--b"]
    other = write(tmp_path / "c", ["alpha", "beta"], {})
    assert paths(Site([views[0], other])) == []
    assert paths(Site([write(tmp_path / name, [], {}) for name in ("d", "e")])) == []


def test_any_pair_can_be_asked_for_and_has_one_page(tmp_path: Path) -> None:
    site = bundles(
        tmp_path,
        ("a", "2026-12-01", "notes", "x"),
        ("b", "2026-12-02", "notes", "y"),
        ("c", "2026-12-03", "notes", "x"),
    )
    wanted = [("b", "a"), ("a", "c"), ("b", "a"), ("c", "a")]
    assert paths(site, *wanted) == ["a--c", "b--a", "c--a"]
    links = comparison_links(site.views[0], planned_comparisons(site, wanted), ENGLISH)
    assert [(one.title, one.bundle_id, one.created) for one in links] == [
        ("c", "c", "2026-12-03"),
        ("b", "b", "2026-12-02"),
        ("c", "c", "2026-12-03"),
    ]


@pytest.mark.parametrize(
    ("wanted", "message", "hint"),
    [
        (("a", "nowhere"), "There is no bundle 'nowhere' to compare.", "There are: a, b, o."),
        (("a", "a"), "'a' can't be compared with itself", "two different bundles"),
        (("a", "o"), "different suites, 'notes' and 'other'", "bundles of one suite"),
        (("x y", "a"), "'x y' can't be compared: It is broken.", "touchstone verify 'x y'"),
    ],
)
def test_a_pair_that_cannot_be_compared_is_refused_with_its_reason(
    tmp_path: Path, wanted: tuple[str, str], message: str, hint: str
) -> None:
    site = bundles(
        tmp_path,
        ("a", None, "notes", "x"),
        ("b", None, "notes", "x"),
        ("o", None, "other", "x"),
    )
    site = Site(site.views, [BrokenBundle("x y", "It is broken.")])
    with pytest.raises(SiteError) as failure:
        planned_comparisons(site, [wanted])
    assert message in failure.value.message
    assert hint in failure.value.hint


@pytest.mark.parametrize(
    ("before", "after"),
    [("a", "b--c"), ("a--b", "c"), ("a-", "b"), ("a", "-b"), ("index", "CON"), ("a/b", "../x")],
)
def test_every_pair_has_an_address_of_its_own(before: str, after: str) -> None:
    path = compare_page(before, after)
    first, mark, second = path.removeprefix("compare/").removesuffix(".html").partition("--")
    assert mark
    assert (first + mark + second).isascii()
    assert path != compare_page(after, before)
    # Where the stem before ends in a dash, the first of the three is still part of it.
    assert path == f"compare/{slug(before)}--{slug(after)}.html"
    assert "--" not in slug(before) + "/" + slug(after)
