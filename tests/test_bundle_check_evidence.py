"""What ``verify`` notes about the evidence of a bundle's reports."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import MANIFEST_YAML, SUITE_YAML, BundleFolder, answer

from touchstone.bundle import write_bundle
from touchstone.bundle_check import check_bundle

EVIDENCE = {"evidence": {"Q1": [{"prompt_id": "E9", "quote": "…"}]}}


def whole(folder: BundleFolder) -> None:
    """Make a bundle in which nothing is missing but the reports."""
    folder.answers("E1", "E2", "D1")
    folder.verdicts({"E1": "green", "E2": "yellow", "D1": "green"})


def notes(folder: BundleFolder) -> list[tuple[str, str, str]]:
    findings = check_bundle(folder.path)
    assert findings.ok
    return [(one.code, one.where, one.message) for one in findings.notes]


def test_a_citation_of_an_answer_that_is_not_there_is_a_note(folder: BundleFolder) -> None:
    whole(folder)
    folder.report({"Q1": 4}, **EVIDENCE)
    with write_bundle(folder.path) as writer:
        writer.seal()

    assert notes(folder) == [
        (
            "dangling_citation",
            "reports.jsonl:1",
            "Q1 cites 'E9', which alpha (default) did not answer",
        )
    ]


def cites(*items: dict[str, Any]) -> dict[str, Any]:
    return {"evidence": {"Q1": list(items)}}


NOWHERE = "words that nobody has said"


def named(ids: list[str], of: int, what: str) -> str:
    places = ", ".join(f"Q1 at {one!r}" for one in ids)
    return f"{len(ids)} of {of} {what.format('alpha (default)')}: {places}"


@pytest.mark.parametrize(
    ("items", "found"),
    [
        ([{"prompt_id": "E1", "quote": "An answer."}], None),
        ([{"prompt_id": "E1", "quote": "**AN** ANSWER."}], None),
        ([{"prompt_id": "E1", "kind": "paraphrase", "quote": "not there"}], None),
        ([{"prompt_id": "E1", "quote": ""}], None),
        ([{"prompt_id": "E1", "kind": "absence", "absent_terms": ["sum"]}], None),
        (
            [{"prompt_id": "E1", "quote": NOWHERE}, {"prompt_id": "E2", "quote": "An answer."}],
            (
                "unverifiable_quote",
                named(["E1"], 2, "quotes do not stand in the answers of {}"),
            ),
        ),
        (
            [{"prompt_id": "D1", "quote": f"{NOWHERE} {number}"} for number in range(7)],
            (
                "unverifiable_quote",
                named(["D1"] * 5, 7, "quotes do not stand in the answers of {}").replace(
                    "5", "7", 1
                )
                + " and 2 more",
            ),
        ),
        (
            [{"prompt_id": "E1", "quote": "answer"}],
            (
                "weak_evidence",
                named(["E1"], 1, "quotes are too short to prove anything about {} (too_short)"),
            ),
        ),
        (
            [{"prompt_id": "E1", "quote": "Write a short letter of thanks."}],
            (
                "weak_evidence",
                named(
                    ["E1"],
                    1,
                    "quotes stand in the prompt and not in the answers of {} (from_prompt)",
                ),
            ),
        ),
        (
            [
                {"prompt_id": "E1", "kind": "absence", "absent_terms": ["answer"]},
                {"prompt_id": "E2", "kind": "absence", "absent_terms": ["sum"]},
            ],
            (
                "weak_evidence",
                named(["E1"], 2, "absences do not hold in the answers of {} (absence_failed)"),
            ),
        ),
    ],
)
def test_evidence_that_proves_nothing_is_a_note_of_its_report(
    folder: BundleFolder, items: list[dict[str, Any]], found: tuple[str, str] | None
) -> None:
    folder.write(
        "suite.yaml", SUITE_YAML.replace("Write a note.", "Write a short letter of thanks.")
    )
    whole(folder)
    folder.report({"Q1": 4}, **cites(*items))
    with write_bundle(folder.path) as writer:
        writer.seal()

    expected = [(found[0], "reports.jsonl:1", found[1])] if found else []
    assert notes(folder) == expected
    assert check_bundle(folder.path).checked["citations"] == len(items)


def test_words_of_another_answer_are_a_note_by_where_they_stand(folder: BundleFolder) -> None:
    folder.write("bundle.yaml", MANIFEST_YAML + "  - {model: beta}\n")
    folder.write_lines(
        "answers.jsonl",
        answer("E1"),
        answer("E2", text="The letter is in the second post."),
        answer("D1", "beta", "Two and two make four, I think."),
    )
    said = ["The letter is in the second post.", "Two and two make four, I think."]
    folder.report({"Q1": 4}, **cites(*({"prompt_id": "E1", "quote": one} for one in said)))

    found = [message for code, _, message in notes(folder) if code == "weak_evidence"]
    assert found == [
        "1 of 2 quotes stand in other answers of alpha (default) than the cited ones "
        "(misattributed): Q1 at 'E1'",
        "1 of 2 quotes stand in answers of other models than alpha (default) (cross_model): "
        "Q1 at 'E1'",
    ]
