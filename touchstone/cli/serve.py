"""``touchstone serve``: preview the site."""

from __future__ import annotations

from pathlib import Path

import click

from touchstone.cli.build_site import BUNDLES, LANGUAGE, check_reason, lock_options
from touchstone.cli.common import say
from touchstone.gui.build import BuildOptions
from touchstone.gui.preview import serve_site


@click.command("serve", epilog="Example: touchstone serve --port 8001 --open")
@BUNDLES
@LANGUAGE
@lock_options
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    default=8000,
    show_default=True,
    help="Port to listen on.",
)
@click.option("--open", "open_in_browser", is_flag=True, help="Open the browser.")
def command(
    bundles: Path | None,
    lang: str | None,
    lock: Path | None,
    tombstone: bool,
    reason: str | None,
    host: str,
    port: int,
    open_in_browser: bool,
) -> None:
    """Preview the site; it is built again when a bundle changes. Stop with Ctrl-C.

    A preview goes without the Content-Security-Policy, because its live reload needs a script.
    Permalinks that would break are warned of, and do not stop it.
    """
    why = check_reason(reason, tombstone=tombstone)
    say(f"Preview at http://{host}:{port}/ (Ctrl-C stops it)")
    options = BuildOptions(bundles, language=lang, lock=lock, tombstone=tombstone, reason=why)
    serve_site(options, address=f"{host}:{port}", open_in_browser=open_in_browser)
