"""`ports.Hiring` on Polarion: agents, engagements and tasks are made, or brought up to date."""

from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from entrance.errors import Conflict, NotFound
from entrance.session import TaskId
from orchestrator.adapters.polarion.client import PolarionClient
from orchestrator.adapters.polarion.reading import grants_json
from orchestrator.adapters.polarion.resources import NewItem, Text
from orchestrator.domain.team import Grants
from orchestrator.ports import NewAgent, NewTask


class BotTokens(Protocol):
    """Where bot users' access tokens are sealed."""

    async def has(self, bot: str) -> bool:
        """Whether there is one."""
        ...

    async def keep(self, bot: str, token: str) -> None:
        """Seal it."""
        ...


BOT_ROLE = "agent"
SUPERVISOR_ROLE = "project_assignable"


@dataclass(frozen=True, slots=True)
class PolarionHiring:
    """Acts as the runner's service user, who must be allowed to manage users."""

    client: PolarionClient
    pool: str
    tokens: BotTokens | None
    """None: Polarion makes no tokens for us; an administrator makes one, `sandgate secret set` keeps it."""

    async def create_agent(self, agent: NewAgent) -> str:
        await self._ensure_user(agent.bot, agent.title)
        if self.tokens and not await self.tokens.has(agent.bot):
            await self.tokens.keep(
                agent.bot, await self.client.users.make_token(agent.bot, "sandgate")
            )
        await self.client.users.change_project_roles(agent.bot, add=[(self.pool, "agent_reader")])
        fields = {
            "botUser": agent.bot,
            "harness": agent.harness,
            "model": agent.model,
            "instructions": Text(agent.instructions),
        }
        query = f"type:agent AND botUser:{agent.bot}"
        return await self._ensure_item(
            self.pool, query, NewItem("agent", agent.title, custom=fields)
        )

    async def hire(
        self, bot: str, project: str, *, supervisor: str, budget_usd: Decimal, grants: Grants
    ) -> str:
        await self._ensure_project(project)
        await self._ensure_user(supervisor, supervisor)
        users = self.client.users
        await users.change_project_roles(supervisor, add=[(project, SUPERVISOR_ROLE)])
        await users.change_project_roles(bot, add=[(project, BOT_ROLE)])
        fields = {
            "agentBot": bot,
            "supervisor": supervisor,
            "budget": float(budget_usd),
            "grants": Text(grants_json(grants)),
        }
        query = f"type:engagement AND status:active AND agentBot:{bot}"
        wanted = NewItem("engagement", f"{bot} in {project}", custom=fields)
        return await self._ensure_item(project, query, wanted)

    async def create_task(self, task: NewTask) -> TaskId:
        fields = {"repository": task.repository, "baseBranch": task.base_branch}
        item = await self.client.items.create(
            task.project,
            NewItem(
                "task",
                task.title,
                description=Text(task.description),
                assignees=[task.assignee] if task.assignee else [],
                custom=fields,
            ),
        )
        return TaskId(item)

    async def _ensure_user(self, user: str, name: str) -> None:
        try:
            await self.client.users.get(user)
        except NotFound:
            with suppress(Conflict):  # somebody was faster
                await self.client.users.create(user, name)

    async def _ensure_project(self, project: str) -> None:
        try:
            await self.client.projects.get(project)
        except NotFound:
            await self.client.projects.create(project)

    async def _ensure_item(self, project: str, query: str, wanted: NewItem) -> str:
        async for item in self.client.items.query(query, project=project):
            await self.client.items.update(item.id, title=wanted.title, custom=wanted.custom)
            return item.id
        return await self.client.items.create(project, wanted)
