"""What was acknowledged is there, whatever kills the server."""

import asyncio
from pathlib import Path

from entrance.errors import Unavailable
from orchestrator.adapters.polarion import NewItem, PolarionClient, Text
from tests.servers.polarion import ADMIN_TOKEN, PolarionServer, client_of, polarion_server

WRITERS = 4
ENOUGH = 60


class Acknowledged:
    """What the server said it has done."""

    def __init__(self) -> None:
        self.items: list[str] = []
        self.comments: list[str] = []
        self.files: list[str] = []

    def __len__(self) -> int:
        return len(self.items) + len(self.comments) + len(self.files)

    async def write(self, client: PolarionClient, writer: int) -> None:
        """Write until the server is gone."""
        number = 0
        try:
            while True:
                number += 1
                item = await client.items.create("DEMO", NewItem("task", f"{writer}.{number}"))
                self.items.append(item)
                self.comments.append(await client.comments.add(item, Text("kept")))
                self.files.append(await client.attachments.add(item, "a.bin", b"\0" * 50_000))
        except Unavailable:
            return

    async def reach(self, count: int) -> None:
        async with asyncio.timeout(60):
            while len(self) < count:  # noqa: ASYNC110 - three lists grow; a look at them is simpler
                await asyncio.sleep(0.01)


async def test_a_kill_in_the_middle_of_writes_loses_nothing_acknowledged(tmp_path: Path) -> None:
    """kill -9 while four writers write items, comments and files, twice; all that was answered is there."""
    with polarion_server(tmp_path) as server:
        done = Acknowledged()
        async with client_of(server.base) as client:
            await client.projects.create("DEMO")
        for round_number in (1, 2):
            async with client_of(server.base) as client, asyncio.TaskGroup() as group:
                for writer in range(WRITERS):
                    group.create_task(done.write(client, writer))
                await done.reach(ENOUGH * round_number)
                server.kill()
            server.start()
        async with client_of(server.base) as client:
            await _assert_all_there(client, done)
        _assert_no_orphans(server, done)


async def _assert_all_there(client: PolarionClient, done: Acknowledged) -> None:
    there = [item.id async for item in client.items.query("type:task", project="DEMO")]
    assert set(done.items) <= set(there)
    assert len(there) == len(set(there)), "no id was given twice"
    kept: set[str] = set()
    for item in done.items:
        kept |= {comment.id for comment in await client.comments.of(item)}
    assert set(done.comments) <= kept
    for file in done.files:
        chunks = [chunk async for chunk in client.attachments.content(file)]
        assert b"".join(chunks) == b"\0" * 50_000


def _assert_no_orphans(server: PolarionServer, done: Acknowledged) -> None:
    """Files that a crash left without a record are gone after the next start."""
    kept = list((server.home / "data" / "attachments").iterdir())
    assert len(done.files) <= len(kept) <= len(done.files) + 2 * WRITERS


async def test_a_start_makes_the_administrator_and_the_agent_pool_and_nothing_else(
    tmp_path: Path,
) -> None:
    """And a later start changes nothing, but takes a new administrator's token."""
    with polarion_server(tmp_path) as server:
        async with client_of(server.base) as client:
            assert [one.id for one in await client.projects.readable()] == ["AGENTS"]
            assert not [item async for item in client.items.query("")]
            made = await client.items.create("AGENTS", NewItem("agent", "Rex"))
        assert server.stop() == 0
        assert "Traceback" not in server.log()
        server.start()
        async with client_of(server.base, ADMIN_TOKEN) as client:
            assert (await client.items.get(made)).title == "Rex"
            assert [one.id for one in await client.projects.readable()] == ["AGENTS"]
