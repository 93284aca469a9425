"""Arguments that a tool's schema wants repeated in headers: `x-mcp-header`, in the modern era [pure].

Source: specification 2026-07-28, "Custom Headers from Tool Parameters". A tool that wants what is not allowed
there has to be left out by clients.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from entrance.mcp.messages import Json
from entrance.mcp.upstream.wire import header_value

_WISH = "x-mcp-header"
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_TYPES = ("string", "integer", "boolean")
"""Fractions are missing: they are not written alike everywhere."""
_BY_NAME = ("$defs", "definitions", "dependentSchemas", "patternProperties")
_SCHEMAS = (
    *("allOf", "anyOf", "oneOf", "not", "if", "then", "else"),
    *("items", "prefixItems", "contains", "unevaluatedItems"),
    *("additionalProperties", "propertyNames", "unevaluatedProperties", "contentSchema"),
)
"""Keywords below which there are schemas: some by their names, or one, or a list of them."""

type _Path = tuple[str, ...]
"""The properties that lead to a schema; empty at the root, and where anything else is on the way."""


def param_headers(tool: Json, arguments: Json) -> dict[str, str]:
    """The headers of a call: one for each argument that is wanted there, and given. The tool is all right."""
    headers = {}
    for path, schema in _wishing(tool):
        value = _at(arguments, path)
        if isinstance(value, str | int | float):
            told = str(value).lower() if isinstance(value, bool) else str(value)
            headers[f"Mcp-Param-{schema[_WISH]}"] = header_value(told)
    return headers


def trouble_with(tool: Json) -> str:
    """What is not allowed about the headers that a tool wants; empty: nothing."""
    taken: set[str] = set()
    for path, schema in _wishing(tool):
        wish, name = schema[_WISH], ".".join(path)[:100]
        if not path:
            return "something that is no argument wants to be in a header"
        if not isinstance(wish, str) or not _TOKEN.fullmatch(wish):
            return f"{name} wants to be in a header of an impossible name"
        if schema.get("type") not in _TYPES:
            return f"{name} wants to be in a header, and is neither string, integer nor boolean"
        if wish.lower() in taken:
            return f"two arguments want to be in one header, {wish}"
        taken.add(wish.lower())
    return ""


def _wishing(tool: Json) -> Iterator[tuple[_Path, Json]]:
    """Every schema of a tool's arguments that wants to be in a header, however deep it is nested."""
    left: list[tuple[_Path | None, Any]] = [((), tool.get("inputSchema"))]
    while left:
        path, schema = left.pop()
        if not isinstance(schema, dict):
            continue
        if _WISH in schema:
            yield path or (), schema
        for keyword, value in schema.items():
            if keyword == "properties" and isinstance(value, dict):
                left += [(_below(path, name), each) for name, each in value.items()]
            else:
                left += [(None, each) for each in _schemas_in(keyword, value)]


def _below(path: _Path | None, name: str) -> _Path | None:
    return None if path is None else (*path, name)


def _schemas_in(keyword: str, value: Any) -> Iterable[Any]:
    if keyword in _BY_NAME and isinstance(value, dict):
        return value.values()
    if keyword in _SCHEMAS:
        return value if isinstance(value, list) else [value]
    return ()


def _at(arguments: Any, path: _Path) -> Any:
    for name in path:
        arguments = arguments.get(name) if isinstance(arguments, dict) else None
    return arguments
