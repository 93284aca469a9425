"""Runs: list, show, watch, cancel, transcript, refusals."""

import asyncio
import re
from dataclasses import dataclass, field

import orjson
import structlog
from aiohttp import web

from entrance.errors import Conflict, NotFound, SandgateError
from entrance.session import RunId, TaskId
from orchestrator.api.frozen import frozen_json
from orchestrator.api.shapes import (
    event_json,
    pull_request_json,
    run_json,
    run_told,
    whole_number,
)
from orchestrator.domain.ledger import refused
from orchestrator.domain.run import Run, changed
from orchestrator.runner.settle import proposed_later
from orchestrator.runner.transcript import write_transcript
from orchestrator.runner.world import World

log = structlog.get_logger()

KEEPALIVE_S = 10.0
"""A watcher hears something at least so often, so that no proxy in between gives the stream up."""
MOST_RUNS = 500
LAST_SEQ = 10**15
STREAM = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",  # a proxy in between must not hold events back
}
_RUN = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class RunRoutes:
    """The routes below `/api/runs`."""

    world: World
    keepalive_s: float = KEEPALIVE_S
    _closing: asyncio.Event = field(init=False, default_factory=asyncio.Event)

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/api/runs", self.listing),
            web.get("/api/runs/{run}", self.show),
            web.get("/api/runs/{run}/events", self.events),
            web.get("/api/runs/{run}/refusals", self.refusals),
            web.get("/api/runs/{run}/transcript", self.transcript),
            web.post("/api/runs/{run}/cancel", self.cancel),
            web.post("/api/runs/{run}/pull-request", self.propose),
        ]

    async def close(self, _app: web.Application) -> None:
        """End all watching: the runner stops. Watchers ask again by themselves."""
        self._closing.set()
        self.world.live.tell_all()

    async def listing(self, request: web.Request) -> web.Response:
        """The newest runs, newest first; `?task=` for those of one task, `?limit=` (1 to 500)."""
        limit = whole_number(request.query.get("limit", "50"), "limit", least=1, most=MOST_RUNS)
        task = request.query.get("task")
        runs = await self.world.runs.recent(limit, TaskId(task) if task else None)
        return _json([run_json(run, await self.world.runs.usage(run.id)) for run in runs])

    async def show(self, request: web.Request) -> web.Response:
        """One run, with what it pushed, and why it ended so."""
        run = await self._run(request)
        usage, lines = await self.world.runs.usage(run.id), await self.world.trail(run)
        frozen = self.world.freezes.of(run.id)
        told = run_told(run, usage, lines)
        return _json({**told, "frozen": frozen_json(frozen) if frozen else None})

    async def refusals(self, request: web.Request) -> web.Response:
        """What the door refused the run: `[{kind, subject, reason}]`."""
        run = await self._run(request)
        return _json(refused(await self.world.trail(run)))

    async def cancel(self, request: web.Request) -> web.Response:
        """Ask for the run's end; it settles as stopped, cancelled. 409 once it has ended."""
        run = await self._run(request)

        def cancelled(now: Run) -> Run | None:
            if not now.active:
                raise Conflict(f"run {now.id} has ended already: {now.outcome}")
            return None if now.cancelled_by else changed(now, cancelled_by="the API")

        run = await self.world.amend(run.id, cancelled)
        self.world.doings.look(run.id)
        return _json({"id": run.id, "state": run.state}, status=202)

    async def propose(self, request: web.Request) -> web.Response:
        """Open the pull request of a run that is over, or bring it up to date.

        Answers `{id, pull_request}`. 409 when nothing was submitted by it.
        """
        run = await proposed_later(self.world, await self._run(request))
        return _json({"id": run.id, "pull_request": pull_request_json(run)})

    async def transcript(self, request: web.Request) -> web.StreamResponse:
        """The transcript so far, JSON lines; the same as is attached to the run's record."""
        run = await self._run(request)
        path = await write_transcript(self.world, run, await self.world.trail(run))
        return web.FileResponse(path, headers={"Content-Type": "application/x-ndjson"})

    async def events(self, request: web.Request) -> web.StreamResponse:
        """Server-sent events after `?after=` or `Last-Event-ID`, live until the run has ended.

        `event`: one event, its number as the id. `run`: the run as it is now, after each batch of
        events and at least every ten seconds; the last one is in state `ended`.
        """
        run = await self._run(request)
        after = _after(request)
        response = web.StreamResponse(headers=STREAM)
        try:
            await response.prepare(request)
            await self._watch(run.id, after, response)
        except ConnectionError:
            pass  # they have left
        except SandgateError as error:  # nothing can be said here any more; they ask again
            log.warning("watching_broke_off", run=run.id, error=str(error))
        return response

    async def _watch(self, run: RunId, after: int, response: web.StreamResponse) -> None:
        with self.world.live.watch(run) as flag:
            while not self._closing.is_set():
                flag.clear()
                over = not (await self.world.runs.get(run)).active
                async for event in self.world.runs.events(run, after):
                    after = event.seq
                    await response.write(_sse("event", event_json(event), event.seq))
                now, usage = await self.world.runs.get(run), await self.world.runs.usage(run)
                if over or now.active:  # else it ended just now: its last events come first
                    await response.write(_sse("run", run_json(now, usage)))
                if over:
                    return
                await _wait(flag, self.keepalive_s if now.active else 0)

    async def _run(self, request: web.Request) -> Run:
        name = request.match_info["run"]
        unknown = f"there is no run {name[:64]}"
        if not _RUN.fullmatch(name):
            raise NotFound(unknown)
        try:
            return await self.world.runs.get(RunId(name))
        except NotFound as error:
            raise NotFound(unknown) from error


def _after(request: web.Request) -> int:
    """After which event the watcher wants to go on; -1: from the first."""
    said = request.headers.get("Last-Event-ID")
    if said is not None:
        return whole_number(said, "Last-Event-ID", least=-1, most=LAST_SEQ)
    return whole_number(request.query.get("after", "-1"), "after", least=-1, most=LAST_SEQ)


async def _wait(flag: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
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
