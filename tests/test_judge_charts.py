"""The charts of a judge's quality: where marks stand, what they say and where they lead."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.gui.judge_charts import (
    DASHES,
    FILLS,
    MOST_STACKED,
    Mark,
    Segment,
    class_bar,
    delta_position,
    delta_strip,
    dumbbell,
    swatch,
)

EVIL = "\"><script>alert(1)</script>' onload=x"


def svg(html: str) -> ElementTree.Element:
    """Read a chart strictly; what would reach out of it is refused."""
    root = ElementTree.fromstring(html)
    assert root.tag == "svg"
    for element in root.iter():
        assert element.tag not in ("style", "script", "use", "image")
        assert not {"id", "style"} & set(element.attrib)
        assert not [name for name in element.attrib if name.startswith("on") or ":" in name]
    return root


def links(root: ElementTree.Element) -> list[tuple[str, str]]:
    """Return address and name of every mark that leads somewhere; both names must be the same."""
    found = []
    for link in root.iter("a"):
        title = link.find("title")
        assert title is not None
        assert title.text == link.get("aria-label")
        found.append((link.get("href") or "", title.text or ""))
    return found


def labels(root: ElementTree.Element) -> list[str]:
    return [one.text or "" for one in root.iter("text") if one.get("class") == "num"]


# --- both means ----------------------------------------------------------------------------


def test_judge_and_reference_stand_on_the_scale_from_1_to_5() -> None:
    """1 lies at 6 % and 5 at 94 %: 22 % a level. 4.5 is at 6 + 22 × 3.5 = 83 %."""
    root = svg(dumbbell(4.5, 2, "Q1: judge 4.50, reference 2.00"))
    dot = root.find("circle")
    line = root.find("line[@class='con']")
    square = root.find("svg")
    assert dot is not None
    assert line is not None
    assert square is not None
    assert dot.get("cx") == "83%"
    assert square.get("x") == "28%"
    assert (line.get("x1"), line.get("x2")) == ("83%", "28%")
    assert [one.get("x1") for one in root.findall("line[@class='g']")] == [
        *("6%", "28%", "50%", "72%", "94%")
    ]


def test_a_dumbbell_says_in_words_what_it_shows() -> None:
    root = svg(dumbbell(1, 5, EVIL))
    assert root.get("role") == "img"
    assert root.get("aria-label") == EVIL
    assert root.findtext("title") == EVIL


def test_equal_means_keep_both_marks() -> None:
    root = svg(dumbbell(3, 3, "x"))
    assert len(root.findall("circle")) == 1
    assert len(list(root.iter("rect"))) == 1


# --- single ratings ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("delta", "x"), [(-4, 6.0), (-1, 39.0), (0, 50.0), (2, 72.0), (4, 94.0), (0.333, 53.66)]
)
def test_differences_lie_around_0(delta: float, x: float) -> None:
    assert delta_position(delta) == x


def mark(delta: int, name: str = "m") -> Mark:
    return Mark(delta, f"models/{name}.html#q1", f"{name}: {delta}")


def test_each_rating_is_a_mark_that_leads_to_its_rationale() -> None:
    root = svg(delta_strip([mark(0, "a"), mark(-2, "b"), mark(0, "c")], "All"))
    assert links(root) == [
        ("models/b.html#q1", "b: -2"),
        ("models/a.html#q1", "a: 0"),
        ("models/c.html#q1", "c: 0"),
    ]
    assert labels(root) == ["1", "2"]
    assert [one.get("x") for one in root.findall("svg")] == ["28%", "50%"]
    assert root.get("aria-label") == "All"


def test_marks_are_stacked_in_rows_around_the_middle() -> None:
    root = svg(delta_strip([mark(1) for _ in range(4)], "x"))
    dots = [(one.get("cx"), int(one.get("cy") or 0)) for one in root.iter("circle")]
    assert [x for x, _ in dots] == ["-11", "0", "11", "0"]
    lowest, above = dots[0][1], dots[3][1]
    assert lowest - above == 11
    assert len(set(dots)) == 4


def test_ratings_far_apart_have_another_shape() -> None:
    root = svg(delta_strip([mark(delta) for delta in (-3, -2, -1, 0, 1, 2, 4)], "x"))
    assert len(list(root.iter("path"))) == 4
    assert len(list(root.iter("circle"))) == 3


def test_more_ratings_than_can_be_told_apart_become_bars() -> None:
    few = svg(delta_strip([mark(0)] * MOST_STACKED, "x"))
    assert len(links(few)) == MOST_STACKED
    many = svg(delta_strip([mark(0)] * 90 + [mark(1)] * 30, "x"))
    assert links(many) == []
    assert many.get("role") == "img"
    assert [int(one.get("height") or 0) for one in many.iter("rect")] == [120, 40]
    assert labels(many) == ["90", "30"]


@given(
    st.lists(
        st.tuples(st.integers(-4, 4), st.text(st.characters(exclude_categories=["C"]), min_size=1))
    )
)
def test_whatever_the_ratings_are_the_strip_is_sound(ratings: list[tuple[int, str]]) -> None:
    marks = [Mark(delta, f"#{name}", name) for delta, name in ratings]
    if not marks:
        return
    chart = delta_strip(marks, "x")
    root = svg(chart)
    assert chart == delta_strip(marks, "x")
    assert sum(map(int, labels(root))) == len(marks)
    expected = sorted((f"#{name}", name) for _, name in ratings)
    assert links(root) == [] or sorted(links(root)) == expected
    bottom = int(root.get("height") or 0)
    assert all(0 < float(one.get("cy") or 0) < bottom for one in root.iter("circle"))


# --- classes of quotes ---------------------------------------------------------------------


def test_a_bar_is_shared_out_by_counts() -> None:
    """6, 3 and 1 of 10: 60 %, 30 % and 10 % of the width, one after the other."""
    root = svg(
        class_bar(
            [
                Segment(6, FILLS[0], "#class-verbatim", "verbatim: 6"),
                Segment(3, FILLS[1], "#class-normalised", "normalised: 3"),
                Segment(1, DASHES[0], "#class-near", "nearly: 1"),
            ],
            "Quotes",
        )
    )
    rects = [(one.get("x"), one.get("width")) for one in root.iter("rect")]
    assert rects == [("0.00%", "60.00%"), ("60.00%", "30.00%"), ("90.00%", "10.00%")]
    assert links(root)[2] == ("#class-near", "nearly: 1")
    assert labels(root) == ["6", "3", "1"]


def test_what_was_not_found_is_striped_not_only_coloured() -> None:
    root = svg(class_bar([Segment(1, DASHES[3], "#a", EVIL), Segment(1, FILLS[0], "#b", "b")], "x"))
    stripes = root.findall(".//line")
    assert [one.get("stroke-dasharray") for one in stripes] == [DASHES[3]]
    assert len({*FILLS, *DASHES}) == 10


def test_a_part_too_narrow_for_its_number_has_none() -> None:
    root = svg(class_bar([Segment(97, FILLS[0], "#a", "a"), Segment(3, DASHES[0], "#b", "b")], "x"))
    assert labels(root) == ["97"]
    assert len(links(root)) == 2


@pytest.mark.parametrize("fill", [*FILLS, *DASHES])
def test_a_legend_looks_like_its_part_of_the_bar(fill: str) -> None:
    part = svg(class_bar([Segment(1, fill, "#a", "a")], "x"))
    kind = [(one.tag, one.get("class"), one.get("stroke-dasharray")) for one in part.iter()]
    shown = [
        (one.tag, one.get("class"), one.get("stroke-dasharray")) for one in svg(swatch(fill)).iter()
    ]
    assert shown[1:] == [one for one in kind[1:] if one[0] in ("rect", "line")]
