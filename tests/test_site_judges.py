"""The page on all judges: tables where comparing is fair, and judge by judge."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import Watch, open_browser, served
from builders_judge_compare import refer, write_judge
from conftest import BundleFolder
from site_bundles import build, read, structure_of

PAGE = "judges.html"
CLOSE = {"alpha": (4, 3, 5, 3), "beta": (2, 1, 3, 2)}
FAR = {"alpha": (5, 5, 5, 5), "beta": (5, 5, 5, 5)}
EVIL = '<img src=x onerror="window.pwned=1">'


@pytest.fixture
def bundles(tmp_path: Path) -> Path:
    folder = tmp_path / "bundles"
    folder.mkdir()
    return folder


@pytest.fixture
def pair(bundles: Path) -> Path:
    """Two judges of the same answers, both held against eva."""
    refer(write_judge(bundles, "far", FAR, flags={"E1": "red", "E2": "green", "D1": None}))
    refer(write_judge(bundles, "close", CLOSE))
    return bundles


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of judges of every kind, which all have the same answers."""
    folder = tmp_path_factory.mktemp("judges") / "bundles"
    flags = {"E1": "red", "E2": "green", "D1": None}
    refer(write_judge(folder, "far", FAR, flags=flags))
    refer(write_judge(folder, "close", CLOSE))
    refer(write_judge(folder, "mapped", CLOSE, mode="map-reduce"))
    refer(write_judge(folder, "other", CLOSE), "bob", blind=False)
    write_judge(folder, "unreferred", CLOSE)
    changed = write_judge(folder, "changed", CLOSE)
    refer(changed)
    changed.verdicts({"E1": "yellow"})
    return build(folder)


def words_in(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def section(page: str, start: str, end: str = "<h2") -> str:
    """Return the page from the first ``start`` to the next ``end``."""
    return page.partition(start)[2].partition(end)[0]


def edit_quality(bundle: BundleFolder, **more: Any) -> None:
    path = bundle.path / "judge_quality.json"
    bundle.write(path.name, json.dumps({**json.loads(path.read_text()), **more}))


def test_judges_with_the_same_reference_share_a_table_best_skill_first(whole: Path) -> None:
    table = section(read(whole, PAGE), 'id="table-')
    rows = re.findall(r'<tr id="(judge--\w+)">(.*?)</tr>', table, re.DOTALL)
    assert [anchor for anchor, _ in rows] == ["judge--close", "judge--far"]
    close = words_in(rows[0][1])
    assert close.startswith("judge-close AI close print-of 8 100 % 88 % 100 % 0.12 [")
    assert "0.88 +0.12 0.96" in close
    assert "6 judges, compared where that is fair" in read(whole, PAGE)


def test_the_best_constant_stands_below_the_judges(whole: Path) -> None:
    table = section(read(whole, PAGE), '<tbody class="ts-jother">', "</table>")
    # Eva: 4 3 5 2 and 2 1 3 2. Two minus each: −2 −1 −3 0, 0 1 −1 0.
    assert words_in(table) == (
        "Best constant: always 2 8 – 38 % 75 % 1.00 0.00 −0.75 0.00 – – – – – – –"
    )


def test_every_judge_leads_to_its_quality_and_its_bundle(whole: Path) -> None:
    page = read(whole, PAGE)
    for name in ("close", "far"):
        assert page.count(f'href="bundles/{name}/judge-quality.html"') == 2
        assert f'href="bundles/{name}/index.html"' in page
    assert "bundles/unreferred/judge-quality.html" not in page
    assert 'id="judge--unreferred"' in page
    assert "touchstone judge-meta export unreferred" in page


def test_every_page_leads_to_the_judges(whole: Path) -> None:
    assert 'href="judges.html"' in read(whole, "index.html")
    assert 'href="../../judges.html' in read(whole, "bundles/close/judge-quality.html")


def test_headlines_stand_there_to_be_found(whole: Path) -> None:
    page = read(whole, PAGE)
    for name in ("close", "far", "changed"):
        path = whole.parent / "bundles" / name / "judge_quality.json"
        assert f">{json.loads(path.read_text())['headline']}</code>" in page


def test_other_conditions_make_another_table_and_are_said(whole: Path) -> None:
    page = read(whole, PAGE)
    assert len(re.findall(r'<h2 class="ts-h2" id="table-[0-9a-f]{8}"', page)) == 3
    said = words_in(section(page, 'id="differences"'))
    assert "Between tables nobody is ranked." in said
    assert (
        "Table 2 differs from table 1: another judging mode, “evidence answer by answer, then the "
        "whole (map-reduce)” instead of “all answers at once”."
    ) in said
    assert (
        "Table 3 differs from table 1: other references, “bob” instead of “eva”; not blind instead "
        "of blind."
    ) in said


def test_a_table_keeps_its_anchor_when_judges_join_it(pair: Path) -> None:
    before = re.findall(r'id="(table-[0-9a-f]{8})"', read(build(pair), PAGE))
    refer(write_judge(pair, "a-third", CLOSE))
    assert re.findall(r'id="(table-[0-9a-f]{8})"', read(build(pair), PAGE)) == before


def test_a_stale_result_is_marked_and_stands_apart(whole: Path) -> None:
    page = read(whole, PAGE)
    apart = section(page, 'id="not-compared"')
    assert 'class="ts-stale"' in apart
    assert "The bundle has changed since the judge was compared." in apart
    assert re.findall(r'id="(judge--\w+)"', apart) == ["judge--changed"]


def test_references_are_compared_with_each_other(bundles: Path) -> None:
    for name, scores in (("close", CLOSE), ("far", FAR)):
        bundle = write_judge(bundles, name, scores)
        refer(bundle, "ada", kind="human")
        refer(bundle, "bob", {"alpha": (5, 3, 5, 2), "beta": (2, 1, 3, 2)}, kind="human")
    table = section(read(build(bundles), PAGE), 'class="ts-jother"', "</table>")
    row = words_in(table.rpartition("<tr>")[2])
    assert row.startswith("ada and bob reference by reference: human – human 8 100 % 88 % 100 %")


def test_the_heat_map_says_everything_without_colour(whole: Path) -> None:
    page = read(whole, PAGE)
    cells = re.findall(r'<td class="ts-far(\d)" title="([^"]*)">(.*?)</td>', page)
    assert len(cells) == 6 * 5
    shown = {title: (level, words_in(text)) for level, title, text in cells}
    # 5 − (4 3 5 3 and 2 1 3 2): 17 in 8 scores.
    both = "judge-close and judge-far: 8 scores in common, 4 flags in common"
    assert shown[both] == ("4", "2.12 κ 0.00 n 8")
    same = "judge-close and judge-mapped: 8 scores in common, 6 flags in common"
    assert shown[same] == ("0", "0.00 κ 1.00 n 8")
    flags = section(page, "ts-hflags", "</table>")
    assert words_in(flags).count("50 % n 4") == 8, "far with four others, either way"


def test_a_judge_that_can_be_compared_in_nothing_is_not_coloured(bundles: Path) -> None:
    write_judge(bundles, "one", {"alpha": (1, 1, None, None), "beta": (None,) * 4})
    write_judge(bundles, "two", {"alpha": (None, None, 1, 1), "beta": (None,) * 4})
    write_judge(bundles, "three", {"alpha": (1, 1, 1, 1), "beta": (None,) * 4})
    page = read(build(bundles), PAGE)
    assert page.count('<td class="ts-hnone"') == 2
    assert page.count('<td class="ts-far0"') == 4
    assert "κ is undefined where both judges gave one and the same score throughout" in page
    assert "the two judges scored nothing in common" in page


def test_without_bundles_the_page_says_how_to_get_there(bundles: Path) -> None:
    found = structure_of(read(build(bundles), PAGE))
    assert found.wrong == []
    assert "No judge to compare yet" in found.text
    assert "touchstone judge-meta export" in found.text
    assert found.tables == []


def test_a_bundle_that_was_not_judged_is_no_judge(bundles: Path) -> None:
    BundleFolder(bundles / "tiny").answers("E1")
    assert "No judge to compare yet" in read(build(bundles), PAGE)


def test_one_judge_alone_is_shown_with_the_way_to_a_second(bundles: Path) -> None:
    refer(write_judge(bundles, "close", CLOSE))
    found = structure_of(read(build(bundles), PAGE))
    assert found.wrong == []
    assert "1 judge, and none to compare it with yet" in found.text
    assert "touchstone judge close --judge OTHER --into NEW" in found.text
    assert "judge-meta v2 | judge-close vs eva (blind)" in found.text
    assert len(found.tables) == 1


def test_the_page_is_in_order_with_everything_on_it(whole: Path) -> None:
    found = structure_of(read(whole, PAGE))
    assert found.wrong == []
    assert len(found.tables) == 6, "three groups, one held back, the heat map, the flags"


def test_of_very_many_judges_the_first_are_shown_and_the_rest_is_said(bundles: Path) -> None:
    for number in range(26):
        write_judge(bundles, f"judge-{number:02}", CLOSE)
    page = read(build(bundles), PAGE)
    assert page.count('<td class="ts-far0"') == 24 * 23
    assert "These are the first 24 of 26 judges" in page


def test_hostile_figures_and_names_are_shown_as_text_or_not_at_all(pair: Path) -> None:
    bundle = write_judge(pair, "evil", CLOSE)
    refer(bundle)
    manifest = (bundle.path / "bundle.yaml").read_text().replace("judge-evil", json.dumps(EVIL))
    bundle.write("bundle.yaml", manifest)
    edit_quality(
        bundle,
        headline=f"{EVIL}\n\x1b[31m\ud800",
        comparable={"references": [EVIL, 7, None], "mode": EVIL, "rubric": EVIL},
        exact="<b>1</b>",
        skill=float("nan"),
        qwk=10**30,
        counts=[[EVIL]],
        knock_out={"agree": True, "n": 3, "missed": EVIL},
    )
    page = read(build(pair), PAGE)
    assert "<img src=x" not in page
    assert "&lt;img src=x" in page
    assert structure_of(page).wrong == []
    assert "\x1b" not in page
    row = words_in(section(page, 'id="judge--evil"', "</tr>"))
    assert "nan" not in row
    assert "– 100 % 0.12" in row


def test_a_contract_file_by_hand_breaks_nothing(pair: Path) -> None:
    bundle = write_judge(pair, "by-hand", CLOSE)
    bundle.write("judge_quality.json", '{"format": 1, "headline": "by hand", "n": 8}')
    page = read(build(pair), PAGE)
    apart = section(page, 'id="not-compared"')
    assert "The result does not say which bundle it is about." in apart
    assert 'class="ts-stale"' not in apart
    assert ">by hand</code>" in apart


def test_numbers_are_written_as_the_language_has_it(pair: Path) -> None:
    page = read(build(pair, language="de"), PAGE)
    row = words_in(section(page, 'id="judge--close"', "</tr>"))
    assert "0,88 +0,12 0,96" in row
    assert "KI" in row


@pytest.mark.browser
@pytest.mark.xdist_group("site-browser")
def test_the_page_is_sound_however_it_is_looked_at(pair: Path) -> None:
    refer(write_judge(pair, "mapped-" + "x" * 60, CLOSE, mode="map-reduce"))
    for number in range(6):
        write_judge(pair, f"another-judge-{number}", CLOSE)
    changed = write_judge(pair, "changed", CLOSE)
    refer(changed)
    changed.verdicts({"E1": "yellow"})
    site, complaints = build(pair), []
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    with served(site) as address, open_browser() as chromium:
        page = chromium.new_context().new_page()
        watch = Watch(page, address)
        for width, scheme in product((1440, 360), schemes):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            page.goto(address + PAGE)
            root = "document.documentElement"
            wider = page.evaluate(f"() => {root}.scrollWidth - {root}.clientWidth")
            found = Axe().run(page).response["violations"]
            complaints += [f"{width} {scheme}: {one['id']}" for one in found]
            complaints += [f"{width} {scheme}: {wider} px wider"] if wider > 0 else []
        complaints += watch.complaints
    assert complaints == []
