"""What is recorded is heard once, from the moment on in which following began."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from orchestrator.telemetry.following import Following
from tests.fakes.egress_log import FakeEgressLog
from tests.waiting import until


async def test_only_what_comes_is_heard_across_segments(tmp_path: Path) -> None:
    log = FakeEgressLog(tmp_path / "log")
    log.attempt()
    heard: list[Mapping[str, Any]] = []
    following = Following(log.folder, [heard.append])
    await following.look()
    assert heard == []
    log.attempt()
    log.seal()
    log.attempt()
    await following.look()
    await following.look()
    assert [line["seq"] for line in heard] == list(range(4, 9))


async def test_a_log_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    heard: list[Mapping[str, Any]] = []
    following = Following(tmp_path / "log", [heard.append], poll_s=0.01)
    task = asyncio.ensure_future(following.run())
    await asyncio.sleep(0)
    log = FakeEgressLog(tmp_path / "log")
    await until(lambda: following._reader is not None)
    log.attempt()
    await until(lambda: len(heard) >= 2)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert [line["seq"] for line in heard if line["type"] != "opened"] == [2, 3]
