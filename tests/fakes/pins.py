"""Tools as they were first granted, in memory; and the inbox with what is remembered of tools."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from entrance.errors import Conflict, Unavailable
from entrance.session import RunId, Session
from orchestrator.approvals.deciding import Decided
from orchestrator.approvals.handling import Decision
from orchestrator.approvals.pins import ChangeHandling, ToolPins
from orchestrator.domain.approval import Approval, Verb
from orchestrator.domain.kinds import TOOL_CHANGE
from orchestrator.domain.pins import Pin
from orchestrator.domain.run import Outcome, RunState, changed
from tests.fakes.approvals import Inbox
from tests.fakes.calls import session_of
from tests.fakes.run import a_run
from tests.fakes.world import AGENT, ENGAGEMENT, TASK


def a_tool(description: str = "Read a page.", name: str = "read", **more: Any) -> dict[str, Any]:
    """A tool as its server lists it."""
    schema = {"type": "object", "properties": {"page": {"type": "string"}}}
    return {"name": name, "description": description, "inputSchema": schema, **more}


class FakePins:
    """`orchestrator.approvals.ports.PinStore`; passes its contract. `down`: it can't be reached."""

    def __init__(self) -> None:
        self.down = False
        self.pins: dict[tuple[str, str], Pin] = {}

    async def create(self, pins: Sequence[Pin]) -> None:
        self._up()
        if any((pin.connection, pin.tool) in self.pins for pin in pins):
            raise Conflict("one of the pins exists")
        self.pins |= {(pin.connection, pin.tool): pin for pin in pins}

    async def of_connection(self, connection: str) -> Sequence[Pin]:
        self._up()
        return [pin for pin in self.pins.values() if pin.connection == connection]

    def _up(self) -> None:
        if self.down:
            raise Unavailable("the store is down")


@dataclass
class PinHouse:
    """The inbox, with what is remembered of tools."""

    inbox: Inbox
    store: FakePins = field(default_factory=FakePins)

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        """As after a start of the process: nothing is remembered but what is stored."""
        self.pins = ToolPins(self.inbox.items, self.store)
        self.inbox.more[TOOL_CHANGE] = ChangeHandling(self.pins)

    async def session(self, run: str = "run-1") -> Session:
        """The session of a run that goes on; those before it may be over."""
        runs = self.inbox.fakes.runs
        for before in await runs.active():
            await runs.replace(changed(before, state=RunState.ENDED, outcome=Outcome.FAILED))
        who = {"task": TASK.id, "project": "DEMO", "engagement": ENGAGEMENT.id, "agent": AGENT.bot}
        stored = a_run(id=RunId(run), state=RunState.RUNNING, **who)
        await runs.create(stored)
        return session_of(stored)

    async def seen(
        self, session: Session, *tools: Mapping[str, Any], connection: str = "wiki"
    ) -> dict[str, tuple[str, str]]:
        """By each tool, whether it has changed, and the description that agents may see."""
        found = await self.pins.compared(session, connection, tools)
        return {
            name: (str(one.change), str((one.listed or {}).get("description")))
            for name, one in found.items()
        }

    @property
    def items(self) -> list[Approval]:
        return list(self.inbox.store.items.values())

    async def decide(self, item: Approval, verb: Verb = Verb.ONCE, **more: Any) -> Decided:
        return await self.inbox.deciding.decide(item.id, Decision(verb, **more))
