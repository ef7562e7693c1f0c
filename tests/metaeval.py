"""Published figures and plain reference formulas that lie beside the project."""

from __future__ import annotations

import json
import runpy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[1].parent / "shared" / "data"


def near(value: float, within: float = 1e-9) -> Any:
    """Return what equals a float that is this near to ``value``, also inside a dataclass."""
    return pytest.approx(value, abs=within)


def data_file(*parts: str) -> Path:
    path = DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"needs {'/'.join(parts)} in the data folder beside the project")
    return path


@cache
def expected_values() -> Any:
    return json.loads(data_file("metaeval", "expected_values.json").read_text(encoding="utf-8"))


@cache
def reference_formulas() -> dict[str, Any]:
    """Run the reference module from its file; unlike an import this leaves no bytecode there."""
    return runpy.run_path(str(data_file("metaeval", "reference_agreement.py")))
