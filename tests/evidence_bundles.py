"""A judged bundle whose evidence is of every class, one each, and what is to become of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conftest import BundleFolder, answer, verdict

E1 = (
    "The meeting moves to Tuesday at ten. Please bring the **signed** contract, "
    "because the budget of 4,500 euros has to be approved by the whole board on that day."
)
ANSWERS = {
    ("alpha", "E1"): E1,
    ("alpha", "E2"): "The invoice was paid on the third of March, without any discount at all.",
    ("alpha", "D1"): "Seven plus five is twelve, and that is all there is to say about it.",
    ("beta", "E1"): "We regret that the lift in the north building is out of order again.",
    ("beta", "E2"): "A short answer of beta to the second prompt, and nothing else.",
    ("beta", "D1"): "Seven plus five is thirteen.",
}
# Class → the evidence, as it stands in the report on alpha, Q1.
EVIDENCE: dict[str, dict[str, Any]] = {
    "verbatim": {"prompt_id": "E1", "quote": "The meeting moves to Tuesday at ten."},
    "normalised": {"prompt_id": "E1", "quote": "please  BRING the signed contract"},
    "in_parts": {"prompt_id": "E1", "quote": "The meeting moves […] approved by the whole board"},
    "near": {
        "prompt_id": "E1",
        "quote": "has to be approved by the whole bord on that very day",
    },
    "from_prompt": {"prompt_id": "E1", "quote": "Write a note to all of them, please"},
    "misattributed": {"prompt_id": "E1", "quote": "The invoice was paid on the third of March"},
    "cross_model": {"prompt_id": "E1", "quote": "the lift in the north building is out of order"},
    "unverifiable": {"prompt_id": "E1", "quote": "words that stand in no answer of this bundle"},
    "too_short": {"prompt_id": "E1", "quote": "at ten"},
    "dangling": {"prompt_id": "Z9", "quote": "there is no such prompt in the suite"},
    "absence_passed": {"prompt_id": "D1", "kind": "absence", "absent_terms": ["kindest regards"]},
    "absence_failed": {"prompt_id": "E1", "kind": "absence", "absent_terms": ["budget", "lawyer"]},
    "paraphrase": {"prompt_id": "D1", "kind": "paraphrase", "observation": "adds up correctly"},
}
RATIONALE = (
    "E1 says “The meeting moves to Tuesday at ten.”, but E1 never says “a party for everyone in "
    "the garden”. E99 is worse."
)
SUITE = """\
format: 1
id: evidence
title: {de: Belege, en: Evidence}
language: en
dimensions:
  - {id: Q1, name: {de: Korrektheit, en: Correctness}, weight: 3}
  - {id: Q2, name: {de: Ton, en: Tone}, weight: 2}
prompts:
  - {id: E1, text: "Write a note to all of them, please."}
  - {id: E2, text: Write a letter.}
  - {id: D1, text: Add two numbers.}
"""


def write_evidence(path: Path) -> BundleFolder:
    """Write a bundle in which alpha's Q1 has one piece of evidence of each class."""
    folder = BundleFolder(path)
    folder.write("suite.yaml", SUITE)
    folder.write(
        "bundle.yaml",
        f"format: 1\nid: {path.name}\nsuite: {{id: evidence}}\ncreated: 2026-12-01T09:00:00Z\n"
        "models:\n  - {model: alpha}\n  - {model: beta}\n",
    )
    folder.write_lines(
        "answers.jsonl", *(answer(prompt, model, text) for (model, prompt), text in ANSWERS.items())
    )
    folder.write_lines("verdicts.jsonl", verdict("D1", "red", "beta"), verdict("E1", "green"))
    folder.write_lines("reports.jsonl", *reports(list(EVIDENCE.values())))
    return folder


def reports(evidence: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the reports on both models; alpha's Q1 rests on ``evidence``, beta's on nothing."""
    return [
        {
            "model": "alpha",
            "variant": "default",
            "dim_scores": {"Q1": 4, "Q2": 3},
            "dim_rationales": {"Q1": RATIONALE, "Q2": "Polite throughout E2."},
            "evidence": {"Q1": [{"polarity": "defect", **one} for one in evidence]},
        },
        {"model": "beta", "variant": "default", "dim_scores": {"Q1": 2, "Q2": 2}},
    ]
