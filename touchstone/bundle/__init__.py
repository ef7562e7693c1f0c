"""A bundle on disk: the only package that knows the names of the files in it."""

from __future__ import annotations

from touchstone.bundle.reading import (
    ANSWERS,
    LOCK,
    MANIFEST,
    REPORTS,
    REVIEWS,
    SUITE,
    VERDICTS,
    AnswerKey,
    Bundle,
    Pair,
    find_bundles,
    is_bundle,
)
from touchstone.bundle.writing import BundleWriter, copy_answers, create_bundle, write_bundle

__all__ = [
    "ANSWERS",
    "LOCK",
    "MANIFEST",
    "REPORTS",
    "REVIEWS",
    "SUITE",
    "VERDICTS",
    "AnswerKey",
    "Bundle",
    "BundleWriter",
    "Pair",
    "copy_answers",
    "create_bundle",
    "find_bundles",
    "is_bundle",
    "write_bundle",
]
