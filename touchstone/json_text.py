"""JSON for people and scripts: indented, readable, always valid UTF-8."""

from __future__ import annotations

import json


def json_text(value: object) -> str:
    """Return a value as indented JSON without a last line break.

    Letters stay letters; only where a string can't be UTF-8 (a lone surrogate) are all escaped.
    """
    text = json.dumps(value, ensure_ascii=False, indent=2)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=True, indent=2)
    return text
