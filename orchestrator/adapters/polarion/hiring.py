"""`ports.Hiring` on Polarion: agents, engagements and tasks are made, or brought up to date."""

from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from entrance.errors import Conflict, NotFound
from entrance.session import TaskId
from orchestrator.adapters.polarion.client import PolarionClient
from orchestrator.adapters.polarion.query import matching
from orchestrator.adapters.polarion.reading import grants_json
from orchestrator.adapters.polarion.resources import NewItem, Text, WorkItem
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


READER_ROLE = "agent_reader"
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
        await self._ensure_token(agent.bot)
        await self.client.users.change_project_roles(agent.bot, add=[(self.pool, READER_ROLE)])
        fields = {
            "botUser": agent.bot,
            "harness": agent.harness,
            "model": agent.model,
            "instructions": Text(agent.instructions),
            **_policy("egress", agent.egress),
        }
        wanted = NewItem("agent", agent.title, custom=fields)
        known = await self._agent(agent.bot)
        if known and known.status == "retired":
            await self.client.items.update(known.id, workflow_action="reactivate")
        return await self._ensure_item(self.pool, known, wanted)

    async def hire(
        self,
        bot: str,
        project: str,
        *,
        supervisor: str,
        budget_usd: Decimal,
        grants: Grants,
        egress: str | None = None,
        pushes: str | None = None,
    ) -> str:
        if project == self.pool:
            raise Conflict(f"agents are hired from {project}, not into it: name another project")
        if await self._agent(supervisor):
            raise Conflict(f"{supervisor} is an agent's user: who approves must be a person")
        agent = await self._agent(bot)
        if agent is None or agent.status != "active":
            raise NotFound(f"the pool {self.pool} has no active agent with the bot user {bot}")
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
            **_policy("egress", egress),
            **_policy("pushes", pushes),
        }
        wanted = NewItem("engagement", f"{bot} in {project}", custom=fields)
        known = await self._one("engagement", "agentBot", bot, project, status="active")
        engagement = await self._ensure_item(project, known, wanted)
        with suppress(Conflict):  # linked already
            await self.client.links.add(engagement, "engages", agent.id)
        return engagement

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

    async def _ensure_token(self, bot: str) -> None:
        if self.tokens and not await self.tokens.has(bot):
            token = await self.client.users.make_token(bot, "sandgate")
            await self.tokens.keep(bot, token)

    async def _ensure_item(self, project: str, known: WorkItem | None, wanted: NewItem) -> str:
        if known is None:
            return await self.client.items.create(project, wanted)
        await self.client.items.update(known.id, title=wanted.title, custom=wanted.custom)
        return known.id

    async def _agent(self, bot: str) -> WorkItem | None:
        """The active agent, or else a retired one."""
        active = await self._one("agent", "botUser", bot, self.pool, status="active")
        return active or await self._one("agent", "botUser", bot, self.pool, status="retired")

    async def _one(
        self, kind: str, field: str, value: str, project: str, *, status: str
    ) -> WorkItem | None:
        """The oldest item of the project whose field has exactly this value."""
        query = matching({"type": kind, "status": status, field: value})
        async for item in self.client.items.query(query, project=project):
            if item.custom.get(field) == value:
                return item
        return None


def _policy(field: str, text: str | None) -> dict[str, Text]:
    return {} if text is None else {field: Text(text)}
