"""What pushes may bring: the rules, and what their findings mean here."""

from dataclasses import dataclass

from aiohttp import web

from entrance.errors import Conflict, NotFound
from entrance.push_policy import PushPolicy
from entrance.session import RunId
from orchestrator.domain.egress import Unreadable
from orchestrator.domain.push_demand import policy_json, tightened
from orchestrator.runner.world import World


@dataclass(frozen=True, slots=True)
class PushRuleRoutes:
    """The routes about the rules of pushes."""

    world: World

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/api/push-rules", self.rules),
            web.get("/api/runs/{run}/push-rules", self.of_run),
        ]

    async def rules(self, request: web.Request) -> web.Response:
        """What holds for pushes here, `?engagement=` for those of an engagement: `{rules, gate_paths, ...}`.

        Each rule is `{rule, mode, default, fixed, about}`, beside them `max_file_bytes` and
        `max_pack_bytes`. 409 for an engagement whose own can't be read.
        """
        engagement = request.query.get("engagement")
        return web.json_response(policy_json(await self._policy(engagement)))

    async def of_run(self, request: web.Request) -> web.Response:
        """What holds for the pushes of a run, as it was when it began; 404 before it has a session."""
        run = await self.world.runs.get(RunId(request.match_info["run"]))
        if run.session is None:
            raise NotFound(f"run {run.id} is not open: nothing holds for its pushes")
        return web.json_response(policy_json(run.session.push_policy))

    async def _policy(self, engagement: str | None) -> PushPolicy:
        if engagement is None:
            return self.world.pushes
        hired = {one.id: one for one in await self.world.tracker.engagements()}
        if engagement not in hired:
            raise NotFound(f"there is no active engagement {engagement}")
        asked = hired[engagement].pushes
        if isinstance(asked, Unreadable):
            raise Conflict(f"{asked.reason}; none of its runs starts")
        return tightened(self.world.pushes, asked)
