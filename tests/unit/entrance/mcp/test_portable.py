"""Schemas for harnesses: each kind of fault for which a provider would refuse the whole catalogue."""

import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from entrance.mcp import schemas
from entrance.mcp.portable import DEEPEST, MOST_NODES, MOST_VALUES, portable

WORDS = frozenset(
    {
        "type", "description", "enum", "items", "properties", "required", "additionalProperties",
        "anyOf", "minimum", "maximum", "minItems", "maxItems",
    }
)  # fmt: skip
"""All that is ever said: what Anthropic, OpenAI and Google all read."""
NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def parts(schema: Any, depth: int = 0) -> Iterator[tuple[dict[str, Any], int]]:
    """Every schema in it, and how deep it lies."""
    yield schema, depth
    for each in [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]:
        yield from parts(each, depth + 1)
    if "items" in schema:
        yield from parts(schema["items"], depth + 1)


def assert_every_provider_takes(made: dict[str, Any]) -> None:
    """What all providers ask of a schema."""
    assert made["type"] == "object"
    assert not {"anyOf", "enum"} & made.keys()
    for each, depth in parts(made):
        assert each.keys() <= WORDS
        assert depth <= DEEPEST + 2
        assert each.get("type") != "array" or "items" in each
        assert set(each.get("required", ())) <= each.get("properties", {}).keys()
        assert all(NAME.fullmatch(name) for name in each.get("properties", {}))
        assert each.get("enum") != []
    assert jsonschema_rs.meta.is_valid(made)


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


CIRCLE = {
    "type": "object",
    "properties": {"tree": {"$ref": "#/$defs/node"}},
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
        }
    },
}
BOMB = {
    "type": "object",
    "properties": {"a": {"$ref": "#/$defs/0"}},
    "$defs": {
        str(n): {"type": "object", "properties": {x: {"$ref": f"#/$defs/{n + 1}"} for x in "abc"}}
        for n in range(9)
    }
    | {"9": {"type": "string"}},
}
ABYSS: dict[str, Any] = {"type": "string"}
for _ in range(40):
    ABYSS = of(a=ABYSS)
UNION = {
    "type": "object",
    "properties": {"kind": {"type": "string"}},
    "required": ["kind"],
    "additionalProperties": False,
    "oneOf": [
        {"properties": {"kind": {"const": "a"}, "x": {"type": "string"}}, "required": ["x"]},
        {"properties": {"kind": {"const": "b"}, "x": {"type": "integer"}}, "required": ["x"]},
    ],
}


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({}, id="no type"),
        pytest.param(CIRCLE, id="a reference in a circle"),
        pytest.param({"type": "object", "properties": {"a": {"$ref": "#"}}}, id="a circle to itself"),
        pytest.param({"type": "object", "$ref": "#"}, id="a root that is itself"),
        pytest.param(BOMB, id="references that unfold without end"),
        pytest.param(of(a={"$ref": "other.json#/a"}), id="a reference that leads out"),
        pytest.param(UNION, id="alternatives at the root"),
        pytest.param({"anyOf": [True, {"required": ["b"]}]}, id="alternatives that are none"),
        pytest.param({"allOf": [of(a={}), of(b={})], "not": {}}, id="all of, and not, at the root"),
        pytest.param(of(a={"type": "array"}), id="a list of nobody knows what"),
        pytest.param(of(a={"type": ["array", "null"]}), id="a list or nothing"),
        pytest.param(of(a={"items": [{"type": "string"}]}), id="a tuple of old"),
        pytest.param(of(a={"prefixItems": [{}], "items": {"type": "string"}}), id="a tuple"),
        pytest.param(of(a={"type": ["string", "integer", "null"]}), id="several types"),
        pytest.param(of(a={"enum": list(range(5000))}), id="a giant list of values"),
        pytest.param(of(a={"enum": ["x" * 9000, "y"]}), id="giant values"),
        pytest.param(of(a={"enum": []}), id="no values"),
        pytest.param(of(a={"enum": ["a", None, {"b": 1}, True]}), id="values of any kind"),
        pytest.param(of(a={"const": {"b": 1}}), id="one value that is an object"),
        pytest.param(ABYSS, id="an abyss"),
        pytest.param(of(a=True, b=False), id="parts that are true or false"),
        pytest.param(of(**{"with a blank": {}, "$dollar": {}, "x" * 65: {}}), id="odd names"),
        pytest.param({**of(a={}), "required": ["a", "b", "a"]}, id="what is needed is not there"),
        pytest.param(of(a={"exclusiveMinimum": True}), id="words of an old dialect"),
        pytest.param(
            of(a={"type": "string", "pattern": "^(?=x)", "format": "hostname", "default": None}),
            id="what some providers refuse",
        ),
        pytest.param(of(a={"patternProperties": {"^x": {}}, "unevaluatedProperties": False}), id="x"),
    ],
)  # fmt: skip
def test_no_provider_refuses_what_becomes_of_it(schema: dict[str, Any]) -> None:
    assert_every_provider_takes(portable(schema))


def test_a_circle_is_said_once_and_ends_in_its_type() -> None:
    made = portable(CIRCLE)
    tree = made["properties"]["tree"]
    assert tree["properties"]["name"] == {"type": "string"}
    assert tree["properties"]["children"] == {"type": "array", "items": {"type": "object"}}


def test_what_unfolds_without_end_is_cut_off() -> None:
    assert sum(1 for _ in parts(portable(BOMB))) <= MOST_NODES * 3


def test_alternatives_at_the_root_become_one_with_a_word_about_what_goes_together() -> None:
    made = portable(UNION)
    assert made["properties"] == {
        "kind": {"type": "string"},
        "x": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    }
    assert made["required"] == ["kind", "x"]
    assert "additionalProperties" not in made


def test_what_can_not_be_said_is_said_in_words() -> None:
    wide = {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b", "c"]}]}
    assert portable(wide)["description"] == "[it needs (a) or (b, c)]"
    many = {"description": "Which.", "enum": [f"v{n}" for n in range(MOST_VALUES + 1)]}
    described = portable(of(a=many))["properties"]["a"]["description"]
    assert described == 'Which. [one of "v0", "v1", "v2", "v3", "v4" and 196 more]'
    told = portable(of(a={"type": "string", "format": "uri", "minLength": 3}))["properties"]["a"]
    assert told == {"type": "string", "description": '[format: "uri"; at least 3 characters]'}


def test_an_ordinary_schema_stays_as_it_is() -> None:
    plain = {
        "type": "object",
        "description": "Find.",
        "properties": {
            "query": {"type": "string", "description": "Lucene."},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100},
            "fields": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
            "state": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "note": {"type": ["string", "null"]},
        },
        "required": ["query"],
        "additionalProperties": False,
    }
    assert portable(plain) == plain


KEYS = st.sampled_from(["a", "b", "c d"])
LEAVES = st.sampled_from(
    [
        True, {}, {"type": "string"}, {"type": "integer", "minimum": 2}, {"enum": ["x", 1, None]},
        {"enum": ["x", "y"]}, {"const": 1}, {"type": ["string", "null", "integer"]},
        {"$ref": "#/$defs/d"}, {"$ref": "#"}, {"$ref": "#here"}, {"type": "array"}, {"not": {}},
        {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "integer"}},
    ]
)  # fmt: skip


def _wider(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    objects = st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(KEYS, inner, max_size=3)},
        optional={
            "required": st.lists(KEYS, max_size=2, unique=True),
            "additionalProperties": st.booleans(),
        },
    )
    return st.one_of(
        objects,
        st.builds(lambda each: {"type": "array", "items": each}, inner),
        st.builds(lambda many: {"anyOf": many}, st.lists(inner, min_size=1, max_size=2)),
        st.builds(lambda many: {"allOf": many}, st.lists(inner, min_size=1, max_size=2)),
        st.builds(lambda many: {"oneOf": many}, st.lists(inner, min_size=1, max_size=2)),
    )


SCHEMAS = st.recursive(LEAVES, _wider, max_leaves=6)
VALUES = st.recursive(
    st.sampled_from([None, 1, 2, 5, "x", "z", True]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@given(
    st.dictionaries(KEYS, SCHEMAS, max_size=3),
    SCHEMAS,
    st.lists(KEYS, max_size=2, unique=True),
    st.dictionaries(KEYS, VALUES, max_size=3),
)
def test_what_fits_the_tools_own_schema_fits_this_one(
    properties: dict[str, Any], defined: Any, needed: list[str], arguments: dict[str, Any]
) -> None:
    defined = {"$anchor": "here", **defined} if isinstance(defined, dict) else defined
    schema = {
        "type": "object", "properties": properties, "required": needed, "$defs": {"d": defined},
    }  # fmt: skip
    own, trouble = schemas.shown(schema)
    assume(not trouble)
    made = portable(own)
    assert_every_provider_takes(made)
    if jsonschema_rs.is_valid(own, arguments):
        assert jsonschema_rs.is_valid(made, arguments)
