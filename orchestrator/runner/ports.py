"""What the steps need of the doors: who is let in, and what is reached of the internet."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from entrance.session import RunId, Session
from orchestrator.domain.run import Run


class Door(Protocol):
    """The door's register of sessions."""

    def open(self, session: Session) -> None:
        """From now on the session's token opens the door from its address."""
        ...

    def close(self, run: RunId) -> None:
        """The run's token opens nothing any more. Idempotent."""
        ...


class Egress(Protocol):
    """What sandboxes may reach of the internet."""

    def environment(self, run: Run) -> Mapping[str, str]:
        """Variables that lead the sandbox's tools to what it may reach."""
        ...

    def way_out(self, token: str) -> Mapping[str, str]:
        """Variables that lead the programs of the run with this token to the proxy."""
        ...

    async def admit(self, run: Run) -> Sequence[str]:
        """Have the policy of a run's open session in force; says what of the wishes isn't in it.

        Raises: Unavailable when it isn't in force in time: then nothing of the run may start.
        """
        ...

    def reaches(self, run: RunId) -> Sequence[str] | None:
        """What is open to a run, in lines; None where nothing of the internet can be."""
        ...


class Servers(Protocol):
    """The sandboxes of a run's MCP servers."""

    async def end_of(self, run: RunId) -> None:
        """End them. Idempotent. Raises: Unavailable when something stays."""
        ...

    def said_by(self, run: RunId) -> Sequence[Path]:
        """The files with what they said besides answers."""
        ...


class NoServers:
    """There are none."""

    async def end_of(self, run: RunId) -> None:
        del run

    def said_by(self, run: RunId) -> Sequence[Path]:
        del run
        return ()


class NoEgress:
    """Of the internet nothing is reached, and there is nothing to wait for."""

    def environment(self, run: Run) -> Mapping[str, str]:
        del run
        return {}

    def way_out(self, token: str) -> Mapping[str, str]:
        del token
        return {}

    async def admit(self, run: Run) -> Sequence[str]:
        del run
        return ()

    def reaches(self, run: RunId) -> None:
        del run
