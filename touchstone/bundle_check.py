"""Checks a bundle: seals, references between its records, ids; every problem by name."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from touchstone.aliases import followed
from touchstone.bundle import ANSWERS, MANIFEST, REPORTS, REVIEWS, SUITE, VERDICTS, Bundle
from touchstone.bundle.archive import unpack_bundle
from touchstone.bundle_evidence import checker_of
from touchstone.errors import Problem
from touchstone.evidence import QUOTE_CLASSES, EvidenceClass
from touchstone.models import Evidence, ModelReport
from touchstone.slugs import case_collisions, slug

MOST_QUALITY_BYTES = 5_000_000
MOST_NAMED = 5
_WEAK: dict[EvidenceClass, str] = {
    "unverifiable": "do not stand in the answers of {model}",
    "from_prompt": "stand in the prompt and not in the answers of {model} (from_prompt)",
    "misattributed": "stand in other answers of {model} than the cited ones (misattributed)",
    "cross_model": "stand in answers of other models than {model} (cross_model)",
    "absence_failed": "do not hold in the answers of {model} (absence_failed)",
    "too_short": "are too short to prove anything about {model} (too_short)",
}
"""What is said of evidence that does not hold, by its class."""


@dataclass(frozen=True)
class Findings:
    """What a check found: ``problems`` make it fail, ``notes`` are worth knowing.

    ``checked`` counts what was looked at, by its name.
    """

    problems: tuple[Problem, ...]
    notes: tuple[Problem, ...] = ()
    checked: Mapping[str, int] = field(default_factory=dict, compare=False)

    @property
    def ok(self) -> bool:
        """True if nothing is wrong."""
        return not self.problems


def check_bundle(path: Path) -> Findings:
    """Check everything about a bundle that can be derived from it again.

    Raises:
        InputError: it can't be opened at all (bundle.yaml or suite.yaml is missing or wrong).
    """
    return check_open_bundle(Bundle.open(path))


def check_archive(path: Path) -> Findings:
    """Check the bundle in a ZIP file, which is unpacked for that into a temporary folder.

    Raises:
        InputError: the archive is not safe to unpack, or the bundle in it can't be opened.
    """
    with tempfile.TemporaryDirectory(prefix="touchstone-") as folder:
        unpacked = unpack_bundle(path, Path(folder))
        findings = check_bundle(unpacked.folder)
    foreign = [
        Problem("foreign_file", path.name, f"holds {name}, which belongs to no bundle")
        for name in unpacked.foreign
    ]
    return Findings(findings.problems, (*findings.notes, *foreign), findings.checked)


def check_open_bundle(bundle: Bundle) -> Findings:
    """Check everything about a bundle that can be derived from it again."""
    return Findings(problems_of(bundle), tuple(_notes(bundle)), _counts(bundle))


def problems_of(bundle: Bundle) -> tuple[Problem, ...]:
    """Return what is wrong with a bundle, without what is only worth knowing."""
    return (
        *_manifest_problems(bundle),
        *_seal_problems(bundle),
        *bundle.answers.problems,
        *bundle.verdicts.problems,
        *bundle.reports.problems,
        *bundle.review_file.problems,
        *bundle.observations.problems,
        *_answer_problems(bundle),
        *_verdict_problems(bundle),
        *_report_problems(bundle),
        *_review_problems(bundle),
    )


def _counts(bundle: Bundle) -> dict[str, int]:
    return {
        "answers": len(bundle.answers),
        "verdicts": len(bundle.verdicts),
        "reports": len(bundle.reports),
        "citations": sum(1 for report in bundle.reports for _ in _cited(report)),
    }


def _manifest_problems(bundle: Bundle) -> Iterator[Problem]:
    manifest = bundle.manifest
    folder = bundle.path.resolve().name
    if folder not in (manifest.id, slug(manifest.id)):  # an archive's folder is called by the slug
        message = f"id is {manifest.id!r}, the folder is called {folder!r}"
        yield Problem("id_mismatch", MANIFEST, message)
    if manifest.suite.id != bundle.suite.id:
        message = f"names suite {manifest.suite.id!r}, {SUITE} is {bundle.suite.id!r}"
        yield Problem("suite_mismatch", MANIFEST, message)
    if manifest.suite.sha256 not in (None, bundle.suite_sha256):
        message = f"{SUITE} was changed after the run: its hash is not the one in {MANIFEST}"
        yield Problem("suite_changed", SUITE, message)
    seen: set[tuple[str, str]] = set()
    for entry in manifest.models:
        if entry.pair in seen:
            yield Problem("duplicate_model", MANIFEST, f"{_name(entry.pair)} stands here twice")
        seen.add(entry.pair)
    if len(manifest.judges) > 1:
        yield Problem("several_judges", MANIFEST, "a bundle has one judge; this one lists more")
    yield from _alias_problems(bundle, seen)


def _alias_problems(bundle: Bundle, pairs: set[tuple[str, str]]) -> Iterator[Problem]:
    aliases = bundle.manifest.aliases
    renamed = [
        ((one.old.model, one.old.variant), (one.to.model, one.to.variant)) for one in aliases.models
    ]
    known_pairs = pairs | followed(dict(reversed(renamed)), pairs).keys()
    for _, target in renamed:
        if target not in known_pairs:
            message = f"an alias leads to {_name(target)}, which is not in {MANIFEST}"
            yield Problem("dangling_alias", MANIFEST, message)
    prompts = {prompt.id for prompt in bundle.suite.prompts}
    known_ids = prompts | followed(aliases.prompts, prompts).keys()
    for old, new in aliases.prompts.items():
        if new not in known_ids:
            message = f"the alias {old!r} leads to {new!r}, which the suite lacks"
            yield Problem("dangling_alias", MANIFEST, message)


def _seal_problems(bundle: Bundle) -> Iterator[Problem]:
    seal, actual = bundle.manifest.sealed, bundle.file_hashes()
    if seal is None:
        return
    for name, sealed in seal.items():
        if name not in actual:
            yield Problem("missing_file", name, f"is sealed in {MANIFEST} but not there")
        elif actual[name] != sealed:
            yield Problem("seal_broken", name, "was changed after it was sealed")
    for name in sorted(set(actual) - set(seal)):
        yield Problem("seal_broken", name, "was added after the bundle was sealed")


def _known_pairs(bundle: Bundle) -> set[tuple[str, str]]:
    return {entry.pair for entry in bundle.manifest.models}


def _answer_problems(bundle: Bundle) -> Iterator[Problem]:
    pairs, prompts = _known_pairs(bundle), {prompt.id for prompt in bundle.suite.prompts}
    for key in bundle.answers.sorted_keys():
        where = f"{ANSWERS}:{bundle.answers.line(key)}"
        if key[:2] not in pairs:
            yield Problem("unknown_model", where, f"{_name(key[:2])} is not in {MANIFEST}")
        if key[2] not in prompts:
            yield Problem("unknown_prompt", where, f"the suite has no prompt {key[2]!r}")


def _verdict_problems(bundle: Bundle) -> Iterator[Problem]:
    judge = bundle.manifest.judge
    for verdict in bundle.verdicts:
        key = (*verdict.pair, verdict.prompt_id)
        where = f"{VERDICTS}:{bundle.verdicts.line(key)}"
        if key not in bundle.answers:
            message = f"there is no answer of {_name(verdict.pair)} to {verdict.prompt_id!r}"
            yield Problem("dangling_verdict", where, message)
        if judge and verdict.judge not in (None, judge.fingerprint):
            yield Problem("other_judge", where, f"is by judge {verdict.judge}, not by the bundle's")


def _report_problems(bundle: Bundle) -> Iterator[Problem]:
    judge = bundle.manifest.judge
    dimensions = {dimension.id for dimension in bundle.suite.dimensions}
    pairs = _known_pairs(bundle)
    for report in bundle.reports:
        where = f"{REPORTS}:{bundle.reports.line(report.pair)}"
        if report.pair not in pairs:
            yield Problem("unknown_model", where, f"{_name(report.pair)} is not in {MANIFEST}")
        for dimension in sorted(set(report.dim_scores) - dimensions):
            message = f"the suite has no dimension {dimension!r}"
            yield Problem("unknown_dimension", where, message)
        if judge and report.judge not in (None, judge.fingerprint):
            yield Problem("other_judge", where, f"is by judge {report.judge}, not by the bundle's")


def _cited(report: ModelReport) -> Iterator[tuple[str, Evidence]]:
    """Yield each item of evidence with its dimension."""
    for dimension, items in report.evidence.items():
        for item in items:
            yield dimension, item


def _citation_notes(bundle: Bundle) -> Iterator[Problem]:
    """Yield each citation of nothing, and for each report what else of its evidence is weak."""
    cited = [(one, *found) for one in bundle.reports for found in _cited(one)]
    findings = checker_of(bundle).check_all((report.pair, item) for report, _, item in cited)
    by_report: dict[tuple[str, str], list[tuple[str, Evidence, EvidenceClass]]] = {}
    for (report, dimension, item), finding in zip(cited, findings, strict=True):
        by_report.setdefault(report.pair, []).append((dimension, item, finding.kind))
    for pair, found in by_report.items():
        where = f"{REPORTS}:{bundle.reports.line(pair)}"
        for dimension, item, kind in found:
            if kind == "dangling":
                message = (
                    f"{dimension} cites {item.prompt_id!r}, which {_name(pair)} did not answer"
                )
                yield Problem("dangling_citation", where, message)
        yield from _weak_evidence(where, pair, found)


def _weak_evidence(
    where: str, pair: tuple[str, str], found: Sequence[tuple[str, Evidence, EvidenceClass]]
) -> Iterator[Problem]:
    """Yield a note for each class of evidence about a model that proves nothing."""
    for kind, said in _WEAK.items():
        places = [
            f"{dimension} at {item.prompt_id!r}" for dimension, item, one in found if one == kind
        ]
        if not places:
            continue
        what = "absences" if kind == "absence_failed" else "quotes"
        of = sum(
            item.kind == "absence" if kind == "absence_failed" else _is_quote(item, one)
            for _, item, one in found
        )
        more = f" and {len(places) - MOST_NAMED} more" if len(places) > MOST_NAMED else ""
        message = (
            f"{len(places)} of {of} {what} {said.format(model=_name(pair))}: "
            f"{', '.join(places[:MOST_NAMED])}{more}"
        )
        code = "unverifiable_quote" if kind == "unverifiable" else "weak_evidence"
        yield Problem(code, where, message)


def _is_quote(item: Evidence, kind: EvidenceClass) -> bool:
    return item.kind == "quote" and kind in QUOTE_CLASSES and kind != "dangling"


def _judge_quality_notes(bundle: Bundle) -> Iterator[Problem]:
    path, _ = bundle.quality_paths
    try:
        with path.open("rb") as stream:
            content = stream.read(MOST_QUALITY_BYTES + 1)
        figures = json.loads(content) if len(content) <= MOST_QUALITY_BYTES else None
    except FileNotFoundError:
        return
    except (OSError, ValueError, RecursionError):
        figures = None
    if not isinstance(figures, dict):
        yield Problem("unreadable_judge_quality", path.name, "can't be read, so it is not shown")
        return
    hashes = figures.get("hashes")
    about = hashes.get("bundle") if isinstance(hashes, dict) else None
    if about != bundle.sha256:
        message = "is about another state of the bundle: the judge was measured before it changed"
        yield Problem("stale_judge_quality", path.name, message)


def _review_problems(bundle: Bundle) -> Iterator[Problem]:
    file = bundle.review_file
    for place, review in zip(file.sorted_keys(), file, strict=True):
        key = (review.model, review.variant, review.prompt_id)
        if key not in bundle.answers:
            message = f"decides on {review.prompt_id!r} of {_name(key[:2])}, which is not there"
            yield Problem("dangling_review", f"{REVIEWS}:{file.line(place)}", message)


def _notes(bundle: Bundle) -> Iterator[Problem]:
    if bundle.manifest.sealed is None:
        yield Problem("unsealed", MANIFEST, "is not sealed: written by hand, or a run was cut off")
    yield from bundle.loaded_suite.warnings
    for group in case_collisions(entry.model for entry in bundle.manifest.models):
        names = ", ".join(group)
        yield Problem("case_collision", MANIFEST, f"models differ only in case: {names}")
    # The judge's mistake, not the bundle's: the site shows it as what it is.
    yield from _citation_notes(bundle)
    yield from _judge_quality_notes(bundle)
    missing = _unanswered(bundle)
    if missing:
        yield Problem("incomplete", ANSWERS, f"{missing} prompts were not asked or not answered")


def _unanswered(bundle: Bundle) -> int:
    pairs, prompts = _known_pairs(bundle), {prompt.id for prompt in bundle.suite.prompts}
    done = sum(
        answer.error is None and answer.pair in pairs and answer.prompt_id in prompts
        for answer in bundle.answers
    )
    return len(pairs) * len(prompts) - done


def _name(pair: tuple[str, ...]) -> str:
    return f"{pair[0]} ({pair[1]})"
