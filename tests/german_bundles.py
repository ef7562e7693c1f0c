"""Bundles whose own texts are German, and that make the site say most of what it can say."""

from __future__ import annotations

from typing import Any

from conftest import BundleFolder, answer, review, verdict

SUITE = """\
format: 1
id: small
title: {de: Klein, en: Little}
language: de
dimensions:
  - id: Q1
    name: {de: Korrektheit, en: Rightness}
    weight: 3
    levels: {1: Falsch, 3: Mittel, 5: Richtig}
  - {id: Q2, name: Ton, weight: 2}
  - {id: Q3, name: Schutz, weight: 1}
ko_rule: {dimension: Q3, threshold: 2, red_flag_scope: [E1, E2]}
prompts:
  - {id: E1, text: Schreib., system: Sei kurz., expectation: Kürze., forbidden: Erfinden.}
  - {id: E2, follows: E1, text: Schreib weiter.}
  - id: D1
    messages:
      - {role: user, content: Zwei}
      - {role: assistant, content: Drei.}
      - {role: user, content: Sicher}
"""
MANIFEST = """\
format: 1
id: tiny
suite: {id: small}
created: 2026-12-01T09:00:00Z
tool: t 1
models:
  - model: alpha
    system: Sei brav.
    endpoint: embedded
    parameters: {seed: 1}
    engine: m1
    hardware: 2 Kerne
    weights: {name: a.gguf, sha256: abcdef}
  - {model: beta}
  - {model: gamma}
  - {model: delta}
judges:
  - {id: j1, fingerprint: f1, via: exchange, mode: single, prompt_version: 1, model: m2}
"""
EVIDENCE = [
    {"prompt_id": "E1", "quote": "Der Text von alpha zu E1", "polarity": "strength"}
    | {"observation": "Es steht da."},
    {"prompt_id": "E1", "quote": "DER TEXT VON ALPHA", "polarity": "neutral"},
    {"prompt_id": "E2", "quote": "steht nirgends", "polarity": "defect", "severity": "fatal"},
    {"prompt_id": "Z9", "quote": "kein Prompt", "polarity": "defect", "severity": "minor"},
    {"prompt_id": "D1", "kind": "absence", "observation": "Es fehlt.", "severity": "major"},
    {"prompt_id": "D1", "kind": "paraphrase", "observation": "Ungefähr so."},
]
ALPHA: dict[str, Any] = {
    "dim_scores": {"Q1": 4, "Q2": None, "Q3": 5},
    "dim_rationales": {"Q1": "Stark bei E1, schwach bei E2.", "Q3": "Siehe D1."},
    "evidence": {"Q1": EVIDENCE},
    "saw": {"answers": 2, "of": 3, "evidence": 5, "evidence_of": 6},
    "mode": "map-reduce",
    "parse": {"Q1": "strict"},
}
CUT = {"finish_reason": "length", "duration_s": 1.5, "usage": {"completion_tokens": 7}}
FAILED = {"error": {"type": "timeout", "message": "zu langsam"}}
IDS = ("E1", "E2", "D1")


def write_answers(folder: BundleFolder) -> None:
    text = "<think>Erst denken.</think>Der Text von {} zu {} ist lang genug."
    folder.write_lines(
        "answers.jsonl",
        *(answer(at, model, text.format(model, at)) for model in ("alpha", "beta") for at in IDS),
        *(answer(at, "delta", text.format("delta", at)) for at in IDS[:2]),
        answer("E1", "gamma", "Abgeschnitten.") | CUT,
        answer("E2", "gamma", "") | FAILED,
        answer("D1", "gamma", ""),
    )


def write_judgement(folder: BundleFolder) -> None:
    folder.write_lines(
        "verdicts.jsonl",
        *(verdict(at, "green") for at in IDS),
        verdict("E1", "red", "beta") | {"quotes": ["Der Text von beta"]},
        *(verdict(at, "yellow", "beta") for at in IDS[1:]),
        verdict("E1", None, "gamma") | {"reason": "unlesbar"},
        *(verdict(at, "green", "delta") for at in IDS[:2]),
    )
    others: dict[str, dict[str, Any]] = {
        "beta": {"dim_scores": {"Q1": 5, "Q2": 5, "Q3": 5}, "saw": {"answers": 3, "of": 3}},
        "gamma": {"dim_scores": {"Q1": 2, "Q2": 2}},
        "delta": {"dim_scores": {"Q1": 2, "Q2": 2, "Q3": 1}, "parse": {"Q1": "retried"}},
    }
    folder.write_lines(
        "reports.jsonl",
        *(
            {"model": model, "variant": "default", **report}
            for model, report in ({"alpha": ALPHA} | others).items()
        ),
    )
    folder.write_lines("reviews.jsonl", review("E2", "accept", "Geprüft."))
    (folder.path / "raw").mkdir()
    for attempt in (1, 2):
        folder.write(f"raw/alpha--default.Q1.{attempt}.txt", "Q1: 4")
