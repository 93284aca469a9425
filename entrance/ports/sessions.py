"""Whose token and whose address it is, and what a run is doing."""

from dataclasses import dataclass
from typing import Protocol

from entrance.session import Ended, RunId, Session


class Sessions(Protocol):
    """Finds the session of a run token."""

    def find(self, token_sha256: str) -> Session | Ended | None:
        """The session, `Ended` when its run is over, None when the token was never one of ours."""
        ...


class Addresses(Protocol):
    """Knows whose sandbox has which address."""

    def at(self, address: str) -> Session | None:
        """The open session of the sandbox at an address, or None."""
        ...


@dataclass(frozen=True, slots=True)
class Cause:
    """What of a run was open when it asked for something.

    `step` is the number of the run's event that began it, as its transcript counts them. `tool` and
    `call` name the newest tool call that was open, `since` when it began (ISO 8601); without a
    tool, the model was at work. `others`: so many more calls were open beside it.
    """

    step: int | None = None
    tool: str = ""
    call: str = ""
    since: str = ""
    others: int = 0


class Causes(Protocol):
    """Knows what each run is doing."""

    def of(self, run: RunId) -> Cause | None:
        """What is open now; None when nothing is known of the run."""
        ...
