"""A tracker in memory with a task workflow; while `down`, everything raises Unavailable."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from entrance.errors import Conflict, Unavailable
from entrance.session import TaskId
from orchestrator.domain.plan import WAKES
from orchestrator.domain.task import Comment, Task, TaskStatus
from orchestrator.domain.team import Agent, Engagement
from orchestrator.ports import RunRecord
from tests.fakes.clock import START

WORKFLOW = {
    "start": (frozenset({*WAKES, TaskStatus.FAILED}), TaskStatus.IN_PROGRESS),
    "submit": (frozenset({TaskStatus.IN_PROGRESS}), TaskStatus.IN_REVIEW),
    "ask": (frozenset({TaskStatus.IN_PROGRESS}), TaskStatus.WAITING_INPUT),
    "wait": (frozenset({TaskStatus.IN_PROGRESS}), TaskStatus.WAITING_INPUT),
    "fail": (frozenset({TaskStatus.IN_PROGRESS}), TaskStatus.FAILED),
}


class FakeTracker:
    """`orchestrator.ports.Tracker` for tests."""

    def __init__(
        self,
        *,
        tasks: Sequence[Task] = (),
        agents: Sequence[Agent] = (),
        engagements: Sequence[Engagement] = (),
    ) -> None:
        self.down = False
        self.tasks = {task.id: task for task in tasks}
        self.agents = {agent.bot: agent for agent in agents}
        self.hired = {one.id: one for one in engagements}
        self.comments: dict[TaskId, list[Comment]] = defaultdict(list)
        self.records: dict[str, RunRecord] = {}
        self.attached: dict[tuple[str, str], bytes] = {}

    async def engagements(self) -> Sequence[Engagement]:
        self._up()
        return [one for one in self.hired.values() if one.active]

    async def waking(self, engagements: Sequence[Engagement]) -> Sequence[Task]:
        self._up()
        bots = {one.bot for one in engagements}
        return [t for t in self.tasks.values() if t.status in WAKES and bots & set(t.assignees)]

    async def task(self, task: TaskId) -> Task | None:
        self._up()
        return self.tasks.get(task)

    async def thread(self, task: TaskId) -> Sequence[Comment]:
        self._up()
        return self.comments[task]

    async def agent(self, bot: str) -> Agent | None:
        self._up()
        return self.agents.get(bot)

    async def memories(self, project: str, agent: str) -> Sequence[str]:
        self._up()
        return [f"{agent} has been in {project} before"]

    async def act(self, task: TaskId, action: str) -> None:
        self._up()
        now = self.tasks[task]
        allowed, becomes = WORKFLOW[action]
        if now.status not in allowed:
            raise Conflict(f"{task} is {now.status}: {action} can't be done")
        self.tasks[task] = replace(now, status=becomes)

    async def comment(self, task: TaskId, title: str, text: str) -> None:
        self._up()
        if all(one.title != title for one in self.comments[task]):
            number = str(len(self.comments[task]) + 1)
            self.comments[task].append(Comment(number, "runner", title, text, START))

    async def record(self, record: RunRecord) -> str:
        self._up()
        item = f"{record.run.project}/RUN-{record.run.id}"
        self.records[item] = record
        return item

    async def attach(self, item: str, name: str, path: Path) -> None:
        self._up()
        self.attached.setdefault((item, name), path.read_bytes())

    async def spent(self, engagement: str, total_usd: Decimal) -> None:
        self._up()
        self.hired[engagement] = replace(self.hired[engagement], spent_usd=total_usd)

    def _up(self) -> None:
        if self.down:
            raise Unavailable("Polarion is down")
