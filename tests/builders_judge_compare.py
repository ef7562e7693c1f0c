"""Judges to compare: made in memory, and as bundles held against references for real."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from conftest import BundleFolder, answer, verdict

from touchstone.cli import main
from touchstone.gui.judge_meta.compare import Judged
from touchstone.gui.judge_meta.results import Basis, Figures, Result
from touchstone.models import Flag, Suite

DIMENSIONS = ("Q1", "Q2", "Q3", "Q4")
PROMPTS = ("E1", "E2", "D1")
MODELS = ("alpha", "beta")
Scores = Mapping[str, tuple[int | None, ...]]
"""By model, the scores of Q1 to Q4."""

REFERENCE: Scores = {"alpha": (4, 3, 5, 2), "beta": (2, 1, 3, 2)}


def write_judge(
    folder: Path,
    name: str,
    scores: Scores,
    *,
    flags: Mapping[str, str | None] | None = None,
    mode: str | None = "single",
    text: str = "An answer.",
    kind: str = "ai",
) -> BundleFolder:
    """Write a bundle judged by ``judge-NAME``; the answers depend on ``text`` alone.

    ``flags`` are by prompt id, the same for both models; all green where none are given.
    """
    folder.mkdir(exist_ok=True)
    bundle = BundleFolder(folder / name)
    given = f", mode: {mode}" if mode else ""
    bundle.write(
        "bundle.yaml",
        f"format: 1\nid: {name}\nsuite: {{id: small}}\nmodels:\n  - {{model: alpha}}\n"
        "  - {model: beta}\n"
        f"judges:\n  - {{fingerprint: print-of-{name}, id: judge-{name}, kind: {kind}{given}}}\n",
    )
    asked = [(model, prompt) for model in MODELS for prompt in PROMPTS]
    bundle.write_lines("answers.jsonl", *(answer(prompt, model, text) for model, prompt in asked))
    of_prompts = dict.fromkeys(PROMPTS, "green") if flags is None else flags
    verdicts = (verdict(prompt, of_prompts[prompt], model) for model, prompt in asked)
    bundle.write_lines("verdicts.jsonl", *verdicts)
    bundle.write_lines("reports.jsonl", *(_report(model, of) for model, of in scores.items()))
    return bundle


def _report(model: str, scores: tuple[int | None, ...]) -> dict[str, Any]:
    dim_scores = dict(zip(DIMENSIONS, scores, strict=True))
    return {"model": model, "variant": "default", "dim_scores": dim_scores}


def refer(
    bundle: BundleFolder,
    evaluator: str = "eva",
    scores: Scores = REFERENCE,
    *,
    kind: str = "ai",
    blind: bool = True,
    knock_outs: Mapping[str, bool] | None = None,
) -> None:
    """Have a reference rate a bundle's answers, and ingest it through the command line."""
    _run("export", bundle.path, "--part", "a" if blind else "both")
    name = "judge_meta_response.a.yaml" if blind else "judge_meta_response.yaml"
    form: dict[str, Any] = yaml.safe_load((bundle.path / name).read_text())
    form["evaluator"] = {"id": evaluator, "kind": kind}
    for report in form["reports"]:
        report["knock_out"] = (knock_outs or {}).get(report["model"])
        for dimension, score in zip(DIMENSIONS, scores[report["model"]], strict=True):
            report["fresh"][dimension] = {"rationale": "Because.", "score": score}
    bundle.write(name, yaml.safe_dump(form))
    _run("ingest", bundle.path)


def _run(action: str, *args: object) -> None:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = main(["judge-meta", action, *map(str, args)])
    assert code == 0, said.getvalue()


# --- in memory -----------------------------------------------------------------------------

SUITE = Suite.model_validate(
    {
        "format": 1,
        "id": "small",
        "title": {"en": "Small", "de": "Klein"},
        "language": "en",
        "dimensions": [
            {"id": "Q1", "name": "One", "weight": 3},
            {"id": "Q2", "name": "Two", "weight": 1},
        ],
        "prompts": [{"id": "E1", "text": "Write."}, {"id": "E2", "text": "Count."}],
    }
)
BASIS = Basis("s" * 64, "a" * 64, "v2", ("eva",), blind=True, mode="single")
ALPHA, BETA = ("alpha", "default"), ("beta", "default")


def result(skill: float | None = 0.5, **more: Any) -> Result:
    figures = Figures(n=4, mae=0.5, skill=skill)
    return Result(**{"figures": figures, "basis": BASIS, **more})


def judged(
    bundle: str,
    outcome: Result | None = None,
    scores: Mapping[tuple[str, str, str], int] | None = None,
    flags: Mapping[tuple[str, str, str], Flag] | None = None,
    **more: Any,
) -> Judged:
    fields: dict[str, Any] = {
        "bundle": bundle,
        "judge": f"judge of {bundle}",
        "kind": "ai",
        "fingerprint": f"print of {bundle}",
        "suite": SUITE,
        "pairs": (ALPHA, BETA),
        "suite_sha256": "s" * 64,
        "answers_sha256": "a" * 64,
        "scores": scores or {},
        "flags": flags or {},
        "result": outcome,
    }
    return Judged(**{**fields, **more})


def scored(*scores: int | None) -> dict[tuple[str, str, str], int]:
    """Return scores of alpha in Q1 and Q2, then of beta."""
    keys = [(*pair, one) for pair in (ALPHA, BETA) for one in ("Q1", "Q2")]
    return {key: score for key, score in zip(keys, scores, strict=True) if score is not None}


def flagged(*flags: Flag) -> dict[tuple[str, str, str], Flag]:
    return {(*ALPHA, f"E{number}"): flag for number, flag in enumerate(flags, start=1)}
