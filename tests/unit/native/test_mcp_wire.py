import base64
import json

import pytest
from native import mcp_wire
from native.mcp_wire import Attachment, Peer


def test_a_modern_request_says_in_its_headers_what_it_is_about() -> None:
    """CASE-70: headers and envelope of 2026-07-28 agree."""
    params = {"name": "get_task", "arguments": {}}
    headers = mcp_wire.headers(Peer(), "tools/call", params)
    body = mcp_wire.request(Peer(), 7, "tools/call", params)
    assert headers["MCP-Protocol-Version"] == "2026-07-28"
    assert (headers["Mcp-Method"], headers["Mcp-Name"]) == ("tools/call", "get_task")
    assert body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] == {}


def test_an_older_request_has_no_envelope_but_its_session() -> None:
    peer = Peer("2025-06-18", "s1")
    headers = mcp_wire.headers(peer, "tools/call", {"name": "x"})
    assert headers["Mcp-Session-Id"] == "s1"
    assert "Mcp-Method" not in headers
    assert mcp_wire.request(peer, None, "ping", {}) == {
        "jsonrpc": "2.0",
        "method": "ping",
        "params": {},
    }


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/json", b'{"id": 3, "result": 1}'),
        (
            "text/event-stream",
            b'data: {"method": "n"}\n\nevent: message\ndata: {"id": 3,\ndata:  "result": 1}\n\n',
        ),
        (
            "text/event-stream; charset=utf-8",
            b'id: 1\r\ndata:\r\n\r\ndata: {"id": 3, "result": 1}\r\n\r\n',
        ),
    ],
)
def test_the_reply_is_found(content_type: str, body: bytes) -> None:
    assert mcp_wire.reply(content_type, body, 3)["result"] == 1


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"id": 4}', b"\xff"])
def test_an_answer_without_the_reply_is_an_error(body: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - JSON, UTF-8 or ours: each is one
        mcp_wire.reply("application/json", body, 3)


def test_every_kind_of_content_becomes_text_or_an_attachment() -> None:
    data = base64.b64encode(b"\x89PNG").decode()
    parts = [
        {"type": "text", "text": "a"},
        {"type": "image", "mimeType": "image/png", "data": data},
        {"type": "resource", "resource": {"uri": "x:1", "text": "b"}},
        {"type": "resource", "resource": {"uri": "x:2", "mimeType": "a/b", "blob": data}},
        {"type": "resource_link", "uri": "x:3", "name": "c"},
        {"type": "audio", "data": "%%%"},
        {"type": "new"},
    ]
    assert list(mcp_wire.content({"content": parts})) == [
        "a",
        Attachment("image", "image/png", b"\x89PNG"),
        "[resource x:1]\nb",
        Attachment("resource", "a/b", b"\x89PNG"),
        "[resource x:3: c]",
        "[audio: can't be decoded]",
        Attachment("new", "unknown type", b""),
    ]


def test_structured_content_stands_in_where_there_is_no_other() -> None:
    result = {"content": [], "structuredContent": {"a": 1}}
    assert [json.loads(str(part)) for part in mcp_wire.content(result)] == [{"a": 1}]
