"""``touchstone init``: lay out a project that can be changed."""

from __future__ import annotations

import shutil
from importlib import resources
from pathlib import Path

import click

from touchstone.cli.common import say
from touchstone.errors import UsageError
from touchstone.gui.build import packaged_project

_IGNORE = "site/\nsite.new/\nsite.old/\n.site.lock\n.touchstone.lock\n__pycache__/\n"


@click.command("init", epilog="Example: touchstone init my-evaluations")
@click.argument("folder", metavar="[DIR]", type=click.Path(path_type=Path), default=Path())
def command(folder: Path) -> None:
    """Lay out a project in DIR: suites/, bundles/, site_src/ and mkdocs.yml, to be changed.

    Nothing that exists is overwritten.
    """
    source = packaged_project()
    taken = [name for name in ("mkdocs.yml", "site_src", "suites") if (folder / name).exists()]
    if taken:
        raise UsageError(
            f"{folder} has {', '.join(taken)} already; nothing was changed.",
            hint="Choose another folder: touchstone init DIR",
        )
    folder.mkdir(parents=True, exist_ok=True)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(source / "site_src", folder / "site_src", ignore=ignored)
    shutil.copy(source / "mkdocs.yml", folder / "mkdocs.yml")
    (folder / "bundles").mkdir(exist_ok=True)
    (folder / "suites").mkdir()
    example = resources.files("touchstone") / "suites" / "demo-en.yaml"
    (folder / "suites" / "example.yaml").write_bytes(example.read_bytes())
    if not (folder / ".gitignore").exists():
        (folder / ".gitignore").write_text(_IGNORE, encoding="utf-8")
    say(
        f"Laid out {folder.resolve()}:\n"
        "  suites/example.yaml  a suite to start from (touchstone verify suites/example.yaml)\n"
        "  bundles/             where runs go (touchstone run … -o bundles/NAME)\n"
        "  site_src/            pages, styles and templates of the site\n"
        "  mkdocs.yml           its configuration (touchstone build-site)"
    )
