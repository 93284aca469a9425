"""What is signed about a segment: its seal, the checkpoint of the open one, the tombstone of one that went.

    seal        {"type":"seal","segment","installation","first_seq","last_seq","records","bytes","prev",
                 "head","opened_at","sealed_at","torn","key_id","signature"}
    checkpoint  the same as far as it is known: `at` instead of `sealed_at`
    tombstone   the seal's facts, and {"dropped_at","rule"}: which rule of retention removed the segment

Counts are of lines; `bytes` is the length of the file; `prev` and `head` are the hashes before the
first line and of the last one, hex; `torn` says how many torn tails the segment tells of.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from entrance.log.line import Head
from entrance.log.signing import Signer, Trust, UntrustedError

Type = Literal["seal", "checkpoint", "tombstone"]
_OWN: Mapping[Type, frozenset[str]] = {
    "seal": frozenset({"sealed_at"}),
    "checkpoint": frozenset({"at"}),
    "tombstone": frozenset({"sealed_at", "dropped_at", "rule"}),
}


@dataclass(frozen=True, slots=True)
class Facts:
    """A segment as it is now: `records` lines from `first_seq` on, `bytes` long, up to `head`."""

    segment: int
    installation: str
    first_seq: int
    records: int
    bytes: int
    prev: str
    head: str
    opened_at: str
    torn: int = 0

    @property
    def last_seq(self) -> int:
        return self.first_seq + self.records - 1

    @property
    def end(self) -> Head:
        """Where the chain stands at its end."""
        return Head(self.last_seq, bytes.fromhex(self.head))

    def grown(self, head: Head, size_bytes: int) -> "Facts":
        """The same segment with more lines, up to `head`."""
        records = head.seq - self.first_seq + 1
        return replace(self, records=records, bytes=size_bytes, head=head.hash.hex())


@dataclass(frozen=True, slots=True)
class Statement:
    """Signed facts; `told` is what only its type has."""

    type: Type
    facts: Facts
    told: Mapping[str, str]

    def signed(self, signer: Signer) -> bytes:
        facts = {**asdict(self.facts), "last_seq": self.facts.last_seq}
        return signer.signed({"type": self.type, **facts, **self.told})


def sealed(facts: Facts, at: str) -> Statement:
    """Nothing is added to the segment any more."""
    return Statement("seal", facts, {"sealed_at": at})


def checkpoint(facts: Facts, at: str) -> Statement:
    """So far the open segment has come."""
    return Statement("checkpoint", facts, {"at": at})


def tombstone(seal: Statement, at: str, rule: str) -> Statement:
    """The segment was removed, by this rule of retention."""
    told = {"sealed_at": seal.told["sealed_at"], "dropped_at": at, "rule": rule}
    return Statement("tombstone", seal.facts, told)


def read(text: bytes, trust: Trust, wanted: Type) -> Statement:
    """A statement of the wanted type. Raises: UntrustedError."""
    statement = trust.read(text)
    if statement.pop("type", None) != wanted:
        raise UntrustedError("unreadable", f"it is no {wanted}")
    return _read(statement, wanted)


def _read(statement: dict[str, Any], wanted: Type) -> Statement:
    statement.pop("key_id", None)
    try:
        told = {name: str(statement.pop(name)) for name in sorted(_OWN[wanted])}
        last = statement.pop("last_seq")
        facts = Facts(**statement)
        whole = facts.last_seq == last and len(facts.end.hash) == len(bytes.fromhex(facts.prev))
    except (KeyError, TypeError, ValueError) as error:
        raise UntrustedError("unreadable", f"it is no {wanted}") from error
    if not whole:
        raise UntrustedError("unreadable", "it contradicts itself")
    return Statement(wanted, facts, told)
