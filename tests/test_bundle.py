"""A bundle on disk: what is written comes back, whatever happens in between."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import MANIFEST_YAML, SUITE_YAML, BundleFolder, answer, review, verdict

from touchstone import __version__
from touchstone.bundle import (
    Bundle,
    BundleWriter,
    copy_answers,
    create_bundle,
    find_bundles,
    is_bundle,
    write_bundle,
)
from touchstone.errors import BundleError, SuiteError
from touchstone.files import sha256_of
from touchstone.models import Answer, Manifest, ModelEntry, ModelReport, Verdict
from touchstone.suite import load_suite, parse_suite

HOSTILE = [
    *("💥 ü", "\x00\x1b[31m", "\ud800", 'a"b', "a'b", "a\nb\r\n", "{{ x }}", "NO", "12:30", ""),
    *("null", "~", "007", "1e3", "- a", "a: b", "#", "&a", "*a", "!x", "%", "@", "`", " ", "\t"),
    *("\x85", "\u2028", "\ufeff", "\u202e", "x" * 300, "</script>", "../../x", "---", "...", "<<"),
]
WHEN = "2026-12-01T09:00:00Z"


def manifest(**changes: Any) -> Manifest:
    data = {"format": 1, "id": "b", "suite": {"id": "small"}, "models": [{"model": "m"}]}
    return Manifest.model_validate({**data, **changes})


# --- opening --------------------------------------------------------------------------------------


def test_a_bundle_with_only_the_required_fields_loads(folder: BundleFolder) -> None:
    folder.answers("E1")
    folder.verdicts({"E1": "green"})
    folder.report({"Q1": 4})
    bundle = folder.open()

    assert bundle.id == bundle.title == "tiny"
    assert [entry.pair for entry in bundle.model_entries()] == [("alpha", "default")]
    assert [one.text for one in bundle.answers] == ["An answer."]
    assert [one.flag for one in bundle.verdicts] == ["green"]
    assert [one.dim_scores for one in bundle.reports] == [{"Q1": 4}]
    assert bundle.reviews() == []
    assert bundle.manifest.judge is None


def test_a_bundle_without_any_record_loads(folder: BundleFolder) -> None:
    bundle = folder.open()

    assert [len(bundle.answers), len(bundle.verdicts), len(bundle.reports)] == [0, 0, 0]
    assert len(bundle.sha256) == len(bundle.answers_sha256) == 64


def test_a_bundle_from_a_windows_editor_loads(folder: BundleFolder) -> None:
    folder.write("bundle.yaml", b"\xef\xbb\xbf" + MANIFEST_YAML.replace("\n", "\r\n").encode())
    folder.write("suite.yaml", b"\xef\xbb\xbf" + SUITE_YAML.replace("\n", "\r\n").encode())

    assert folder.open().suite.id == "small"


@pytest.mark.parametrize(
    ("name", "content", "error", "words"),
    [
        ("bundle.yaml", None, BundleError, "is no bundle: it has no bundle.yaml"),
        ("suite.yaml", None, BundleError, "has no suite.yaml"),
        ("bundle.yaml", "", BundleError, "tiny/bundle.yaml is empty"),
        ("bundle.yaml", "- a\n", BundleError, "tiny/bundle.yaml is empty"),
        ("bundle.yaml", b"id: \xff\n", BundleError, "tiny/bundle.yaml:1: is not UTF-8"),
        ("bundle.yaml", MANIFEST_YAML + "wieght: 1\n", BundleError, "tiny/bundle.yaml:6: wieght"),
        ("bundle.yaml", MANIFEST_YAML + "id: x\n", BundleError, "tiny/bundle.yaml:6: id: stands"),
        ("bundle.yaml", MANIFEST_YAML.replace("1", "2"), BundleError, "has format 2; this version"),
        ("bundle.yaml", "format: 1\n", BundleError, "models: is required"),
        ("suite.yaml", SUITE_YAML + "x: 1\n", SuiteError, "tiny/suite.yaml:15: x"),
        ("suite.yaml", SUITE_YAML.replace("1", "2", 1), SuiteError, "has format 2; this version"),
    ],
)
def test_what_can_not_be_opened_is_explained(
    folder: BundleFolder,
    name: str,
    content: str | bytes | None,
    error: type[Exception],
    words: str,
) -> None:
    if content is None:
        (folder.path / name).unlink()
    else:
        folder.write(name, content)
    with pytest.raises(error) as raised:
        folder.open()

    assert words in str(raised.value)


def test_a_folder_that_does_not_exist_is_no_bundle(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"(?s)the folder does not exist.*touchstone run SUITE"):
        Bundle.open(tmp_path / "nowhere")


def test_bundles_are_found_by_their_manifest(folder: BundleFolder, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    BundleFolder(tmp_path / "a")

    assert find_bundles(tmp_path) == [tmp_path / "a", folder.path]
    assert find_bundles(tmp_path / "nowhere") == []
    assert not is_bundle(tmp_path / "other")


# --- the manifest comes back as it was written ----------------------------------------------------


def written_and_read(path: Path, before: Manifest) -> Manifest:
    with write_bundle(path) as writer:
        writer.write_manifest(before)
    return Bundle(path).manifest


@pytest.mark.parametrize("name", HOSTILE)
def test_any_name_survives_the_manifest(tmp_path: Path, name: str) -> None:
    before = manifest(
        id=name,
        title={"de": name, "en": name},
        suite={"id": name, "sha256": name},
        models=[{"model": name, "variant": name, "label": name, "system": name}],
        judges=[{"fingerprint": name, "id": name, "model": name}],
        aliases={
            "models": [
                {"from": {"model": name, "variant": "x"}, "to": {"model": "b", "variant": name}}
            ],
            "prompts": {name: name},
        },
        sealed={"answers.jsonl": name},
    )

    assert written_and_read(tmp_path, before) == before


@pytest.mark.parametrize(
    "parameters",
    [
        {"temperature": 0, "top_p": 0.95, "seed": 18446744073709551615},
        {"temperature": 1e-05, "big": 1e22, "negative": -3, "off": False, "on": True},
        {"stop": ["\n", "NO", "7", ""], "nested": {"a": [1, 2.5, {"b": None}]}, "null": None},
        {"7": 7, "true": "true", "word": "1e3", "number": 1000.0},
    ],
)
def test_parameters_keep_their_types(tmp_path: Path, parameters: dict[str, Any]) -> None:
    before = manifest(models=[{"model": "m", "parameters": parameters}])
    after = written_and_read(tmp_path, before)

    assert after == before
    assert repr(after.models[0].parameters) == repr(parameters)


def test_the_manifest_reads_well(tmp_path: Path) -> None:
    """A person opens this file: no anchors, no nulls, no defaults, the documented order."""
    shared = {"temperature": 0}
    models = [{"model": "a", "parameters": shared}, {"model": "b", "parameters": shared}]
    with write_bundle(tmp_path) as writer:
        writer.write_manifest(manifest(title="Büro", created=WHEN, models=models))

    assert (tmp_path / "bundle.yaml").read_text(encoding="utf-8") == (
        "format: 1\nid: b\ntitle: Büro\ncreated: '2026-12-01T09:00:00Z'\nsuite:\n  id: small\n"
        "models:\n- model: a\n  parameters:\n    temperature: 0\n"
        "- model: b\n  parameters:\n    temperature: 0\n"
    )


# --- records --------------------------------------------------------------------------------------


@pytest.fixture
def writer(folder: BundleFolder) -> Iterator[BundleWriter]:
    with write_bundle(folder.path) as opened:
        yield opened


def test_records_of_all_kinds_are_appended(writer: BundleWriter) -> None:
    for prompt_id in ("E1", "E2"):
        writer.append_answer(Answer.model_validate(answer(prompt_id, text="\ud800\x00")))
        writer.append_verdict(Verdict.model_validate(verdict(prompt_id, "red")))
    writer.append_report(ModelReport(model="alpha", variant="default", dim_scores={"Q1": 4}))
    bundle = writer.bundle

    assert [one.text for one in bundle.answers] == ["\ud800\x00"] * 2
    assert [one.flag for one in bundle.verdicts] == ["red"] * 2
    assert len(bundle.reports) == 1


def test_a_torn_tail_is_mended_before_more_is_written(
    writer: BundleWriter, folder: BundleFolder
) -> None:
    folder.answers("E1")
    folder.write_lines("reviews.jsonl", review("E1", "accept"))
    for name in ("answers.jsonl", "reviews.jsonl"):
        with (folder.path / name).open("ab") as stream:
            stream.write(b'{"model": "al')
    folder.write(
        "verdicts.jsonl", '{"model":"alpha","variant":"default","prompt_id":"E1","flag":null}'
    )

    assert writer.repair_tails() == ["answers.jsonl", "reviews.jsonl"]
    writer.append_answer(Answer.model_validate(answer("E2")))
    writer.append_verdict(Verdict.model_validate(verdict("E2", "red")))
    bundle = writer.bundle
    assert [one.prompt_id for one in bundle.answers] == ["E1", "E2"]
    assert [one.prompt_id for one in bundle.verdicts] == ["E1", "E2"]
    assert len(bundle.reviews()) == 1
    assert bundle.answers.problems == bundle.verdicts.problems == []
    assert writer.repair_tails() == []


def test_compacting_drops_what_a_later_record_replaced(
    writer: BundleWriter, folder: BundleFolder
) -> None:
    failed = {**answer("E1", text=""), "error": {"type": "timeout"}}
    folder.write_lines("answers.jsonl", failed, answer("E2"), answer("E1"))
    writer.compact()

    assert len((folder.path / "answers.jsonl").read_bytes().splitlines()) == 2
    assert [one.prompt_id for one in writer.bundle.answers] == ["E2", "E1"]


def test_compacting_leaves_alone_what_needs_no_compacting(
    writer: BundleWriter, folder: BundleFolder
) -> None:
    """A file with a line that can't be read would lose it; one without replacements has no need."""
    folder.write_lines("verdicts.jsonl", verdict("E1", None), verdict("E1", "red"))
    with (folder.path / "verdicts.jsonl").open("ab") as stream:
        stream.write(b'{"model": "alpha", "flag": "rde"}\n')
    folder.answers("E1")
    before = {path.name: path.read_bytes() for path in folder.path.iterdir()}
    writer.compact()

    assert {path.name: path.read_bytes() for path in folder.path.iterdir()} == before


def test_raw_replies_are_kept_byte_for_byte_and_in_order(writer: BundleWriter) -> None:
    pair = ("alpha", "default")
    for content in (b"\xff\x00first", b"second\r\n"):
        writer.write_raw(pair, "a/b: ä", content)
    writer.write_raw(pair, "Q1", b"other")
    paths = writer.bundle.raw_replies(pair, "a/b: ä")

    assert [path.read_bytes() for path in paths] == [b"\xff\x00first", b"second\r\n"]
    assert {path.parent for path in paths} == {writer.path / "raw"}
    assert writer.bundle.raw_replies(pair, "nothing") == []


def test_file_names_of_the_exchange_are_safe(folder: BundleFolder) -> None:
    hostile = (
        "format: 1\nid: tiny\nsuite: {id: small}\nmodels: [{model: '../../x', variant: 'a/b'}]\n"
    )
    folder.write("bundle.yaml", hostile)
    request, response = folder.open().exchange_paths(("../../x", "a/b"))

    assert request.parent == response.parent == folder.path / "exchange"
    assert request.name.startswith("judge_request.x-")
    assert folder.open().responses() == []


# --- seals and hashes -----------------------------------------------------------------------------


def test_a_seal_holds_the_hash_of_every_file(writer: BundleWriter, folder: BundleFolder) -> None:
    folder.answers("E1")
    writer.seal()
    sealed = writer.bundle.manifest.sealed

    assert sealed == {
        name: sha256_of(folder.path / name) for name in ("suite.yaml", "answers.jsonl")
    }
    writer.unseal()
    assert writer.bundle.manifest.sealed is None


def test_the_answers_hash_does_not_depend_on_the_order_of_lines(folder: BundleFolder) -> None:
    folder.answers("E1", "E2")
    before = folder.open().answers_sha256
    folder.answers("E2", "E1")
    assert folder.open().answers_sha256 == before

    folder.write_lines("answers.jsonl", {**answer("E1"), "duration_s": 2, "extra": 1}, answer("E2"))
    assert folder.open().answers_sha256 == before

    folder.write_lines("answers.jsonl", answer("E1", text="Another."), answer("E2"))
    assert folder.open().answers_sha256 != before


def test_an_answer_moved_to_another_prompt_changes_the_hash(folder: BundleFolder) -> None:
    folder.write_lines("answers.jsonl", answer("E1", text="a"), answer("E2", text="b"))
    before = folder.open().answers_sha256
    folder.write_lines("answers.jsonl", answer("E1", text="b"), answer("E2", text="a"))

    assert folder.open().answers_sha256 != before


def test_the_bundle_hash_covers_suite_answers_verdicts_and_reports(folder: BundleFolder) -> None:
    folder.answers("E1")
    folder.verdicts({"E1": "green"})
    folder.report({"Q1": 4})
    seen = [folder.open().sha256]
    folder.verdicts({"E1": "red"})
    seen.append(folder.open().sha256)
    folder.report({"Q1": 5})
    seen.append(folder.open().sha256)
    folder.answers("E1", "E2")
    seen.append(folder.open().sha256)
    folder.write("suite.yaml", SUITE_YAML + "# a remark\n")
    seen.append(folder.open().sha256)

    assert len(set(seen)) == 5


def test_the_bundle_hash_leaves_out_reviews_titles_and_defaults(folder: BundleFolder) -> None:
    folder.verdicts({"E1": "green", "E2": None})
    before = folder.open().sha256
    folder.write_lines("reviews.jsonl", review("E1", "flag:red"))
    folder.write("bundle.yaml", MANIFEST_YAML + "title: New\n")
    folder.write_lines(
        "verdicts.jsonl",
        {**verdict("E2", None), "reason": None, "quotes": []},
        {**verdict("E1", "green"), "source": "judge"},
    )

    assert folder.open().sha256 == before


# --- new bundles ----------------------------------------------------------------------------------

SUITE = parse_suite(SUITE_YAML.encode(), "suite.yaml")


def test_a_new_bundle_carries_its_suite_and_its_models(tmp_path: Path) -> None:
    with write_bundle(tmp_path / "new") as writer:
        bundle = create_bundle(writer, SUITE, [ModelEntry(model="m", variant="v")], created=WHEN)

    assert bundle.id == "new"
    assert bundle.suite == SUITE.suite
    assert bundle.manifest.suite.sha256 == SUITE.sha256 == bundle.suite_sha256
    assert (bundle.manifest.created, bundle.manifest.tool) == (WHEN, f"touchstone {__version__}")
    assert (tmp_path / "new" / "suite.yaml").read_text(encoding="utf-8") == SUITE_YAML


def test_a_model_is_added_and_a_known_one_keeps_its_entry(tmp_path: Path) -> None:
    with write_bundle(tmp_path / "new") as writer:
        create_bundle(writer, SUITE, [ModelEntry(model="m", label="First")], created=WHEN)
        models = [ModelEntry(model="m", label="Second"), ModelEntry(model="n")]
        bundle = create_bundle(writer, SUITE, models, created="later")

    assert [(one.model, one.label) for one in bundle.model_entries()] == [
        ("m", "First"),
        ("n", None),
    ]
    assert bundle.manifest.created == WHEN


def test_answers_to_another_suite_do_not_mix(tmp_path: Path) -> None:
    other = parse_suite(SUITE_YAML.replace("note", "poem").encode(), "suite.yaml")
    with write_bundle(tmp_path / "new") as writer:
        create_bundle(writer, SUITE, [ModelEntry(model="m")], created=WHEN)
        with pytest.raises(BundleError, match="another version of suite 'small'"):
            create_bundle(writer, other, [ModelEntry(model="m")], created=WHEN)


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with write_bundle(tmp_path) as writer, pytest.raises(BundleError, match=r"holds thesis\.tex"):
        create_bundle(writer, SUITE, [ModelEntry(model="m")], created=WHEN)

    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_answers_are_copied_without_any_judgement(folder: BundleFolder, tmp_path: Path) -> None:
    folder.answers("E1", "E2")
    folder.verdicts({"E1": "red"})
    folder.write("bundle.yaml", MANIFEST_YAML + "judges: [{fingerprint: f, id: j}]\n")
    source = folder.open()
    with write_bundle(tmp_path / "second") as writer:
        copy = copy_answers(source, writer, created=WHEN)
        assert copy_answers(source, writer, created="later").manifest == copy.manifest

    assert copy.id == "second"
    assert copy.answers_sha256 == source.answers_sha256
    assert copy.suite_sha256 == source.suite_sha256
    assert len(copy.verdicts) == 0
    assert copy.manifest.judge is None


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("answers.jsonl", "", "holds other answers than"),
        ("suite.yaml", SUITE_YAML + "# changed\n", "was made with another suite than"),
    ],
)
def test_answers_are_not_copied_over_others(
    folder: BundleFolder, tmp_path: Path, name: str, content: str, words: str
) -> None:
    folder.answers("E1")
    with write_bundle(tmp_path / "second") as writer:
        copy_answers(folder.open(), writer, created=WHEN)
        (tmp_path / "second" / name).write_text(content, encoding="utf-8")
        with pytest.raises(BundleError, match=words):
            copy_answers(folder.open(), writer, created=WHEN)


def test_a_bundle_begun_before_a_crash_is_finished(tmp_path: Path) -> None:
    suite = load_suite("demo-en")
    path = tmp_path / "begun"
    path.mkdir()
    (path / "suite.yaml").write_bytes(suite.source)
    (path / ".bundle.yaml.x.tmp").write_bytes(b"half")
    with write_bundle(path) as writer:
        made = create_bundle(writer, suite, [ModelEntry(model="m")], created=WHEN)
    assert made.manifest.models[0].model == "m"


def test_a_folder_with_another_suite_is_not_taken_for_a_begun_bundle(tmp_path: Path) -> None:
    suite = load_suite("demo-en")
    (tmp_path / "suite.yaml").write_bytes(suite.source + b"# mine\n")
    with write_bundle(tmp_path) as writer, pytest.raises(BundleError, match="not empty"):
        create_bundle(writer, suite, [ModelEntry(model="m")], created=WHEN)
    assert (tmp_path / "suite.yaml").read_bytes().endswith(b"# mine\n")


def test_forgetting_a_judgement_drops_its_raw_replies_too(folder: BundleFolder) -> None:
    folder.answers("E1")
    folder.verdicts({"E1": "green"})
    folder.report({"Q1": 4})
    with write_bundle(folder.path) as writer:
        writer.write_raw(("alpha", "default"), "Q1", b"first")
        writer.forget_judgement()
        assert writer.bundle.raw_replies(("alpha", "default"), "Q1") == []
        assert len(writer.bundle.verdicts) == len(writer.bundle.reports) == 0
        assert len(writer.bundle.answers) == 1
