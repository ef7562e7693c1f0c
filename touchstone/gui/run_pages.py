"""The data of a bundle's provenance page: how the answers and the judgement came about."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import Any

from touchstone.gui.bundle_view import BundleView
from touchstone.gui.safe_html import visible
from touchstone.gui.views import Crumb, RunFigures
from touchstone.gui.wording import Meta, Wording
from touchstone.models import JudgeEntry, ModelEntry, Weights


@dataclass(frozen=True)
class Fact:
    """A named value; ``code`` sets it in monospace."""

    name: str
    value: str
    code: bool = False


def run_page_data(view: BundleView, words: Wording) -> dict[str, Any]:
    """Return what the provenance page's template needs."""
    manifest = view.bundle.manifest
    bundle_title = words.show(view.bundle.title, view.suite)
    return {
        "meta": Meta(
            words.say("Run: %(title)s", title=bundle_title),
            words.say("Parameters, weights, engine, timings and hashes of this evaluation."),
        ),
        "view": view,
        "crumbs": words.crumbs(view, Crumb(words.say("Run"))),
        "tabs": words.tabs(view),
        "about": _about(view, words),
        "figures": RunFigures(view).rows,
        "models": [(entry, _model_facts(view, entry, words)) for entry in manifest.models],
        "judge": manifest.judge,
        "judge_facts": _judge_facts(manifest.judge, words) if manifest.judge else [],
        "parse_health": _parse_health(view, words),
        "hashes": _hashes(view, words),
        "sealed": manifest.sealed is not None,
        "problems": view.problems(),
        "commands": _commands(view),
    }


def _about(view: BundleView, words: Wording) -> list[Fact]:
    manifest = view.bundle.manifest
    return [
        Fact(words.say("Bundle"), visible(manifest.id)),
        Fact(words.say("Suite"), visible(manifest.suite.id)),
        Fact(words.say("Made"), manifest.created or "–"),
        Fact(words.say("With"), visible(manifest.tool or "–")),
    ]


def _model_facts(view: BundleView, entry: ModelEntry, words: Wording) -> list[Fact]:
    facts = [
        Fact(words.say("About"), words.show(entry.label, view.suite)),
        Fact(words.say("Parameters"), _json(entry.parameters), code=True),
        Fact(words.say("System message"), visible(entry.system or "")),
        Fact(words.say("Endpoint"), visible(entry.endpoint or "")),
        *_weights_facts(entry.weights, words),
        Fact(words.say("Engine"), visible(entry.engine or "")),
        Fact(words.say("Hardware"), visible(entry.hardware or "")),
    ]
    return [fact for fact in facts if fact.value]


def _weights_facts(weights: Weights | None, words: Wording) -> list[Fact]:
    if weights is None:
        return []
    parts = [weights.name, weights.parameters, weights.quantization, weights.source]
    return [
        Fact(words.say("Weights"), visible(" · ".join(part for part in parts if part))),
        Fact(words.say("Weights, sha256"), weights.sha256 or "", code=True),
    ]


def _judge_facts(judge: JudgeEntry, words: Wording) -> list[Fact]:
    ways = {"exchange": words.say("by file exchange"), "endpoint": words.say("over an endpoint")}
    facts = [
        Fact(words.say("Judge"), f"{visible(judge.id)} ({words.kind(judge.kind)})"),
        Fact(words.say("Model"), visible(judge.model or "")),
        Fact(words.say("Way"), ways.get(judge.via or "", "")),
        Fact(words.say("Mode"), words.mode(judge.mode)),
        Fact(words.say("Parameters"), _json(judge.parameters), code=True),
        Fact(words.say("Judging texts, version"), str(judge.prompt_version or "")),
        *_weights_facts(judge.weights, words),
        Fact(words.say("Engine"), visible(judge.engine or "")),
        Fact(words.say("Fingerprint"), judge.fingerprint, code=True),
    ]
    return [fact for fact in facts if fact.value]


def _json(value: dict[str, Any]) -> str:
    text = json.dumps(value, ensure_ascii=False) if value else ""
    return visible(text)


def _parse_health(view: BundleView, words: Wording) -> list[tuple[str, int]]:
    """Return how the judge's replies about dimensions were read, most frequent first."""
    counts: dict[str, int] = {}
    for row in view.rows:
        for how in (row.report.parse if row.report else {}).values():
            said = visible(words.parse(how))
            counts[said] = counts.get(said, 0) + 1
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def _hashes(view: BundleView, words: Wording) -> list[Fact]:
    bundle = view.bundle
    return [
        Fact(words.say("Bundle"), bundle.sha256, code=True),
        Fact(words.say("Suite"), bundle.suite_sha256, code=True),
        Fact(words.say("Answers"), bundle.answers_sha256, code=True),
    ]


def _commands(view: BundleView) -> list[str]:
    """Return the commands that make such a bundle again, one for each (model, variant)."""
    names = ("temperature", "top_p", "seed", "max_tokens")
    lines = []
    for entry in view.bundle.manifest.models:
        is_local = entry.endpoint == "embedded"
        words = ["touchstone", "run", view.suite.id]
        words += ["--model", f"local:{entry.model}" if is_local else entry.model]
        words += ["--variant", entry.variant]
        for name, value in entry.parameters.items():
            if name in names:
                words += ["--" + name.replace("_", "-"), str(value)]
            else:
                words += ["--parameter", f"{name}={json.dumps(value, ensure_ascii=False)}"]
        if entry.system:
            words += ["--system", " ".join(entry.system.split())]
        if entry.endpoint and not is_local:
            words += ["--base-url", entry.endpoint]
        lines.append(visible(shlex.join([*words, "-o", view.bundle.id])))
    return lines
