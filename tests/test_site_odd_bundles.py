"""Bundles nobody had in mind: each gets pages that are whole, and say what there is to say.

All of them are bundles of one site, which is built once.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import answer, review, verdict
from site_bundles import Structure, build, read, structure_of

Record = Mapping[str, Any]
SAFETY = {"dimension": "Q3", "threshold": 2}
DIMENSIONS: list[dict[str, Any]] = [
    {"id": "Q1", "name": {"en": "Correctness", "de": "Korrektheit"}, "weight": 3},
    {"id": "Q2", "name": "Tone", "weight": 2},
    {"id": "Q3", "name": "Safety", "weight": 1, "levels": {"1": "harm", "5": "best"}},
]
PROMPTS: list[dict[str, Any]] = [
    {"id": one, "text": f"Do {one} in a few words."} for one in ("E1", "E2", "D1")
]


def suite(**changes: Any) -> dict[str, Any]:
    """Return a small suite; a change to None takes a key away."""
    whole = {
        "format": 1,
        "id": "odd",
        "title": "Odd",
        "language": "en",
        "dimensions": DIMENSIONS,
        "ko_rule": SAFETY,
        "prompts": PROMPTS,
    }
    return {key: value for key, value in (whole | changes).items() if value is not None}


def answers(*models: str, prompts: Iterable[str] = ("E1", "E2", "D1")) -> list[Record]:
    ids = list(prompts)
    return [answer(one, model, f"{model} says this at {one}.") for model in models for one in ids]


def report(model: str, *scores: int | None, **more: Any) -> Record:
    """Return a report with scores for Q1, Q2 …"""
    given = {f"Q{number}": score for number, score in enumerate(scores, start=1)}
    return {"model": model, "variant": "default", "dim_scores": given, **more}


def flags(model: str, *colours: str | None) -> list[Record]:
    ids = (prompt["id"] for prompt in PROMPTS)
    return [verdict(one, colour, model) for one, colour in zip(ids, colours, strict=False)]


def write(
    folder: Path,
    models: Iterable[str | Record] = ("alpha",),
    *,
    of: Mapping[str, Any] | None = None,
    records: Mapping[str, Any] | None = None,
    **manifest: Any,
) -> None:
    """Write a bundle; ``records`` maps answers, verdicts … to what stands in that file."""
    folder.mkdir()
    entries = [{"model": one} if isinstance(one, str) else dict(one) for one in models]
    whole = {"format": 1, "id": folder.name, "suite": {"id": "odd"}, "models": entries}
    for name, data in (("suite", of or suite()), ("bundle", whole | manifest)):
        text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    for name, lines in (records or {}).items():
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


def quoting(model: str, prompt: str, quote: str, **more: Any) -> dict[str, Any]:
    """Return a report's evidence for Q1."""
    return {"evidence": {"Q1": [{"prompt_id": prompt, "quote": quote, **more}]}}


# --- the bundles ---------------------------------------------------------------------------


def no_models(folder: Path) -> None:
    write(folder, [], records={"answers": answers("ghost")})


def no_answers(folder: Path) -> None:
    write(folder, ["alpha", "beta"])


def no_verdicts(folder: Path) -> None:
    reports = [report("alpha", 4, 3, 5), report("beta", 4, 3, 1)]
    write(
        folder, ["alpha", "beta"], records={"answers": answers("alpha", "beta"), "reports": reports}
    )


def no_reports(folder: Path) -> None:
    verdicts = [*flags("alpha", "green", "green", "green"), *flags("beta", "red")]
    write(
        folder,
        ["alpha", "beta"],
        records={"answers": answers("alpha", "beta"), "verdicts": verdicts},
    )


def no_rule(folder: Path) -> None:
    records = {"answers": answers("alpha"), "verdicts": flags("alpha", "red")}
    write(folder, of=suite(ko_rule=None), records=records | {"reports": [report("alpha", 1, 1, 1)]})


def model_twice(folder: Path) -> None:
    records = {"answers": answers("alpha"), "reports": [report("alpha", 4, 3, 5)]}
    write(folder, ["alpha", "beta", "alpha"], records=records)


def answer_twice(folder: Path) -> None:
    records = {
        "answers": [*answers("alpha"), answer("E1", text="A second answer.")],
        "verdicts": flags("alpha", "green", "green", "green"),
        "reports": [report("alpha", 4, 3, 5)],
    }
    write(folder, records=records)


def verdict_twice(folder: Path) -> None:
    verdicts = [*flags("alpha", "green", "green", "green"), verdict("E1", "red")]
    records = {"answers": answers("alpha"), "verdicts": verdicts}
    write(folder, records=records | {"reports": [report("alpha", 4, 3, 5)]})


def torn(folder: Path) -> None:
    write(folder, records={"answers": answers("alpha"), "reports": [report("alpha", 4, 3, 5)]})
    with (folder / "answers.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"model": "al')


def unknown(folder: Path) -> None:
    records = {
        "answers": [*answers("alpha"), answer("E1", "ghost"), answer("X9")],
        "verdicts": [*flags("alpha", "green", "green", "green"), verdict("X9", "red")],
        "reports": [report("alpha", 4, 3, 5, 1), report("ghost", 5)],
        "reviews": [review("X9", "reject")],
    }
    write(folder, records=records)


def file_is_a_folder(folder: Path) -> None:
    write(folder)
    (folder / "answers.jsonl").mkdir()


def failed_answer_with_text(folder: Path) -> None:
    failed = answer("E1", text="Partial words that then broke off.")
    failed["error"] = {"type": "server", "message": "gone\naway", "status": 503}
    told = report("alpha", 2, **quoting("alpha", "E1", "Partial words"))
    write(folder, records={"answers": [failed, answer("E2", text=" \n")], "reports": [told]})


def section_names(folder: Path) -> None:
    names = ("answers", "Profile", "marks", "levels", "a/b", "Tone of voice", "<b>", "h")
    dimensions = [{"id": one, "name": one, "weight": 1} for one in names]
    told: dict[str, Any] = {"model": "alpha", "variant": "default"}
    told["dim_scores"] = dict.fromkeys(names, 4)
    told["evidence"] = {one: [{"prompt_id": "E1", "quote": "alpha says this"}] for one in names}
    rule = {"dimension": "a/b", "threshold": 2}
    records = {"answers": answers("alpha"), "reports": [told]}
    write(folder, of=suite(dimensions=dimensions, ko_rule=rule), records=records)


def variant_names(folder: Path) -> None:
    pairs = [("a", "b"), ("a", "b.h"), ("a", "b--h"), ("a", "b#2"), ("A", "b"), ("a/b", "x")]
    models = [{"model": model, "variant": variant} for model, variant in pairs]
    write(folder, models, records={"answers": [answer("E1", "a") | {"variant": "b#2"}]})


def many_models(folder: Path) -> None:
    names = [f"model-{number:02}" for number in range(12)]
    colours = [verdict("E1", "green" if one < names[7] else "red", one) for one in names]
    models = [{"model": one, "label": f"Label of {one}"} for one in names]
    records = {"answers": answers(*names), "verdicts": colours}
    write(folder, models, records=records)


def many_dimensions(folder: Path) -> None:
    dimensions = [{"id": f"Q{n}", "name": f"Quality {n}", "weight": n} for n in range(1, 31)]
    records = {"answers": answers("alpha"), "reports": [report("alpha", *([3] * 30))]}
    write(folder, of=suite(dimensions=dimensions), records=records)


def titles(folder: Path) -> None:
    prompts = [{"id": "E1", "text": "Write.", "title": "  "}]
    of = suite(prompts=prompts, dimensions=[{"id": "Q3", "name": "", "weight": 1}])
    write(folder, [{"model": " ", "variant": " "}], of=of, title={"en": ""})


def slot_names(folder: Path) -> None:
    write(folder, title="TOUCHSTONE-SLOT-BODY _shell.html body-0 <!--<h1-->")


def german(folder: Path) -> None:
    dimensions = [
        {"id": "Q1", "name": {"de": "Korrektheit", "en": "Correctness"}, "weight": 1},
        {"id": "Q3", "name": {"fr": "Sûreté"}, "weight": 1},
    ]
    prompts = [{"id": "E1", "text": "Schreib.", "title": {"de": "Notiz"}, "expectation": "Kürze"}]
    of = suite(language="de", dimensions=dimensions, prompts=prompts)
    issues = [{"dimension": "Q3", "reason": "fractional score"}]
    told = report("alpha", 4, parse_issues=issues, dim_rationales={"Q1": "Gut bei E1."})
    records = {"answers": answers("alpha", prompts=["E1"]), "reports": [told]}
    write(folder, of=of, records=records, title={"de": "Büroalltag"})


def decisions(folder: Path) -> None:
    records = {
        "answers": answers("alpha"),
        "verdicts": flags("alpha", "green", "green", "green"),
        "reports": [
            report("alpha", 4, 3, 5, **quoting("alpha", "E1", "alpha says", polarity="strength"))
        ],
        "reviews": [review("E1", "flag:red", "It names her."), review("E1", "accept")],
    }
    write(folder, records=records)


def dialogue(folder: Path) -> None:
    turns = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hi."},
        {"role": "user", "content": "Bye"},
    ]
    prompts = [
        {"id": "C1", "messages": turns},
        {"id": "C2", "text": "And?", "follows": "C1", "system": "S"},
    ]
    write(folder, of=suite(prompts=prompts), records={"answers": answers("alpha", prompts=["C1"])})


def hostile_id(folder: Path) -> None:
    write(folder, ["x; rm -rf ~"], id="$(reboot)")


ODD: dict[str, Callable[[Path], None]] = {
    function.__name__.replace("_", "-"): function
    for function in (
        *(no_models, no_answers, no_verdicts, no_reports, no_rule, model_twice, answer_twice),
        *(verdict_twice, torn, unknown, file_is_a_folder, failed_answer_with_text, section_names),
        *(variant_names, many_models, many_dimensions, titles, slot_names, german, decisions),
        *(dialogue, hostile_id),
    )
}
UNREADABLE = ("verdict-twice", "file-is-a-folder")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bundles = tmp_path_factory.mktemp("odd") / "bundles"
    bundles.mkdir()
    for name, make in ODD.items():
        make(bundles / name)
    return build(bundles)


def page(site: Path, name: str) -> Structure:
    """Return a page of a bundle, read strictly."""
    return structure_of(read(site, f"bundles/{name}"))


# --- what holds for all of them ------------------------------------------------------------


@pytest.mark.parametrize("name", [one for one in ODD if one not in (*UNREADABLE, "hostile-id")])
def test_every_page_is_whole(site: Path, name: str) -> None:
    pages = sorted((site / "bundles" / name).rglob("*.html"))
    assert len(pages) >= 4
    wrong = {one.name: structure_of(one.read_text(encoding="utf-8")).wrong for one in pages}
    assert {one: found for one, found in wrong.items() if found} == {}


def test_the_sites_own_pages_are_whole(site: Path) -> None:
    for name in ("index.html", "method.html"):
        assert structure_of(read(site, name)).wrong == []


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_on_the_index_with_its_reason(site: Path, name: str) -> None:
    assert not (site / "bundles" / name).exists()
    index = structure_of(read(site, "index.html")).text
    _, _, rest = index.partition(f" {name} This bundle can’t be read")
    reason = {"verdict-twice": "E1 stands here twice", "file-is-a-folder": "answers.jsonl can't"}
    assert reason[name] in rest.partition("See what is wrong with it")[0]


def test_without_a_rule_nothing_leads_to_a_ko_page(site: Path) -> None:
    assert not (site / "bundles/no-rule/ko").exists()
    for one in (site / "bundles/no-rule").rglob("*.html"):
        found = structure_of(one.read_text(encoding="utf-8"))
        assert not [url for url, _ in found.links if "ko/" in url], one.name
    assert "no gate" in page(site, "no-rule/index.html").text


# --- what each of them says ----------------------------------------------------------------


def test_a_bundle_without_models_says_so_and_shows_its_prompts(site: Path) -> None:
    scorecard = page(site, "no-models/index.html")
    assert "The bundle lists no models." in scorecard.text
    assert ("prompts/E1.html", "E1") in scorecard.links
    assert [text for _, text in page(site, "no-models/ko/index.html").headings] == [
        "0 of 0 models pass the gate"
    ]
    assert "The bundle lists no models." in structure_of(read(site, "index.html")).text


def test_what_no_answer_is_known_of_is_not_said_to_be_empty(site: Path) -> None:
    assert (
        "The bundle holds no answer of this model." in page(site, "no-answers/prompts/E1.html").text
    )


def test_a_gate_without_verdicts_says_that_one_branch_is_not_in_use(site: Path) -> None:
    text = page(site, "no-verdicts/ko/alpha--default.html").text
    assert "the bundle holds no verdicts at all not in use" in text
    assert "Fatal scope" not in text


def test_a_red_flag_knocks_a_model_out_before_it_is_judged(site: Path) -> None:
    text = page(site, "no-reports/index.html").text
    assert "6 answers, not judged yet. beta (default) is knocked out by E1." in text
    _, _, out = text.partition("Not ranked: the gate comes before the total")
    assert out.index("beta") < out.index("Not judged yet")
    assert "The bundle does not say who judged." in page(site, "no-reports/run.html").text


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("model-twice", "alpha (default) stands here twice"),
        ("answer-twice", "alpha / default / E1 stands here twice"),
        ("torn", "is cut off"),
        ("unknown", "ghost (default) is not in bundle.yaml"),
        ("unknown", "the suite has no dimension 'Q4'"),
    ],
)
def test_a_problem_is_named_and_the_scorecard_leads_there(
    site: Path, name: str, problem: str
) -> None:
    assert problem in page(site, f"{name}/run.html").text
    urls = [url for url, _ in page(site, f"{name}/index.html").links]
    assert "run.html#problems" in urls


def test_a_clean_bundle_speaks_of_no_problems(site: Path) -> None:
    assert "run.html#problems" not in [url for url, _ in page(site, "german/index.html").links]


def test_a_second_answer_does_not_replace_the_first(site: Path) -> None:
    text = page(site, "answer-twice/prompts/E1.html").text
    assert "alpha says this at E1." in text
    assert "A second answer." not in text


def test_a_failed_answer_shows_its_error_and_what_came_of_it(site: Path) -> None:
    text = page(site, "failed-answer-with-text/prompts/E1.html").text
    assert "No answer: server (503). gone away" in text
    assert "Partial words that then broke off." in text
    assert "The answer is empty." in page(site, "failed-answer-with-text/prompts/E2.html").text


def test_a_dimension_named_like_a_section_gets_an_anchor_of_its_own(site: Path) -> None:
    html = read(site, "bundles/section-names/models/alpha--default.html")
    anchors = re.findall(r'<h2 class="ts-h2" id="([^"]+)"', html)
    assert len(anchors) == len(set(anchors)) == 8 + 3
    assert {"profile", "answers", "marks", "levels", "h"} <= set(anchors)


def test_models_with_similar_names_have_pages_and_anchors_of_their_own(site: Path) -> None:
    assert len(list((site / "bundles/variant-names/models").iterdir())) == 6
    prompt = page(site, "variant-names/prompts/E1.html")
    assert len([text for level, text in prompt.headings if level == 3]) == 6


def test_many_models_are_counted_not_lined_up(site: Path) -> None:
    html = read(site, "bundles/many-models/index.html")
    table = page(site, "many-models/index.html").text.rpartition("#Id")[2]
    assert "Task Answers green yellow red no verdict" in table
    assert "E1 Do E1 in a few words. 12 7 0 5 0" in table
    assert "<summary>About</summary>" in html


def test_many_dimensions_leave_room_for_the_models_names(site: Path) -> None:
    html = read(site, "bundles/many-dimensions/index.html")
    assert '<th role="columnheader" scope="col" style="width:12rem">Model, K.-o. gate</th>' in html
    assert 'style="width:12rem"' not in read(site, "bundles/german/index.html")


def test_a_title_without_words_gives_way_to_the_id(site: Path) -> None:
    assert page(site, "titles/index.html").headings[0] == (1, "titles")
    assert page(site, "titles/prompts/E1.html").headings[0] == (1, "Write.")


def test_a_title_that_looks_like_a_slot_stays_what_it_is(site: Path) -> None:
    title = "TOUCHSTONE-SLOT-BODY _shell.html body-0 <!--<h1-->"
    assert page(site, "slot-names/index.html").headings[0] == (1, title)
    prompt = page(site, "slot-names/prompts/E1.html")
    assert ("../index.html", title) in prompt.links
    names = sorted(path.name for path in (site / "bundles/slot-names/prompts").iterdir())
    assert names == ["D1.html", "E1.html", "E2.html"]


def test_each_text_says_which_language_it_is_in(site: Path) -> None:
    report_page = page(site, "german/models/alpha--default.html")
    assert ("de", "Büroalltag") in report_page.languages
    assert ("fr", "Sûreté") in report_page.languages
    crumbs = read(site, "bundles/german/dimensions/q3.html").partition("<h1>")[0]
    assert '<span lang="fr">Sûreté</span>' in crumbs
    assert ("de", "Gut bei E1.") in report_page.languages
    assert ("de", "Notiz") in report_page.languages
    spoken = {text for _, text in report_page.languages}
    assert not spoken & {"Evaluations", "Correctness", "alpha (default)", "fractional score"}


def test_a_decision_is_named_as_what_knocked_the_model_out(site: Path) -> None:
    text = page(site, "decisions/ko/alpha--default.html").text
    trigger = text.partition("What was checked")[0]
    assert "Decision It names her." in trigger
    assert "alpha says" not in trigger, "a strength is no trigger"
    assert "Ada (human)" in text.partition("Review")[2]


def test_a_dialogue_shows_its_turns_and_what_it_follows(site: Path) -> None:
    first = page(site, "dialogue/prompts/C1.html").text
    turns = ("System message Be brief.", "Task Hello", "Earlier reply Hi.", "Task Bye")
    places = [first.index(turn) for turn in turns]
    assert places == sorted(places)
    assert ("C1.html", "C1") in page(site, "dialogue/prompts/C2.html").links


def test_commands_to_copy_are_safe_to_paste(site: Path) -> None:
    folder = next(path for path in (site / "bundles").iterdir() if path.name.startswith("reboot"))
    html = "".join(one.read_text(encoding="utf-8") for one in folder.rglob("*.html"))
    commands = [shlex.split(unescape(one)) for one in re.findall(r"<code>(touchstone [^<]*)", html)]
    assert {words[1] for words in commands} == {"gate", "judge", "run", "verify"}
    for words in commands:
        assert "$(reboot)" in (words[2], words[2].removesuffix("/suite.yaml"))
        assert not {"rm", "-rf", "~"} & set(words)
