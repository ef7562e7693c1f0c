"""The meta-evaluation of a judge: request, response, agreement, rubric, result (ADR-0013). Pure."""

from __future__ import annotations

from touchstone.gui.judge_meta.figures import JudgeAgreement, compute_agreement
from touchstone.gui.judge_meta.flags import FlagAgreement, compare_flags, panel_flags
from touchstone.gui.judge_meta.form import (
    Asked,
    Part,
    Reference,
    ResponseForm,
    is_unfilled,
    read_response,
    references_of,
    render_response_form,
    request_hashes,
)
from touchstone.gui.judge_meta.quality import JudgeQuality, assess_judge, headline, quality_json
from touchstone.gui.judge_meta.quality_md import render_judge_quality_md
from touchstone.gui.judge_meta.request import render_request_md, request_words
from touchstone.gui.judge_meta.rubric import Rubric, aggregate_rubric

__all__ = [
    "Asked",
    "FlagAgreement",
    "JudgeAgreement",
    "JudgeQuality",
    "Part",
    "Reference",
    "ResponseForm",
    "Rubric",
    "aggregate_rubric",
    "assess_judge",
    "compare_flags",
    "compute_agreement",
    "headline",
    "is_unfilled",
    "panel_flags",
    "quality_json",
    "read_response",
    "references_of",
    "render_judge_quality_md",
    "render_request_md",
    "render_response_form",
    "request_hashes",
    "request_words",
]
