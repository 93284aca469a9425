"""The posture: what the battery found, run it now, accept what it found."""

import asyncio
from dataclasses import dataclass
from typing import Any

import orjson
import structlog
from aiohttp import web

from entrance.errors import SandgateError
from orchestrator.api.shapes import Accept, body_of
from orchestrator.posture.ports import Waiver
from orchestrator.posture.proving import Proving
from orchestrator.posture.report import Report

log = structlog.get_logger()

STREAM = {"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
PAUSE_S = 0.1
"""Between two words about how far it is."""


@dataclass(frozen=True, slots=True)
class PostureRoutes:
    """The routes below `/api/posture`."""

    proving: Proving

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/api/posture", self.show),
            web.post("/api/posture/run", self.run),
            web.post("/api/posture/accept", self.accept),
        ]

    async def show(self, _request: web.Request) -> web.Response:
        """`{closed, pending, line, report, accepted}`: the newest report of the configuration as it is now.

        `closed`: why no run may start, as far as the battery knows. `accepted`: what counts now.
        """
        report, accepted = self.proving.now()
        told = {
            "closed": self.proving.closed,
            "pending": self.proving.pending,
            "line": self.proving.in_a_line(),
            "report": report.model_dump(mode="json") if report else None,
            "accepted": [one.model_dump(mode="json") for one in accepted],
        }
        return _json(told)

    async def run(self, request: web.Request) -> web.StreamResponse:
        """Run the battery now. Server-sent events: `doing` how far it is, then `report`, or `error`."""
        response = web.StreamResponse(headers=STREAM)
        await response.prepare(request)
        doing: list[str] = ["waiting for its turn"]
        async with asyncio.TaskGroup() as group:
            proof = group.create_task(self._prove(doing))
            said = ""
            while not proof.done():
                if doing[-1] != said:
                    said = doing[-1]
                    await response.write(_event("doing", {"text": said}))
                await asyncio.wait([proof], timeout=PAUSE_S)
        kind, data = proof.result()
        await response.write(_event(kind, data))
        return response

    async def accept(self, request: web.Request) -> web.Response:
        """Accept a probe's failure, by name: until it finds something else, or until a time."""
        asked = await body_of(request, Accept)
        made = await self.proving.accept(Waiver(asked.probe, asked.why, asked.by, asked.until))
        return _json(made.model_dump(mode="json"), status=201)

    async def _prove(self, doing: list[str]) -> tuple[str, dict[str, Any]]:
        try:
            report = await self.proving.prove("by hand", doing.append)
        except SandgateError as error:
            return "error", {"message": str(error)}
        return "report", told_of(self.proving, report)


def told_of(proving: Proving, report: Report) -> dict[str, Any]:
    """A report, with what of it failed and isn't accepted."""
    failed = report.failures(now=proving.clock.now())
    return {"report": report.model_dump(mode="json"), "failed": [tried.name for tried in failed]}


def _event(kind: str, data: object) -> bytes:
    return f"event: {kind}\ndata: ".encode() + orjson.dumps(data) + b"\n\n"


def _json(data: object, status: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(data), status=status, content_type="application/json")
