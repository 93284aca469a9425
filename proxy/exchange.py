"""One attempt on its way: what it has moved so far, and its outcome."""

import hashlib
import time
from dataclasses import dataclass, field
from typing import Any

from proxy.canaries import Stream
from proxy.decision import Allow
from proxy.records import Attempt, Outcome, Result

MAX_HASHED = 64 << 20
"""Bytes of a body that are hashed; the rest is only counted."""


@dataclass(slots=True)
class Body:
    """Bytes that went one way."""

    count: int = 0
    hashed: int = 0
    _sha256: Any = None

    def add(self, data: bytes) -> None:
        """So many more."""
        if not data:
            return
        self.count += len(data)
        left = MAX_HASHED - self.hashed
        if left > 0:
            part = data if len(data) <= left else data[:left]
            if self._sha256 is None:
                self._sha256 = hashlib.sha256()
            self._sha256.update(part)
            self.hashed += len(part)

    @property
    def sha256(self) -> str:
        """Of what was hashed, in hex; empty when nothing was sent."""
        return self._sha256.hexdigest() if self._sha256 is not None else ""


@dataclass(slots=True)
class Exchange:
    """An allowed attempt between its decision and its outcome."""

    seq: int
    run: str
    allow: Allow
    limit: int | None = None
    """Bytes that its run may move in all."""
    began: float = field(default_factory=time.monotonic)
    heads_out: int = 0
    heads_in: int = 0
    sent: Body = field(default_factory=Body)
    received: Body = field(default_factory=Body)
    status: int | None = None
    cut: str = ""
    """Why we ended it in the middle."""
    attempt: Attempt | None = None
    watched: Stream | None = None
    """What is sent is looked through by it."""

    def outcome(self, result: Result, target: str, **detail: Any) -> Outcome:
        """Its end."""
        if self.cut:
            result, detail = "cut", {**detail, "reason": self.cut}
        heads_out = self.heads_out if target else 0  # else nothing of it has left
        return Outcome(
            of=self.seq,
            result=result,
            status=self.status,
            bytes_out=heads_out + self.sent.count,
            bytes_in=self.heads_in + self.received.count,
            request_sha256=self.sent.sha256,
            response_sha256=self.received.sha256,
            hashed_bytes=self.received.hashed,
            target=target,
            ms=(time.monotonic() - self.began) * 1000,
            detail=detail,
        )
