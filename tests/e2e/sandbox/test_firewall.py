"""The firewall's own table: what is done to it is heard of, and undone, in the moment of it."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from ipaddress import IPv4Address

import pytest

from orchestrator.adapters.firewall.admission import Firewall
from orchestrator.adapters.firewall.nft import nft
from orchestrator.adapters.firewall.standing import listed, wrong_with
from orchestrator.adapters.firewall.table import Bridge, table_text
from orchestrator.domain.dropped import Counted
from orchestrator.guard import FirewallDown, Guard
from orchestrator.posture import Finding, Posture
from tests.e2e import damage
from tests.e2e.sandbox.lab import new_bridge
from tests.waiting import until

pytestmark = pytest.mark.docker
AT_ONCE_S = 5.0
"""It takes some 50 ms; what a busy machine adds is not what is tested here."""


@pytest.fixture
def bridge() -> Iterator[Bridge]:
    bridge = new_bridge()
    nft("-f", "-", stdin=table_text(bridge, [], Counted(1)))
    yield bridge
    nft("-f", "-", stdin=f"add table inet {bridge.name}\ndelete table inet {bridge.name}\n")


@pytest.fixture
def firewall(bridge: Bridge) -> Firewall:
    return Firewall(bridge)


def proves_nothing() -> Sequence[Finding]:
    return ()


@asynccontextmanager
async def guarded(firewall: Firewall) -> AsyncIterator[Guard]:
    """A guard that looks only when it hears of something."""
    ended = asyncio.Event()

    async def end_all(_why: str) -> None:
        ended.set()

    posture = Posture(proves_nothing)
    guard = Guard(
        firewall, posture, end_all, lambda: datetime.now(UTC), poll_s=3600  # noqa: TID251 - a test's clock
    )  # fmt: skip
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(guard.run())
        yield guard
        task.cancel()


@pytest.mark.parametrize("how", damage.DAMAGES)
async def test_each_damage_is_seen_for_what_it_is(
    bridge: Bridge, firewall: Firewall, how: str
) -> None:
    assert await firewall.flaws() == []
    damage.DAMAGES[how](bridge)
    assert len(await firewall.flaws()) >= 1
    assert await firewall.restored() != []
    assert await firewall.restored() == []


@pytest.mark.parametrize("how", damage.DAMAGES)
async def test_each_damage_is_undone_at_once_and_who_was_let_in_stays_in(
    bridge: Bridge, firewall: Firewall, how: str
) -> None:
    address = str(bridge.subnet[9])
    await firewall.register(address)
    await firewall.register(str(bridge.subnet[10]))
    await firewall.unregister(str(bridge.subnet[10]))
    async with guarded(firewall) as guard:
        for _ in range(2):  # not only once
            await until(lambda: bool(guard.posture.closed))
            damage.DAMAGES[how](bridge)
            await until(lambda: wrong_with(listed(bridge), bridge) == [], AT_ONCE_S)
    assert await firewall.registered() == {address}
    assert "changed from outside" in guard.posture.closed


async def test_a_damage_that_a_heartbeat_undid_is_told_all_the_same(
    bridge: Bridge, firewall: Firewall
) -> None:
    damage.delete(bridge)
    await firewall.mend()
    assert await firewall.restored() == ["it is missing"]
    assert await firewall.restored() == []


async def test_who_was_let_in_before_our_time_stays_in_too(
    bridge: Bridge, firewall: Firewall
) -> None:
    """The runner was restarted: the table is what knows who runs."""
    nft("-f", "-", stdin=table_text(bridge, [IPv4Address(bridge.subnet[7])], Counted(1)))
    assert await firewall.restored() == []
    damage.delete(bridge)
    await firewall.restored()
    assert await firewall.registered() == {str(bridge.subnet[7])}


async def test_a_probe_that_is_under_way_is_not_shut_out(
    bridge: Bridge, firewall: Firewall
) -> None:
    await firewall.restored()
    nft("-f", "-", stdin=table_text(bridge, bridge.probes, Counted(1)))
    damage.open_a_door(bridge)
    await firewall.restored()
    assert str(bridge.probes[0]) in str(listed(bridge))


async def test_one_that_somebody_keeps_open_is_said_to_be_down(
    bridge: Bridge, firewall: Firewall
) -> None:
    with damage.taken_over(bridge), pytest.raises(FirewallDown, match="it can't be made again"):
        await firewall.restored()
    assert await firewall.restored() == ["it is missing"]
