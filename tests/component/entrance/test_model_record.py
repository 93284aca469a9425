"""No byte of a model call leaves before the decision about it is on the disk."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import ClientSession

from tests.fakes.disk import FakeDisk
from tests.servers.anthropic import MODEL, ModelServer, model_server
from tests.servers.door import RUN, Door, open_door
from tests.waiting import until

HELLO = {"model": MODEL, "max_tokens": 20, "messages": [{"role": "user", "content": "Hi"}]}


class Listener:
    """A provider that takes connections and says nothing, or says it before it is asked."""

    def __init__(self) -> None:
        self.connections = 0
        self.got = b""
        self.hasty = b""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        writer.write(self.hasty)
        while part := await reader.read(1000):
            self.got += part
        writer.close()


@asynccontextmanager
async def listening(folder: Path, disk: FakeDisk) -> AsyncIterator[tuple[Listener, Door]]:
    listener = Listener()
    server = await asyncio.start_server(listener.handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with open_door(folder, ModelServer(f"http://127.0.0.1:{port}"), disk=disk) as door:
        yield listener, door
    server.close()
    await server.wait_closed()


@pytest.fixture
def disk() -> FakeDisk:
    return FakeDisk()


async def ask(http: ClientSession, door: Door) -> tuple[int, str]:
    url = f"{door.url}/model/anthropic/v1/messages"
    async with http.post(url, json=HELLO, headers=door.bearer) as answer:
        return answer.status, await answer.text()


async def begun(http: ClientSession, door: Door) -> int:
    """The status of an answer that has begun."""
    url = f"{door.url}/model/anthropic/v1/messages"
    async with http.post(url, json=HELLO | {"stream": True}, headers=door.bearer) as answer:
        return answer.status


async def test_the_connection_is_made_meanwhile_and_nothing_sent(
    tmp_path: Path, http: ClientSession, disk: FakeDisk
) -> None:
    async with listening(tmp_path, disk) as (listener, door), asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(ask(http, door))
        await until(lambda: listener.connections == 1)
        await asyncio.sleep(0.1)
        assert listener.got == b""
        disk.end()
        await until(lambda: listener.got.endswith(b"}"))
        assert listener.got.startswith(b"POST /v1/messages HTTP/1.1\r\n")
        asking.cancel()


async def test_a_decision_that_can_not_be_recorded_is_not_acted_upon(
    tmp_path: Path, http: ClientSession, disk: FakeDisk
) -> None:
    async with listening(tmp_path, disk) as (listener, door), asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(ask(http, door))
        await until(lambda: listener.connections == 1)
        disk.end(OSError("no space left on device"))
        status, text = await asking
        assert (status, "can't be recorded" in text) == (503, True)
        assert listener.got == b""
        assert RUN not in door.meter.usage
        second = tasks.create_task(ask(http, door))
        await until(lambda: listener.got.endswith(b"}"))
        second.cancel()
    assert [line["type"] for line in door.lines()] == ["decided", "outcome"]


async def test_an_answer_before_the_question_is_not_passed_on_before_the_record(
    tmp_path: Path, http: ClientSession, disk: FakeDisk
) -> None:
    async with listening(tmp_path, disk) as (listener, door), asyncio.TaskGroup() as tasks:
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
        listener.hasty = head + b"content-length: 8\r\n\r\ndata: 1\n"
        asking = tasks.create_task(begun(http, door))
        await until(lambda: listener.connections == 1)
        await asyncio.sleep(0.1)
        assert not asking.done()
        disk.end()
        assert await asking == 200


async def test_a_client_that_leaves_before_the_record_is_there_pays_nothing(
    tmp_path: Path, http: ClientSession, disk: FakeDisk
) -> None:
    async with listening(tmp_path, disk) as (listener, door):
        async with asyncio.TaskGroup() as tasks:
            asking = tasks.create_task(ask(http, door))
            await until(lambda: listener.connections == 1)
            asking.cancel()
        await asyncio.sleep(0.05)
        disk.end()
        await until(lambda: len(door.lines("outcome")) == 1)
        assert door.lines("outcome")[0]["result"] == "cancelled"
        assert listener.got == b""
        assert RUN not in door.meter.usage


async def test_a_missing_key_is_told_after_the_record(
    tmp_path: Path, http: ClientSession, disk: FakeDisk
) -> None:
    async with (
        model_server() as model,
        open_door(tmp_path, model, disk=disk) as door,
        asyncio.TaskGroup() as tasks,
    ):
        await door.secrets.delete("model-key")
        asking = tasks.create_task(ask(http, door))
        await until(lambda: bool(door.lines("model_call")))
        await asyncio.sleep(0.1)
        assert not asking.done()
        disk.end()
        assert (await asking)[0] == 403
