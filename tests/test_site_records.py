"""evidence.json against the bundle: a class and a place for each kind of citation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import MANIFEST_YAML, SUITE_YAML, BundleFolder, answer

from touchstone.gui.audit import Audit
from touchstone.gui.site_records import EvidenceCheck

TEXT = "Mr Novak is off sick and will be back on Monday."
LETTER = "The letter has gone out with the second post."
SUM = "Two and two make four, as far as I can tell."
TASK = "Write a short letter of thanks."
ITEMS: list[dict[str, Any]] = [
    {"prompt_id": "E1", "quote": "MR NOVAK is off sick"},
    {"prompt_id": "E1", "quote": "Mr Novak is off … back on Monday"},
    {"prompt_id": "E1", "quote": "Mr Novak is off sick and will be home on Monday"},
    {"prompt_id": "E1", "quote": TASK},
    {"prompt_id": "E1", "quote": LETTER},
    {"prompt_id": "E1", "quote": SUM},
    {"prompt_id": "E1", "quote": "sick"},
    {"prompt_id": "E1", "kind": "absence", "absent_terms": ["Tuesday"]},
    {"prompt_id": "E1", "kind": "absence", "absent_terms": ["Monday", "sick"]},
    {"prompt_id": "E1", "kind": "paraphrase", "observation": "Short."},
    {"prompt_id": "E9", "quote": "no such prompt at all"},
]
# Class, start, end, spans, place: by hand, from the texts above.
EXPECTED: list[tuple[str, int | None, int | None, list[list[int]], list[str] | None]] = [
    ("normalised", 0, 20, [[0, 20]], None),
    ("in_parts", 0, 47, [[0, 15], [33, 47]], None),
    ("near", 0, 47, [[0, 47]], None),
    ("from_prompt", None, None, [], None),
    ("misattributed", None, None, [[0, 45]], ["alpha", "default", "E2"]),
    ("cross_model", None, None, [[0, 44]], ["beta", "default", "D1"]),
    ("too_short", 16, 20, [[16, 20]], None),
    ("absence_passed", None, None, [], None),
    ("absence_failed", 16, 47, [[41, 47], [16, 20]], None),
    ("paraphrase", None, None, [], None),
    ("dangling", None, None, [], None),
]


def bundle_of(folder: BundleFolder) -> BundleFolder:
    folder.write("suite.yaml", SUITE_YAML.replace("Write a note.", TASK))
    folder.write("bundle.yaml", MANIFEST_YAML + "  - {model: beta}\n")
    folder.write_lines(
        "answers.jsonl",
        answer("E1", text=TEXT),
        answer("E2", text=LETTER),
        answer("D1", "beta", SUM),
    )
    folder.report({"Q1": 4}, evidence={"Q1": ITEMS})
    return folder


def entries(folder: BundleFolder) -> list[dict[str, Any]]:
    sha256 = {one.prompt_id: one.sha256 for one in folder.open().answers}
    return [
        {
            "model": "alpha",
            "variant": "default",
            "dimension": "Q1",
            "n": number,
            "prompt_id": item["prompt_id"],
            "kind": item.get("kind", "quote"),
            "quote": item.get("quote", ""),
            "class": kind,
            "start": start,
            "end": end,
            "answer_sha256": sha256.get(item["prompt_id"]),
            "spans": spans,
            "place": place,
        }
        for number, (item, (kind, start, end, spans, place)) in enumerate(
            zip(ITEMS, EXPECTED, strict=True), start=1
        )
    ]


def wrong_with(folder: BundleFolder, published: object) -> list[str]:
    """Return what is wrong with a file of entries."""
    path = folder.path.parent / "evidence.json"
    path.write_text(json.dumps(published), encoding="utf-8")
    bundle, audit = folder.open(), Audit()
    digests = {(one.model, one.variant, one.prompt_id): one.sha256 for one in bundle.answers}
    EvidenceCheck(bundle, digests, audit).check(path, "evidence.json")
    return [one.message for one in audit.findings().problems]


def test_every_class_is_derived_again_with_its_place(folder: BundleFolder) -> None:
    assert wrong_with(bundle_of(folder), entries(folder)) == []


@pytest.mark.parametrize("number", range(len(ITEMS)))
def test_another_class_is_named_whichever_it_is(folder: BundleFolder, number: int) -> None:
    published = entries(bundle_of(folder))
    published[number]["class"] = "verbatim"

    expected = f"is called verbatim, but by the answers it is {EXPECTED[number][0]}"
    assert wrong_with(folder, published) == [expected]


@pytest.mark.parametrize("number", [4, 5])
def test_words_of_another_answer_may_say_their_place_by_keys_or_in_start_and_end(
    folder: BundleFolder, number: int
) -> None:
    published = entries(bundle_of(folder))
    entry = published[number]
    entry["place"] = dict(zip(("model", "variant", "prompt_id"), entry["place"], strict=True))
    entry["start"], entry["end"] = entry["spans"][0]
    assert wrong_with(folder, published) == []

    entry["place"]["prompt_id"] = "E1"
    assert len(wrong_with(folder, published)) == 1


@pytest.mark.parametrize("number", [3, 7, 9, 10])
def test_what_was_not_found_has_no_place(folder: BundleFolder, number: int) -> None:
    published = entries(bundle_of(folder))
    published[number].update(start=0, end=5)

    (found,) = wrong_with(folder, published)
    assert "not what stands at 0 to 5" in found


def test_a_quote_that_is_no_citation_of_the_report_is_checked_by_itself(
    folder: BundleFolder,
) -> None:
    published = entries(bundle_of(folder))
    extra = {**published[0], "n": 0}
    assert wrong_with(folder, [*published, extra]) == []

    extra["class"] = "unverifiable"
    assert len(wrong_with(folder, [*published, extra])) == 1


def test_an_empty_file_lacks_every_citation(folder: BundleFolder, tmp_path: Path) -> None:
    found = wrong_with(bundle_of(folder), [])

    assert len(found) == len(ITEMS)
    assert found[0] == "lacks citation 1 of Q1 in the report on alpha (default)"
