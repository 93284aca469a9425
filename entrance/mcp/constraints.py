"""Bounds of arguments: JSON Schemas, compiled once, on a linear engine, that fetch nothing."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import jsonschema_rs
import orjson

PATTERN_BYTES = 1 << 20
LONGEST_SCHEMA = 64 * 1024
_KEPT = 1024


class Unusable(ValueError):
    """A schema that can't be one; the message says why."""


@lru_cache(_KEPT)
def compiled(schema: str) -> jsonschema_rs.Validator:
    """The validator of a schema in JSON. Raises: Unusable."""
    if len(schema) > LONGEST_SCHEMA:
        raise Unusable(f"a schema has at most {LONGEST_SCHEMA} characters")
    try:
        read = orjson.loads(schema)
        return jsonschema_rs.validator_for(
            read,
            offline=True,
            pattern_options=jsonschema_rs.RegexOptions(size_limit=PATTERN_BYTES),
        )
    except ValueError as error:
        raise Unusable(f"it is no JSON Schema that can be used: {str(error)[:200]}") from error


def misfit(schema: str, arguments: Mapping[str, Any]) -> str:
    """Where the arguments don't fit, as a sentence without its end; empty when they do.

    A schema that can't be used fits nothing.
    """
    try:
        first = next(compiled(schema).iter_errors(dict(arguments)), None)
    except ValueError as error:
        return str(error)
    if first is None:
        return ""
    where = "/".join(str(step) for step in first.instance_path)
    return f"{where or 'arguments'}: {first.message[:300]}"


def exactly(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The schema that only these arguments fit."""
    return {"const": dict(arguments)}
