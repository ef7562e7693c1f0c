"""Which models a run asks, and how: from the command line or from a models file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, StrictInt, ValidationError, field_validator

from touchstone.errors import InputError, Problem
from touchstone.fields import RawStr, Text, Written
from touchstone.yaml_source import explain, parse_yaml, read_text

LOCAL_PREFIX = "local:"
RESERVED_PARAMETERS = frozenset({"model", "messages"})
"""What no parameter may set: it would not be what the bundle says was asked."""


class ModelSpec(Written):
    """One (model, variant) to ask; an entry of the models file.

    ``model`` is sent verbatim; ``local:NAME`` means an embedded model.
    """

    model: RawStr
    variant: RawStr = "default"
    label: Text | None = None
    base_url: RawStr | None = None
    api_key_env: RawStr | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    system: RawStr | None = None
    extra_body: dict[str, Any] = Field(default_factory=dict)
    concurrency: Annotated[StrictInt, Field(ge=1)] | None = None
    rpm: Annotated[StrictInt, Field(ge=1)] | None = None

    @field_validator("model", "variant")
    @classmethod
    def _has_a_name(cls, name: str) -> str:
        if not name.removeprefix(LOCAL_PREFIX).strip():
            raise ValueError("must not be empty")
        return name

    @field_validator("parameters", "extra_body")
    @classmethod
    def _asks_what_is_recorded(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        reserved = sorted(RESERVED_PARAMETERS & set(parameters))
        if reserved:
            raise ValueError(f"can't set {', '.join(reserved)}")
        return parameters

    @field_validator("extra_body")
    @classmethod
    def _leaves_sampling_alone(cls, extra_body: dict[str, Any]) -> dict[str, Any]:
        # What is merged last would win over a prompt's own limit and over the seed of a repeat.
        sampling = sorted({"max_tokens", "seed"} & set(extra_body))
        if sampling:
            raise ValueError(f"{', '.join(sampling)}: put this under parameters")
        return extra_body

    @property
    def local_id(self) -> str | None:
        """The embedded model's id, or None for a model behind an endpoint."""
        is_local = self.model.startswith(LOCAL_PREFIX)
        return self.model.removeprefix(LOCAL_PREFIX) if is_local else None

    @property
    def name(self) -> str:
        """The model's name in a bundle."""
        return self.local_id or self.model


def load_model_specs(path: Path) -> list[ModelSpec]:
    """Read a models file: a YAML list of entries; all problems are named with line and key.

    Raises:
        InputError: it can't be read, or an entry is wrong, or a (model, variant) stands twice.
    """
    document = parse_yaml(read_text(path, InputError), path.name, InputError)
    if not isinstance(document.data, list) or not document.data:
        raise InputError(
            f"{path} is no models file: it must be a list of entries with at least a model each."
        )
    specs: dict[int, ModelSpec] = {}
    for index, entry in enumerate(document.data):
        try:
            specs[index] = ModelSpec.model_validate(entry)
        except ValidationError as failure:
            data = entry if isinstance(entry, Mapping) else {}
            document.problems += [
                Problem(code, document.where((index, *loc)), message)
                for loc, code, message in explain(failure, data)
            ]
    seen: set[tuple[str, str]] = set()
    for index, spec in specs.items():
        if (spec.name, spec.variant) in seen:
            message = f"{spec.name} ({spec.variant}) stands here twice"
            document.problems.append(Problem("duplicate", document.where((index,)), message))
        seen.add((spec.name, spec.variant))
    if document.problems:
        raise InputError(f"{path} can't be used:", document.problems)
    return list(specs.values())
