"""Is a tool's input what its JSON schema asks for? The part of JSON Schema that our own tools use."""

from collections.abc import Mapping
from typing import Any

_TYPES: Mapping[str, type] = {"string": str, "integer": int, "boolean": bool}


def fault(schema: Mapping[str, Any], value: Mapping[str, Any]) -> str | None:
    """What is wrong with `value`, as a sentence for the model, or None."""
    properties: Mapping[str, Mapping[str, Any]] = schema["properties"]
    if unknown := sorted(set(value) - set(properties)):
        return f"there is no parameter {unknown[0]!r}; there are {', '.join(properties)}"
    if missing := [name for name in schema.get("required", ()) if name not in value]:
        return f"the parameter {missing[0]!r} is missing"
    faults = (_fault_of(name, properties[name], item) for name, item in value.items())
    return next((found for found in faults if found), None)


def _fault_of(name: str, rule: Mapping[str, Any], item: Any) -> str | None:
    wanted = _TYPES[rule["type"]]
    if not isinstance(item, wanted) or (wanted is int and isinstance(item, bool)):
        return f"{name!r} must be of type {rule['type']}"
    if "minimum" in rule and item < rule["minimum"]:
        return f"{name!r} must be at least {rule['minimum']}"
    return None


def parameters(required: tuple[str, ...], **properties: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object with these properties and no other."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
