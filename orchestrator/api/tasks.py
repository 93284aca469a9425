"""Tasks: what is left of them on this machine."""

from dataclasses import dataclass

import structlog
from aiohttp import web

from entrance.errors import Conflict, NotFound
from entrance.session import TaskId
from orchestrator.disks import KeptDisks
from orchestrator.ports import Runs

log = structlog.get_logger()

TASK = "/api/tasks/{project}/{item}"


@dataclass(frozen=True, slots=True)
class TaskRoutes:
    """The routes below `/api/tasks/`."""

    runs: Runs
    disks: KeptDisks

    def routes(self) -> list[web.RouteDef]:
        return [web.delete(f"{TASK}/disk", self.purge)]

    async def purge(self, request: web.Request) -> web.Response:
        """Remove the task's disk, with its work that was not pushed and its conversations.

        Answers `{id, freed_bytes}`. 404 when it has none, 409 while a run of it goes on.
        """
        task = TaskId("{project}/{item}".format_map(request.match_info))
        disk = next((one for one in await self.disks.kept() if one.task == task), None)
        if disk is None:
            raise NotFound(f"task {task} has no disk here")
        run = await self.runs.latest(task)
        if run and run.active:
            raise Conflict(f"run {run.id} of {task} is {run.state}: cancel it, or let it end")
        await self.disks.purge(task)
        log.info("disk_removed", task=task, bytes=disk.used_bytes, by="the API")
        return web.json_response({"id": task, "freed_bytes": disk.used_bytes})
