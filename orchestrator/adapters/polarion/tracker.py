"""`ports.Tracker` on Polarion: what is to be done is read, and what was done is recorded."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from entrance.errors import Conflict, NotFound
from entrance.session import TaskId
from orchestrator.adapters.polarion.client import PolarionClient
from orchestrator.adapters.polarion.reading import agent_of, engagement_of, plain, skill_of, task_of
from orchestrator.adapters.polarion.recording import fields_of, item_of
from orchestrator.adapters.polarion.resources import Text, WorkItem
from orchestrator.domain.plan import WAKES
from orchestrator.domain.task import Comment, Task
from orchestrator.domain.team import Agent, Engagement
from orchestrator.ports import RunRecord


@dataclass(frozen=True, slots=True)
class PolarionTracker:
    """Acts as the runner's service user; what agents say is said by their own bot users."""

    client: PolarionClient
    pool: str
    """The Agent Pool project."""

    async def engagements(self) -> Sequence[Engagement]:
        query = "type:engagement AND status:active"
        return [engagement_of(item) async for item in self.client.items.query(query)]

    async def waking(self, engagements: Sequence[Engagement]) -> Sequence[Task]:
        bots = " ".join(sorted({one.bot for one in engagements}))
        if not bots:
            return []
        hired = {(one.project, one.bot) for one in engagements}
        query = f"type:task AND status:({' '.join(WAKES)}) AND assignee.id:({bots})"
        tasks = [task_of(item) async for item in self.client.items.query(query)]
        return [t for t in tasks if any((t.project, bot) in hired for bot in t.assignees)]

    async def task(self, task: TaskId) -> Task | None:
        try:
            return task_of(await self.client.items.get(task))
        except NotFound:
            return None

    async def thread(self, task: TaskId) -> Sequence[Comment]:
        return [
            Comment(one.id, one.author, one.title, plain(one.text), one.created)
            for one in await self.client.comments.of(task)
        ]

    async def agent(self, bot: str) -> Agent | None:
        query = f"type:agent AND status:active AND botUser:{bot}"
        async for item in self.client.items.query(query, project=self.pool):
            return agent_of(item, tuple([skill_of(skill) for skill in await self._skills(item.id)]))
        return None

    async def memories(self, project: str, agent: str) -> Sequence[str]:
        bot = (await self.client.items.get(agent)).custom.get("botUser")
        query = f"type:memory AND status:active AND agentBot:{bot}"
        return [
            f"{item.title}: {plain(item.description)}".strip(": ")
            async for item in self.client.items.query(query, project=project)
        ]

    async def act(self, task: TaskId, action: str) -> None:
        await self.client.items.update(task, workflow_action=action)

    async def comment(self, task: TaskId, title: str, text: str) -> None:
        if all(one.title != title for one in await self.client.comments.of(task)):
            await self.client.comments.add(task, Text(text), title=title)

    async def record(self, record: RunRecord) -> str:
        """Found by the id that the run knows, else by its run key, else made."""
        run = record.run
        item = run.record or await self._recorded(run.project, run.id)
        if not item:
            item = await self.client.items.create(run.project, item_of(record))
        else:
            await self.client.items.update(item, title=record.title, custom=fields_of(record))
        await self._link(item, "run_of", run.task)
        await self._link(item, "performed_by", record.engagement)
        if run.outcome is not None:
            await self._end(item)
        return item

    async def attach(self, item: str, name: str, path: Path) -> None:
        if all(one.file_name != name for one in await self.client.attachments.of(item)):
            await self.client.attachments.add(item, name, path, title="Transcript")

    async def spent(self, engagement: str, total_usd: Decimal) -> None:
        await self.client.items.update(engagement, custom={"spent": float(total_usd)})

    async def _skills(self, agent: str) -> Sequence[WorkItem]:
        links = [one for one in await self.client.links.of(agent) if one.role == "uses_skill"]
        skills = [await self.client.items.get(link.target) for link in links]
        return [skill for skill in skills if skill.status == "approved"]

    async def _recorded(self, project: str, run: str) -> str:
        query = f"type:agentRun AND runKey:{run}"
        async for item in self.client.items.query(query, project=project):
            return item.id
        return ""

    async def _link(self, item: str, role: str, target: str) -> None:
        links = await self.client.links.of(item)
        if all((one.role, one.target) != (role, target) for one in links):
            try:
                await self.client.links.add(item, role, target)
            except Conflict:
                return  # somebody was faster

    async def _end(self, item: str) -> None:
        if (await self.client.items.get(item)).status != "ended":
            await self.client.items.update(item, workflow_action="end")
