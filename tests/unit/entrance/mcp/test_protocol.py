"""MCP's two eras, message by message."""

import base64
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.mcp.envelope import HANDSHAKE_VERSIONS
from entrance.mcp.messages import CallTool, ListTools, Reply, success
from entrance.mcp.protocol import read

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def body(method: str, params: Any = None, **more: Any) -> bytes:
    message = {
        "jsonrpc": "2.0",
        "id": 7,
        "method": method,
        "params": {} if params is None else params,
    } | more
    return orjson.dumps(message)


def modern(
    method: str, params: dict[str, Any] | None = None, **headers: str
) -> tuple[dict[str, list[str]], bytes]:
    told = {"mcp-protocol-version": "2026-07-28", "mcp-method": method}
    told |= {name.replace("_", "-"): value for name, value in headers.items()}
    params = {"_meta": META} | (params or {})
    return {name: [value] for name, value in told.items() if value}, body(method, params)


def error_of(asked: object) -> tuple[int, int]:
    assert isinstance(asked, Reply)
    assert asked.body is not None
    return asked.status, asked.body["error"]["code"]


@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS)
def test_initialize_agrees_on_a_known_version(version: str) -> None:
    reply = read({}, body("initialize", {"protocolVersion": version}))
    assert isinstance(reply, Reply)
    assert reply.body is not None
    assert reply.body["result"]["protocolVersion"] == version
    assert reply.body["id"] == 7


def test_initialize_offers_our_latest_for_an_unknown_version() -> None:
    reply = read({}, body("initialize", {"protocolVersion": "1999-01-01"}))
    assert isinstance(reply, Reply)
    assert reply.body is not None
    assert reply.body["result"]["protocolVersion"] == "2025-11-25"


def test_discover_tells_the_modern_version_and_is_not_cached() -> None:
    reply = read(*modern("server/discover"))
    assert isinstance(reply, Reply)
    assert reply.body is not None
    result = reply.body["result"]
    assert result["supportedVersions"] == ["2026-07-28"]
    assert (result["ttlMs"], result["cacheScope"]) == (0, "private")
    assert result["resultType"] == "complete"
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "sandgate"


@pytest.mark.parametrize("version", [None, *HANDSHAKE_VERSIONS])
def test_handshake_requests_are_read(version: str | None) -> None:
    headers = {"mcp-protocol-version": [version]} if version else {}
    assert read(headers, body("tools/list")) == ListTools(7, "handshake")
    call = read(headers, body("tools/call", {"name": "t", "arguments": {"a": 1}}))
    assert call == CallTool(7, "handshake", "t", {"a": 1}, "7")
    assert read(headers, body("tools/call", {"name": "t"})) == CallTool(
        7, "handshake", "t", {}, "7"
    )


def test_modern_requests_are_read() -> None:
    assert read(*modern("tools/list")) == ListTools(7, "modern")
    headers, raw = modern("tools/call", {"name": "t", "arguments": {"a": 1}}, mcp_name=" t\t")
    assert read(headers, raw) == CallTool(7, "modern", "t", {"a": 1}, "7")


@pytest.mark.parametrize(
    ("meta", "call"),
    [
        pytest.param({"claudecode/toolUseId": "toolu_1"}, "toolu_1", id="the harness's own"),
        pytest.param({"claudecode/toolUseId": "x" * 999}, "x" * 200, id="cut"),
        pytest.param({"claudecode/toolUseId": 3}, "7", id="no text"),
        pytest.param([], "7", id="no object"),
    ],
)
def test_a_call_is_known_by_the_harnesss_id_of_it_or_else_the_messages(
    meta: object, call: str
) -> None:
    asked = read({}, body("tools/call", {"name": "t", "_meta": meta}))
    assert isinstance(asked, CallTool)
    assert asked.call == call


def test_a_name_may_be_wrapped_in_base64() -> None:
    wrapped = f"=?base64?{base64.b64encode('tül'.encode()).decode()}?="
    headers, raw = modern("tools/call", {"name": "tül"}, mcp_name=wrapped)
    assert isinstance(read(headers, raw), CallTool)


@pytest.mark.parametrize(
    ("headers", "raw", "error"),
    [
        pytest.param({}, b"{", (400, -32700), id="no JSON"),
        pytest.param({}, b"[]", (400, -32600), id="a batch"),
        pytest.param({}, b'"x"', (400, -32600), id="no object"),
        pytest.param({}, b"{}", (400, -32600), id="no method"),
        pytest.param({}, body("x", jsonrpc="1.0"), (400, -32600), id="another JSON-RPC"),
        pytest.param({}, body("ping", id=None), (400, -32600), id="an id of null"),
        pytest.param({}, body("ping", id=True), (400, -32600), id="an id of true"),
        pytest.param({}, body("ping", params=[1]), (400, -32602), id="params that are a list"),
        pytest.param({}, body("resources/list"), (200, -32601), id="an unknown method"),
        pytest.param({}, body("server/discover"), (200, -32601), id="discover without an era"),
        pytest.param({}, body("tools/call", {}), (400, -32602), id="a call without a name"),
        pytest.param(
            {},
            body("tools/call", {"name": "t", "arguments": [1]}),
            (400, -32602),
            id="bad arguments",
        ),
        pytest.param(
            {"mcp-protocol-version": ["2030-01-01"]},
            body("tools/list"),
            (400, -32022),
            id="a version of the future",
        ),
        pytest.param(
            {"mcp-protocol-version": ["2025-11-25", "2026-07-28"]},
            body("tools/list"),
            (400, -32020),
            id="two versions",
        ),
        pytest.param(*modern("initialize"), (404, -32601), id="initialize in the modern era"),
        pytest.param(*modern("ping"), (404, -32601), id="ping in the modern era"),
        pytest.param(*modern("tools/list", {"_meta": {}}), (400, -32602), id="an empty envelope"),
        pytest.param(*modern("tools/list", {"_meta": None}), (400, -32602), id="no envelope"),
        pytest.param(
            *modern("tools/list", {"_meta": {**META, next(iter(META)): "2025-11-25"}}),
            (400, -32020),
            id="an envelope of another version",
        ),
        pytest.param(
            *modern("tools/list", mcp_method="tools/call"), (400, -32020), id="another method"
        ),
        pytest.param(*modern("tools/list", mcp_method=""), (400, -32020), id="no method header"),
        pytest.param(
            *modern("tools/call", {"name": "t"}, mcp_name="T"), (400, -32020), id="another name"
        ),
        pytest.param(*modern("tools/call", {"name": "t"}), (400, -32020), id="no name header"),
        pytest.param(
            *modern("tools/call", {"name": "t"}, mcp_name="=?base64?dB==?="),
            (400, -32020),
            id="a name that is wrapped badly",
        ),
    ],
)
def test_what_is_not_right_is_refused_with_its_code(
    headers: dict[str, list[str]], raw: bytes, error: tuple[int, int]
) -> None:
    """CASE-70: wrong version -32022, header mismatch -32020."""
    assert error_of(read(headers, raw)) == error


def test_an_unsupported_version_is_told_what_is_supported() -> None:
    reply = read({"mcp-protocol-version": ["2030-01-01"]}, body("tools/list"))
    assert isinstance(reply, Reply)
    assert reply.body is not None
    data = reply.body["error"]["data"]
    assert data["requested"] == "2030-01-01"
    assert "2026-07-28" in data["supported"]
    assert reply.body["id"] == 7


@pytest.mark.parametrize(
    "raw",
    [
        orjson.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        orjson.dumps({"jsonrpc": "2.0", "id": 1, "result": {}}),
    ],
)
def test_what_needs_no_answer_gets_none(raw: bytes) -> None:
    assert read({}, raw) == Reply(202)


def test_results_have_the_form_of_their_era() -> None:
    old = success(ListTools(1, "handshake"), {"tools": []}).body
    new = success(ListTools(1, "modern"), {"tools": []}).body
    call = success(CallTool(1, "modern", "t", {}), {"content": []}).body
    assert old is not None
    assert new is not None
    assert call is not None
    assert old["result"] == {"tools": []}
    assert {"ttlMs", "cacheScope", "resultType", "_meta"} < new["result"].keys()
    assert "ttlMs" not in call["result"]


@given(
    st.binary(max_size=200), st.dictionaries(st.sampled_from(["mcp-method"]), st.lists(st.text()))
)
def test_no_bytes_make_it_stumble(raw: bytes, headers: dict[str, list[str]]) -> None:
    assert isinstance(read(headers, raw), Reply | ListTools | CallTool)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.fixed_dictionaries(
        {
            "jsonrpc": st.just("2.0"),
            "method": st.sampled_from(["tools/call", "tools/list", "ping"]),
        },
        optional={"id": JSON, "params": JSON},
    ),
    st.sampled_from(["", "2025-11-25", "2026-07-28", "x"]),
)
def test_no_message_makes_it_stumble(message: dict[str, Any], version: str) -> None:
    headers = {"mcp-protocol-version": [version]} if version else {}
    assert isinstance(read(headers, orjson.dumps(message)), Reply | ListTools | CallTool)
