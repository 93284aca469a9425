"""What is sent to a server, in which form, and how it is told that it may not ask something [pure]."""

import base64
import re
from collections.abc import Mapping
from typing import Any

from entrance.mcp.messages import INTERNAL_ERROR, METHOD_NOT_FOUND, Failure, Json, RpcId
from entrance.session import Ask

HANDSHAKE = "2025-11-25"
MODERN = "2026-07-28"
CLIENT = {"name": "sandgate", "version": "1"}
PREFIX = "io.modelcontextprotocol"
VERSION_KEY = f"{PREFIX}/protocolVersion"
CLIENT_KEY = f"{PREFIX}/clientInfo"
CAPABILITIES_KEY = f"{PREFIX}/clientCapabilities"
LEVEL_KEY = f"{PREFIX}/logLevel"

ASKS: Mapping[str, Ask] = {
    "sampling/createMessage": "sampling",
    "elicitation/create": "elicitation",
    "roots/list": "roots",
}
"""What a server may ask of a client, and which grant it takes."""

_PASSED_ON: Mapping[str, tuple[str, ...]] = {
    "tools/call": ("name", "arguments", "inputResponses", "requestState"),
    "prompts/get": ("name", "arguments", "inputResponses", "requestState"),
    "resources/read": ("uri", "inputResponses", "requestState"),
    "resources/subscribe": ("uri",),
    "resources/unsubscribe": ("uri",),
    "completion/complete": ("ref", "argument", "context"),
    "logging/setLevel": ("level",),
    "subscriptions/listen": ("notifications",),
}
"""What of a client's parameters reaches a server; nothing else of a message does."""
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_PLAIN = re.compile(r"[\x21-\x7e]|[\x21-\x7e][\x20-\x7e]*[\x21-\x7e]")


def passed_on(method: str, params: Json) -> dict[str, Any]:
    """The parameters that reach the server."""
    return {key: params[key] for key in _PASSED_ON.get(method, ()) if key in params}


def request(number: int, method: str, params: Json) -> dict[str, Any]:
    """A request, as it is sent."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def answer(rpc_id: RpcId, result: Json | Failure) -> dict[str, Any]:
    """The answer to what a server asked."""
    if isinstance(result, Failure):
        error = {"code": result.code, "message": result.message}
        return {"jsonrpc": "2.0", "id": rpc_id, "error": error}
    return {"jsonrpc": "2.0", "id": rpc_id, "result": result}


def code_of(error: Json, otherwise: int) -> int:
    """The code of an error that somebody else wrote."""
    code = error.get("code")
    if isinstance(code, bool) or not isinstance(code, int):
        return otherwise
    return code


def refused(method: str, reason: str) -> Json | Failure:
    """How a server is told that it may not ask: in the words of the protocol, where it has some."""
    match ASKS.get(method):
        case "elicitation":
            return {"action": "decline"}
        case "sampling":
            return Failure(-1, f"Refused: {reason}.")
        case _:
            return Failure(METHOD_NOT_FOUND, f"Refused: {reason}.")


def routing(method: str, params: Json) -> dict[str, str]:
    """The headers that say, in the modern era, what a request is about."""
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
    named = params.get(_NAMED.get(method, ""))
    if isinstance(named, str):
        headers["Mcp-Name"] = header_value(named)
    return headers


def header_value(value: str) -> str:
    """A value as a header can carry it."""
    if _PLAIN.fullmatch(value) and not value.startswith("=?"):
        return value
    return f"=?base64?{base64.b64encode(value.encode('utf-8', 'replace')).decode()}?="


def parameters(tool: Json, arguments: Json) -> dict[str, str]:
    """The headers that a tool's schema wants some arguments repeated in, in the modern era."""
    schema = tool.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    headers = {}
    for name, each in (properties if isinstance(properties, dict) else {}).items():
        header = each.get("x-mcp-header") if isinstance(each, dict) else None
        value = arguments.get(name)
        if isinstance(header, str) and _TOKEN.fullmatch(header) and value is not None:
            told = {True: "true", False: "false"}.get(value) if isinstance(value, bool) else None
            headers[f"Mcp-Param-{header}"] = header_value(told or str(value))
    return headers


_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")


def envelope(meta: Json, asks: frozenset[Ask], number: int) -> dict[str, Any]:
    """A modern request's `_meta`: what the client said of itself, as far as it is granted."""
    declared = meta.get(CAPABILITIES_KEY)
    can = declared if isinstance(declared, dict) else {}
    sent: dict[str, Any] = {
        VERSION_KEY: MODERN,
        CLIENT_KEY: CLIENT,
        CAPABILITIES_KEY: {ask: can[ask] for ask in sorted(asks) if isinstance(can.get(ask), dict)},
    }
    if isinstance(meta.get(LEVEL_KEY), str):
        sent[LEVEL_KEY] = meta[LEVEL_KEY]
    if "progressToken" in meta:
        sent["progressToken"] = number
    return sent


def outcome(message: Json, status: int) -> Json | Failure:
    """What a response says: a result, or an error. Raises: ValueError when neither."""
    error, result = message.get("error"), message.get("result")
    if isinstance(error, dict):
        told = str(error.get("message"))[:2000]
        return Failure(code_of(error, INTERNAL_ERROR), told, error.get("data"), status)
    if not isinstance(result, dict):
        raise ValueError("it has neither a result nor an error")  # noqa: TRY004 - not our mistake
    return result
