"""Sending a log on in tests, and seeing what got there."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from orchestrator.egress.ocsf import Origin
from orchestrator.egress.sending.cursor import CursorFile
from orchestrator.egress.sending.export import Export, Summary
from orchestrator.egress.sending.messages import Message
from orchestrator.egress.sending.targets import Target
from tests.fakes.egress_log import FakeEgressLog

ORIGIN = Origin("sg", "0.1.0")
SMALL = 600
"""Bytes of a batch of one or two records."""


class Kept:
    """A target that keeps what it gets."""

    def __init__(self) -> None:
        self.got: list[tuple[str, list[int]]] = []

    @property
    def seqs(self) -> list[int]:
        return [seq for _, seqs in self.got for seq in seqs]

    def begin(self, mark: str) -> str:
        return mark

    def send(self, batch: Sequence[Message], name: str) -> str:
        self.got.append((name, [one.seq for one in batch]))
        return ""

    def close(self) -> None:
        pass


def sent(log: FakeEgressLog, target: Target, cursor: CursorFile, **more: object) -> Summary:
    made = Export(log.folder, target, cursor, ORIGIN, patience_s=5, **more)  # type: ignore[arg-type]
    for _ in made.run():
        pass
    return made.summary


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines()


def all_lines(log: FakeEgressLog) -> list[bytes]:
    return [line for path in sorted(log.folder.glob("*.jsonl")) for line in lines(path)]


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)
