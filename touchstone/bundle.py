"""A bundle on disk: the only module that knows the names of the files in it."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from pydantic import BaseModel

from touchstone import __version__
from touchstone.errors import BundleError, BundleLockedError
from touchstone.files import append_line, sha256_of, write_atomic
from touchstone.models import (
    FORMAT,
    Answer,
    Manifest,
    ModelEntry,
    ModelReport,
    Review,
    Suite,
    SuiteRef,
    Text,
    Verdict,
)
from touchstone.records import RecordFile, dump_record
from touchstone.slugs import pair_slugs, slug
from touchstone.suite import LoadedSuite, parse_suite
from touchstone.yaml_source import dump_yaml, parse_yaml, read_text

MANIFEST = "bundle.yaml"
SUITE = "suite.yaml"
ANSWERS = "answers.jsonl"
VERDICTS = "verdicts.jsonl"
REPORTS = "reports.jsonl"
REVIEWS = "reviews.jsonl"
RAW = "raw"
EXCHANGE = "exchange"
LOCK = ".touchstone.lock"
META_REQUEST, META_RESPONSE = "judge_meta_request", "judge_meta_response"
QUALITY_JSON, QUALITY_MD = "judge_quality.json", "judge_quality.md"

Pair = tuple[str, str]
AnswerKey = tuple[str, str, str]


def is_bundle(path: Path) -> bool:
    """Say whether a folder holds a bundle."""
    return (path / MANIFEST).is_file()


def find_bundles(folder: Path) -> list[Path]:
    """Return the bundle folders directly below ``folder``, sorted by name."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.is_dir() and is_bundle(path))


class Bundle:
    """One bundle, opened for reading; writing goes through a ``BundleWriter``."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def open(cls, path: Path) -> Bundle:
        """Open a bundle and check that its manifest and suite can be read.

        Raises:
            BundleError: the folder is no bundle, or bundle.yaml or suite.yaml has problems.
            SuiteError: suite.yaml has problems.
        """
        if not path.is_dir():
            raise BundleError(
                f"There is no bundle {path}: the folder does not exist.",
                hint="A bundle is made with: touchstone run SUITE --model NAME -o BUNDLE",
            )
        if not is_bundle(path):
            raise BundleError(f"{path} is no bundle: it has no {MANIFEST}.")
        bundle = cls(path)
        _ = bundle.manifest, bundle.loaded_suite
        return bundle

    @cached_property
    def manifest(self) -> Manifest:
        """The content of bundle.yaml."""
        return _read_manifest(self.path)

    @cached_property
    def loaded_suite(self) -> LoadedSuite:
        """The suite this bundle was made with, as it was stored."""
        path = self.path / SUITE
        if not path.is_file():
            raise BundleError(f"{self.path} has no {SUITE}: a bundle carries its own suite.")
        return parse_suite(path.read_bytes(), f"{self.path.name}/{SUITE}")

    @property
    def suite(self) -> Suite:
        """The suite this bundle was made with."""
        return self.loaded_suite.suite

    @property
    def id(self) -> str:
        """The bundle's id (its folder's name, as bundle.yaml gives it)."""
        return self.manifest.id

    @property
    def title(self) -> Text:
        """The bundle's title; where it has none, its id."""
        return self.manifest.title or self.manifest.id

    @cached_property
    def answers(self) -> RecordFile[Answer]:
        """The answers, found by (model, variant, prompt_id). A later one replaces a failed one."""
        return RecordFile(
            self.path / ANSWERS, Answer, _answer_key, lambda old, new: old.error is not None
        )

    @cached_property
    def verdicts(self) -> RecordFile[Verdict]:
        """The verdicts, found by (model, variant, prompt_id). A later one replaces an open one."""
        return RecordFile(
            self.path / VERDICTS, Verdict, _answer_key, lambda old, new: old.flag is None
        )

    @cached_property
    def reports(self) -> RecordFile[ModelReport]:
        """The reports, found by (model, variant). A later one replaces an incomplete one."""
        return RecordFile(
            self.path / REPORTS,
            ModelReport,
            lambda report: report.pair,
            lambda old, new: any(score is None for score in old.dim_scores.values()),
        )

    @cached_property
    def review_file(self) -> RecordFile[Review]:
        """The decisions in file order; there may be several on one answer."""
        numbered = itertools.count()
        return RecordFile(self.path / REVIEWS, Review, lambda _: (str(next(numbered)),))

    def reviews(self) -> list[Review]:
        """Return all decisions in the order they were taken."""
        self.review_file.require_clean()
        return list(self.review_file)

    def model_entries(self) -> tuple[ModelEntry, ...]:
        """Return the (model, variant) pairs in display order."""
        return self.manifest.models

    @cached_property
    def slugs(self) -> dict[Pair, str]:
        """The slug of every (model, variant) of this bundle."""
        return pair_slugs(entry.pair for entry in self.manifest.models)

    def exchange_paths(self, pair: Pair) -> tuple[Path, Path]:
        """Return where the judging request of a pair and its response form lie."""
        folder = self.path / EXCHANGE
        name = self.slugs[pair]
        return folder / f"judge_request.{name}.md", folder / f"judge_response.{name}.yaml"

    def responses(self) -> list[Path]:
        """Return the response forms of the file exchange, sorted by name."""
        return sorted((self.path / EXCHANGE).glob("judge_response.*.yaml"))

    def raw_path(self, pair: Pair, subject: str, attempt: int) -> Path:
        """Return where a raw judge reply about a prompt or dimension lies."""
        return self.path / RAW / f"{self.slugs[pair]}.{slug(subject)}.{attempt}.txt"

    def raw_replies(self, pair: Pair, subject: str) -> list[Path]:
        """Return the raw judge replies there are about a prompt or dimension, in order."""
        found = []
        attempt = 1
        while (path := self.raw_path(pair, subject, attempt)).is_file():
            found.append(path)
            attempt += 1
        return found

    def meta_paths(self, part: str) -> tuple[Path, Path]:
        """Return where the meta-evaluation's request lies (part a, b or both), and its form."""
        end = "" if part == "both" else f".{part}"
        return self.path / f"{META_REQUEST}{end}.md", self.path / f"{META_RESPONSE}{end}.yaml"

    def meta_response(self, evaluator: str, part: str) -> Path:
        """Return where the response of an evaluator is kept; ids differ by more than case."""
        end = "" if part == "both" else f".{part}"
        return self.path / f"{META_RESPONSE}.{slug(evaluator.casefold())}{end}.yaml"

    def meta_responses(self) -> list[Path]:
        """Return the responses that were taken, sorted by name; forms to fill in are none."""
        forms = {self.meta_paths(part)[1] for part in ("a", "b", "both")}
        return sorted(set(self.path.glob(f"{META_RESPONSE}.*.yaml")) - forms)

    @property
    def quality_paths(self) -> tuple[Path, Path]:
        """Where the judge's quality lies: for scripts (JSON) and for people (Markdown)."""
        return self.path / QUALITY_JSON, self.path / QUALITY_MD

    # --- hashes ----------------------------------------------------------------------------

    @property
    def suite_sha256(self) -> str:
        """SHA-256 of the bytes of the bundle's suite.yaml."""
        return self.loaded_suite.sha256

    @cached_property
    def answers_sha256(self) -> str:
        """SHA-256 over the sorted lines ``model, variant, prompt_id, answer hash`` (JSON)."""
        rows = sorted([*_answer_key(answer), answer.sha256] for answer in self.answers)
        return _digest(rows)

    @cached_property
    def sha256(self) -> str:
        """The bundle hash: suite, answers, verdicts and reports; not reviews, not judge quality."""
        return _digest(
            [
                self.suite_sha256,
                self.answers_sha256,
                sorted(dump_record(verdict, terse=True) for verdict in self.verdicts),
                sorted(dump_record(report, terse=True) for report in self.reports),
            ]
        )

    def file_hashes(self) -> dict[str, str]:
        """Return the SHA-256 of every sealed kind of file that exists."""
        names = (SUITE, ANSWERS, VERDICTS, REPORTS)
        return {name: sha256_of(self.path / name) for name in names if (self.path / name).is_file()}


class BundleWriter:
    """Exclusive write access to a bundle; made by ``write_bundle``."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def bundle(self) -> Bundle:
        """The bundle as it stands on disk right now."""
        return Bundle.open(self.path)

    def write_manifest(self, manifest: Manifest) -> None:
        """Replace bundle.yaml."""
        data = manifest.model_dump(mode="python", by_alias=True, exclude_defaults=True)
        data = {"format": manifest.format, **data}
        for judge, entry in zip(data.get("judges", ()), manifest.judges, strict=True):
            judge["kind"] = entry.kind  # never left to be guessed
        write_atomic(self.path / MANIFEST, dump_yaml(_plain(data)).encode("utf-8"))

    def unseal(self) -> None:
        """Remove the seal before something is written, so that a crash leaves no false one."""
        manifest = self.bundle.manifest
        if manifest.sealed is not None:
            self.write_manifest(manifest.model_copy(update={"sealed": None}))

    def seal(self) -> None:
        """Record the hashes of what the bundle holds now."""
        bundle = self.bundle
        hashes = bundle.file_hashes()
        self.write_manifest(bundle.manifest.model_copy(update={"sealed": hashes}))

    def append_answer(self, answer: Answer) -> None:
        """Append one answer; on disk when this returns."""
        append_line(self.path / ANSWERS, dump_record(answer))

    def append_verdict(self, verdict: Verdict) -> None:
        """Append one verdict; on disk when this returns."""
        append_line(self.path / VERDICTS, dump_record(verdict))

    def append_report(self, report: ModelReport) -> None:
        """Append one report; on disk when this returns."""
        append_line(self.path / REPORTS, dump_record(report))

    def write_raw(self, pair: Pair, subject: str, content: bytes) -> None:
        """Keep one raw judge reply, byte for byte, as the next about this prompt or dimension."""
        bundle = Bundle(self.path)
        attempt = len(bundle.raw_replies(pair, subject)) + 1
        write_atomic(bundle.raw_path(pair, subject, attempt), content)

    def forget_judgement(self) -> None:
        """Drop all verdicts, reports and raw replies, because a judge is to judge anew."""
        self.keep(verdicts=[], reports=[])
        if (self.path / RAW).is_dir():
            shutil.rmtree(self.path / RAW)

    def write_exchange(self, path: Path, text: str) -> None:
        """Write a request or an empty response form of the file exchange."""
        write_atomic(path, text.encode("utf-8", "surrogatepass"))

    def write_response(self, path: Path, content: bytes) -> None:
        """Keep a response of the meta-evaluation, byte for byte."""
        write_atomic(path, content)

    def write_judge_quality(self, json_text: str, markdown: str) -> None:
        """Write the result of a meta-evaluation, for scripts and for people."""
        for path, text in zip(self.bundle.quality_paths, (json_text, markdown), strict=True):
            write_atomic(path, text.encode("utf-8", "surrogatepass"))

    def repair_tails(self) -> list[str]:
        """Cut off torn last lines left by a crash; return the names of the files mended."""
        bundle = self.bundle
        mended = []
        for file in (*_record_files(bundle), bundle.review_file):
            if file.torn_at is not None:
                with file.path.open("r+b") as stream:
                    stream.truncate(file.torn_at)
                mended.append(file.path.name)
            elif file.path.is_file():
                _end_with_newline(file.path)
        return mended

    def keep(
        self,
        *,
        answers: Sequence[Answer] | None = None,
        verdicts: Sequence[Verdict] | None = None,
        reports: Sequence[ModelReport] | None = None,
    ) -> None:
        """Rewrite record files so that they hold exactly these records."""
        for name, records in ((ANSWERS, answers), (VERDICTS, verdicts), (REPORTS, reports)):
            if records is not None:
                _write_records(self.path / name, records)

    def compact(self) -> None:
        """Drop records that a later one replaced; a file with unusable lines stays as it is."""
        for file in _record_files(self.bundle):
            if file.replaced and not file.unusable:
                _write_records(file.path, file)


@contextlib.contextmanager
def write_bundle(path: Path) -> Iterator[BundleWriter]:
    """Lock a bundle folder (made if need be) for writing.

    Raises:
        BundleLockedError: another process writes it. The lock dies with its process.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path / LOCK, timeout=0)
        lock.acquire()
    except Timeout:
        raise BundleLockedError(
            f"Another touchstone process is writing {path}.",
            hint="Wait until it is done, or stop it; the lock goes away with it.",
        ) from None
    except OSError as failure:
        raise BundleError(f"{path} can't be written: {failure.strerror or failure}.") from None
    try:
        yield BundleWriter(path)
    finally:
        # While it is held: afterwards it may be the next writer's.
        with contextlib.suppress(OSError):
            (path / LOCK).unlink()
        lock.release()


def create_bundle(
    writer: BundleWriter, suite: LoadedSuite, models: Sequence[ModelEntry], *, created: str
) -> Bundle:
    """Lay out a new bundle, or add models to one that was made with the same suite.

    ``created`` is a UTC time (ISO 8601). An existing (model, variant) keeps its entry.

    Raises:
        BundleError: the folder holds a bundle of another suite, or files that are none.
    """
    if not is_bundle(writer.path):
        _refuse_foreign_files(writer.path, suite)
        manifest = Manifest(
            format=FORMAT,
            id=writer.path.resolve().name,
            created=created,
            tool=f"touchstone {__version__}",
            suite=SuiteRef(id=suite.suite.id, sha256=suite.sha256),
            models=tuple(models),
        )
        write_atomic(writer.path / SUITE, suite.source)
        writer.write_manifest(manifest)
        return writer.bundle
    bundle = writer.bundle
    if bundle.suite_sha256 != suite.sha256:
        raise BundleError(
            f"{writer.path} was made with another version of suite {bundle.suite.id!r} "
            f"(sha256 {bundle.suite_sha256[:12]}… there, {suite.sha256[:12]}… now).",
            hint="Answers to different prompts don't mix: write to a new bundle with -o.",
        )
    known = {entry.pair for entry in bundle.manifest.models}
    new = [entry for entry in models if entry.pair not in known]
    if new:
        models = (*bundle.manifest.models, *new)
        writer.write_manifest(bundle.manifest.model_copy(update={"models": models}))
    return writer.bundle


def copy_answers(source: Bundle, writer: BundleWriter, *, created: str) -> Bundle:
    """Lay out a new bundle with the same suite and answers, without any judgement.

    Raises:
        BundleError: the folder holds a bundle of other answers, or files that are none.
    """
    source.answers.require_clean()
    if is_bundle(writer.path):
        present = writer.bundle
        if present.answers_sha256 != source.answers_sha256:
            raise BundleError(f"{writer.path} holds other answers than {source.path}.")
        if present.suite_sha256 != source.suite_sha256:
            raise BundleError(f"{writer.path} was made with another suite than {source.path}.")
        return present
    _refuse_foreign_files(writer.path, source.loaded_suite)
    manifest = source.manifest.model_copy(
        update={
            "id": writer.path.resolve().name,
            "title": None,
            "created": created,
            "tool": f"touchstone {__version__}",
            "judges": (),
            "sealed": None,
        }
    )
    write_atomic(writer.path / SUITE, source.loaded_suite.source)
    writer.keep(answers=list(source.answers))
    writer.write_manifest(manifest)
    return writer.bundle


def _refuse_foreign_files(path: Path, suite: LoadedSuite) -> None:
    """Raise BundleError if a folder without bundle.yaml holds what a crash can't have left."""
    begun = path / SUITE
    ours = {LOCK}
    if begun.is_file() and begun.read_bytes() == suite.source:
        ours |= {SUITE, ANSWERS}
    names = (entry.name for entry in path.iterdir())
    foreign = [name for name in names if name not in ours and not name.endswith(".tmp")]
    if foreign:
        raise BundleError(
            f"{path} is not empty and no bundle (it holds {', '.join(sorted(foreign)[:3])}).",
            hint="Choose another folder with -o.",
        )


def _read_manifest(path: Path) -> Manifest:
    name = f"{path.name}/{MANIFEST}"
    document = parse_yaml(read_text(path / MANIFEST, BundleError, name), name, BundleError)
    if not isinstance(document.data, dict):
        raise BundleError(f"{name} is empty.")
    found = document.data.get("format")
    if isinstance(found, int) and not isinstance(found, bool) and found > FORMAT:
        raise BundleError(
            f"{name} has format {found}; this version of touchstone reads up to {FORMAT}.",
            hint="Update touchstone.",
        )
    return document.validate(Manifest, BundleError)


def _record_files(bundle: Bundle) -> tuple[RecordFile[Any], ...]:
    return bundle.answers, bundle.verdicts, bundle.reports


def _write_records(path: Path, records: Iterable[BaseModel]) -> None:
    lines = "".join(dump_record(record) + "\n" for record in records)
    write_atomic(path, lines.encode("utf-8"))


def _answer_key(record: Answer | Verdict) -> AnswerKey:
    return record.model, record.variant, record.prompt_id


def _digest(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _end_with_newline(path: Path) -> None:
    with path.open("r+b") as stream:
        if stream.seek(0, 2) and (stream.seek(-1, 2), stream.read(1))[1] != b"\n":
            stream.write(b"\n")


def _plain(value: Any) -> Any:
    """Return data with nothing but what YAML knows: tuples become lists."""
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value
