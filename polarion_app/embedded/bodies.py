"""What a request's JSON body holds, checked as far as every resource has it in common [pure]."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from polarion_app.embedded.errors import bad_request

CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
"""What no text may hold: Polarion keeps its items as XML, which has no such characters."""


@dataclass(frozen=True, slots=True)
class Reference:
    """One end of a relationship."""

    type: str
    id: str


@dataclass(frozen=True, slots=True)
class Incoming:
    """A resource that a caller sends. `pointer` says where it stands in the body."""

    pointer: str
    id: str | None
    attributes: Mapping[str, Any]
    relationships: Mapping[str, "Reference | tuple[Reference, ...]"]
    """One reference, or all of a list (`()` when it is emptied)."""

    def one(self, name: str) -> Reference:
        """The relationship to one resource. Raises: ApiError 400 when it is not there."""
        found = self.relationships.get(name)
        if isinstance(found, Reference):
            return found
        raise bad_request(
            f"The relationship '{name}' is missing.", pointer=f"{self.pointer}.relationships.{name}"
        )


def parse(raw: bytes) -> Any:
    """The body's JSON. Raises: ApiError 400; control characters in texts are refused, too."""
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise bad_request(f"The body is not JSON: {error}.", pointer="$") from error
    _refuse_controls(body)
    return body


def many(body: Any, resource_type: str) -> list[Incoming]:
    """The resources of a bulk body. Raises: ApiError 400."""
    rows = _data(body)
    if not isinstance(rows, list):
        raise bad_request(
            "Unexpected token, BEGIN_ARRAY expected, but was : BEGIN_OBJECT (at $.data)",
            pointer="$.data",
        )
    if not rows:
        raise bad_request("The list of resources is empty.", pointer="$.data")
    return [_incoming(row, resource_type, f"$.data[{place}]") for place, row in enumerate(rows)]


def one(body: Any, resource_type: str) -> Incoming:
    """The resource of a single body. Raises: ApiError 400."""
    return _incoming(_data(body), resource_type, "$.data")


def references(body: Any, resource_type: str) -> list[Reference]:
    """The identifiers of a body that names resources, as DELETE does. Raises: ApiError 400."""
    found = identifiers(body)
    for place, reference in enumerate(found):
        if reference.type != resource_type:
            raise _wrong_type(resource_type, f"$.data[{place}].type")
    return found


def identifiers(body: Any) -> list[Reference]:
    """The same, of whatever types. Raises: ApiError 400."""
    rows = _data(body)
    if not isinstance(rows, list):
        raise bad_request("A list is expected.", pointer="$.data")
    return [_reference(row, f"$.data[{place}]") for place, row in enumerate(rows)]


def _data(body: Any) -> Any:
    if not isinstance(body, dict) or "data" not in body:
        raise bad_request("The body must be an object with the member 'data'.", pointer="$.data")
    return body["data"]


def _incoming(row: Any, resource_type: str, pointer: str) -> Incoming:
    if not isinstance(row, dict):
        raise bad_request("A resource object is expected.", pointer=pointer)
    if row.get("type") != resource_type:
        raise _wrong_type(resource_type, f"{pointer}.type")
    resource_id = row.get("id")
    if resource_id is not None and not isinstance(resource_id, str):
        raise bad_request("The id must be a string.", pointer=f"{pointer}.id")
    attributes = _object(row, "attributes", pointer)
    related = {
        name: _related(value, f"{pointer}.relationships.{name}")
        for name, value in _object(row, "relationships", pointer).items()
    }
    return Incoming(pointer, resource_id, attributes, related)


def _object(row: Mapping[str, Any], name: str, pointer: str) -> Mapping[str, Any]:
    value = row.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise bad_request("An object is expected.", pointer=f"{pointer}.{name}")
    return value


def _related(value: Any, pointer: str) -> Reference | tuple[Reference, ...]:
    """`null`, `[]`, `{}` and `[{}]` all mean empty."""
    if not isinstance(value, dict) or "data" not in value:
        raise bad_request("A relationship needs the member 'data'.", pointer=pointer)
    data = value["data"]
    if not data:
        return ()
    if isinstance(data, list):
        return tuple(
            _reference(row, f"{pointer}.data[{place}]") for place, row in enumerate(data) if row
        )
    return _reference(data, f"{pointer}.data")


def _reference(row: Any, pointer: str) -> Reference:
    if isinstance(row, dict):
        kind, target = row.get("type"), row.get("id")
        if isinstance(kind, str) and isinstance(target, str) and target:
            return Reference(kind, target)
    raise bad_request("A resource identifier with 'type' and 'id' is expected.", pointer=pointer)


def _wrong_type(expected: str, pointer: str) -> Exception:
    return bad_request(f"The type must be '{expected}'.", pointer=pointer)


def _refuse_controls(body: Any) -> None:
    """Walks without recursion: the nesting is the caller's."""
    waiting = [body]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            if CONTROLS.search(value):
                raise bad_request("Texts can't hold control characters.", pointer="$")
        elif isinstance(value, dict):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list):
            waiting += value
