"""Serves a site while it is worked on: builds again when a bundle changes, without the policy."""

from __future__ import annotations

from mkdocs.commands.serve import serve as mkdocs_serve

from touchstone.errors import SiteError
from touchstone.gui.build import BuildOptions, plugin_options, project_file
from touchstone.gui.plugin import options_set_to


def serve_site(options: BuildOptions, *, address: str, open_in_browser: bool) -> None:
    """Build into a temporary folder, serve it at ``address`` (host:port), watch the bundles.

    Raises:
        SiteError: the address can't be used, or there is no folder of bundles.
    """
    project = project_file()
    try:
        with options_set_to(**plugin_options(options, project)):
            mkdocs_serve(
                config_file=str(project), open_in_browser=open_in_browser, dev_addr=address
            )
    except OSError as failure:
        raise SiteError(
            f"The preview can't run at http://{address}/: {failure.strerror or failure}.",
            hint="Choose another address with --host and --port.",
        ) from None
