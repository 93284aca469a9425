"""Checks what a write sends, field by field [pure].

Wrong JSON types are always refused. Unknown enumeration values and unknown custom keys are
stored as they are, as Polarion does; `strict` refuses them.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from typing import Any

from polarion_app.config.model import FIELD_NAME, DataModel, Field
from polarion_app.embedded.errors import bad_request

READ_ONLY = frozenset({"id", "created", "updated", "outlineNumber", "type"})
STANDARD = {
    "title": "string",
    "status": "string",
    "priority": "string",
    "severity": "string",
    "resolution": "string",
    "resolvedOn": "date-time",
    "plannedStart": "date-time",
    "plannedEnd": "date-time",
    "dueDate": "date",
    "initialEstimate": "string",
    "remainingEstimate": "string",
    "timeSpent": "string",
    "description": "text/html",
    "hyperlinks": "list",
}
RICH_TEXT_TYPES = frozenset({"text/plain", "text/html"})
DEFAULT_PRIORITY = "50.0"
_NOT_NULL = frozenset({"title", "status"})
_ENUMERATED = ("priority", "severity", "resolution")


def checked_attributes(
    attributes: Mapping[str, Any], type_id: str, model: DataModel, *, strict: bool, pointer: str
) -> dict[str, Any]:
    """The attributes as they are stored; None means: clear. Read-only ones are left out.

    Raises: ApiError 400 with the pointer of the first field that is wrong.
    """
    fields = model.fields_of(type_id)
    checked: dict[str, Any] = {}
    for key, value in attributes.items():
        where = f"{pointer}.attributes.{key}"
        if key in READ_ONLY:
            continue
        if not FIELD_NAME.fullmatch(key):
            raise bad_request(f"'{key[:100]}' is not the name of a field.", pointer=where)
        checked[key] = _checked(key, value, fields.get(key), where, strict=strict)
    if strict:
        _refuse_unknown(checked, type_id, model, pointer)
    return checked


def rich_text(value: Any, pointer: str) -> dict[str, str]:
    """`{"type", "value"}` and nothing else. Raises: ApiError 400."""
    if not isinstance(value, dict):
        raise _expected("BEGIN_OBJECT", value, pointer)
    kind, text = value.get("type", "text/plain"), value.get("value", "")
    if kind not in RICH_TEXT_TYPES:
        raise bad_request("The type must be text/html or text/plain.", pointer=f"{pointer}.type")
    if not isinstance(text, str):
        raise _expected("STRING", text, f"{pointer}.value")
    return {"type": kind, "value": text}


def string(value: Any, pointer: str) -> str:
    """Raises: ApiError 400 when it is no string."""
    if not isinstance(value, str):
        raise _expected("STRING", value, pointer)
    return value


def boolean(value: Any, pointer: str) -> bool:
    """Raises: ApiError 400 when it is no boolean."""
    if not isinstance(value, bool):
        raise _expected("BOOLEAN", value, pointer)
    return value


def _checked(key: str, value: Any, field: Field | None, where: str, *, strict: bool) -> Any:
    kind = STANDARD.get(key) or (field.kind if field else None)
    if value is None:
        if kind == "boolean" or key in _NOT_NULL:
            raise bad_request(f"'{key}' can't be null.", pointer=where)
        return None
    if kind is None:
        return _undeclared(value, where)
    checked = _CHECKS[kind](value, where)
    if key == "priority" and not strict and not _is_number(checked):
        return DEFAULT_PRIORITY
    return checked


def _refuse_unknown(
    attributes: Mapping[str, Any], type_id: str, model: DataModel, pointer: str
) -> None:
    known = model.types.get(type_id)
    fields = model.fields_of(type_id)
    if known is None:
        raise bad_request(f"There is no type '{type_id}'.", pointer=f"{pointer}.attributes.type")
    options = {name: {option.id for option in model.enumerations[name]} for name in _ENUMERATED}
    options["status"] = {status.id for status in known.statuses}
    for field in fields.values():
        if field.enumeration is not None:
            options[field.id] = {option.id for option in model.enumerations[field.enumeration]}
    for key, value in attributes.items():
        where = f"{pointer}.attributes.{key}"
        if key not in STANDARD and key not in fields:
            raise bad_request(f"Type '{type_id}' has no field '{key}'.", pointer=where)
        if value is not None and key in options and value not in options[key]:
            raise bad_request(f"'{value}' is not an option of '{key}'.", pointer=where)


def _undeclared(value: Any, where: str) -> Any:
    """A key that no page declares: a plain value, a rich text, a table or a list of plain values."""
    if isinstance(value, dict):
        if set(value) == {"type", "value"}:
            return rich_text(value, where)
        if set(value) == {"keys", "rows"}:
            return value
        raise _expected("STRING", value, where)
    return value


def _integer(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _expected("NUMBER", value, where)
    return value


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _expected("NUMBER", value, where)
    return value


def _date(value: Any, where: str) -> str:
    text = string(value, where)
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError as error:
        raise bad_request(
            f"'{text[:40]}' is not a date: write YYYY-MM-DD.", pointer=where
        ) from error


def date_time(value: Any, where: str) -> str:
    """A time in UTC to the millisecond, whatever its offset was. Raises: ApiError 400."""
    text = string(value, where)
    try:
        moment = datetime.fromisoformat(text)
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        utc = aware.astimezone(UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError) as error:
        raise bad_request(
            f"'{text[:40]}' is not a time: write YYYY-MM-DDThh:mm:ssZ.", pointer=where
        ) from error
    return utc.replace("+00:00", "Z")


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise _expected("BEGIN_ARRAY", value, where)
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _expected(what: str, value: Any, pointer: str) -> Exception:
    return bad_request(f"{what} expected, but was : {_json_type(value)}", pointer=pointer)


def _json_type(value: Any) -> str:
    for kinds, word in (
        (bool, "BOOLEAN"),
        (str, "STRING"),
        (int | float, "NUMBER"),
        (dict, "BEGIN_OBJECT"),
        (list, "BEGIN_ARRAY"),
    ):
        if isinstance(value, kinds):
            return word
    return "NULL"


_CHECKS: Mapping[str, Callable[[Any, str], Any]] = {
    "string": string,
    "enumeration": string,
    "text": rich_text,
    "text/html": rich_text,
    "integer": _integer,
    "float": _number,
    "boolean": boolean,
    "date": _date,
    "date-time": date_time,
    "list": _list,
}
