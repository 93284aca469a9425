"""Pieces of streams that several protocols share."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

SLICE = 40
"""Characters of JSON a piece."""
_MOST_PIECES = 2000
"""A long text comes in fewer, longer pieces: a stream of megabytes is about bytes, not about events."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a stream. `said`: the bytes of the model's own words and arguments in it."""

    data: bytes
    said: int = 0


def words(text: str) -> Iterator[str]:
    """A text word by word."""
    found = re.findall(r"\s*\S+\s*|\s+", text)
    step = 1 + len(found) // _MOST_PIECES
    for at in range(0, len(found), step):
        yield "".join(found[at : at + step])


def slices(text: str) -> Iterator[str]:
    """JSON in pieces that break anywhere."""
    step = max(SLICE, len(text) // _MOST_PIECES)
    for at in range(0, len(text), step):
        yield text[at : at + step]


def event(data: Any, kind: str | None = None, *, says: str = "", end: str = "\n") -> Piece:
    """A server-sent event that says something of the answer; `end` is how its lines end."""
    head = f"event: {kind}{end}" if kind else ""
    return Piece(f"{head}data: {json.dumps(data)}{end}{end}".encode(), len(says.encode()))
