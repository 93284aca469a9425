"""Errors without keys."""

import gzip
import zlib

import orjson
import pytest

from entrance.model.redaction import clean, redacted, unpacked
from entrance.vault.credentials import SecretHeaders

KEY = "a-very-secret/key+1"
REDACT = SecretHeaders({"authorization": f"Bearer {KEY}"}, KEY).redact
TEXT = b'{"error": "no"}'


@pytest.mark.parametrize(
    ("packed", "encoding"),
    [
        pytest.param(TEXT, "", id="plain"),
        pytest.param(TEXT, "identity", id="identity"),
        pytest.param(gzip.compress(TEXT), "gzip", id="gzip"),
        pytest.param(gzip.compress(TEXT), "x-gzip", id="x-gzip"),
        pytest.param(zlib.compress(TEXT), "deflate", id="deflate"),
    ],
)
def test_what_can_be_unpacked_is_read(packed: bytes, encoding: str) -> None:
    assert unpacked(packed, encoding, 1000) == TEXT


@pytest.mark.parametrize(
    ("packed", "encoding"),
    [
        pytest.param(TEXT, "br", id="a packing that we don't read"),
        pytest.param(TEXT, "gzip, br", id="two of them"),
        pytest.param(TEXT, "gzip", id="not packed at all"),
        pytest.param(gzip.compress(TEXT)[:-4], "gzip", id="cut off"),
        pytest.param(gzip.compress(b"x" * 100_000), "gzip", id="a bomb"),
        pytest.param(b"x" * 1001, "identity", id="too long"),
    ],
)
def test_what_can_not_be_read_whole_is_nothing(packed: bytes, encoding: str) -> None:
    assert unpacked(packed, encoding, 1000) is None


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(f'{{"a": ["you sent {KEY}"]}}'.encode(), id="in a text"),
        pytest.param(f'{{"{KEY}": 1}}'.encode(), id="as a name"),
        pytest.param(b'{"a": "a-very-secret\\/key\\u002b1"}', id="with escapes"),
        pytest.param(f"<html>{KEY}</html>".encode(), id="not JSON"),
        pytest.param(f"\xff{KEY}".encode("latin-1"), id="not UTF-8"),
    ],
)
def test_the_secret_is_not_in_an_error_however_it_is_written(body: bytes) -> None:
    passed = redacted(body, REDACT)
    assert b"secret" not in passed
    assert b"[redacted]" in passed


@pytest.mark.parametrize(
    "key",
    [
        "sk-ant-api03-abcdefgh", "sk-proj-abc_DEF-12345", "sk-abc*****wxyz",
        "AIzaSyA0123456789abcdefghij", "sgr_abcdefgh12345",
    ],
)  # fmt: skip
def test_whatever_looks_like_a_key_is_taken_out(key: str) -> None:
    said = clean(f"Incorrect API key provided: {key}.", REDACT)
    assert said == "Incorrect API key provided: [redacted]."
    assert key.encode() not in redacted(orjson.dumps({"m": key}), REDACT)


def test_the_rest_of_an_error_stays_as_it_is() -> None:
    body = {"error": {"code": 429, "message": "slow down", "more": [None, True, 1.5]}}
    assert orjson.loads(redacted(orjson.dumps(body), REDACT)) == body
