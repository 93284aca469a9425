"""What the inbox needs of the world. Everything may raise `entrance.errors`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from entrance.git.preview import Preview
from entrance.git.release import Sent, Wanted
from entrance.git.standing import Stand
from entrance.log.records import Decided, Traffic
from entrance.mcp.policy import Call as Wish
from entrance.ports import HeldPush, Moved, ToolResult
from entrance.session import RepoGrant, RunId, Session, TaskId
from orchestrator.domain.access import Attempt, RecordedCall
from orchestrator.domain.approval import Approval, ApprovalState, Verb
from orchestrator.domain.pins import Pin

UNREADABLE = (ValueError, KeyError, TypeError)
"""What an item raises that was written by another Sandgate: it must keep no other from going on."""


class ApprovalStore(Protocol):
    """Where items are kept."""

    async def create(self, item: Approval) -> None:
        """Store a new item. Raises: Conflict when it is there already."""
        ...

    async def get(self, item: str) -> Approval:
        """Raises: NotFound."""
        ...

    async def replace(self, item: Approval) -> None:
        """Store a changed item. Raises: Conflict unless the stored version is one less."""
        ...

    async def listed(self, state: ApprovalState | None, limit: int) -> Sequence[Approval]:
        """The newest items (of a state, or of all), newest first."""
        ...

    async def in_force(self) -> Sequence[Approval]:
        """All items that open something, as far as their state says."""
        ...

    async def of_run(self, run: RunId) -> Sequence[Approval]:
        """All items that a run asked for."""
        ...

    async def of_task(self, task: TaskId) -> Sequence[Approval]:
        """All items that a task's runs asked for."""
        ...


class PinStore(Protocol):
    """Where tools are kept as they were first granted."""

    async def create(self, pins: Sequence[Pin]) -> None:
        """Store new ones. Raises: Conflict when one of them is there already; then some may be stored."""
        ...

    async def of_connection(self, connection: str) -> Sequence[Pin]:
        """All of a connection."""
        ...


class Recorded(Protocol):
    """What the log knows."""

    async def attempts(self, since: datetime) -> Sequence[Attempt]:
        """Tries to reach the internet since then. Raises: Unavailable."""
        ...

    async def calls(self, since: datetime) -> Sequence[RecordedCall]:
        """Tool calls since then that were held, or not granted. Raises: Unavailable."""
        ...


class Caller(Protocol):
    """The tools' providers, for calls that a person has allowed; `entrance.mcp.released.Released`."""

    async def trouble(self, session: Session, wanted: Wish) -> str:
        """Why it can't be called, as a sentence without its end; empty when it can.

        Raises: Unavailable when that can't be told now.
        """
        ...

    async def call(self, session: Session, wanted: Wish) -> ToolResult | None:
        """Call it, once; None when no answer was heard, and it may have been done."""
        ...


class Rights(Protocol):
    """What people may do in Polarion."""

    async def may_decide(self, user: str, project: str) -> bool:
        """Whether this user may decide about a project's items; False when there is no such user.

        Raises: Unavailable.
        """
        ...


class KeptPushes(Protocol):
    """What is kept of held pushes."""

    async def push(self, push: str) -> HeldPush:
        """What was held. Raises: NotFound."""
        ...

    async def preview(self, push: str) -> Preview:
        """What it would change. Raises: NotFound; Unavailable."""
        ...

    async def drop(self, push: str) -> None:
        """Forget it; no matter if it is gone already. Raises: Unavailable."""
        ...

    async def left_over(self) -> Sequence[str]:
        """What is kept for so long that its item must be there by now. Raises: Unavailable."""
        ...


class PushHosts(Protocol):
    """The git hosts, for kept pushes; `entrance.git.release.Release`."""

    async def stand(self, grant: RepoGrant, moved: Sequence[Moved]) -> Stand:
        """Where the branches are now."""
        ...

    async def check(self, wanted: Wanted) -> None:
        """Raises: NotFound when the bytes are gone, Conflict when they are others."""
        ...

    async def send(self, grant: RepoGrant, wanted: Wanted) -> Sent:
        """Send the kept bytes. Raises: as `check`; then nothing was sent."""
        ...


@dataclass(frozen=True, slots=True)
class Heard:
    """What was heard after something was sent. `verb`: ARRIVE, FAIL, or None when nothing was heard."""

    verb: Verb | None
    words: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)
    traffic: Traffic | None = None


class Sending(Protocol):
    """How one kind of what is sent once is sent."""

    async def may(self, item: Approval) -> str:
        """Why it may not be sent any more, as a sentence without its end; empty when it may.

        Raises: Unavailable when that can't be told.
        """
        ...

    async def stand(self, item: Approval) -> Stand:
        """Whether it has arrived, as the far side says."""
        ...

    async def claim(self, item: Approval) -> Mapping[str, Any]:
        """What is to be remembered with the claim, to settle it after a crash."""
        ...

    def record(self, item: Approval, refused: str = "") -> Decided:
        """What the log says of it: sent, as a person has allowed it, or `refused`. It has a key."""
        ...

    def told(self, item: Approval, verb: Verb, words: str) -> Mapping[str, Any]:
        """What the log says came of it, where the far side was asked, and not heard."""
        ...

    async def send(self, item: Approval) -> Heard:
        """Send it. Raises: NotFound, Conflict, Forbidden; then nothing was sent."""
        ...

    async def over(self, item: Approval) -> None:
        """It is over, and stored: vouch for it, drop what was kept. It may be told so again."""
        ...

    async def sweep(self, needed: Sequence[Approval]) -> None:
        """Drop whatever is kept for none of these, which are all that are open."""
        ...
