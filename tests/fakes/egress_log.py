"""A log as its readers find it: segments of lines, with or without seals. It is not signed."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

BEGAN = datetime(2026, 11, 30, 12, tzinfo=UTC)
"""The first line was written a second later."""
ATTEMPT: Mapping[str, Any] = {
    "door": "egress",
    "kind": "http",
    "run": "run-1",
    "task": "WEB/WEB-1",
    "agent": "bot-rex",
    "sandbox": "sb-1",
    "address": "10.231.0.7",
    "subject": "GET files.example/a",
    "method": "GET",
    "url": "https://files.example/a",
    "host": "files.example",
    "port": 443,
    "sni": "files.example",
    "decision": "allow",
    "rule": "pypi",
    "detail": {},
}
CAME: Mapping[str, Any] = {
    "run": "run-1",
    "result": "ok",
    "status": 200,
    "bytes_out": 312,
    "bytes_in": 4096,
    "target": "192.0.2.7:443",
    "ms": 34,
    "detail": {},
}


@dataclass
class FakeEgressLog:
    """Writes lines of attempts into `folder`, one segment after the other."""

    folder: Path
    seq: int = 0
    segment: int = 0
    head: bytes = bytes(32)
    _first: int = field(init=False, default=1)

    def __post_init__(self) -> None:
        """Begin with the first segment."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.begin()

    @property
    def path(self) -> Path:
        """The segment that is written to."""
        return self.folder / f"egress-{self.segment:08d}.jsonl"

    def begin(self) -> None:
        """Begin a segment."""
        self.segment, self._first = self.segment + 1, self.seq + 1
        self.line("opened", segment=self.segment, installation="sg", prev=self.head.hex())

    def decided(self, **fields: Any) -> int:
        """A decision like `ATTEMPT`, but for these fields; its number."""
        return self.line("decided", **{**ATTEMPT, **fields})

    def came(self, of: int, **fields: Any) -> int:
        """An outcome like `CAME`, but for these fields; its number."""
        return self.line("outcome", of=of, **{**CAME, **fields})

    def attempt(self, **fields: Any) -> int:
        """A decision and its outcome; the decision's number."""
        seq = self.decided(**fields)
        self.came(seq)
        return seq

    def line(self, what: str, /, **fields: Any) -> int:
        """Any line; its number."""
        self.seq += 1
        at = BEGAN + timedelta(seconds=self.seq)
        line = {"seq": self.seq, "at": at.isoformat(), "type": what, **fields}
        payload = orjson.dumps(line)[:-1]
        self.head = hashlib.sha256(self.head + payload).digest()
        self.raw(payload + b',"hash":"%b"}\n' % self.head.hex().encode())
        return self.seq

    def raw(self, content: bytes) -> None:
        """Bytes as they are."""
        with self.path.open("ab") as file:
            file.write(content)

    def seal(self) -> None:
        """Seal the segment, and begin the next one."""
        at = BEGAN + timedelta(seconds=self.seq)
        seal = {
            "segment": self.segment,
            "first_seq": self._first,
            "last_seq": self.seq,
            "head": self.head.hex(),
            "sealed_at": at.isoformat(),
        }
        self.path.with_suffix(".seal.json").write_bytes(orjson.dumps(seal))
        self.begin()


def rows(folder: Path, sql: str) -> Sequence[Any]:
    """What a query over the log answers."""
    from orchestrator.egress.database import attempts  # noqa: PLC0415 - only where it is asked

    with attempts(folder) as connection:
        return connection.execute(sql).fetchall()
