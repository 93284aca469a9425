"""One call of an agent's tool: who calls, as whom it acts in Polarion, and with what."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from entrance.session import RunId, Session, TaskId
from orchestrator.adapters.polarion.client import PolarionClient
from orchestrator.adapters.polarion.query import matching
from orchestrator.adapters.polarion.resources import WorkItem
from orchestrator.domain.approval import Approval
from orchestrator.domain.run import Ending
from orchestrator.domain.team import Engagement


class Desk(Protocol):
    """The run behind a call."""

    async def record_of(self, run: RunId) -> str:
        """The run's agentRun work item. Raises: NotFound."""
        ...

    async def may_hand_over(self, run: RunId) -> None:
        """Raises: Conflict when the agent can't end its run any more."""
        ...

    async def hand_over(self, run: RunId, ending: Ending) -> None:
        """Note how the agent ends its run. Raises: Conflict when it can't any more."""
        ...

    async def take_back(self, run: RunId) -> None:
        """Forget the handover, unless the run is being settled by it already."""
        ...


class Access(Protocol):
    """Where what agents may not do by themselves is asked of people."""

    async def ask(self, run: RunId, place: str, method: str, why: str) -> Approval:
        """The item for a URL or a host. Raises: ValueError, Conflict (it asked for too much)."""
        ...


class ToolAccess(Protocol):
    """Where tools that were not granted are asked of people."""

    @property
    def connections(self) -> Sequence[str]:
        """The names of all that there are."""
        ...

    async def ask(self, session: Session, connection: str, tool: str, why: str) -> Approval:
        """The item for a tool. Raises: ValueError, NotFound, Conflict (it asked for too much)."""
        ...


class Held(Protocol):
    """What of a task's work is held."""

    async def told(self, task: TaskId) -> Sequence[str]:
        """What its agent pushed or called and isn't done, or not known to be done, a sentence each."""
        ...


class OpenItems(Protocol):
    """What of a run waits for people."""

    async def waiting(self, run: RunId) -> Sequence[Approval]:
        """Its items of which it isn't clear yet what comes of them."""
        ...


@dataclass(frozen=True, slots=True)
class Office:
    """What calls need beside Polarion itself."""

    desk: Desk
    engagements: Callable[[], Awaitable[Sequence[Engagement]]]
    """All active engagements, whatever the caller may see of them."""
    now: Callable[[], datetime]
    access: Access | None = None
    """None: nothing of the internet is open here, and nothing can be."""
    held: Held | None = None
    """None: nothing is ever held here."""
    open_items: OpenItems | None = None
    """None: nothing ever waits for people here."""
    tool_access: ToolAccess | None = None
    """None: nobody can grant a tool here."""


@dataclass(frozen=True, slots=True)
class Call:
    """`client` acts as the agent's bot user. Arguments were checked at the gateway already."""

    session: Session
    client: PolarionClient
    office: Office
    arguments: Mapping[str, Any]

    def text(self, name: str, default: str | None = None) -> str:
        """Raises: ValueError when it is missing."""
        value = self.arguments.get(name, default)
        if not isinstance(value, str):
            raise ValueError(f"{name} is missing")  # noqa: TRY004 - it is the agent's value
        return value

    def texts(self, name: str) -> list[str]:
        """Raises: ValueError when there is none."""
        value = self.arguments.get(name)
        if not isinstance(value, list) or not value:
            raise ValueError(f"{name} is missing")
        return [str(one) for one in value]

    def item(self, name: str, default: str | None = None) -> str:
        """A work item's full id; a short one is taken to be of the run's project."""
        wanted = self.text(name, default)
        return wanted if "/" in wanted else f"{self.session.project}/{wanted}"

    async def made_already(self, kind: str, title: str) -> WorkItem | None:
        """What an earlier try of this run made: a call whose answer was lost is tried again."""
        run = str(self.session.run)
        query = matching({"type": kind, "runKey": run})
        async for item in self.client.items.query(query, project=self.session.project):
            if item.title == title and item.custom.get("runKey") == run:
                return item
        return None

    async def link(self, item: str, role: str, target: str) -> None:
        """Link two items, unless they are linked so already."""
        links = await self.client.links.of(item)
        if (role, target) not in {(one.role, one.target) for one in links}:
            await self.client.links.add(item, role, target)
