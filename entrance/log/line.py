"""The chain of the log's lines: how each is tied to the one before [pure].

A line is one JSON object whose last member is its hash:

    {"seq":7,"at":"...","type":"decided",...,"hash":"<64 hex digits>"}

The hash is SHA-256 over the 32 bytes of the hash before and everything of the line that stands in
front of `,"hash":`, byte for byte. So a chain is checked without reading JSON, and no other writing
of the same JSON passes for the line.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

GENESIS = bytes(32)
"""What stands for the hash before the first line."""
MARK, END = b',"hash":"', b'"}'
TAIL = len(MARK) + 64 + len(END)
"""So many bytes of a line, without its line feed, are its hash."""

_SEQ = re.compile(rb'\{"seq":(\d{1,18}),')


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a chain: the last line's number, and its hash."""

    seq: int = 0
    hash: bytes = GENESIS

    def line(self, at: str, fields: Mapping[str, Any]) -> tuple[bytes, "Head"]:
        """The next line, and the head with it. Raises: TypeError when it can't be written as JSON."""
        seq = self.seq + 1
        payload = orjson.dumps({"seq": seq, "at": at, **fields}, default=str)[:-1]
        digest = hashlib.sha256(self.hash + payload)
        raw = b"%b%b%b%b\n" % (payload, MARK, digest.hexdigest().encode(), END)
        return raw, Head(seq, digest.digest())

    def followed_by(self, line: bytes) -> "Head | None":
        """The head with this line, if it is the next one; it comes without its line feed."""
        seq, digest = self.seq + 1, hashlib.sha256(self.hash + line[:-TAIL])
        if line[-TAIL:] != MARK + digest.hexdigest().encode() + END or seq_of(line) != seq:
            return None
        return Head(seq, digest.digest())


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
