"""Agents, engagements and tasks as they were asked for; while `down`, nothing can be made."""

from dataclasses import dataclass, field
from decimal import Decimal

from entrance.errors import Conflict, Unavailable
from entrance.session import TaskId
from orchestrator.domain.team import Grants
from orchestrator.ports import NewAgent, NewTask


@dataclass(frozen=True, slots=True)
class Hired:
    """What an engagement was asked to be."""

    bot: str
    project: str
    supervisor: str
    budget_usd: Decimal
    grants: Grants
    egress: str | None = None
    pushes: str | None = None


@dataclass
class FakeHiring:
    """`orchestrator.ports.Hiring` for tests."""

    down: bool = False
    refuses: str = ""
    agents: list[NewAgent] = field(default_factory=list)
    hired: list[Hired] = field(default_factory=list)
    tasks: list[NewTask] = field(default_factory=list)

    async def create_agent(self, agent: NewAgent) -> str:
        self._reach()
        self.agents.append(agent)
        return f"AGENTS/AGENTS-{len(self.agents)}"

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
        self._reach()
        self.hired.append(Hired(bot, project, supervisor, budget_usd, grants, egress, pushes))
        return f"{project}/{project}-{len(self.hired)}"

    async def create_task(self, task: NewTask) -> TaskId:
        self._reach()
        self.tasks.append(task)
        return TaskId(f"{task.project}/{task.project}-{len(self.tasks)}")

    def _reach(self) -> None:
        if self.down:
            raise Unavailable("Polarion can't be reached")
        if self.refuses:
            raise Conflict(self.refuses)
