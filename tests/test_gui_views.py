"""What pages are made from, without building any: texts and languages, rows, citations, figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import SUITE_YAML, BundleFolder, answer, verdict
from markupsafe import Markup, escape
from site_bundles import PAIR, write_judged

from touchstone.errors import BundleError
from touchstone.gui.bundle_view import BundleView
from touchstone.gui.citations import citation_html, rationale_html
from touchstone.gui.link_check import check_links
from touchstone.gui.links import BundleLinks, relative
from touchstone.gui.loading import load_site, newest
from touchstone.gui.locale import Locale, Shown, one_line
from touchstone.gui.run_pages import run_page_data
from touchstone.gui.stamp import Shell, Slots
from touchstone.gui.wording import Wording
from touchstone.models import Text

ALPHA = ("alpha", "default")
BETA = ("beta", "default")
ENGLISH = Wording(Locale("en"))


@pytest.fixture
def judged(tmp_path: Path) -> BundleFolder:
    return write_judged(tmp_path / "tiny")


def view_of(folder: BundleFolder) -> BundleView:
    return BundleView(folder.open())


def with_suite(folder: BundleFolder, **changes: Any) -> BundleView:
    """Return the bundle as it would be with other keys in its suite."""
    suite = yaml.safe_load(SUITE_YAML) | changes
    folder.write("suite.yaml", yaml.safe_dump(suite, sort_keys=False))
    return view_of(folder)


def with_models(folder: BundleFolder, *models: Mapping[str, Any]) -> BundleView:
    """Return the bundle as it would be with other models."""
    manifest = {"format": 1, "id": "tiny", "suite": {"id": "small"}, "models": list(models)}
    folder.write("bundle.yaml", yaml.safe_dump(manifest, sort_keys=False))
    return view_of(folder)


# --- texts and their languages -------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "written_in", "html"),
    [
        ("Ton", "de", '<span lang="de">Ton</span>'),
        ("Tone", "en", "Tone"),
        ({"de": "Ton", "en": "Tone"}, "de", "Tone"),
        ({"de": "Ton", "fr": "Ton"}, "de", '<span lang="de">Ton</span>'),
        ({"fr": "Voix", "it": "Voce"}, "de", '<span lang="fr">Voix</span>'),
        ("a <b>\nc", "en", "a &lt;b&gt;<br>\nc"),
        ("x", 'd" onclick="y', '<span lang="d&#34; onclick=&#34;y">x</span>'),
        ("", "de", ""),
        (None, "de", ""),
    ],
)
def test_a_shown_text_says_its_language_in_html(
    text: Text | None, written_in: str, html: str
) -> None:
    shown = Locale("en").show(text, written_in)
    assert escape(shown) == html
    assert Markup("<p>{}</p>").format(shown) == f"<p>{html}</p>"
    assert "lang=" not in f"{shown}"


def test_what_is_made_of_a_shown_text_is_plain() -> None:
    shown = Shown("Büro", "de")
    assert escape(shown[:2]) == "Bü"
    assert escape(f"{shown}") == "Büro"
    assert not hasattr(shown.upper(), "__html__")


@pytest.mark.parametrize(
    ("text", "line"),
    [("a\r\n b\t c ", "a b c"), ("a\x1cb\x00", "a␜b␀"), ("\u202ea", "\ufffda"), ("\n", "")],
)
def test_one_line_keeps_what_it_cannot_show(text: str, line: str) -> None:
    assert one_line(text) == line


@pytest.mark.parametrize(
    ("ids", "most", "said"),
    [
        ([], 3, ""),
        (["E1"], 3, "E1"),
        (["E1", "E2"], 2, "E1, E2"),
        (["E1", "E2", "E3", "E4"], 2, "E1, E2 and 2 more"),
    ],
)
def test_a_list_of_ids_ends_with_how_many_more(ids: Sequence[str], most: int, said: str) -> None:
    assert ENGLISH.ids(ids, most=most) == said


@pytest.mark.parametrize(
    ("title", "shown"), [("Office", "Office"), ("", "tiny"), ({"en": " "}, "tiny"), (None, "tiny")]
)
def test_a_bundle_without_a_title_goes_by_its_id(
    judged: BundleFolder, title: Text | None, shown: str
) -> None:
    manifest = {"format": 1, "id": "tiny", "suite": {"id": "small"}, "models": []}
    manifest |= {} if title is None else {"title": title}
    judged.write("bundle.yaml", yaml.safe_dump(manifest))
    assert ENGLISH.bundle_title(view_of(judged)) == shown


# --- addresses -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "page", "link"),
    [
        ("index.html", "index.html", "index.html"),
        ("index.html#a", "index.html", "#a"),
        ("#a", "bundles/b/index.html", "#a"),
        ("index.html", "bundles/b/index.html", "../../index.html"),
        ("bundles/b/ko/x.html#y", "bundles/b/models/x.html", "../ko/x.html#y"),
    ],
)
def test_links_are_relative_to_their_page(url: str, page: str, link: str) -> None:
    assert relative(url, page) == link


def test_a_dimension_never_takes_the_anchor_of_a_section() -> None:
    ids = ("Profile", "answers", "MARKS", "Q1", "q1", "a b")
    links = BundleLinks("b", (ALPHA,), ("E1",), ids)
    made = [links.dimension_slug(one) for one in ids]
    assert not {"profile", "answers", "marks"} & set(made)
    assert len({one.casefold() for one in made}) == len(ids)
    assert links.model(ALPHA, "profile").endswith("models/alpha--default.html#profile")


# --- rows and columns ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "is_to_scale"),
    [
        ([1, 1, 1], False),
        ([1, 2, 3], True),
        ([0.5, 1.5], True),
        ([1, 100], False),
        ([1, 2] * 5, False),
        ([1] * 30, False),
    ],
)
def test_columns_are_as_wide_as_their_weights_where_that_is_legible(
    judged: BundleFolder, weights: Sequence[float], is_to_scale: bool
) -> None:
    dimensions = [
        {"id": f"Q{number}", "name": "x", "weight": weight}
        for number, weight in enumerate(weights, start=1)
    ]
    columns = with_suite(judged, dimensions=dimensions, ko_rule=None).columns
    widths = [column.width for column in columns]
    assert (len(set(widths)) > 1) == is_to_scale
    assert min(widths) >= 2.9
    if is_to_scale:
        shares = {round(column.width / column.dimension.weight, 6) for column in columns}
        assert len(shares) == 1


def test_a_model_listed_twice_is_one_model(judged: BundleFolder) -> None:
    view = with_models(judged, {"model": "alpha"}, {"model": "beta"}, {"model": "alpha"})
    assert [entry.model for entry in view.models] == ["alpha", "beta"]
    assert [problem.code for problem in view.problems] == ["duplicate_model"]


def test_each_line_knows_its_pages_and_what_knocked_it_out(judged: BundleFolder) -> None:
    view = view_of(judged)
    alpha, beta = view.lines
    assert (alpha.ko_by, beta.ko_by) == ((), ("E1",))
    assert alpha.ko_url == "bundles/tiny/ko/alpha--default.html"
    assert [(cell.score, cell.found, cell.bad) for cell in alpha.cells] == [
        *((4, 1, 2), (3, 0, 0), (5, 0, 0), (None, 0, 0))
    ]
    assert with_suite(judged, ko_rule=None).lines[0].ko_url is None


def test_groups_put_a_model_that_is_out_below_the_ranked_even_if_nobody_judged_it(
    judged: BundleFolder,
) -> None:
    models = ("alpha", "beta", "gamma", "delta")
    judged.write_lines(
        "verdicts.jsonl",
        *(verdict(one, "green") for one in ("E1", "E2", "D1")),
        verdict("E1", "red", "gamma"),
    )
    view = with_models(judged, *({"model": one} for one in models))
    groups = ENGLISH.groups(view.lines)
    assert [[line.entry.model for line in group.lines] for group in groups] == [
        *(["alpha"], ["beta", "gamma"], ["delta"])
    ]
    assert [bool(group.title) for group in groups] == [False, True, True]


@pytest.mark.parametrize("name", ["verdicts.jsonl", "reports.jsonl", "reviews.jsonl"])
def test_a_bundle_whose_judgement_cannot_be_read_whole_has_no_view(
    judged: BundleFolder, name: str
) -> None:
    path = judged.path / name
    before = path.read_bytes() if path.exists() else b""
    judged.write(name, before + b"nonsense\n")
    with pytest.raises(BundleError, match=name):
        view_of(judged)


def test_an_answer_that_cannot_be_read_is_a_problem(judged: BundleFolder) -> None:
    judged.write("answers.jsonl", (judged.path / "answers.jsonl").read_bytes() + b"nonsense\n")
    view = view_of(judged)
    assert [problem.where for problem in view.problems] == ["answers.jsonl:7"]
    assert len(view.bundle.answers) == 6


# --- citations -----------------------------------------------------------------------------


def test_citations_lead_to_words_answers_or_nowhere_and_say_so(judged: BundleFolder) -> None:
    view = view_of(judged)
    page = f"bundles/tiny/models/{PAIR}.html"
    made = [
        citation_html(view, one, one.prompt_id, lambda url: relative(url, page), ENGLISH)
        for one in view.citations(ALPHA, "Q1")
    ]
    found, unverifiable, dangling = made
    assert f'href="../prompts/E1.html#{PAIR}.q1.1"' in found
    assert '<span class="ts-sr">, verbatim</span>' in found
    assert f'href="../prompts/E2.html#{PAIR}"' in unverifiable
    assert '<span class="ts-cw">unverifiable</span>' in unverifiable
    assert dangling.startswith('<span class="ts-cite ts-bad">')
    assert '<span class="ts-cw">dangling</span>' in dangling


def test_an_id_named_without_an_answer_is_marked_with_a_word(judged: BundleFolder) -> None:
    judged.write_lines("answers.jsonl", answer("E1", text="The alpha answer to E1."))
    html = rationale_html(view_of(judged), ALPHA, "Q2", str, ENGLISH)
    assert html.striptags() == "See D1dangling."
    assert "<a " not in html


def test_a_rationale_is_escaped_around_its_links(judged: BundleFolder) -> None:
    told = {"Q1": "<b>E1</b> & E2"}
    judged.report({"Q1": 1}, dim_rationales=told)
    html = rationale_html(view_of(judged), ALPHA, "Q1", str, ENGLISH)
    assert html.striptags() == "<b>E1</b> & E2"
    assert html.count("<a ") == 2
    assert "<b>" not in html


# --- figures and commands ------------------------------------------------------------------


def test_speed_counts_only_answers_that_have_time_and_tokens(judged: BundleFolder) -> None:
    timed = {"usage": {"prompt_tokens": 5, "completion_tokens": 30}, "duration_s": 2.0}
    judged.write_lines(
        "answers.jsonl",
        answer("E1") | timed | {"ttft_s": 0.1},
        answer("E2") | {"usage": {"completion_tokens": 1000}, "ttft_s": 0.5},
        answer("D1") | {"duration_s": 4.0, "error": {"type": "timeout"}},
    )
    alpha, beta = run_page_data(view_of(judged), ENGLISH)["figures"]
    assert (alpha.answers, alpha.completion_tokens, alpha.seconds) == (3, 1030, 6.0)
    assert alpha.tokens_per_second == 15.0
    assert alpha.first_token == pytest.approx(0.3)
    assert [one.prompt_id for one in alpha.errors] == ["D1"]
    assert (beta.answers, beta.seconds, beta.tokens_per_second) == (0, None, None)


@pytest.mark.parametrize(
    ("models", "commands"),
    [
        ([{"model": "a"}], ["--model a --variant default"]),
        (
            [
                {
                    "model": "m",
                    "variant": "v",
                    "endpoint": "embedded",
                    "parameters": {"seed": 1, "stop": ["x y"]},
                }
            ],
            ["--model local:m --variant v --seed 1 --parameter 'stop=[\"x y\"]'"],
        ),
        (
            [{"model": "m", "endpoint": "http://h/v1", "system": "Be\nbrief."}],
            ["--model m --variant default --system 'Be\nbrief.' --base-url http://h/v1"],
        ),
        (
            [{"model": "m", "variant": one} for one in ("v", "v#2", "v#3")],
            ["--model m --variant v --repeat 3"],
        ),
        ([{"model": "m", "variant": "v#2"}], ["--model m --variant 'v#2'"]),
        (
            [{"model": "m", "variant": "v"}, {"model": "n", "variant": "v#2"}],
            ["--model m --variant v", "--model n --variant 'v#2'"],
        ),
        ([], []),
    ],
)
def test_commands_make_such_a_bundle_again(
    judged: BundleFolder, models: Sequence[Mapping[str, Any]], commands: Sequence[str]
) -> None:
    made = run_page_data(with_models(judged, *models), ENGLISH)["commands"]
    assert made == [f"touchstone run tiny/suite.yaml {one} -o tiny-again" for one in commands]


# --- the site as a whole -------------------------------------------------------------------


def test_the_newest_date_is_the_latest_moment_not_the_last_in_the_alphabet(tmp_path: Path) -> None:
    dates = ("2026-12-01T23:30:00-05:00", "2026-12-02T01:00:00Z", "20261201", "yesterday", None)
    for number, date in enumerate(dates):
        folder = BundleFolder(tmp_path / f"b{number}")
        created = f"created: {date}\n" if date else ""
        folder.write(
            "bundle.yaml",
            f"format: 1\nid: b{number}\nsuite: {{id: small}}\n{created}models: [model: alpha]\n",
        )
    assert newest(load_site(tmp_path).views) == dates[0]
    assert newest(load_site(tmp_path).views[3:]) is None


def test_a_shell_is_filled_between_its_slots_whatever_the_values_hold() -> None:
    slots = Slots()
    html = f"<title>{slots.title}</title>{slots.body}<a href='{slots.name}.html'>{slots.title}"
    shell = Shell(html, slots)
    filled = shell.fill(title=slots.body, description="", body=slots.title, name="E1")
    assert filled == f"<title>{slots.body}</title>{slots.title}<a href='E1.html'>{slots.body}"
    assert Slots().title != slots.title


@pytest.mark.parametrize(
    ("link", "found"),
    [
        ("http://[x", "is no address"),
        ("/etc/hostname", "leads out of the site"),
        ("..", "leads nowhere"),
        ("x" * 5000, "leads nowhere"),
        ("a%00b", "leads nowhere"),
        ("sub/../a.html#b", "without that anchor"),
    ],
)
def test_the_link_check_is_not_put_off_by_odd_links(tmp_path: Path, link: str, found: str) -> None:
    (tmp_path / "a.html").write_text(f'<a href="{link}">', encoding="utf-8")
    problems = check_links(tmp_path)
    assert len(problems) == 1
    assert found in problems[0].message
