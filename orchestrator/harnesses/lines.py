"""What harnesses share of reading a line of output: it may be anything at all, and never raises [pure]."""

from collections.abc import Mapping
from typing import Any

import orjson

LONGEST_RAW = 4000
DEEPEST = 100
"""Nested deeper than this, a line is kept as it stands: nothing behind us could write it out again."""


def raw(line: str) -> tuple[str, Mapping[str, Any]]:
    """The event of a line that isn't understood."""
    return "raw", {"text": line[:LONGEST_RAW]}


def object_in(line: str) -> Mapping[str, Any] | None:
    """The JSON object that a line is; None when it is anything else."""
    try:
        said = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return said if isinstance(said, dict) and not _deeper(said, DEEPEST) else None


def objects(value: Any) -> list[Mapping[str, Any]]:
    """The objects in a list; none when it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text_at(holder: Any, key: str) -> str:
    """The text at `key`; empty when there is none."""
    value = holder.get(key) if isinstance(holder, dict) else None
    return value if isinstance(value, str) else ""


def number_at(holder: Mapping[str, Any], key: str) -> float:
    """The number at `key`; 0 when there is none."""
    value = holder.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0


def shown(content: Any) -> str:
    """The text of a tool's result: a text, or blocks; what is none is named by its type."""
    if isinstance(content, str):
        return content
    return "\n".join(
        text_at(block, "text") if block.get("type") == "text" else f"[{text_at(block, 'type')}]"
        for block in objects(content)
    )


def _deeper(value: Any, levels: int) -> bool:
    """Whether anything is nested deeper than so many levels, without going deeper itself."""
    layer = [value]
    while layer and levels:
        inner = [item for outer in layer for item in _items(outer)]
        layer, levels = [item for item in inner if isinstance(item, dict | list)], levels - 1
    return bool(layer)


def _items(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value
