"""The watcher: what it queues, and how it takes an outage."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import structlog
from structlog.testing import capture_logs

from entrance.errors import Malformed
from entrance.session import TaskId
from orchestrator.domain.run import RunState
from orchestrator.domain.task import TaskStatus
from orchestrator.domain.team import Engagement
from orchestrator.watcher import PATIENCE, Watcher
from tests.fakes.run import a_run
from tests.fakes.runs import FakeRuns
from tests.fakes.tracker import FakeTracker
from tests.fakes.world import AGENT, ENGAGEMENT, TASK
from tests.waiting import until


def tracker() -> FakeTracker:
    other = replace(TASK, id=TaskId("DEMO/DEMO-8"), status=TaskStatus.DONE)
    return FakeTracker(tasks=[TASK, other], agents=[AGENT], engagements=[ENGAGEMENT])


async def test_active_runs_come_first_and_then_the_tasks_that_wait() -> None:
    runs, added = FakeRuns(), list[str]()
    await runs.create(a_run(task=TaskId("DEMO/DEMO-3")))
    await runs.create(a_run(task=TaskId("DEMO/DEMO-4"), state=RunState.ENDED))
    await Watcher(tracker(), runs, added.append, 1).look()
    assert added == ["DEMO/DEMO-3", TASK.id]


async def test_a_task_that_waits_for_what_it_delegated_is_looked_at_now_and_then() -> None:
    """It costs some requests each time, and may wait for days."""
    added, polarion = list[str](), tracker()
    waiting = replace(TASK, id=TaskId("DEMO/DEMO-9"), status=TaskStatus.WAITING_INPUT)
    polarion.tasks[waiting.id] = waiting
    watcher = Watcher(polarion, FakeRuns(), added.append, 1)
    for _ in range(2 * PATIENCE):
        await watcher.look()
    assert added.count(waiting.id) == 2
    assert added[1] == waiting.id, "at once, after a start"
    assert added.count(TASK.id) == 2 * PATIENCE


async def test_runs_are_looked_after_while_polarion_is_out() -> None:
    runs, added, down = FakeRuns(), list[str](), tracker()
    down.down = True
    await runs.create(a_run(task=TaskId("DEMO/DEMO-3")))
    async with watching(Watcher(down, runs, added.append, 0.001)):
        await until(lambda: len(added) > 2)
    assert set(added) == {"DEMO/DEMO-3"}


async def test_an_outage_is_logged_once_and_so_is_its_end() -> None:
    looks, added, polarion = 0, list[str](), tracker()

    class Counting(FakeRuns):
        async def active(self) -> Any:
            nonlocal looks
            looks += 1
            return await super().active()

    with capture_logs() as logged:
        async with watching(Watcher(polarion, Counting(), added.append, 0.001)):
            for polarion.down in (True, False, True, False):
                seen = looks
                await until(lambda seen=seen: looks > seen + 3)  # type: ignore[misc]
    structlog.reset_defaults()
    assert [line["event"] for line in logged] == ["watch_failed", "watch_recovered"] * 2
    assert logged[0]["error"] == "Polarion is down"
    assert TASK.id in added


async def test_an_answer_that_can_not_be_read_does_not_end_the_watch() -> None:
    class Odd(FakeTracker):
        async def engagements(self) -> Sequence[Engagement]:
            if not self.comments:
                self.comments[TASK.id] = []
                raise Malformed("this is no JSON")
            return await super().engagements()

    added: list[str] = []
    odd = Odd(tasks=[TASK], agents=[AGENT], engagements=[ENGAGEMENT])
    async with watching(Watcher(odd, FakeRuns(), added.append, 0.001)):
        await until(lambda: bool(added))
    assert set(added) == {TASK.id}
    assert odd.comments, "the first answer was the one that can't be read"


@asynccontextmanager
async def watching(watcher: Watcher) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(watcher.run())
        yield
        task.cancel()
