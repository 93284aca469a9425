"""What the doors have held becomes items of the inbox."""

import asyncio
from pathlib import Path

from structlog.testing import capture_logs

from entrance.session import RunId
from orchestrator.approvals.holds import MOST, HeldRequest, Holds
from orchestrator.domain.run import RunState
from tests.fakes.approvals import Inbox
from tests.fakes.run import a_run
from tests.fakes.world import FakeWorld
from tests.waiting import until

URL = "https://a.example/x"


async def test_each_becomes_one_item_whatever_goes_wrong_with_others(tmp_path: Path) -> None:
    inbox = Inbox(FakeWorld(tmp_path))
    run = a_run(state=RunState.RUNNING)
    await inbox.fakes.runs.create(run)
    holds = Holds(inbox.asking)
    cause = {"step": 3, "tool": "Bash"}
    holds.tell(HeldRequest(RunId("nobody"), "GET", URL))
    holds.tell(HeldRequest(run.id, "GET", "https://10.0.0.1/"))
    holds.tell(HeldRequest(run.id, "GET", URL, cause))
    holds.tell(HeldRequest(run.id, "GET", URL, cause))
    holds.tell(HeldRequest(run.id, "GET", URL + "/2"))
    async with asyncio.TaskGroup() as tasks:
        loop = tasks.create_task(holds.run())
        await until(lambda: len(inbox.store.items) == 2)
        loop.cancel()
    assert {one.title for one in inbox.store.items.values()} == {f"GET {URL}", f"GET {URL}/2"}
    assert next(iter(inbox.store.items.values())).cause == cause


async def test_a_flood_is_cut_and_makes_nobody_wait(tmp_path: Path) -> None:
    holds = Holds(Inbox(FakeWorld(tmp_path)).asking)
    with capture_logs() as logs:
        for _ in range(MOST + 10):
            holds.tell(HeldRequest(RunId("r"), "GET", URL))
    assert [line["why"] for line in logs] == ["too many wait"] * 10
