"""Tasks over HTTP."""

from entrance.session import TaskId
from orchestrator.domain.run import Outcome, RunState
from tests.fakes.run import a_run
from tests.servers.api import Api

TASK = TaskId("DEMO/DEMO-7")
DISK = f"/api/tasks/{TASK}/disk"


async def test_a_tasks_disk_is_removed_once(api: Api) -> None:
    api.disks.add(TASK, 5 << 20)
    api.disks.add("DEMO/DEMO-8")
    answer = await api.ask("DELETE", DISK)
    assert (answer.status, answer.json) == (200, {"id": TASK, "freed_bytes": 5 << 20})
    assert list(api.disks.there) == ["DEMO/DEMO-8"]
    assert (await api.ask("DELETE", DISK)).status == 404


async def test_a_disk_stays_as_long_as_a_run_goes_on(api: Api) -> None:
    api.disks.add(TASK)
    run = a_run(task=TASK, state=RunState.RUNNING)
    await api.fakes.runs.create(run)
    answer = await api.ask("DELETE", DISK)
    assert answer.status == 409
    assert answer.error["message"].startswith(f"run {run.id} of DEMO/DEMO-7 is running")
    assert api.disks.there


async def test_a_disk_that_is_mounted_without_a_run_stays(api: Api) -> None:
    api.disks.mounted.add(api.disks.add(TASK))
    await api.fakes.runs.create(a_run(task=TASK, state=RunState.ENDED, outcome=Outcome.SUBMITTED))
    assert (await api.ask("DELETE", DISK)).status == 409
    assert api.disks.there
