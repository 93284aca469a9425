"""What the fence dropped is in the log once: over outages, crashes and tables that were made again."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from entrance.errors import SandgateError, Unavailable
from entrance.session import RunId
from orchestrator.domain.dropped import Anew, Count, Counted, Dropped, Flow, Owner, news
from orchestrator.drops import Drops
from tests.waiting import until

SSH = Flow(3, "10.0.0.2", "10.0.0.1", "tcp", 22)
DNS = Flow(4, "10.0.0.2", "192.0.2.1", "udp", 53)
REX = Owner(RunId("r1"))


@dataclass
class FakeCounters:
    """A table that counts."""

    generation: int = 7
    flows: dict[Flow, Count] = field(default_factory=dict)
    down: bool = False

    def drop(self, flow: Flow, packets: int = 1) -> None:
        was = self.flows.get(flow, Count())
        self.flows[flow] = Count(was.packets + packets, was.bytes + 60 * packets)

    async def dropped(self) -> Counted:
        if self.down:
            raise Unavailable("it is missing")
        return Counted(self.generation, dict(self.flows))


@dataclass
class FakeLog:
    """A log in memory, which a crash doesn't lose. `full`: so many more records can be written."""

    records: list[Dropped | Anew] = field(default_factory=list)
    full: int = 1 << 30
    slow: asyncio.Event | None = None
    kept: Counted | None = None

    async def told(self) -> Counted | None:
        generation, flows = 0, dict[Flow, Count]()
        for record in self.records:
            if isinstance(record, Anew):
                generation, flows = record.generation, {}
            else:
                flows[record.flow] = record.total
        return Counted(generation, flows) if generation else None

    async def record(self, drops: Sequence[Dropped | Anew]) -> Sequence[SandgateError | None]:
        if self.slow:
            await self.slow.wait()
        came: list[SandgateError | None] = []
        for drop in drops:
            if self.full:
                self.full -= 1
                self.records.append(drop)
            came.append(None if drop in self.records else Unavailable("no space left on device"))
        return came

    async def keep(self, told: Counted) -> None:
        self.kept = told

    def packets(self, flow: Flow) -> int:
        return sum(d.more.packets for d in self.drops if d.flow == flow)

    @property
    def drops(self) -> list[Dropped]:
        return [each for each in self.records if isinstance(each, Dropped)]


@dataclass
class House:
    """A table, a log, and who has which address."""

    counters: FakeCounters = field(default_factory=FakeCounters)
    log: FakeLog = field(default_factory=FakeLog)
    owners: dict[str, Owner] = field(default_factory=lambda: {"10.0.0.2": REX})
    nobody_knows: bool = False

    def drops(self) -> Drops:
        return Drops(self.counters, self.log, self._owners, every_s=0.001)

    async def _owners(self) -> Mapping[str, Owner]:
        if self.nobody_knows:
            raise Unavailable("the engine does not answer")
        return dict(self.owners)


async def test_each_look_records_what_was_dropped_since_the_last_one() -> None:
    house = House()
    drops = house.drops()
    house.counters.drop(SSH, 2)
    await drops.look()
    await drops.look()
    house.counters.drop(SSH)
    house.counters.drop(DNS)
    await drops.look()
    assert house.log.records == [
        Anew(7, 0),
        Dropped(SSH, REX, Count(2, 120), Count(2, 120), 7),
        Dropped(SSH, REX, Count(1, 60), Count(3, 180), 7),
        Dropped(DNS, REX, Count(1, 60), Count(1, 60), 7),
    ]


async def test_who_begins_anew_goes_on_from_the_log() -> None:
    house = House()
    house.counters.drop(SSH, 2)
    await house.drops().look()
    house.counters.drop(SSH, 5)
    await house.drops().look()
    await house.drops().look()
    assert house.log.packets(SSH) == 7
    assert [each for each in house.log.records if isinstance(each, Anew)] == [Anew(7, 0)]


async def test_a_log_that_is_full_in_the_middle_loses_and_doubles_nothing() -> None:
    house = House()
    drops = house.drops()
    for port in range(10):
        house.counters.drop(Flow(3, "10.0.0.2", "10.0.0.1", "tcp", port))
    house.log.full = 5
    with pytest.raises(Unavailable, match="no space left"):
        await drops.look()
    house.log.full = 100
    await drops.look()
    assert sorted(each.flow.port for each in house.log.drops) == list(range(10))


async def test_a_caller_that_goes_away_in_the_middle_doubles_nothing() -> None:
    house = House(log=FakeLog(slow=asyncio.Event()))
    assert house.log.slow
    drops = house.drops()
    house.counters.drop(SSH)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await drops.look()
    house.log.slow.set()
    await drops.look()
    assert house.log.packets(SSH) == 1


async def test_a_table_that_was_made_again_counts_anew_and_the_log_says_so() -> None:
    house = House()
    drops = house.drops()
    house.counters.drop(SSH, 5)
    await drops.look()
    house.counters.generation, house.counters.flows = 8, {}
    house.counters.drop(SSH, 6)
    await drops.look()
    assert house.log.records[-2:] == [
        Anew(8, 7),
        Dropped(SSH, REX, Count(6, 360), Count(6, 360), 8),
    ]


async def test_a_flow_that_made_room_begins_at_nothing() -> None:
    house = House()
    drops = house.drops()
    house.counters.drop(SSH, 5)
    await drops.look()
    del house.counters.flows[SSH]
    await drops.look()
    house.counters.drop(SSH, 7)
    await drops.look()
    assert house.log.packets(SSH) == 12


async def test_what_all_records_amount_to_is_kept_for_the_next_start() -> None:
    house = House()
    drops = house.drops()
    house.counters.drop(SSH, 5)
    await drops.look()
    assert house.log.kept == Counted(7, {SSH: Count(5, 300)})
    del house.counters.flows[SSH]
    await drops.look()
    assert house.log.kept == Counted(7)
    house.log.kept = None
    await drops.look()
    assert house.log.kept is None, "there was nothing new"


async def test_an_address_is_its_last_owners_until_it_has_another() -> None:
    house = House()
    drops = house.drops()
    house.counters.drop(SSH)
    await drops.settle()
    house.owners.clear()
    house.counters.drop(SSH)
    await drops.settle()
    house.owners["10.0.0.2"] = Owner(RunId("r2"))
    house.counters.drop(SSH)
    await drops.settle()
    assert [each.owner and each.owner.run for each in house.log.drops] == ["r1", "r1", "r2"]


async def test_what_nobody_owns_is_recorded_too() -> None:
    house = House(nobody_knows=True)
    house.counters.drop(SSH)
    await house.drops().look()
    assert house.log.drops[0].owner is None


async def test_an_outage_ends_nothing_and_is_said_once() -> None:
    house = House()
    house.counters.down = True
    house.counters.drop(SSH, 3)
    with capture_logs() as logs:
        async with asyncio.TaskGroup() as tasks:
            watching = tasks.create_task(house.drops().run())
            await until(lambda: bool(logs))
            house.counters.down = False
            await until(lambda: house.log.packets(SSH) == 3)
            watching.cancel()
    assert [line["event"] for line in logs] == ["drops_not_recorded"]


@given(st.lists(st.tuples(st.sampled_from([SSH, DNS, Flow()]), st.integers(1, 9), st.booleans())))
def test_whatever_comes_the_records_add_up(steps: list[tuple[Flow, int, bool]]) -> None:
    """A look after any of the drops, a new process at any look."""
    house, sent = House(), dict[Flow, int]()

    async def play() -> None:
        for flow, packets, looked in steps:
            house.counters.drop(flow, packets)
            sent[flow] = sent.get(flow, 0) + packets
            if looked:
                await house.drops().look()
        await house.drops().look()

    asyncio.run(play())
    assert {flow: house.log.packets(flow) for flow in sent} == sent


def test_a_sum_that_shrank_has_begun_anew() -> None:
    assert list(news({SSH: Count(5, 300)}, {SSH: Count(2, 120)})) == [(SSH, Count(2, 120))]
