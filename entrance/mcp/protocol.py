"""MCP over HTTP, without the HTTP: a message in, and what it is, or the reply to it, out [pure].

Two eras on one path. *Handshake* (2024-11-05 to 2025-11-25): `initialize` opens a session, then
requests, notifications, and answers to what the client was asked. *Modern* (2026-07-28): every
request carries its envelope in `params._meta` and repeats what it is about in headers, which must
agree with the body. The era is told by `MCP-Protocol-Version` alone: absent or a handshake version
means handshake.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from entrance.mcp.envelope import envelope_trouble, era_of
from entrance.mcp.messages import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    Answered,
    Era,
    Notice,
    Reply,
    Request,
    failure,
)
from entrance.mcp.methods import known

DEEPEST = 200
"""So deep may lists and objects be nested: what stands behind the door may count less."""
_LONGEST_ID = 200
_LARGEST_NUMBER = 1 << 53

Said = Reply | Request | Notice | Answered


def read(headers: Mapping[str, list[str]], body: bytes) -> Said:
    """What a POST says. `headers`: every value of each of `ROUTING`."""
    message = _message_in(body)
    if isinstance(message, Reply):
        return message
    era, trouble = era_of(headers, message.get("id"))
    return trouble or _said(headers, message, era)


def _said(headers: Mapping[str, list[str]], message: Mapping[str, Any], era: Era) -> Said:
    if "method" not in message and {"result", "error"} & message.keys() and era == "handshake":
        return Answered(message.get("id"), message)
    request = _request_in(message, era)
    if isinstance(request, Reply):
        return request
    if "id" not in message:
        return Notice(era, request.method, request.params)
    if era == "modern" and (wrong := envelope_trouble(headers, request)):
        return wrong
    if not known(request.method, era):
        return not_found(request)
    return _checked(request)


def not_found(request: Request) -> Reply:
    """The answer where there is no such method; modern clients read it in the status, too."""
    message = f"Method not found: {request.method[:100]}"
    status = 404 if request.era == "modern" else 200
    return failure(request.id, METHOD_NOT_FOUND, message, status)


def call_of(request: Request) -> str:
    """The harness's own id of a call, where it tells it; else the message's.

    Claude Code tells the id of the model's call, which stands in the transcript, too.
    """
    told = request.meta.get("claudecode/toolUseId")
    return told[:_LONGEST_ID] if isinstance(told, str) else str(request.id)[:_LONGEST_ID]


def _message_in(body: bytes) -> dict[str, Any] | Reply:
    try:
        message = orjson.loads(body)
    except orjson.JSONDecodeError:
        return failure(None, PARSE_ERROR, "The body is not JSON", status=400)
    if not isinstance(message, dict):
        what = "The body must be one JSON-RPC message; batches are refused"
        return failure(None, INVALID_REQUEST, what, status=400)
    opened = body.count(b"{") + body.count(b"[")
    if opened > DEEPEST and _deeper_than(message, DEEPEST):
        return failure(None, PARSE_ERROR, f"The body is nested deeper than {DEEPEST}", status=400)
    return message


def _deeper_than(value: Any, most: int) -> bool:
    """Whether lists and objects are nested deeper than that."""
    level = [value]
    for _ in range(most):
        level = [
            inner
            for each in level
            for inner in (each.values() if isinstance(each, dict) else each)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _request_in(message: Mapping[str, Any], era: Era) -> Request | Reply:
    rpc_id, method, params = message.get("id"), message.get("method"), message.get("params", {})
    good_id = _is_id(rpc_id)
    if message.get("jsonrpc") != "2.0" or not isinstance(method, str):
        return failure(rpc_id if good_id else None, INVALID_REQUEST, "Not a JSON-RPC request", 400)
    if "id" in message and not good_id:
        return failure(None, INVALID_REQUEST, "A request's id is a string or a number", 400)
    if not isinstance(params, dict):
        return failure(rpc_id, INVALID_PARAMS, "params must be an object", 400)
    return Request(rpc_id, era, method, params)


def _is_id(rpc_id: Any) -> bool:
    if isinstance(rpc_id, bool):
        return False
    if isinstance(rpc_id, int | float):
        return abs(rpc_id) <= _LARGEST_NUMBER
    return isinstance(rpc_id, str) and len(rpc_id) <= _LONGEST_ID


_TYPED: Mapping[str, Mapping[str, type]] = {
    "tools/call": {"name": str, "arguments": dict},
    "prompts/get": {"name": str, "arguments": dict},
    "resources/read": {"uri": str},
    "resources/subscribe": {"uri": str},
    "resources/unsubscribe": {"uri": str},
    "completion/complete": {"ref": dict, "argument": dict},
    "logging/setLevel": {"level": str},
    "subscriptions/listen": {"notifications": dict},
}
"""What a request's parameters must be; `arguments` alone may be left out."""


def _checked(request: Request) -> Request | Reply:
    for name, kind in _TYPED.get(request.method, {}).items():
        value = request.params.get(name)
        if value is None and name == "arguments":
            continue
        if not isinstance(value, kind):
            what = "an object" if kind is dict else "a string"
            message = f"{request.method} needs {name}, which is {what}"
            return failure(request.id, INVALID_PARAMS, message, status=400)
    return request
