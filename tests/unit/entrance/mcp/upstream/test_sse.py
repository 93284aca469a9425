"""Where messages go to a server of legacy SSE."""

import pytest

from entrance.errors import Malformed
from entrance.mcp.upstream.sse import place_of

URL = "https://wiki.example/a/sse"


@pytest.mark.parametrize(
    ("told", "place"),
    [
        ("/messages?id=1", "https://wiki.example/messages?id=1"),
        ("messages", "https://wiki.example/a/messages"),
        ("https://wiki.example/m", "https://wiki.example/m"),
        ("https:evil.example/m", "https://wiki.example/a/evil.example/m"),
        ("//wiki.example/m", "https://wiki.example/m"),
        ("/m?to=https://evil.example", "https://wiki.example/m?to=https://evil.example"),
    ],
)
def test_messages_go_where_the_stream_is(told: str, place: str) -> None:
    assert place_of(told.encode(), URL) == place


@pytest.mark.parametrize(
    "told",
    [
        "http://wiki.example/m",
        "https://wiki.example:8443/m",
        "https://wiki.example.evil.example/m",
        "https://wiki.example@evil.example/m",
        "https://me@wiki.example/m",
        "//evil.example/m",
        "file:///etc/passwd",
        "https://[wiki.example/m",
        "/m\x00",
        "/m m",
        "/\u00e9",
        "/" + "m" * 3000,
    ],
)
def test_messages_go_to_no_other_place(told: str) -> None:
    with pytest.raises(Malformed):
        place_of(told.encode(), URL)
