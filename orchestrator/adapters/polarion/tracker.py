"""`ports.Tracker` on Polarion: what is to be done is read, and what was done is recorded."""

import re
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import batched
from pathlib import Path

from entrance.errors import Conflict, NotFound
from entrance.session import RunId, TaskId
from orchestrator.adapters.polarion.client import PolarionClient
from orchestrator.adapters.polarion.query import matching
from orchestrator.adapters.polarion.reading import (
    ENGAGEMENT_FIELDS,
    TASK_FIELDS,
    agent_of,
    engagement_of,
    skill_of,
    task_of,
)
from orchestrator.adapters.polarion.recording import fields_of, item_of
from orchestrator.adapters.polarion.resources import Comment as Said
from orchestrator.adapters.polarion.resources import Link, Text, WorkItem
from orchestrator.adapters.polarion.richtext import plain
from orchestrator.domain.plan import LOOKED_AT
from orchestrator.domain.task import Comment, Task
from orchestrator.domain.team import Agent, Engagement
from orchestrator.ports import RunRecord

BOTS_A_QUERY = 40
"""Bots that are asked for at once: an address has to fit into 8 KiB."""


@dataclass(frozen=True, slots=True)
class PolarionTracker:
    """Acts as the runner's service user; what agents say is said by their own bot users."""

    client: PolarionClient
    pool: str
    """The Agent Pool project."""

    async def engagements(self) -> Sequence[Engagement]:
        query = matching({"type": "engagement", "status": "active"})
        items = self.client.items.query(query, fields=ENGAGEMENT_FIELDS)
        return [engagement_of(item) async for item in items]

    async def waking(self, engagements: Sequence[Engagement]) -> Sequence[Task]:
        hired = {(one.project, one.bot) for one in engagements}
        found: dict[TaskId, Task] = {}
        for bots in batched(sorted({bot for _, bot in hired}), BOTS_A_QUERY):
            query = matching({"type": "task", "status": LOOKED_AT, "assignee.id": bots})
            async for item in self.client.items.query(query, fields=TASK_FIELDS):
                task = task_of(item)
                if any((task.project, bot) in hired for bot in task.assignees):
                    found[task.id] = task
        return list(found.values())

    async def task(self, task: TaskId) -> Task | None:
        item = await self._item(task)
        if item is None:
            return None
        links = await self.client.links.of(task)
        delegated = any(one.role == "delegated_from" for one in links)
        return replace(
            task_of(item),
            delegated_by=_made_by(item) if delegated else None,
            continues=frozenset(_continued(item, links)),
        )

    async def thread(self, task: TaskId) -> Sequence[Comment]:
        return [
            Comment(one.id, one.author, one.title, plain(one.text), one.created)
            for one in await self.client.comments.of(task)
        ]

    async def agent(self, bot: str) -> Agent | None:
        async for item in self._with("agent", "botUser", bot, self.pool, status="active"):
            return agent_of(item, tuple([skill_of(skill) for skill in await self._skills(item.id)]))
        return None

    async def memories(self, project: str, bot: str) -> Sequence[str]:
        return [
            f"{item.title}: {plain(item.description)}".strip(": ")
            async for item in self._with("memory", "agentBot", bot, project, status="active")
        ]

    async def act(self, task: TaskId, action: str, *, assign: str = "") -> None:
        assignees = [assign] if assign else None
        await self.client.items.update(task, assignees=assignees, workflow_action=action)

    async def assign(self, item: str, user: str) -> None:
        if not (await self.client.items.get(item)).assignees:
            await self.client.items.update(item, assignees=[user])

    async def comment(self, task: TaskId, title: str, text: str) -> None:
        if not any(_says(one, title, text) for one in await self.client.comments.of(task)):
            await self.client.comments.add(task, Text(text), title=title)

    async def record(self, record: RunRecord) -> str:
        item = await self._written(record)
        there = {(one.role, one.target) for one in await self.client.links.of(item)}
        for link in (("run_of", record.run.task), ("performed_by", record.engagement)):
            if link not in there:
                await self._link(item, *link)
        if record.run.outcome is not None:
            await self._end(item)
        return item

    async def attach(self, item: str, name: str, path: Path) -> None:
        if any(one.file_name == name for one in await self.client.attachments.of(item)):
            return
        try:
            await self.client.attachments.add(item, name, path, title=_title_of(name))
        except Conflict:
            return  # an earlier try came through, though its answer was lost

    async def spent(self, engagement: str, total_usd: Decimal) -> None:
        await self.client.items.update(engagement, custom={"spent": float(total_usd)})

    async def _with(
        self, kind: str, field: str, value: str, project: str, *, status: str | None = None
    ) -> AsyncIterator[WorkItem]:
        """The project's items of a type whose field has exactly this value, oldest first."""
        wanted = {"type": kind, field: value}
        query = matching(wanted if status is None else {**wanted, "status": status})
        async for item in self.client.items.query(query, project=project):
            if item.custom.get(field) == value:
                yield item

    async def _skills(self, agent: str) -> Sequence[WorkItem]:
        links = [one for one in await self.client.links.of(agent) if one.role == "uses_skill"]
        found = [await self._item(link.target) for link in links]
        return [one for one in found if one and (one.type, one.status) == ("skill", "approved")]

    async def _item(self, item: str) -> WorkItem | None:
        try:
            return await self.client.items.get(item)
        except NotFound:
            return None

    async def _written(self, record: RunRecord) -> str:
        """The run's work item: the one that it knows, or that has its key; a new one, if both are gone."""
        run = record.run
        if run.record and await self._updated(run.record, record):
            return run.record
        async for item in self._with("agentRun", "runKey", run.id, run.project):
            if await self._updated(item.id, record):
                return item.id
        return await self.client.items.create(run.project, item_of(record))

    async def _updated(self, item: str, record: RunRecord) -> bool:
        try:
            await self.client.items.update(item, title=record.title, custom=fields_of(record))
        except NotFound:
            return False
        return True

    async def _link(self, item: str, role: str, target: str) -> None:
        try:
            await self.client.links.add(item, role, target)
        except Conflict:
            return  # somebody was faster

    async def _end(self, item: str) -> None:
        if (await self.client.items.get(item)).status != "ended":
            await self.client.items.update(item, workflow_action="end")


def _says(one: Said, title: str, text: str) -> bool:
    """Whether a comment says this; Polarion may have laid its words out anew."""
    return one.title == title and plain(one.text).split() == text.split()


def _title_of(name: str) -> str:
    """What an attached file is called: `Transcript`, `Output`, `Attestation`."""
    return re.split(r"[-.]", name, maxsplit=1)[0].capitalize()


def _made_by(task: WorkItem) -> RunId | None:
    """The run that made a task."""
    run = task.custom.get("runKey")
    return RunId(run) if isinstance(run, str) and run else None


def _continued(task: WorkItem, links: Sequence[Link]) -> Iterator[str]:
    """The items of the same project that a task goes on with. No tool makes such a link: people do."""
    for link in links:
        project, _, item = link.target.rpartition("/")
        if link.role == "continues" and project == task.project:
            yield item
