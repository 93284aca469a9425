"""The messages of MCP that the gateway knows, and the forms of its answers [pure]."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022

SERVER_INFO = {"name": "sandgate", "version": "1"}
_INFO_KEY = "io.modelcontextprotocol/serverInfo"

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
    call: str = ""
    """The harness's own id of the call, where it tells it; else the message's."""


@dataclass(frozen=True, slots=True)
class Request:
    """Any other request, before its method is looked at."""

    id: RpcId
    era: Era
    method: str
    params: Mapping[str, Any]


def failure(rpc_id: RpcId, code: int, message: str, status: int = 200, data: Any = None) -> Reply:
    """A JSON-RPC error."""
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return Reply(status, {"jsonrpc": "2.0", "id": rpc_id, "error": error})


def success(asked: ListTools | CallTool | Request, result: Mapping[str, Any]) -> Reply:
    """A JSON-RPC result, in the form of the request's era. Lists and `discover` are never cached."""
    if asked.era == "modern":
        result = {**result, "resultType": "complete", "_meta": {_INFO_KEY: SERVER_INFO}}
        if not isinstance(asked, CallTool):
            result = {**result, "ttlMs": 0, "cacheScope": "private"}
    return Reply(200, {"jsonrpc": "2.0", "id": asked.id, "result": result})
