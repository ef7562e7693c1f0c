"""``touchstone run`` against a real server: what is asked, kept, resumed and refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from builders_run import (
    PROMPTS,
    append_lines,
    asked,
    chat,
    files_of,
    read_lines,
    write_suite,
)
from chat_server import Answer as Served
from chat_server import ChatServer, completion, refusal, serving
from conftest import Outcome, verdict

from touchstone.bundle import Bundle
from touchstone.cli.common import parse_parameters
from touchstone.errors import UsageError

Run = Callable[..., Outcome]
NOTE, LETTER, SUM = "Write a note.", "Write a letter.", "Add two numbers."
DIALOGUE = """\
  - {id: E1, text: First.}
  - {id: E2, follows: E1, text: Second.}
  - {id: E3, text: Alone.}
"""


class Scene:
    """A server, a suite, and the place of the bundle that a run makes of them."""

    def __init__(self, server: ChatServer, folder: Path, touchstone: Run) -> None:
        self.server = server
        self.suite = write_suite(folder)
        self.bundle = folder / "out"
        self._touchstone = touchstone
        self.replies: dict[str, Served] = {}

    def reply(self, text: str) -> Served:
        return self.replies.get(text, completion(f"re: {text}"))

    def run(self, *args: object, model: str | None = "alpha", url: str | None = None) -> Outcome:
        named = ["--model", model] if model else []
        where = ["--base-url", url or self.server.url, "-o", self.bundle]
        return self._touchstone("run", self.suite, *named, *where, "--max-retries", 0, *args)

    @property
    def answers(self) -> list[dict[str, Any]]:
        return read_lines(self.bundle / "answers.jsonl")

    def texts(self) -> dict[str, str]:
        return {f"{one['variant']}/{one['prompt_id']}": one["text"] for one in self.answers}

    def models_file(self, text: str) -> Path:
        path = self.bundle.with_name("models.yaml")
        path.write_text(text, encoding="utf-8")
        return path


@pytest.fixture
def scene(tmp_path: Path, touchstone: Run) -> Iterator[Scene]:
    holder: list[Scene] = []
    with serving(chat(lambda text: holder[0].reply(text))) as server:
        holder.append(Scene(server, tmp_path, touchstone))
        yield holder[0]


# --- a first run ---------------------------------------------------------------------------


def test_a_run_leaves_a_sealed_bundle_that_verifies(scene: Scene, touchstone: Run) -> None:
    result = scene.run("--temperature", 0, "--system", "Be brief.", "--parameter", "top_k=40")

    assert (result.code, result.out) == (0, "")
    assert scene.texts() == {
        "default/E1": f"re: {NOTE}",
        "default/E2": f"re: {LETTER}",
        "default/C1": f"re: {SUM}",
    }
    bundle = Bundle.open(scene.bundle)
    [entry] = bundle.manifest.models
    assert (entry.model, entry.endpoint) == ("alpha", scene.server.url)
    assert (entry.system, entry.parameters) == ("Be brief.", {"temperature": 0, "top_k": 40})
    assert set(bundle.manifest.sealed or {}) == {"suite.yaml", "answers.jsonl"}
    assert touchstone("verify", scene.bundle).code == 0


def test_what_was_set_is_what_is_sent(scene: Scene) -> None:
    scene.run("--temperature", 0.5, "--system", "Be brief.", "--max-tokens", 300)

    by_task = {body["messages"][-1]["content"]: body for body in scene.server.bodies}
    assert {body["temperature"] for body in by_task.values()} == {0.5}
    assert {body["messages"][0]["content"] for body in by_task.values()} == {"Be brief."}
    limits = {task: body["max_tokens"] for task, body in by_task.items()}
    assert limits == {NOTE: 300, LETTER: 50, SUM: 300}


def test_a_failed_answer_is_recorded_and_the_run_goes_on(scene: Scene) -> None:
    scene.replies[LETTER] = refusal(500, "out of memory")

    result = scene.run()

    assert result.code == 5
    assert "1 failed (the same command asks 1 of them again" in result.err
    by_id = {one["prompt_id"]: one for one in scene.answers}
    assert by_id["E1"]["error"] is None
    assert by_id["C1"]["text"] == f"re: {SUM}"
    error = by_id["E2"]["error"]
    assert (error["type"], error["status"], error["retryable"]) == ("server", 500, True)
    assert "out of memory" in error["message"]


def test_an_unreachable_server_is_said_at_once_and_recorded_for_every_prompt(scene: Scene) -> None:
    result = scene.run(url="http://127.0.0.1:9/v1")

    assert result.code == 5
    assert "can't be reached" in result.err
    assert {one["prompt_id"] for one in scene.answers} == {"E1", "E2", "C1"}
    assert {one["error"]["type"] for one in scene.answers} == {"connection"}
    assert all(one["error"]["retryable"] for one in scene.answers)

    assert scene.run().code == 0
    assert all(one["error"] is None for one in scene.answers)


# --- resuming ------------------------------------------------------------------------------


def test_the_same_command_asks_nothing_twice(scene: Scene) -> None:
    scene.run()
    before = files_of(scene.bundle)

    result = scene.run()

    assert result.code == 0
    assert "0 asked, 3 answers" in result.err
    assert Counter(asked(scene.server)) == {NOTE: 1, LETTER: 1, SUM: 1}
    assert files_of(scene.bundle) == before


def test_a_finished_bundle_needs_no_server(scene: Scene) -> None:
    scene.run()

    assert scene.run(url="http://127.0.0.1:9/v1").code == 0


def test_a_passing_failure_is_asked_again_a_final_one_only_with_redo(scene: Scene) -> None:
    scene.replies[NOTE] = refusal(400, "maximum context length is 10 tokens")
    scene.replies[LETTER] = refusal(503, "busy")
    assert scene.run().code == 5
    scene.replies.clear()

    again = scene.run()

    assert again.code == 5
    assert "1 failed (the same command asks 0 of them again, --redo all)" in again.err
    assert Counter(asked(scene.server)) == {NOTE: 1, LETTER: 2, SUM: 1}
    redone = scene.run("--redo", "--prompts", "E1")
    assert redone.code == 0
    assert scene.texts()["default/E1"] == f"re: {NOTE}"
    assert Counter(asked(scene.server)) == {NOTE: 2, LETTER: 2, SUM: 1}


def test_a_wrong_key_is_put_right_and_the_run_goes_on(scene: Scene) -> None:
    scene.replies = dict.fromkeys((NOTE, LETTER, SUM), refusal(401, "wrong key"))
    assert scene.run().code == 5
    scene.replies.clear()

    assert scene.run().code == 0
    assert len(scene.answers) == 3


def test_a_second_model_joins_and_the_first_is_not_asked_again(scene: Scene) -> None:
    scene.run()

    scene.run(model="beta")

    assert Counter(body["model"] for body in scene.server.bodies) == {"alpha": 3, "beta": 3}
    assert [one.model for one in Bundle.open(scene.bundle).manifest.models] == ["alpha", "beta"]


def test_another_suite_is_refused_and_nothing_is_touched(scene: Scene) -> None:
    scene.run()
    before = files_of(scene.bundle)
    write_suite(scene.suite.parent, PROMPTS + "  - {id: C2, text: One more.}\n")

    for extra in ([], ["--dry-run"], ["--redo"]):
        result = scene.run(*extra)
        assert result.code == 1
        assert "another version of suite 'tiny'" in result.err

    assert files_of(scene.bundle) == before
    assert len(scene.server.bodies) == 3


def test_other_settings_under_the_same_name_are_refused(scene: Scene) -> None:
    scene.run("--temperature", 0, "--limit", 1)

    for changed in (["--temperature", 1], ["--temperature", 0, "--system", "Be kind."], []):
        result = scene.run(*changed)
        assert result.code == 1
        assert "alpha (default) with other settings" in result.err
        assert "--variant" in result.err

    assert len(scene.server.bodies) == 1
    assert scene.run("--temperature", 0, "--parameter", "seed=null").code == 0


def test_a_line_that_cant_be_read_stops_the_run_and_stays(scene: Scene) -> None:
    scene.run("--limit", 1)
    with (scene.bundle / "answers.jsonl").open("a", encoding="utf-8") as stream:
        stream.write("{not json\n")
    before = files_of(scene.bundle)

    result = scene.run()

    assert result.code == 1
    assert "answers.jsonl:2: is not JSON" in result.err
    assert files_of(scene.bundle) == before


def test_a_folder_with_other_things_is_refused(scene: Scene) -> None:
    scene.bundle.mkdir()
    (scene.bundle / "thesis.txt").write_text("mine")

    result = scene.run()

    assert result.code == 1
    assert "is not empty and no bundle (it holds thesis.txt)" in result.err
    assert files_of(scene.bundle) == {"thesis.txt": b"mine"}


# --- what was judged from answers that are new ---------------------------------------------


def judge_by_hand(scene: Scene, *prompt_ids: str) -> None:
    append_lines(
        scene.bundle / "verdicts.jsonl", *(verdict(prompt_id, "green") for prompt_id in prompt_ids)
    )
    report = {"model": "alpha", "variant": "default", "dim_scores": {"Q1": 4}}
    append_lines(scene.bundle / "reports.jsonl", report)


def judged(scene: Scene) -> tuple[list[str], int]:
    bundle = Bundle.open(scene.bundle)
    return [one.prompt_id for one in bundle.verdicts], len(bundle.reports)


def test_redo_drops_what_was_judged_from_the_old_answers_and_names_it(scene: Scene) -> None:
    scene.run()
    judge_by_hand(scene, "E1", "E2")

    result = scene.run("--redo", "--prompts", "E2")

    assert "alpha (default): dropped what was judged from earlier answers" in result.err
    assert "(the report, E2)" in result.err
    assert judged(scene) == (["E1"], 0)
    assert Counter(asked(scene.server)) == {NOTE: 1, LETTER: 2, SUM: 1}
    assert len(scene.answers) == 3


def test_more_answers_void_the_report_but_no_verdict_on_another_answer(scene: Scene) -> None:
    scene.run("--limit", 2)
    judge_by_hand(scene, "E1", "E2")

    result = scene.run()

    assert "(the report)" in result.err
    assert judged(scene) == (["E1", "E2"], 0)


def test_an_answer_that_came_after_all_voids_the_verdict_on_its_failure(scene: Scene) -> None:
    scene.replies[LETTER] = refusal(503, "busy")
    scene.run()
    judge_by_hand(scene, "E1", "E2")
    assert scene.run().code == 5
    assert judged(scene) == (["E1", "E2"], 1)

    scene.replies.clear()
    scene.run()

    assert judged(scene) == (["E1"], 0)


def test_another_models_judgement_stays(scene: Scene) -> None:
    scene.run()
    judge_by_hand(scene, "E1")

    scene.run(model="beta")

    assert judged(scene) == (["E1"], 1)


def test_redoing_a_turn_redoes_what_follows_it(scene: Scene) -> None:
    write_suite(scene.suite.parent, DIALOGUE)
    scene.run()
    scene.replies["First."] = completion("another first reply")

    scene.run("--redo", "--prompts", "E1")

    assert Counter(asked(scene.server)) == {"First.": 2, "Second.": 2, "Alone.": 1}
    last = scene.server.bodies[-1]["messages"]
    assert {"role": "assistant", "content": "another first reply"} in last


# --- choosing ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--prompts", "C1"], ["C1"]),
        (["--prompts", "C1,E1"], ["E1", "C1"]),
        (["--prompts", " group:E , C1 "], ["E1", "E2", "C1"]),
        (["--prompts", "group:E", "--limit", "1"], ["E1"]),
        (["--limit", "2"], ["E1", "E2"]),
        (["--limit", "99"], ["E1", "E2", "C1"]),
    ],
)
def test_prompts_are_chosen_by_id_group_and_number(
    scene: Scene, options: list[str], expected: list[str]
) -> None:
    scene.run(*options, "--concurrency", 1)

    assert [one["prompt_id"] for one in scene.answers] == expected


@pytest.mark.parametrize("prompts", ["E9", "E1,E9", "group:Z", "", " , ", "e1"])
def test_an_unknown_prompt_is_a_usage_error_that_lists_what_there_is(
    scene: Scene, prompts: str
) -> None:
    result = scene.run("--prompts", prompts)

    assert result.code == 2
    assert "It has E1, E2, C1." in result.err
    assert not scene.bundle.exists()


def test_repeats_are_variants_of_their_own(scene: Scene) -> None:
    scene.run("--repeat", 3, "--seed", 7, "--prompts", "E1")

    assert list(scene.texts()) == ["default/E1", "default#2/E1", "default#3/E1"]
    assert [body["seed"] for body in scene.server.bodies] == [7, 8, 9]
    assert [one.variant for one in Bundle.open(scene.bundle).manifest.models] == [
        *("default", "default#2", "default#3")
    ]


def test_a_dry_run_says_what_it_would_ask_and_asks_nothing(scene: Scene) -> None:
    result = scene.run("--dry-run", "--repeat", 2)

    assert result.code == 0
    assert "alpha (default): 3 to ask, 0 done\nalpha (default#2): 3 to ask, 0 done" in result.err
    assert scene.server.seen == []
    assert not scene.bundle.exists()


@pytest.mark.parametrize(("option", "expected"), [([], "2 to ask, 1"), (["--redo"], "3 to ask, 0")])
def test_a_dry_run_counts_what_is_done(scene: Scene, option: list[str], expected: str) -> None:
    scene.run("--limit", 1)
    before = files_of(scene.bundle)

    assert expected in scene.run("--dry-run", *option).err
    assert files_of(scene.bundle) == before


def test_no_more_requests_at_once_than_asked_for(scene: Scene) -> None:
    scene.run("--concurrency", 1, "--repeat", 2)

    assert scene.server.busiest == 1


# --- models files and the command line ------------------------------------------------------


def test_a_models_file_runs_several_configurations(scene: Scene) -> None:
    path = scene.models_file(
        f"- {{model: a, variant: cold, parameters: {{temperature: 0}}}}\n"
        f"- {{model: a, variant: warm, base_url: '{scene.server.url}/v1', system: Be kind.}}\n"
    )

    assert scene.run("--config", path, model=None).code == 0

    entries = Bundle.open(scene.bundle).manifest.models
    assert [(one.variant, one.system) for one in entries] == [("cold", None), ("warm", "Be kind.")]
    assert len(scene.answers) == 6


def test_a_wrong_models_file_is_named_with_line_and_key(scene: Scene) -> None:
    path = scene.models_file("- model: a\n  temprature: 0\n")

    result = scene.run("--config", path, model=None)

    assert result.code == 1
    assert "models.yaml:2: [0].temprature: is not a key here" in result.err
    assert scene.server.seen == []


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ([], "either --model NAME or --config FILE"),
        (["--model", "a", "--config", "models.yaml"], "either --model NAME or --config FILE"),
        (["--config", "models.yaml", "--temperature", "1"], "stand in the --config FILE"),
        (["--config", "models.yaml", "--variant", "x"], "stand in the --config FILE"),
        (["--model", ""], "must not be empty"),
        (["--model", "a", "--variant", " "], "must not be empty"),
        (["--model", "a", "--model", "a"], "a (default) is asked for twice"),
        (["--model", "x", "--model", "local:x"], "x (default) is asked for twice"),
        (["--model", "a", "--parameter", "top_k"], "takes NAME=VALUE"),
        (["--model", "a", "--parameter", "messages=[]"], "can't set messages"),
        (["--model", "a", "--limit", "0"], "--limit"),
        (["--model", "a", "--api-key-env", "NO_SUCH_KEY"], "NO_SUCH_KEY is not set"),
    ],
)
def test_what_cant_be_meant_is_a_usage_error(scene: Scene, args: list[str], says: str) -> None:
    result = scene.run(*args, model=None)

    assert result.code == 2
    assert says in result.err
    assert scene.server.seen == []
    assert not scene.bundle.exists()


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        ("a=1", {"a": 1}),
        ("a=0.5", {"a": 0.5}),
        ("a=true", {"a": True}),
        ("a=null", {"a": None}),
        ("a=word", {"a": "word"}),
        ('a="1"', {"a": "1"}),
        ("a=", {"a": ""}),
        ("a=b=c", {"a": "b=c"}),
        ('a=["x"]', {"a": ["x"]}),
        ("a=NaN", {"a": "NaN"}),
        (" a = 1 ", {"a": 1}),
        (f"a={'[' * 100_000}", {"a": "[" * 100_000}),
    ],
)
def test_a_parameter_is_json_where_it_can_be(pair: str, expected: dict[str, Any]) -> None:
    assert parse_parameters((pair,)) == expected
    assert json.dumps(expected, allow_nan=False)


@pytest.mark.parametrize("pair", ["", "a", "=1", " =1", "model=b"])
def test_a_parameter_without_a_name_of_its_own_is_refused(pair: str) -> None:
    with pytest.raises(UsageError):
        parse_parameters((pair,))


def test_a_hostile_name_reaches_the_terminal_without_its_escape_sequences(scene: Scene) -> None:
    name = "evil\x1b[31m\x07model"
    scene.replies[LETTER] = refusal(503, "\x1b]0;owned\x07busy")

    results = [scene.run(model=name), scene.run("--dry-run", model=name)]

    assert all("\x1b" not in one.err and "\x07" not in one.err for one in results)
    assert Bundle.open(scene.bundle).manifest.models[0].model == name
