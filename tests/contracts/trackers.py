"""The trackers under contract, each with a world that tests can set up and look into."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import count
from typing import Protocol

from entrance.session import RunId, TaskId
from orchestrator.adapters.polarion import NewItem, PolarionClient, Text
from orchestrator.adapters.polarion.hiring import PolarionHiring
from orchestrator.adapters.polarion.query import matching
from orchestrator.adapters.polarion.tracker import PolarionTracker
from orchestrator.domain.task import Task, TaskStatus
from orchestrator.domain.team import Agent, Engagement, Grants, Repository, Skill
from orchestrator.ports import NewAgent, Tracker
from tests.fakes.tracker import FakeTracker

_numbers = count(1)
MODEL = "anthropic:claude-test"
GRANTS = Grants(
    tools={"polarion": frozenset({"get_task"})},
    repositories=(Repository("https://git.example/a/b", push=False, credential="git"),),
    models=frozenset({MODEL}),
)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run's record as people see it. `items`: how many there are of the run."""

    title: str
    outcome: str
    cost: float
    ended: bool
    links: Sequence[tuple[str, str]]
    attached: Mapping[str, bytes]
    items: int


class Stage(Protocol):
    """A tracker's world. Projects are made by hiring somebody into them."""

    @property
    def project(self) -> str: ...

    @property
    def tracker(self) -> Tracker: ...

    async def hire(self, name: str, project: str = "") -> Engagement:
        """An agent with this name, made and hired; the bot is `bot-<name>-<project of the stage>`."""
        ...

    async def let_go(self, engagement: Engagement) -> None: ...

    async def teach(self, bot: str, title: str, status: str) -> None:
        """Give an agent a skill in this status."""
        ...

    async def learn(self, bot: str, title: str, status: str, project: str = "") -> None:
        """A memory of the agent's, in this status."""
        ...

    async def task(
        self, *assignees: str, status: TaskStatus = TaskStatus.OPEN, project: str = ""
    ) -> TaskId: ...

    async def part_of(self, parent: TaskId | None, run: RunId) -> TaskId:
        """A task that a run made: a part of another that it delegated, or just a task."""
        ...

    async def go_on(self, task: TaskId, other: TaskId) -> None:
        """A person links a task to one that it continues."""
        ...

    async def comment(self, task: TaskId, title: str, text: str) -> None:
        """A person's comment."""
        ...

    async def delete(self, task: TaskId) -> None: ...

    async def recorded(self, item: str, run: RunId) -> Recorded: ...


class FakeStage:
    """`FakeTracker` and its inside."""

    def __init__(self) -> None:
        self.project = f"C{next(_numbers)}"
        self.tracker = FakeTracker()

    async def hire(self, name: str, project: str = "") -> Engagement:
        project = project or self.project
        bot = f"bot-{name}-{self.project.lower()}"
        agent = Agent(f"AGENTS/{name}", name, bot, "native", MODEL, "Be kind.")
        self.tracker.agents.setdefault(bot, agent)
        made = Engagement(
            id=f"{project}/E-{next(_numbers)}",
            project=project,
            bot=bot,
            supervisor="lead",
            budget_usd=Decimal(5),
            spent_usd=Decimal(0),
            grants=GRANTS,
        )
        self.tracker.hired[made.id] = made
        return made

    async def let_go(self, engagement: Engagement) -> None:
        self.tracker.hired[engagement.id] = replace(engagement, active=False)

    async def teach(self, bot: str, title: str, status: str) -> None:
        agent = self.tracker.agents[bot]
        if status == "approved":
            skills = (*agent.skills, Skill(title, f"how to {title}"))
            self.tracker.agents[bot] = replace(agent, skills=skills)

    async def learn(self, bot: str, title: str, status: str, project: str = "") -> None:
        if status == "active":
            self.tracker.learned[project or self.project, bot].append(f"{title}: as seen")

    async def task(
        self, *assignees: str, status: TaskStatus = TaskStatus.OPEN, project: str = ""
    ) -> TaskId:
        project = project or self.project
        made = TaskId(f"{project}/{project}-{next(_numbers)}")
        self.tracker.tasks[made] = Task(
            made, project, "Fix it", "It is broken.", status, assignees, "https://git.example/a/b"
        )
        return made

    async def part_of(self, parent: TaskId | None, run: RunId) -> TaskId:
        made = await self.task()
        by = run if parent else None
        self.tracker.tasks[made] = replace(self.tracker.tasks[made], delegated_by=by)
        return made

    async def go_on(self, task: TaskId, other: TaskId) -> None:
        one, another = self.tracker.tasks[task], self.tracker.tasks[other]
        more = {another.item} if another.project == one.project else set()
        self.tracker.tasks[task] = replace(one, continues=one.continues | more)

    async def comment(self, task: TaskId, title: str, text: str) -> None:
        self.tracker.say(task, "lead", title, text)

    async def delete(self, task: TaskId) -> None:
        del self.tracker.tasks[task]

    async def recorded(self, item: str, run: RunId) -> Recorded:
        record = self.tracker.records[item]
        return Recorded(
            title=record.title,
            outcome=str(record.run.outcome or ""),
            cost=float(record.run.usage.cost_usd),
            ended=record.run.outcome is not None,
            links=[("performed_by", record.engagement), ("run_of", record.run.task)],
            attached={n: data for (at, n), data in self.tracker.attached.items() if at == item},
            items=sum(one.run.id == run for one in self.tracker.records.values()),
        )


class PolarionStage:
    """`PolarionTracker` and the server behind it, seen as its administrator."""

    def __init__(self, client: PolarionClient) -> None:
        self.project = f"C{next(_numbers)}"
        self.tracker = PolarionTracker(client, "AGENTS")
        self._client = client
        self._hiring = PolarionHiring(client, "AGENTS", None)

    async def hire(self, name: str, project: str = "") -> Engagement:
        agent = NewAgent(f"{name}-{self.project.lower()}", name, MODEL, "native", "Be kind.")
        await self._hiring.create_agent(agent)
        item = await self._hiring.hire(
            agent.bot,
            project or self.project,
            supervisor="lead",
            budget_usd=Decimal(5),
            grants=GRANTS,
        )
        return next(one for one in await self.tracker.engagements() if one.id == item)

    async def let_go(self, engagement: Engagement) -> None:
        await self._client.items.update(engagement.id, workflow_action="end")

    async def teach(self, bot: str, title: str, status: str) -> None:
        text = Text(f"how to {title}")
        new = NewItem("skill", title, status=status, custom={"instructions": text})
        skill = await self._client.items.create("AGENTS", new)
        agent = await self.tracker.agent(bot)
        assert agent
        await self._client.links.add(agent.id, "uses_skill", skill)

    async def learn(self, bot: str, title: str, status: str, project: str = "") -> None:
        new = NewItem("memory", title, Text("as seen"), status=status, custom={"agentBot": bot})
        await self._client.items.create(project or self.project, new)

    async def task(
        self, *assignees: str, status: TaskStatus = TaskStatus.OPEN, project: str = ""
    ) -> TaskId:
        fields = {"repository": "https://git.example/a/b"}
        words = Text("<p>It is broken.</p>", "text/html")
        new = NewItem("task", "Fix it", words, str(status), assignees, fields)
        return TaskId(await self._client.items.create(project or self.project, new))

    async def part_of(self, parent: TaskId | None, run: RunId) -> TaskId:
        made = await self.task()
        await self._client.items.update(made, custom={"runKey": run})
        if parent:
            await self._client.links.add(made, "delegated_from", parent)
        return made

    async def go_on(self, task: TaskId, other: TaskId) -> None:
        await self._client.links.add(task, "continues", other)

    async def comment(self, task: TaskId, title: str, text: str) -> None:
        await self._client.comments.add(task, Text(text), title=title)

    async def delete(self, task: TaskId) -> None:
        await self._client.items.delete(task)

    async def recorded(self, item: str, run: RunId) -> Recorded:
        client = self._client
        found = await client.items.get(item)
        query = matching({"type": "agentRun", "runKey": run})
        return Recorded(
            title=found.title,
            outcome=str(found.custom.get("outcome", "")),
            cost=float(found.custom["cost"]),
            ended=found.status == "ended",
            links=sorted((one.role, one.target) for one in await client.links.of(item)),
            attached={
                one.file_name: b"".join([part async for part in client.attachments.content(one.id)])
                for one in await client.attachments.of(item)
            },
            items=len([one async for one in client.items.query(query)]),
        )
