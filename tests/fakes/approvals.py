"""An item, the inbox in memory, a log that says what it is told to, and what was woken."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from entrance.errors import Conflict, NotFound, Unavailable
from entrance.session import RunId, TaskId
from orchestrator.approvals.asking import Asking
from orchestrator.approvals.deciding import Deciding
from orchestrator.approvals.feed import Feed, TellingStore
from orchestrator.approvals.handling import EgressHandling, Handling
from orchestrator.approvals.items import Items
from orchestrator.approvals.keeping import Keeping
from orchestrator.approvals.waking import Waking
from orchestrator.domain.access import Attempt, RecordedCall
from orchestrator.domain.approval import IN_FORCE, Approval, ApprovalState
from orchestrator.domain.kinds import EGRESS
from tests.fakes.clock import START
from tests.fakes.world import FakeWorld

ITEM = Approval(
    id="a" * 15, kind="egress", run=RunId("run1"), task=TaskId("WEB/WEB-2"), project="WEB",
    agent="bot-rex", engagement="WEB/WEB-1", wanted={}, title="GET https://a.example/x",
    happens="It is sent.", why="the docs", asked_at=START,
)  # fmt: skip


class FakeApprovals:
    """`orchestrator.approvals.ports.ApprovalStore`; passes its contract. `down`: it can't be reached."""

    def __init__(self) -> None:
        self.down = False
        self.refused = 0
        """How often it was asked in vain."""
        self.items: dict[str, Approval] = {}

    async def create(self, item: Approval) -> None:
        self._up()
        if item.id in self.items:
            raise Conflict(f"approval {item.id} exists")
        self.items[item.id] = item

    async def get(self, item: str) -> Approval:
        self._up()
        if item not in self.items:
            raise NotFound(f"no approval {item}")
        return self.items[item]

    async def replace(self, item: Approval) -> None:
        if (await self.get(item.id)).version != item.version - 1:
            raise Conflict(f"approval {item.id} was changed by somebody else")
        self.items[item.id] = item

    async def listed(self, state: ApprovalState | None, limit: int) -> Sequence[Approval]:
        self._up()
        found = [one for one in self.items.values() if state in {None, one.state}]
        return sorted(found, key=lambda one: one.asked_at, reverse=True)[:limit]

    async def in_force(self) -> Sequence[Approval]:
        self._up()
        return [one for one in self.items.values() if one.state in IN_FORCE]

    async def of_run(self, run: RunId) -> Sequence[Approval]:
        self._up()
        return [one for one in self.items.values() if one.run == run]

    async def of_task(self, task: TaskId) -> Sequence[Approval]:
        self._up()
        return [one for one in self.items.values() if one.task == task]

    def _up(self) -> None:
        if self.down:
            self.refused += 1
            raise Unavailable("the store is down")


@dataclass
class FakeRecord:
    """`orchestrator.approvals.ports.Recorded`."""

    tried: list[Attempt] = field(default_factory=list)
    called: list[RecordedCall] = field(default_factory=list)
    since: datetime | None = None

    async def attempts(self, since: datetime) -> Sequence[Attempt]:
        self.since = since
        return self.tried

    async def calls(self, since: datetime) -> Sequence[RecordedCall]:
        self.since = since
        return self.called


@dataclass
class Inbox:
    """The inbox over a world of fakes."""

    fakes: FakeWorld
    store: FakeApprovals = field(default_factory=FakeApprovals)
    record: FakeRecord = field(default_factory=FakeRecord)
    applied: int = 0
    """How often it was put into force."""
    in_time: bool = True
    woken: list[tuple[str, str, str]] = field(default_factory=list)
    more: dict[str, Handling] = field(default_factory=dict)
    """What is done about other kinds."""

    feed: Feed = field(default_factory=lambda: Feed("born"))

    @property
    def told(self) -> TellingStore:
        """The store, as all use it: whoever watches is told."""
        return TellingStore(self.store, self.feed)

    @property
    def items(self) -> Items:
        return Items(self.told, self.fakes.runs, self.fakes.tracker, self.fakes.clock)

    @property
    def asking(self) -> Asking:
        return Asking(self.items)

    @property
    def deciding(self) -> Deciding:
        return Deciding(
            store=self.told,
            runs=self.fakes.runs,
            tracker=self.fakes.tracker,
            clock=self.fakes.clock,
            recorded=self.record,
            handlings={EGRESS: EgressHandling(self._apply), **self.more},
            waking=self.waking,
        )

    @property
    def waking(self) -> Waking:
        return Waking(self.told, self.fakes.runs, self._wake)

    @property
    def keeping(self) -> Keeping:
        return Keeping(self.told, self.fakes.runs, self.fakes.clock, self._apply)

    async def _apply(self) -> bool:
        self.applied += 1
        return self.in_time

    async def _wake(self, task: TaskId, words: str, user: str) -> None:
        self.woken.append((task, words, user))
