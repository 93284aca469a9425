"""Schemas of arguments in the form that every model's provider reads [pure].

JSON Schema has more than a provider reads, each reads another part of it, and each refuses all tools of a
request for one schema that it can't read. This form has what they have in common: an object at the root
without alternatives, no references, no tuples, short lists of values. What can't be said in it is left
out, or said in words. So it is wider than the tool's own, against which a call is checked all the same.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from entrance.mcp.references import References

DEEPEST = 10
MOST_NODES = 2000
MOST_VALUES = 200
LONGEST_VALUES = 8000
"""Characters of all values of one list."""
SHOWN_VALUES = 5
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""A property's name that every provider takes."""
_SIMPLE = frozenset({"string", "number", "integer", "boolean", "null", "object", "array"})
_NOT_AT_THE_ROOT = frozenset({"anyOf", "oneOf", "enum", "const"})
_BOUNDS = ("minimum", "maximum", "minItems", "maxItems")
_WORDS: Mapping[str, str] = {
    "default": "default: {}",
    "format": "format: {}",
    "pattern": "matches {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
}
"""What only some providers read, as words."""


def portable(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a tool's arguments in that form."""
    making = _Making(References(schema))
    root, opened = making.resolved(schema, (id(schema),))
    alone = {name: root[name] for name in root.keys() - _NOT_AT_THE_ROOT}
    made = making.node(alone, DEEPEST, opened)
    variants = [
        _Variant(making.node(each, DEEPEST, opened), making.needed(each, opened))
        for each in [*_list_of(root, "anyOf"), *_list_of(root, "oneOf")]
    ]
    made = {"properties": {}, **made, "type": "object"}
    return _merged(made, variants) if variants else made


@dataclass(frozen=True, slots=True)
class _Variant:
    """One of the root's alternatives, and the names that it needs."""

    made: Mapping[str, Any]
    needed: tuple[str, ...]


@dataclass
class _Making:
    """One schema being made over. `left`: so many more parts of it are."""

    references: References
    left: int = MOST_NODES

    def node(self, schema: object, depth: int, opened: tuple[int, ...]) -> dict[str, Any]:
        """One part of it. `opened`: the references that lead here; one that comes again is a circle."""
        self.left -= 1
        if not isinstance(schema, Mapping) or self.left < 0:
            return {}
        schema, opened = self.resolved(schema, opened)
        if depth <= 0:
            return _bare(schema)
        below: _Below = lambda each: self.node(each, depth - 1, opened)  # noqa: E731 - its type is said
        made = _typed(schema)
        words = _values(schema, made) + _in_words(schema)
        _children(schema, made, below)
        made |= {name: schema[name] for name in _BOUNDS if _is_number(schema.get(name))}
        if described := _described(schema, words):
            made["description"] = described
        return made

    def resolved(
        self, schema: Mapping[str, Any], opened: tuple[int, ...]
    ) -> tuple[Mapping[str, Any], tuple[int, ...]]:
        """The part with what it refers to, and all of what has to hold at once, in it."""
        parts: list[Mapping[str, Any]] = [schema]
        whole: dict[str, Any] = {}
        while parts and self.left > 0:
            self.left -= 1
            part = parts.pop(0)
            parts += [each for each in _list_of(part, "allOf") if isinstance(each, Mapping)]
            found = self.references.found(part.get("$ref"))
            if found and found.key in opened:
                parts.append(_bare(found.target))
            elif found:
                opened = (*opened, found.key)
                parts.append(found.target)
            whole = _both(whole, part)
        return whole, opened

    def needed(self, schema: object, opened: tuple[int, ...]) -> tuple[str, ...]:
        """The names that a part needs."""
        if not isinstance(schema, Mapping):
            return ()
        needed = _list_of(self.resolved(schema, opened)[0], "required")
        return tuple(each for each in needed if isinstance(each, str))


type _Below = Callable[[object], dict[str, Any]]


def _both(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """What holds when both do, as far as it can be said: of two that say the same word, the first."""
    both = {**other, **one}
    properties = [each["properties"] for each in (one, other) if _is_object(each, "properties")]
    if len(properties) > 1:
        both["properties"] = {**properties[1], **properties[0]}
    if "required" in one and "required" in other:
        both["required"] = [*_list_of(one, "required"), *_list_of(other, "required")]
    return both


def _bare(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Of a part that goes on too deep, or in a circle: its type."""
    return _typed({"type": schema.get("type")})


def _typed(schema: Mapping[str, Any]) -> dict[str, Any]:
    said = schema.get("type")
    types = [said] if isinstance(said, str) else _list_of(schema, "type")
    types = [each for each in types if isinstance(each, str) and each in _SIMPLE]
    match types:
        case []:
            return {}
        case [one]:
            return {"type": one, "items": {}} if one == "array" else {"type": one}
        case [one, "null"] | ["null", one] if one != "array":
            return {"type": [one, "null"]}
        case _ if {"anyOf", "oneOf"} & schema.keys():
            return {}
        case _:
            return {"anyOf": [_typed({"type": each}) for each in types]}


def _values(schema: Mapping[str, Any], made: dict[str, Any]) -> list[str]:
    """Put in the values that there are; or say them in words."""
    values = [schema["const"]] if "const" in schema else _list_of(schema, "enum")
    if not values:
        return []
    plain = all(isinstance(each, str) for each in values) or all(map(_is_number, values))
    size = sum(len(str(each)) for each in values)
    if plain and len(values) <= MOST_VALUES and size <= LONGEST_VALUES:
        made["enum"] = list(dict.fromkeys(values))
        return []
    some = ", ".join(_json(each)[:100] for each in values[:SHOWN_VALUES])
    more = f" and {len(values) - SHOWN_VALUES} more" if len(values) > SHOWN_VALUES else ""
    return [f"one of {some}{more}"]


def _in_words(schema: Mapping[str, Any]) -> list[str]:
    return [
        text.format(_json(schema[name])[:200])
        for name, text in _WORDS.items()
        if schema.get(name) is not None
    ]


def _children(schema: Mapping[str, Any], made: dict[str, Any], below: _Below) -> None:
    variants = [*_list_of(schema, "anyOf"), *_list_of(schema, "oneOf")]
    if variants and "anyOf" not in made:
        made["anyOf"] = [below(each) for each in variants]
    if "items" in made or _is_object(schema, "items"):
        rest = "prefixItems" not in schema and not isinstance(schema.get("items"), bool)
        made["items"] = below(schema.get("items")) if rest else {}
    if not _is_object(schema, "properties"):
        return
    properties = schema["properties"]
    kept = {name: below(each) for name, each in properties.items() if _NAME.fullmatch(name)}
    made["properties"] = kept
    if required := [name for name in dict.fromkeys(_list_of(schema, "required")) if name in kept]:
        made["required"] = required
    others = schema.get("additionalProperties")
    if len(kept) == len(properties) and "patternProperties" not in schema and others is False:
        made["additionalProperties"] = False


def _described(schema: Mapping[str, Any], words: Sequence[str]) -> str:
    said = schema.get("description")
    told = [said] if isinstance(said, str) else []
    return " ".join([*told, f"[{'; '.join(words)}]"] if words else told)


def _merged(made: Mapping[str, Any], variants: Sequence[_Variant]) -> dict[str, Any]:
    """The root with the properties of its alternatives, and in words which of them go together."""
    own: Mapping[str, Any] = made["properties"]
    properties = dict(own)
    for each in variants:
        for name, one in each.made.get("properties", {}).items():
            known = properties.setdefault(name, one)
            if known != one and name not in own:
                properties[name] = _either(known, one)
    always = set.intersection(*(set(each.needed) for each in variants)) | {
        *made.get("required", ())
    }
    sets = dict.fromkeys(", ".join(each.needed) or "nothing more" for each in variants)
    words = f"[it needs {' or '.join(f'({each})' for each in sets)}]"
    whole = {name: value for name, value in made.items() if name != "additionalProperties"}
    return {
        **whole,
        "properties": properties,
        "required": [name for name in properties if name in always],
        "description": f"{made.get('description', '')} {words}".strip(),
    }


def _either(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    known = one["anyOf"] if one.keys() == {"anyOf"} else [one]
    return {"anyOf": [*known, *([] if other in known else [other])]}


def _is_object(schema: Mapping[str, Any], name: str) -> bool:
    return isinstance(schema.get(name), Mapping)


def _list_of(schema: Mapping[str, Any], name: str) -> list[Any]:
    value = schema.get(name)
    return value if isinstance(value, list) else []


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _json(value: object) -> str:
    return orjson.dumps(value).decode()
