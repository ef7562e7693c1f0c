"""Writing a bundle: one writer at a time, whole files or appended lines."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from pydantic import BaseModel

from touchstone import __version__
from touchstone.bundle.reading import (
    ANSWERS,
    LOCK,
    MANIFEST,
    PROBES,
    RAW,
    REPORTS,
    SUITE,
    VERDICTS,
    Bundle,
    Pair,
    is_bundle,
)
from touchstone.errors import BundleError, BundleLockedError
from touchstone.files import append_line, write_atomic
from touchstone.models import (
    FORMAT,
    Answer,
    Manifest,
    ModelEntry,
    ModelReport,
    SuiteRef,
    Verdict,
)
from touchstone.probe_records import Observation
from touchstone.records import RecordFile, dump_record
from touchstone.suite import LoadedSuite
from touchstone.yaml_source import dump_yaml


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

    def append_observation(self, observation: Observation) -> None:
        """Append one observation of a probe, on disk when this returns."""
        append_line(self.path / PROBES, dump_record(observation))

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
        for file in (*_record_files(bundle), bundle.review_file, bundle.observations):
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


def _record_files(bundle: Bundle) -> tuple[RecordFile[Any], ...]:
    return bundle.answers, bundle.verdicts, bundle.reports


def _write_records(path: Path, records: Iterable[BaseModel]) -> None:
    lines = "".join(dump_record(record) + "\n" for record in records)
    write_atomic(path, lines.encode("utf-8"))


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
