"""The scorecard of a bundle, as ``touchstone score`` prints it and the site publishes it."""

from __future__ import annotations

from typing import Any

from touchstone.bundle import Bundle
from touchstone.scorecard import MasterRow, master_rows, scorecard_json


def rows_of_bundle(bundle: Bundle) -> list[MasterRow]:
    """Return the rows of a bundle's scorecard.

    Raises:
        BundleError: a verdict, report or decision can't be read; the gate must have seen them all.
    """
    bundle.verdicts.require_clean()
    bundle.reports.require_clean()
    return master_rows(
        bundle.suite, bundle.manifest.models, bundle.reports, bundle.verdicts, bundle.reviews()
    )


def scorecard_of_bundle(bundle: Bundle, rows: list[MasterRow] | None = None) -> dict[str, Any]:
    """Return the object that ``touchstone score BUNDLE --json`` prints.

    ``rows`` are the bundle's own, where they are known already.

    Raises:
        BundleError: a verdict, report or decision can't be read.
    """
    judge = bundle.manifest.judge
    return scorecard_json(
        bundle.id,
        bundle.suite,
        judge.fingerprint if judge else None,
        rows_of_bundle(bundle) if rows is None else rows,
    )
