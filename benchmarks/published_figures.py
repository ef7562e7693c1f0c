"""Published figures of judge agreement, each recomputed from the ratings it rests on.

A published figure is a literal as its source prints it; every figure of ours is computed by the
package. Figures marked NOTED are printed by no author we know of: they come from an earlier
computation on the public files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from statistics import fmean

from judge_data import (
    CROWD,
    EXPERTS,
    SUMMARY_DIMENSIONS,
    AnswerKey,
    ChatReply,
    RatedSummary,
    StoryScores,
    read_chat_replies,
    read_judgments,
    read_repeats,
    read_stories,
    read_summaries,
)
from metaeval_values import Checks, checks_of, read_expected, summary_grid
from reproduction_table import Row, digits_of

from touchstone.agreement import (
    exact_share,
    ordinal_alpha,
    paired,
    quadratic_kappa,
    score_table,
)
from touchstone.correlation import kendall_tau_b, pearson, spearman
from touchstone.intervals import rate
from touchstone.model_agreement import mean_over_models

NOTED = " (noted)"
FOOTNOTE = (
    "(noted): printed by no author we know of, but known from an earlier computation on the "
    "public files."
)

# --- where the files are -------------------------------------------------------------------

EXPECTED = ("metaeval", "expected_values.json")
CHAT = ("unieval-topicalchat", "reproduce", "unieval_predict", "dialogue")
CHAT_FILE = "topical_chat_result.json"
SUMMARIES = ("summeval", "annotations.no-articles.jsonl")
STORIES = ("hanna", "hanna_metric_scores_llm.csv")
REPEATED = ("prometheus-eval", "eval", "benchmark", "data")
JUDGMENTS = ("korean-mt-bench", "data", "en", "judgments")

# --- what was published --------------------------------------------------------------------

# maszhongming/UniEval, reproduce/README.md, "Turn Level Correlations": Pearson, Spearman, Kendall.
CHAT_TABLE = {
    "naturalness": ("0.443666", "0.513986", "0.373973"),
    "coherence": ("0.595143", "0.612942", "0.465915"),
    "engagingness": ("0.556510", "0.604739", "0.455941"),
    "groundedness": ("0.536209", "0.574954", "0.451533"),
    "understandability": ("0.380038", "0.467807", "0.360741"),
    "overall": ("0.632796", "0.662583", "0.487272"),
}
# Fabbri et al., "SummEval: Re-evaluating Summarization Evaluation", TACL 9 (2021), section 5.1:
# Krippendorff's alpha of the second round of experts and of the crowd, over 16 systems.
EXPERT_ALPHA, CROWD_ALPHA = "0.7127", "0.4920"
SUMMARY_SYSTEMS = 16
# How far figures may move because a quarter of the systems is missing; more is no explanation.
EXPERT_MOVE, MOST_MOVE = 0.01, 0.05
# dig-team/hanna-benchmark-asg @ 4dc4ce9, rankings/story_spearman.csv, without the human stories.
STORY_METRICS = {
    "Text length ¤§": ("0.224169", "0.271389", "0.473860"),
    "chrF Ξ§": ("0.232675", "0.236491", "0.398089"),
}
STORY_DIMENSIONS = {"Coherence": "CH", "Surprise": "SU", "Complexity": "CX"}
HUMAN_WRITER = "Human"
# NOTED; the lowest and the highest of the four judges that HANNA's README names.
STORY_JUDGE_RANGES = {
    "Coherence": ("0.31", "0.45"),
    "Complexity": ("0.34", "0.50"),
    "Surprise": ("0.18", "0.30"),
}
STORY_JUDGES = ("Beluga-13B", "Llama-13B", "Mistral-7B", "ChatGPT")
FIFTH_STORY_JUDGE = "OrcaPlatypus"
MOST_BY_ROUNDING_TWICE = 0.0055
"""Half a hundredth by the second rounding, half a thousandth by the first."""
# NOTED; answers that got the same score in all three repeats.
EQUAL_REPEATS = {"mt_bench_eval": ("141", "320"), "vicuna_eval": ("199", "320")}
# pnu-clink/korean-mt-bench @ f3af7b8, data/results/table6_single_scores.csv, en_mean and
# en_valid_scores.
JUDGE_MEANS = {
    "Qwen2.5-7B-Instruct": ("7.81", "960"),
    "Qwen2.5-14B-Instruct": ("7.87", "960"),
    "Qwen2.5-32B-Instruct": ("7.66", "958"),
    "EXAONE-3.5-32B-Instruct-AWQ": ("8.05", "954"),
    "gpt-4o-mini": ("7.76", "960"),
    "Gemma-4-12B-it": ("7.51", "957"),
}
# NOTED.
JUDGE_PAIRS = {
    ("Qwen2.5-14B-Instruct", "Qwen2.5-32B-Instruct"): "0.594",
    ("gpt-4o-mini", "Gemma-4-12B-it"): "0.430",
}


def rows_of(data: Path) -> list[Row]:
    """Return every row from the data folder; raise InputError for a file that can't be used."""
    replies = read_chat_replies(data.joinpath(*CHAT, CHAT_FILE))
    expected = read_expected(data.joinpath(*EXPECTED))
    judgments = read_judgments(data.joinpath(*JUDGMENTS))
    return [
        *chat_rows(replies),
        *summary_rows(read_summaries(data.joinpath(*SUMMARIES)), summary_grid(expected)),
        *story_rows(read_stories(data.joinpath(*STORIES), story_columns())),
        *(
            repeats_row(name, read_repeats(data.joinpath(*REPEATED, f"{name}.json")))
            for name in EQUAL_REPEATS
        ),
        *judgment_rows(judgments),
        expected_row(checks_of(expected, replies)),
    ]


# --- one function per data set -------------------------------------------------------------


def chat_rows(replies: Sequence[ChatReply]) -> list[Row]:
    """Return UniEval's table of Topical-Chat: the metric against people, by dimension."""
    rows = []
    for dimension, published in CHAT_TABLE.items():
        pairs = [(reply.metric.get(dimension), reply.human.get(dimension)) for reply in replies]
        ours = tuple(statistic(pairs).value for statistic in (pearson, spearman, kendall_tau_b))
        what = f"{dimension}: Pearson/Spearman/Kendall"
        rows.append(Row("UniEval Topical-Chat", what, published, ours))
    return rows


def summary_rows(summaries: Sequence[RatedSummary], grid: tuple[tuple[int, ...], ...]) -> list[Row]:
    """Return the agreement of SummEval's raters.

    ``grid``: counts of two experts' relevance over all systems, row by row. Where systems are
    missing from the data the figures may differ, and the remark says so.
    """
    systems = len({summary.system for summary in summaries})
    missing = systems < SUMMARY_SYSTEMS
    remark = f"the data hold {systems} of {SUMMARY_SYSTEMS} systems" if missing else ""
    both = f"{remark}; ordinal, where the paper says interval" if missing else ""
    experts = _panel_alpha([summary.experts for summary in summaries], EXPERTS)
    crowd = _panel_alpha([summary.crowd for summary in summaries], CROWD)
    what = "Krippendorff's alpha, four dimensions together"
    few, many = EXPERT_MOVE * missing, MOST_MOVE * missing
    return [
        Row("SummEval", f"experts: {what}", (EXPERT_ALPHA,), (experts,), both, few),
        Row("SummEval", f"crowd: {what}", (CROWD_ALPHA,), (crowd,), both, many),
        *_two_expert_rows(summaries, grid, remark),
    ]


def _panel_alpha(panels: Sequence[Sequence[Mapping[str, int]]], size: int) -> float | None:
    raters = [
        [panel[rater][dimension] for panel in panels for dimension in SUMMARY_DIMENSIONS]
        for rater in range(size)
    ]
    return ordinal_alpha(raters).value


def _two_expert_rows(
    summaries: Sequence[RatedSummary], grid: tuple[tuple[int, ...], ...], remark: str
) -> list[Row]:
    """Return the relevance of experts 1 and 2: kappa and exact share, and where they come from.

    Part of the summaries can have no cell of the grid fuller than all of them have.
    """
    ours = score_table(
        (summary.experts[0]["relevance"], summary.experts[1]["relevance"]) for summary in summaries
    )
    within = sum(
        count <= whole
        for counts, wholes in zip(ours.counts, grid, strict=True)
        for count, whole in zip(counts, wholes, strict=True)
    )
    source, what = f"SummEval{NOTED}", "experts 1 and 2, relevance"
    # metaeval/expected_values.json, summeval_relevance_1600: qwk and exact.
    published = ("0.581662", "0.4225")
    values = (quadratic_kappa(ours).value, exact_share(ours).value)
    bound = MOST_MOVE if remark else 0.0
    return [
        Row(source, f"{what}: kappa/exact", published, values, remark, bound),
        Row(
            source,
            f"{what}: cells of the 5x5 grid not above the published",
            ("25",),
            (within,),
            "what is missing from the data is missing systems, not other scores",
        ),
    ]


def story_columns() -> list[str]:
    """Return the columns of HANNA's table that the rows need."""
    short = STORY_DIMENSIONS.values()
    return [
        *STORY_DIMENSIONS,
        *STORY_METRICS,
        *(f"Human {rater} {name}" for rater in (1, 2, 3) for name in short),
        *(f"{judge} {name} 1" for judge in (*STORY_JUDGES, FIFTH_STORY_JUDGE) for name in short),
    ]


def story_rows(stories: StoryScores) -> list[Row]:
    """Return HANNA's judges and metrics against the mean of three people, Spearman by story."""
    rows = [_judges_row(stories, *published) for published in STORY_JUDGE_RANGES.items()]
    for metric, published in STORY_METRICS.items():
        pairs = (
            zip(
                stories.column(metric, without=HUMAN_WRITER),
                stories.column(dimension, without=HUMAN_WRITER),
                strict=True,
            )
            for dimension in STORY_DIMENSIONS
        )
        name = metric.rpartition(" ")[0]
        what = f"{name}: Spearman, {'/'.join(STORY_DIMENSIONS).lower()}"
        remark = "a metric, no judge; without the human stories, as its table"
        rows.append(
            Row("HANNA", what, published, tuple(spearman(one).value for one in pairs), remark)
        )
    return rows


def _judges_row(stories: StoryScores, dimension: str, published: tuple[str, ...]) -> Row:
    """Return the lowest and the highest of the judges on one dimension."""
    ours = _range([_judge_on_stories(stories, judge, dimension) for judge in STORY_JUDGES])
    fifth = _judge_on_stories(stories, FIFTH_STORY_JUDGE, dimension)
    remark = f"first prompt, 4 judges its README names; {FIFTH_STORY_JUDGE} {_text(fifth, 2)}"
    row = Row(
        source=f"HANNA{NOTED}",
        what=f"{dimension.lower()}: judges against human mean, Spearman",
        published=published,
        ours=ours,
        remark=remark,
        between="-",
    )
    if not row.reproduced and all(map(_rounded_twice, ours, published)):
        lowest, highest = (_text(value, 4) for value in ours)
        twice = f"{lowest}-{highest} rounded twice, by way of three decimals, is the noted"
        return replace(row, remark=f"{remark}; {twice}", explains=MOST_BY_ROUNDING_TWICE)
    return row


def _rounded_twice(value: float | None, printed: str) -> bool:
    """Return whether a figure is printed from one that had been rounded to one decimal more."""
    if value is None:
        return False
    digits = digits_of(printed)
    once = Decimal(value).quantize(Decimal(10) ** -(digits + 1), ROUND_HALF_UP)
    return once.quantize(Decimal(10) ** -digits, ROUND_HALF_UP) == Decimal(printed)


def _judge_on_stories(stories: StoryScores, judge: str, dimension: str) -> float | None:
    short = STORY_DIMENSIONS[dimension]
    people = (stories.column(f"Human {rater} {short}") for rater in (1, 2, 3))
    human_mean = map(fmean, zip(*people, strict=True))
    return spearman(zip(stories.column(f"{judge} {short} 1"), human_mean, strict=True)).value


def _range(values: Sequence[float | None]) -> tuple[float | None, float | None]:
    known = [value for value in values if value is not None]
    return (min(known), max(known)) if len(known) == len(values) else (None, None)


def _text(value: float | None, digits: int) -> str:
    return "undefined" if value is None else f"{value:.{digits}f}"


def repeats_row(name: str, answers: Sequence[Sequence[int]]) -> Row:
    """Return how many answers a judge gave the same score each time."""
    equal = rate(sum(len(set(scores)) == 1 for scores in answers), len(answers))
    what = f"{name}: the same score in all three repeats"
    return Row(f"prometheus-eval{NOTED}", what, EQUAL_REPEATS[name], (equal.count, equal.n))


def judgment_rows(judgments: Mapping[str, Mapping[AnswerKey, float | None]]) -> list[Row]:
    """Return Korean MT-Bench's judges: mean and count of the scores read, and two pairs."""
    rows = []
    for judge, published in JUDGE_MEANS.items():
        mean = mean_over_models(judgments.get(judge, {}).values())
        what = f"{judge}: mean/number of English scores"
        rows.append(Row("Korean MT-Bench", what, published, (mean.value, mean.n)))
    for (one, two), printed in JUDGE_PAIRS.items():
        rho = spearman(paired(judgments.get(one, {}), judgments.get(two, {})))
        remark = f"{rho.n} answers both scores of which could be read"
        what = f"{one} against {two}: Spearman"
        rows.append(Row(f"Korean MT-Bench{NOTED}", what, (printed,), (rho.value,), remark))
    return rows


def expected_row(checks: Checks) -> Row:
    """Return how many of the expected values come out, and by name those that don't."""
    failed = [check.name for check in checks.done if not check.agrees]
    reproduced = len(checks.done) - len(failed)
    remark = f"not: {', '.join(failed)}; " if failed else ""
    remark += f"the file's other values need {checks.left_out}"
    what = f"{reproduced} of {len(checks.done)} values reproduced"
    published = (str(len(checks.done)),)
    return Row("metaeval/expected_values", what, published, (reproduced,), remark)
