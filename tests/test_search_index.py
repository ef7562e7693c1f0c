"""The index follows its bundles, and nothing that befalls its file stops a search."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from builders_search import Find, aged, finder, full, places, texts
from conftest import MANIFEST_YAML, BundleFolder, answer, review

from touchstone.search_store import Question, find_texts, index_path

ROOT = Path(__file__).parents[1]


@pytest.fixture
def bundles(tmp_path: Path) -> Path:
    path = tmp_path / "bundles"
    path.mkdir()
    return path


@pytest.fixture
def tiny(bundles: Path) -> BundleFolder:
    folder = BundleFolder(bundles / "tiny")
    folder.write("bundle.yaml", MANIFEST_YAML + "  - {model: beta}\n")
    return folder


@pytest.fixture
def find(bundles: Path) -> Find:
    return finder(bundles)


# --- following the bundles ------------------------------------------------------------------------


def test_only_a_changed_bundle_is_read_again(tiny: BundleFolder, bundles: Path, find: Find) -> None:
    other = BundleFolder(bundles / "other")
    other.write("bundle.yaml", MANIFEST_YAML.replace("tiny", "other"))
    texts(tiny, "zebra")
    texts(other, "zebra")
    aged(tiny)
    aged(other)
    assert find("zebra").update.indexed == ("other", "tiny")
    assert find("zebra").update.unchanged == ("other", "tiny")

    texts(tiny, "lion")
    found = find("zebra")
    assert (found.update.indexed, found.update.unchanged) == (("tiny",), ("other",))
    assert [hit.bundle for hit in found.hits] == ["other"]
    assert [hit.bundle for hit in find("lion").hits] == ["tiny"]


@pytest.mark.parametrize("name", ["verdicts.jsonl", "reports.jsonl", "reviews.jsonl"])
def test_a_new_file_is_seen(tiny: BundleFolder, find: Find, name: str) -> None:
    full(tiny)
    (tiny.path / "reports.jsonl").unlink()
    (tiny.path / "verdicts.jsonl").unlink()
    assert find("zebra").total == 3
    full(tiny)
    for other in {"verdicts.jsonl", "reports.jsonl"} - {name}:
        (tiny.path / other).unlink()
    tiny.write_lines("reviews.jsonl", review("E2", "flag:yellow"))
    assert find("zebra").total == 3 + (name != "reviews.jsonl")
    assert places(find("zebra", flag="yellow")) == [("answer", "E2")]


def test_a_bundle_that_was_only_touched_is_not_read_again(tiny: BundleFolder, find: Find) -> None:
    texts(tiny, "zebra")
    aged(tiny)
    find("zebra")
    os.utime(tiny.path / "answers.jsonl")
    assert find("zebra").update.unchanged == ("tiny",)


def test_a_change_that_keeps_size_and_time_is_seen(tiny: BundleFolder, find: Find) -> None:
    texts(tiny, "zebra")
    times = (tiny.path / "answers.jsonl").stat()
    find("zebra")
    texts(tiny, "tiger")
    os.utime(tiny.path / "answers.jsonl", ns=(times.st_atime_ns, times.st_mtime_ns))
    assert [find("zebra").total, find("tiger").total] == [0, 1]


def test_a_removed_bundle_is_forgotten(tiny: BundleFolder, bundles: Path, find: Find) -> None:
    texts(tiny, "zebra")
    find("zebra")
    tiny.path.rename(bundles.parent / "away")
    found = find("zebra")
    assert (found.total, found.update.dropped) == (0, ("tiny",))


def test_an_unreadable_bundle_is_named_and_the_others_are_searched(
    tiny: BundleFolder, bundles: Path, find: Find
) -> None:
    other = BundleFolder(bundles / "other")
    texts(tiny, "zebra")
    texts(other, "zebra")
    assert find("zebra").total == 2
    other.write("bundle.yaml", "format: 99\n")
    found = find("zebra")

    assert found.total == 1
    assert list(found.update.skipped) == ["other"]
    assert "reads up to 1" in found.update.skipped["other"]
    other.write("bundle.yaml", MANIFEST_YAML)
    assert find("zebra").update.skipped == {}


def test_lines_that_cannot_be_used_are_named_every_time(tiny: BundleFolder, find: Find) -> None:
    texts(tiny, "zebra")
    with (tiny.path / "answers.jsonl").open("ab") as stream:
        stream.write(b"{no json}\n")
    for _ in range(2):
        found = find("zebra")
        assert found.total == 1
        assert found.update.unusable["tiny"][0].startswith("answers.jsonl:2: is not JSON")


def test_progress_counts_up_to_all_texts(tiny: BundleFolder, bundles: Path, tmp_path: Path) -> None:
    tiny.write_lines("answers.jsonl", *(answer(f"X{n}") for n in range(450)))
    seen: list[tuple[str, int, int]] = []
    find_texts(
        bundles,
        Question("x"),
        cache=tmp_path,
        progress=lambda bundle, done, total: seen.append((bundle, done, total)),
    )
    assert seen == [("tiny", 0, 0), ("tiny", 200, 450), ("tiny", 400, 450)]


# --- the file -------------------------------------------------------------------------------------


def test_each_folder_has_an_index_of_its_own(tmp_path: Path) -> None:
    first = index_path(tmp_path / "a", tmp_path)
    assert first != index_path(tmp_path / "b", tmp_path)
    assert first == index_path(tmp_path / "b" / ".." / "a", tmp_path)
    assert first.parent == tmp_path / "search"


def damage_with_text(path: Path) -> None:
    path.write_text("this is no database at all\n" * 100)


def damage_inside(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:100] + b"\xff" * (len(content) - 100))


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5000])


def put_foreign(path: Path) -> None:
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE bundles (anything)")
    connection.close()


def drop_a_table(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("DROP TABLE documents")
    connection.close()


DAMAGES = [damage_with_text, damage_inside, cut_off, put_foreign, drop_a_table]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_is_made_anew_and_that_is_said(
    tiny: BundleFolder, bundles: Path, tmp_path: Path, find: Find, damage: Callable[[Path], None]
) -> None:
    texts(tiny, "zebra")
    aged(tiny)
    find("zebra")
    damage(index_path(bundles, tmp_path / "cache"))
    notes: list[str] = []
    found = find("zebra", notes=notes)

    assert (found.total, found.update.indexed) == (1, ("tiny",))
    (note,) = notes
    assert "can't be used" in note
    assert "made anew" in note
    notes.clear()
    assert find("zebra", notes=notes).update.unchanged == ("tiny",)
    assert notes == []


def test_an_index_of_another_version_is_made_anew_without_a_word(
    tiny: BundleFolder, bundles: Path, tmp_path: Path, find: Find
) -> None:
    texts(tiny, "zebra")
    find("zebra")
    connection = sqlite3.connect(index_path(bundles, tmp_path / "cache"))
    connection.execute("UPDATE about SET tool = '0.0.1'")
    connection.commit()
    connection.close()
    notes: list[str] = []
    found = find("zebra", notes=notes)
    assert (found.total, found.update.indexed, notes) == (1, ("tiny",), [])


def test_without_a_place_for_it_the_index_is_made_for_once(
    tiny: BundleFolder, bundles: Path, tmp_path: Path, find: Find
) -> None:
    texts(tiny, "zebra")
    (tmp_path / "cache").write_text("a file where the folder should be")
    notes: list[str] = []
    assert find("zebra", notes=notes).total == 1
    assert "for this search alone" in notes[0]

    (tmp_path / "cache").unlink()
    index_path(bundles, tmp_path / "cache").mkdir(parents=True)
    notes.clear()
    assert find("zebra", notes=notes).total == 1
    assert "for this search alone" in notes[0]


def test_processes_at_once_find_the_same(tiny: BundleFolder, bundles: Path, tmp_path: Path) -> None:
    records = [answer(f"X{n}", text=f"zebra number {n}") for n in range(3000)]
    tiny.write_lines("answers.jsonl", *records)
    cache = tmp_path / "cache"
    path = index_path(bundles, cache)
    path.parent.mkdir(parents=True)
    for content in (None, b"no database" * 1000):
        if content:
            path.write_bytes(content)
        command = [
            sys.executable,
            "-m",
            "touchstone",
            "search",
            "zebra",
            "number",
            "2999",
            "--json",
        ]
        command += ["--bundles", str(bundles), "--cache", str(cache)]
        running = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) for _ in range(3)]
        outputs = [process.communicate()[0] for process in running]

        assert [process.returncode for process in running] == [0, 0, 0]
        for out in outputs:
            assert [hit["prompt_id"] for hit in json.loads(out)] == ["X2999"]
    again = find_texts(bundles, Question("zebra"), cache=cache)
    assert again.total == 3000
