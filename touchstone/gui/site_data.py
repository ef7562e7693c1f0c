"""Publishes the data itself beside its pages, so that a reader can derive every number again."""

from __future__ import annotations

from pathlib import Path

from touchstone.bundle.archive import pack_bundle
from touchstone.bundle_scores import scorecard_of_bundle
from touchstone.errors import BundleError, SiteError
from touchstone.gui.bundle_view import BundleView
from touchstone.json_text import json_text


def publish_data(site: Path, view: BundleView) -> None:
    """Write a bundle's ``bundle.zip`` and ``score.json`` into its folder of a site.

    Both are the same at every build. Files of the bundle are read in pieces.

    Raises:
        SiteError: a file that the bundle needs is a link, which is not published.
    """
    bundle, links = view.bundle, view.links
    (site / links.root).mkdir(parents=True, exist_ok=True)
    try:
        pack_bundle(bundle, site / links.archive)
    except BundleError as failure:
        hint = f"{failure.hint} Or build the site without its data: --no-data."
        raise SiteError(failure.message, hint=hint) from None
    scores = json_text(scorecard_of_bundle(bundle, view.all_rows)) + "\n"
    (site / links.scores).write_text(scores, encoding="utf-8", newline="\n")
