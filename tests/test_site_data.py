"""The data beside the pages: what ``score`` prints, and the whole bundle, equal at every build."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Outcome, verdict
from site_bundles import write_judged
from small_site import open_bundle

from touchstone.bundle import Bundle
from touchstone.errors import SiteError
from touchstone.gui.bundle_view import BundleView
from touchstone.gui.links import ARCHIVE, SCORES
from touchstone.gui.loading import load_site
from touchstone.gui.site_data import publish_data
from touchstone.json_text import json_text

ROOT = Path(__file__).parents[1]


def publish(bundle: Bundle, site: Path) -> Path:
    """Publish the data of a bundle; return its folder in the site."""
    view = BundleView(bundle)
    publish_data(site, view)
    return site / view.links.root


def test_the_published_scores_are_what_score_prints(
    tmp_path: Path, touchstone: Callable[..., Outcome]
) -> None:
    for view in load_site(ROOT / "bundles").views:
        publish_data(tmp_path, view)
        printed = touchstone("score", view.bundle.path, "--json").out
        published = (tmp_path / view.links.root / SCORES).read_bytes()
        assert published == printed.encode()


def test_scores_that_utf8_can_not_hold_are_published_as_score_prints_them(
    tmp_path: Path, touchstone: Callable[..., Outcome]
) -> None:
    folder = write_judged(tmp_path / "tiny")
    folder.write_lines("verdicts.jsonl", {**verdict("E1", "red"), "rationale": "\ud800 Grüße"})
    published = publish(folder.open(), tmp_path / "site") / SCORES
    printed = touchstone("score", folder.path, "--json").out
    assert published.read_bytes() == printed.encode()
    assert b"\\ud800 Gr\\u00fc\\u00dfe" in published.read_bytes()


def test_the_archive_holds_the_bundle_under_its_id(tmp_path: Path) -> None:
    bundle = open_bundle(tmp_path)
    folder = publish(bundle, tmp_path / "site")
    assert sorted(path.name for path in folder.iterdir()) == [ARCHIVE, SCORES]
    with zipfile.ZipFile(folder / ARCHIVE) as archive:
        assert archive.namelist() == [f"tiny/{name}" for name in bundle.files()]
        assert archive.read("tiny/answers.jsonl") == (bundle.path / "answers.jsonl").read_bytes()


def test_data_published_twice_is_byte_identical(tmp_path: Path) -> None:
    bundle = open_bundle(tmp_path)
    first, second = publish(bundle, tmp_path / "a"), publish(bundle, tmp_path / "b")
    for name in (ARCHIVE, SCORES):
        assert (first / name).read_bytes() == (second / name).read_bytes()


def test_a_bundle_made_of_links_is_refused_with_a_way_out(tmp_path: Path) -> None:
    folder = write_judged(tmp_path / "tiny")
    real = (folder.path / "reports.jsonl").rename(tmp_path / "reports.jsonl")
    (folder.path / "reports.jsonl").symlink_to(real)
    with pytest.raises(SiteError, match=r"reports\.jsonl is a link") as caught:
        publish(folder.open(), tmp_path / "site")
    assert "--no-data" in caught.value.hint


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"ä": [1, 2.5, None]}, '{\n  "ä": [\n    1,\n    2.5,\n    null\n  ]\n}'),
        ("\ud800ä", '"\\ud800\\u00e4"'),
        ([], "[]"),
    ],
)
def test_json_is_indented_and_always_utf8(value: object, text: str) -> None:
    assert json_text(value) == text
    json_text(value).encode("utf-8")
