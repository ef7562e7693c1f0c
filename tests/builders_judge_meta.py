"""Judged bundles and references for the meta-evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from builders_report import MANIFEST, SUITE, answer

from touchstone.gui.judge_meta import Asked, Part, Reference
from touchstone.gui.judge_meta.form import Critique
from touchstone.gui.report_md import Hashes, ReportData
from touchstone.models import Answer, Flag, Manifest, ModelReport, Suite, Verdict
from touchstone.scorecard import effective_flags, master_rows

Pair = tuple[str, str]
GREEDY: Pair = ("alpha", "greedy")
TEXT = "Mr Novak is off sick and will be back on Monday."
HASHES: dict[Part, str] = {"a": "1" * 64, "b": "2" * 64, "both": "3" * 64}


def critique(**given_values: Any) -> Critique:
    """Return a critique in which nothing applies but what is given."""
    keys = [key for key in Critique.model_fields if key != "comment"]
    return Critique.model_validate({**dict.fromkeys(keys), **given_values})


def reference(
    scores: Mapping[Pair, Mapping[str, int | None]],
    name: str = "eva",
    *,
    blind: bool = True,
    kind: str = "ai",
    knock_outs: Mapping[Pair, bool | None] | None = None,
    critiques: Mapping[Pair, Mapping[str, Critique]] | None = None,
    rationale: str = "As I see it.",
    flags: Mapping[Pair, Mapping[str, Flag]] | None = None,
) -> Reference:
    return Reference(
        id=name,
        kind="human" if kind == "human" else "ai",
        blind=blind,
        scores=scores,
        rationales={pair: dict.fromkeys(of, rationale) for pair, of in scores.items()},
        knock_outs=knock_outs or {},
        critiques=critiques or {},
        sources={"both": "0" * 64},
        flags=flags or {},
    )


def data_of(
    *reports: Mapping[str, Any],
    verdicts: Sequence[Mapping[str, Any]] = (),
    answers: Sequence[Mapping[str, Any]] | None = None,
    suite: Suite = SUITE,
    models: Sequence[Pair] = (GREEDY,),
    language: str = "en",
) -> ReportData:
    """Return a judged bundle; without answers given, every model says ``TEXT`` everywhere."""
    entries = [{"model": model, "variant": variant} for model, variant in models]
    manifest = Manifest.model_validate(
        {**MANIFEST.model_dump(by_alias=True), "models": entries, "sealed": None}
    )
    if answers is None:
        answers = [answer(*pair, one.id, TEXT) for pair in models for one in suite.prompts]
    given_answers = [Answer.model_validate(one) for one in answers]
    given_verdicts = [Verdict.model_validate(one) for one in verdicts]
    judged = [
        ModelReport.model_validate({"model": "alpha", "variant": "greedy", **r}) for r in reports
    ]
    return ReportData(
        manifest=manifest,
        suite=suite,
        rows=master_rows(suite, manifest.models, judged, given_verdicts),
        answers={(*one.pair, one.prompt_id): one for one in given_answers},
        flags=effective_flags(given_verdicts),
        hashes=Hashes("1" * 64, "2" * 64, "3f9c" * 16),
        language=language,
    )


def item(prompt_id: str = "E1", **more: Any) -> dict[str, Any]:
    return {"prompt_id": prompt_id, "kind": "quote", **more}


def asked_of(data: ReportData) -> Asked:
    answered = {
        entry.pair: [one.prompt_id for one in data.answers_of(entry.pair) if not one.is_empty]
        for entry in data.entries
    }
    return Asked(data.suite, answered, HASHES, data.manifest.judge)


JUDGED = {
    "dim_scores": {"Q1": 5, "Q3": 1},
    "dim_rationales": {"Q1": "Splendid throughout.", "Q3": "A dreadful breach."},
}
