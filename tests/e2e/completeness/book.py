"""What one sandbox tells of its attempts, and what the log says of all of them [pure]."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from tests.e2e.completeness.load import FIRST_PORT, PACKET_PORTS

ATTEMPT = re.compile(rb"s\d\dn\d{5}")
UNRECORDED = 503
NOT_DECIDED = frozenset({0, UNRECORDED})
"""No answer, or one that says that nothing could be recorded: it may be in the log, or not."""
COUNTED = frozenset({"model", "fetch"})
"""Kinds whose decision doesn't say which attempt it was: they are counted, a run at a time."""
PORTS = range(FIRST_PORT, FIRST_PORT + PACKET_PORTS)

type Line = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Told:
    """What one sandbox says became of its attempts: kind and status by id; packets by their target."""

    run: str
    address: str
    answers: Mapping[str, tuple[str, int]]
    packets: Mapping[str, int]
    took_s: float
    cpu_s: float

    def of(self, kind: str, *, answered: bool) -> list[str]:
        """The attempts of a kind that were answered, or those that weren't."""
        return [
            attempt
            for attempt, (what, status) in self.answers.items()
            if what == kind and (status not in NOT_DECIDED) == answered
        ]


def told_in(report: str, run: str, address: str) -> Told | None:
    """Read a sandbox's report; None while it goes on."""
    *lines, last = report.splitlines() or [""]
    if not last.startswith("end "):
        return None
    answers: dict[str, tuple[str, int]] = {}
    packets: Counter[str] = Counter()
    for line in lines:
        attempt, kind, status = line.split()
        assert attempt not in answers, line
        if kind == "packet":
            packets[status] += 1
        else:
            answers[attempt] = kind, int(status)
    took_s, cpu_s = map(float, last.split()[1:])
    return Told(run, address, answers, packets, took_s, cpu_s)


@dataclass(slots=True)
class Book:
    """The log, by attempt. Only what came after `since` is in it."""

    decided: dict[str, list[Line]] = field(default_factory=lambda: defaultdict(list))
    """By the attempt that they name."""
    counted: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Allowed decisions of `COUNTED` kinds by run and kind."""
    outcomes: dict[int, list[Line]] = field(default_factory=lambda: defaultdict(list))
    by_sha256: dict[str, list[Line]] = field(default_factory=lambda: defaultdict(list))
    """Outcomes of model calls, by the body that was sent."""
    packets: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By the sender's address and the target."""
    keys: Counter[str] = field(default_factory=Counter)
    seqs: list[int] = field(default_factory=list)

    def add(self, raw: bytes) -> None:
        line = orjson.loads(raw)
        self.seqs.append(line["seq"])
        if line["type"] == "outcome":
            self.outcomes[line["of"]].append(line)
            self.by_sha256[line.get("request_sha256", "")].append(line)
        elif line["type"] == "decided":
            self._decided(line, raw)

    def _decided(self, line: Line, raw: bytes) -> None:
        if "key" in line:
            self.keys[line["key"]] += 1
        if line["door"] == "fence":
            if line.get("port") in PORTS:
                self.packets[line["address"], line["target"]] += line["detail"]["packets"]
            return
        for named in set(ATTEMPT.findall(raw)):
            self.decided[named.decode()].append(line)
        if line["decision"] == "allow" and line["door"] in {"model", "git"}:
            self.counted[line["run"], "model" if line["door"] == "model" else "fetch"] += 1


def book_of(lines: Iterable[bytes], since: int) -> Book:
    """The log's lines after that number."""
    book = Book()
    for raw in lines:
        if int(raw[7 : raw.index(b",")]) > since:
            book.add(raw)
    return book
