"""The chain of the log's lines: how each is tied to the one before [pure].

A line is one JSON object whose last member is its hash:

    {"seq":7,"at":"...","type":"decided",...,"hash":"<64 hex digits>"}

The hash is SHA-256 over the 32 bytes of the hash before and everything of the line that stands in
front of `,"hash":`, byte for byte. So a chain is checked without reading JSON, and no other writing
of the same JSON passes for the line.
"""

import hashlib
import re
from binascii import hexlify
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

import orjson

GENESIS = bytes(32)
"""What stands for the hash before the first line."""
MARK, END = b',"hash":"', b'"}'
TAIL = len(MARK) + 64 + len(END)
"""So many bytes of a line, without its line feed, are its hash."""

_SEQ = re.compile(rb'\{"seq":(\d{1,18}),')


class Head(NamedTuple):
    """The end of a chain: the last line's number, and its hash."""

    seq: int = 0
    hash: bytes = GENESIS

    def line(self, at: datetime, fields: Mapping[str, Any]) -> tuple[bytes, "Head"]:
        """The next line, and the head with it. There is at least one field.

        Raises: TypeError when it can't be written as JSON.
        """
        seq = self.seq + 1
        said = _json(fields)[1:-1]
        payload = b'{"seq":%d,"at":%b,%b' % (seq, orjson.dumps(at), said)
        digest = hashlib.sha256(self.hash + payload).digest()
        raw = b"%b%b%b%b\n" % (payload, MARK, hexlify(digest), END)
        return raw, Head(seq, digest)

    def followed_by(self, line: bytes) -> "Head | None":
        """The head with this line, if it is the next one; it comes without its line feed."""
        seq, digest = self.seq + 1, hashlib.sha256(self.hash + line[:-TAIL])
        if line[-TAIL:] != MARK + digest.hexdigest().encode() + END or seq_of(line) != seq:
            return None
        return Head(seq, digest.digest())


def _json(fields: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(fields, default=str)
    except TypeError:  # a lone surrogate, most likely: a strange path must not go unrecorded
        return orjson.dumps(_readable(fields), default=str)


def _readable(value: object) -> object:
    """Without the lone surrogates that JSON can't hold."""
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {name: _readable(inner) for name, inner in value.items()}
        case list() | tuple():
            return [_readable(inner) for inner in value]
        case _:
            return value


class End(NamedTuple):
    """Where a file of lines ends: the chain's head there, and the file's length in bytes."""

    head: Head
    size: int = 0


def seq_of(line: bytes) -> int | None:
    """The number that a line says it has; None when it says none."""
    found = _SEQ.match(line)
    return int(found[1]) if found else None


def hash_of(line: bytes) -> bytes | None:
    """The hash that a line, without its line feed, says it has; None when it says none."""
    tail = line[-TAIL:]
    if not tail.startswith(MARK) or not tail.endswith(END):
        return None
    try:
        return bytes.fromhex(tail[len(MARK) : -len(END)].decode("ascii"))
    except ValueError:
        return None
