"""The kinds of field the models are made of: raw strings, shown texts, scores, numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    StrictInt,
)

Part = TypeVar("Part")
_SPLIT_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def _raw_string(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    return _SPLIT_PAIR.sub(_join_pair, value)


def _join_pair(found: re.Match[str]) -> str:
    return found[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


RawStr = Annotated[str, PlainValidator(_raw_string), PlainSerializer(lambda value: value)]
"""A string exactly as some model or tool produced it: lone surrogates, NUL and all.

pydantic's own ``str`` refuses lone surrogates, which models do emit. The two halves of one
character, which a stream may deliver apart, are joined: JSON would join them anyway.
"""


def _shown_text(value: object) -> str | dict[str, str]:
    if isinstance(value, str):
        return value
    parts = dict(value) if isinstance(value, Mapping) else {}
    if parts and all(isinstance(part, str) for pair in parts.items() for part in pair):
        return parts
    raise ValueError("must be a string, or a map from language to string")


Text = Annotated[
    str | dict[str, str], PlainValidator(_shown_text), PlainSerializer(lambda value: value)
]
"""A shown text: one string, or a map from language to string."""

Score = Annotated[StrictInt, Field(ge=1, le=5)]
Flag = Literal["green", "yellow", "red"]
Kind = Literal["ai", "human"]
JudgingMode = Literal["single", "map-reduce"]


def _no_bool(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("must be a number, not true or false")
    return value


Number = Annotated[float, BeforeValidator(_no_bool)]


def at_least_one(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Refuse an empty list; unlike ``min_length`` it does not count entries that are wrong."""
    if not parts:
        raise ValueError("must have at least one entry")
    return parts


def pick_text(text: Text | None, *languages: str) -> tuple[str, str | None]:
    """Return a shown text in the first language there is, and that language.

    Order: ``languages`` as given, then whatever the map lists first. A plain string has no
    language of its own (``None``).
    """
    if text is None or isinstance(text, str):
        return text or "", None
    for language in languages:
        if language in text:
            return text[language], language
    return next(((value, language) for language, value in text.items()), ("", None))


class Written(BaseModel):
    """Part of a file that people write: an unknown key is a typing error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Record(BaseModel):
    """A record that a tool writes: keys of newer versions are kept."""

    model_config = ConfigDict(
        frozen=True, extra="allow", protected_namespaces=(), allow_inf_nan=False
    )
