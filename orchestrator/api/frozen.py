"""Frozen sandboxes: what froze them, and what a person does with them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from entrance.errors import NotFound
from entrance.session import RunId
from orchestrator.domain.frozen import Frozen, told
from orchestrator.runner.thawing import discard, release
from orchestrator.runner.world import World

FROZEN = "/api/frozen/{run:[A-Za-z0-9_-]{1,64}}"


@dataclass(frozen=True, slots=True)
class FrozenRoutes:
    """The routes below `/api/frozen`. `wake` has a task looked at: it may go on."""

    world: World
    wake: Callable[[str], None]

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/api/frozen", self.listing),
            web.get(FROZEN, self.show),
            web.post(f"{FROZEN}/release", self.release),
            web.post(f"{FROZEN}/discard", self.discard),
        ]

    async def listing(self, request: web.Request) -> web.Response:
        """The sandboxes that are frozen, oldest first."""
        del request
        return web.json_response([frozen_json(one) for one in self.world.freezes.all()])

    async def show(self, request: web.Request) -> web.Response:
        """One of them, with the id of its sandbox, whose container is `sandbox-ID`."""
        frozen = self.world.freezes.of(_run(request))
        if frozen is None:
            raise NotFound(f"no sandbox of a run {_run(request)} is frozen")
        run = await self.world.runs.get(frozen.run)
        return web.json_response({**frozen_json(frozen), "sandbox": run.sandbox})

    async def release(self, request: web.Request) -> web.Response:
        """Remove the sandbox; the task's disk stays, and it can be tried again.

        404 when it isn't frozen, 409 while its run settles.
        """
        return self._done(await release(self.world, _run(request)))

    async def discard(self, request: web.Request) -> web.Response:
        """Remove the sandbox, and the task's disk with it. 404 and 409 as for `release`."""
        return self._done(await discard(self.world, _run(request)))

    def _done(self, frozen: Frozen) -> web.Response:
        self.wake(frozen.task)
        return web.json_response({"run": frozen.run, "task": frozen.task})


def frozen_json(frozen: Frozen) -> dict[str, Any]:
    """A frozen sandbox as people see it."""
    return {
        "run": frozen.run,
        "task": frozen.task,
        **told(frozen),
        "kept": frozen.kept,
        "alerted": frozen.alerted,
    }


def _run(request: web.Request) -> RunId:
    return RunId(request.match_info["run"])
