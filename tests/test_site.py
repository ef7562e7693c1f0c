"""The built site as files: every page there, every number a link, every citation both ways."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import BundleFolder
from site_bundles import PAIR, build, read, write_judged

from touchstone.errors import SiteError
from touchstone.gui.build import BuildOptions, build_site
from touchstone.gui.link_check import check_links, read_links
from touchstone.gui.target import MANIFEST

ROOT = Path(__file__).parents[1]


@pytest.fixture
def bundles(tmp_path: Path) -> Path:
    folder = tmp_path / "bundles"
    folder.mkdir()
    return folder


@pytest.fixture
def judged(bundles: Path) -> BundleFolder:
    """A bundle with two models; alpha cites, beta is knocked out."""
    return write_judged(bundles / "tiny")


def test_every_page_of_the_contract_is_there(judged: BundleFolder, bundles: Path) -> None:
    site = build(bundles)
    for name in (
        "index.html",
        "method.html",
        "adr/index.html",
        "404.html",
        "bundles/tiny/index.html",
        f"bundles/tiny/models/{PAIR}.html",
        "bundles/tiny/models/beta--default.html",
        *(f"bundles/tiny/dimensions/q{n}.html" for n in range(1, 5)),
        *(f"bundles/tiny/prompts/{prompt}.html" for prompt in ("E1", "E2", "D1")),
        f"bundles/tiny/ko/{PAIR}.html",
        "bundles/tiny/ko/beta--default.html",
        "bundles/tiny/run.html",
    ):
        assert (site / name).is_file(), name
    assert not (site / "bundles/tiny/prompts/_shell.html").exists()
    assert not (site / "sitemap.xml").exists()


def test_every_score_cell_leads_to_its_rationale(judged: BundleFolder, bundles: Path) -> None:
    page = read(build(bundles), "bundles/tiny/index.html")
    cells = re.findall(r'<td role="cell" class="ts-c [^>]*>\s*<a href="([^"]+)"', page)
    assert cells == [
        f"models/{pair}.html#q{n}" for pair in (PAIR, "beta--default") for n in range(1, 5)
    ]


def test_two_clicks_lead_from_a_cell_to_the_quoted_words(
    judged: BundleFolder, bundles: Path
) -> None:
    site = build(bundles)
    report = read(site, f"bundles/tiny/models/{PAIR}.html")
    assert f'href="../prompts/E1.html#{PAIR}.q1.1"' in report
    prompt = read(site, "bundles/tiny/prompts/E1.html")
    mark = re.search(rf'<mark[^>]*id="{re.escape(PAIR)}.q1.1"[^>]*>([^<]*)</mark>', prompt)
    assert mark is not None
    assert mark[1] == "The alpha answer to E1"


def test_an_answer_leads_back_to_what_cites_it(judged: BundleFolder, bundles: Path) -> None:
    prompt = read(build(bundles), "bundles/tiny/prompts/E1.html")
    card = prompt.partition(f'<article class="ts-ans" id="{PAIR}"')[2].partition("</article>")[0]
    assert f'href="../models/{PAIR}.html#q1"' in card


def test_an_id_named_only_in_the_rationale_is_a_link_both_ways(
    judged: BundleFolder, bundles: Path
) -> None:
    site = build(bundles)
    assert f'href="../prompts/D1.html#{PAIR}"' in read(site, f"bundles/tiny/models/{PAIR}.html")
    assert f'href="../models/{PAIR}.html#q2"' in read(site, "bundles/tiny/prompts/D1.html")


def test_citations_that_do_not_hold_are_shown_as_such(judged: BundleFolder, bundles: Path) -> None:
    report = read(build(bundles), f"bundles/tiny/models/{PAIR}.html")
    assert "words that stand nowhere" in report
    assert '<span class="ts-cw">unverifiable</span>' in report
    assert '<span class="ts-cw">dangling</span>' in report


def test_a_missing_score_says_why(judged: BundleFolder, bundles: Path) -> None:
    site = build(bundles)
    assert "fractional score &quot;3.5&quot;" in read(site, f"bundles/tiny/models/{PAIR}.html")


def test_a_knocked_out_model_is_listed_below_the_ranked_ones_without_a_rank(
    judged: BundleFolder, bundles: Path
) -> None:
    page = read(build(bundles), "bundles/tiny/index.html")
    ranked, _, out = page.partition("Not ranked: the gate comes before the total")
    assert "models/alpha--default.html" in ranked
    assert "ko/beta--default.html" not in ranked.partition("<tbody")[2]
    row = out.partition("</tr>")[2].partition("</tr>")[0]
    assert "100.0" in row
    assert '<span class="ts-l">Rank </span><span data-rank>–</span></td>' in row


def test_the_ko_page_names_trigger_and_checks(judged: BundleFolder, bundles: Path) -> None:
    site = build(bundles)
    failed = read(site, "bundles/tiny/ko/beta--default.html")
    assert 'href="../prompts/E1.html#beta--default"' in failed
    assert "fired" in failed
    assert "exit code 3" in re.sub("<[^>]+>", "", failed)
    passed = read(site, f"bundles/tiny/ko/{PAIR}.html")
    assert "passes the gate" in passed
    assert "What was checked" in passed


def test_a_bundle_with_only_the_required_fields_renders(bundles: Path) -> None:
    folder = BundleFolder(bundles / "tiny")
    folder.answers("E1", "E2", "D1")
    folder.report({"Q1": 4, "Q2": 3, "Q3": 5})
    page = read(build(bundles), "bundles/tiny/index.html")
    assert "65.7" in page


def test_an_unjudged_bundle_and_an_empty_folder_render(bundles: Path) -> None:
    assert "No evaluations yet" in read(build(bundles), "index.html")
    folder = BundleFolder(bundles / "tiny")
    folder.answers("E1")
    site = build(bundles)
    assert "Not judged yet" in read(site, "bundles/tiny/index.html")
    assert "no answer" in read(site, f"bundles/tiny/models/{PAIR}.html")


def test_a_bundle_without_a_rule_is_ranked_with_a_grey_badge(bundles: Path) -> None:
    folder = BundleFolder(bundles / "tiny")
    text = (folder.path / "suite.yaml").read_text(encoding="utf-8")
    folder.write("suite.yaml", re.sub(r"(?m)^ko_rule:.*\n", "", text))
    folder.answers("E1")
    folder.report({"Q1": 4})
    site = build(bundles)
    assert '<span class="ts-gate ts-none" data-gate="none">' in read(
        site, "bundles/tiny/index.html"
    )
    assert not (site / "bundles/tiny/ko").exists()


def test_a_bundle_that_cannot_be_read_does_not_stop_the_others(
    judged: BundleFolder, bundles: Path
) -> None:
    broken = BundleFolder(bundles / "zbroken")
    broken.write("suite.yaml", "format: 1\nid: x\n")
    index = read(build(bundles), "index.html")
    assert "bundles/tiny/index.html" in index
    assert "zbroken" in index
    assert "dimensions" in index


def test_two_builds_are_byte_identical(judged: BundleFolder, bundles: Path) -> None:
    site = build(bundles)
    first = json.loads(read(site, MANIFEST))["files"]
    second = json.loads(read(build(bundles), MANIFEST))["files"]
    assert first == second
    assert len(first) > 20


def test_a_base_url_adds_a_sitemap_and_a_canonical_link(
    judged: BundleFolder, bundles: Path
) -> None:
    site = build(bundles, base_url="https://example.org/evals/")
    sitemap = read(site, "sitemap.xml")
    assert "https://example.org/evals/bundles/tiny/prompts/E1.html" in sitemap
    assert "_shell" not in sitemap
    prompt = read(site, "bundles/tiny/prompts/E1.html")
    assert 'href="https://example.org/evals/bundles/tiny/prompts/E1.html"' in prompt


def test_a_failed_build_leaves_the_old_site(judged: BundleFolder, bundles: Path) -> None:
    site = build(bundles)
    before = read(site, "bundles/tiny/index.html")
    BundleFolder(bundles / "twin").write(
        "bundle.yaml", "format: 1\nid: tiny\nsuite: {id: small}\nmodels: [{model: alpha}]\n"
    )
    with pytest.raises(SiteError, match="both say that they are bundle 'tiny'"):
        build(bundles)
    assert read(site, "bundles/tiny/index.html") == before


def test_the_command_prints_json_alone(
    judged: BundleFolder, bundles: Path, touchstone: Callable[..., Any]
) -> None:
    site = bundles.parent / "site"
    done = touchstone("build-site", "--bundles", bundles, "--site-dir", site, "--json")
    assert done.code == 0
    assert done.json["broken_links"] == 0
    assert done.json["answers"] == 6
    assert done.json["pages"] == len(list(site.rglob("*.html")))
    assert done.json["warnings"] == []


def test_mkdocs_on_its_own_builds_the_same_pages(
    judged: BundleFolder, bundles: Path, tmp_path: Path
) -> None:
    project = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    project = project.replace("bundles: bundles", f"bundles: {bundles}")
    for name in ("docs_dir: ", "custom_dir: ", "- site_src/gen"):
        project = project.replace(f"{name}site_src", f"{name}{ROOT}/site_src")
    project = project.replace("- site_src/gen", f"- {ROOT}/site_src/gen")
    (tmp_path / "mkdocs.yml").write_text(project, encoding="utf-8")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", "out"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/bundles/tiny/prompts/E1.html").is_file()
    assert check_links(tmp_path / "out") == []


def test_the_shipped_bundles_build_without_a_broken_link(tmp_path: Path) -> None:
    result = build_site(BuildOptions(ROOT / "bundles", tmp_path / "site"))
    assert result.broken_links == 0
    assert result.answers >= 144


@pytest.mark.parametrize(
    ("pages", "found"),
    [
        ({"a.html": '<a href="b.html">'}, "b.html leads nowhere"),
        ({"a.html": '<a href="#x">'}, "#x leads to a page without that anchor"),
        ({"a.html": '<a href="b.html#x">', "b.html": "<p id=y>"}, "without that anchor"),
        ({"a.html": '<img src="i.png">'}, "i.png leads nowhere"),
        ({"a.html": '<a href="../x.html">'}, "leads out of the site"),
        ({"a.html": "<p id=x><p id=x>"}, "more than once"),
    ],
)
def test_the_link_check_finds(pages: dict[str, str], found: str, tmp_path: Path) -> None:
    for name, html in pages.items():
        (tmp_path / name).write_text(html, encoding="utf-8")
    assert any(found in problem.message for problem in check_links(tmp_path))


@pytest.mark.parametrize(
    "pages",
    [
        {"a.html": '<a href="b.html#x%20y">', "b.html": '<p id="x y">'},
        {"a.html": '<a href="https://example.org/gone"><a href="mailto:a@b.example">'},
        {"a.html": '<a href="sub/">', "sub/index.html": ""},
        {"sub/a.html": '<a href="../b.html"><a href=".">', "b.html": "", "sub/index.html": ""},
        {"404.html": '<a href="/nowhere.html">'},
    ],
)
def test_the_link_check_lets_pass(pages: dict[str, str], tmp_path: Path) -> None:
    for name, html in pages.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(html, encoding="utf-8")
    assert check_links(tmp_path) == []


def test_links_are_read_from_odd_html() -> None:
    page = read_links('<a HREF="x&amp;y.html"><svg><a xlink:href="#z"></svg><b id=q>')
    assert page.links == ["x&y.html", "#z"]
    assert page.anchors == {"q"}
