"""`board.Tasks` and `board.Person` on Polarion."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import batched

from entrance.session import TaskId
from orchestrator.adapters.polarion.client import PolarionClient
from orchestrator.adapters.polarion.query import Wanted, matching
from orchestrator.adapters.polarion.reading import TASK_FIELDS, task_of
from orchestrator.adapters.polarion.resources import Text, split_item
from orchestrator.adapters.polarion.richtext import plain
from orchestrator.domain.task import Task, TaskStatus

VALUES_A_QUERY = 40
"""Values that are asked for at once: an address has to fit into 8 KiB."""
NOT_DONE = tuple(str(one) for one in TaskStatus if one not in {TaskStatus.DONE, TaskStatus.OTHER})


@dataclass(frozen=True, slots=True)
class PolarionTasks:
    """Reads as the runner's service user."""

    client: PolarionClient

    async def assigned(self, bots: Collection[str], *, done: bool) -> Sequence[Task]:
        more: dict[str, Wanted] = {} if done else {"status": NOT_DONE}
        return [
            task
            for some in batched(sorted(bots), VALUES_A_QUERY)
            for task in await self._matching({"assignee.id": some, **more})
            if set(task.assignees) & set(bots)
        ]

    async def named(self, ids: Collection[TaskId]) -> Sequence[Task]:
        return [
            task
            for some in batched(sorted(ids), VALUES_A_QUERY)
            for task in await self._matching({"id": [split_item(one)[1] for one in some]})
            if task.id in ids
        ]

    async def _matching(self, wanted: dict[str, Wanted]) -> list[Task]:
        query = matching({"type": "task", **wanted})
        return [task_of(item) async for item in self.client.items.query(query, fields=TASK_FIELDS)]


@dataclass(frozen=True, slots=True)
class PolarionPerson:
    """Acts as the client's user."""

    client: PolarionClient
    in_person: bool

    async def say(self, task: TaskId, title: str, text: str) -> None:
        thread = await self.client.comments.of(task)
        # An answer that was lost on its way is asked for again, and then the words are there.
        if thread and (thread[-1].title, plain(thread[-1].text)) == (title, text):
            return
        await self.client.comments.add(task, Text(text), title=title)

    async def act(self, task: TaskId, action: str, *, assign: str = "") -> None:
        assignees = [assign] if assign else None
        await self.client.items.update(task, assignees=assignees, workflow_action=action)
