"""Where a site goes and what it is built from: nothing foreign is touched, failures are said."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Outcome
from filelock import FileLock
from site_bundles import write_judged

from touchstone.errors import SiteError
from touchstone.gui.target import MANIFEST, MARK, Target

ROOT = Path(__file__).parents[1]
Touchstone = Callable[..., Outcome]


def publish(site: Path, text: str = "new") -> None:
    """Put a site of one page in place."""
    with Target(site).replaced() as folder:
        (folder / "index.html").write_text(text, encoding="utf-8")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def content(site: Path) -> str:
    return (site / "index.html").read_text(encoding="utf-8")


# --- the folder a site goes to -------------------------------------------------------------


def test_a_new_site_takes_the_place_of_the_old_and_leaves_nothing_beside_it(
    tmp_path: Path,
) -> None:
    site = tmp_path / "site"
    publish(site, "old")
    publish(site, "new")
    assert names(tmp_path) == ["site"]
    assert names(site) == ["index.html", MANIFEST]
    assert content(site) == "new"
    assert list(json.loads((site / MANIFEST).read_text(encoding="utf-8"))["files"]) == [
        "index.html"
    ]


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError, SiteError])
def test_a_build_that_breaks_off_leaves_the_old_site_and_no_half_of_the_new(
    tmp_path: Path, failure: type[BaseException]
) -> None:
    site = tmp_path / "site"
    publish(site, "old")

    def break_off() -> None:
        with Target(site).replaced() as folder:
            (folder / "index.html").write_text("half", encoding="utf-8")
            raise failure("stop")

    with pytest.raises(failure):
        break_off()
    assert names(tmp_path) == ["site"]
    assert content(site) == "old"


def left_by_a_crash(folder: Path, text: str, *, is_whole: bool = True) -> None:
    publish(folder, text)
    (folder / MARK).touch()
    if not is_whole:
        (folder / MANIFEST).unlink()


@pytest.mark.parametrize(("is_whole", "kept"), [(True, "new"), (False, "old")])
def test_a_swap_that_a_crash_cut_off_is_finished(tmp_path: Path, is_whole: bool, kept: str) -> None:
    site = tmp_path / "site"
    left_by_a_crash(tmp_path / "site.old", "old")
    left_by_a_crash(tmp_path / "site.new", "new", is_whole=is_whole)
    with pytest.raises(KeyboardInterrupt), Target(site).replaced():
        raise KeyboardInterrupt
    assert content(site) == kept
    assert not (site / MARK).exists()
    publish(site, "newest")
    assert names(tmp_path) == ["site"]


@pytest.mark.parametrize("name", ["site.new", "site.old"])
def test_what_a_crash_left_beside_the_site_is_removed(tmp_path: Path, name: str) -> None:
    site = tmp_path / "site"
    publish(site, "now")
    left_by_a_crash(tmp_path / name, "left", is_whole=False)
    publish(site, "new")
    assert names(tmp_path) == ["site"]


def test_a_mark_that_a_crash_left_in_the_site_does_not_matter(tmp_path: Path) -> None:
    site = tmp_path / "site"
    publish(site, "old")
    (site / MARK).touch()
    publish(site, "new")
    assert names(site) == ["index.html", MANIFEST]


@pytest.mark.parametrize("name", ["site", "site.new", "site.old"])
@pytest.mark.parametrize("is_site", [False, True], ids=["not-ours", "a-site-with-a-foreign-file"])
def test_a_foreign_file_stops_the_build_and_is_not_touched(
    tmp_path: Path, name: str, is_site: bool
) -> None:
    folder = tmp_path / name
    if is_site:
        publish(folder)
    folder.mkdir(exist_ok=True)
    (folder / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(SiteError, match="nothing in it was touched"):
        publish(tmp_path / "site")
    assert (folder / "thesis.txt").read_text(encoding="utf-8") == "years of work"
    assert names(tmp_path) == [name]


@pytest.mark.parametrize("name", ["site.new", "site.old"])
def test_a_site_that_somebody_keeps_beside_it_is_not_touched(tmp_path: Path, name: str) -> None:
    publish(tmp_path / name, "kept")
    with pytest.raises(SiteError, match="is in the way"):
        publish(tmp_path / "site")
    assert content(tmp_path / name) == "kept"


def test_a_file_where_the_site_should_go_is_named(tmp_path: Path) -> None:
    (tmp_path / "site").write_text("a file", encoding="utf-8")
    with pytest.raises(SiteError, match="is a file, not a folder"):
        publish(tmp_path / "site")
    assert names(tmp_path) == ["site"]


def test_an_empty_folder_may_become_a_site(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    publish(tmp_path / "site")
    assert content(tmp_path / "site") == "new"


def test_a_link_to_a_folder_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "www").mkdir()
    (tmp_path / "site").symlink_to(tmp_path / "www", target_is_directory=True)
    for text in ("one", "two"):
        publish(tmp_path / "site", text)
    assert (tmp_path / "site").is_symlink()
    assert content(tmp_path / "www") == "two"
    assert names(tmp_path) == ["site", "www"]


def test_a_second_build_at_the_same_time_is_refused(tmp_path: Path) -> None:
    site = tmp_path / "site"
    with FileLock(tmp_path / ".site.lock"), pytest.raises(SiteError, match="Another touchstone"):
        publish(site)
    publish(site)
    assert content(site) == "new"


@pytest.mark.parametrize(
    ("site", "bundles"),
    [("b/site", "b"), ("b", "b"), (".", "b"), ("site", "site/b"), ("b/../b/x", "b")],
)
def test_site_and_bundles_may_not_lie_in_each_other(
    tmp_path: Path, site: str, bundles: str
) -> None:
    with pytest.raises(SiteError, match="can't lie in each other"):
        Target(tmp_path / site).refuse_overlap(tmp_path / bundles)
    Target(tmp_path / "bundles-site").refuse_overlap(tmp_path / "bundles")


def test_the_root_of_a_file_system_cannot_hold_a_site() -> None:
    with pytest.raises(SiteError, match="something is mounted there"):
        Target(Path("/"))


# --- the command, in folders of all kinds --------------------------------------------------


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a judged bundle, to work in."""
    (tmp_path / "bundles").mkdir()
    write_judged(tmp_path / "bundles" / "tiny")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def project(here: Path, touchstone: Touchstone) -> Path:
    """A project laid out by ``touchstone init``, with the judged bundle."""
    (here / "bundles").rename(here / "kept")
    assert touchstone("init").code == 0
    (here / "bundles").rmdir()
    (here / "kept").rename(here / "bundles")
    return here


def test_a_folder_with_nothing_but_bundles_is_enough(here: Path, touchstone: Touchstone) -> None:
    done = touchstone("build-site")
    assert (done.code, done.out) == (0, "")
    assert "6 answers, 0 warnings, 0 broken links" in done.err
    assert (here / "site/bundles/tiny/index.html").is_file()
    assert names(here) == ["bundles", "site"]


def test_another_mkdocs_project_is_left_alone_and_that_is_said(
    here: Path, touchstone: Touchstone
) -> None:
    Path("mkdocs.yml").write_text("site_name: Other\nplugins: [search]\n", encoding="utf-8")
    done = touchstone("build-site", "--json")
    assert done.code == 0
    assert "has no plugin touchstone" in done.json["warnings"][0]
    assert "has no plugin touchstone" in done.err
    assert "· Touchstone</title>" in (here / "site/index.html").read_text(encoding="utf-8")


def test_a_project_is_built_with_its_own_settings(project: Path, touchstone: Touchstone) -> None:
    (project / "bundles").rename(project / "results")
    settings = Path("mkdocs.yml").read_text(encoding="utf-8")
    settings = settings.replace("bundles: bundles", "bundles: results").replace(
        "lang: en", "lang: de"
    )
    Path("base.yml").write_text(settings, encoding="utf-8")
    Path("mkdocs.yml").write_text("INHERIT: base.yml\nsite_name: Mine\n", encoding="utf-8")
    done = touchstone("build-site", "--json")
    assert done.json["warnings"] == []
    index = (project / "site/index.html").read_text(encoding="utf-8")
    assert '<html lang="de"' in index
    assert "· Mine</title>" in index
    assert "bundles/tiny/index.html" in index


def run_here(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a Python module as a command."""
    command = [sys.executable, "-m", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


PLUGINS = """\
plugins:
  touchstone: {lang: de}
  gen-files: {scripts: [site_src/gen_pages.py]}
  search: {}
"""


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (lambda text: "a: [1\nb: }\n", 1, "parsing the configuration file"),
        (lambda text: "- one\n- two\n", 1, "it holds no settings"),
        (lambda text: "INHERIT: nowhere.yml\n", 1, "nowhere.yml"),
        (lambda text: text.replace("- search", "- nosuch"), 1, '"nosuch" plugin is not installed'),
        (lambda text: text.replace("lang: en", "lang: fr"), 1, "Expected one of: ('en', 'de')"),
        (lambda text: text.replace("lang: en", "lnag: en"), 1, "'lnag'"),
        (lambda text: text.replace("  - gen-files:", "  - tags:"), 1, "tags"),
        (
            lambda text: "".join(text.partition("  - gen-files")[:1]) + "  - search\n",
            1,
            "no plugin gen-files",
        ),
        (lambda text: text.partition("plugins:")[0] + PLUGINS, 0, "0 broken links"),
    ],
)
def test_what_is_wrong_with_a_project_is_said(
    project: Path, touchstone: Touchstone, change: Callable[[str], str], code: int, said: str
) -> None:
    settings = Path("mkdocs.yml").read_text(encoding="utf-8")
    Path("mkdocs.yml").write_text(change(settings), encoding="utf-8")
    done = touchstone("build-site")
    assert done.code == code
    assert said in done.err
    assert "Traceback" not in done.err
    assert (project / "site").exists() == (code == 0)


def test_a_broken_template_is_named_with_its_line(project: Path) -> None:
    with Path("site_src/overrides/main.html").open("a", encoding="utf-8") as template:
        template.write("\n{% if %}\n")
    done = run_here("touchstone", "build-site")
    assert done.returncode == 1
    assert "overrides/main.html:" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (project / "site").exists()


def test_a_page_of_ones_own_with_a_broken_link_stops_the_build(
    project: Path, touchstone: Touchstone
) -> None:
    page = '<a href="http://[x">a</a> <a href="/etc/hostname">b</a> <a href="#gone">c</a>\n'
    Path("site_src/docs/page.md").write_text(page, encoding="utf-8")
    done = touchstone("build-site")
    assert done.code == 1
    for said in (
        "page.html: http://[x is no address",
        "page.html: /etc/hostname leads out of the site",
        "page.html: #gone leads to a page without that anchor",
    ):
        assert said in done.err
    assert names(project) == ["bundles", "mkdocs.yml", "site_src", "suites"] or names(project) == [
        ".gitignore",
        "bundles",
        "mkdocs.yml",
        "site_src",
        "suites",
    ]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--bundles", "nowhere"), "There is no folder of bundles"),
        (("--site-dir", "bundles/site"), "can't lie in each other"),
        (("--site-dir", "."), "can't lie in each other"),
        (("--site-dir", "file"), "is a file, not a folder"),
        (("--site-dir", "file/site"), "can't be built in file/site"),
        (("--base-url", "nonsense"), "The URL isn't valid"),
    ],
)
def test_what_a_build_cannot_do_is_said_before_anything_is_written(
    here: Path, touchstone: Touchstone, args: tuple[str, ...], said: str
) -> None:
    Path("file").write_text("mine", encoding="utf-8")
    done = touchstone("build-site", *args)
    assert done.code == 1
    assert said in done.err
    assert names(here) == ["bundles", "file"]


def test_the_day_of_the_build_changes_nothing(
    here: Path, touchstone: Touchstone, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    for day in ("0", "1800000000"):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", day)
        assert touchstone("build-site", "--base-url", "https://example.org/").code == 0
        made.append((here / "site" / MANIFEST).read_text(encoding="utf-8"))
    assert made[0] == made[1]


def mount(folder: Path, options: str) -> None:
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount a small file system")
    if subprocess.run(command, check=False, capture_output=True).returncode != 0:
        pytest.skip("a file system can't be mounted here")


@pytest.fixture
def small(here: Path) -> Iterator[Path]:
    """A file system with room for 300 KB."""
    mount(here / "small", "size=300k")
    yield here / "small"
    subprocess.run(["umount", str(here / "small")], check=False)


def test_a_full_disk_is_said_and_leaves_nothing_behind(small: Path, touchstone: Touchstone) -> None:
    done = touchstone("build-site", "--site-dir", small / "site")
    assert done.code == 1
    assert f"can't be built in {small / 'site'}: No space left on device." in done.err
    assert names(small) == []
    done = touchstone("build-site", "--site-dir", small)
    assert "something is mounted there" in done.err


def test_ctrl_c_leaves_the_old_site(here: Path, touchstone: Touchstone) -> None:
    assert touchstone("build-site").code == 0
    before = (here / "site" / MANIFEST).read_bytes()
    command = [sys.executable, "-m", "touchstone", "build-site"]
    build = subprocess.Popen(command, cwd=here, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 60
    while not (here / "site.new").exists() and time.monotonic() < end:
        time.sleep(0.01)
    build.send_signal(signal.SIGINT)
    _, said = build.communicate(timeout=60)
    assert build.returncode == 130, said
    assert "Stopped." in said
    assert names(here) == ["bundles", "site"]
    assert (here / "site" / MANIFEST).read_bytes() == before


def page_at(address: str, server: subprocess.Popen[str]) -> str:
    """Return a page of a server that is about to start."""
    end = time.monotonic() + 60
    while server.poll() is None and time.monotonic() < end:
        try:
            with urllib.request.urlopen(address, timeout=10) as reply:
                return str(reply.read().decode("utf-8"))
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"nothing at {address}")


def test_a_preview_is_served_without_the_policy_until_ctrl_c(
    here: Path, touchstone: Touchstone
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "touchstone", "serve", "--port", str(port), "--lang", "de"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            index = page_at(f"http://127.0.0.1:{port}/", server)
            second = touchstone("serve", "--port", port)
        finally:
            server.send_signal(signal.SIGINT)
        _, said = server.communicate(timeout=60)
    assert '<html lang="de"' in index
    assert "Content-Security-Policy" not in index
    assert second.code == 1
    assert f"can't run at http://127.0.0.1:{port}/" in second.err
    assert "--port" in second.err
    assert "Traceback" not in said
    assert names(here) == ["bundles"]


def test_mkdocs_alone_says_what_is_missing(project: Path) -> None:
    (project / "bundles").rename(project / "elsewhere")
    done = run_here("mkdocs", "build", "-q", "-d", "out")
    assert done.returncode == 1
    assert "There is no folder of bundles" in done.stderr
    assert "Traceback" not in done.stderr


def test_init_writes_nothing_where_a_project_is(project: Path, touchstone: Touchstone) -> None:
    Path("mkdocs.yml").write_text("mine", encoding="utf-8")
    done = touchstone("init")
    assert done.code == 2
    assert "mkdocs.yml, site_src, suites already" in done.err
    assert Path("mkdocs.yml").read_text(encoding="utf-8") == "mine"


def test_what_a_bundle_holds_beside_its_files_does_no_harm(
    here: Path, touchstone: Touchstone
) -> None:
    write_judged(here / "bundles" / "more").write("notes.txt", b"\xff\xfe")
    (here / "bundles" / "no-bundle").mkdir()
    (here / "bundles" / "README.md").write_text("hello", encoding="utf-8")
    result: dict[str, Any] = touchstone("build-site", "--json").json
    assert result["broken_links"] == 0


# --- the lock ------------------------------------------------------------------------------


def drop_prompt_e2(folder: Path) -> None:
    """Take a prompt out of the bundle's suite."""
    suite = folder / "bundles" / "tiny" / "suite.yaml"
    lines = suite.read_text(encoding="utf-8").splitlines(keepends=True)
    suite.write_text("".join(one for one in lines if "id: E2" not in one), encoding="utf-8")


def test_a_lock_stops_a_build_until_there_is_a_decision(here: Path, touchstone: Touchstone) -> None:
    lock = here / "site" / "permalinks.json"
    done = touchstone("build-site", "--lock", lock)
    assert (done.code, "There is no lock" in done.err) == (1, True)
    assert touchstone("build-site").code == 0
    drop_prompt_e2(here)
    before = (here / "site" / MANIFEST).read_bytes()
    done = touchstone("build-site", "--lock", "site/permalinks.json")
    assert done.code == 1
    assert "gone: bundles/tiny/prompts/E2.html" in done.err
    assert "The site that was there before is untouched." in done.err
    assert (here / "site" / MANIFEST).read_bytes() == before
    done = touchstone("build-site", "--lock", lock, "--tombstone", "--reason", "Too easy.")
    assert done.code == 0
    assert "3 tombstones" in done.err
    assert "Too easy." in (here / "site/bundles/tiny/prompts/E2.html").read_text(encoding="utf-8")
    assert touchstone("build-site", "--lock", lock).code == 0
    assert names(here) == ["bundles", "site"]


def test_a_project_names_its_lock_and_mkdocs_alone_minds_it(project: Path) -> None:
    assert run_here("touchstone", "build-site").returncode == 0
    shutil.copy("site/permalinks.json", "published.json")
    settings = Path("mkdocs.yml").read_text(encoding="utf-8")
    Path("mkdocs.yml").write_text(
        settings.replace("lang: en", "lang: en\n      lock: published.json"), encoding="utf-8"
    )
    drop_prompt_e2(project)
    for command in (["touchstone", "build-site"], ["mkdocs", "build", "-q", "-d", "out"]):
        done = run_here(*command)
        assert done.returncode == 1
        assert "gone: bundles/tiny/prompts/E2.html" in done.stderr
        assert "Traceback" not in done.stderr
    assert run_here("touchstone", "build-site", "--tombstone").returncode == 0
