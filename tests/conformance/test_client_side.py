"""Every scored scenario for clients passes with our client of servers, in both eras."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from entrance.errors import SandgateError
from tests.conformance.client import OURS, play, scenario_in
from tests.conformance.programs import Programs
from tests.conformance.suite import score

SCORED = {"2025-11-25": 18, "2026-07-28": 32}
BESIDE = OURS | {"json-schema-2020-12-preservation"}
"""Passed, but not scored: extensions, and what was added later."""
RELAY = Path(__file__).with_name("relay.py")
PATIENCE_S = 20
WAITING_MS = 100_000
"""So long a scenario may wait for its turn."""


@pytest.mark.parametrize("revision", SCORED)
async def test_every_scored_scenario_passes(tools: Programs, tmp_path: Path, revision: str) -> None:
    async with played() as port:
        relay = f"{sys.executable} -I -S {RELAY} {port}"
        told = "--command", relay, "--timeout", str(WAITING_MS)
        found = await score(tools, "client", revision, *told, folder=tmp_path)
    assert len(found.scored) == SCORED[revision], "the suite is not the pinned one"
    assert found.scored - found.passed == set(), found.said[-3000:]
    assert found.code == 0, found.said[-3000:]
    assert found.passed >= BESIDE, found.said[-3000:]


@asynccontextmanager
async def played() -> AsyncIterator[int]:
    """The port at which scenarios are taken, one after the other: one of them measures times."""
    turns = asyncio.Lock()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        trouble = "it crashed"
        try:
            async with turns, asyncio.timeout(PATIENCE_S):
                await play(scenario_in(await reader.readline()))
            trouble = ""
        except (SandgateError, TimeoutError) as error:
            trouble = f"{type(error).__name__}: {error}"
        finally:
            writer.write(trouble.encode())
            writer.close()

    async with await asyncio.start_server(take, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]
