"""The posture of the sandbox network: closed until it is proven, and again when it no longer is."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from entrance.errors import SandgateError, Unavailable
from orchestrator.posture import UNPROVEN, Finding, Posture
from tests.fakes.probing import LEAK, WELL, Probing
from tests.waiting import until


async def test_nothing_is_proven_before_the_first_look() -> None:
    assert Posture(Probing(WELL)).closed == UNPROVEN


async def test_a_closed_network_lets_runs_start() -> None:
    posture = Posture(Probing(WELL))
    await posture.look()
    assert not posture.closed
    assert await posture.check()


async def test_every_leak_is_named() -> None:
    posture = Posture(Probing(LEAK))
    with pytest.raises(
        Unavailable, match=r"outside 1\.1\.1\.1: reached; metadata service: reached"
    ):
        await posture.check()
    assert "door" not in posture.closed


@pytest.mark.parametrize(
    ("finds", "why"),
    [(Unavailable("no engine answers"), "no engine answers"), ([], "the probe tried nothing")],
    ids=["it could not run", "it tried nothing"],
)
async def test_a_probe_that_shows_nothing_proves_nothing(
    finds: Sequence[Finding] | SandgateError, why: str
) -> None:
    posture = Posture(Probing(finds))
    await posture.look()
    assert why in posture.closed


async def test_it_is_tried_again_until_it_is_proven_and_then_left_alone() -> None:
    probe = Probing(LEAK)
    posture = Posture(probe, again_s=0.001)
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(posture.run())
        await until(lambda: probe.times > 2)
        assert posture.closed
        probe.finds = WELL
        await until(lambda: not posture.closed)
        times = probe.times
        await asyncio.sleep(0.02)
        assert probe.times == times
        task.cancel()


async def test_a_later_look_that_fails_closes_it_until_it_is_proven_again() -> None:
    """`sandgate doctor` looks too: one busy moment of the engine must not close it for ever."""
    probe = Probing(WELL)
    posture = Posture(probe, again_s=0.001)
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(posture.run())
        await until(lambda: not posture.closed)
        probe.finds = Unavailable("the engine is busy")
        with pytest.raises(Unavailable, match="busy"):
            await posture.check()
        probe.finds = WELL
        await until(lambda: not posture.closed)
        task.cancel()


async def test_two_looks_at_once_take_turns() -> None:
    probe = Probing(WELL)
    posture = Posture(probe)
    await asyncio.gather(posture.look(), posture.look(), posture.check())
    assert probe.times == 3


async def test_a_doubt_closes_it_at_once_and_has_it_proven_anew() -> None:
    probe = Probing(WELL)
    posture = Posture(probe, again_s=3600)
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(posture.run())
        await until(lambda: not posture.closed)
        posture.doubt("the firewall was restored")
        assert posture.closed.startswith("the firewall was restored")
        await until(lambda: not posture.closed)
        assert probe.times == 2
        task.cancel()
    assert await posture.check() == (
        "every way out that was tried is closed; the firewall was restored"
    )


async def test_a_probe_of_before_the_doubt_proves_nothing() -> None:
    """It was under way when the firewall fell: what it tried first was tried behind whole walls."""
    probe = Probing(WELL)
    posture = Posture(probe)

    def probing() -> Sequence[Finding]:
        posture.doubt("the firewall was restored")
        return probe()

    posture.probe = probing
    await posture.look()
    assert posture.closed
    posture.probe = probe
    await posture.look()
    assert not posture.closed


async def test_of_many_incidents_the_newest_are_told() -> None:
    posture = Posture(Probing(WELL))
    for number in range(9):
        posture.doubt(f"incident {number}")
    assert (await posture.check()).endswith("incident 6; incident 7; incident 8")


@dataclass
class FakeWalls:
    """What the battery says."""

    closed: str = ""
    pending: bool = False


async def test_the_batterys_word_closes_the_gate_as_well() -> None:
    walls = FakeWalls("the walls don't hold")
    posture = Posture(Probing(WELL), walls=walls)
    await posture.look()
    assert posture.closed == "the walls don't hold"
    assert not posture.proving
    assert await posture.check(), "the network itself is closed"
    walls.closed = ""
    assert not posture.closed


async def test_it_is_being_proven_as_long_as_one_of_both_has_no_word() -> None:
    walls = FakeWalls("not yet", pending=True)
    posture = Posture(Probing(WELL), walls=walls)
    assert posture.proving
    await posture.look()
    assert posture.proving
    walls.pending = False
    assert not posture.proving
    posture.down = "no firewall"
    walls.pending = True
    assert not posture.proving
