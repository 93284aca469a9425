"""MCP over HTTP, without the HTTP: a message in, a reply or something to be done out [pure].

Two eras on one path. *Handshake* (2024-11-05 to 2025-11-25): `initialize`, then requests; we keep no
session and give out no session id. *Modern* (2026-07-28): every request carries its envelope in
`params._meta` and repeats what it is about in headers, which must agree with the body. The era is
told by `MCP-Protocol-Version` alone: absent or a handshake version means handshake.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from entrance.mcp.envelope import HANDSHAKE_VERSIONS, MODERN_VERSIONS, envelope_trouble, era_of
from entrance.mcp.messages import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    SERVER_INFO,
    CallTool,
    Era,
    ListTools,
    Reply,
    Request,
    failure,
    success,
)

INSTRUCTIONS = (
    "These tools are the only way to the world outside this sandbox. Every call is recorded. "
    "A refused call says why; do not look for another way round it."
)
_LONGEST_ID = 200
_CAPABILITIES: Mapping[str, Any] = {"tools": {"listChanged": False}}

Asked = Reply | ListTools | CallTool


def read(headers: Mapping[str, list[str]], body: bytes) -> Asked:
    """What a POST asks for. `headers`: every value of each header, names in lower case."""
    message = _message_in(body)
    if isinstance(message, Reply):
        return message
    era, trouble = era_of(headers, message.get("id"))
    if trouble is not None:
        return trouble
    if "method" not in message and {"result", "error"} & message.keys() and era == "handshake":
        return Reply(202)  # an answer to a question that we never ask
    request = _request_in(message, era)
    if isinstance(request, Reply):
        return request
    if "id" not in message:
        return Reply(202)  # notifications change nothing here
    return _modern(headers, request) if era == "modern" else _handshake(request)


def _message_in(body: bytes) -> dict[str, Any] | Reply:
    try:
        message = orjson.loads(body)
    except orjson.JSONDecodeError:
        return failure(None, PARSE_ERROR, "The body is not JSON", status=400)
    if not isinstance(message, dict):
        what = "The body must be one JSON-RPC message; batches are refused"
        return failure(None, INVALID_REQUEST, what, status=400)
    return message


def _request_in(message: Mapping[str, Any], era: Era) -> Request | Reply:
    rpc_id, method, params = message.get("id"), message.get("method"), message.get("params", {})
    good_id = isinstance(rpc_id, str | int | float) and not isinstance(rpc_id, bool)
    if message.get("jsonrpc") != "2.0" or not isinstance(method, str):
        return failure(rpc_id if good_id else None, INVALID_REQUEST, "Not a JSON-RPC request", 400)
    if "id" in message and not good_id:
        return failure(None, INVALID_REQUEST, "A request's id is a string or a number", 400)
    if not isinstance(params, dict):
        return failure(rpc_id, INVALID_PARAMS, "params must be an object", 400)
    return Request(rpc_id, era, method, params)


def _handshake(request: Request) -> Asked:
    match request.method:
        case "initialize":
            wanted = request.params.get("protocolVersion")
            version = wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
            return success(
                request,
                {
                    "protocolVersion": version,
                    "capabilities": _CAPABILITIES,
                    "serverInfo": SERVER_INFO,
                    "instructions": INSTRUCTIONS,
                },
            )
        case "ping":
            return success(request, {})
        case _:
            return _tools(request, unknown_status=200)


def _modern(headers: Mapping[str, list[str]], request: Request) -> Asked:
    trouble = envelope_trouble(headers, request)
    if trouble is not None:
        return trouble
    if request.method == "server/discover":
        return success(
            request,
            {
                "supportedVersions": list(MODERN_VERSIONS),
                "capabilities": _CAPABILITIES,
                "instructions": INSTRUCTIONS,
            },
        )
    return _tools(request, unknown_status=404)


def _tools(request: Request, unknown_status: int) -> Asked:
    match request.method:
        case "tools/list":
            return ListTools(request.id, request.era)
        case "tools/call":
            name, arguments = request.params.get("name"), request.params.get("arguments") or {}
            if not isinstance(name, str) or not isinstance(arguments, dict):
                message = "tools/call needs a name, and arguments that are an object"
                return failure(request.id, INVALID_PARAMS, message, status=400)
            return CallTool(request.id, request.era, name, arguments, _call_of(request))
        case _:
            message = f"Method not found: {request.method[:100]}"
            return failure(request.id, METHOD_NOT_FOUND, message, unknown_status)


def _call_of(request: Request) -> str:
    """Claude Code tells the id of the model's call, which stands in the transcript, too."""
    meta = request.params.get("_meta")
    told = meta.get("claudecode/toolUseId") if isinstance(meta, dict) else None
    return told[:_LONGEST_ID] if isinstance(told, str) else str(request.id)[:_LONGEST_ID]
