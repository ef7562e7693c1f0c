"""Evidence checking on texts that nobody wrote for it: real answers, real judges' rationales."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from builders_evidence import checker_of, suite_of

from touchstone.bundle import Bundle
from touchstone.evidence import EvidenceChecker, find_prose_quotes
from touchstone.evidence.levelling import keeps_numbers
from touchstone.evidence_audit import audit_evidence
from touchstone.models import Evidence, Suite

ROOT = Path(__file__).parents[1]
MT_BENCH = ROOT.parent / "shared" / "data" / "korean-mt-bench" / "data" / "en"
TAKEN = {"verbatim", "normalised", "in_parts", "near"}

needs_data = pytest.mark.skipif(not MT_BENCH.is_dir(), reason="the shared judge data is not here")


@pytest.mark.parametrize(
    ("bundle", "classes"),
    [
        ("office-en-smollm2", {"verbatim": 93, "absence_passed": 19, "paraphrase": 13}),
        ("office-en-smollm2-self", {}),
    ],
)
def test_the_evidence_of_the_shipped_bundles(bundle: str, classes: dict[str, int]) -> None:
    opened = Bundle.open(ROOT / "bundles" / bundle)
    answers = opened.answers

    def text_of(pair: tuple[str, str], prompt_id: str) -> str | None:
        answer = answers.get((*pair, prompt_id))
        return None if answer is None else answer.text

    pairs = [entry.pair for entry in opened.manifest.models]
    checker = EvidenceChecker(opened.suite, text_of, pairs)
    audit = audit_evidence(
        opened.suite, opened.reports, checker, lambda pair, one: (*pair, one) in answers
    )

    assert {one: n for one, n in audit.counts.classes.items() if n} == classes
    assert [one.dangling for one in audit.rationales if one.dangling] == []
    for one in audit.items:
        if one.finding.kind == "verbatim":
            ((start, end),) = one.finding.spans
            text = text_of(one.pair, one.item.prompt_id)
            assert text is not None
            assert text[start:end] == one.item.quote.strip()


# --- MT-Bench: 960 answers, the rationales of six judges -----------------------------------


def lines(path: Path) -> Iterator[dict[str, object]]:
    with path.open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file)


@cache
def mt_bench() -> tuple[Suite, dict[tuple[str, str], dict[str, str]]]:
    """Return its prompts, one for each turn, and all answers."""
    prompts: list[dict[str, object]] = []
    for question in lines(MT_BENCH / "questions.jsonl"):
        for turn, text in enumerate(question["turns"], start=1):  # type: ignore[arg-type, var-annotated]
            one = {"id": f"P{question['question_id']}.{turn}", "text": text}
            prompts.append(one | ({"follows": prompts[-1]["id"]} if turn == 2 else {}))
    answers: dict[tuple[str, str], dict[str, str]] = {}
    for path in sorted((MT_BENCH / "answers").glob("*.jsonl")):
        own = answers.setdefault((path.stem, "default"), {})
        for line in lines(path):
            turns = line["choices"][0]["turns"]  # type: ignore[index]
            own |= {f"P{line['question_id']}.{turn}": text for turn, text in enumerate(turns, 1)}
    return suite_of(*prompts), answers


def judged() -> Iterator[tuple[str, tuple[str, str], str, str]]:
    """Yield judge, (model, variant), prompt id and rationale."""
    for path in sorted(MT_BENCH.glob("judgments/*/*/single_grade/*.jsonl")):
        for line in lines(path):
            for turn in (1, 2):
                rationale = line.get(f"judgment_turn{turn}")
                pair = str(line["model_id"]), "default"
                yield path.parts[-3], pair, f"P{line['question_id']}.{turn}", str(rationale or "")


@needs_data
def test_what_published_judges_quote() -> None:
    """They quote the prompt in about 11 to 31 of 100 cases, and hardly ever another answer."""
    suite, answers = mt_bench()
    quoted = [
        (judge, pair, Evidence(prompt_id=prompt_id, quote=quote.text.rstrip(".,")))
        for judge, pair, prompt_id, rationale in judged()
        for quote in find_prose_quotes(rationale, ())
    ]
    findings = checker_of(suite, answers).check_all((pair, item) for _, pair, item in quoted)

    assert len(quoted) > 5000
    classes: dict[str, Counter[str]] = {}
    for (judge, *_), finding in zip(quoted, findings, strict=True):
        classes.setdefault(judge, Counter())[finding.kind] += 1
    assert len(classes) >= 5
    for counted in classes.values():
        long = counted.total() - counted["too_short"]
        assert 0.08 < counted["from_prompt"] / long < 0.35
        assert counted["unverifiable"] / long < 0.3
        assert sum(counted[one] for one in TAKEN) / long > 0.4


def passages(pattern: str, count: int) -> list[tuple[tuple[str, str], str, str, re.Match[str]]]:
    """Yield passages of real answers in which a pattern stands in the middle."""
    _, answers = mt_bench()
    draw = random.Random(5)
    inside = re.compile(rf"(?<=[a-z] ){pattern}(?= [a-z]{{2,}} )")
    found = [
        (pair, prompt_id, text, match)
        for pair, own in answers.items()
        for prompt_id, text in own.items()
        for match in inside.finditer(text)
        if match.start() > 60 and match.end() < len(text) - 60
    ]
    return draw.sample(found, count)


@needs_data
@pytest.mark.parametrize(
    ("pattern", "other"),
    [
        (r"\d+", "0{}"),
        (r"\d+", "{}7"),
        (r"(?:not|never|no|without|cannot)", "also"),
        ("is", "is not"),
    ],
)
def test_a_changed_number_or_negation_in_a_real_answer_is_never_found(
    pattern: str, other: str
) -> None:
    suite, answers = mt_bench()
    checker = checker_of(suite, answers)
    for pair, prompt_id, text, match in passages(pattern, 150):
        start, end = match.start() - 50, match.end() + 50
        before, after = text[start : match.start()], text[match.end() : end]
        edited = before + other.format(match[0]) + after
        if edited.strip() not in text:
            assert checker.check_quote(pair, prompt_id, edited).kind not in TAKEN, edited
        if keeps_numbers(text, start, end):
            assert checker.check_quote(pair, prompt_id, text[start:end]).kind == "verbatim"


@needs_data
def test_a_passage_of_a_real_answer_in_plain_text_is_found_at_its_place() -> None:
    suite, answers = mt_bench()
    checker = checker_of(suite, answers)
    for pair, prompt_id, text, match in passages("[a-z]+", 300):
        start, end = match.start() - 40, match.end() + 40
        plain = text[start:end].replace("**", "").replace("’", "'").replace("–", "-")
        plain = " ".join(plain.split()).strip("*_`#- ")
        if keeps_numbers(text, start, end) and "`" not in plain:
            finding = checker.check_quote(pair, prompt_id, plain)
            assert finding.is_found, (text[start:end], plain)
            assert start <= finding.spans[0][0] or finding.occurrences > 1
