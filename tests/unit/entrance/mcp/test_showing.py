"""Tools as clients are shown them: one that is odd never makes a client refuse the others."""

from typing import Any

import mcp_types as types
import pytest

from entrance.mcp.catalogue import Granted, catalogue
from entrance.mcp.showing import shown_tool

WIDE = {"type": "object", "allOf": [{"required": ["a"]}], "properties": {"a": {"$ref": "#/$defs/b"}},
        "$defs": {"b": {"type": "string"}}}  # fmt: skip
OUT = {"type": "object", "properties": {"n": {"type": "integer"}}}


def shown(*, held: bool = False, for_harness: bool = False, **fields: Any) -> dict[str, Any]:
    listed = {"name": "t", "inputSchema": WIDE, **fields}
    entry = catalogue({"a": [listed]}, {"a": Granted(frozenset({"t"}))})["t"]
    return shown_tool(entry, held=held, for_harness=for_harness)


def test_a_client_that_is_no_harness_gets_a_tool_as_its_server_has_it() -> None:
    own: dict[str, Any] = {
        "title": "T",
        "description": "Do.",
        "outputSchema": OUT,
        "annotations": {"title": "T"},
        "icons": [{"src": "a"}],
        "_meta": {"x": 1},
        "unheard": [1],
    }
    assert shown(**own) == {"name": "t", "inputSchema": WIDE, **own}


def test_a_harness_gets_a_schema_that_each_provider_reads_and_no_promise_of_results() -> None:
    tool = shown(for_harness=True, outputSchema=OUT)
    assert tool["inputSchema"] == {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
    }
    assert "outputSchema" not in tool
    assert "outputSchema" not in shown(held=True, outputSchema=OUT)


def test_a_tool_without_a_schema_takes_any_object() -> None:
    entry = catalogue({"a": [{"name": "t"}]}, {"a": Granted(frozenset({"t"}))})["t"]
    tool = shown_tool(entry, held=False, for_harness=False)
    assert tool == {"name": "t", "inputSchema": {"type": "object"}}


@pytest.mark.parametrize(
    "fields",
    [
        {"description": 5},
        {"title": ["T"]},
        {"annotations": "read only"},
        {"annotations": {"readOnlyHint": "yes"}},
        {"icons": "none"},
        {"icons": [{"href": "x"}]},
        {"_meta": []},
        {"execution": "later"},
        {"outputSchema": {"type": "string"}},
        {"outputSchema": {"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}}},
        {"outputSchema": {"type": "object", "properties": {"a": {"type": "no such"}}}},
    ],
)
def test_a_field_that_is_not_what_it_has_to_be_is_left_out(fields: dict[str, Any]) -> None:
    tool = shown(**fields)
    assert not fields.keys() & tool.keys()
    types.Tool.model_validate(tool)
