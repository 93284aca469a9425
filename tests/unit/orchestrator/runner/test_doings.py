"""The runs' doings, as the egress log asks for them while they are followed."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from entrance.ports import Cause
from entrance.session import RunId
from orchestrator.domain.run import RunState
from orchestrator.ports import Event
from orchestrator.runner.doings import Doings
from orchestrator.runner.follow import follow
from tests.fakes.clock import START
from tests.fakes.world import LIMITS, TASK, FakeWorld
from tests.waiting import until

RUN = RunId("r")
WANTED = 6
"""With the so manieth look somebody wants to know."""
CALL = '{"type":"tool_call","id":"c-1","name":"shell","input":{}}'


async def followed(fakes: FakeWorld) -> RunId:
    """A run whose harness has said what the world's says, and has been followed."""
    fakes.sandboxes.harness.exit_code = None
    for _ in range(2):
        await fakes.reconciler().handle(TASK.id)
    run = await fakes.runs.latest(TASK.id)
    assert run
    assert run.state is RunState.RUNNING
    return run.id


async def test_what_a_harness_says_is_what_its_run_is_doing(tmp_path: Path) -> None:
    fakes = FakeWorld(tmp_path)
    fakes.sandboxes.harness.lines = [CALL]
    run = await fakes.runs.get(await followed(fakes))
    world = fakes.world()  # as after a restart: what it was doing is in its stored events
    assert world.doings.of(run.id) is None
    sandbox = fakes.sandboxes.live[run.id]
    following = asyncio.ensure_future(follow(world, run, sandbox))
    async with asyncio.timeout(30):
        await until(lambda: getattr(world.doings.of(run.id), "tool", "") == "shell")
        known = world.doings.of(run.id)
        assert known is not None
        assert known.call == "c-1"
        fakes.sandboxes.harness.lines.append('{"type":"tool_result","id":"c-1","name":"shell"}')
        await until(lambda: not getattr(world.doings.of(run.id), "tool", ""))
        now = world.doings.of(run.id)
        assert now is not None
        assert known.step is not None
        assert now.step == known.step + 1
        fakes.clock.advance(100)
        await following


async def test_who_asks_while_no_tool_is_open_has_the_harness_looked_at_sooner() -> None:
    doings = Doings()
    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        tasks.create_task(doings.pause(RUN, 60))
        assert doings.of(RUN) is None
    doings.look(RUN)
    assert await doings.pause(RUN, 60)
    assert not await doings.pause(RUN, 0.03)
    doings.heard(RUN, [Event(0, START, "tool_call", {"id": "c", "name": "n"})])
    assert doings.of(RUN) == Cause(0, "n", "c", START.isoformat())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await doings.pause(RUN, 60)


async def test_a_harness_that_says_nothing_is_looked_at_ever_less_often_until_that_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look goes through three programs; most runs wait for their model most of the time."""
    fakes = FakeWorld(tmp_path)
    run = await fakes.runs.get(await followed(fakes))
    limits = replace(LIMITS, poll_s=0.5, quiet_poll_s=2.0, attention_s=15)
    world = replace(fakes.world(), limits=limits)
    pauses: list[float] = []

    async def pause(_: RunId, seconds: float) -> bool:
        pauses.append(seconds)
        fakes.clock.advance(seconds)
        await asyncio.sleep(0)
        return len(pauses) == WANTED

    monkeypatch.setattr(world.doings, "pause", pause)
    await follow(world, run, fakes.sandboxes.live[run.id])
    assert pauses == [0.5, 0.75, 1.125, 1.6875, 2.0, 2.0] * 2


async def test_a_run_that_is_over_is_forgotten() -> None:
    doings = Doings()
    doings.heard(RUN, [Event(0, START, "text", {})])
    doings.forget(RUN)
    assert doings.of(RUN) is None
