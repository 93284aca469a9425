"""Counts and parts out of JSON that may be anything at all [pure]."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson


def json_in(raw: bytes) -> Any:
    """The JSON that the bytes are; None when they are anything else."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None


def object_in(raw: bytes) -> dict[str, Any] | None:
    """The JSON object that the bytes are; None when they are anything else."""
    told = json_in(raw)
    return told if isinstance(told, dict) else None


def request_in(raw: bytes) -> dict[str, Any]:
    """A request's body. Raises: ValueError when it is no JSON, TypeError when it is no object."""
    told = orjson.loads(raw)
    if not isinstance(told, dict):
        raise TypeError("the body must be an object")
    return told


def model_in(asked: Mapping[str, Any]) -> str:
    """The model that a request names. Raises: TypeError when it names none."""
    model = asked.get("model")
    if not isinstance(model, str):
        raise TypeError("the body must name its model")
    return model


def usage_in(raw: bytes, key: str) -> Mapping[str, Any] | None:
    """The usage in a whole answer, at `key`; None when there is none in it."""
    usage = (object_in(raw) or {}).get(key)
    return usage if isinstance(usage, dict) else None


def count(holder: Any, key: str) -> int:
    """A count at `key`; 0 when there is none, or nothing that counts."""
    value = holder.get(key) if isinstance(holder, dict) else None
    return value if isinstance(value, int) and value > 0 else 0


def part(holder: Any, key: str) -> Mapping[str, Any]:
    """The object at `key`; an empty one when there is none."""
    value = holder.get(key) if isinstance(holder, dict) else None
    return value if isinstance(value, dict) else {}


def parts(items: Any) -> Sequence[Mapping[str, Any]]:
    """Every object in a list; none when it is no list."""
    if not isinstance(items, list):
        return ()
    return [item for item in items if isinstance(item, dict)]


def limit(asked: Mapping[str, Any], key: str) -> int | None:
    """A limit that a request sets; None when it sets none.

    Raises: TypeError when it is no number, ValueError when it is less than 1.
    """
    value = asked.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"`{key}` must be a whole number")
    if value < 1:
        raise ValueError(f"`{key}` must be at least 1")
    return value
