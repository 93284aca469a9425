"""What PocketBase's refusals mean, by what the caller does about them [pure]."""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from entrance.errors import Conflict, Forbidden, Malformed, NotFound, SandgateError, Unavailable

NOT_UNIQUE = "validation_not_unique"
BAD_REQUEST = 400
TOO_MANY_REQUESTS = 429
SERVER_ERROR = 500
_BY_STATUS: Mapping[int, type[SandgateError]] = {
    401: Forbidden,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    TOO_MANY_REQUESTS: Unavailable,
}


def error_of(what: str, status: int, body: bytes) -> SandgateError:
    """The error for the answer `status` with `body` to the request `what` ("GET /api/...").

    A batch is refused as the request in it that failed. Field errors are named by code, never by
    value.
    """
    status, refusal = _innermost(status, _object(body))
    fields = dict(_field_codes(refusal))
    message = (
        f"PocketBase refused {what} with {status}: {refusal.get('message') or 'no reason given'}"
    )
    if fields:
        message += (
            " (" + ", ".join(f"{name}: {code}" for name, code in sorted(fields.items())) + ")"
        )
    return _kind(status, fields)(message)


def _kind(status: int, fields: Mapping[str, str]) -> type[SandgateError]:
    if status == BAD_REQUEST:
        if NOT_UNIQUE in fields.values():
            return Conflict
        # Without a field to blame, the request was fine and the database wasn't: disk full, locked.
        return Malformed if fields else Unavailable
    if status >= SERVER_ERROR:
        return Unavailable
    return _BY_STATUS.get(status, Malformed)


def _innermost(status: int, refusal: Mapping[str, Any]) -> tuple[int, Mapping[str, Any]]:
    """The status and body of the request that made a batch fail, or those given."""
    requests = _mapping(_mapping(refusal.get("data")).get("requests"))
    for request in requests.values():
        response = _mapping(_mapping(request).get("response"))
        inner = response.get("status")
        if isinstance(inner, int):
            return inner, response
    return status, refusal


def _field_codes(refusal: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, error in _mapping(refusal.get("data")).items():
        code = _mapping(error).get("code")
        if isinstance(code, str):
            yield name, code


def _object(body: bytes) -> Mapping[str, Any]:
    try:
        return _mapping(orjson.loads(body))
    except orjson.JSONDecodeError:
        return {}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
