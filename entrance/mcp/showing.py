"""A tool as clients are shown it [pure].

One field that is not what MCP says it is makes some clients refuse the whole list, so such a field is left
out. Harnesses, which pass schemas on to a model's provider, get them in the form that each provider reads.
"""

from collections.abc import Callable, Mapping
from typing import Any

from entrance.mcp import schemas
from entrance.mcp.catalogue import Entry
from entrance.mcp.portable import portable


def shown_tool(entry: Entry, *, held: bool, for_harness: bool) -> dict[str, Any]:
    """It, under the name that it is shown under.

    What may be `held` promises no form of its results: it may be told so. Nor does a harness need that
    promise, which a result that is too long can't keep.
    """
    listed = {
        name: value for name, value in entry.listed.items() if _FITS.get(name, _anything)(value)
    }
    listed |= {"name": entry.shown, "inputSchema": {"type": "object", **entry.schema}}
    if held or for_harness:
        listed.pop("outputSchema", None)
    if for_harness:
        listed["inputSchema"] = portable(entry.schema)
    if entry.trouble:
        told = f"{listed.get('description') or ''}\n[its input schema is left out: {entry.trouble}]"
        listed["description"] = told.strip()
    return listed


def _anything(_: object) -> bool:
    return True


def _text(value: object) -> bool:
    return isinstance(value, str)


def _object(value: object) -> bool:
    return isinstance(value, dict)


def _hints(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    return all(isinstance(each, str if name == "title" else bool) for name, each in value.items())


def _icons(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, dict) and isinstance(each.get("src"), str) for each in value
    )


def _usable(schema: object) -> bool:
    return not schemas.shown(schema)[1]


_FITS: Mapping[str, Callable[[object], bool]] = {
    "title": _text,
    "description": _text,
    "annotations": _hints,
    "icons": _icons,
    "outputSchema": _usable,
    "execution": _object,
    "_meta": _object,
}
"""What each field of a tool has to be; of others MCP says nothing."""
