"""Schemas as they are shown: one bad one never hides the others."""

from typing import Any

import pytest

from entrance.mcp.schemas import shown

WIDEST = {"type": "object", "additionalProperties": True}


def test_a_schema_is_shown_as_it_came_with_words_that_nobody_here_knows() -> None:
    schema = {"type": "object", "$defs": {"a": {"$anchor": "b"}}, "x-mcp-header": "c"}
    assert shown(schema) == (schema, "")
    assert shown({"properties": {}}) == ({"type": "object", "properties": {}}, "")


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param(None, id="none"),
        pytest.param([], id="a list"),
        pytest.param({"type": "string"}, id="of a text"),
        pytest.param({"type": "object", "properties": []}, id="properties that are a list"),
        pytest.param({"properties": {"a": {"type": "no such"}}}, id="a type that there is not"),
        pytest.param({"required": "a"}, id="required that is no list"),
        pytest.param({"$schema": "https://example.invalid/x"}, id="a dialect of its own"),
        pytest.param(nested(100), id="an abyss"),
        pytest.param({"description": "x" * 200_000}, id="a giant"),
    ],
)
def test_what_no_provider_takes_becomes_the_widest_that_each_takes(schema: object) -> None:
    found, trouble = shown(schema)
    assert found == WIDEST
    assert trouble
