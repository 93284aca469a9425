"""The firewall is kept up: put right at once, said, and where that can't be done all is ended."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from structlog.testing import capture_logs

from entrance.errors import SandgateError, Unavailable
from orchestrator.guard import FirewallDown, Guard
from orchestrator.posture import Posture
from tests.fakes.clock import FakeClock
from tests.fakes.probing import WELL, Probing
from tests.waiting import until

DOWN = FirewallDown("nft table sg1: it is missing; it can't be made again: no")
NEVER = 3600.0


@dataclass
class FakeFirewall:
    """A firewall that somebody damages; whether its changes can be heard, and it can be mended."""

    wrong: Sequence[str] = ()
    stays: SandgateError | None = None
    deaf: bool = False
    looks: int = 0
    listening: int = 0
    _told: asyncio.Event = field(default_factory=asyncio.Event)

    def damage(self, *wrong: str) -> None:
        self.wrong = wrong
        self._told.set()

    async def changes(self) -> AsyncGenerator[None]:
        if self.deaf:
            raise Unavailable("no such socket")
        self.listening += 1
        yield
        while True:
            await self._told.wait()
            self._told.clear()
            if self.deaf:
                raise Unavailable("the socket is gone")
            yield

    async def restored(self) -> Sequence[str]:
        self.looks += 1
        if self.stays:
            raise self.stays
        was, self.wrong = self.wrong, ()
        return was


@dataclass
class House:
    """A guard with all that it works on."""

    firewall: FakeFirewall = field(default_factory=FakeFirewall)
    probe: Probing = field(default_factory=lambda: Probing(WELL))
    poll_s: float = NEVER
    patience_s: float = NEVER
    ended: int = 0
    refuses: SandgateError | None = None

    def __post_init__(self) -> None:
        self.posture = Posture(self.probe, again_s=NEVER)
        self.guard = Guard(
            self.firewall,
            self.posture,
            self._end_all,
            FakeClock().now,
            self.poll_s,
            self.patience_s,
        )

    async def _end_all(self, why: str) -> None:
        assert "can't be kept up" in why
        self.ended += 1
        if self.refuses:
            raise self.refuses

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Guard and posture at work, and the network proven."""
        async with asyncio.TaskGroup() as tasks:
            loops = [tasks.create_task(loop.run()) for loop in (self.guard, self.posture)]
            await until(lambda: not self.posture.closed or bool(self.posture.down))
            await until(lambda: bool(self.firewall.looks))
            yield
            for task in loops:
                task.cancel()


async def test_a_change_is_put_right_at_once_said_and_the_network_proven_anew() -> None:
    house = House()
    with capture_logs() as logs:
        async with house.watched():
            await until(lambda: house.firewall.listening == 1)
            proofs = house.probe.times
            house.firewall.damage("it is missing")
            await until(lambda: not house.firewall.wrong)
            await until(lambda: house.probe.times > proofs)
            await until(lambda: not house.posture.closed)
            said = await house.posture.check()
    assert "changed from outside (it is missing), and restored at 2026-01-05 09:00:00 UTC" in said
    (restored,) = [line for line in logs if line["event"] == "firewall_restored"]
    assert (restored["log_level"], list(restored["wrong"])) == ("error", ["it is missing"])
    assert not house.ended


async def test_no_run_starts_between_the_change_and_the_new_proof() -> None:
    house = House()
    async with house.watched():
        house.probe.finds = Unavailable("the engine is busy")
        house.firewall.damage("chain input was changed")
        await until(lambda: not house.firewall.wrong)
        assert house.posture.closed


async def test_a_firewall_that_can_not_be_restored_ends_everything_and_lets_nothing_start() -> None:
    house = House()
    async with house.watched():
        await until(lambda: house.firewall.listening == 1)
        house.firewall.stays = DOWN
        house.firewall.damage("it is missing")
        await until(lambda: house.ended > 0)
        assert "can't be kept up: nft table sg1: it is missing" in house.posture.closed
        await house.posture.look()
        assert house.posture.closed, "a probe that finds nothing doesn't take that back"
        house.firewall.stays = None
        house.firewall.damage("it is missing")
        await until(lambda: not house.posture.closed)


async def test_what_can_not_be_ended_is_asked_for_again() -> None:
    house = House(poll_s=0.001, refuses=Unavailable("the engine does not answer"))
    async with house.watched():
        house.firewall.stays = DOWN
        await until(lambda: house.ended > 2)
        assert house.posture.closed


async def test_one_bad_look_ends_nothing_yet_but_lets_nothing_start() -> None:
    house = House(poll_s=0.001)
    async with house.watched():
        house.firewall.stays = Unavailable("nft did not answer within 10 s")
        await until(lambda: "did not answer" in house.posture.closed)
        looks = house.firewall.looks
        await until(lambda: house.firewall.looks > looks + 3)
        house.firewall.stays = None
        await until(lambda: not house.posture.closed)
    assert not house.ended


async def test_what_stays_unknown_for_too_long_ends_everything() -> None:
    house = House(poll_s=0.001, patience_s=0.01)
    async with house.watched():
        house.firewall.stays = Unavailable("nft did not answer within 10 s")
        await until(lambda: house.ended > 0)
        assert "did not answer" in house.posture.closed


@pytest.mark.parametrize("deaf", ["from the start", "later"])
async def test_where_nothing_is_heard_it_looks_by_itself_and_says_so_once(deaf: str) -> None:
    house = House(FakeFirewall(deaf=deaf == "from the start"), poll_s=0.001)
    with capture_logs() as logs:
        async with house.watched():
            house.firewall.deaf = True
            house.firewall.damage("it is missing")
            await until(lambda: not house.firewall.wrong)
            looks = house.firewall.looks
            await until(lambda: house.firewall.looks > looks + 5)
            house.firewall.deaf = False
            await until(lambda: house.firewall.listening == (1 if deaf == "from the start" else 2))
    heard = [line for line in logs if line["event"] == "firewall_not_heard"]
    assert len(heard) <= 2, "not once each time it tries"


async def test_a_firewall_that_stays_down_is_logged_once() -> None:
    house = House(poll_s=0.001)
    with capture_logs() as logs:
        async with house.watched():
            house.firewall.stays = DOWN
            await until(lambda: house.ended > 5)
    assert [line["event"] for line in logs].count("firewall_down") == 1
