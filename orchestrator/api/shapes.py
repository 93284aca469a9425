"""What goes into the API and comes out of it."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any

from aiohttp import web
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
)

from entrance.ports import Usage
from entrance.session import HostKind
from orchestrator.domain.approval import ScopeKind
from orchestrator.domain.egress import Unreadable
from orchestrator.domain.egress_text import policy_of
from orchestrator.domain.handover import failure_in_words
from orchestrator.domain.ledger import ledger
from orchestrator.domain.opened import OpenMode
from orchestrator.domain.push_demand import pushes_of
from orchestrator.domain.run import Run, phases
from orchestrator.domain.supervision import Standing, waits_for
from orchestrator.domain.task import Comment
from orchestrator.domain.tool_grants import ConnectionForm
from orchestrator.ports import Event

_WHOLE = re.compile(r"-?[0-9]{1,18}")
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")]


def _policy(text: str) -> str:
    read = policy_of(text, "the text")
    if isinstance(read, Unreadable):
        raise ValueError(read.reason)  # noqa: TRY004 - it is the text that is wrong
    return text


def _pushes(text: str) -> str:
    read = pushes_of(text, "the text")
    if isinstance(read, Unreadable):
        raise ValueError(read.reason)  # noqa: TRY004 - it is the text that is wrong
    return text


EgressText = Annotated[str, AfterValidator(_policy)]
PushText = Annotated[str, AfterValidator(_pushes)]


class BadInput(Exception):
    """The caller's input won't do; the message names the field. Answered with 400."""


class Body(BaseModel):
    """A request's body: nothing unknown passes."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class NewAgent(Body):
    """An agent to be made in the pool, with a bot user of its own."""

    name: Name
    """Also the bot user's id, as `bot-<name>`."""
    title: str = ""
    """How people call it; the name, if nothing else."""
    model: str = Field(pattern=r"^[a-z0-9_-]+:\S+$")
    """`provider:model`."""
    harness: str = "native"
    """The loop that runs it."""
    instructions: str = ""
    """What it is told at the start of every run."""
    egress: EgressText | None = None
    """What its runs may reach of the internet wherever it is hired, in YAML; None leaves it as it is."""


class GrantedRepository(Body):
    """A repository to be opened to the agent."""

    url: str
    """Its http(s) URL, without a user."""
    push: bool = True
    """Whether runs may push their own branches to it."""
    credential: str | None = None
    """The vault's secret that opens it; None when none is needed."""
    host: HostKind | None = None
    """`github`, `gitlab`, `gitea` or `plain`; None: as it goes without saying, else plain."""
    api: str = ""
    """The base URL of the host's API, where such hosts don't have it."""
    pull_requests: bool = True
    """Whether one is opened for what an agent submits, where the host has them."""


class Hire(Body):
    """An agent to be hired into a project (which is made when it isn't there)."""

    agent: Name
    """The agent's name."""
    project: Name
    """The project's id."""
    supervisor: Name
    """The user who answers and approves."""
    budget_usd: Decimal = Field(ge=Decimal("0.01"), le=Decimal(10_000_000))
    """US dollars for all its runs."""
    repositories: list[GrantedRepository] = []
    """Repositories to be opened to it, each `{url, push, credential, host, api, pull_requests}`."""
    tools: list[str] | dict[Name, list[str] | ConnectionForm] | None = None
    """Polarion tools; or by connection, each a list or `{tools, others, scope}`. None: all Polarion tools."""
    egress: EgressText | None = None
    """What its runs may reach of the internet, in YAML; None leaves it as it is."""
    pushes: PushText | None = None
    """What is asked of its runs' pushes, in YAML; None leaves it as it is."""


class NewTask(Body):
    """A task to be created; assigning it to a hired agent starts its run."""

    project: Name
    """The project's id."""
    title: str = Field(pattern=r"\S", max_length=500)
    """What is to be done, in a line."""
    description: str = ""
    """What is to be done, in full."""
    repository: str = ""
    """The URL of the repository to work in; empty when the task is about none."""
    base_branch: str = "main"
    """The branch that the work starts from."""
    assign: Name | None = None
    """The name of a hired agent."""


class Words(Body):
    """What a person decides about a task, in their words."""

    comment: str = Field(default="", max_length=100_000)
    """What the agent gets to read; sending back and answering need it."""
    user: str = Field(default="", alias="as", max_length=200)
    """The user who decides; none: the supervisor of the engagement."""


class Opening(Body):
    """What is to be opened in place of what an item of the inbox asks for."""

    host: str = Field(default="", max_length=253)
    """Another host than was asked for, or `*.name` for every one below it."""
    paths: list[str] = Field(default=[], max_length=50)
    """Other paths than were asked for; `*` is anything in a segment, `**` anything at all."""
    arguments: dict[str, Any] | None = None
    """Of a tool call: these arguments in place of its own."""
    bounds: dict[str, Any] | None = None
    """Of a rule for tool calls: the JSON Schema that arguments have to fit; None: these very ones."""
    mode: OpenMode | None = None
    """Of a tool that is asked for: `read`, `write` or `approval`; None: `write`."""


class Verdict(Opening):
    """What a person decides about an item of the inbox."""

    note: str = Field(default="", max_length=10_000)
    """Words for the agent."""
    user: str = Field(default="", alias="as", max_length=200)
    """The user who decides; none: the supervisor of the engagement."""
    scope: ScopeKind = "engagement"
    """Whose runs a standing rule is for: `engagement`, `agent` or `project`."""
    until: AwareDatetime | None = None
    """When a standing rule ends; None: when it is revoked."""


class Accept(Body):
    """A person's word that a probe may fail as it does."""

    probe: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*(@[a-z0-9-]+)?$", max_length=100)
    """The probe's name."""
    why: str = Field(pattern=r"\S", max_length=2000)
    """Their reason; it stands in every report."""
    by: str = Field(pattern=r"\S", max_length=200)
    """Who they are."""
    until: AwareDatetime | None = None
    """Until when it counts; none: until the probe finds something else."""


class NewSecret(Body):
    """A secret for the vault, bound to hosts."""

    value: SecretStr
    """The secret itself."""
    hosts: list[str] = Field(min_length=1)
    """The hosts that it may go to, `host[:port]`; `http://host[:port]` for plain http."""
    kind: str
    """How it is used: one of the vault's kinds, such as `anthropic`, `git:USER` or `github-app:ID`."""
    issuer: str = ""
    """Of `mcp-oauth:CLIENT`: the URL of the authorization server, the only one that sees the secret."""
    scopes: list[str] = []
    """Of `mcp-oauth:CLIENT`: what tokens are asked for; without any, what the server wants."""


async def body_of[Shape: Body](request: web.Request, shape: type[Shape]) -> Shape:
    """The request's body as `shape`. Raises: BadInput that names the field, never its value."""
    try:
        return shape.model_validate_json(await request.read())
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "body"
    raise BadInput(f"{where}: {first['msg']}")


def whole_number(text: str, name: str, *, least: int, most: int) -> int:
    """A number in a query or a header. Raises: BadInput that names it."""
    if not _WHOLE.fullmatch(text) or not least <= int(text) <= most:
        raise BadInput(f"{name}: it is a whole number from {least} to {most}")
    return int(text)


def usage_json(usage: Usage) -> dict[str, Any]:
    """Tokens and cost; the cost is a string, so that no cent is lost on the way."""
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "calls": usage.calls,
        "cost_usd": str(usage.cost_usd),
    }


def run_json(run: Run, usage: Usage) -> dict[str, Any]:
    """A run as people see it. The session stays out: its token's hash is nobody's business."""
    return {
        "id": run.id,
        "task": run.task,
        "project": run.project,
        "agent": run.agent,
        "engagement": run.engagement,
        "trigger": run.trigger,
        "harness": run.harness,
        "model": run.model,
        "state": run.state,
        "outcome": run.outcome,
        "cause": run.cause,
        "detail": run.exit.detail if run.exit else "",
        "summary": run.ending.summary if run.ending else "",
        "pull_request": pull_request_json(run),
        "created_at": run.created_at.isoformat(),
        "deadline_at": run.deadline_at.isoformat(),
        "seconds": phases(run),
        "budget_usd": str(run.budget_usd),
        "usage": usage_json(usage),
        "sandbox": run.sandbox,
        "facts": run.facts,
        "evidence": run.evidence,
        "record": run.record,
    }


def pull_request_json(run: Run) -> dict[str, Any] | None:
    """Where a run's work is proposed, or in `none` why it isn't; null while that isn't known."""
    one = run.pull_request
    if one is None:
        return None
    return {"branch": one.branch, "number": one.number, "url": one.url, "none": one.none}


def run_told(run: Run, usage: Usage, lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A run with what came of it: `lines` are the door's, of this run."""
    return {
        **run_json(run, usage),
        "why": "" if run.outcome is None or run.ending else failure_in_words(run),
        "pushed": ledger(lines)["pushed"],
    }


def task_json(seen: Standing, disk_bytes: int | None) -> dict[str, Any]:
    """A task as a list shows it; `run` is its newest."""
    task, run = seen.task, seen.run
    return {
        "id": task.id,
        "project": task.project,
        "title": task.title,
        "status": task.status,
        "assignees": list(task.assignees),
        "agent": seen.agent,
        "supervisor": seen.engagement.supervisor if seen.engagement else "",
        "run": None
        if run is None
        else {"id": run.id, "state": run.state, "outcome": run.outcome, "cause": run.cause},
        "waits_for": waits_for(seen),
        "disk_bytes": disk_bytes,
    }


def task_told(
    seen: Standing, disk_bytes: int | None, thread: Sequence[Comment], runs: Sequence[Run]
) -> dict[str, Any]:
    """A task with all that is said of it, and its runs, newest first."""
    task = seen.task
    return {
        **task_json(seen, disk_bytes),
        "repository": task.repository,
        "base_branch": task.base_branch,
        "description": task.description,
        "comments": [
            {"at": one.created.isoformat(), "by": one.author, "title": one.title, "text": one.text}
            for one in thread
        ],
        "runs": [
            {
                "id": run.id,
                "trigger": run.trigger,
                "state": run.state,
                "outcome": run.outcome,
                "cause": run.cause,
                "created_at": run.created_at.isoformat(),
                "pull_request": pull_request_json(run),
            }
            for run in runs
        ],
    }


def event_json(event: Event) -> dict[str, Any]:
    """One event of a run."""
    return {"seq": event.seq, "at": event.at.isoformat(), "kind": event.kind, "data": event.data}
