"""What a provider says about an error, without anything that looks like a key [pure].

Errors quote what they refuse: a key in a header, a URL, a body. They are unpacked and read as the
client would read them before they are searched, so that no escape hides one. What is packed as we
can't read it (br, zstd; nobody was asked for it) is not passed on: the status alone is.
"""

import re
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import orjson

_KEYS = re.compile(
    r"\b(?:sk-[A-Za-z0-9_*-]{8,}|AIza[A-Za-z0-9_-]{20,}|AQ\.[A-Za-z0-9_-]{20,}|sgr_[A-Za-z0-9_-]{8,})"
)
_WINDOWS: Mapping[str, int] = {"gzip": 31, "x-gzip": 31, "deflate": 47}
"""zlib's names of the packings that we read; 47 finds out by itself whether there is a header."""
_GONE = "[redacted]"

Redact = Callable[[bytes], bytes]
"""Takes one secret out of bytes."""


def unpacked(body: bytes, encoding: str, limit: int) -> bytes | None:
    """The body in the clear; None when it is longer than `limit`, or packed in a way we can't read."""
    if encoding in {"", "identity"}:
        return body if len(body) <= limit else None
    window = _WINDOWS.get(encoding)
    if window is None:
        return None
    unpacker = zlib.decompressobj(window)
    try:
        plain = unpacker.decompress(body, limit + 1)
    except zlib.error:
        return None
    return plain if unpacker.eof and len(plain) <= limit else None


def redacted(body: bytes, redact: Redact) -> bytes:
    """A body without the secret that `redact` knows, and without whatever else looks like a key."""
    try:
        told = orjson.loads(body)
    except orjson.JSONDecodeError:
        return clean(body.decode("utf-8", "replace"), redact).encode()
    return orjson.dumps(_each(told, redact))


def clean(text: str, redact: Redact) -> str:
    """A text without keys."""
    return _KEYS.sub(
        _GONE, redact(text.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")
    )


def _each(value: Any, redact: Redact) -> Any:
    match value:
        case str():
            return clean(value, redact)
        case list():
            return [_each(item, redact) for item in value]
        case dict():
            return {clean(key, redact): _each(item, redact) for key, item in value.items()}
        case _:
            return value
