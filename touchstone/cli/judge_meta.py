"""``touchstone judge-meta``: who judges the judge (ADR-0013)."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from touchstone.bundle import Bundle, BundleWriter, write_bundle
from touchstone.cli.common import BUNDLE_PATH, print_json, say, shown
from touchstone.cli.judge_meta_compare import command as compare
from touchstone.cli.report import report_data
from touchstone.errors import BundleError, ExchangeError, Problem, UsageError
from touchstone.gui.judge_meta import (
    Asked,
    Part,
    Reference,
    ResponseForm,
    assess_judge,
    is_unfilled,
    quality_json,
    read_response,
    references_of,
    render_judge_quality_md,
    render_request_md,
    render_response_form,
    request_hashes,
    request_words,
)
from touchstone.gui.report_md import ReportData
from touchstone.models import JudgeEntry, Suite
from touchstone.probe_records import basis_of
from touchstone.probe_summary import ProbeSummary, summarise
from touchstone.scorecard import effective_flags, master_rows
from touchstone.yaml_source import decode_text, read_bytes, read_text

PARTS: tuple[Part, ...] = ("a", "b", "both")
LANGUAGE = click.option(
    "--lang",
    "language",
    type=click.Choice(["en", "de"]),
    help="Language of what is written. Default: the suite's, where it is one of these, else "
    "English.",
)


@click.group(
    "judge-meta",
    epilog="Example: touchstone judge-meta export bundles/office, fill in the form, then: "
    "touchstone judge-meta ingest bundles/office",
)
def command() -> None:
    """Measure a judge: have its judgement checked by an outside AI or a person.

    Export a request, have its form filled in by someone who is not the judge, ingest the form. No
    key and no network is needed.
    """


command.add_command(compare)


# --- export --------------------------------------------------------------------------------


@command.command(
    "export",
    short_help="Write the request and the empty form.",
    epilog="Example: touchstone judge-meta export bundles/office --part a",
)
@click.argument("path", metavar="BUNDLE", type=BUNDLE_PATH)
@click.option(
    "--part",
    type=click.Choice(PARTS),
    default="both",
    help="both: one file, the own rating (A) before the critique (B). a, then b: two passes, so "
    "that the rating is blind. Default: both.",
)
@LANGUAGE
def export(path: Path, part: Part, language: str | None) -> None:
    """Write the request of BUNDLE's meta-evaluation and the empty form for the response.

    Part A asks for a fresh rating and shows no local score. Part B shows the judge's scores and
    reasons, for critique; alone it is handed out once a part A has been ingested. A form that is
    filled in and not ingested yet is kept.
    """
    with write_bundle(path) as writer:
        bundle = writer.bundle
        data, asked = _material(bundle, language, judged=part != "a")
        taken = _stored(bundle, asked)
        if part == "b" and not any(one.form.part == "a" for one in taken):
            raise UsageError(
                "There is no part A yet, and part B would show what it must not know.",
                hint=f"First: touchstone judge-meta export {path} --part a, and ingest it.",
            )
        request, form = bundle.meta_paths(part)
        writer.write_exchange(request, render_request_md(data, part, asked.hashes[part], form.name))
        head = request_words(data.language)["form_text"]
        empty = render_response_form(asked, part, bundle.id, head)
        if form.exists() and not _may_be_replaced(form, taken):
            say(f"{form}: kept, because it is filled in (move it away to get an empty one)")
        else:
            writer.write_exchange(form, empty)
    say(f"Wrote {request}. Have {form.name} filled in, then: touchstone judge-meta ingest {path}")


def _is_empty_form(form: Path) -> bool:
    try:
        return is_unfilled(read_text(form, ExchangeError))
    except ExchangeError:
        return False


def _may_be_replaced(form: Path, taken: Sequence[Response]) -> bool:
    """Say whether nothing is lost with a form: it is empty, or kept under its evaluator's id."""
    return _is_empty_form(form) or form.read_bytes() in {one.content for one in taken}


def _material(bundle: Bundle, language: str | None, *, judged: bool) -> tuple[ReportData, Asked]:
    """Return what a request is made of: the judge's own view, without later decisions."""
    bundle.reports.require_clean()
    data = report_data(bundle, (), language, with_answers=True)
    rows = master_rows(bundle.suite, bundle.manifest.models, bundle.reports, bundle.verdicts)
    data = replace(data, rows=rows, flags=effective_flags(bundle.verdicts))
    tried = {key[:2] for key in data.answers}
    answered = {
        entry.pair: [one.prompt_id for one in data.answers_of(entry.pair) if not one.is_empty]
        for entry in data.entries
        if entry.pair in tried
    }
    if not answered:
        raise BundleError(f"{bundle.path} holds no answers that could be rated.")
    if judged and not any(row.report for row in rows):
        raise BundleError(
            f"{bundle.path} holds no reports: there is no judgement to look at.",
            hint=f"Judge it first: touchstone judge {bundle.path} --judge NAME",
        )
    hashes = request_hashes(bundle.suite_sha256, bundle.answers_sha256, bundle.reports)
    return data, Asked(bundle.suite, answered, hashes, bundle.manifest.judge)


# --- ingest --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Response:
    """A valid response, and the bytes of the file it was read from."""

    form: ResponseForm
    name: str
    content: bytes

    @property
    def key(self) -> tuple[str, Part]:
        """Evaluator and part: a later response of the same key replaces this one."""
        return self.form.key, self.form.part


@command.command(
    "ingest",
    short_help="Take filled forms, write the judge's quality.",
    epilog="Example: touchstone judge-meta ingest bundles/office",
)
@click.argument("path", metavar="BUNDLE", type=BUNDLE_PATH)
@click.argument(
    "files",
    metavar="[FILE]...",
    nargs=-1,
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
)
@LANGUAGE
@click.option("--json", "as_json", is_flag=True, help="Print judge_quality.json as well.")
def ingest(path: Path, files: tuple[Path, ...], language: str | None, as_json: bool) -> None:
    """Take filled forms, all of them or none, and write BUNDLE's judge quality.

    Without FILE the filled forms in the bundle are taken. Each evaluator's response is kept there
    under its id; another one by the same evaluator replaces it. A part A that came alone is frozen.
    """
    with write_bundle(path) as writer:
        bundle = writer.bundle
        data, asked = _material(bundle, language, judged=True)
        stored = _stored(bundle, asked)
        given = _read_all(list(files) or _filled_forms(bundle, stored), asked)
        _refuse_repeats(given)
        _note_edited_requests(bundle, data, asked, {one.form.part for one in given})
        kept = _merged(bundle, stored, given)
        references = _references(kept)
        result = _write_quality(writer, data, asked, references, kept)
    if as_json:
        print_json(result)
    else:
        click.echo(shown(str(result["headline"])))
    count = f"{len(references)} reference{'s' if len(references) != 1 else ''}"
    say(f"Wrote the judge quality of {path}, against {count}.")


def refresh_quality(writer: BundleWriter) -> bool:
    """Work out the judge quality of a bundle again, if it has been compared with a reference."""
    bundle = writer.bundle
    if not bundle.meta_responses():
        return False
    data, asked = _material(bundle, None, judged=True)
    kept = _stored(bundle, asked)
    if not any(one.form.part != "b" for one in kept):
        return False
    kept = _merged(bundle, kept, ())
    _write_quality(writer, data, asked, _references(kept), kept)
    return True


def _references(kept: Sequence[Response]) -> list[Reference]:
    return references_of([(one.form, hashlib.sha256(one.content).hexdigest()) for one in kept])


def _write_quality(
    writer: BundleWriter,
    data: ReportData,
    asked: Asked,
    references: Sequence[Reference],
    kept: Sequence[Response],
) -> dict[str, Any]:
    """Keep the responses and write what follows from them; return judge_quality.json."""
    probes, order = _probes(writer.bundle), reading_order(data.suite, data.manifest.judge)
    quality = assess_judge(data, references, asked.hashes, probes, order)
    result = quality_json(quality)
    _keep(writer, kept)
    writer.write_judge_quality(_json_text(result), render_judge_quality_md(quality))
    return result


def reading_order(suite: Suite, judge: JudgeEntry | None) -> list[str]:
    """Return the prompt ids as the judge read them: the suite's, or shuffled with its seed."""
    order = [prompt.id for prompt in suite.prompts]
    seed = judge.parameters.get("order_seed") if judge else None
    if type(seed) is int:
        random.Random(seed).shuffle(order)  # noqa: S311
    return order


def _probes(bundle: Bundle) -> ProbeSummary | None:
    judge = bundle.manifest.judge
    if judge is None:
        return None
    bundle.observations.require_clean()
    basis = basis_of(bundle.suite_sha256, bundle.answers_sha256)
    return summarise(bundle.observations, judge=judge.fingerprint, basis=basis)


def _json_text(result: object) -> str:
    """Return the result as JSON; half a character, which UTF-8 can't hold, stands escaped in it."""
    text = json.dumps(result, ensure_ascii=False, indent=2) + "\n"
    return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)


def _filled_forms(bundle: Bundle, stored: Sequence[Response]) -> list[Path]:
    forms = [form for part in PARTS if (form := bundle.meta_paths(part)[1]).is_file()]
    filled = [form for form in forms if not _is_empty_form(form)]
    if not filled and not stored:
        raise ExchangeError(
            f"{bundle.path} holds no filled form.",
            hint=f"Write one with: touchstone judge-meta export {bundle.path}",
        )
    known = {one.content for one in stored}
    return [form for form in filled if form.read_bytes() not in known]


def _stored(bundle: Bundle, asked: Asked) -> list[Response]:
    """Return the responses kept in a bundle; what fits it no longer is left out, and that said."""
    found = []
    for path in bundle.meta_responses():
        try:
            found.append(_read(path, asked))
        except ExchangeError as failure:
            say(f"note: {path.name} is left out: {shown(str(failure))}")
    return found


def _read(path: Path, asked: Asked) -> Response:
    content = read_bytes(path, ExchangeError)
    text = decode_text(content, path.name, ExchangeError)
    return Response(read_response(text, path.name, asked), path.name, content)


def _read_all(paths: Sequence[Path], asked: Asked) -> list[Response]:
    found: list[Response] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            found.append(_read(path, asked))
        except ExchangeError as failure:
            problems += failure.problems or [Problem("form", path.name, failure.message)]
    if problems:
        raise _refused(problems)
    return found


def _refused(problems: Sequence[Problem]) -> ExchangeError:
    return ExchangeError(
        "The responses can't be taken; nothing was changed:",
        problems,
        hint="Mend these lines and run the same command again.",
    )


def _note_edited_requests(
    bundle: Bundle, data: ReportData, asked: Asked, parts: Collection[Part]
) -> None:
    """Say which request is not what would be exported now; its reader may have seen other text."""
    for part in sorted(parts):
        request, form = bundle.meta_paths(part)
        if request.is_file():
            now = {
                render_request_md(replace(data, language=one), part, asked.hashes[part], form.name)
                for one in (data.language, "en", "de")
            }
            if request.read_bytes() not in {text.encode("utf-8", "surrogatepass") for text in now}:
                say(
                    f"note: {request.name} is not what this bundle exports (it was edited, or "
                    "written by another version); its reader may have seen other text."
                )


def _refuse_repeats(given: Sequence[Response]) -> None:
    seen: dict[tuple[str, Part], str] = {}
    for one in given:
        if one.key in seen:
            message = f"is by the same evaluator as {seen[one.key]}"
            raise _refused([Problem("repeated", one.name, message)])
        seen[one.key] = one.name


def _merged(
    bundle: Bundle, stored: Sequence[Response], given: Sequence[Response]
) -> list[Response]:
    """Return what holds after this: the new responses, and the old that none replaces."""
    old = {one.key: one for one in stored}
    problems = [found for one in given if (found := _out_of_order(old, one)) is not None]
    if problems:
        raise _refused(problems)
    for one in given:
        if one.form.part == "both":
            old.pop((one.form.key, "a"), None)
            old.pop((one.form.key, "b"), None)
        old[one.key] = one
    for key in [key for key in old if key[1] == "b" and (key[0], "a") not in old]:
        say(f"note: {old.pop(key).name} is left out: its part A is missing")
    if not old:
        raise ExchangeError(f"{bundle.path} holds no response that fits it.")
    return list(old.values())


def _out_of_order(old: Mapping[tuple[str, Part], Response], one: Response) -> Problem | None:
    """Return what would make a reference less than blind, or None.

    Part A is ingested before part B is handed out. From then on it is frozen, because with it the
    judge's scores have been shown; an evaluator who has seen them can't begin anew.
    """
    evaluator, part = one.key
    name, before = one.form.evaluator.id, old.get((evaluator, "a"))
    if part == "b" and before is None:
        message = f"there is no part A by {name} yet: ingest that first"
        return Problem("no_part_a", one.name, message)
    if part == "a" and (evaluator, "both") in old:
        message = f"{name} has seen the judge's scores in part B and is no longer blind"
        return Problem("not_blind", one.name, message)
    if part == "a" and before is not None and before.content != one.content:
        message = f"part A by {name} was ingested already and is frozen since"
        return Problem("frozen", one.name, message)
    return None


def _keep(writer: BundleWriter, kept: Sequence[Response]) -> None:
    """Store the responses byte for byte, and remove those that one of both parts has replaced."""
    bundle = writer.bundle
    for one in kept:
        writer.write_response(bundle.meta_response(one.form.key, one.form.part), one.content)
    for one in kept:
        if one.form.part == "both":
            for part in ("a", "b"):
                bundle.meta_response(one.form.key, part).unlink(missing_ok=True)
