"""The disks of tasks: one that isn't needed any more goes some days later, one too large ends its run."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

import structlog

from entrance.errors import SandgateError, Unavailable
from entrance.session import RunId, TaskId
from orchestrator.domain.retention import Fate, fate_of
from orchestrator.domain.run import Cause, Exit, Run, RunState
from orchestrator.ports import Clock, Runs, Tracker

log = structlog.get_logger()

EVERY_S = 3600.0
WATCHED_EVERY_S = 1.0


@dataclass(frozen=True, slots=True)
class KeptDisk:
    """A task's disk. `used_bytes`: what it takes of the host's; `over_since`: as it was marked."""

    task: TaskId
    used_bytes: int
    over_since: datetime | None = None


class KeptDisks(Protocol):
    """The disks of all tasks. Everything may raise Unavailable."""

    async def kept(self) -> Sequence[KeptDisk]:
        """Every task's disk."""
        ...

    async def mark(self, task: TaskId, over_since: datetime | None) -> None:
        """Note since when the task is over; None: it isn't."""
        ...

    async def purge(self, task: TaskId) -> None:
        """Remove the task's disk with all that is on it. Idempotent.

        Raises: Conflict when somebody uses it.
        """
        ...


@dataclass(frozen=True, slots=True)
class Retention:
    """Looks at every disk once an hour, and removes it `keep` after its task was seen to be over."""

    disks: KeptDisks
    tracker: Tracker
    runs: Runs
    clock: Clock
    keep: timedelta
    frozen: Callable[[TaskId], bool]
    """Whether a task's sandbox is kept for whoever looks into it."""
    every_s: float = EVERY_S

    async def run(self) -> None:
        """Sweep until cancelled; an outage is for the next sweep."""
        while True:
            try:
                await self.sweep()
            except SandgateError as error:
                log.warning("disks_not_swept", error=str(error))
            await asyncio.sleep(self.every_s)

    async def sweep(self) -> None:
        """Look at each disk. What can't be told of one task keeps its disk, and shields no other.

        Raises: Unavailable.
        """
        for disk in await self.disks.kept():
            try:
                await self._look_at(disk)
            except Unavailable:
                raise
            except SandgateError as error:
                log.warning("disk_not_judged", task=disk.task, error=str(error))

    async def _look_at(self, disk: KeptDisk) -> None:
        if self.frozen(disk.task):
            return
        now = self.clock.now()
        run, task = await self.runs.latest(disk.task), await self.tracker.task(disk.task)
        match fate_of(task, run, over_since=disk.over_since, now=now, keep=self.keep):
            case Fate.NEEDED:
                if disk.over_since:
                    await self.disks.mark(disk.task, None)
            case Fate.KEPT:
                if disk.over_since is None:
                    await self.disks.mark(disk.task, now)
                    log.info("disk_kept_for_now", task=disk.task, until=str(now + self.keep))
            case Fate.DUE:
                await self.disks.purge(disk.task)
                log.info("disk_removed", task=disk.task, bytes=disk.used_bytes)


class MeasuredDisks(Protocol):
    """Disks that nothing caps."""

    async def used(self, task: TaskId) -> int:
        """Bytes that the task's disk holds. Raises: Unavailable."""
        ...


@dataclass(frozen=True, slots=True)
class DiskWatch:
    """Where the kernel caps no disk: a run whose disk grows over the cap is ended, as soon as it is seen.

    `end` ends the run's sandbox at once; it may raise SandgateError, and is asked again then.
    """

    disks: MeasuredDisks
    runs: Runs
    end: Callable[[RunId, Exit], Awaitable[None]]
    cap_bytes: int
    every_s: float = WATCHED_EVERY_S

    async def run(self) -> None:
        """Watch until cancelled."""
        while True:
            try:
                await self.look()
            except SandgateError as error:
                log.warning("disks_not_watched", error=str(error))
            await asyncio.sleep(self.every_s)

    async def look(self) -> None:
        """Look at the disk of each run once. Trouble with one shields no other. Raises: SandgateError."""
        for run in await self.runs.active():
            if run.state is not RunState.RUNNING:
                continue
            try:
                await self._look_at(run)
            except SandgateError as error:
                log.warning("disk_not_watched", run=run.id, task=run.task, error=str(error))

    async def _look_at(self, run: Run) -> None:
        used = await self.disks.used(run.task)
        if used > self.cap_bytes:
            full = f"the task's disk held {used} bytes, and may hold {self.cap_bytes}"
            await self.end(run.id, Exit(None, Cause.DISK, full))
