"""Input schemas as they are shown to clients [pure].

A model's provider refuses all tools of a request for one schema that it can't read. So each is shown
as it came where it is an object's schema that JSON Schema itself takes, and else as the widest that
every provider takes, with a word about it: one bad tool never hides the others.
"""

from collections.abc import Mapping
from typing import Any

import jsonschema_rs
import orjson

LARGEST = 100_000
DEEPEST = 60
_ANY: Mapping[str, Any] = {"type": "object", "additionalProperties": True}


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
    try:
        return jsonschema_rs.meta.is_valid(dict(schema))
    except (ValueError, jsonschema_rs.ReferencingError):
        return False  # a dialect that nobody here knows


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
