"""Work items as what they mean to us, and back [pure]. What can't be read grants nothing."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from html.parser import HTMLParser
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from entrance.session import TaskId
from orchestrator.adapters.polarion.resources import Text, WorkItem
from orchestrator.domain.task import Task, TaskStatus
from orchestrator.domain.team import Agent, Engagement, Grants, Repository, Skill

_BLOCKS = frozenset({"p", "br", "div", "li", "tr", "h1", "h2", "h3", "h4", "pre"})


class _Repository(BaseModel):
    model_config = ConfigDict(extra="forbid")

    url: str
    push: bool = False
    credential: str | None = None


class _Grants(BaseModel):
    """The JSON in an engagement's `grants` field."""

    model_config = ConfigDict(extra="forbid")

    tools: dict[str, list[str]] = {}
    repositories: list[_Repository] = []
    models: list[str] = []


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
    """An engagement. A budget or grants that can't be read are none: the agent is then refused."""
    return Engagement(
        id=item.id,
        project=item.project,
        bot=_string(item, "agentBot"),
        supervisor=_string(item, "supervisor"),
        budget_usd=_amount(item, "budget"),
        spent_usd=_amount(item, "spent"),
        grants=grants_of(str(item.custom.get("grants") or "")),
        active=item.status == "active",
    )


def grants_of(text: str) -> Grants:
    """Grants from their JSON; nothing at all when it is not exactly as it should be."""
    try:
        read = _Grants.model_validate_json(text)
    except ValidationError:
        return Grants()
    return Grants(
        tools={connection: frozenset(tools) for connection, tools in read.tools.items()},
        repositories=tuple(Repository(r.url, r.push, r.credential) for r in read.repositories),
        models=frozenset(read.models),
    )


def grants_json(grants: Grants) -> str:
    """The reverse of `grants_of`."""
    rows = [{"url": r.url, "push": r.push, "credential": r.credential} for r in grants.repositories]
    tools = {connection: sorted(names) for connection, names in grants.tools.items()}
    data = {"tools": tools, "repositories": rows, "models": sorted(grants.models)}
    return orjson.dumps(data, option=orjson.OPT_INDENT_2).decode()


def agent_of(item: WorkItem, skills: tuple[Skill, ...]) -> Agent:
    """An agent of the pool, with its approved skills."""
    return Agent(
        id=item.id,
        title=item.title,
        bot=_string(item, "botUser"),
        harness=_string(item, "harness"),
        model=_string(item, "model"),
        instructions=plain(_rich(item.custom, "instructions")),
        skills=skills,
    )


def skill_of(item: WorkItem) -> Skill:
    """A skill: its title and text."""
    text = plain(_rich(item.custom, "instructions")) or plain(item.description)
    return Skill(item.title, text)


def plain(text: Text) -> str:
    """A rich text as plain text; markup is dropped, never interpreted."""
    if text.type != "text/html":
        return text.value
    reader = _PlainText()
    reader.feed(text.value)
    reader.close()
    lines = (line.strip() for line in "".join(reader.parts).splitlines())
    return "\n".join(line for line in lines if line)


class _PlainText(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        del attrs
        if tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def _rich(custom: Mapping[str, Any], name: str) -> Text:
    value = custom.get(name)
    return value if isinstance(value, Text) else Text(value if isinstance(value, str) else "")


def _string(item: WorkItem, name: str) -> str:
    value = item.custom.get(name)
    return value if isinstance(value, str) else ""


def _amount(item: WorkItem, name: str) -> Decimal:
    try:
        amount = Decimal(str(item.custom.get(name) or 0))
    except InvalidOperation:
        return Decimal(0)
    return amount if amount.is_finite() else Decimal(0)
