"""execd reads HTTP/1.1 as strictly as the proxy in front of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execd.errors import Refused
from execd.wire import ChunkedBody, body_length, chunk, request_head, response_head, split_target

GOOD = b"POST /command?x=1 HTTP/1.1\r\nHost: a\r\nX-Token:  s p \r\nAccept: a\r\naccept: b"


def test_a_head_is_taken_apart() -> None:
    head = request_head(GOOD)
    assert (head.method, head.target, head.version) == ("POST", "/command?x=1", (1, 1))
    assert head.headers == {"host": "a", "x-token": "s p", "accept": "a, b"}
    assert head.keeps_alive


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"GET /ping", id="no version"),
        pytest.param(b"GET /ping HTTP/2.0", id="another version"),
        pytest.param(b"GET http://x/ HTTP/1.1", id="absolute form"),
        pytest.param(b"get /ping HTTP/1.1", id="method in small letters"),
        pytest.param(b"GET /a b HTTP/1.1", id="blank in the target"),
        pytest.param(b"GET /ping HTTP/1.1\r\nA : b", id="blank before the colon"),
        pytest.param(b"GET /ping HTTP/1.1\r\nA: b\r\n c", id="folded line"),
        pytest.param(b"GET /ping HTTP/1.1\r\nA: b\nC: d", id="bare line feed"),
        pytest.param(b"GET /ping HTTP/1.1\r\nA: b\x00", id="NUL"),
        pytest.param(b"GET /ping HTTP/1.1\nHost: a", id="bare line feed after the first line"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_what_is_not_exactly_http_is_refused(raw: bytes) -> None:
    with pytest.raises(Refused) as refused:
        request_head(raw)
    assert refused.value.status == 400


def test_too_many_headers_are_refused() -> None:
    with pytest.raises(Refused) as refused:
        request_head(b"GET / HTTP/1.1" + b"\r\na: b" * 101)
    assert refused.value.status == 431


@pytest.mark.parametrize(
    ("raw", "keeps"),
    [
        (b"GET / HTTP/1.1\r\nConnection: close", False),
        (b"GET / HTTP/1.1\r\nConnection: TE, Close", False),
        (b"GET / HTTP/1.0", False),
        (b"GET / HTTP/1.0\r\nConnection: keep-alive", True),
    ],
)
def test_connection_is_kept_as_the_sender_wants(raw: bytes, keeps: bool) -> None:  # noqa: FBT001  # a table
    assert request_head(raw).keeps_alive is keeps


@pytest.mark.parametrize(
    ("headers", "length"),
    [({}, 0), ({"content-length": "12"}, 12), ({"transfer-encoding": "Chunked"}, None)],
)
def test_the_headers_say_how_long_the_body_is(headers: dict[str, str], length: int | None) -> None:
    assert body_length(headers) == length


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"content-length": "1", "transfer-encoding": "chunked"}, id="both"),
        pytest.param({"content-length": "1, 1"}, id="two lengths"),
        pytest.param({"content-length": "-1"}, id="negative"),
        pytest.param({"content-length": "+1"}, id="signed"),
        pytest.param({"content-length": "\u0661"}, id="another script's digit"),
        pytest.param({"content-length": "9" * 30}, id="huge"),
        pytest.param({"transfer-encoding": "gzip, chunked"}, id="another coding"),
    ],
)
def test_a_body_whose_length_could_be_read_in_two_ways_is_refused(headers: dict[str, str]) -> None:
    with pytest.raises(Refused):
        body_length(headers)


def test_a_response_is_taken_apart_too() -> None:
    head = response_head(b"HTTP/1.1 404 Not Found\r\nX: y")
    assert (head.status, head.fields) == (404, (("X", "y"),))
    with pytest.raises(Refused):
        response_head(b"SSH-2.0-OpenSSH")


def test_any_byte_of_a_file_name_survives_the_query() -> None:
    path, query = split_target("/files/a%2Fb?path=/tmp/%FF%20x&path=b&empty=")
    assert path == "/files/a/b"
    assert query["path"][0].encode("utf-8", "surrogateescape") == b"/tmp/\xff x"
    assert query["empty"] == [""]


@given(st.lists(st.binary(min_size=1, max_size=40)), st.binary(max_size=30), st.data())
def test_a_chunked_body_is_read_whatever_pieces_it_comes_in(
    pieces: list[bytes], after: bytes, data: st.DataObject
) -> None:
    raw = b"".join(map(chunk, pieces)) + b"0\r\nTrailer: x\r\n\r\n" + after
    body, out, at = ChunkedBody(), b"", 0
    while at < len(raw) and not body.finished:
        size = data.draw(st.integers(1, 9))
        out += b"".join(body.feed(raw[at : at + size]))
        at += size
    assert body.finished
    assert out == b"".join(pieces)
    assert body.rest() + raw[at:] == after


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"xyz\r\n", id="size is no number"),
        pytest.param(b"-5\r\n", id="negative size"),
        pytest.param(b"5\r\nhelloXX", id="longer than said"),
        pytest.param(b"F" * 16 + b"\r\n", id="absurd size"),
        pytest.param(b"1" * 2000, id="endless size line"),
        pytest.param(b"0\r\n" + b"a: b\r\n" * 2000, id="endless trailers"),
    ],
)
def test_what_is_not_chunked_coding_is_refused(raw: bytes) -> None:
    with pytest.raises(Refused):
        ChunkedBody().feed(raw)
