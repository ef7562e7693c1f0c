"""Judging by file: what goes out is fair, what comes back is taken whole or not at all."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from builders_run import append_lines, files_of
from conftest import BundleFolder, Outcome, answer, verdict

from touchstone.bundle import Bundle
from touchstone.exchange import is_unfilled

Run = Callable[..., Outcome]

FILLED = """\
format: 1
request_sha256: SHA
judge:
  id: outside-1
  kind: ai
  model: some-model
model: alpha
variant: default
verdicts:
  E1:
    flag: green
    rationale: Fine.
    quotes: [An answer.]
  E2:
    flag: yellow
    rationale: Too short.
  D1:
    flag: red
    rationale: Harmful.
report:
  Q1:
    evidence:
      - prompt_id: E1
        kind: quote
        quote: An answer.
        observation: it answers
        polarity: strength
    rationale: Good at E1.
    score: 4
  Q2: {evidence: [], rationale: Dry at E2., score: 3}
  Q3: {evidence: [], rationale: Harm at D1., score: 2}
  Q4: {evidence: [], rationale: No form to see., score: null}
"""


class Exchange:
    """A bundle with answers, its request, and the form that is filled in for it."""

    def __init__(self, folder: BundleFolder, touchstone: Run) -> None:
        self.folder = folder
        self.path = folder.path
        self._touchstone = touchstone
        folder.answers("E1", "E2", "D1")
        self.exported = self.judge("--export")
        self.request, self.form = folder.open().exchange_paths(("alpha", "default"))
        self.sha256 = re.findall(r"request_sha256: `(\w{64})`", self.request.read_text())[0]

    def judge(self, *args: object) -> Outcome:
        return self._touchstone("judge", self.path, *args)

    def filled(self, *edits: tuple[str, str]) -> str:
        """Return the filled form with parts of it replaced; each must stand there once."""
        text = FILLED.replace("SHA", self.sha256)
        for old, new in edits:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        return text

    def ingest(self, content: str | bytes, *args: object) -> Outcome:
        self.form.write_bytes(content if isinstance(content, bytes) else content.encode())
        return self.judge("--ingest", *args)

    def is_untouched_by(self, action: Callable[[], Outcome]) -> Outcome:
        """Check that an action fails and leaves every file but the form as it was."""
        before = files_of(self.path, without=[self.form.name])
        result = action()
        assert result.code == 1
        assert files_of(self.path, without=[self.form.name]) == before
        return result


@pytest.fixture
def exchange(folder: BundleFolder, touchstone: Run) -> Exchange:
    return Exchange(folder, touchstone)


# --- there and back ------------------------------------------------------------------------


def test_export_fill_and_ingest_make_a_judged_sealed_bundle(
    exchange: Exchange, touchstone: Run
) -> None:
    result = exchange.ingest(exchange.filled())

    assert (result.code, result.out) == (0, "")
    bundle = Bundle.open(exchange.path)
    assert [(one.prompt_id, one.flag, one.source) for one in bundle.verdicts] == [
        ("E1", "green", "judge"),
        ("E2", "yellow", "judge"),
        ("D1", "red", "judge"),
    ]
    [report] = bundle.reports
    assert report.dim_scores == {"Q1": 4, "Q2": 3, "Q3": 2, "Q4": None}
    assert report.issue("Q4") == "the judge gave null"
    assert report.evidence["Q1"][0].quote == "An answer."
    assert report.saw is not None
    assert (report.saw.answers, report.saw.of) == (3, 3)
    judge = bundle.manifest.judge
    assert judge is not None
    assert (judge.id, judge.kind, judge.model, judge.via) == (
        *("outside-1", "ai", "some-model"),
        "exchange",
    )
    assert {one.judge for one in bundle.verdicts} == {report.judge} == {judge.fingerprint}
    assert touchstone("verify", exchange.path).code == 0
    assert touchstone("score", exchange.path, "--json").json["judge"] == judge.fingerprint


def test_a_person_is_recorded_as_one(exchange: Exchange) -> None:
    exchange.ingest(exchange.filled(("kind: ai", "kind: human"), ("  model: some-model\n", "")))

    bundle = Bundle.open(exchange.path)
    assert {one.source for one in bundle.verdicts} == {"human"}
    assert bundle.manifest.judge is not None
    assert (bundle.manifest.judge.kind, bundle.manifest.judge.model) == ("human", None)


def test_answers_that_failed_need_no_verdict_and_get_one_by_rule(
    folder: BundleFolder, touchstone: Run
) -> None:
    failed = {**answer("E2", text=""), "error": {"type": "timeout"}}
    exchange = Exchange(folder, touchstone)
    folder.write_lines("answers.jsonl", answer("E1"), failed, answer("D1", text=" "))
    exchange.form.unlink()
    exchange.judge("--export")
    form = exchange.form.read_text()
    assert "E1:" in form
    assert "E2:" not in form
    assert "D1:" not in form
    sha256 = re.findall(r"request_sha256: (\w{64})", form)[0]
    kept = re.sub(r"(?ms)^  E2:.*?(?=^report:)", "", FILLED).replace("SHA", sha256)

    assert exchange.ingest(kept).code == 0

    rules = [(v.prompt_id, v.flag, v.source, v.reason) for v in folder.open().verdicts]
    assert rules[1:] == [
        ("E2", None, "rule", "no answer: timeout"),
        ("D1", None, "rule", "the answer is empty"),
    ]


def test_files_from_elsewhere_are_taken_too(exchange: Exchange, tmp_path: Path) -> None:
    mail = tmp_path / "from the judge.yaml"
    mail.write_text(exchange.filled())

    assert exchange.judge("--ingest", mail).code == 0
    assert len(Bundle.open(exchange.path).reports) == 1


# --- what goes out -------------------------------------------------------------------------


def test_the_request_holds_everything_a_judge_needs(exchange: Exchange) -> None:
    text = exchange.request.read_text()

    for part in ("Rules:", "Write a note.", "An answer.", "Q3 (Safety)", exchange.form.name):
        assert part in text
    assert "Part 1" in text
    assert "Part 2" in text
    assert text.count("### Task ") == 3


def test_neither_totals_nor_another_judges_view_stand_in_a_request(
    exchange: Exchange, folder: BundleFolder
) -> None:
    report = {"model": "alpha", "variant": "default", "dim_scores": {"Q1": 1},
              "dim_rationales": {"Q1": "An opinion of somebody else."}}  # fmt: skip
    append_lines(folder.path / "reports.jsonl", report)
    seen = {**verdict("E1", "red"), "rationale": "A view of somebody else."}
    append_lines(folder.path / "verdicts.jsonl", seen)

    exchange.judge("--export")

    text = exchange.request.read_text()
    assert "somebody else" not in text
    assert "Earlier view" not in text
    assert not re.search(r"\b(weight|threshold|rank|quality %|percent)", text, re.IGNORECASE)


def test_the_same_request_is_written_the_same_way(exchange: Exchange) -> None:
    before = exchange.request.read_bytes(), exchange.form.read_bytes()

    exchange.judge("--export")

    assert (exchange.request.read_bytes(), exchange.form.read_bytes()) == before


def test_a_german_suite_is_exported_in_german(folder: BundleFolder, touchstone: Run) -> None:
    suite = (folder.path / "suite.yaml").read_text().replace("language: en", "language: de-AT")
    folder.write("suite.yaml", suite)

    exchange = Exchange(folder, touchstone)

    text = exchange.request.read_text()
    assert "# Urteilsauftrag: alpha (default)" in text
    assert "### Aufgabe E1" in text
    assert "The dimensions" not in text
    assert exchange.form.read_text().startswith("# Das Formular ist YAML.")


def test_a_filled_form_survives_another_export(exchange: Exchange) -> None:
    exchange.form.write_text(exchange.filled())

    result = exchange.judge("--export")

    assert exchange.form.read_text() == exchange.filled()
    assert "kept, because it is filled in" in result.err


def test_an_empty_form_is_renewed_when_the_answers_change(
    exchange: Exchange, folder: BundleFolder
) -> None:
    before = exchange.form.read_text()
    folder.answers("E1", "E2")

    exchange.judge("--export")

    assert exchange.form.read_text() != before
    assert "D1:" not in exchange.form.read_text()


@pytest.mark.parametrize(
    ("old", "new", "unfilled"),
    [
        ("", "", True),
        ("kind: ai", "kind: human", True),
        ('id: ""', "id: me", False),
        ("flag: null", "flag: green", False),
        ('rationale: ""', "rationale: x", False),
        ("quotes: []", "quotes: [x]", False),
        ("score: null", "score: 3", False),
        ("evidence: []", "evidence: [{prompt_id: E1}]", False),
        ("format: 1", "notes: mine", False),
        ("format: 1", "\tformat: [", False),
    ],
)
def test_one_word_in_a_form_makes_it_a_filled_one(
    exchange: Exchange, old: str, new: str, unfilled: bool
) -> None:
    form = exchange.form.read_text()

    assert old in form
    assert is_unfilled(form.replace(old, new, 1)) is unfilled


# --- what is not taken ---------------------------------------------------------------------


Q1_EVIDENCE = "report.Q1.evidence[0]"
Q2_LINE = "  Q2: {evidence: [], rationale: Dry at E2., score: 3}\n"
E2_LINES = "  E2:\n    flag: yellow\n    rationale: Too short.\n"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("SHA", "0" * 64, ":2: request_sha256: belongs to another request"),
        ("model: alpha", "model: omega", ":7: model: the bundle has no omega (default)"),
        ("variant: default", "variant: warm", ":7: model: the bundle has no alpha (warm)"),
        ("format: 1", "format: 2", ":1: format: must be 1"),
        ("id: outside-1", "id: ' '", ":4: judge.id: must say who judged"),
        ("kind: ai", "kind: robot", ":5: judge.kind: must be 'ai' or 'human'"),
        (E2_LINES, "", ":9: verdicts: there is none for E2"),
        ("  D1:", "  D9:", ":17: verdicts.D9: is no answered task"),
        ("    flag: green\n", "", ":10: verdicts.E1.flag: is required"),
        ("flag: green", "flag: null", ":11: verdicts.E1.flag: is not filled in"),
        ("flag: green", "flag: Grun", ":11: verdicts.E1.flag: must be 'green'"),
        ("flag: green", "flag: [green]", ":11: verdicts.E1.flag: must be 'green'"),
        ("flag: green", "flagg: green", ":11: verdicts.E1.flagg: is not a key here"),
        ("Fine.", "", ":12: verdicts.E1.rationale"),
        ("[An answer.]", "An answer.", ":13: verdicts.E1.quotes: must be"),
        (
            "Too short.",
            "x\n    metrics: {accuracy: 1}",
            ":17: verdicts.E2.metrics.accuracy: is not",
        ),
        ("score: 4", "score: true", ":29: report.Q1.score: must be a"),
        ("score: 4", "score: 6", ":29: report.Q1.score: must be"),
        ("score: 4", "score: 0", ":29: report.Q1.score: must be"),
        ("score: 4", "score: 4.5", ":29: report.Q1.score: must be a"),
        ("score: 4", 'score: "4"', ":29: report.Q1.score: must be a"),
        ("score: 4", "score: 4/5", ":29: report.Q1.score: must be a"),
        ("    score: 4\n", "", ":21: report.Q1.score: is required"),
        ("Good at E1.", "", ":28: report.Q1.rationale"),
        (Q2_LINE, "", ":20: report: there is no Q2"),
        ("  Q2:", "  Q9:", ":30: report.Q9: is no dimension of this suite"),
        ("prompt_id: E1", "prompt_id: E7", f":23: {Q1_EVIDENCE}.prompt_id: there is no task"),
        ("   kind: quote", "   kind: hearsay", f":24: {Q1_EVIDENCE}.kind: must be"),
        ("observation:", "observed:", f":26: {Q1_EVIDENCE}.observed: is not a key here"),
        ("rationale: Fine.", "rationale: Fine: so it is", ":12: "),
        ("  Q3:", "  Q2:", ":31: report.Q2: stands here twice"),
        ("variant: default", "variant: default\nmetrics: {}", ":9: metrics: is not a key here"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_nothing_is_taken(
    exchange: Exchange, old: str, new: str, expected: str
) -> None:
    form = exchange.filled((exchange.sha256 if old == "SHA" else old, new))

    result = exchange.is_untouched_by(lambda: exchange.ingest(form))

    assert f"{exchange.form.name}{expected}" in result.err
    assert "nothing was changed" in result.err


def test_every_mistake_is_named_at_once(exchange: Exchange) -> None:
    form = exchange.filled(("flag: green", "flag: null"), ("Dry at E2.", "''"), ("  Q4:", "  Q5:"))

    result = exchange.is_untouched_by(lambda: exchange.ingest(form))

    for expected in (
        ":11: verdicts.E1.flag",
        ":30: report.Q2.rationale",
        ": there is no Q4",
        ":32: ",
    ):
        assert expected in result.err


@pytest.mark.parametrize("content", [b"", b"# nothing\n", b"\xef\xbb\xbf", b"just words\n", b"[]"])
def test_an_empty_file_is_no_form(exchange: Exchange, content: bytes) -> None:
    result = exchange.is_untouched_by(lambda: exchange.ingest(content))

    assert "is no filled form: it holds no keys" in result.err


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_another_encoding_is_named(exchange: Exchange, encoding: str) -> None:
    form = exchange.filled(("Fine.", "Schön.")).encode(encoding)

    assert "is not UTF-8" in exchange.is_untouched_by(lambda: exchange.ingest(form)).err


def test_a_truncated_file_is_never_half_taken(exchange: Exchange) -> None:
    whole = exchange.filled()
    lines = whole.splitlines(keepends=True)

    for end in range(1, len(lines)):
        result = exchange.is_untouched_by(lambda e=end: exchange.ingest("".join(lines[:e])))  # type: ignore[misc]
        assert exchange.form.name in result.err
    for end in range(0, len(whole) - 60, 97):
        exchange.is_untouched_by(lambda e=end: exchange.ingest(whole[:e]))  # type: ignore[misc]


# --- what is taken all the same ------------------------------------------------------------


@pytest.mark.parametrize(
    "dress",
    [
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: re.sub(r"(?m)^( +)", lambda m: "\t" * (len(m[1]) // 2), text).encode(),
        lambda text: text.replace("        ", "\t").encode(),
        lambda text: f"```yaml\n{text}```\n".encode(),
        lambda text: f"\n```\n{text}\n```".encode(),
        lambda text: f"---\n{text}".encode(),
        lambda text: text.rstrip().encode(),
    ],
    ids=[
        "CRLF",
        "BOM",
        "tabs",
        "wide tabs",
        "fenced",
        "fenced later",
        "document start",
        "no last line end",
    ],
)
def test_what_editors_and_chat_windows_do_to_a_form_does_no_harm(
    exchange: Exchange, dress: Callable[[str], bytes]
) -> None:
    assert exchange.ingest(exchange.filled()).code == 0
    expected = files_of(exchange.path, without=[exchange.form.name])

    assert exchange.ingest(dress(exchange.filled())).code == 0

    assert files_of(exchange.path, without=[exchange.form.name]) == expected


def test_a_quote_that_stands_nowhere_is_kept_and_warned_about(exchange: Exchange) -> None:
    form = exchange.filled(
        ("quotes: [An answer.]", "quotes: [Invented words.]"),
        ("        quote: An answer.", "        quote: More invention."),
    )

    result = exchange.ingest(form)

    assert result.code == 0
    name = exchange.form.name
    assert (
        f"Note: {name}:13: verdicts.E1.quotes[0]: does not stand in the answer to E1" in result.err
    )
    assert f"Note: {name}:25: report.Q1.evidence[0].quote: does not stand" in result.err
    assert next(iter(Bundle.open(exchange.path).verdicts)).quotes == ("Invented words.",)


def test_a_quote_in_parts_is_found(exchange: Exchange) -> None:
    text = "Mr Novak is off sick and will be back on Monday."
    exchange.folder.write_lines(
        "answers.jsonl", answer("E1", text=text), answer("E2"), answer("D1")
    )
    exchange.judge("--export")
    exchange.sha256 = re.findall(r"request_sha256: `(\w{64})`", exchange.request.read_text())[0]
    edits = [
        ("quotes: [An answer.]", "quotes: []"),
        ("        quote: An answer.", "        quote: Mr Novak is off … back on Monday."),
    ]

    result = exchange.ingest(exchange.filled(*edits))

    assert result.code == 0
    assert "does not stand" not in result.err


def test_metrics_of_a_quality_judge_are_taken(exchange: Exchange) -> None:
    metrics = "{intent_accuracy: 85, faithfulness: 4, relevance: 5, coherence: 4, safety: pass}"

    assert exchange.ingest(exchange.filled(("Fine.", f"Fine.\n    metrics: {metrics}"))).code == 0

    first = next(iter(Bundle.open(exchange.path).verdicts)).metrics
    assert first is not None
    assert (first.intent_accuracy, first.faithfulness, first.safety) == (85, 4, "pass")
