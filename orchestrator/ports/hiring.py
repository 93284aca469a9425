"""How agents are made, hired and given work."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from entrance.session import TaskId
from orchestrator.domain.team import Grants


@dataclass(frozen=True, slots=True)
class NewAgent:
    """An agent to be made in the pool."""

    name: str
    title: str
    model: str
    harness: str
    instructions: str
    egress: str | None = None
    """Its egress policy in YAML; None leaves the one that it has."""

    @property
    def bot(self) -> str:
        """The id of its bot user."""
        return f"bot-{self.name}"


@dataclass(frozen=True, slots=True)
class NewTask:
    """A task to be created."""

    project: str
    title: str
    description: str
    repository: str
    base_branch: str
    assignee: str | None


class Hiring(Protocol):
    """Makes agents, hires them and gives them work, in Polarion."""

    async def create_agent(self, agent: NewAgent) -> str:
        """Make or update the bot user, its token and the agent of the pool; returns the agent's id.

        A retired agent is active again afterwards.
        """
        ...

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
        """Make or update the active engagement, and what it needs; returns its id.

        `egress` is its egress policy in YAML, `pushes` what it asks of pushes; None leaves what it has.

        The project and the supervisor's user are made when missing; roles are added to those that
        the two have. Raises: NotFound when the pool has no active agent with this bot user.
        """
        ...

    async def create_task(self, task: NewTask) -> TaskId:
        """Create a task, assigned or not; returns its id."""
        ...
