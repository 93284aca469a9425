"""What the proxy tells the log again, as its answer was lost, is told as the same."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from proxy.recorder import Recorder
from tests.servers.recorder import RecorderServer, recorder_server
from tests.waiting import until

RECORD = {"kind": "http", "address": "10.0.0.2", "decision": "deny"}


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[RecorderServer]:
    async with recorder_server(tmp_path / "log.sock") as server:
        yield server


@pytest.fixture
async def recorder(log: RecorderServer) -> AsyncIterator[Recorder]:
    recorder = Recorder(log.path)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(recorder.run())
        await until(lambda: recorder.connected)
        yield recorder
        running.cancel()


async def restarted_without_an_answer(log: RecorderServer) -> None:
    """The log keeps what it is told, and dies before it says so."""
    await until(lambda: bool(log.decided))
    await log.stop()
    log.answering = "yes"
    await log.start()
    await until(lambda: len(log.decided) > 1)


async def test_a_decision_that_is_waited_for(log: RecorderServer, recorder: Recorder) -> None:
    log.answering = "kept"
    async with asyncio.TaskGroup() as group:
        deciding = group.create_task(recorder.decided(RECORD))
        await restarted_without_an_answer(log)
    first, again = log.decided
    assert deciding.result() == again["seq"]
    assert first["key"] == again["key"]
    assert await recorder.decided(RECORD)
    assert log.decided[-1]["key"] != first["key"]


async def test_a_refusal_of_what_is_broken_off(log: RecorderServer, recorder: Recorder) -> None:
    log.answering = "kept"
    recorder.broken_off(RECORD)
    await restarted_without_an_answer(log)
    with suppress(TimeoutError):
        await recorder.flush(timeout_s=10)
    first, again = log.decided
    assert first["key"] == again["key"]
