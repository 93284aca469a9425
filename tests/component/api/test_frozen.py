"""Frozen sandboxes over HTTP: list, show, release, discard."""

from dataclasses import replace

import pytest

from entrance.session import RunId
from orchestrator.domain.run import RunState, changed
from orchestrator.ports import Sandbox
from tests.fakes.frozen import FROZEN
from tests.fakes.run import a_run
from tests.fakes.world import TASK
from tests.servers.api import Api

RUN = "r1"


@pytest.fixture
async def frozen(api: Api) -> Api:
    """An API where the sandbox of one run is frozen."""
    await api.fakes.runs.create(
        a_run(id=RunId(RUN), task=TASK.id, state=RunState.ENDED, sandbox="sb-1")
    )
    api.fakes.sandboxes.live[RunId(RUN)] = Sandbox("sb-1", "10.0.0.2", "token")
    await api.world.freezes.keep(replace(FROZEN, kept=True))
    return api


async def test_what_is_frozen_is_listed_and_shown(frozen: Api) -> None:
    [listed] = (await frozen.ask("GET", "/api/frozen")).json
    assert (listed["run"], listed["canary"], listed["kept"]) == (RUN, "aws-secret", True)
    shown = (await frozen.ask("GET", f"/api/frozen/{RUN}")).json
    assert shown == {**listed, "sandbox": "sb-1"}


async def test_its_run_says_so(frozen: Api) -> None:
    assert (await frozen.ask("GET", f"/api/runs/{RUN}")).json["frozen"]["where"] == "a pushed pack"
    await frozen.fakes.runs.create(a_run(id=RunId("r2")))
    assert (await frozen.ask("GET", "/api/runs/r2")).json["frozen"] is None


async def test_its_task_waits_for_somebody_to_look(frozen: Api) -> None:
    task = (await frozen.ask("GET", f"/api/tasks/{TASK.id}")).json
    assert f"sandgate frozen show {RUN}" in task["waits_for"]


@pytest.mark.parametrize("decision", ["release", "discard"])
async def test_it_is_let_go_once(frozen: Api, decision: str) -> None:
    answer = await frozen.ask("POST", f"/api/frozen/{RUN}/{decision}")
    assert (answer.status, answer.json) == (200, {"run": RUN, "task": TASK.id})
    assert frozen.fakes.sandboxes.live == {}
    assert bool(frozen.fakes.disks.purged) == (decision == "discard")
    assert frozen.woken == [TASK.id]
    assert (await frozen.ask("POST", f"/api/frozen/{RUN}/{decision}")).status == 404
    assert (await frozen.ask("GET", "/api/frozen")).json == []


async def test_one_whose_run_settles_is_not_let_go(frozen: Api) -> None:
    run = await frozen.fakes.runs.get(RunId(RUN))
    await frozen.fakes.runs.replace(changed(run, state=RunState.SETTLING))
    assert (await frozen.ask("POST", f"/api/frozen/{RUN}/release")).status == 409


async def test_what_is_not_frozen_is_not_found(api: Api) -> None:
    assert (await api.ask("GET", "/api/frozen/r9")).status == 404
    assert (await api.ask("GET", "/api/frozen/no%20name")).status == 404
