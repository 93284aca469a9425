"""What carries the messages of one session of the handshake era, as the session sees it."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from entrance.gated import Gate
from entrance.mcp.messages import Failure, Json
from entrance.session import Session

Stray = Callable[[Json], Awaitable[None]]
"""Is told what a server says of its own accord: notifications, and questions."""
Hear = Callable[[Json, int], Awaitable[Json | Failure | None]]
"""Is told a message and its status of HTTP; gives the outcome once it has heard enough for one."""
SAID_BY = 30.0
"""Seconds for a message to which no answer belongs, and for a session to begin."""


class Carrier(Protocol):
    """One session's way to its server. What it raises is as `Endpoint.say` raises."""

    @property
    def over(self) -> bool:
        """Whether it has ended: then nothing can be sent on it any more."""
        ...

    async def open(self, session: Session, stray: Stray) -> None:
        """Be ready for the first message. Raises: SandgateError."""
        ...

    async def say(self, message: Json, hear: Hear, gate: Gate) -> Json | Failure | None:
        """Send a request when `gate` lets it, and have what the server says to it heard.

        Until there is an outcome, or no more.

        Raises: NotFound when the server has forgotten the session, and did not take it.
        """
        ...

    async def send(self, message: Json) -> None:
        """Send what has no answer. Raises: SandgateError."""
        ...

    def agreed(self, version: str) -> None:
        """The version that was agreed on."""
        ...

    async def listen(self) -> None:
        """Have `stray` told what comes by itself, until that ends."""
        ...

    async def close(self) -> None:
        """Tell the server that the session is over, if it can be told."""
        ...
