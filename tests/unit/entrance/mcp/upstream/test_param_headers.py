"""Arguments that are repeated in headers, and tools that want what can't be."""

from typing import Any

import pytest

from entrance.mcp.upstream.param_headers import param_headers, trouble_with

REGION = {"type": "string", "x-mcp-header": "Region"}


def tool(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"inputSchema": {"type": "object", "properties": properties, **more}}


@pytest.mark.parametrize(
    ("kind", "value", "told"),
    [
        ("string", "us west", "us west"),
        ("string", "", ""),
        ("string", " padded ", "=?base64?IHBhZGRlZCA=?="),
        ("string", "a\r\nX-Evil: b", "=?base64?YQ0KWC1FdmlsOiBi?="),
        ("integer", 42, "42"),
        ("boolean", True, "true"),
        ("boolean", False, "false"),
    ],
)
def test_an_argument_is_repeated_as_a_header_can_carry_it(
    kind: str, value: object, told: str
) -> None:
    wanted = tool({"a": {"type": kind, "x-mcp-header": "A"}, "b": {"type": "string"}})
    assert param_headers(wanted, {"a": value, "b": "not this"}) == {"Mcp-Param-A": told}


@pytest.mark.parametrize(
    "arguments", [{}, {"region": None}, {"region": {"a": 1}}, {"region": ["a"]}, {"other": "b"}]
)
def test_what_is_not_there_is_not_repeated(arguments: dict[str, Any]) -> None:
    assert param_headers(tool({"region": REGION}), arguments) == {}


def test_an_argument_inside_another_is_found() -> None:
    nested = tool({"place": {"type": "object", "properties": {"region": REGION}}})
    assert trouble_with(nested) == ""
    assert param_headers(nested, {"place": {"region": "here"}}) == {"Mcp-Param-Region": "here"}
    assert param_headers(nested, {"place": "here", "region": "here"}) == {}


@pytest.mark.parametrize(
    ("properties", "trouble"),
    [
        ({"a": {"type": "string", "x-mcp-header": ""}}, "impossible name"),
        ({"a": {"type": "string", "x-mcp-header": "My Region"}}, "impossible name"),
        ({"a": {"type": "string", "x-mcp-header": "A\n"}}, "impossible name"),
        ({"a": {"type": "string", "x-mcp-header": "Région"}}, "impossible name"),
        ({"a": {"type": "string", "x-mcp-header": 7}}, "impossible name"),
        ({"a": {"type": "number", "x-mcp-header": "A"}}, "neither string"),
        ({"a": {"type": ["string"], "x-mcp-header": "A"}}, "neither string"),
        ({"a": {"x-mcp-header": "A"}}, "neither string"),
        ({"a": REGION, "b": {**REGION, "x-mcp-header": "region"}}, "one header"),
        ({"a": {"type": "array", "items": REGION}}, "no argument"),
        ({"a": {"type": "array", "items": {"properties": {"b": REGION}}}}, "no argument"),
        ({"a": {"anyOf": [{"properties": {"b": REGION}}]}}, "no argument"),
    ],
)
def test_a_tool_that_wants_what_is_not_allowed_is_told_apart(
    properties: dict[str, Any], trouble: str
) -> None:
    assert trouble in trouble_with(tool(properties))


@pytest.mark.parametrize(
    "listed",
    [
        {},
        {"inputSchema": "words"},
        {"inputSchema": {"x-mcp": "A"}},
        tool({}),
        tool({"region": REGION}),
        tool({"x-mcp-header": {"type": "string"}}),
        tool({"a": {"type": "object", "default": {"x-mcp-header": "not a wish"}}}),
        tool({"a": {"const": {"x-mcp-header": ""}}}),
    ],
)
def test_any_other_tool_is_all_right(listed: dict[str, Any]) -> None:
    assert trouble_with(listed) == ""


@pytest.mark.parametrize("keyword", ["$defs", "patternProperties", "then", "prefixItems", "allOf"])
def test_wishes_are_found_wherever_there_are_schemas(keyword: str) -> None:
    below = {"$defs": {"b": REGION}, "patternProperties": {"b": REGION}, "then": REGION}
    assert "no argument" in trouble_with(tool({}, **{keyword: below.get(keyword, [REGION])}))


def test_the_deepest_schema_is_looked_at() -> None:
    schema: dict[str, Any] = REGION
    for _ in range(5000):
        schema = {"not": schema}
    assert "no argument" in trouble_with({"inputSchema": schema})
