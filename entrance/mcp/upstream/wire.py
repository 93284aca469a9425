"""What is sent to a server, in which form, and how it is told that it may not ask something [pure]."""

import base64
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from entrance.errors import Malformed
from entrance.mcp.connection import Unreadable
from entrance.mcp.messages import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    UNREACHABLE,
    Failure,
    Json,
    RpcId,
)
from entrance.tool_policy import Ask

_DATE = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}")

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
_PLAIN = re.compile(r"(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?")


def passed_on(method: str, params: Json) -> dict[str, Any]:
    """The parameters that reach the server."""
    return {key: params[key] for key in _PASSED_ON.get(method, ()) if key in params}


def without_rounds(params: Json) -> dict[str, Any]:
    """Parameters without what answers a server's questions in the modern era."""
    return {
        key: value for key, value in params.items() if key not in {"inputResponses", "requestState"}
    }


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


def versions_in(refusal: Failure) -> tuple[str, ...]:
    """The versions that a server names which refuses ours (-32022)."""
    named = refusal.data.get("supported") if isinstance(refusal.data, dict) else None
    return tuple(each for each in named if isinstance(each, str)) if isinstance(named, list) else ()


def is_answer(message: Json, number: int, status: int) -> bool:
    """Whether it answers our request; a refusal by HTTP may name none, as it wasn't read that far."""
    rpc_id = message.get("id")
    mine = rpc_id == number and not isinstance(rpc_id, bool)
    return mine or status >= HTTPStatus.BAD_REQUEST


def is_forgotten(message: Json, status: int) -> bool:
    """Whether a server says in its own way that it doesn't know the session, and took nothing.

    The protocol's way is 404. Servers made after the SDK's examples say 400, with a word about it.
    """
    error = message.get("error")
    if status != HTTPStatus.BAD_REQUEST or not isinstance(error, dict):
        return False
    said = error.get("message")
    return code_of(error, 0) == UNREACHABLE and isinstance(said, str) and "session" in said.lower()


def agreed_version(result: Json) -> str:
    """The version that a server of the handshake era answers with. Raises: Malformed."""
    version = result.get("protocolVersion")
    if not isinstance(version, str) or not _DATE.fullmatch(version):
        raise Malformed("it doesn't say which version of MCP it speaks")
    return version


def outcome(message: Json, status: int) -> Json | Failure:
    """What a response says: a result, or an error. Raises: Unreadable when neither."""
    error, result = message.get("error"), message.get("result")
    if isinstance(error, dict):
        told = str(error.get("message"))[:2000]
        return Failure(code_of(error, INTERNAL_ERROR), told, error.get("data"), status)
    if not isinstance(result, dict):
        raise Unreadable("its answer has neither a result nor an error")
    return result
