"""The messages of MCP that the gateway takes and gives, whichever era they are of [pure]."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022
CANCELLED = -32800
UNREACHABLE = -32000

SERVER_INFO = {"name": "sandgate", "version": "1"}
INFO_KEY = "io.modelcontextprotocol/serverInfo"
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"

CACHEABLE = frozenset(
    {
        "server/discover",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
    }
)
"""Methods whose results say, in the modern era, how long they may be kept: never, with us."""

Era = Literal["handshake", "modern"]
RpcId = str | int | float | None
Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer that needs nobody else. `body` None: an empty one. `session`: the id it gives out."""

    status: int
    body: Json | None = None
    session: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """The client wants something done, and waits for it."""

    id: RpcId
    era: Era
    method: str
    params: Json

    @property
    def meta(self) -> Json:
        """Its `_meta`; empty where there is none."""
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}


@dataclass(frozen=True, slots=True)
class Notice:
    """The client tells something, and waits for nothing."""

    era: Era
    method: str
    params: Json


@dataclass(frozen=True, slots=True)
class Answered:
    """The client's answer to something that it was asked: a result, or an error."""

    id: RpcId
    message: Json


@dataclass(frozen=True, slots=True)
class Failure:
    """What a JSON-RPC error says. `status` is HTTP's, where that says it too."""

    code: int
    message: str
    data: Any = None
    status: int = 200

    def reply(self, rpc_id: RpcId) -> Reply:
        """The error, as the answer to a request."""
        return failure(rpc_id, self.code, self.message, self.status, self.data)


def failure(rpc_id: RpcId, code: int, message: str, status: int = 200, data: Any = None) -> Reply:
    """A JSON-RPC error."""
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return Reply(status, {"jsonrpc": "2.0", "id": rpc_id, "error": error})


def success(asked: Request, result: Json) -> Reply:
    """A JSON-RPC result, in the form of the request's era. Nothing may be kept by the client."""
    body = dict(result)
    if asked.era == "modern":
        meta = body.get("_meta")
        body["_meta"] = {**(meta if isinstance(meta, dict) else {}), INFO_KEY: SERVER_INFO}
        body.setdefault("resultType", "complete")
        if asked.method in CACHEABLE and body["resultType"] == "complete":
            body |= {"ttlMs": 0, "cacheScope": "private"}
    else:
        for key in ("resultType", "ttlMs", "cacheScope"):
            body.pop(key, None)
    return Reply(200, {"jsonrpc": "2.0", "id": asked.id, "result": body})


def notification(method: str, params: Json) -> Json:
    """A notification, as it is sent."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def as_bytes(message: Json) -> bytes:
    """A message as it goes out."""
    return orjson.dumps(message)
