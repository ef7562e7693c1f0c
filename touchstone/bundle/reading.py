"""A bundle opened for reading, and the names of the files in it."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from functools import cached_property
from pathlib import Path

from touchstone.errors import BundleError
from touchstone.files import sha256_of
from touchstone.models import (
    FORMAT,
    Answer,
    Manifest,
    ModelEntry,
    ModelReport,
    Review,
    Suite,
    Text,
    Verdict,
)
from touchstone.probe_records import Observation
from touchstone.records import RecordFile, dump_record
from touchstone.slugs import pair_slugs, slug
from touchstone.suite import LoadedSuite, parse_suite
from touchstone.yaml_source import parse_yaml, read_text

MANIFEST = "bundle.yaml"
SUITE = "suite.yaml"
ANSWERS = "answers.jsonl"
VERDICTS = "verdicts.jsonl"
REPORTS = "reports.jsonl"
REVIEWS = "reviews.jsonl"
RAW = "raw"
EXCHANGE = "exchange"
PROBES = "judge_probes.jsonl"
LOCK = ".touchstone.lock"
META_REQUEST, META_RESPONSE = "judge_meta_request", "judge_meta_response"
QUALITY_JSON, QUALITY_MD = "judge_quality.json", "judge_quality.md"

_SINGLE = {MANIFEST, SUITE, ANSWERS, VERDICTS, REPORTS, REVIEWS, PROBES, QUALITY_JSON, QUALITY_MD}
_SLUGS = r"(?:\.[A-Za-z0-9._-]+)?"
_NUMEROUS = re.compile(
    rf"{META_REQUEST}{_SLUGS}\.md|{META_RESPONSE}{_SLUGS}\.yaml"
    rf"|{EXCHANGE}/judge_request{_SLUGS}\.md|{EXCHANGE}/judge_response{_SLUGS}\.yaml"
    rf"|{RAW}/[A-Za-z0-9][A-Za-z0-9._-]*\.txt"
)

Pair = tuple[str, str]
AnswerKey = tuple[str, str, str]


def is_bundle(path: Path) -> bool:
    """Say whether a folder holds a bundle."""
    return (path / MANIFEST).is_file()


def is_bundle_file(name: str) -> bool:
    """Say whether a file belongs to a bundle, by its name from the bundle's folder (with ``/``)."""
    return name in _SINGLE or _NUMEROUS.fullmatch(name) is not None


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

    @cached_property
    def observations(self) -> RecordFile[Observation]:
        """What probes of the judge saw. A later observation replaces one without a result."""
        return RecordFile(
            self.path / PROBES,
            Observation,
            lambda one: one.key,
            lambda old, new: old.score is None and old.flag is None,
        )

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

    def files(self) -> list[str]:
        """Return the names of all files that belong to the bundle, from its folder, sorted.

        Locks, temporary files, links and whatever else lies there do not.
        """
        folders = [("", self.path), *((f"{one}/", self.path / one) for one in (RAW, EXCHANGE))]
        return sorted(
            f"{prefix}{entry.name}"
            for prefix, folder in folders
            if folder.is_dir() and not (prefix and folder.is_symlink())
            for entry in folder.iterdir()
            if is_bundle_file(f"{prefix}{entry.name}")
            and entry.is_file()
            and not entry.is_symlink()
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


def _answer_key(record: Answer | Verdict) -> AnswerKey:
    return record.model, record.variant, record.prompt_id


def _digest(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
