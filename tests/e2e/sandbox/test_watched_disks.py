"""Disks that are watched: a sandbox has volumes of the engine, and one that holds too much is found out."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from entrance.errors import Conflict, Forbidden
from entrance.session import RunId, TaskId
from orchestrator.adapters.opensandbox.sandboxes import OpenSandboxes
from orchestrator.adapters.watched_disks import WatchedDisks
from orchestrator.disks import DiskWatch
from orchestrator.domain.run import Cause, Exit, RunState
from orchestrator.ports import SandboxSpec
from tests.e2e.sandbox.lab import TOKEN, Lab
from tests.fakes.run import a_run
from tests.fakes.runs import FakeRuns

pytestmark = pytest.mark.docker

TASK = TaskId("LAB/T-9")
MIB = 1 << 20
CAP = 32 * MIB


@pytest.fixture
async def disks(lab: Lab) -> AsyncIterator[WatchedDisks]:
    disks = WatchedDisks(
        lab.tasks, docker_host="", installation=lab.bridge.name, size_bytes=CAP, headroom_bytes=MIB
    )
    yield disks
    async with lab.sandboxes() as sandboxes:
        await sandboxes.kill(RunId("watched"))
    await disks.purge(TASK)


async def test_a_disk_that_grows_too_large_ends_its_run_and_is_kept_from_the_next(
    sandboxes: OpenSandboxes, disks: WatchedDisks
) -> None:
    """CASE-77, where nobody may mount: a typed end, and the next run doesn't begin on it."""
    spec = SandboxSpec(RunId("watched"), TASK, TOKEN, await disks.ensure(TASK), "native")
    sandbox = await sandboxes.create(spec)
    fill = "head -c 40M /dev/zero >/workspace/x && echo kept >$HOME/y && ln -s / /workspace/all"
    done = await sandboxes.execute(sandbox, ["sh", "-c", fill])
    assert done.exit_code == 0, done.output

    runs, ended = FakeRuns(), list[tuple[RunId, Exit]]()
    await runs.create(replace(a_run(task=TASK, state=RunState.RUNNING), id=spec.run))

    async def end(run: RunId, how: Exit) -> None:
        ended.append((run, how))
        await sandboxes.kill(run)

    await DiskWatch(disks, runs, end, CAP).look()
    ((run, how),) = ended
    assert (run, how.cause) == (spec.run, Cause.DISK)
    with pytest.raises(Forbidden, match="holds more than its 32 MiB"):
        await disks.ensure(TASK)
    (kept,) = await disks.kept()
    assert (kept.task, kept.used_bytes > 40 * MIB) == (TASK, True)
    await disks.purge(TASK)
    assert await disks.kept() == []


async def test_what_is_on_it_survives_a_run_and_a_disk_in_use_is_not_taken_away(
    sandboxes: OpenSandboxes, disks: WatchedDisks
) -> None:
    spec = SandboxSpec(RunId("watched"), TASK, TOKEN, await disks.ensure(TASK), "native")
    sandbox = await sandboxes.create(spec)
    await sandboxes.execute(sandbox, ["sh", "-c", "echo kept >/home/agent/y"])
    with pytest.raises(Conflict, match="is in use"):
        await disks.purge(TASK)
    await sandboxes.kill(spec.run)
    again = await sandboxes.create(replace(spec, mounts=await disks.ensure(TASK)))
    read = await sandboxes.execute(again, ["cat", "/home/agent/y"])
    assert read.output == "kept\n"
