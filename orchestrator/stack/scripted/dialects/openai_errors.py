"""Errors as both of OpenAI's protocols say them."""

from collections.abc import Mapping
from typing import Any

_KINDS: Mapping[int, tuple[str, str | None]] = {
    400: ("invalid_request_error", None),
    401: ("invalid_request_error", "invalid_api_key"),
    402: ("insufficient_quota", "insufficient_quota"),
    403: ("invalid_request_error", None),
    404: ("invalid_request_error", "model_not_found"),
    413: ("invalid_request_error", None),
    429: ("tokens", "rate_limit_exceeded"),
    503: ("server_error", "server_is_overloaded"),
}


def error(status: int, message: str) -> Mapping[str, Any]:
    """The body of an error."""
    kind, code = _KINDS.get(status, ("server_error", None))
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def overflow(tokens: int, param: str) -> Mapping[str, Any]:
    """The body of the error for a prompt that is too long."""
    message = (
        f"Your input exceeds the context window of this model: {tokens} tokens, {tokens - 1} fit."
        " Please adjust your input and try again."
    )
    code = "context_length_exceeded"
    kind = "invalid_request_error"
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}
