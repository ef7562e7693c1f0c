"""``touchstone report``: a bundle as one portable Markdown document."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import click

from touchstone.bundle import Bundle
from touchstone.cli.common import BUNDLE_PATH, say, shown, stderr_console
from touchstone.cli.score import MODELS, chosen_rows, rows_of
from touchstone.files import write_atomic
from touchstone.gui.report_md import Hashes, ReportData, render_report_md
from touchstone.scorecard import effective_flags


@click.command("report", epilog="Example: touchstone report bundles/office-2026-12 -o office.md")
@click.argument("path", metavar="BUNDLE", type=BUNDLE_PATH)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the report here. Default: print it.",
)
@click.option(
    "--lang",
    "language",
    type=click.Choice(["en", "de"]),
    help="Language of the report. Default: the suite's, where it is one of these, else English.",
)
@MODELS
@click.option(
    "--no-answers",
    is_flag=True,
    help="Leave out the answers, and the evaluation task, which needs them. What the judge quotes "
    "from them stays.",
)
def command(
    path: Path, output: Path | None, language: str | None, models: tuple[str, ...], no_answers: bool
) -> None:
    """Write BUNDLE as one Markdown document that can be mailed, filed or given to an AI.

    It holds the scorecard, the K.-o. gate with its reasons, a report on each model with the
    evidence, all prompts and answers, and a task for an outside reader who is to rate the models.
    Nothing in an answer can break out of its place in the document.
    """
    bundle = Bundle.open(path)
    data = report_data(bundle, models, language, with_answers=not no_answers)
    console = stderr_console()
    with console.status("Looking up quotes …") if console.is_terminal else nullcontext():
        text = render_report_md(data)
    if output is None:
        click.echo(text, nl=False)
    else:
        write_atomic(output, text.encode())
        say(f"Wrote {output}: {len(data.entries)} models, {len(data.suite.prompts)} prompts.")


def report_data(
    bundle: Bundle, models: tuple[str, ...], language: str | None, *, with_answers: bool
) -> ReportData:
    """Return what the report of a bundle is made from, or raise if a record can't be read.

    ``models`` are NAME or NAME/VARIANT; without any, all are in it.
    """
    bundle.answers.require_clean()
    for torn in bundle.answers.problems:
        say(f"note: {shown(str(torn))}")
    rows = rows_of(bundle)
    return ReportData(
        manifest=bundle.manifest,
        suite=bundle.suite,
        rows=chosen_rows(rows, models),
        answers={(*answer.pair, answer.prompt_id): answer for answer in bundle.answers},
        flags=effective_flags(bundle.verdicts, bundle.reviews()),
        hashes=Hashes(bundle.suite_sha256, bundle.answers_sha256, bundle.sha256),
        language=language or bundle.suite.language,
        with_answers=with_answers,
    )
