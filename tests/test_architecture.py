"""The one-way data flow, as a test. A new module must be given a layer here."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "touchstone"
GEN_PAGES = ROOT / "site_src" / "gen_pages.py"
REPLIES = {"reply_syntax", "reply_json", "reply_values", "reply_claims", "judge_reply"}
JUDGING = {"judge", "judge_config", "judge_prompt", "exchange"} | REPLIES
JUDGING |= {"judge_probe", "probes", "probe_texts"}
TOTALS = {"scorecard", "bundle", "bundle_check", "gui.report_md", "importers", "exporters"}
OUT_OF_THE_SITE = {"run", "endpoints", "importers", *JUDGING}

# Lowest first. A unit may import only units of a strictly lower layer. A unit is a top-level
# module or package; gui is split, and what is not named of it here is the unit "site".
LAYERS: list[set[str]] = [
    {"errors", "fields", "slugs", "files", "streaming", "reply_syntax", "gui.quote_marks"}
    | {"intervals", "json_text", "gui.word_diff", "aliases"},
    {"models", "probe_records", "yaml_source", "reply_json", "gui.safe_html", "correlation"},
    {"suite", "records", "scorecard", "evidence", "agreement", "model_agreement", "quality_judge"}
    | {"judge_prompt", "reply_values", "model_specs", "probe_texts", "gui.suite_changes"},
    {"bundle", "judge_config", "reply_claims", "evidence_audit", "probes", "probe_summary"},
    {"bundle_evidence", "evidence_gate"},
    {"bundle_check", "bundle_scores", "judge_reply", "exchange", "memory_store"}
    | {"endpoints", "importers", "gui.report_md", "gui.links", "gui.permalinks"},
    {"run", "judge", "exporters", "gui.judge_meta", "search_store"},
    {"site", "judge_probe"},
    {"cli"},
    {"__main__"},
]
# Layers alone would allow these; the data flow does not, not even through another unit.
FORBIDDEN: Mapping[str, set[str]] = {
    # A judge that sees totals is not blind; records are written by whoever reads the stream.
    "run": TOTALS,
    **dict.fromkeys(JUDGING, TOTALS),
    "importers": {"scorecard", "gui.report_md"},
    "gui.report_md": {"bundle", "bundle_check"},
    "gui.judge_meta": {"bundle", "bundle_check"},
    # A build needs no network and no key.
    "site": OUT_OF_THE_SITE,
    "gui.links": OUT_OF_THE_SITE,
}
# Outside packages, and the only units (or modules of the site) that may import them.
CONFINED: Mapping[str, set[str]] = {
    "click": {"cli"},
    "rich": {"cli"},
    "httpx": {"endpoints"},
    "tenacity": {"endpoints"},
    "stamina": {"endpoints"},
    "xllamacpp": {"endpoints"},
    "jinja2": {"site"},
    "babel": {"site"},
    "nh3": {"gui.safe_html"},
    "markdown_it": {"gui.safe_html"},
    "mkdocs": {"gui.plugin", "gui.build", "gui.preview"},
    "mkdocs_gen_files": set(),
    "json_repair": {"reply_syntax"},
    "rapidfuzz": {"evidence"},
    "filelock": {"bundle", "endpoints", "gui.target"},
    "yaml": {"yaml_source", "exchange", "gui.plugin", "gui.build"},
}
# These give the same for the same arguments, and touch nothing.
PURE = {"errors", "fields", "models", "slugs", "scorecard", "evidence", "agreement"} | {
    *("evidence_audit", "evidence_gate", "aliases"),
    *("quality_judge", "judge_prompt", "judge_config", "exchange", "gui.report_md"),
    *("gui.judge_meta", "gui.links", "gui.permalinks", "gui.quote_marks", "gui.safe_html"),
    *("probes", "probe_texts", "probe_summary", "probe_records"),
    *("gui.word_diff", "gui.suite_changes"),
    *REPLIES,
}
IMPURE_IMPORTS = {
    "os",
    "io",
    "pathlib",
    "shutil",
    "tempfile",
    "subprocess",
    "socket",
    "sqlite3",
} | {
    *("httpx", "urllib", "sys", "time", "random", "secrets", "asyncio", "threading"),
}
IMPURE_CALLS = {"open", "print", "input", "exec", "eval"}
BUNDLE_FILES = {
    *("bundle.yaml", "answers.jsonl", "verdicts.jsonl", "reports.jsonl", "reviews.jsonl"),
    "judge_probes.jsonl",
}
MAX_LINES, MAX_FUNCTION_LINES, MAX_GEN_PAGES_LINES = 500, 40, 30

MODULES = sorted(PACKAGE.rglob("*.py"))
TESTS = sorted((ROOT / "tests").glob("*.py"))
SCRIPTS = sorted([*(ROOT / "benchmarks").rglob("*.py"), *(ROOT / "site_src").rglob("*.py")])


def name_of(path: Path) -> str:
    """Return the dotted name of a module within the package; a package is its folder's name."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


BY_NAME = {name_of(path): path for path in MODULES}
each_module = pytest.mark.parametrize("name", BY_NAME)
each_file = pytest.mark.parametrize(
    "path",
    [*MODULES, *TESTS, *SCRIPTS],
    ids=[path.relative_to(ROOT).as_posix() for path in (*MODULES, *TESTS, *SCRIPTS)],
)


def unit_of(name: str) -> str:
    """Return the unit a module belongs to."""
    first, _, rest = name.partition(".")
    if first != "gui":
        return first
    part = f"gui.{rest.partition('.')[0]}"
    return part if any(part in layer for layer in LAYERS) else "site"


def layer_of(unit: str) -> int:
    for number, units in enumerate(LAYERS):
        if unit in units:
            return number
    pytest.fail(f"{unit!r} has no layer yet: add it to LAYERS in tests/test_architecture.py")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported_names(path: Path) -> Iterator[str]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}:{node.lineno}: use absolute imports"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def own_imports(name: str) -> frozenset[str]:
    """Return the modules of the package that a module imports."""
    found = set()
    for imported in imported_names(BY_NAME[name]):
        package, _, rest = imported.partition(".")
        if package == "touchstone" and rest not in {"", "__version__"}:
            parent = rest.rpartition(".")[0]
            found.add(rest if rest in BY_NAME else parent)
    return frozenset(found - {name})


def reached_from(name: str) -> set[str]:
    """Return every module that is loaded, directly or not, when this one is."""
    reached: set[str] = set()
    waiting = [name]
    while waiting:
        new = (own_imports(waiting.pop()) & BY_NAME.keys()) - reached
        reached |= new
        waiting += new
    return reached


@each_module
def test_imports_point_down(name: str) -> None:
    unit = unit_of(name)
    for target in sorted(own_imports(name)):
        assert target in BY_NAME, f"{name} imports {target!r}, which is no module"
        assert unit != "__init__", "touchstone/__init__.py imports nothing of its own"
        below = unit_of(target)
        assert below == unit or layer_of(below) < layer_of(unit), (
            f"{name} must not import {target}: it is not below it"
        )


@each_module
def test_no_module_reaches_what_its_unit_must_not_know(name: str) -> None:
    forbidden = FORBIDDEN.get(unit_of(name), set())
    seen = sorted(other for other in reached_from(name) if unit_of(other) in forbidden)
    assert not seen, f"{name} must not know {', '.join(seen)}, not even by way of another module"


@each_module
def test_no_imports_run_in_a_circle(name: str) -> None:
    assert name not in reached_from(name)


@each_module
def test_outside_packages_stay_where_they_belong(name: str) -> None:
    for imported in sorted(set(imported_names(BY_NAME[name]))):
        allowed = CONFINED.get(imported.partition(".")[0])
        assert allowed is None or {name, unit_of(name)} & allowed, (
            f"{name} must not import {imported}: only {', '.join(sorted(allowed)) or 'nobody'} may"
        )


@pytest.mark.parametrize("name", sorted(name for name in BY_NAME if unit_of(name) in PURE))
def test_pure_modules_do_no_input_or_output(name: str) -> None:
    imported = {one.partition(".")[0] for one in imported_names(BY_NAME[name])}
    assert not imported & IMPURE_IMPORTS, f"{name} is pure"
    called = {
        node.func.id
        for node in ast.walk(tree_of(BY_NAME[name]))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not called & IMPURE_CALLS, f"{name} is pure"


@each_module
def test_file_names_of_a_bundle_stand_in_one_module(name: str) -> None:
    if unit_of(name) == "bundle":
        return
    found = [
        f"{node.value!s} (line {node.lineno})"
        for node in ast.walk(tree_of(BY_NAME[name]))
        if isinstance(node, ast.Constant) and node.value in BUNDLE_FILES
    ]
    assert not found, f"take these from touchstone.bundle: {', '.join(found)}"


@each_file
def test_modules_stay_small(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MAX_LINES, f"{lines} lines: split it by responsibility"
    assert path.stem not in {"utils", "helpers", "common_utils", "misc"}, "name what it holds"


@each_file
def test_functions_stay_short(path: Path) -> None:
    functions = (
        node
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    lengths = [(one.name, (one.end_lineno or one.lineno) - one.lineno + 1) for one in functions]
    too_long = [f"{name} ({lines})" for name, lines in lengths if lines > MAX_FUNCTION_LINES]
    assert not too_long, f"more than {MAX_FUNCTION_LINES} lines: {', '.join(too_long)}"


@each_file
def test_annotations_are_not_evaluated(path: Path) -> None:
    body = tree_of(path).body
    code = [node for node in body if not isinstance(node, ast.Expr)]
    if path.name in {"__init__.py", "__main__.py"} or not code:
        return
    first = code[0]
    assert isinstance(first, ast.ImportFrom), "start with: from __future__ import annotations"
    assert first.module == "__future__", "start with: from __future__ import annotations"


@pytest.mark.parametrize("path", TESTS, ids=[path.name for path in TESTS])
def test_nothing_is_mocked(path: Path) -> None:
    assert not [name for name in imported_names(path) if name.startswith(("unittest", "mock"))]


def test_only_one_short_script_knows_mkdocs_gen_files() -> None:
    users = [path for path in SCRIPTS if "mkdocs_gen_files" in set(imported_names(path))]
    assert users in ([], [GEN_PAGES])
    if GEN_PAGES.exists():
        lines = len(GEN_PAGES.read_text(encoding="utf-8").splitlines())
        assert lines <= MAX_GEN_PAGES_LINES, "the pages are made in touchstone.gui"
