"""`docs/reference/http-api.md`, from the routes of the two applications and their docstrings [pure]."""

import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from aiohttp import web
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from entrance.app import Outbound, make_app
from entrance.git.proxy import Keeping
from entrance.vault.vault import Vault
from orchestrator.api import shapes
from orchestrator.api.approvals import ApprovalRoutes
from orchestrator.api.auth import STATUS
from orchestrator.api.frozen import FrozenRoutes
from orchestrator.api.inbox_events import InboxEvents
from orchestrator.api.metrics import MetricsRoutes
from orchestrator.api.models import ModelRoutes
from orchestrator.api.posture import PostureRoutes
from orchestrator.api.push_rules import PushRuleRoutes
from orchestrator.api.pushes import PushRoutes
from orchestrator.api.runs import RunRoutes
from orchestrator.api.server import HealthRoutes, make_api
from orchestrator.api.tasks import TaskRoutes
from orchestrator.api.team import TeamRoutes
from orchestrator.cli.reference.markdown import code, page, table

BODIES: Mapping[str, type[shapes.Body]] = {
    "POST /api/agents": shapes.NewAgent,
    "POST /api/engagements": shapes.Hire,
    "POST /api/tasks": shapes.NewTask,
    "POST /api/tasks/{project}/{item}/{decision}": shapes.Words,
    "PUT /api/secrets/{name}": shapes.NewSecret,
    "POST /api/approvals/{item}/try": shapes.Opening,
    "POST /api/approvals/{item}/{verb}": shapes.Verdict,
    "POST /api/posture/accept": shapes.Accept,
}
DOORS: Mapping[str, str] = {
    "GET /healthz": "Says that the door is there; the one path that asks for no token.",
    "* /mcp": "The [MCP tools](mcp-tools.md), in every version of the protocol: `POST`; within a session"
    " `GET` and `DELETE`, too.",
    "GET /git/{name}/info/refs": "Smart HTTP: what a repository has. `{name}` is `host[:port]/path`.",
    "POST /git/{name}/git-upload-pack": "Fetch from a granted repository.",
    "POST /git/{name}/git-receive-pack": "Push to branches below `agent/<item>/` of the task's repository.",
    "* /git/{rest}": "Nothing else of git is served: 403.",
    "POST /model/{provider}{path}": (
        "A model call at the provider's own path, such as `/v1/messages`: "
        "sent on with the real key, metered, cut at the budget."
    ),
    "* /backend{path}": (
        "For the sandboxes of MCP servers, with their own token, and nobody else: a request to the"
        " [backend](../explanation/mcp-gateway.md#its-backend) of their connection, sent on with its secret."
    ),
}
INTRO = """\
Two listeners of the same process: one for people and their tools, one for sandboxes.
Sandboxes can't reach the first; the second answers nobody but them."""
OF_THE_RUNNER = """\
It listens on loopback; `sandgate status` says where.
Every call but `GET /api/health` shows the installation's token as `Authorization: Bearer ...`;
the token is in `keys/api.token` of the home.
Bodies are JSON of at most 1 MiB; what a body doesn't know is refused with 400."""
OF_ERRORS = """\
Every refusal is `{"error": {"code", "message"}}`.
The [error family](errors.md) maps to statuses:"""
OF_THE_ENTRANCE = """\
It listens on the gateway address of the sandbox network, and answers a run's own sandbox only:
the run token and the address that it comes from are checked together.
The token may be shown as `Authorization: Bearer`, as the password of `Authorization: Basic` (git),
as `x-api-key` or as `x-goog-api-key`.
No token: 401. A token that opens nothing from here: 403.
Each decision is written to the egress log before it is answered."""
OF_REFUSALS = """\
Whatever else is asked is answered 404, and recorded.
A refusal is `{"type": "error", "error": {"type", "code", "message"}}`;
git is answered in plain text, which it prints.
A refused push is answered 200 with the reason for each ref, which git prints as `remote rejected`.
A refused tool call is a tool result with `isError`."""


def http_api() -> str:
    """The page."""
    return page(
        "HTTP API",
        INTRO,
        "## The runner",
        OF_THE_RUNNER,
        table(("call", "does"), _runner_calls()),
        *(part for call, body in BODIES.items() for part in _body(call, body)),
        "### Errors",
        OF_ERRORS,
        table(
            ("error", "status"), ((code(kind.__name__), status) for kind, status in STATUS.items())
        ),
        "## The entrance",
        OF_THE_ENTRANCE,
        table(("call", "does"), ((code(call), DOORS[call]) for call in calls(entrance()))),
        OF_REFUSALS,
    )


def runner() -> web.Application:
    """The runner's application, with nothing behind it: only its routes are looked at."""
    nothing: Any = None
    return make_api(
        "",
        HealthRoutes({}, str),
        PostureRoutes(nothing),
        RunRoutes(nothing),
        TeamRoutes(nothing, nothing, nothing, frozenset(), frozenset(), nothing, nothing),
        TaskRoutes(nothing, nothing),
        ModelRoutes(nothing, nothing, nothing, {}),
        ApprovalRoutes(nothing, nothing, nothing, InboxEvents(nothing, nothing), nothing),
        PushRoutes(nothing, nothing, nothing),
        MetricsRoutes(nothing),
        FrozenRoutes(nothing, nothing),
        PushRuleRoutes(nothing),
    )


def entrance() -> web.Application:
    """The entrance's application, with nothing behind it."""
    nothing: Any = None
    return make_app(
        sessions=nothing,
        audit=nothing,
        watch=nothing,
        vault=Vault(nothing, nothing),
        meter=nothing,
        providers=(),
        prices=nothing,
        tool_providers=(),
        outbound=Outbound(nothing, nothing, nothing),
        pushes=Keeping(Path()),
    )


def calls(app: web.Application) -> Iterator[str]:
    """Its routes as `METHOD path`, in their order; HEAD goes without saying."""
    for route in app.router.routes():
        if route.method != "HEAD" and route.resource is not None:
            yield f"{route.method} {route.resource.canonical}"


def _runner_calls() -> Iterator[tuple[str, str]]:
    for route in runner().router.routes():
        if route.method != "HEAD" and route.resource is not None:
            said = inspect.getdoc(route.handler) or ""
            yield code(f"{route.method} {route.resource.canonical}"), said


def _body(call: str, body: type[BaseModel]) -> Iterator[str]:
    yield f"### Body of `{call}`"
    yield inspect.getdoc(body) or ""
    yield table(
        ("key", "default", "meaning"),
        (
            (code(field.alias or name), _default(field.get_default()), field.description or "")
            for name, field in body.model_fields.items()
        ),
    )


def _default(value: object) -> str:
    if value is PydanticUndefined:
        return "required"
    if value is None or value in ("", []):
        return "none"
    return code(str(value).lower() if isinstance(value, bool) else value)
