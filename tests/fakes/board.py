"""Tasks by many, and the people who decide about them, before a tracker in memory."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from entrance.errors import Forbidden, NotFound
from entrance.session import TaskId
from orchestrator.board import Board
from orchestrator.domain.task import Task, TaskStatus
from tests.fakes.tracker import FakeTracker
from tests.fakes.world import FakeWorld


@dataclass(frozen=True, slots=True)
class FakeTasks:
    """`orchestrator.board.Tasks` for tests."""

    tracker: FakeTracker

    async def assigned(self, bots: Collection[str], *, done: bool) -> Sequence[Task]:
        return [
            task
            for task in self.tracker.tasks.values()
            if set(task.assignees) & set(bots) and (done or task.status is not TaskStatus.DONE)
        ]

    async def named(self, ids: Collection[TaskId]) -> Sequence[Task]:
        return [task for task in self.tracker.tasks.values() if task.id in ids]


@dataclass(frozen=True, slots=True)
class FakePerson:
    """`orchestrator.board.Person` for tests."""

    tracker: FakeTracker
    user: str
    in_person: bool
    may: bool = True

    async def say(self, task: TaskId, title: str, text: str) -> None:
        self._require()
        self.tracker.say(task, self.user if self.in_person else "runner", title, text)

    async def act(self, task: TaskId, action: str, *, assign: str = "") -> None:
        self._require()
        await self.tracker.act(task, action, assign=assign)

    def _require(self) -> None:
        if not self.may:
            raise Forbidden(f"User '{self.user}' may not PATCH")


@dataclass
class FakePeople:
    """`orchestrator.board.People` for tests: `known` act themselves, `strange` have no token here."""

    tracker: FakeTracker
    known: set[str] = field(default_factory=lambda: {"lead", "other"})
    strange: set[str] = field(default_factory=set)
    powerless: set[str] = field(default_factory=set)

    async def person(self, user: str) -> FakePerson:
        if user not in self.known | self.strange | self.powerless:
            raise NotFound(f"there is no user {user}")
        in_person = user not in self.strange
        return FakePerson(self.tracker, user, in_person, may=user not in self.powerless)


def board_of(
    world: FakeWorld, people: FakePeople, waits: dict[TaskId, str], woken: list[str]
) -> Board:
    """A board over a world of fakes."""
    tasks = FakeTasks(world.tracker)

    def frozen(task: TaskId) -> str:
        return world.world().freezes.said_of(task)  # as it is stored now

    return Board(world.tracker, tasks, world.runs, people, waits, frozen, woken.append)
