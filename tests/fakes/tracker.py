"""A tracker in memory with a task workflow; while `down`, everything raises Unavailable."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from entrance.errors import Conflict, NotFound, Unavailable
from entrance.session import TaskId
from orchestrator.domain.plan import LOOKED_AT, WAKES
from orchestrator.domain.task import Comment, Task, TaskStatus
from orchestrator.domain.team import Agent, Engagement
from orchestrator.ports import RunRecord
from tests.fakes.clock import START

WORKFLOW = {
    "start": (frozenset({*WAKES, TaskStatus.FAILED}), TaskStatus.IN_PROGRESS),
    "submit": (frozenset({TaskStatus.IN_PROGRESS}), TaskStatus.IN_REVIEW),
    "ask": (frozenset({TaskStatus.IN_PROGRESS}), TaskStatus.WAITING_INPUT),
    "wait": (frozenset({TaskStatus.IN_PROGRESS}), TaskStatus.WAITING_INPUT),
    "fail": (frozenset({*LOOKED_AT, TaskStatus.IN_PROGRESS}), TaskStatus.FAILED),
    "resume": (frozenset({TaskStatus.WAITING_INPUT}), TaskStatus.IN_PROGRESS),
    "approve": (frozenset({TaskStatus.IN_REVIEW}), TaskStatus.DONE),
    "send_back": (frozenset({TaskStatus.IN_REVIEW}), TaskStatus.SENT_BACK),
    "answer": (frozenset({TaskStatus.WAITING_INPUT}), TaskStatus.ANSWERED),
    "retry": (frozenset({TaskStatus.FAILED}), TaskStatus.OPEN),
}
WANTS_ASSIGNEE = frozenset({"submit"})


class FakeTracker:
    """`orchestrator.ports.Tracker` for tests; passes its contract."""

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
        self.learned: dict[tuple[str, str], list[str]] = defaultdict(list)
        """Active memories, by project and bot user."""
        self.comments: dict[TaskId, list[Comment]] = defaultdict(list)
        self.records: dict[str, RunRecord] = {}
        self.attached: dict[tuple[str, str], bytes] = {}

    async def engagements(self) -> Sequence[Engagement]:
        self._up()
        return [one for one in self.hired.values() if one.active]

    async def waking(self, engagements: Sequence[Engagement]) -> Sequence[Task]:
        self._up()
        hired = {(one.project, one.bot) for one in engagements}
        return [
            task
            for task in self.tasks.values()
            if task.status in LOOKED_AT
            and any((task.project, bot) in hired for bot in task.assignees)
        ]

    async def task(self, task: TaskId) -> Task | None:
        self._up()
        return self.tasks.get(task)

    async def thread(self, task: TaskId) -> Sequence[Comment]:
        self._task(task)
        return list(self.comments[task])

    async def agent(self, bot: str) -> Agent | None:
        self._up()
        return self.agents.get(bot)

    async def memories(self, project: str, bot: str) -> Sequence[str]:
        self._up()
        return list(self.learned[project, bot])

    async def act(self, task: TaskId, action: str, *, assign: str = "") -> None:
        now = self._task(task)
        allowed, becomes = WORKFLOW.get(action, (frozenset[TaskStatus](), now.status))
        if now.status not in allowed:
            raise Conflict(f"{task} is {now.status}: {action} can't be done")
        assignees = (assign,) if assign else now.assignees
        if action in WANTS_ASSIGNEE and not assignees:
            raise Conflict(f"{task} has no assignee: {action} can't be done")
        self.tasks[task] = replace(now, status=becomes, assignees=assignees)

    async def assign(self, item: str, user: str) -> None:
        now = self._task(TaskId(item))
        if not now.assignees:
            self.tasks[now.id] = replace(now, assignees=(user,))

    async def comment(self, task: TaskId, title: str, text: str) -> None:
        self._task(task)
        words = (title, text.split())
        if all((one.title, one.text.split()) != words for one in self.comments[task]):
            self.say(task, "runner", title, text)

    def say(self, task: TaskId, author: str, title: str, text: str) -> None:
        """As a person, or an agent's own bot user, comments."""
        number = str(len(self.comments[task]) + 1)
        self.comments[task].append(Comment(number, author, title, text, START))

    async def record(self, record: RunRecord) -> str:
        self._up()
        item = f"{record.run.project}/RUN-{record.run.id}"
        self.records[item] = record
        return item

    async def attach(self, item: str, name: str, path: Path) -> None:
        self._up()
        if item not in self.records:
            raise NotFound(f"there is no {item}")
        self.attached.setdefault((item, name), path.read_bytes())

    async def spent(self, engagement: str, total_usd: Decimal) -> None:
        self._up()
        if engagement not in self.hired:
            raise NotFound(f"there is no {engagement}")
        self.hired[engagement] = replace(self.hired[engagement], spent_usd=total_usd)

    def _task(self, task: TaskId) -> Task:
        self._up()
        if task not in self.tasks:
            raise NotFound(f"there is no {task}")
        return self.tasks[task]

    def _up(self) -> None:
        if self.down:
            raise Unavailable("Polarion is down")
