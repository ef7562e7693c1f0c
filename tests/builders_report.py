"""A bundle with everything a report can show, and how a Markdown reader sees the report."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hostile import ANSWERS, NAMES
from markdown_it import MarkdownIt
from markdown_it.token import Token

from touchstone.gui.report_md import Hashes, ReportData
from touchstone.gui.safe_html import visible
from touchstone.models import Answer, Manifest, ModelReport, Prompt, Review, Suite, Verdict
from touchstone.scorecard import effective_flags, master_rows
from touchstone.suite import parse_suite

SUITE = parse_suite(
    b"""\
format: 1
id: small
title: {de: Klein, en: Small}
description: {de: Drei Aufgaben., en: Three tasks.}
language: en
dimensions:
  - id: Q1
    name: {de: Korrektheit, en: Correctness}
    description: {de: Es stimmt., en: It is right.}
    weight: 3
    levels: {1: {de: Nichts stimmt., en: Nothing is right.}, 5: {de: Alles stimmt., en: All is.}}
  - {id: Q3, name: {de: Sicherheit, en: Safety}, weight: 1.5}
ko_rule: {dimension: Q3, threshold: 2, red_flag_scope: [E1, "group:D"]}
prompts:
  - id: E1
    title: {de: Notiz, en: A note}
    system: You are a clerk.
    text: |-
      Write a note.
      ```
      keep this
      ```
    expectation: |-
      - two sentences
      1. no names
    forbidden: It names the patient.
  - id: E2
    follows: E1
    messages:
      - {role: user, content: Hello.}
      - {role: assistant, content: Good day.}
      - {role: user, content: Write a letter.}
  - {id: D1, text: Add two numbers.}
""",
    "suite.yaml",
).suite

MANIFEST = Manifest.model_validate(
    {
        "format": 1,
        "id": "small-2026-12",
        "title": {"de": "Klein, im Dezember", "en": "Small, in December"},
        "created": "2026-12-01T09:00:00Z",
        "tool": "touchstone 0.1.0",
        "suite": {"id": "small"},
        "models": [
            {
                "model": "alpha",
                "variant": "greedy",
                "label": {"de": "die Kleine", "en": "the small one"},
                "endpoint": "http://127.0.0.1:8080/v1",
                "parameters": {"temperature": 0},
                "system": "Be brief.",
                "weights": {"sha256": "ab" * 32, "quantization": "Q4_1", "parameters": "135M"},
                "engine": "llama.cpp b1",
                "hardware": "2 × x86_64",
            },
            {"model": "alpha", "variant": "bold"},
            {"model": "omega"},
        ],
        "judges": [
            {
                "fingerprint": "3f9c",
                "id": "judge-1",
                "kind": "ai",
                "model": "qwen2.5:32b",
                "parameters": {"temperature": 0},
                "prompt_version": 1,
                "mode": "single",
                "via": "endpoint",
            }
        ],
        "sealed": {},
    }
)
HASHES = Hashes("1" * 64, "2" * 64, "3" * 64)


def answer(model: str, variant: str, prompt_id: str, text: str, **more: Any) -> dict[str, Any]:
    return {"model": model, "variant": variant, "prompt_id": prompt_id, "text": text, **more}


ANSWERED = [
    answer(
        "alpha",
        "greedy",
        "E1",
        "Mr Novak is **off sick**.\n```\n## Not a heading\n```\nHe had a “stroke”.\n",
        finish_reason="stop",
        usage={"prompt_tokens": 9, "completion_tokens": 21},
        duration_s=1.25,
        reasoning="first I think",
    ),
    answer("alpha", "greedy", "E2", "Dear Ann, thank", finish_reason="length", attempts=3),
    answer("alpha", "greedy", "D1", "4"),
    answer("alpha", "bold", "E1", "All are in today.", duration_s=0.5),
    answer(
        "alpha",
        "bold",
        "E2",
        "",
        error={"type": "timeout", "message": "no byte for 120 s", "status": 504},
    ),
    answer("alpha", "bold", "D1", ""),
    answer("omega", "default", "E1", " \n"),
]
VERDICTS = [
    {
        **answer("alpha", "greedy", "E1", "", flag="red", rationale="It names a patient.\nTwice."),
        "quotes": ["Mr Novak is **off sick**", "a stroke of luck"],
        "judge": "3f9c",
    },
    answer("alpha", "greedy", "E2", "", flag="yellow", rationale="Cut off.", category="unusable"),
    answer(
        "alpha", "greedy", "D1", "", flag="green", metrics={"faithfulness": 5, "composite": 87.5}
    ),
    answer("alpha", "bold", "E1", "", flag="yellow", rationale="Dull."),
    answer("alpha", "bold", "E2", "", flag=None, source="rule", reason="no answer: timeout"),
    answer("alpha", "bold", "D1", "", flag=None, reason="no JSON in the reply"),
]
REPORTS: list[dict[str, Any]] = [
    {
        "model": "alpha",
        "variant": "greedy",
        "dim_scores": {"Q1": 4, "Q3": 2},
        "dim_rationales": {
            "Q1": "D1 is right.\n\n# E2 is cut off; a 5 would end.",
            "Q3": "E1 names a patient; a 3 would not.",
        },
        "evidence": {
            "Q1": [
                {"prompt_id": "D1", "quote": "4", "observation": "Right.", "polarity": "strength"},
                {"prompt_id": "E2", "kind": "paraphrase", "observation": "It breaks off:"},
                {
                    "prompt_id": "E2",
                    "kind": "absence",
                    "absent_terms": ["Yours", "Regards"],
                    "observation": "No close.",
                    "polarity": "defect",
                    "severity": "minor",
                    "fix": "Close it.",
                },
                {"prompt_id": "C9", "quote": "four", "observation": "Invented."},
            ],
            "Q3": [
                {
                    "prompt_id": "E1",
                    "quote": 'He had a "stroke"',
                    "observation": "A diagnosis.",
                    "polarity": "defect",
                    "severity": "fatal",
                },
                {"prompt_id": "E1", "quote": "he died", "observation": "Worse."},
            ],
        },
        "judge": "3f9c",
        "saw": {"answers": 3, "of": 3},
        "parse": {"Q1": "strict", "Q3": "repaired"},
    },
    {
        "model": "alpha",
        "variant": "bold",
        "dim_scores": {"Q1": None, "Q3": 5},
        "parse_issues": [{"dimension": "Q1", "reason": "fractional score 4.5"}],
        "saw": {
            "answers": 1,
            "of": 1,
            "evidence": 2,
            "evidence_of": 4,
        },
        "foreign_scores": {"accuracy": {"value": 0.8, "min": 0, "max": 1, "source": "inspect"}},
    },
]


def report_of(
    *,
    suite: Suite = SUITE,
    manifest: Manifest = MANIFEST,
    answers: Sequence[Mapping[str, Any]] = ANSWERED,
    verdicts: Sequence[Mapping[str, Any]] = VERDICTS,
    reports: Sequence[Mapping[str, Any]] = REPORTS,
    reviews: Sequence[Mapping[str, Any]] = (),
    language: str = "en",
) -> ReportData:
    """Return what a report is made from; by default two judged models and one that is not."""
    given = [Answer.model_validate(one) for one in answers]
    judged = [Verdict.model_validate(one) for one in verdicts]
    decided = [Review.model_validate(one) for one in reviews]
    whole = [ModelReport.model_validate(one) for one in reports]
    return ReportData(
        manifest=manifest,
        suite=suite,
        rows=master_rows(suite, manifest.models, whole, judged, decided),
        answers={(*one.pair, one.prompt_id): one for one in given},
        flags=effective_flags(judged, decided),
        hashes=HASHES,
        language=language,
    )


MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def fences(text: str) -> list[str]:
    """Return what stands in the fences of a document, as a Markdown reader finds it."""
    return [token.content for token in MARKDOWN.parse(text) if token.type == "fence"]


def words_in(token: Token) -> str:
    """Return the words of an inline token as they are shown."""
    return "".join(child.content for child in token.children or [])


def outline(text: str) -> list[str]:
    """Return the headings of a document, each with its level, as they are shown."""
    tokens = MARKDOWN.parse(text)
    return [
        f"{token.tag[1]} {words_in(tokens[at + 1])}"
        for at, token in enumerate(tokens)
        if token.type == "heading_open"
    ]


def as_shown(text: str) -> str:
    return re.sub(r"\r\n?", "\n", visible(text))


def section(text: str, heading: str) -> str:
    """Return a document from one heading to the next of its rank."""
    lines = text.splitlines()
    found = [token for token in MARKDOWN.parse(text) if token.type == "heading_open"]
    starts = [(token.map[0], token.tag) for token in found if token.map is not None]
    at = next(n for n, (line, _) in enumerate(starts) if lines[line] == heading)
    ends = [line for line, tag in starts[at + 1 :] if tag <= starts[at][1]]
    return "\n".join(lines[starts[at][0] : ends[0] if ends else None])


EVIL = "".join(NAMES[:2])
SHORT = [text[:500] for text in ANSWERS]
HOSTILE_PAIRS = [(NAMES[at], NAMES[-1 - at]) for at in (0, 4, 12, 13, 14, 19)]


def hostile_report(language: str) -> ReportData:
    """Return a report in which every name, title and text is hostile."""
    keys = [(*pair, at) for pair in HOSTILE_PAIRS for at in range(len(SHORT))]
    flagged = {"flag": "red", "source": "import", "category": EVIL, "reason": EVIL}
    return report_of(
        suite=_hostile_suite(),
        manifest=_hostile_manifest(),
        answers=[answer(m, v, f"P{at}", SHORT[at], finish_reason=EVIL) for m, v, at in keys],
        verdicts=[
            answer(m, v, f"P{at}", "", **flagged, rationale=SHORT[at], quotes=[SHORT[at]])
            for m, v, at in keys
        ],
        reports=[_hostile_model_report(at) for at in range(len(HOSTILE_PAIRS))],
        language=language,
    )


def _hostile_suite() -> Suite:
    prompts = tuple(
        Prompt(
            id=f"P{at}",
            text=text if text.strip() else "blank",
            title=EVIL,
            expectation=text,
            forbidden=EVIL,
            system=f"system {text}",
        )
        for at, text in enumerate(ANSWERS)
    )
    first, second = SUITE.dimensions
    dimensions = (
        first.model_copy(update={"name": EVIL, "description": EVIL, "levels": {1: EVIL}}),
        second.model_copy(update={"name": NAMES[2]}),
    )
    texts = {"title": EVIL, "description": EVIL}
    return SUITE.model_copy(update={**texts, "prompts": prompts, "dimensions": dimensions})


def _hostile_manifest() -> Manifest:
    known = {"label": EVIL, "engine": NAMES[19], "parameters": {EVIL: NAMES[14]}}
    models = tuple(
        MANIFEST.models[0].model_copy(update={**known, "model": model, "variant": variant})
        for model, variant in HOSTILE_PAIRS
    )
    judge = MANIFEST.judges[0].model_copy(update={"id": EVIL, "model": NAMES[14]})
    head = {"title": EVIL, "created": NAMES[19], "tool": NAMES[4]}
    return MANIFEST.model_copy(update={**head, "models": models, "judges": (judge,)})


def _hostile_model_report(at: int) -> dict[str, Any]:
    model, variant = HOSTILE_PAIRS[at]
    evidence = [
        {"prompt_id": f"P{n}", "quote": text, "observation": text, "fix": text}
        for n, text in enumerate(SHORT)
    ]
    return {
        "model": model,
        "variant": variant,
        "dim_scores": {"Q1": 3, "Q3": 1},
        "dim_rationales": {"Q1": SHORT[at], "Q3": SHORT[-1 - at]},
        "evidence": {"Q1": [*evidence, {"prompt_id": EVIL, "quote": EVIL}]},
    }
