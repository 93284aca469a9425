"""Arguments against schemas, some of which mean harm."""

import time
from typing import Any

import pytest

from entrance.mcp.arguments import trouble_with

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"key": {"type": "string", "pattern": "^[A-Z]+-[0-9]+$"}, "n": {"minimum": 1}},
    "required": ["key"],
    "additionalProperties": False,
}


def test_good_arguments_have_no_trouble() -> None:
    assert trouble_with(SCHEMA, {"key": "AB-1", "n": 2}) == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "key"),
        ({"key": 1}, "key"),
        ({"key": "x"}, "key"),
        ({"key": "AB-1", "n": 0}, "n: "),
        ({"key": "AB-1", "more": 1}, "more"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], said: str) -> None:
    assert said in trouble_with(SCHEMA, arguments)


def test_a_schema_that_points_elsewhere_is_not_fetched() -> None:
    trouble = trouble_with({"$ref": "http://127.0.0.1:9/schema"}, {})
    assert "can't be used" in trouble


def test_a_pattern_that_explodes_elsewhere_does_not_here() -> None:
    schema = {"properties": {"key": {"pattern": "^(a+)+$"}}}
    started = time.monotonic()
    assert trouble_with(schema, {"key": "a" * 5000 + "!"})
    assert time.monotonic() - started < 1


def test_a_broken_schema_refuses_the_call() -> None:
    assert "can't be used" in trouble_with({"type": "nonsense"}, {})
