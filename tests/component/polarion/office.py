"""A project with two hired agents, and the tools of one of them in the middle of its run."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp

from entrance.ports import ToolResult
from entrance.session import RunId, Session, TaskId
from entrance.vault.seal import Keyring
from entrance.vault.vault import Vault
from orchestrator.adapters.polarion import KeyedLocks, PolarionClient
from orchestrator.adapters.polarion.hiring import PolarionHiring
from orchestrator.adapters.polarion.resources import WorkItem
from orchestrator.adapters.polarion.tools import PolarionTools
from orchestrator.adapters.polarion.tracker import PolarionTracker
from orchestrator.app.polarion import BotTokens, Polarion, host_of
from orchestrator.approvals.asking import Asking
from orchestrator.approvals.items import Items
from orchestrator.domain.run import Run, RunState
from orchestrator.domain.team import Grants
from orchestrator.ports import NewAgent, NewTask, RunRecord
from orchestrator.runner.desk import Desk
from orchestrator.runner.world import World
from orchestrator.settings import Polarion as Settings
from tests.fakes.approvals import FakeApprovals
from tests.fakes.run import a_run
from tests.fakes.secrets import FakeSecretStore
from tests.fakes.world import FakeWorld
from tests.servers.polarion import PolarionServer, client_of

_numbers = count(1)
POOL = "AGENTS"


@dataclass
class Office:
    """`rex` works on `task`, `max` is hired too; the supervisor is `lead`."""

    project: str
    admin: PolarionClient
    polarion: Polarion
    hiring: PolarionHiring
    tracker: PolarionTracker
    world: World
    tools: PolarionTools
    inbox: FakeApprovals
    run: RunId
    session: Session
    rex: str
    max: str

    @property
    def task(self) -> TaskId:
        return self.session.task

    async def call(self, tool: str, **arguments: Any) -> ToolResult:
        """A call as the gateway makes it."""
        return await self.tools.call(self.session, tool, arguments)

    async def item(self, item: str) -> WorkItem:
        """What an administrator sees."""
        return await self.admin.items.get(item)

    async def now(self) -> Run:
        return await self.world.runs.get(self.run)

    async def said(self) -> list[tuple[str, str, str]]:
        """The task's comments: author, title, text."""
        return [
            (one.author, one.title, one.text.value)
            for one in await self.admin.comments.of(self.task)
        ]

    async def links(self, item: str) -> set[tuple[str, str]]:
        return {(one.role, one.target) for one in await self.admin.links.of(item)}

    async def tasks(self) -> list[WorkItem]:
        """The project's tasks, but for the one that is being worked on."""
        found = self.admin.items.query("type:task", project=self.project)
        return [one async for one in found if one.id != self.task]


@asynccontextmanager
async def an_office(server: PolarionServer, folder: Path) -> AsyncIterator[Office]:
    """Everything real but the runner's state: it is kept in memory."""
    async with client_of(server.base) as admin, aiohttp.ClientSession() as http:
        project = f"T{next(_numbers)}"
        vault = Vault(FakeSecretStore(), Keyring("k", {"k": b"k" * 32}))
        settings = Settings(url=server.base, token_file=server.home / "admin-token", embedded=True)
        polarion = Polarion(http, settings, vault, KeyedLocks())
        service = polarion.as_service()
        hiring = PolarionHiring(service, POOL, BotTokens(vault, host_of(server.base)))
        tracker = PolarionTracker(service, POOL)
        world = replace(FakeWorld(folder).world(), tracker=tracker)
        inbox = FakeApprovals()
        rex, max_ = [await _hire(hiring, name, project) for name in ("rex", "max")]
        run = await _running(world, hiring, project, rex)
        yield Office(
            project=project,
            admin=admin,
            polarion=polarion,
            hiring=hiring,
            tracker=tracker,
            world=world,
            tools=PolarionTools(
                polarion.as_user,
                tracker.engagements,
                Desk(world),
                world.clock.now,
                Asking(Items(inbox, world.runs, tracker, world.clock)),
            ),
            inbox=inbox,
            run=run.id,
            session=Session(run.id, run.task, project, rex, "10.0.0.2", "hash"),
            rex=rex,
            max=max_,
        )  # fmt: skip


async def _hire(hiring: PolarionHiring, name: str, project: str) -> str:
    agent = NewAgent(f"{name}-{project.lower()}", name, "anthropic:claude-test", "native", "")
    await hiring.create_agent(agent)
    await hiring.hire(
        agent.bot, project, supervisor="lead", budget_usd=Decimal(5), grants=Grants()
    )  # fmt: skip
    return agent.bot


async def _running(world: World, hiring: PolarionHiring, project: str, bot: str) -> Run:
    """A run in its middle: the task is started, the record is there."""
    repository = "https://git.example/a/b"
    task = await hiring.create_task(NewTask(project, "Fix it", "Now.", repository, "next", bot))
    await world.tracker.act(task, "start")
    [engagement] = [
        one for one in await world.tracker.engagements() if (one.project, one.bot) == (project, bot)
    ]
    run = a_run(
        project=project, task=task, agent=bot, engagement=engagement.id, state=RunState.RUNNING
    )
    record = await world.tracker.record(RunRecord(run, "Run", engagement.id, {}, []))
    run = replace(run, record=record)
    await world.runs.create(run)
    return run
