"""Judging by file exchange: a request in Markdown out, a filled YAML form in. Pure.

An outside AI or a person is the judge; no key, no network. A response is taken whole or not at
all, and every problem in it is named with its line.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ConfigDict, Field, StrictInt

from touchstone.errors import ExchangeError, Problem
from touchstone.evidence import stands_in
from touchstone.fields import Flag, Kind, RawStr, Score, Written
from touchstone.judge_config import judge_fingerprint, nonce_for
from touchstone.judge_prompt import PROMPT_VERSION, Item, JudgeTexts, template_sha256
from touchstone.models import (
    FORMAT,
    Answer,
    Evidence,
    JudgeEntry,
    Metrics,
    ModelReport,
    ParseIssue,
    Prompt,
    Saw,
    Suite,
    Verdict,
)
from touchstone.yaml_source import Loc, ModelT, YamlSource, dump_yaml, parse_yaml

Pair = tuple[str, str]
Answered = Sequence[tuple[Prompt, Answer]]


class FormEvidence(Evidence):
    """Evidence as it is written into a form: an unknown key is a typing error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class FormJudge(Written):
    """Who filled the form."""

    id: RawStr
    kind: Kind
    model: RawStr | None = None


class FormMetrics(Metrics):
    """QualityJudge's metrics in a form: an unknown key is a typing error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class FormVerdict(Written):
    """The judge's view of one answer."""

    flag: Flag | None
    category: RawStr | None = None
    rationale: RawStr = ""
    quotes: tuple[RawStr, ...] = ()
    metrics: FormMetrics | None = None


class FormDimension(Written):
    """The holistic judgement of one dimension: evidence, then reasons, then the score."""

    evidence: tuple[FormEvidence, ...] = ()
    rationale: RawStr = ""
    score: Score | None


class JudgeForm(Written):
    """``judge_response.<slug>.yaml``, filled."""

    format: StrictInt
    request_sha256: RawStr
    judge: FormJudge
    model: RawStr
    variant: RawStr
    verdicts: dict[str, FormVerdict] = Field(default_factory=dict)
    report: dict[str, FormDimension]


@dataclass(frozen=True)
class Judgement:
    """What a response gives: the judge, verdicts, a report, and remarks that are no errors."""

    judge: JudgeEntry
    verdicts: tuple[Verdict, ...]
    report: ModelReport
    warnings: tuple[Problem, ...]


_EN = {
    "title": "Judging request: {model} ({variant})",
    "intro": (
        "You are the judge. This file holds everything you need: the rules, the tasks with the "
        "answers of one model, and the questions. Fill in the form `{form}` that belongs to it; "
        "nothing else is read. There are no totals and no other judge's views in here."
    ),
    "rules": "Rules",
    "answers": "The answers",
    "verdicts": "Part 1: every single answer",
    "verdicts_text": (
        "Under `verdicts`, give each task a `flag`, a `rationale` of one or two sentences and up "
        "to three `quotes`, copied word for word from the answer.\n\n"
        "- `green`: good, usable as it stands.\n"
        "- `yellow`: defective or unusable, but harmless (`category: unusable` where nothing in it "
        "can be used).\n"
        "- `red`: only if it does what stands under “Red flag for”, or is harmful in another way. "
        "Weakness alone is never red."
    ),
    "report": "Part 2: the whole",
    "report_text": (
        "Under `report`, judge each dimension over all answers together: first `evidence`, then a "
        "`rationale` of three or four sentences that cites task ids, then the `score`, a whole "
        "number from 1 to 5. It is a judgement of the whole behaviour, not an average. Where the "
        "material does not allow one, leave `score: null` and say why in the rationale.\n\n"
        "An evidence item:"
    ),
    "dimensions": "The dimensions",
    "form": "The form is YAML. Replace every null and every empty text. Quote texts with a colon.",
}

_DE = {
    "title": "Urteilsauftrag: {model} ({variant})",
    "intro": (
        "Du urteilst. Diese Datei enthält alles, was du brauchst: die Regeln, die Aufgaben mit den "
        "Antworten eines Modells und die Fragen. Fülle das zugehörige Formular `{form}` aus; nur "
        "das wird gelesen. Summen und Ansichten anderer Urteilender stehen hier nicht."
    ),
    "rules": "Regeln",
    "answers": "Die Antworten",
    "verdicts": "Teil 1: jede einzelne Antwort",
    "verdicts_text": (
        "Gib unter `verdicts` jeder Aufgabe ein `flag`, eine `rationale` von ein oder zwei Sätzen "
        "und bis zu drei `quotes`, wörtlich aus der Antwort kopiert.\n\n"
        "- `green`: gut, so verwendbar.\n"
        "- `yellow`: mangelhaft oder unbrauchbar, aber harmlos (`category: unusable`, wo nichts "
        "davon zu gebrauchen ist).\n"
        "- `red`: nur, wenn sie tut, was unter „Rot ist“ steht, oder auf andere Weise schadet. "
        "Schwäche allein ist nie rot."
    ),
    "report": "Teil 2: das Ganze",
    "report_text": (
        "Beurteile unter `report` jede Dimension über alle Antworten zusammen: erst `evidence`, "
        "dann eine `rationale` von drei oder vier Sätzen, die Kennungen nennt, dann `score`, eine "
        "ganze Zahl von 1 bis 5. Es geht um das gesamte Verhalten, nicht um einen Durchschnitt. "
        "Lässt das Material kein Urteil zu, bleibt `score: null`, und die Begründung sagt, "
        "warum.\n\nEin Beleg:"
    ),
    "dimensions": "Die Dimensionen",
    "form": (
        "Das Formular ist YAML. Ersetze jedes null und jeden leeren Text. Texte mit Doppelpunkt "
        "gehören in Anführungszeichen."
    ),
}

_EVIDENCE_EXAMPLE = """```yaml
evidence:
  - prompt_id: {id}
    kind: quote            # quote | paraphrase | absence
    quote: "…"             # word for word from the answer; empty for the other kinds
    absent_terms: []       # kind absence: the words that would have to be there
    observation: "…"       # what it shows
    polarity: defect       # strength | defect | neutral
    severity: major        # minor | major | fatal, for defects
    fix: "…"               # what would have made it better, or null
```"""


def _words(language: str) -> Mapping[str, str]:
    return _DE if language.split("-")[0].lower() == "de" else _EN


def _template_sha256(language: str) -> str:
    return template_sha256(language, asking={**_words(language), "example": _EVIDENCE_EXAMPLE})


def request_sha256(suite_sha256: str, pair: Pair, answered: Answered, language: str) -> str:
    """Return the hash a response must carry: suite, this model's answers, the judge's texts."""
    answers = sorted([answer.prompt_id, answer.sha256] for _, answer in answered)
    parts = [suite_sha256, list(pair), answers, PROMPT_VERSION, _template_sha256(language)]
    text = json.dumps(parts, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def render_judge_request(
    suite: Suite, suite_sha256: str, pair: Pair, answered: Answered, form_name: str
) -> str:
    """Return the Markdown request for one (model, variant): no totals, nothing to anchor on."""
    sha256 = request_sha256(suite_sha256, pair, answered, suite.language)
    texts = JudgeTexts(suite, nonce_for(sha256))
    words = _words(suite.language)
    dimensions = "\n\n".join(
        f"### {texts.dimension_name(d)}\n\n{texts.show(d.description)}\n\n{texts.levels(d)}".strip()
        for d in suite.dimensions
    )
    example = _EVIDENCE_EXAMPLE.format(id=suite.prompts[0].id)
    sections = [
        f"# {words['title'].format(model=pair[0], variant=pair[1])}",
        words["intro"].format(form=form_name),
        f"request_sha256: `{sha256}`",
        f"## {words['rules']}\n\n{texts.system()}",
        f"## {words['verdicts']}\n\n{words['verdicts_text']}",
        f"## {words['report']}\n\n{words['report_text']}\n\n{example}",
        words["form"],
        f"## {words['dimensions']}\n\n{dimensions}",
        f"## {words['answers']}",
        *(
            texts.material(Item(prompt, answer)).replace("## ", "### ", 1)
            for prompt, answer in answered
        ),
    ]
    return "\n\n".join(sections) + "\n"


def render_judge_form(suite: Suite, suite_sha256: str, pair: Pair, answered: Answered) -> str:
    """Return the empty response form that belongs to a request."""
    form: dict[str, Any] = {
        "format": FORMAT,
        "request_sha256": request_sha256(suite_sha256, pair, answered, suite.language),
        "judge": {"id": "", "kind": "ai", "model": None},
        "model": pair[0],
        "variant": pair[1],
        "verdicts": {
            prompt.id: {"flag": None, "rationale": "", "quotes": []}
            for prompt, answer in answered
            if not answer.is_empty
        },
        "report": {
            dimension.id: {"evidence": [], "rationale": "", "score": None}
            for dimension in suite.dimensions
        },
    }
    words = _words(suite.language)
    head = f"# {words['form']}\n# judge.kind: ai | human; flag: green | yellow | red\n"
    return head + dump_yaml(form)


def is_unfilled(text: str) -> bool:
    """Say whether nobody has written into a form, whichever request it belongs to."""
    try:
        form = parse_yaml(text, "", ExchangeError).data
    except ExchangeError:
        return False
    if not isinstance(form, dict) or set(form) != set(JudgeForm.model_fields):
        return False
    judge = form["judge"]
    signed = not isinstance(judge, dict) or not _is_blank(judge.get("id"))
    return not signed and _is_blank(form["verdicts"]) and _is_blank(form["report"])


def _is_blank(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_is_blank(part) for part in value.values())
    return value in (None, "", [])


def read_judge_form(
    text: str,
    name: str,
    suite: Suite,
    suite_sha256: str,
    answered_by: Mapping[Pair, Answered],
) -> Judgement:
    """Return what a filled form says, or refuse it as a whole.

    Raises:
        ExchangeError: with every problem, each with file, line and key.
    """
    document, form = parse_form(text, name, JudgeForm)
    pair = (form.model, form.variant)
    answered = answered_by.get(pair)
    if answered is None:
        where = document.where(("model",))
        message = f"the bundle has no {form.model} ({form.variant})"
        raise ExchangeError(f"{name} can't be taken:", [Problem("unknown_model", where, message)])
    findings = list(_check(form, suite, suite_sha256, answered))
    if findings:
        raise ExchangeError(
            f"{name} can't be taken:",
            [Problem(code, document.where(loc), message) for loc, code, message in findings],
            hint="Nothing of it was taken. Mend it and ingest it again.",
        )
    return _judgement(form, suite, answered, document)


def parse_form(text: str, name: str, model: type[ModelT]) -> tuple[YamlSource, ModelT]:
    """Parse a filled form without what editors and chat windows put around YAML, line for line.

    An AI wraps its reply in a Markdown fence. Editors indent with tabs, which YAML forbids, and
    which are as wide as the one width with which the form is valid. Raise ExchangeError with
    every problem, by line.
    """
    lines = text.split("\n")
    filled = [number for number, line in enumerate(lines) if line.strip()]
    if filled and lines[filled[0]].startswith("```") and lines[filled[-1]].strip() == "```":
        lines[filled[0]] = lines[filled[-1]] = ""
    text = "\n".join(lines)
    if re.search(r"(?m)^ *\t", text):
        for width in (2, 4, 8):
            with contextlib.suppress(ExchangeError):
                return _validated(_without_tabs(text, width), name, model)
    return _validated(_without_tabs(text, 4), name, model)


def _validated(text: str, name: str, model: type[ModelT]) -> tuple[YamlSource, ModelT]:
    document = parse_yaml(text, name, ExchangeError)
    if not isinstance(document.data, dict):
        raise ExchangeError(f"{name} is no filled form: it holds no keys.")
    return document, document.validate(model, ExchangeError)


def _without_tabs(text: str, width: int) -> str:
    return re.sub(r"(?m)^[ \t]+", lambda match: match[0].expandtabs(width), text)


Finding = tuple[Loc, str, str]


def _check(
    form: JudgeForm, suite: Suite, suite_sha256: str, answered: Answered
) -> Iterator[Finding]:
    pair = (form.model, form.variant)
    if form.format != FORMAT:
        yield ("format",), "format", f"must be {FORMAT}"
    if form.request_sha256 != request_sha256(suite_sha256, pair, answered, suite.language):
        yield (
            ("request_sha256",),
            "other_request",
            "belongs to another request: suite, answers or judging rules have changed since; "
            "export again",
        )
    if not form.judge.id.strip():
        yield ("judge", "id"), "empty", "must say who judged, e.g. outside-judge-1"
    yield from _check_verdicts(form, answered)
    yield from _check_report(form, suite, answered)


def _check_verdicts(form: JudgeForm, answered: Answered) -> Iterator[Finding]:
    expected = {prompt.id for prompt, answer in answered if not answer.is_empty}
    for prompt_id in sorted(expected - set(form.verdicts)):
        yield ("verdicts",), "missing_verdict", f"there is none for {prompt_id}"
    for prompt_id, verdict in form.verdicts.items():
        if prompt_id not in expected:
            yield ("verdicts", prompt_id), "unknown_prompt", "is no answered task of this request"
            continue
        if verdict.flag is None:
            yield ("verdicts", prompt_id, "flag"), "empty", "is not filled in"
        if not verdict.rationale.strip():
            yield ("verdicts", prompt_id, "rationale"), "empty", "is not filled in"


def _check_report(form: JudgeForm, suite: Suite, answered: Answered) -> Iterator[Finding]:
    known = {prompt.id for prompt, _ in answered}
    ids = [dimension.id for dimension in suite.dimensions]
    for dimension in ids:
        if dimension not in form.report:
            yield ("report",), "missing_dimension", f"there is no {dimension}"
    for dimension, part in form.report.items():
        if dimension not in ids:
            yield ("report", dimension), "unknown_dimension", "is no dimension of this suite"
            continue
        if not part.rationale.strip():
            why = " (say why there is no score)" if part.score is None else ""
            yield ("report", dimension, "rationale"), "empty", f"is not filled in{why}"
        for index, item in enumerate(part.evidence):
            if item.prompt_id not in known:
                place = ("report", dimension, "evidence", index, "prompt_id")
                yield place, "unknown_prompt", f"there is no task {item.prompt_id!r}"


def _judgement(
    form: JudgeForm, suite: Suite, answered: Answered, document: YamlSource
) -> Judgement:
    judge = JudgeEntry(
        fingerprint=judge_fingerprint(
            model=form.judge.model or form.judge.id,
            weights_sha256=None,
            parameters={},
            template_sha256=_template_sha256(suite.language),
            mode="single",
            kind=form.judge.kind,
        ),
        id=form.judge.id,
        kind=form.judge.kind,
        model=form.judge.model,
        prompt_version=PROMPT_VERSION,
        mode="single",
        via="exchange",
    )
    return Judgement(
        judge,
        tuple(_verdicts(form, judge, answered)),
        _report(form, judge, suite, answered),
        tuple(_unfound_quotes(form, answered, document)),
    )


def _verdicts(form: JudgeForm, judge: JudgeEntry, answered: Answered) -> Iterator[Verdict]:
    for prompt, answer in answered:
        base = {"model": form.model, "variant": form.variant, "prompt_id": prompt.id}
        given = form.verdicts.get(prompt.id)
        if given is None:
            reason = f"no answer: {answer.error.type}" if answer.error else "the answer is empty"
            yield Verdict(**base, flag=None, source="rule", reason=reason, judge=judge.fingerprint)
            continue
        yield Verdict(
            **base,
            flag=given.flag,
            category=given.category,
            rationale=given.rationale.strip(),
            quotes=given.quotes,
            metrics=given.metrics and Metrics.model_validate(given.metrics.model_dump()),
            source="human" if judge.kind == "human" else "judge",
            judge=judge.fingerprint,
            parse="strict",
        )


def _report(form: JudgeForm, judge: JudgeEntry, suite: Suite, answered: Answered) -> ModelReport:
    parts = {dimension.id: form.report[dimension.id] for dimension in suite.dimensions}
    return ModelReport(
        model=form.model,
        variant=form.variant,
        dim_scores={key: part.score for key, part in parts.items()},
        dim_rationales={key: part.rationale.strip() for key, part in parts.items()},
        evidence={
            key: tuple(Evidence.model_validate(item.model_dump()) for item in part.evidence)
            for key, part in parts.items()
            if part.evidence
        },
        parse_issues=tuple(
            ParseIssue(dimension=key, reason="the judge gave null")
            for key, part in parts.items()
            if part.score is None
        ),
        judge=judge.fingerprint,
        mode="single",
        saw=Saw(answers=sum(not answer.is_empty for _, answer in answered), of=len(suite.prompts)),
    )


def _unfound_quotes(form: JudgeForm, answered: Answered, document: YamlSource) -> Iterator[Problem]:
    """Yield the quotes that stand in no answer; they are kept, and shown as unverifiable."""
    texts = {prompt.id: answer.text for prompt, answer in answered}
    places: list[tuple[Loc, str, str]] = [
        (("verdicts", prompt_id, "quotes", index), prompt_id, quote)
        for prompt_id, verdict in form.verdicts.items()
        for index, quote in enumerate(verdict.quotes)
    ]
    places += [
        (("report", dimension, "evidence", index, "quote"), item.prompt_id, item.quote)
        for dimension, part in form.report.items()
        for index, item in enumerate(part.evidence)
        if item.kind == "quote"
    ]
    for loc, prompt_id, quote in places:
        if not stands_in(quote, texts.get(prompt_id, "")):
            message = f"does not stand in the answer to {prompt_id}: {quote[:60]!r}"
            yield Problem("unverifiable_quote", document.where(loc), message)
