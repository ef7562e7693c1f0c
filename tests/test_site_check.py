"""``verify`` of a site: an untouched one is whole, and whatever is changed in one is named."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from site_bundles import build
from small_site import MODELS, TINY, SmallSite, sign

from touchstone.errors import InputError
from touchstone.gui.loading import load_site
from touchstone.gui.site_check import check_site
from touchstone.gui.site_data import publish_data
from touchstone.gui.target import MANIFEST, MARK

ROOT = Path(__file__).parents[1]
Change = Callable[[SmallSite], Any]
ARCHIVE = f"{TINY}/bundle.zip"
E1, RUN = f"{TINY}/prompts/E1.html", f"{TINY}/run.html"


@pytest.fixture
def site(tmp_path: Path) -> SmallSite:
    return SmallSite(tmp_path)


def problems(site: SmallSite) -> list[tuple[str, str]]:
    return [(one.code, one.where) for one in site.check().problems]


def messages(site: SmallSite) -> str:
    return "\n".join(one.message for one in site.check().problems)


def test_an_untouched_site_has_no_problem_and_everything_was_looked_at(site: SmallSite) -> None:
    findings = site.check()

    assert findings.problems == ()
    assert [note.code for note in findings.notes] == [
        *("unsealed", "dangling_citation", "unverifiable_quote"),
    ]
    assert findings.checked == {
        "files": 12,
        "pages": 8,
        "links": 5,
        "permalinks": 7,
        "bundles": 1,
        "answers": 6,
        "scores": 8,
        "hashes": 9,
        "citations": 3,
        "figures": 16,
    }


def test_the_site_of_the_shipped_bundles_has_no_problem(tmp_path: Path) -> None:
    bundles = tmp_path / "bundles"
    shutil.copytree(ROOT / "bundles", bundles)
    site = build(bundles)
    for view in load_site(bundles).views:
        publish_data(site, view)
    sign(site)
    findings = check_site(site)

    assert findings.problems == ()
    assert findings.checked["bundles"] == 2
    assert findings.checked["answers"] == 144
    assert findings.checked["links"] > 1000
    assert "no_data" not in [note.code for note in findings.notes]


# --- files and links -----------------------------------------------------------------------


def link_away(site: SmallSite) -> None:
    page = site.path / E1
    page.rename(site.path.parent / "E1.html")
    page.symlink_to(site.path.parent / "E1.html")


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda site: site.replace("index.html", "tiny<", "Tiny<"), ("file_changed", "index.html")),
        (lambda site: site.replace(E1, "article", "Article"), ("file_changed", E1)),
        (link_away, ("file_changed", E1)),
        (lambda site: site.write("notes/x.txt", "x"), ("foreign_file", "notes/x.txt")),
        (lambda site: site.write(f"{TINY}/.hidden", "x"), ("foreign_file", f"{TINY}/.hidden")),
        (lambda site: (site.path / RUN).unlink(), ("file_missing", RUN)),
    ],
    ids=["one letter", "upper case", "a link", "foreign", "hidden", "missing"],
)  # fmt: skip
def test_a_file_that_is_not_as_it_was_built_is_named(
    site: SmallSite, change: Change, found: tuple[str, str]
) -> None:
    change(site)
    assert problems(site) == [found]


def test_a_missing_page_is_missed_by_the_list_the_links_and_the_permalinks(
    site: SmallSite,
) -> None:
    (site.path / E1).unlink()
    found = problems(site)
    assert found[0] == ("file_missing", E1)
    assert ("broken_link", MODELS["alpha"]) in found
    assert ("permalink_broken", "permalinks.json: entry 1") in found


def test_a_link_to_nowhere_is_named_though_the_list_was_written_again(site: SmallSite) -> None:
    site.write("index.html", f'<a href="{TINY}/gone.html">tiny</a><p id="a"><p id="a">')
    site.sign()
    assert problems(site) == [("repeated_id", "index.html"), ("broken_link", "index.html")]


def test_a_signature_and_a_repository_are_no_foreign_files(site: SmallSite) -> None:
    site.write(f"{MANIFEST}.asc", "signed")
    site.write(".git/HEAD", "ref")
    site.write(MARK, "")
    assert problems(site) == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "does not map names"),
        ('{"format": 1, "files": ["a"]}', "does not map names"),
        ('{"format": 1, "files": {"a": 1}}', "does not map names"),
        ('{"format": 2, "files": {}}', "has format 2"),
    ],
)
def test_a_list_of_files_that_can_not_be_read_is_an_error(
    site: SmallSite, content: str, words: str
) -> None:
    site.write(MANIFEST, content)
    with pytest.raises(InputError, match=words):
        site.check()


@pytest.mark.parametrize("name", ["../tiny/bundle.yaml", "/etc/hostname", "a\\b", "c:x", "a\0b"])
def test_a_list_of_files_never_leads_out_of_the_site(site: SmallSite, name: str) -> None:
    site.change_json(MANIFEST, lambda data: data["files"].update({name: "0" * 64}))
    assert problems(site) == [("manifest_unreadable", MANIFEST)]


# --- the data ------------------------------------------------------------------------------


def test_an_answer_changed_inside_the_archive_is_named_everywhere_it_matters(
    site: SmallSite,
) -> None:
    site.change_archive("answers.jsonl", lambda old: old.replace(b"alpha answer to E1", b"Alpha"))
    assert problems(site)[0] == ("file_changed", ARCHIVE)
    site.sign()
    assert problems(site) == [
        ("permalink_changed", "permalinks.json"),
        ("page_differs", RUN),
        ("page_differs", RUN),
        ("page_differs", E1),
        ("citation_differs", f"{TINY}/evidence.json: entry 1"),
    ]


def test_a_score_changed_inside_the_archive_changes_score_json_and_the_scorecard(
    site: SmallSite,
) -> None:
    site.change_archive("reports.jsonl", lambda old: old.replace(b'"Q1": 4', b'"Q1": 5'))
    site.sign()
    found = site.check().problems
    assert [one.code for one in found].count("score_differs") == 4
    assert "rows[0].dim_scores.Q1 is 4, from the bundle follows 5" in [one.message for one in found]
    shown = [one.message for one in found if one.where == f"{TINY}/index.html"]
    assert shown == [
        f"{MODELS['alpha']}: shows '4' as score in Q1, it is 5",
        f"{MODELS['alpha']}: shows '65.7 %' as quality, it is 74.28571429",
        f"{MODELS['alpha']}: shows '23' as points, it is 26",
    ]


def test_a_problem_of_the_bundle_itself_is_one_of_the_site(site: SmallSite) -> None:
    line = b'{"model":"alpha","variant":"default","prompt_id":"Z1","flag":"green"}\n'
    site.change_archive("verdicts.jsonl", lambda old: old + line)
    site.sign()
    assert ("dangling_verdict", f"{ARCHIVE}: verdicts.jsonl:7") in problems(site)


def test_a_bundle_in_another_ones_place_is_named(site: SmallSite) -> None:
    site.change_archive("bundle.yaml", lambda old: old.replace(b"id: tiny", b"id: huge"))
    site.sign()
    assert problems(site)[:2] == [
        ("id_mismatch", f"{ARCHIVE}: bundle.yaml"),
        ("id_mismatch", ARCHIVE),
    ]


def add_to_archive(name: str) -> Change:
    def change(site: SmallSite) -> None:
        with zipfile.ZipFile(site.path / ARCHIVE, "a") as archive:
            archive.writestr(name, "x")

    return change


@pytest.mark.parametrize(
    ("change", "found", "words"),
    [
        (add_to_archive("../../evil"), "bundle_unreadable", "a place outside"),
        (add_to_archive("tiny/virus.exe"), "foreign_file", "virus.exe"),
        (lambda site: site.write(ARCHIVE, b"PK"), "bundle_unreadable", "damaged or no ZIP"),
        (
            lambda site: site.write(ARCHIVE, (site.path / ARCHIVE).read_bytes()[:-40]),
            "bundle_unreadable",
            "damaged or no ZIP",
        ),
        (
            lambda site: site.change_archive("bundle.yaml", lambda old: b"format: 1\n"),
            "bundle_unreadable",
            "is required",
        ),
        (
            lambda site: site.change_archive("verdicts.jsonl", lambda old: b"{}\n" + old),
            "bundle_unreadable",
            "verdicts.jsonl:1: model",
        ),
    ],
    ids=["traversal", "foreign file", "no archive", "truncated", "no bundle", "unreadable verdict"],
)
def test_an_archive_that_can_not_be_trusted_is_named(
    site: SmallSite, change: Change, found: str, words: str
) -> None:
    change(site)
    site.sign()
    assert (found, ARCHIVE) in problems(site)
    assert words in messages(site)
    assert not list(site.path.parent.parent.glob("**/evil"))


def spoil_scores(change: Callable[[Any], object]) -> Change:
    return lambda site: site.change_json(f"{TINY}/score.json", change)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            spoil_scores(lambda data: data["rows"][0].update(quality_pct=80)),
            "rows[0].quality_pct is 80, from the bundle follows 65.714286",
        ),
        (spoil_scores(lambda data: data["rows"][0].update(rank=True)), "rows[0].rank is true"),
        (spoil_scores(lambda data: data["rows"].pop()), "rows is ["),
        (
            spoil_scores(lambda data: data["rows"][1]["ko"].update(state="passed")),
            'rows[1].ko.state is "passed", from the bundle follows "failed"',
        ),
        (spoil_scores(lambda data: data.pop("judge")), "judge is missing"),
        (spoil_scores(lambda data: data.update(best="beta")), "best does not belong there"),
        (lambda site: site.write(f"{TINY}/score.json", "[1, 2]"), "it is [1, 2], from"),
        (lambda site: site.write(f"{TINY}/score.json", "{"), "is not JSON"),
        (lambda site: (site.path / TINY / "score.json").unlink(), "can't be read"),
    ],
)
def test_a_score_json_that_does_not_follow_from_the_bundle_is_named(
    site: SmallSite, change: Change, words: str
) -> None:
    change(site)
    site.sign()
    assert problems(site) == [("score_differs", f"{TINY}/score.json")]
    assert words in messages(site)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("65.7 %", "75.7 %", "shows '75.7 %' as quality, it is 65.71428571"),
        ("<span data-rank>1<", "<span data-rank>2<", "shows '2' as rank, it is 1"),
        ("<span data-rank>–<", "<span data-rank>2<", "shows '2' as rank, there is none"),
        ('data-score="Q2"><b>3', 'data-score="Q2"><b>4', "shows '4' as score in Q2, it is 3"),
        ('data-score="Q2"', 'data-score="Q9"', "shows a score in 'Q9', which the suite lacks"),
        (">K.-o.<", ">passed<", "shows the gate as 'passed' (failed), it is failed"),
        ('data-gate="failed"', 'data-gate="passed"', "shows the gate as 'K.-o.' (passed)"),
        ("<span data-points>35<", "<span data-points>34<", "shows '34' as points, it is 35"),
        (" data-quality", "", "shows no quality"),
        ('<td data-score="Q4">', "<td>", "shows no score Q4"),
    ],
)
def test_a_number_on_a_page_that_does_not_follow_from_the_bundle_is_named(
    site: SmallSite, old: str, new: str, words: str
) -> None:
    site.replace(f"{TINY}/index.html", old, new)
    site.sign()
    assert set(problems(site)) == {("page_differs", f"{TINY}/index.html")}
    assert words in messages(site)


def test_a_scorecard_that_marks_no_numbers_is_noted_as_not_checked(site: SmallSite) -> None:
    site.write(f"{TINY}/index.html", "<p>65.7 %</p>")
    site.sign()
    assert problems(site) == []
    (note,) = [one for one in site.check().notes if one.code == "not_checked"]
    assert note.where == f"{TINY}/index.html"


def test_a_site_without_its_data_is_checked_as_far_as_that_goes(site: SmallSite) -> None:
    (site.path / ARCHIVE).unlink()
    (site.path / TINY / "score.json").unlink()
    site.sign()
    findings = site.check()
    assert findings.problems == ()
    assert [(note.code, note.where) for note in findings.notes] == [
        ("no_data", TINY),
        ("not_checked", "permalinks.json"),
    ]
    assert findings.checked["links"] == 5
    assert "answers" not in findings.checked


# --- permalinks and evidence ---------------------------------------------------------------


def in_file(name: str, change: Callable[[Any], object]) -> Change:
    return lambda site: site.change_json(name, change)


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (lambda links: links[0].update(url=f"{E1}#gamma"), "permalink_broken", "that anchor"),
        (lambda links: links[0].update(url="x.html"), "permalink_broken", "leads nowhere"),
        (lambda links: links[0].update(url="../x"), "permalink_broken", "out of the site"),
        (lambda links: links[0].pop("url"), "permalink_broken", "has no url"),
        (lambda links: links[0].update(key=["tiny"]), "permalink_broken", "names no answer"),
        (lambda links: links[0].update(key=[1, 2, 3, 4]), "permalink_broken", "names no answer"),
        (lambda links: links[0].update(answer_sha256="0" * 64), "permalink_changed", "answer 0000"),
        (lambda links: links[0]["key"].__setitem__(3, "Z9"), "permalink_changed", "does not hold"),
        (lambda links: links.append("x"), "permalink_broken", "is no list of entries"),
    ],
)  # fmt: skip
def test_a_permalink_that_does_not_hold_is_named(
    site: SmallSite, change: Callable[[Any], object], code: str, words: str
) -> None:
    site.change_json("permalinks.json", change)
    site.sign()
    (found,) = site.check().problems
    assert found.code == code
    assert found.where.startswith("permalinks.json")
    assert words in found.message


@pytest.mark.parametrize(("earlier", "is_known"), [("a1", True), ("a0", True), ("a2", False)])
def test_a_permalink_with_an_earlier_id_is_about_the_answer_it_has_today(
    site: SmallSite, earlier: str, is_known: bool
) -> None:
    aliases = (
        b"aliases: {models: [{from: {model: a0, variant: x}, to: {model: a1, variant: x}}, "
        b"{from: {model: a1, variant: x}, to: {model: alpha, variant: default}}], "
        b"prompts: {old: E1}}\n"
    )
    site.change_archive("bundle.yaml", lambda old: old + aliases)
    key = ["tiny", earlier, "x", "old", None]
    site.change_json("permalinks.json", lambda links: links[0].update(key=key))
    site.sign()
    assert ("permalink_changed" not in [code for code, _ in problems(site)]) is is_known


@pytest.mark.parametrize("change", [
    lambda entry: entry.update(spans=[[0, 22]], place=None),
    lambda entry: entry.update(quote=" The alpha answer to E1\n"),
    lambda entry: entry.pop("kind"),
])  # fmt: skip
def test_what_an_entry_says_beside_its_class_may_hold(
    site: SmallSite, change: Callable[[Any], object]
) -> None:
    site.change_json(f"{TINY}/evidence.json", lambda entries: change(entries[0]))
    site.sign()
    assert problems(site) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda entry: entry.update(start=4), "not what stands at 4 to 22"),
        (lambda entry: entry.update(end=23), "not what stands at 0 to 23"),
        (lambda entry: entry.update(start=22), "not what stands at 22 to 22"),
        (lambda entry: entry.update(end=5000), "not what stands at 0 to 5000"),
        (lambda entry: entry.update(start=-1), "not what stands at -1 to 22"),
        (lambda entry: entry.update(start=None), "not what stands at None to 22"),
        (lambda entry: entry.update(start=False), "not what stands at False to 22"),
        (lambda entry: entry.update(start=None, end=None), "not what stands at None to None"),
        (lambda entry: entry.update({"class": "normalised"}), "called normalised, but by the"),
        (lambda entry: entry.update({"class": "unverifiable"}), "it is verbatim"),
        (lambda entry: entry.update({"class": "<b>"}), "called <b>, but"),
        (lambda entry: entry.update(kind="paraphrase"), "another one in the report"),
        (lambda entry: entry.update(spans=[[0, 21]]), "its spans are not the places"),
        (lambda entry: entry.update(spans=[[False, 22]]), "its spans are not the places"),
        (lambda entry: entry.update(spans=None), "its spans are not the places"),
        (lambda entry: entry.update(place=["alpha", "default", "E1"]), "as their place"),
        (lambda entry: entry.update(place={}), "as their place"),
        (lambda entry: entry.update(answer_sha256=None), "has another hash"),
        (lambda entry: entry.update(prompt_id="E2"), "has another hash"),
        (lambda entry: entry.update(quote="The alpha answer to E2"), "another one in the report"),
        (lambda entry: entry.update(n=9), "the report has no citation 9 of Q1"),
        (lambda entry: entry.pop("model"), "lacks a model"),
    ],
)  # fmt: skip
def test_a_citation_that_does_not_hold_is_named(
    site: SmallSite, change: Callable[[Any], object], words: str
) -> None:
    site.change_json(f"{TINY}/evidence.json", lambda entries: change(entries[0]))
    site.sign()
    found = problems(site)
    assert found[0] == ("citation_differs", f"{TINY}/evidence.json: entry 1")
    assert {code for code, _ in found} == {"citation_differs"}
    assert words in messages(site)


def test_a_citation_that_was_left_out_is_named(site: SmallSite) -> None:
    site.change_json(f"{TINY}/evidence.json", lambda entries: entries.pop(1))
    site.sign()
    assert problems(site) == [("citation_differs", f"{TINY}/evidence.json")]
    assert "lacks citation 2 of Q1 in the report on alpha (default)" in messages(site)


@pytest.mark.parametrize("name", ["permalinks.json", f"{TINY}/evidence.json"])
@pytest.mark.parametrize("content", ["", "{}", "null", "[" * 100_000, json.dumps([1])])
def test_what_is_no_list_is_named(site: SmallSite, name: str, content: str) -> None:
    site.write(name, content)
    site.sign()
    assert [where for _, where in problems(site)] == [name]


def test_a_site_without_permalinks_and_evidence_is_no_problem(site: SmallSite) -> None:
    (site.path / "permalinks.json").unlink()
    (site.path / TINY / "evidence.json").unlink()
    site.sign()
    assert problems(site) == []
    assert "permalinks" not in site.check().checked
