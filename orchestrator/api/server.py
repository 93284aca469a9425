"""The application that people's tools talk to."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from aiohttp import web

from entrance.errors import SandgateError
from orchestrator.api.approvals import ApprovalRoutes
from orchestrator.api.auth import errors, require_token
from orchestrator.api.frozen import FrozenRoutes
from orchestrator.api.metrics import PATH as METRICS
from orchestrator.api.metrics import MetricsRoutes
from orchestrator.api.models import ModelRoutes
from orchestrator.api.posture import PostureRoutes
from orchestrator.api.push_rules import PushRuleRoutes
from orchestrator.api.pushes import PushRoutes
from orchestrator.api.runs import RunRoutes
from orchestrator.api.tasks import TaskRoutes
from orchestrator.api.team import TeamRoutes

BODY_LIMIT = 1 << 20

Check = Callable[[], Awaitable[str]]
"""Asks one part of the world how it is: a short text when well; raises SandgateError when not."""


@dataclass(frozen=True, slots=True)
class HealthRoutes:
    """`/api/health` says that the process lives; `/api/doctor` says how everything it needs is."""

    checks: Mapping[str, Check]
    closed: Callable[[], str]
    """Why no run may start now; empty when one may."""
    proving: Callable[[], bool] = lambda: False
    """Whether the only reason for that is that it is being proven still."""

    def routes(self) -> list[web.RouteDef]:
        return [web.get("/api/health", self.health), web.get("/api/doctor", self.doctor)]

    async def health(self, _request: web.Request) -> web.Response:
        """`{status, closed, proving}`: the process lives; `closed` says why no run may start, or is empty.

        `proving`: it is only that the walls are being tried still.
        """
        said = {"status": "ok", "closed": self.closed(), "proving": self.proving()}
        return web.json_response(said)

    async def doctor(self, _request: web.Request) -> web.Response:
        """`[{check, ok, says}]`, all checks, whatever fails."""
        return web.json_response([await self._look(name, ask) for name, ask in self.checks.items()])

    async def _look(self, name: str, ask: Check) -> dict[str, object]:
        try:
            return {"check": name, "ok": True, "says": await ask()}
        except SandgateError as error:
            return {"check": name, "ok": False, "says": str(error)}


type Routes = (
    ApprovalRoutes
    | FrozenRoutes
    | HealthRoutes
    | MetricsRoutes
    | ModelRoutes
    | PostureRoutes
    | PushRoutes
    | PushRuleRoutes
    | RunRoutes
    | TaskRoutes
    | TeamRoutes
)


def make_api(
    token: str,
    *parts: Routes,
    metrics_token: str = "",
) -> web.Application:
    """Put the routes behind the token; `metrics_token` opens the metrics, and nothing else."""
    own = {METRICS: metrics_token} if metrics_token else {}
    asked = require_token(token, own)
    app = web.Application(middlewares=[errors, asked], client_max_size=BODY_LIMIT)
    for part in parts:
        app.add_routes(part.routes())
        if isinstance(part, RunRoutes):
            app.on_shutdown.append(part.close)
        if isinstance(part, ApprovalRoutes):
            app.on_shutdown.append(part.live.close)
    return app
