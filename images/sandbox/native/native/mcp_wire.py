"""MCP messages of both eras: modern (2026-07-28, no session) and the handshake before it [pure]."""

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

MODERN = "2026-07-28"
HANDSHAKE = "2025-11-25"
CLIENT = {"name": "sandgate-native", "version": "1"}
_META = "io.modelcontextprotocol/"


@dataclass(frozen=True)
class Peer:
    """How to talk to a server: its protocol version, and the session that it gave, if so."""

    version: str = MODERN
    session: str | None = None
    instructions: str = ""

    @property
    def modern(self) -> bool:
        """Does every request carry its own envelope?"""
        return self.version == MODERN


@dataclass(frozen=True)
class Attachment:
    """Content that is not text."""

    kind: str
    mime_type: str
    data: bytes = field(repr=False)


def headers(peer: Peer, method: str, params: Mapping[str, Any]) -> dict[str, str]:
    """The headers of a request."""
    found = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": peer.version}
    if peer.modern:
        found["Mcp-Method"] = method
        if "name" in params:
            found["Mcp-Name"] = params["name"]
    if peer.session is not None:
        found["Mcp-Session-Id"] = peer.session
    return found


def request(
    peer: Peer, number: int | None, method: str, params: Mapping[str, Any]
) -> dict[str, Any]:
    """The body of a request, or of a notification (no number)."""
    if peer.modern:
        meta = {
            f"{_META}protocolVersion": peer.version,
            f"{_META}clientInfo": CLIENT,
            f"{_META}clientCapabilities": {},
        }
        params = {**params, "_meta": meta}
    body: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    return body if number is None else {**body, "id": number}


def reply(content_type: str, body: bytes, number: int) -> Mapping[str, Any]:
    """The message with this number in an answer: JSON, or a stream of server-sent events.

    Raises:
        ValueError: there is none.
    """
    texts = _events(body) if content_type.startswith("text/event-stream") else [body.decode()]
    for text in texts:
        message = json.loads(text)
        if isinstance(message, dict) and message.get("id") == number:
            return message
    raise ValueError("no JSON-RPC message with the request's id")


def _events(body: bytes) -> Iterator[str]:
    for block in body.decode().replace("\r\n", "\n").split("\n\n"):
        data = [
            line[5:].removeprefix(" ") for line in block.split("\n") if line.startswith("data:")
        ]
        if any(data):
            yield "\n".join(data)


def content(result: Mapping[str, Any]) -> Iterator[str | Attachment]:
    """The parts of a tool's result, as text or as something to be kept in a file."""
    parts = result.get("content") or ()
    if not parts and "structuredContent" in result:
        yield json.dumps(result["structuredContent"])
    for part in parts:
        yield _part(part)


def _part(part: Mapping[str, Any]) -> str | Attachment:
    kind = part.get("type")
    if kind == "text":
        return str(part.get("text", ""))
    if kind == "resource_link":
        return f"[resource {part.get('uri')}: {part.get('name', '')}]"
    holder = part.get("resource", {}) if kind == "resource" else part
    if "text" in holder:
        return f"[resource {holder.get('uri')}]\n{holder['text']}"
    encoded = holder.get("blob", holder.get("data", ""))
    try:
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, TypeError, ValueError):
        return f"[{kind}: can't be decoded]"
    return Attachment(str(kind), str(holder.get("mimeType", "unknown type")), data)
