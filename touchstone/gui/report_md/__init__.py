"""The portable report: a whole bundle as one Markdown document (GitHub flavour). Pure.

Nothing in a bundle can take part in the document's structure. What a suite or a model says word
for word stands in a fence that it cannot close; what a judge or a reviewer wrote stands escaped, in
block quotes and list items; names are escaped. There are no links and no table of contents:
readers of Markdown disagree about the slug of a heading that holds foreign names, while an id such
as ``E1`` can be searched for.
"""

from __future__ import annotations

from touchstone.gui.report_md.data import Hashes, ReportData
from touchstone.gui.report_md.markdown import fenced, plain, quoted
from touchstone.gui.report_md.sections import (
    render_report_md,
    section_gate,
    section_master_scorecard,
    section_model,
    section_overview,
    section_prompt,
    section_provenance,
)
from touchstone.gui.report_md.task import _eval_task

__all__ = [
    "Hashes",
    "ReportData",
    "_eval_task",
    "fenced",
    "plain",
    "quoted",
    "render_report_md",
    "section_gate",
    "section_master_scorecard",
    "section_model",
    "section_overview",
    "section_prompt",
    "section_provenance",
]
