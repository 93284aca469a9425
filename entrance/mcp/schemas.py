"""Schemas of others: taken as they came where they can be used [pure].

One that is no object's, or none that JSON Schema itself takes, is the widest there is instead, with a word
about it: one bad tool never hides the others.
"""

from collections.abc import Mapping
from typing import Any

import jsonschema_rs
import orjson

LARGEST = 100_000
DEEPEST = 60
_ANY: Mapping[str, Any] = {"type": "object", "additionalProperties": True}


_PATTERN_BYTES = 1 << 20


def shown(schema: Any) -> tuple[dict[str, Any], str]:
    """The schema to show, and what was wrong with the one that is not shown (empty: nothing)."""
    trouble = _trouble_with(schema)
    if trouble:
        return dict(_ANY), trouble
    return {"type": "object", **schema}, ""


def _trouble_with(schema: Any) -> str:
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        return "it is not an object's"
    if not _shallow(schema, DEEPEST):
        return f"it is nested deeper than {DEEPEST}"
    if len(orjson.dumps(schema)) > LARGEST:
        return f"it is larger than {LARGEST} bytes"
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        return "its properties are no object"
    return "" if _is_valid(schema) else "it is no JSON Schema"


def _is_valid(schema: Mapping[str, Any]) -> bool:
    """Whether it is a JSON Schema of a dialect known here, whose references lead somewhere."""
    try:
        jsonschema_rs.validator_for(
            dict(schema),
            offline=True,
            pattern_options=jsonschema_rs.RegexOptions(size_limit=_PATTERN_BYTES),
        )
    except (ValueError, jsonschema_rs.ReferencingError):
        return False
    return True


def _shallow(value: Any, left: int) -> bool:
    if left < 0:
        return False
    match value:
        case dict():
            return all(_shallow(each, left - 1) for each in value.values())
        case list():
            return all(_shallow(each, left - 1) for each in value)
        case _:
            return True
