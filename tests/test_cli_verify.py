"""``touchstone verify`` of sites and archives: what is printed, the JSON, the exit code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BundleFolder, Outcome
from small_site import TINY, SmallSite

from touchstone.bundle.archive import pack_bundle
from touchstone.gui.target import MANIFEST

Touchstone = Callable[..., Outcome]


@pytest.fixture
def site(tmp_path: Path) -> SmallSite:
    return SmallSite(tmp_path)


@pytest.mark.parametrize("end", ["", MANIFEST])
def test_a_whole_site_ends_with_what_was_checked(
    site: SmallSite, touchstone: Touchstone, end: str
) -> None:
    result = touchstone("verify", site.path / end)

    assert result.code == 0
    assert result.err.splitlines()[-1] == (
        f"{site.path / end}: no problems; checked: files 12, pages 8, links 5, permalinks 7, "
        "bundles 1, answers 6, scores 8, hashes 9, citations 3, figures 16"
    )
    assert all(line.startswith("note: ") for line in result.out.splitlines())


def test_problems_of_a_site_are_printed_and_set_the_exit_code(
    site: SmallSite, touchstone: Touchstone
) -> None:
    site.replace("index.html", "tiny<", "\x1b[31m<")
    site.write("über.txt", "x")
    result = touchstone("verify", site.path)

    assert result.code == 1
    lines = result.out.splitlines()
    assert lines[0].startswith("index.html: was changed: its SHA-256 is ")
    assert lines[0].endswith(" [file_changed]")
    assert lines[1] == f"über.txt: is not listed in {MANIFEST} [foreign_file]"
    assert "2 problems; checked" in result.err


def test_the_json_of_a_site_counts_what_was_checked(
    site: SmallSite, touchstone: Touchstone
) -> None:
    result = touchstone("verify", site.path, "--json")
    assert (result.code, result.err) == (0, "")
    assert list(result.json) == ["ok", "problems", "notes", "checked"]
    assert result.json["ok"] is True
    assert result.json["checked"]["answers"] == 6

    (site.path / TINY / "run.html").unlink()
    result = touchstone("verify", site.path, "--json")
    assert result.code == 1
    assert result.json["problems"] == [
        {
            "code": "file_missing",
            "where": f"{TINY}/run.html",
            "message": f"is listed in {MANIFEST}, but not there",
        }
    ]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "manifest_unreadable"),
        ('{"format": 9, "files": {}}', "has format 9"),
    ],
)
def test_a_site_whose_list_can_not_be_read_is_an_error_without_a_stack_trace(
    site: SmallSite, touchstone: Touchstone, content: str, words: str
) -> None:
    site.write(MANIFEST, content)
    result = touchstone("verify", site.path)
    assert result.code == 1
    assert words in result.out
    assert "Traceback" not in result.out + result.err


def test_the_archive_of_a_bundle_is_checked_like_its_folder(
    folder: BundleFolder, touchstone: Touchstone, tmp_path: Path
) -> None:
    folder.answers("E1")
    pack_bundle(folder.open(), tmp_path / "bundle.zip")
    of_folder = touchstone("verify", folder.path, "--json").json
    result = touchstone("verify", tmp_path / "bundle.zip", "--json")

    assert result.code == 0
    assert result.json == of_folder
    assert result.json["checked"] == {"answers": 1, "verdicts": 0, "reports": 0, "citations": 0}


def test_an_archive_that_is_none_is_named(touchstone: Touchstone, tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04 and then nothing")
    result = touchstone("verify", tmp_path / "a.zip", "--json")
    assert result.code == 1
    (problem,) = result.json["problems"]
    assert (problem["code"], problem["where"]) == ("bundle_unreadable", "a.zip")


def test_a_folder_that_is_nothing_says_what_it_lacks(
    touchstone: Touchstone, tmp_path: Path
) -> None:
    result = touchstone("verify", tmp_path)
    assert result.code == 1
    assert f"neither a site (no {MANIFEST}), nor a bundle (no bundle.yaml)" in result.out
