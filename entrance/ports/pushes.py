"""Pushes that people decide about, and those that were let out."""

from dataclasses import dataclass
from typing import Protocol

from entrance.session import RepoGrant, Session


@dataclass(frozen=True, slots=True)
class Moved:
    """One branch of a push: where it was (all zeros: nowhere), and where it goes."""

    ref: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class HeldPush:
    """A push that waits for a person. Its bytes are kept under `id`."""

    id: str
    session: Session
    repository: RepoGrant
    moved: tuple[Moved, ...]
    commits: tuple[str, ...]
    """Those that the host doesn't have yet, oldest first."""
    reasons: tuple[str, ...]
    """What was found, a sentence each."""
    decision: int
    """The sequence number of the log's record of it."""
    sha256: str
    """Of the request's whole body, hex, as it is kept and would be sent: what is allowed is what is sent."""
    size_bytes: int
    onto: tuple[str, ...] = ()
    """What those commits stand on, and the host has (`Brought.onto`)."""
    findings: tuple[str, ...] = ()
    """All that was found, a sentence each: the reasons, and what is only written down."""


class PushInbox(Protocol):
    """Where people are asked about pushes."""

    async def ask(self, push: HeldPush) -> str:
        """Have a person asked; what the agent is told. Asked again of the same push, it tells how it stands.

        The bytes of a push that was asked of before are dropped here: those of the first time stand.
        Raises: Unavailable; Conflict when the run has asked for too much. Then the caller drops them.
        """
        ...


@dataclass(frozen=True, slots=True)
class AcceptedPush:
    """A push that the host has taken."""

    session: Session
    repository: RepoGrant
    moved: tuple[Moved, ...]
    commits: tuple[str, ...]
    """Those that the host didn't have before, oldest first."""
    decision: int
    """The sequence number of the log's record that allowed it."""
    approval: str = ""
    """The inbox's item by which a person allowed it; empty when nobody had to."""
    approved_by: str = ""
    """Who that person was."""
    held: int = 0
    """The sequence number of the log's record that held it; 0 when nothing did."""
    onto: tuple[str, ...] = ()
    """What those commits stand on, and the host had (`Brought.onto`)."""
    findings: tuple[str, ...] = ()
    """What was found and let through, a sentence each."""


class Witness(Protocol):
    """Vouches for what came out of a sandbox."""

    async def accepted(self, push: AcceptedPush) -> None:
        """Write the attestation of a push; one, however often it is told. Raises: Unavailable."""
        ...
