"""MCP's two eras, message by message."""

import base64
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.mcp.envelope import HANDSHAKE_VERSIONS
from entrance.mcp.messages import Answered, Notice, Reply, Request, success
from entrance.mcp.methods import METHODS
from entrance.mcp.protocol import DEEPEST, Said, call_of, read

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


@pytest.mark.parametrize("version", [None, *HANDSHAKE_VERSIONS])
def test_handshake_requests_are_read(version: str | None) -> None:
    headers = {"mcp-protocol-version": [version]} if version else {}
    asked = read(headers, body("tools/list"))
    assert asked == Request(7, "handshake", "tools/list", {})
    params = {"name": "t", "arguments": {"a": 1}}
    call = read(headers, body("tools/call", params))
    assert call == Request(7, "handshake", "tools/call", params)
    without = read(headers, body("tools/call", {"name": "t"}))
    assert without == Request(7, "handshake", "tools/call", {"name": "t"})


def test_modern_requests_are_read() -> None:
    assert read(*modern("tools/list")) == Request(7, "modern", "tools/list", {"_meta": META})
    headers, raw = modern("tools/call", {"name": "t", "arguments": {"a": 1}}, mcp_name=" t\t")
    asked = read(headers, raw)
    assert isinstance(asked, Request)
    assert (asked.params["name"], asked.params["arguments"]) == ("t", {"a": 1})


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
    assert isinstance(asked, Request)
    assert call_of(asked) == call


def test_a_name_may_be_wrapped_in_base64() -> None:
    wrapped = f"=?base64?{base64.b64encode('tül'.encode()).decode()}?="
    headers, raw = modern("tools/call", {"name": "tül"}, mcp_name=wrapped)
    assert isinstance(read(headers, raw), Request)


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
        pytest.param({}, body("ping", id="x" * 201), (400, -32600), id="an endless id"),
        pytest.param({}, body("ping", id=1e300), (400, -32600), id="an id that is no whole number"),
        pytest.param({}, b"[" * 100_000, (400, -32700), id="an abyss"),
        pytest.param(
            {}, b'{"a":' * (DEEPEST + 1) + b"1" + b"}" * (DEEPEST + 1), (400, -32700), id="too deep"
        ),
        pytest.param({}, body("resources/read", {"uri": 3}), (400, -32602), id="a URI of 3"),
        pytest.param({}, body("prompts/get", {"name": None}), (400, -32602), id="a name of null"),
        pytest.param({}, body("completion/complete", {"ref": "x"}), (400, -32602), id="no ref"),
        pytest.param({}, body("logging/setLevel", {}), (400, -32602), id="no level"),
        pytest.param({}, body("subscriptions/listen", {}), (200, -32601), id="listen in a session"),
        pytest.param(
            *modern("resources/subscribe", {"uri": "x"}), (404, -32601), id="subscribe without one"
        ),
        pytest.param({}, body("ping", params=[1]), (400, -32602), id="params that are a list"),
        pytest.param({}, body("no/such"), (200, -32601), id="an unknown method"),
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


def test_notifications_and_answers_are_told_from_requests() -> None:
    said = orjson.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert read({}, said) == Notice("handshake", "notifications/initialized", {})
    answer = {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert read({}, orjson.dumps(answer)) == Answered(1, answer)


def test_brackets_within_text_are_not_taken_for_depth() -> None:
    """A long text of brackets is an argument like any other."""
    text = '[{"\\' * (DEEPEST * 2)
    asked = read({}, body("tools/call", {"name": "t", "arguments": {"text": text}}))
    assert isinstance(asked, Request)
    assert asked.params["arguments"]["text"] == text


def test_of_a_key_that_comes_twice_one_value_counts_and_is_the_one_that_goes_on() -> None:
    raw = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}'
    asked = read({}, raw)
    assert isinstance(asked, Request)
    assert asked.params == {"name": "b"}


def test_results_have_the_form_of_their_era() -> None:
    old = success(Request(1, "handshake", "tools/list", {}), {"tools": [], "ttlMs": 5}).body
    new = success(Request(1, "modern", "tools/list", {}), {"tools": [], "ttlMs": 5}).body
    call = success(Request(1, "modern", "tools/call", {}), {"content": []}).body
    assert old is not None
    assert new is not None
    assert call is not None
    assert old["result"] == {"tools": []}
    assert {"ttlMs", "cacheScope", "resultType", "_meta"} < new["result"].keys()
    assert new["result"]["ttlMs"] == 0, "what others remember is not ours to promise"
    assert "ttlMs" not in call["result"]


@given(
    st.binary(max_size=200), st.dictionaries(st.sampled_from(["mcp-method"]), st.lists(st.text()))
)
def test_no_bytes_make_it_stumble(raw: bytes, headers: dict[str, list[str]]) -> None:
    assert isinstance(read(headers, raw), Said)


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
            "method": st.sampled_from(sorted(METHODS)),
        },
        optional={"id": JSON, "params": JSON},
    ),
    st.sampled_from(["", "2025-11-25", "2026-07-28", "x"]),
)
def test_no_message_makes_it_stumble(message: dict[str, Any], version: str) -> None:
    headers = {"mcp-protocol-version": [version]} if version else {}
    assert isinstance(read(headers, orjson.dumps(message)), Said)
