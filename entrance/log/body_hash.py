"""A body that streams by: how much it was, and the hash of its beginning."""

import hashlib

HASHED_BYTES = 1 << 20
"""So much of a body is hashed at most."""


class BodyHash:
    """Fed with a body's parts as they come."""

    def __init__(self) -> None:
        self.bytes = 0
        """How long the body was, so far."""
        self._hash = hashlib.sha256()

    def feed(self, part: bytes) -> None:
        """The next part."""
        room = HASHED_BYTES - self.bytes
        if room > 0:
            self._hash.update(part if len(part) <= room else part[:room])
        self.bytes += len(part)

    @property
    def sha256(self) -> str:
        """Of the first `HASHED_BYTES`, hex; empty when there was no body."""
        return self._hash.hexdigest() if self.bytes else ""


def hash_of_body(body: bytes) -> BodyHash:
    """A body that came in one piece."""
    whole = BodyHash()
    whole.feed(body)
    return whole
