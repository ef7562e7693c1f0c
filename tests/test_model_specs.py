"""A models file says which models are asked and how; what is wrong in it is named with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from touchstone.errors import InputError
from touchstone.model_specs import ModelSpec, load_model_specs


def load(tmp_path: Path, text: str | bytes) -> list[ModelSpec]:
    path = tmp_path / "models.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_model_specs(path)


def problems(tmp_path: Path, text: str | bytes) -> list[str]:
    with pytest.raises(InputError) as raised:
        load(tmp_path, text)
    return [str(problem) for problem in raised.value.problems] or [raised.value.message]


def test_every_setting_arrives_as_it_is_written(tmp_path: Path) -> None:
    specs = load(
        tmp_path,
        """\
- model: llama3.2:3b
  variant: warm
  label: The warm one
  base_url: http://127.0.0.1:11434/v1
  api_key_env: MY_KEY
  parameters: {temperature: 0.7, seed: 42, stop: ["\\n", END], top_k: null}
  system: Be brief.
  extra_body: {options: {num_ctx: 8192}, think: false}
  concurrency: 4
  rpm: 60
- model: local:smollm2-135m
""",
    )

    assert specs[0] == ModelSpec(
        model="llama3.2:3b",
        variant="warm",
        label="The warm one",
        base_url="http://127.0.0.1:11434/v1",
        api_key_env="MY_KEY",
        parameters={"temperature": 0.7, "seed": 42, "stop": ["\n", "END"], "top_k": None},
        system="Be brief.",
        extra_body={"options": {"num_ctx": 8192}, "think": False},
        concurrency=4,
        rpm=60,
    )
    assert (specs[0].local_id, specs[0].name) == (None, "llama3.2:3b")
    assert (specs[1].local_id, specs[1].name) == ("smollm2-135m", "smollm2-135m")
    assert specs[1].variant == "default"


@pytest.mark.parametrize("name", ["NO", "12:30", "007", "1e5", "null-model", "true", "~x", "a:b"])
def test_names_are_read_as_written(tmp_path: Path, name: str) -> None:
    [spec] = load(tmp_path, f"- model: {name}\n  variant: {name}\n")

    assert (spec.model, spec.variant) == (name, name)


def test_bom_and_windows_line_ends_are_read_over(tmp_path: Path) -> None:
    [spec] = load(tmp_path, b"\xef\xbb\xbf- model: a\r\n  parameters:\r\n    seed: 1\r\n")

    assert spec.parameters == {"seed": 1}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- model: a\n  temprature: 1\n", "models.yaml:2: [0].temprature: is not a key here"),
        ("- variant: a\n", "models.yaml:1: [0].model: is required"),
        ("- model: a\n- model:\n    x: 1\n", "models.yaml:2: [1].model: must be a string"),
        ("- model: ''\n", "models.yaml:1: [0].model: must not be empty"),
        ("- model: 'local:'\n", "models.yaml:1: [0].model: must not be empty"),
        ("- model: a\n  variant: ' '\n", "models.yaml:2: [0].variant: must not be empty"),
        ("- model: a\n  rpm: 0\n", "models.yaml:2: [0].rpm: must be greater than or equal to 1"),
        ("- model: a\n  concurrency: 1.5\n", "models.yaml:2: [0].concurrency: must be a"),
        ("- model: a\n  concurrency: true\n", "models.yaml:2: [0].concurrency: must be a"),
        ("- model: a\n  parameters: 7\n", "models.yaml:2: [0].parameters: must be a"),
        (
            "- model: a\n  parameters:\n    model: b\n",
            "models.yaml:2: [0].parameters: can't set model",
        ),
        (
            "- model: a\n  extra_body: {messages: []}\n",
            "models.yaml:2: [0].extra_body: can't set messages",
        ),
        (
            "- model: a\n  extra_body: {seed: 1, max_tokens: 2}\n",
            "models.yaml:2: [0].extra_body: max_tokens, seed: put this under parameters",
        ),
        ("- a\n", "models.yaml:1: [0]: must be a"),
        ("- model: a\n  model: b\n", "models.yaml:2: [0].model: stands here twice"),
        ("- model: a\n- model: a\n", "models.yaml:2: [1]: a (default) stands here twice"),
        ("- model: a\n- model: 'local:a'\n", "models.yaml:2: [1]: a (default) stands here twice"),
        ("- model: [a\n", "models.yaml:1: "),
        ("- model: a\n\tvariant: b\n", "models.yaml:2: "),
    ],
)
def test_what_is_wrong_is_named_with_line_and_key(tmp_path: Path, text: str, expected: str) -> None:
    [problem] = problems(tmp_path, text)

    assert problem.startswith(expected)


def test_all_problems_are_named_at_once(tmp_path: Path) -> None:
    text = "- modell: a\n- model: b\n  rpm: 0\n  systm: x\n- model: b\n- model: b\n"

    found = problems(tmp_path, text)

    assert [line.partition(": ")[0] for line in found] == [
        *("models.yaml:1", "models.yaml:1", "models.yaml:3", "models.yaml:4", "models.yaml:6")
    ]


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "[]", "model: a\n", "just words", "7"])
def test_what_is_no_list_of_entries_is_refused(tmp_path: Path, text: str) -> None:
    [message] = problems(tmp_path, text)

    assert "is no models file: it must be a list of entries" in message


@pytest.mark.parametrize(
    ("content", "expected"),
    [(b"- model: \xff\n", "is not UTF-8"), ("- model: é\n".encode("utf-16"), "is not UTF-8")],
)
def test_another_encoding_is_named(tmp_path: Path, content: bytes, expected: str) -> None:
    assert expected in problems(tmp_path, content)[0]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.yaml can't be read: No such file"):
        load_model_specs(tmp_path / "none.yaml")
