"""observe -> plan -> perform, for one task at a time.

What an error means to the loop is a table: it is what the caller does about it that its class says.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, assert_never

import structlog

from entrance.errors import Conflict, Forbidden, Malformed, NotFound, SandgateError, Unavailable
from entrance.session import RunId, TaskId
from orchestrator.domain.delegation import Part, all_over
from orchestrator.domain.plan import (
    Finish,
    Follow,
    Idle,
    Observed,
    Prepare,
    Refuse,
    SandboxState,
    Settle,
    StartRun,
    Step,
    Wait,
    plan,
    waits_for_parts,
)
from orchestrator.domain.run import Cause, Exit, Run, RunState
from orchestrator.domain.task import Task
from orchestrator.domain.team import Engagement
from orchestrator.ports import Sandbox
from orchestrator.runner.finish import finish
from orchestrator.runner.follow import follow
from orchestrator.runner.order import Order
from orchestrator.runner.parts import parts_of, tell_parts
from orchestrator.runner.prepare import prepare
from orchestrator.runner.settle import settle
from orchestrator.runner.start import Wanted, start_run
from orchestrator.runner.world import World

log = structlog.get_logger()

AT_ONCE = 0.0
SOON_S = 1.0
WAIT_S = 3.0


@dataclass
class Reconciler:
    """Brings one task to where it should be, a step at a time.

    `closed` says why no run may start now (a failing posture probe), or is empty.
    """

    world: World
    new_id: Callable[[], RunId]
    closed: Callable[[], str]
    proven: Callable[[], Mapping[str, Any]] = dict
    """What the record of a run says of the walls that it is run behind."""
    waits: dict[TaskId, str] = field(default_factory=dict)
    """Why each task that waits now does so; each looks again every few seconds."""
    _sandboxes: dict[RunId, Sandbox] = field(default_factory=dict)

    async def handle(self, key: str) -> float | None:
        """Do the next step for the task `key`. Returns when it wants to be asked again, in seconds."""
        task = TaskId(key)
        structlog.contextvars.bind_contextvars(task=task)
        try:
            seen = await self.observe(task)
            step = plan(seen)
            again = await self.perform(task, seen, step)
        except Conflict:
            return AT_ONCE
        except Unavailable as error:
            if self._waits_anew(task, str(error)):
                log.warning("step_postponed", error=str(error))
            with suppress(SandgateError):
                await self._say_why(await self.world.runs.latest(task), str(error))
            return error.retry_after_s or WAIT_S
        except (Forbidden, Malformed, NotFound) as error:
            return await self._give_up(task, error)
        finally:
            structlog.contextvars.unbind_contextvars("task")
        if not isinstance(step, Wait):
            self.waits.pop(task, None)
        return again

    async def observe(self, task: TaskId) -> Observed:
        """Read the world around a task. While a run works, Polarion isn't needed, and isn't asked."""
        world = self.world
        run = await world.runs.latest(task)
        now, closed = world.clock.now(), self.closed()
        frozen = world.freezes.said_of(task)
        if run and run.state in {RunState.RUNNING, RunState.SETTLING}:
            found = SandboxState.NONE if frozen else await self._sandbox_of(run)
            return Observed(now, None, run, sandbox=found, frozen=frozen, closed=closed)
        seen_task = await world.tracker.task(task)
        parts = await self._parts(run, seen_task)
        if parts and not all_over(parts):
            return Observed(now, seen_task, run, parts=parts, closed=closed)
        engagement = await self._engagement(run, seen_task)
        busy = engagement is not None and any(
            other.agent == engagement.bot and other.task != task
            for other in await world.runs.active()
        )
        # Many tasks may wait for one busy agent, and each looks often: they don't read it each time.
        agent = await world.tracker.agent(engagement.bot) if engagement and not busy else None
        return Observed(
            now,
            seen_task,
            run,
            engagement,
            agent,
            agent_busy=busy,
            harnesses=world.offered,
            parts=parts,
            unspoken=world.unspoken(agent.harness, agent.model) if agent else "",
            frozen=frozen,
            closed=closed,
        )

    async def perform(self, task: TaskId, seen: Observed, step: Step) -> float | None:
        """Do one step. Returns when to look again; None: not by ourselves."""
        match step:
            case Idle():
                return None
            case Wait(reason):
                if self._waits_anew(task, reason):
                    log.info("waiting", reason=reason)
                await self._say_why(seen.run, reason)
                return WAIT_S
            case Refuse() | StartRun():
                await self._begin(seen, step)
            case Prepare() | Follow() | Finish() | Settle():
                await self._go_on(seen, step)
            case _:
                assert_never(step)
        return AT_ONCE

    def _waits_anew(self, task: TaskId, reason: str) -> bool:
        """Remember why the task waits; whether that is news: else the log would hold nothing else."""
        before, self.waits[task] = self.waits.get(task), reason
        return reason != before

    async def _say_why(self, run: Run | None, reason: str) -> None:
        """Tell whoever watches the run why it doesn't go on."""
        if run and run.active:
            await self.world.note_once(run.id, "phase", {"state": str(run.state), "waits": reason})

    async def _begin(self, seen: Observed, step: Refuse | StartRun) -> None:
        task, tracker = seen.task, self.world.tracker
        match step:
            case Refuse(reason) if task:
                await tracker.comment(task.id, "Can't be run", reason)
                await tracker.act(task.id, "fail")
            case StartRun(trigger) if task and seen.agent and seen.engagement:
                await tell_parts(tracker, task.id, seen.parts)
                wanted = Wanted(task, seen.agent, seen.engagement, trigger)
                await start_run(self.world, wanted, self.new_id())

    async def _go_on(self, seen: Observed, step: Prepare | Follow | Finish | Settle) -> None:
        world, run = self.world, seen.run
        if run is None:
            return
        match step:
            case Prepare() if seen.task and seen.agent and seen.engagement:
                walls = self.proven()
                await prepare(world, Order(run, seen.task, seen.agent, seen.engagement, walls))
            case Prepare():
                gone = "the task, its agent or its engagement is gone"
                await finish(world, run, Exit(None, Cause.PREPARATION, gone))
            case Follow():
                await follow(world, run, self._sandboxes[run.id])
            case Finish(how):
                await finish(world, run, how)
            case Settle():
                await settle(world, run)
                self._sandboxes.pop(run.id, None)

    async def _sandbox_of(self, run: Run) -> SandboxState:
        if run.state is RunState.SETTLING:
            return SandboxState.NONE
        sandbox = await self.world.sandboxes.find(run.id, self.world.execd_token(run.id))
        if sandbox is None:
            return SandboxState.LOST
        self._sandboxes[run.id] = sandbox
        return SandboxState.LIVE

    async def _parts(self, run: Run | None, task: Task | None) -> tuple[Part, ...]:
        waits = task is not None and waits_for_parts(task, run)
        world = self.world
        return await parts_of(world.runs, world.tracker, task.id) if task and waits else ()

    async def _engagement(self, run: Run | None, task: Task | None) -> Engagement | None:
        engagements = await self.world.tracker.engagements()
        if run and run.active:
            return next((e for e in engagements if e.id == run.engagement), None)
        if task is None:
            return None
        return next(
            (e for e in engagements if e.project == task.project and e.bot in task.assignees), None
        )

    async def _give_up(self, task: TaskId, error: SandgateError) -> float | None:
        """Our own credential or the other side's answer is wrong: a retry would not help the run."""
        if self._waits_anew(task, str(error)):
            log.error("step_failed", error=str(error), kind=type(error).__name__)
        run = await self.world.runs.latest(task)
        if run and run.state in {RunState.QUEUED, RunState.PREPARING, RunState.RUNNING}:
            await finish(self.world, run, Exit(None, Cause.PREPARATION, str(error)))
            return AT_ONCE
        return WAIT_S
