"""Runs: list, show, watch, cancel, transcript, refusals."""

import asyncio
from dataclasses import dataclass

import orjson
from aiohttp import web

from entrance.errors import NotFound
from entrance.session import RunId
from orchestrator.api.shapes import event_json, run_json
from orchestrator.domain.ledger import refused
from orchestrator.domain.run import Run, changed
from orchestrator.runner.settle import write_transcript
from orchestrator.runner.world import World

KEEPALIVE_S = 10.0
"""A watcher hears something at least so often, so that no proxy in between gives the stream up."""


@dataclass(frozen=True, slots=True)
class RunRoutes:
    """The routes below `/api/runs`."""

    world: World

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/api/runs", self.listing),
            web.get("/api/runs/{run}", self.show),
            web.get("/api/runs/{run}/events", self.events),
            web.get("/api/runs/{run}/refusals", self.refusals),
            web.get("/api/runs/{run}/transcript", self.transcript),
            web.post("/api/runs/{run}/cancel", self.cancel),
        ]

    async def listing(self, request: web.Request) -> web.Response:
        """The newest runs, newest first; `?task=` for those of one task, `?limit=` (1 to 500)."""
        limit = min(max(_number(request.query.get("limit", "50"), "limit"), 1), 500)
        task = request.query.get("task", "")
        runs = [run for run in await self.world.runs.recent(limit) if task in {"", run.task}]
        return _json([run_json(run, await self.world.runs.usage(run.id)) for run in runs])

    async def show(self, request: web.Request) -> web.Response:
        """One run."""
        run = await self._run(request)
        return _json(run_json(run, await self.world.runs.usage(run.id)))

    async def refusals(self, request: web.Request) -> web.Response:
        """What the door refused the run: `[{kind, subject, reason}]`."""
        run = await self._run(request)
        return _json(refused(await self.world.trail(run.id)))

    async def cancel(self, request: web.Request) -> web.Response:
        """Ask for the run's end; it settles as stopped, cancelled."""
        run = await self._run(request)

        def cancelled(now: Run) -> Run | None:
            return changed(now, cancelled_by="the API") if now.active else None

        run = await self.world.amend(run.id, cancelled)
        return _json({"id": run.id, "state": run.state}, status=202)

    async def transcript(self, request: web.Request) -> web.StreamResponse:
        """The transcript so far, JSON lines; the same as is attached to the run's record."""
        run = await self._run(request)
        path = await write_transcript(self.world, run, await self.world.trail(run.id))
        return web.FileResponse(path, headers={"Content-Type": "application/x-ndjson"})

    async def events(self, request: web.Request) -> web.StreamResponse:
        """Server-sent events after `?after=` or `Last-Event-ID`, live until the run has ended.

        `event`: one event, its number as the id. `run`: the run as it is now, after each batch of
        events and at least every ten seconds; the last one is in state `ended`.
        """
        run = await self._run(request)
        after = _number(
            request.headers.get("Last-Event-ID") or request.query.get("after", "-1"), "after"
        )
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
        )
        await response.prepare(request)
        with self.world.live.watch(run.id) as flag:
            while True:
                flag.clear()
                over = not (await self.world.runs.get(run.id)).active
                async for event in self.world.runs.events(run.id, after):
                    after = event.seq
                    await response.write(_sse("event", event_json(event), event.seq))
                run = await self.world.runs.get(run.id)
                usage = await self.world.runs.usage(run.id)
                await response.write(_sse("run", run_json(run, usage)))
                if over:
                    return response
                await _wait(flag)

    async def _run(self, request: web.Request) -> Run:
        run = request.match_info["run"]
        try:
            return await self.world.runs.get(RunId(run))
        except NotFound as error:
            raise NotFound(f"there is no run {run}") from error


def _number(text: str, name: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise web.HTTPBadRequest(reason=f"{name}: a whole number is wanted") from error


async def _wait(flag: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(KEEPALIVE_S):
            await flag.wait()
    except TimeoutError:
        return


def _sse(kind: str, data: object, seq: int | None = None) -> bytes:
    number = f"id: {seq}\n" if seq is not None else ""
    return f"{number}event: {kind}\ndata: ".encode() + orjson.dumps(data, default=str) + b"\n\n"


def _json(data: object, status: int = 200) -> web.Response:
    return web.Response(
        body=orjson.dumps(data, default=str), status=status, content_type="application/json"
    )
