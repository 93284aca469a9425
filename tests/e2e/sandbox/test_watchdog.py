"""While the runner is away the network stays closed: by a program beside it, which lets nobody in."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from orchestrator.adapters.firewall.nft import nft
from orchestrator.adapters.firewall.standing import listed, wrong_with
from orchestrator.adapters.firewall.table import Bridge, registered_in, table_text
from orchestrator.domain.dropped import Counted
from orchestrator.stack.pids import record_pid
from orchestrator.stack.watchdog import look, watch
from tests.e2e import damage
from tests.e2e.sandbox.lab import new_bridge
from tests.waiting import until

pytestmark = pytest.mark.docker
AT_ONCE_S = 5.0
"""It takes some 50 ms; what a busy machine adds is not what is tested here."""


@pytest.fixture
def bridge() -> Iterator[Bridge]:
    bridge = new_bridge()
    nft("-f", "-", stdin=table_text(bridge, [bridge.subnet[9]], Counted(1)))
    yield bridge
    nft("-f", "-", stdin=f"add table inet {bridge.name}\ndelete table inet {bridge.name}\n")


def nothing_is_ended() -> None:
    raise AssertionError("the sandboxes were ended")


@asynccontextmanager
async def watched(bridge: Bridge, runner_pid: Path) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(watch(bridge, runner_pid, nothing_is_ended))
        yield
        task.cancel()


def registered(bridge: Bridge) -> set[str]:
    return {str(address) for address in registered_in(listed(bridge) or {}, bridge)}


@pytest.mark.parametrize("how", damage.DAMAGES)
async def test_what_falls_while_the_runner_is_away_is_up_again_with_nobody_let_in(
    bridge: Bridge, tmp_path: Path, how: str
) -> None:
    """CASE-20."""
    async with watched(bridge, tmp_path / "runner.pid"):
        for _ in range(2):  # not only once
            damage.DAMAGES[how](bridge)
            await until(lambda: wrong_with(listed(bridge), bridge) == [], AT_ONCE_S)
            assert registered(bridge) == set()


async def test_an_installation_that_is_gone_is_not_watched_any_more(
    bridge: Bridge, tmp_path: Path
) -> None:
    damage.delete(bridge)
    async with asyncio.timeout(AT_ONCE_S):
        await watch(bridge, tmp_path / "gone" / "runner.pid", nothing_is_ended)
    assert listed(bridge) is None


def test_a_whole_table_is_left_alone(bridge: Bridge) -> None:
    assert look(bridge, away=True, end_all=nothing_is_ended) == ""
    assert registered(bridge) == {str(bridge.subnet[9])}


async def test_while_the_runner_is_there_it_is_left_to_the_runner(
    bridge: Bridge, tmp_path: Path
) -> None:
    """It knows who is let in; two that mend would undo each other's work."""
    pid_file = tmp_path / "runner.pid"
    record_pid(pid_file, os.getpid())
    async with watched(bridge, pid_file):
        damage.delete(bridge)
        await asyncio.sleep(0.3)
        assert listed(bridge) is None
        pid_file.unlink()
        await until(lambda: wrong_with(listed(bridge), bridge) == [], AT_ONCE_S)


def test_what_can_not_be_closed_loses_its_sandboxes(bridge: Bridge) -> None:
    ended: list[bool] = []
    with damage.taken_over(bridge):
        said = look(bridge, away=True, end_all=lambda: ended.append(True))
    assert ended == [True]
    assert "can't be closed, its sandboxes were ended" in said
