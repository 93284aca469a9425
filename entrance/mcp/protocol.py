"""MCP over HTTP, without the HTTP: a message in, a reply or something to be done out [pure].

Two eras on one path. *Handshake* (2024-11-05 to 2025-11-25): `initialize`, then requests; we keep no
session and give out no session id. *Modern* (2026-07-28): every request carries its envelope in
`params._meta` and repeats what it is about in headers, which must agree with the body. The era is
told by `MCP-Protocol-Version` alone: absent or a handshake version means handshake.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSIONS = ("2026-07-28",)

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022

SERVER_INFO = {"name": "sandgate", "version": "1"}
INSTRUCTIONS = (
    "These tools are the only way to the world outside this sandbox. Every call is recorded. "
    "A refused call says why; do not look for another way round it."
)
_CAPABILITIES: Mapping[str, Any] = {"tools": {"listChanged": False}}
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_INFO_KEY = "io.modelcontextprotocol/serverInfo"
_ROUTING = ("mcp-protocol-version", "mcp-method", "mcp-name")
_ENCODED = re.compile(r"=\?base64\?(.*)\?=")

Era = Literal["handshake", "modern"]
RpcId = str | int | float | None


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer that needs nobody else. `body` None: an empty one."""

    status: int
    body: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ListTools:
    """The client wants to know its tools."""

    id: RpcId
    era: Era


@dataclass(frozen=True, slots=True)
class CallTool:
    """The client wants a tool called."""

    id: RpcId
    era: Era
    name: str
    arguments: Mapping[str, Any]


Asked = Reply | ListTools | CallTool


@dataclass(frozen=True, slots=True)
class _Request:
    id: RpcId
    era: Era
    method: str
    params: Mapping[str, Any]


def read(headers: Mapping[str, list[str]], body: bytes) -> Asked:
    """What a POST asks for. `headers`: every value of each header, names in lower case."""
    message = _message_in(body)
    if isinstance(message, Reply):
        return message
    era, trouble = _era_of(headers, message.get("id"))
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


def failure(rpc_id: RpcId, code: int, message: str, status: int = 200, data: Any = None) -> Reply:
    """A JSON-RPC error."""
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return Reply(status, {"jsonrpc": "2.0", "id": rpc_id, "error": error})


def success(asked: ListTools | CallTool | _Request, result: Mapping[str, Any]) -> Reply:
    """A JSON-RPC result, in the form of the request's era. Lists and `discover` are never cached."""
    if asked.era == "modern":
        result = {**result, "resultType": "complete", "_meta": {_INFO_KEY: SERVER_INFO}}
        if not isinstance(asked, CallTool):
            result = {**result, "ttlMs": 0, "cacheScope": "private"}
    return Reply(200, {"jsonrpc": "2.0", "id": asked.id, "result": result})


def _message_in(body: bytes) -> dict[str, Any] | Reply:
    try:
        message = orjson.loads(body)
    except orjson.JSONDecodeError:
        return failure(None, PARSE_ERROR, "The body is not JSON", status=400)
    if not isinstance(message, dict):
        what = "The body must be one JSON-RPC message; batches are refused"
        return failure(None, INVALID_REQUEST, what, status=400)
    return message


def _era_of(headers: Mapping[str, list[str]], rpc_id: Any) -> tuple[Era, Reply | None]:
    """The request's era, and the refusal if its routing headers can't be followed."""
    shown = rpc_id if isinstance(rpc_id, str | int | float) else None
    for name in _ROUTING:
        if len(headers.get(name, ())) > 1:
            message = f"The header {name} appears more than once"
            return "modern", failure(shown, HEADER_MISMATCH, message, status=400)
    version = _header(headers, "mcp-protocol-version")
    if version is None or version in HANDSHAKE_VERSIONS:
        return "handshake", None
    if version in MODERN_VERSIONS:
        return "modern", None
    data = {"supported": [*MODERN_VERSIONS, *HANDSHAKE_VERSIONS], "requested": version[:100]}
    return "modern", failure(shown, UNSUPPORTED_VERSION, "Unsupported protocol version", 400, data)


def _request_in(message: Mapping[str, Any], era: Era) -> _Request | Reply:
    rpc_id, method, params = message.get("id"), message.get("method"), message.get("params", {})
    good_id = isinstance(rpc_id, str | int | float) and not isinstance(rpc_id, bool)
    if message.get("jsonrpc") != "2.0" or not isinstance(method, str):
        return failure(rpc_id if good_id else None, INVALID_REQUEST, "Not a JSON-RPC request", 400)
    if "id" in message and not good_id:
        return failure(None, INVALID_REQUEST, "A request's id is a string or a number", 400)
    if not isinstance(params, dict):
        return failure(rpc_id, INVALID_PARAMS, "params must be an object", 400)
    return _Request(rpc_id, era, method, params)


def _handshake(request: _Request) -> Asked:
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


def _modern(headers: Mapping[str, list[str]], request: _Request) -> Asked:
    trouble = _envelope_trouble(headers, request)
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


def _tools(request: _Request, unknown_status: int) -> Asked:
    match request.method:
        case "tools/list":
            return ListTools(request.id, request.era)
        case "tools/call":
            name, arguments = request.params.get("name"), request.params.get("arguments") or {}
            if not isinstance(name, str) or not isinstance(arguments, dict):
                message = "tools/call needs a name, and arguments that are an object"
                return failure(request.id, INVALID_PARAMS, message, status=400)
            return CallTool(request.id, request.era, name, arguments)
        case _:
            message = f"Method not found: {request.method[:100]}"
            return failure(request.id, METHOD_NOT_FOUND, message, unknown_status)


def _envelope_trouble(headers: Mapping[str, list[str]], request: _Request) -> Reply | None:
    """The first thing wrong with a modern request's envelope, in the order the standard gives."""
    meta = request.params.get("_meta")
    if not isinstance(meta, dict) or not {_VERSION_KEY, _CAPABILITIES_KEY} <= meta.keys():
        message = f"params._meta must carry {_VERSION_KEY} and {_CAPABILITIES_KEY}"
        return failure(request.id, INVALID_PARAMS, message, status=400)
    told = {
        "mcp-protocol-version": (_header(headers, "mcp-protocol-version"), meta[_VERSION_KEY]),
        "mcp-method": (_header(headers, "mcp-method"), request.method),
    }
    if request.method == "tools/call":
        told["mcp-name"] = (_decoded(_header(headers, "mcp-name")), request.params.get("name"))
    for name, (header, in_body) in told.items():
        if header is None or header != in_body:
            message = f"The header {name} does not say what the body says"
            return failure(request.id, HEADER_MISMATCH, message, status=400)
    return None


def _header(headers: Mapping[str, list[str]], name: str) -> str | None:
    values = headers.get(name)
    return values[0].strip(" \t") if values else None


def _decoded(value: str | None) -> str | None:
    """A header value out of its `=?base64?...?=` wrapping; None when that is not well made."""
    wrapped = _ENCODED.fullmatch(value) if value is not None else None
    if wrapped is None:
        return value
    try:
        raw = base64.b64decode(wrapped[1], validate=True)
        return raw.decode() if base64.b64encode(raw).decode() == wrapped[1] else None
    except (binascii.Error, UnicodeDecodeError):
        return None
