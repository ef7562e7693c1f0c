"""JSON Lines: what is read back is what was written, and every bad line has a name."""

from __future__ import annotations

import codecs
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from conftest import answer
from hypothesis import given
from hypothesis import strategies as st

from touchstone.errors import BundleError
from touchstone.models import Answer, Verdict
from touchstone.records import RecordFile, dump_record

any_text = st.text(st.characters(exclude_categories=()))


def line(prompt_id: str, text: str = "An answer.", **more: Any) -> bytes:
    return json.dumps({**answer(prompt_id, text=text), **more}).encode() + b"\n"


def open_file(path: Path) -> RecordFile[Answer]:
    return RecordFile(
        path,
        Answer,
        lambda record: (record.model, record.variant, record.prompt_id),
        lambda old, new: old.error is not None,
    )


def read(tmp_path: Path, content: bytes) -> RecordFile[Answer]:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(content)
    return open_file(path)


def key(prompt_id: str) -> tuple[str, str, str]:
    return "alpha", "default", prompt_id


def found(file: RecordFile[Answer]) -> list[tuple[str, str]]:
    return [(problem.code, problem.where) for problem in file.problems]


def test_a_file_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    file = open_file(tmp_path / "answers.jsonl")

    assert (len(file), list(file), file.problems) == (0, [], [])
    assert file.get(key("E1")) is None


@pytest.mark.parametrize("content", [b"", b"\n", b"\n  \n\r\n", codecs.BOM_UTF8])
def test_a_file_without_records_is_clean(tmp_path: Path, content: bytes) -> None:
    file = read(tmp_path, content)

    assert (len(file), list(file), file.problems) == (0, [], [])


def test_records_are_found_by_key_and_in_file_order(tmp_path: Path) -> None:
    file = read(tmp_path, line("E2", "two") + b"\n" + line("E1", "one"))

    assert [record.prompt_id for record in file] == ["E2", "E1"]
    assert file.sorted_keys() == [key("E2"), key("E1")]
    assert [file.line(one) for one in file.sorted_keys()] == [1, 3]
    assert (key("E1") in file, key("E9") in file) == (True, False)
    one = file.get(key("E1"))
    assert one is not None
    assert one.text == "one"
    assert file.get(key("E9")) is None
    assert file.line(key("E9")) is None


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(codecs.BOM_UTF8 + line("E1") + line("E2"), id="BOM"),
        pytest.param(line("E1").replace(b"\n", b"\r\n") + line("E2"), id="CRLF"),
        pytest.param((line("E1") + line("E2")).rstrip(), id="no newline at the end"),
        pytest.param(line("E1") + b"\n\n" + line("E2"), id="blank lines"),
    ],
)
def test_what_editors_do_to_a_file_does_no_harm(tmp_path: Path, content: bytes) -> None:
    file = read(tmp_path, content)

    assert [record.prompt_id for record in file] == ["E1", "E2"]
    assert [file.get(one) for one in file.sorted_keys()] == list(file)
    assert file.problems == []


# --- what goes wrong ------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [1, 20, len(line("E2")) - 2])
def test_a_torn_last_line_is_reported_and_dropped(tmp_path: Path, cut: int) -> None:
    file = read(tmp_path, line("E1") + line("E2")[:cut])

    assert [record.prompt_id for record in file] == ["E1"]
    assert found(file) == [("torn_line", "answers.jsonl:2")]
    assert file.torn_at == len(line("E1"))
    assert file.unusable == []
    file.require_clean()


def test_a_line_torn_within_a_character_is_a_torn_line(tmp_path: Path) -> None:
    whole = dump_record(Answer.model_validate(answer("E1", text="ä"))).encode()
    file = read(tmp_path, whole[: whole.index("ä".encode()) + 1])

    assert found(file) == [("torn_line", "answers.jsonl:1")]


@pytest.mark.parametrize(
    ("bad", "code", "words"),
    [
        (b"{not json}\n", "bad_json", "is not JSON"),
        (b'{"model": "alpha"\n', "bad_json", "is not JSON"),
        (b'{"a": "\xff"}\n', "bad_json", "is not JSON"),
        (b"[" * 100_000 + b"\n", "bad_json", "is not JSON"),
        (b'{"a": ' + b"9" * 5000 + b"}\n", "bad_json", "is not JSON"),
        (line("E9", duration_s=float("nan")), "bad_json", "NaN is not a JSON number"),
        (line("E9", duration_s=float("-inf")), "bad_json", "-Infinity is not a JSON number"),
        (line("E9", x=1).replace(b"1}", b"1e999}"), "bad_json", "1e999 is beyond all bounds"),
        (b"null\n", "model_type", "must be a map"),
        (b'["a"]\n', "model_type", "must be a map"),
        (
            b'{"model": "alpha", "variant": "v", "prompt_id": "E9"}\n',
            "missing",
            "text: is required",
        ),
        (line("E9").replace(b'"An answer."', b"5"), "value_error", "text: must be a string"),
        (line("E9", usage={"prompt_tokens": "x"}), "int_parsing", "usage.prompt_tokens: must be"),
        (line("E1"), "duplicate_record", "alpha / default / E1 stands here twice"),
    ],
)
def test_a_bad_line_is_named_and_the_others_are_kept(
    tmp_path: Path, bad: bytes, code: str, words: str
) -> None:
    file = read(tmp_path, line("E1") + bad + line("E2"))

    assert [record.prompt_id for record in file] == ["E1", "E2"]
    assert found(file) == [(code, "answers.jsonl:2")]
    assert words in file.problems[0].message
    with pytest.raises(BundleError, match=r"answers\.jsonl:2.*\nMend it"):
        file.require_clean("Mend it.")


def test_each_mistake_of_a_line_is_named(tmp_path: Path) -> None:
    file = read(tmp_path, b'{"model": 1, "variant": "v", "text": null}\n')

    assert [problem.message for problem in file.problems] == [
        "model: must be a string",
        "prompt_id: is required",
        "text: must be a string",
    ]


def test_a_later_record_takes_the_place_of_a_failed_one(tmp_path: Path) -> None:
    failed = line("E1", "", error={"type": "timeout", "retryable": True})
    file = read(tmp_path, failed + line("E2", "two") + failed + line("E1", "one"))

    assert [record.text for record in file] == ["two", "one"]
    assert file.problems == []
    assert file.replaced == 2
    assert file.line(key("E1")) == 4


def test_a_later_record_does_not_replace_a_finished_one(tmp_path: Path) -> None:
    file = read(tmp_path, line("E1", "first") + line("E1", "second"))

    assert [record.text for record in file] == ["first"]
    assert found(file) == [("duplicate_record", "answers.jsonl:2")]
    assert file.replaced == 0


def test_a_message_names_no_more_than_twenty_lines(tmp_path: Path) -> None:
    file = read(tmp_path, b"x\n" * 1000)
    with pytest.raises(BundleError) as raised:
        file.require_clean()

    assert len(file.problems) == 1000
    assert len(raised.value.problems) == 20


# --- what was written comes back ------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["", "\x00", "\udc00\ud800", "\udfff", "a\u2028b\x85c\r\nd", "💥ä", '"\\', "\ufeff", "{{x}}"],
)
def test_a_text_comes_back_letter_for_letter(tmp_path: Path, text: str) -> None:
    record = Answer.model_validate(answer("E1", text=text, model=text))
    file = read(tmp_path, dump_record(record).encode("utf-8") + b"\n")

    assert list(file) == [record]
    assert next(iter(file)).sha256 == record.sha256


def test_the_halves_of_a_character_that_came_apart_are_joined(tmp_path: Path) -> None:
    record = Answer.model_validate(answer("E1", text="\ud83d" + "\ude00\ud83d"))

    assert record.text == "\U0001f600\ud83d"
    assert list(read(tmp_path, dump_record(record).encode() + b"\n")) == [record]


@given(text=any_text, name=any_text, extra=st.dictionaries(st.text(), st.integers() | st.text()))
def test_any_record_survives_a_line_of_json(text: str, name: str, extra: dict[str, Any]) -> None:
    known = set(Answer.model_fields)
    more = {field: value for field, value in extra.items() if field not in known}
    record = Answer.model_validate({**answer(name, text=text), **more})
    written = dump_record(record)

    assert "\n" not in written
    assert Answer.model_validate(json.loads(written.encode("utf-8"))) == record


def test_a_line_of_five_megabytes_works(tmp_path: Path) -> None:
    file = read(tmp_path, line("E1", "ä" * 5_000_000) + line("E2"))

    assert [len(record.text) for record in file] == [5_000_000, 10]
    assert file.problems == []


def test_texts_are_not_held_in_memory(tmp_path: Path) -> None:
    file = read(tmp_path, b"".join(line(str(number), "x" * 1_000_000) for number in range(8)))
    tracemalloc.start()
    try:
        total = sum(len(record.text) for record in file)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert total == 8_000_000
    assert peak < 6_000_000


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_json_lacks_is_not_written(value: float) -> None:
    record = Answer.model_validate({**answer("E1"), "extra": value})
    with pytest.raises(ValueError, match="Out of range float values"):
        dump_record(record)


def test_the_terse_form_leaves_out_what_has_its_default() -> None:
    record = Verdict(model="m", variant="v", prompt_id="E1", flag=None, quotes=("q",))

    assert json.loads(dump_record(record, terse=True)) == {
        "model": "m",
        "variant": "v",
        "prompt_id": "E1",
        "flag": None,
        "quotes": ["q"],
    }
    assert json.loads(dump_record(record))["rationale"] == ""


def test_real_answers_survive_byte_for_byte(tmp_path: Path, shared_data: Path) -> None:
    sources = sorted((shared_data / "just-eval-mt80").glob("answers.*.json"))
    entries = [entry for path in sources for entry in json.loads(path.read_bytes())]
    texts = [text for entry in entries for text in _strings(entry)]
    records = [
        Answer.model_validate(answer(str(number), text=text)) for number, text in enumerate(texts)
    ]
    file = read(tmp_path, "".join(dump_record(one) + "\n" for one in records).encode())

    assert len(texts) > 400
    assert [one.sha256 for one in file] == [one.sha256 for one in records]


def _strings(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for part in value.values() for text in _strings(part)]
    if isinstance(value, list):
        return [text for part in value for text in _strings(part)]
    return [value] if isinstance(value, str) else []
