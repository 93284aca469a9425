"""Server-sent events out of chunks that are split anywhere: of each, its data as JSON [pure]."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

LARGEST_STREAM_BYTES = 64 << 20


def events(chunks: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """The JSON object of each event.

    Raises:
        ValueError: one's data is no JSON object, or there is no end of it.
    """
    data: list[bytes] = []
    for line in _lines(chunks):
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif not line and data:
            yield from _read(b"\n".join(data))
            data = []
    if data:
        yield from _read(b"\n".join(data))


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Only line feeds end a line (with a carriage return before it or not): a text may hold the rest."""
    buffer = bytearray()
    taken = 0
    for chunk in chunks:
        taken += len(chunk)
        if taken > LARGEST_STREAM_BYTES:
            raise ValueError(f"it is larger than {LARGEST_STREAM_BYTES >> 20} MB")
        buffer += chunk
        *whole, rest = buffer.split(b"\n")
        yield from (bytes(line.removesuffix(b"\r")) for line in whole)
        buffer = rest
    yield bytes(buffer)


def _read(data: bytes) -> Iterator[dict[str, Any]]:
    if data == b"[DONE]":  # how some gateways end a stream
        return
    event = json.loads(data)
    if not isinstance(event, dict):
        raise ValueError(f"no JSON object, but {data[:80]!r}")  # noqa: TRY004 - as JSON's own errors
    yield event
