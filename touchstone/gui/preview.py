"""Serves a site while it is worked on: builds again when a bundle changes, without the policy."""

from __future__ import annotations

from mkdocs.commands.serve import serve as mkdocs_serve

from touchstone.gui.build import BuildOptions, project_file
from touchstone.gui.plugin import options_set_to


def serve_site(options: BuildOptions, *, address: str, open_in_browser: bool) -> None:
    """Build into a temporary folder, serve it at ``address`` (host:port), watch the bundles."""
    with options_set_to(
        bundles=str(options.bundles.absolute()), lang=options.language, index=options.index
    ):
        mkdocs_serve(
            config_file=str(project_file()),
            watch=[str(options.bundles.absolute())],
            open_in_browser=open_in_browser,
            dev_addr=address,
        )
