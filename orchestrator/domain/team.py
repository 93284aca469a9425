"""Who works: agents of the pool, their skills, and the engagements that hire them [pure]."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from entrance.session import HostKind
from entrance.tool_policy import ConnectionRules
from orchestrator.domain.egress import Policy, Unreadable
from orchestrator.domain.push_demand import Demand


@dataclass(frozen=True, slots=True)
class Skill:
    """Approved know-how that an agent is given with every run."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent of the pool. `model` is `provider:model`; `harness` names the loop that runs it."""

    id: str
    title: str
    bot: str
    harness: str
    model: str
    instructions: str
    skills: tuple[Skill, ...] = ()
    egress: Policy | Unreadable = field(default_factory=Policy)
    """What of the internet its runs may reach, wherever it is hired."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository that an engagement opens to its agent."""

    url: str
    push: bool = True
    credential: str | None = None
    host: HostKind | None = None
    """None: what goes without saying; see `hosting`."""
    api: str = ""
    """The base URL of the host's API, where it isn't where such hosts have it."""
    pull_requests: bool = True
    """Whether one is opened for what an agent submits, where the host has them."""


@dataclass(frozen=True, slots=True)
class Grants:
    """What an engagement lets its agent use: tools by connection, repositories, models."""

    tools: Mapping[str, frozenset[str]] = field(default_factory=dict)
    repositories: tuple[Repository, ...] = ()
    models: frozenset[str] = frozenset()
    unpriced_models: bool = False
    """Whether those of its models may be called that have no price; they count as free."""
    tool_rules: Mapping[str, ConnectionRules] = field(default_factory=dict)
    """Connections of which more is said than a list of tools."""


@dataclass(frozen=True, slots=True)
class Engagement:
    """An agent hired into a project, by a supervisor, with a budget in US dollars."""

    id: str
    project: str
    bot: str
    supervisor: str
    budget_usd: Decimal
    spent_usd: Decimal
    grants: Grants
    active: bool = True
    egress: Policy | Unreadable = field(default_factory=Policy)
    """What of the internet its runs may reach."""
    pushes: Demand | Unreadable = field(default_factory=Demand)
    """What it asks of its runs' pushes, besides what the installation does."""

    @property
    def left_usd(self) -> Decimal:
        """What may still be spent: never below zero, and, however it is rounded, never more than all."""
        return min(max(self.budget_usd - self.spent_usd, Decimal(0)), self.budget_usd)
