"""What the headers of a message say, and whether its body says the same [pure]."""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

from entrance.mcp.messages import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    UNSUPPORTED_VERSION,
    Era,
    Reply,
    Request,
    failure,
)

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSIONS = ("2026-07-28",)

_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
ROUTING = ("mcp-protocol-version", "mcp-method", "mcp-name")
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Methods that say in a header what they are about, and the parameter that says it in the body."""
_ENCODED = re.compile(r"=\?base64\?(.*)\?=")


def era_of(headers: Mapping[str, list[str]], rpc_id: Any) -> tuple[Era, Reply | None]:
    """The request's era, and the refusal if its routing headers can't be followed."""
    shown = rpc_id if isinstance(rpc_id, str | int | float) else None
    for name in ROUTING:
        if len(headers.get(name, ())) > 1:
            message = f"The header {name} appears more than once"
            return "modern", failure(shown, HEADER_MISMATCH, message, status=400)
    version = _header(headers, "mcp-protocol-version")
    if version is None or version in HANDSHAKE_VERSIONS:
        return "handshake", None
    if version in MODERN_VERSIONS:
        return "modern", None
    data = {"supported": list(MODERN_VERSIONS), "requested": version[:100]}
    return "modern", failure(shown, UNSUPPORTED_VERSION, "Unsupported protocol version", 400, data)


def envelope_trouble(headers: Mapping[str, list[str]], request: Request) -> Reply | None:
    """The first thing wrong with a modern request's envelope, in the order the standard gives."""
    meta = request.params.get("_meta")
    if not isinstance(meta, dict) or not {_VERSION_KEY, _CAPABILITIES_KEY} <= meta.keys():
        message = f"params._meta must carry {_VERSION_KEY} and {_CAPABILITIES_KEY}"
        return failure(request.id, INVALID_PARAMS, message, status=400)
    told = {
        "mcp-protocol-version": (_header(headers, "mcp-protocol-version"), meta[_VERSION_KEY]),
        "mcp-method": (_header(headers, "mcp-method"), request.method),
    }
    named = _NAMED.get(request.method)
    if named is not None:
        told["mcp-name"] = (_decoded(_header(headers, "mcp-name")), request.params.get(named))
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
