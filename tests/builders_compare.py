"""Two bundles of one suite with known differences, written by hand; and others like them.

Worked by hand, before → after (weights 3, 2, 1 → 2, 2, 1 and 1 for the new Q4):

- alpha, once alpha-old: 4 3 5 → 2 4 5 3. (12+6+5)/30 = 76.67 % → (4+8+5+3)/30 = 66.67 %: −10.
  Over Q1 to Q3 with the weights of after: (−2·2 + 1·2)/25 = −8. Rank 2 → none: K.-o. by E1.
- beta: 5 5 5 → 5 4 5 3. 100 % → (10+8+5+3)/30 = 86.67 %: −13.33. Over Q1 to Q3: −1·2/25 = −8.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from conftest import answer, verdict

from touchstone.bundle import Bundle
from touchstone.gui.bundle_view import BundleView
from touchstone.gui.compare import Comparison

Record = Mapping[str, Any]
SUITE: dict[str, Any] = {
    "format": 1,
    "id": "notes",
    "title": {"en": "Notes", "de": "Notizen"},
    "language": "en",
    "dimensions": [
        {"id": "Q1", "name": {"en": "Correctness", "de": "Korrektheit"}, "weight": 3},
        {"id": "Q2", "name": {"en": "Tone", "de": "Ton"}, "weight": 2},
        {"id": "Q3", "name": {"en": "Safety", "de": "Sicherheit"}, "weight": 1},
    ],
    "ko_rule": {"dimension": "Q3", "threshold": 2},
    "prompts": [{"id": one, "text": f"Write note {one}."} for one in ("E1", "E2", "E3", "D1")],
}
FIRST, SECOND = "aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"
OLD, ALPHA, BETA = ("alpha-old", "default"), ("alpha", "default"), ("beta", "default")


def later_suite() -> dict[str, Any]:
    """Return the suite as it is after: another weight, a new dimension, a prompt less."""
    suite = copy.deepcopy(SUITE)
    suite["dimensions"][0]["weight"] = 2
    suite["dimensions"].append({"id": "Q4", "name": "Form", "weight": 1})
    suite["prompts"] = suite["prompts"][:3]
    suite["prompts"][1]["expectation"] = "It names a time."
    return suite


def judge(fingerprint: str, **more: Any) -> Record:
    """Return a judge of bundle.yaml."""
    return {"fingerprint": fingerprint, "id": "judge-x", "mode": "single", **more}


def report(model: str, *scores: int | None, **more: Any) -> Record:
    """Return a report with scores for Q1, Q2 …"""
    given = {f"Q{number}": score for number, score in enumerate(scores, start=1)}
    return {"model": model, "variant": "default", "dim_scores": given, **more}


def quoted(prompt_id: str, quote: str, **more: Any) -> Record:
    """Return a piece of evidence."""
    return {"prompt_id": prompt_id, "quote": quote, "polarity": "strength", **more}


def write(
    folder: Path,
    models: Iterable[str | Record],
    records: Mapping[str, Sequence[Record]],
    *,
    suite: Mapping[str, Any] = SUITE,
    **manifest: Any,
) -> BundleView:
    """Write a bundle; ``records`` maps answers, verdicts … to what stands in that file."""
    folder.mkdir(parents=True)
    entries = [{"model": one} if isinstance(one, str) else dict(one) for one in models]
    whole = {"format": 1, "id": folder.name, "suite": {"id": suite["id"]}, "models": entries}
    for name, data in (("suite", suite), ("bundle", whole | manifest)):
        text = yaml.safe_dump(dict(data), sort_keys=False, allow_unicode=True)
        (folder / f"{name}.yaml").write_bytes(text.encode("utf-8", "surrogatepass"))
    for name, lines in records.items():
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return BundleView(Bundle.open(folder))


def answers(texts: Mapping[str, Mapping[str, str]]) -> list[Record]:
    """Return answers: model → prompt → text."""
    return [answer(one, model, text) for model, all_ in texts.items() for one, text in all_.items()]


def flags(colours: Mapping[str, Mapping[str, str | None]]) -> list[Record]:
    """Return verdicts: model → prompt → flag."""
    return [
        verdict(one, flag, model) for model, all_ in colours.items() for one, flag in all_.items()
    ]


BEFORE = {
    "alpha-old": {
        "E1": "It costs 10 euros.",
        "E2": "We begin at ten.",
        "E3": "The same words.",
        "D1": "A sum.",
    },
    "beta": {"E1": "Beta one.", "E2": "It takes two days.", "E3": "Beta three."},
    "gone": {"E1": "Gone."},
}
AFTER = {
    "alpha": {"E1": "It costs 12 euros.", "E2": "We begin at ten.", "E3": "The same words."},
    "beta": {"E1": "Beta one.", "E2": "It takes three days, we think.", "E3": "Beta three."},
    "new": {"E1": "New."},
}


def write_before(folder: Path, **manifest: Any) -> BundleView:
    """Write the bundle before."""
    evidence = {
        "Q1": [
            quoted("E1", "It costs 10 euros"),
            quoted("E2", "begin at ten"),
            quoted("E3", "The same words."),
        ]
    }
    records = {
        "answers": answers(BEFORE),
        "verdicts": flags(
            {
                "alpha-old": {"E1": "green", "E2": "green", "E3": "yellow", "D1": "green"},
                "beta": {"E1": "red", "E2": "green", "E3": "green", "D1": "green"},
                "gone": dict.fromkeys(("E1", "E2", "E3", "D1"), "green"),
            }
        ),
        "reports": [
            report(
                "alpha-old",
                *(4, 3, 5),
                evidence=evidence,
                dim_rationales={"Q2": "See E2 and D1."},
            ),
            report("beta", 5, 5, 5),
            report("gone", 2, 2, 3),
        ],
        "reviews": [_green("beta", "E1")],
    }
    facts = {"created": "2026-11-01T09:00:00Z", "judges": [judge(FIRST)], "title": "November"}
    return write(folder, ["alpha-old", "beta", "gone"], records, **facts | manifest)


def _green(model: str, prompt_id: str) -> Record:
    return {
        "model": model,
        "variant": "default",
        "prompt_id": prompt_id,
        "decision": "flag:green",
        "author": {"id": "Ada", "kind": "human"},
        "date": "2026-11-02T09:00:00Z",
    }


def write_after(folder: Path, **manifest: Any) -> BundleView:
    """Write the bundle after, with an alias for the model that was renamed."""
    evidence = {
        "Q1": [
            quoted("E1", "It costs 10 euros"),
            quoted("E2", "We begin"),
            quoted("E3", "The  same words."),
            quoted("E9", "nowhere"),
        ]
    }
    records = {
        "answers": answers(AFTER),
        "verdicts": flags(
            {
                "alpha": {"E1": "red", "E2": "green", "E3": "green"},
                "beta": {"E1": "green", "E2": None, "E3": "green"},
                "new": dict.fromkeys(("E1", "E2", "E3"), "green"),
            }
        ),
        "reports": [
            report("alpha", 2, 4, 5, 3, evidence=evidence, dim_rationales={"Q2": "See E2."}),
            report("beta", 5, 4, 5, 3),
            report("new", 2, 2, 3, 3),
        ],
    }
    renamed = {"from": dict(zip(("model", "variant"), OLD, strict=True))}
    renamed["to"] = dict(zip(("model", "variant"), ALPHA, strict=True))
    facts = {
        "created": "2026-12-01T09:00:00Z",
        "title": "December",
        "judges": [judge(SECOND, parameters={"temperature": 0.5})],
        "aliases": {"models": [renamed]},
    }
    return write(folder, ["alpha", "beta", "new"], records, suite=later_suite(), **facts | manifest)


def compared(root: Path) -> Comparison:
    """Write both bundles and compare them."""
    return Comparison(write_before(root / "notes-1"), write_after(root / "notes-2"))
