"""Tasks: what there is for agents to do, what it waits for, and what people decide about it."""

from dataclasses import dataclass

import structlog
from aiohttp import web

from entrance.errors import Conflict, NotFound
from entrance.session import TaskId
from orchestrator.api.shapes import BadInput, Words, body_of, task_json, task_told
from orchestrator.board import Board, Wish
from orchestrator.disks import KeptDisks
from orchestrator.domain.supervision import RULES, Decision

log = structlog.get_logger()

TASK = "/api/tasks/{project}/{item}"
DECISIONS = "|".join(Decision)
RUNS_TOLD = 20


@dataclass(frozen=True, slots=True)
class TaskRoutes:
    """The routes of tasks, but for the making of one."""

    board: Board
    disks: KeptDisks

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/api/tasks", self.listing),
            web.get(TASK, self.show),
            web.post(f"{TASK}/{{decision:{DECISIONS}}}", self.decide),
            web.delete(f"{TASK}/disk", self.purge),
        ]

    async def listing(self, request: web.Request) -> web.Response:
        """Tasks that agents have or had, with their newest run and what they wait for.

        Those that are done only with `?done=1`.
        """
        disks = await self._disks()
        listed = await self.board.listed(done=bool(request.query.get("done")))
        return web.json_response([task_json(one, disks.get(one.task.id)) for one in listed])

    async def show(self, request: web.Request) -> web.Response:
        """One task: its description, its comments, its newest runs, and what it waits for."""
        task = _task(request)
        seen, disks = await self.board.standing(task), await self._disks()
        thread = await self.board.tracker.thread(task)
        runs = await self.board.runs.recent(RUNS_TOLD, task)
        return web.json_response(task_told(seen, disks.get(task), thread, runs))

    async def decide(self, request: web.Request) -> web.Response:
        """`approve`, `send-back`, `answer` or `retry`, as a person: in Polarion it is theirs.

        Answers `{id, by, in_person}`; `in_person` is false where only the service user could do it,
        which then says in whose name. 409 when the task is in another status.
        """
        task, decision = _task(request), Decision(request.match_info["decision"])
        body = await body_of(request, Words)
        if RULES[decision].needs_words and not body.comment.strip():
            raise BadInput(
                f"comment: the agent can't go on without your words; {decision} needs them"
            )
        decided = await self.board.decide(task, Wish(decision, body.comment.strip(), body.user))
        return web.json_response({"id": task, "by": decided.user, "in_person": decided.in_person})

    async def purge(self, request: web.Request) -> web.Response:
        """Remove the task's disk, with its work that was not pushed and its conversations.

        Answers `{id, freed_bytes}`. 404 when it has none, 409 while a run of it goes on.
        """
        task = _task(request)
        freed = (await self._disks()).get(task)
        if freed is None:
            raise NotFound(f"task {task} has no disk here")
        run = await self.board.runs.latest(task)
        if run and run.active:
            raise Conflict(f"run {run.id} of {task} is {run.state}: cancel it, or let it end")
        await self.disks.purge(task)
        log.info("disk_removed", task=task, bytes=freed, by="the API")
        return web.json_response({"id": task, "freed_bytes": freed})

    async def _disks(self) -> dict[TaskId, int]:
        return {disk.task: disk.used_bytes for disk in await self.disks.kept()}


def _task(request: web.Request) -> TaskId:
    return TaskId("{project}/{item}".format_map(request.match_info))
