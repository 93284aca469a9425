"""Work items as what they mean to us, and back [pure]. What can't be read grants nothing."""

from decimal import Decimal
from typing import Any, Self

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from entrance.session import HostKind, TaskId
from orchestrator.adapters.polarion.resources import Text, WorkItem
from orchestrator.adapters.polarion.richtext import plain, rich
from orchestrator.domain.egress import Policy, Unreadable
from orchestrator.domain.egress_text import policy_of
from orchestrator.domain.grants import door_name
from orchestrator.domain.hosting import hosting_of
from orchestrator.domain.push_demand import Demand, pushes_of
from orchestrator.domain.task import Task, TaskStatus
from orchestrator.domain.team import Agent, Engagement, Grants, Repository, Skill
from orchestrator.domain.tool_grants import ConnectionForm, rules_json

NOTHING = Decimal(0)
TASK_FIELDS = ("title", "description", "status", "assignee", "repository", "baseBranch")
"""What `task_of` needs."""
ENGAGEMENT_FIELDS = (
    "status",
    "agentBot",
    "supervisor",
    "budget",
    "spent",
    "grants",
    "egress",
    "pushes",
)
"""What `engagement_of` needs."""


class _Repository(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    url: str
    push: bool = False
    credential: str | None = None
    host: HostKind | None = None
    api: str = ""
    pull_requests: bool = True

    @model_validator(mode="after")
    def _is_a_repository(self) -> Self:
        door_name(self.url)
        hosting_of(self.read())
        return self

    def read(self) -> Repository:
        return Repository(
            self.url, self.push, self.credential, self.host, self.api, self.pull_requests
        )


class _Grants(BaseModel):
    """The JSON in an engagement's `grants` field."""

    model_config = ConfigDict(extra="forbid", strict=True)

    tools: dict[str, list[str] | ConnectionForm] = {}
    repositories: list[_Repository] = []
    models: list[str] = []
    unpriced_models: bool = False


def task_of(item: WorkItem) -> Task:
    """A task."""
    return Task(
        id=TaskId(item.id),
        project=item.project,
        title=item.title,
        description=plain(item.description),
        status=TaskStatus(item.status),
        assignees=item.assignees,
        repository=_string(item, "repository"),
        base_branch=_string(item, "baseBranch") or "main",
    )


def engagement_of(item: WorkItem) -> Engagement:
    """An engagement. What can't be read leaves nothing: no grants, no budget, or all of it spent."""
    budget = _amount(item, "budget") or NOTHING
    spent = _amount(item, "spent")
    return Engagement(
        id=item.id,
        project=item.project,
        bot=_string(item, "agentBot"),
        supervisor=_string(item, "supervisor"),
        budget_usd=budget,
        spent_usd=budget if spent is None else spent,
        grants=grants_of(plain(rich(item.custom, "grants"))),
        active=item.status == "active",
        egress=egress_of(item),
        pushes=_pushes(item),
    )


def grants_of(text: str) -> Grants:
    """Grants from their JSON; nothing at all when it is not exactly as it should be."""
    try:
        read = _Grants.model_validate_json(text)
    except ValidationError:
        return Grants()
    return Grants(
        tools={name: frozenset(one) for name, one in read.tools.items() if isinstance(one, list)},
        repositories=tuple(one.read() for one in read.repositories),
        models=frozenset(read.models),
        unpriced_models=read.unpriced_models,
        tool_rules={
            name: one.read() for name, one in read.tools.items() if isinstance(one, ConnectionForm)
        },
    )


def grants_json(grants: Grants) -> str:
    """The reverse of `grants_of`."""
    rows = [_row(repository) for repository in grants.repositories]
    tools: dict[str, Any] = {name: sorted(listed) for name, listed in grants.tools.items()}
    tools |= {name: rules_json(rules) for name, rules in grants.tool_rules.items()}
    data: dict[str, Any] = {"tools": tools, "repositories": rows, "models": sorted(grants.models)}
    if grants.unpriced_models:
        data["unpriced_models"] = True
    return orjson.dumps(data, option=orjson.OPT_INDENT_2).decode()


def _row(repository: Repository) -> dict[str, Any]:
    """What goes without saying is left out: a version before this one can read it then."""
    said: dict[str, Any] = {"host": repository.host, "api": repository.api}
    row = {name: value for name, value in said.items() if value}
    if not repository.pull_requests:
        row["pull_requests"] = False
    return {
        "url": repository.url,
        "push": repository.push,
        "credential": repository.credential,
        **row,
    }


def agent_of(item: WorkItem, skills: tuple[Skill, ...]) -> Agent:
    """An agent of the pool, with its approved skills."""
    return Agent(
        id=item.id,
        title=item.title,
        bot=_string(item, "botUser"),
        harness=_string(item, "harness"),
        model=_string(item, "model"),
        instructions=plain(rich(item.custom, "instructions")),
        skills=skills,
        egress=egress_of(item),
    )


def egress_of(item: WorkItem) -> Policy | Unreadable:
    """What an agent or an engagement says of the internet, in YAML."""
    return policy_of(plain(rich(item.custom, "egress")), f"egress of {item.id}")


def _pushes(item: WorkItem) -> Demand | Unreadable:
    """What an engagement asks of pushes; what is no text at all asks for something that nobody knows."""
    name = f"pushes of {item.id}"
    if isinstance(item.custom.get("pushes"), str | Text | None):
        return pushes_of(plain(rich(item.custom, "pushes")), name)
    return Unreadable(f"{name}, line 1: it is no text")


def skill_of(item: WorkItem) -> Skill:
    """A skill: its title and text."""
    text = plain(rich(item.custom, "instructions")) or plain(item.description)
    return Skill(item.title, text)


def _string(item: WorkItem, name: str) -> str:
    value = item.custom.get(name)
    return value if isinstance(value, str) else ""


def _amount(item: WorkItem, name: str) -> Decimal | None:
    """US dollars, none below zero; None when there is something that is no amount."""
    value = item.custom.get(name)
    if value is None:
        return NOTHING
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    amount = Decimal(str(value))
    return max(amount, NOTHING) if amount.is_finite() else None
