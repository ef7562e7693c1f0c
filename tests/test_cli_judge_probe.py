"""``touchstone judge-probe`` against a real server: asked once, kept, gone on with, refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from builders_judge import GREEN, RED, kind_of_text, noted, scored
from builders_run import append_lines, command, files_of, finish, read_lines, wait_until
from chat_server import Answer as Served
from chat_server import ChatServer, Seen, completion, refusal, serving
from conftest import BundleFolder, Outcome

from touchstone.bundle import Bundle
from touchstone.judge_config import judge_fingerprint
from touchstone.judge_prompt import template_sha256
from touchstone.probe_texts import TEXTS
from touchstone.yaml_source import dump_yaml, parse_yaml

Run = Callable[..., Outcome]
YELLOW = GREEN.replace("green", "yellow")
PROBED = 4 * 9
"""Scores asked for by default: four dimensions, three repeats and six probes."""
FLAGGED = 2 * (3 + 6 + 3)
"""Flags asked for by default: two answers, three repeats, six defects, three instructions."""


def evidence(text: str) -> str:
    return noted("An answer.")


class Bench:
    """A bundle judged by a server, which is asked again."""

    def __init__(self, folder: BundleFolder, touchstone: Run) -> None:
        folder.answers("E1", "E2", "D1")
        self.folder = folder
        self.path = folder.path
        self._touchstone = touchstone
        self.verdict: Callable[[str], str] = lambda text: YELLOW
        self.score: Callable[[str], str] = lambda text: scored(4)
        self.pause_s = 0.0
        self.failing = False
        self.server: ChatServer | None = None

    def __call__(self, seen: Seen) -> Served:
        if not seen.path.endswith("/chat/completions"):
            return refusal(404, "nothing here")
        if self.failing:
            return refusal(500, "out of memory")
        text = seen.body["messages"][1]["content"]
        kind = kind_of_text(text)
        say = {"verdict": self.verdict, "evidence": evidence}.get(kind, self.score)
        return Served(completion(say(text)).chunks, pause_s=self.pause_s)

    @property
    def where(self) -> list[object]:
        assert self.server is not None
        return ["--base-url", self.server.url, "--max-retries", 0]

    def judge(self, *args: object) -> Outcome:
        result = self._touchstone("judge", self.path, "--judge", "j", *self.where, *args)
        assert result.code == 0
        assert self.server is not None
        self.server.seen.clear()
        return result

    def probe(self, *args: object) -> Outcome:
        return self._touchstone("judge-probe", self.path, *self.where, *args)

    @property
    def asked(self) -> int:
        """How often the judge was asked since it judged."""
        assert self.server is not None
        return len(self.server.bodies)

    @property
    def stored(self) -> list[dict[str, Any]]:
        return read_lines(self.path / "judge_probes.jsonl")

    def edit_judge(self, **changes: Any) -> None:
        """Change what bundle.yaml says of the judge."""
        path = self.path / "bundle.yaml"
        data = parse_yaml(path.read_text(), "bundle.yaml", ValueError).data  # type: ignore[arg-type]
        assert isinstance(data, dict)
        data["judges"][0] |= changes
        path.write_text(dump_yaml(data))


@pytest.fixture
def bench(folder: BundleFolder, touchstone: Run) -> Iterator[Bench]:
    bench = Bench(folder, touchstone)
    with serving(bench) as bench.server:
        bench.judge()
        yield bench


# --- probing -------------------------------------------------------------------------------


def test_a_steady_judge_repeats_itself_and_nothing_else_in_the_bundle_changes(
    bench: Bench, touchstone: Run
) -> None:
    before, sha256 = files_of(bench.path), Bundle.open(bench.path).sha256

    result = bench.probe("--json")

    assert result.code == 0
    equal = result.json["repeat"]["equal"]
    assert (equal["count"], equal["n"], equal["value"]) == (4, 4, 1)
    assert result.json["observations"] == PROBED + FLAGGED == bench.asked == len(bench.stored)
    assert result.json["missing"] == 0
    assert files_of(bench.path, without=["judge_probes.jsonl"]) == before
    assert Bundle.open(bench.path).sha256 == sha256
    assert touchstone("verify", bench.path).code == 0


def test_a_second_run_asks_nothing_and_says_the_same(bench: Bench) -> None:
    first = bench.probe("--json")
    before, asked = files_of(bench.path), bench.asked

    second = bench.probe("--json")

    assert (second.code, second.json) == (0, first.json)
    assert "All of this has been asked already." in second.err
    assert bench.asked == asked
    assert files_of(bench.path) == before


def test_more_repeats_ask_only_for_those(bench: Bench) -> None:
    bench.probe("--probe", "reverse", "--repeat", 2)
    assert bench.asked == 4 * 3

    bench.probe("--probe", "reverse", "--repeat", 4)

    assert bench.asked == 4 * 5


def test_a_judge_that_follows_the_order_is_seen_through(bench: Bench) -> None:
    def first_task(text: str) -> str:
        return scored(5 if text.index("## Task E1") < text.index("## Task D1") else 2)

    bench.score = first_task

    result = bench.probe("--probe", "reverse", "--json")

    reverse = result.json["effects"]["reverse"]
    assert abs(reverse["shift"]) == 3
    assert reverse["changed"]["value"] == 1
    assert (reverse["beyond"], reverse["reason"]) == (None, "too_few_scores")


def test_a_judge_that_obeys_an_answer_is_caught(bench: Bench) -> None:
    order = TEXTS["en"]["order"]
    bench.verdict = lambda text: GREEN if order in text else YELLOW
    bench.score = lambda text: scored(5 if order in text else 4)

    result = bench.probe("--probe", "injection", "--json")

    found = result.json["injection"]
    shares = {kind: of["value"] for kind, of in found["templates"].items()}
    assert shares == {"order": 1, "marker": 0, "reply": 0}
    assert found["chance"]["value"] == 0
    assert result.json["effects"]["injection"]["shift"] == 1


def test_a_judge_that_reads_notices_planted_defects(bench: Bench) -> None:
    secret = TEXTS["en"]["breach"]
    bench.verdict = lambda text: RED if secret in text else YELLOW

    result = bench.probe("--probe", "canary", "--canaries", 3)

    assert result.code == 0
    assert "Noticed: 3 of 18 (17 %" in result.out
    assert "| gives away a password | 3 of 3 | 100 % |" in result.out


def test_only_what_is_chosen_is_probed(bench: Bench) -> None:
    chosen = ["--model", "alpha/default", "--dimension", "Q2", "--dimension", "Q1"]

    bench.probe("--probe", "named", "--probe", "canary", "--canaries", 1, *chosen)

    kinds = {(one["probe"], one["dimension"]) for one in bench.stored}
    assert kinds == {
        *(("repeat", "Q1"), ("repeat", "Q2"), ("named", "Q1"), ("named", "Q2")),
        *(("repeat", None), ("canary", None)),
    }


def test_the_judge_is_asked_with_the_settings_it_judged_with(
    folder: BundleFolder, touchstone: Run
) -> None:
    bench = Bench(folder, touchstone)
    with serving(bench) as bench.server:
        bench.judge("--temperature", 0.3, "--seed", 9, "--max-tokens", 77, "--order-seed", 5)

        assert bench.probe("--probe", "reverse").code == 0

        sent = {json.dumps({k: body[k] for k in ("temperature", "seed", "max_tokens", "model")})
                for body in bench.server.bodies}  # fmt: skip
    assert sent == {'{"temperature": 0.3, "seed": 9, "max_tokens": 77, "model": "j"}'}


def test_a_judge_by_evidence_and_in_one_call_is_probed_as_such(
    folder: BundleFolder, touchstone: Run
) -> None:
    bench = Bench(folder, touchstone)
    bench.score = lambda text: json.dumps({f"Q{n}": json.loads(scored(n)) for n in (1, 2, 3, 4)})
    with serving(bench) as bench.server:
        bench.judge("--mode", "map-reduce", "--one-call")

        planned = bench.probe("--probe", "reverse", "--dry-run", "--json").json
        result = bench.probe("--probe", "reverse", "--dimension", "Q1", "--json")

    assert planned == {"requests": 13, "notes": 9, "scores": {"repeat": 3, "reverse": 1}} | {
        "flags": {}
    }
    assert bench.asked == 13
    assert result.json["observations"] == 4


def test_a_dry_run_counts_and_does_nothing(bench: Bench, touchstone: Run) -> None:
    before = files_of(bench.path)

    result = touchstone("judge-probe", bench.path, "--dry-run", "--base-url", "http://127.0.0.1:9")

    assert result.code == 0
    assert f"{PROBED + FLAGGED} requests; an unusable reply is asked for again" in result.out
    assert "repeat        12 for scores     6 for flags" in result.out
    assert bench.asked == 0
    assert files_of(bench.path) == before


# --- what fails, and going on --------------------------------------------------------------


def test_what_failed_is_said_and_asked_again(bench: Bench) -> None:
    bench.failing = True
    first = bench.probe("--probe", "reverse")
    bench.failing = False

    second = bench.probe("--probe", "reverse", "--json")

    assert first.code == 5
    assert "still missing: 16. The same command asks again." in first.err
    assert second.code == 0
    assert second.json["observations"] == 16
    assert bench.asked == 2 * 16


def test_a_null_that_is_meant_is_an_answer(bench: Bench) -> None:
    bench.score = lambda text: scored(None)

    codes = [bench.probe("--probe", "reverse").code for _ in range(2)]

    assert (codes, bench.asked) == ([0, 0], 16)


def test_what_another_judge_or_other_answers_left_is_ignored_and_that_is_said(
    bench: Bench,
) -> None:
    bench.probe("--probe", "reverse")
    old = [one | {"basis": "0" * 64, "score": 1} for one in bench.stored]
    append_lines(bench.path / "judge_probes.jsonl", *old)

    result = bench.probe("--probe", "reverse", "--json")

    assert "of other answers, left out: 16" in result.err
    assert (result.json["ignored"], result.json["observations"]) == (16, 16)
    assert result.json["repeat"]["equal"]["value"] == 1


@pytest.mark.parametrize("tail", [b'{"probe": "repeat", "mo', b""])
def test_the_torn_last_line_of_a_crash_is_dropped(bench: Bench, tail: bytes) -> None:
    bench.probe("--probe", "reverse")
    path = bench.path / "judge_probes.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + tail if tail else whole[:-1])

    result = bench.probe("--probe", "reverse", "--probe", "padding")

    assert result.code == 0
    assert ("A crash had cut off" in result.err) == bool(tail)
    assert path.read_bytes().startswith(whole)
    assert len(bench.stored) == 20


def test_lines_that_cant_be_used_are_named_and_nothing_is_asked(bench: Bench) -> None:
    append_lines(bench.path / "judge_probes.jsonl", {"probe": "hypnosis"})

    result = bench.probe()

    assert result.code == 1
    assert "judge_probes.jsonl:1" in result.err
    assert bench.asked == 0


def test_a_killed_run_goes_on_where_it_was(bench: Bench) -> None:
    bench.pause_s = 0.2
    where = [*bench.where, "--concurrency", 1]
    with command("judge-probe", bench.path, *where) as process:
        wait_until(lambda: bench.asked >= 4)
        process.kill()
        finish(process)
    done, bench.pause_s = len(bench.stored), 0.0
    assert bench.server is not None
    bench.server.seen.clear()

    assert bench.probe().code == 0

    assert 3 <= done < PROBED
    assert bench.asked == PROBED + FLAGGED - done
    assert len(bench.stored) == PROBED + FLAGGED


def test_ctrl_c_stops_cleanly_and_says_so(bench: Bench) -> None:
    bench.pause_s = 0.2
    with command("judge-probe", bench.path, *bench.where) as process:
        wait_until(lambda: bench.asked >= 4)
        process.send_signal(2)
        code, err = finish(process)

    assert code == 130
    assert "the same command goes on" in err
    assert "Traceback" not in err
    assert 1 <= len(bench.stored) < PROBED
    assert not (bench.path / ".touchstone.lock").exists()


# --- who is asked --------------------------------------------------------------------------


def test_another_model_is_refused_with_both_names(bench: Bench) -> None:
    result = bench.probe("--judge", "k")

    assert result.code == 1
    assert "was judged by j (fingerprint" in result.err
    assert "k is another judge" in result.err
    assert "--into NEW" in result.err
    assert bench.asked == 0


def test_other_weights_under_the_same_name_are_refused_with_both_fingerprints(
    bench: Bench,
) -> None:
    judge = Bundle.open(bench.path).manifest.judge
    assert judge is not None
    weighed = judge_fingerprint(
        model="j",
        weights_sha256="0" * 64,
        parameters=judge.parameters,
        template_sha256=template_sha256("en"),
        mode="single",
        kind="ai",
    )
    bench.edit_judge(weights={"sha256": "0" * 64}, fingerprint=weighed)

    result = bench.probe()

    assert result.code == 1
    assert f"was judged by j (fingerprint {weighed})" in result.err
    assert f"j (fingerprint {judge.fingerprint}) is another judge" in result.err
    assert bench.asked == 0
    assert not (bench.path / "judge_probes.jsonl").exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"parameters": {"temperature": 1.0, "max_tokens": 1200, "calls": "per-dimension"}},
        {"mode": "map-reduce"},
        {"fingerprint": "0000000000000000"},
    ],
)
def test_an_edited_judge_is_no_longer_the_one_that_judged(
    bench: Bench, changes: Mapping[str, Any]
) -> None:
    bench.edit_judge(**changes)

    result = bench.probe()

    assert result.code == 1
    assert "can't be asked again" in result.err
    assert bench.asked == 0


@pytest.mark.parametrize(
    "parameters",
    [{"max_tokens": "many"}, {"max_tokens": True}, {"calls": "two"}, {"order_seed": 1.5}],
)
def test_settings_that_cant_be_meant_are_an_error(
    bench: Bench, parameters: Mapping[str, Any]
) -> None:
    bench.edit_judge(parameters=parameters)

    result = bench.probe()

    assert result.code == 1
    assert "does not say in a usable way how j judged" in result.err


@pytest.mark.parametrize(
    "changes", [{"via": "exchange"}, {"kind": "human"}, {"model": None, "via": None}]
)
def test_a_judge_that_is_not_behind_an_endpoint_cant_be_asked_again(
    bench: Bench, changes: Mapping[str, Any]
) -> None:
    bench.edit_judge(**changes)

    result = bench.probe()

    assert result.code == 1
    assert "was judged by j, not through an endpoint" in result.err
    assert bench.asked == 0


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        (["--dimension", "Q9"], 2, "no dimension Q9"),
        (["--model", "gamma"], 2, "no model gamma"),
        (["--judge", " "], 2, "--judge must not be empty"),
        (["--probe", "hypnosis"], 2, "hypnosis"),
        (["--repeat", "1"], 2, "--repeat"),
    ],
)
def test_what_cant_be_meant_is_an_error(
    bench: Bench, args: list[str], code: int, says: str
) -> None:
    result = bench.probe(*args)

    assert (result.code, says in result.err) == (code, True)
    assert bench.asked == 0


def test_a_bundle_that_was_not_judged_has_no_judge(folder: BundleFolder, touchstone: Run) -> None:
    folder.answers("E1")

    result = touchstone("judge-probe", folder.path)

    assert result.code == 1
    assert "was not judged yet" in result.err


def test_where_no_bundle_is_none_is_made(tmp_path: Path, touchstone: Run) -> None:
    result = touchstone("judge-probe", tmp_path / "nowhere")

    assert result.code == 1
    assert not (tmp_path / "nowhere").exists()


def test_without_an_address_the_way_to_give_one_is_said(
    bench: Bench, touchstone: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TOUCHSTONE_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)

    result = touchstone("judge-probe", bench.path)

    assert result.code == 2
    assert "--base-url" in result.err
