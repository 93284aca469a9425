"""When the battery is run, and what follows from what it found."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from entrance.errors import Conflict, NotFound, Unavailable
from orchestrator.posture.ports import Waiver
from orchestrator.posture.proving import FAILED_AGAIN, PENDING, Proving
from orchestrator.posture.report import Report
from tests.fakes.clock import FakeClock
from tests.fakes.posture import CONFIGURATION, FakeBattery, FakeShelf, Key
from tests.waiting import until

DAY = timedelta(days=1)


@dataclass
class Site:
    """A proving, and what it is made of."""

    battery: FakeBattery = field(default_factory=FakeBattery)
    shelf: FakeShelf = field(default_factory=FakeShelf)
    clock: FakeClock = field(default_factory=FakeClock)
    key: Key = field(default_factory=Key)

    def proving(self) -> Proving:
        return Proving(
            self.battery, self.shelf, self.key, self.clock, "sg1", DAY, again_s=0.001, look_s=0.001
        )


async def test_nothing_may_start_before_the_battery_has_passed_once() -> None:
    site = Site()
    proving = site.proving()
    assert proving.closed == PENDING
    assert proving.pending
    await proving.prove("by hand")
    assert not proving.closed
    assert not proving.pending


async def test_it_runs_by_itself_once_and_then_rests() -> None:
    site = Site()
    proving = site.proving()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(proving.run())
        await until(lambda: not proving.closed)
        await asyncio.sleep(0.02)
        task.cancel()
    assert site.battery.times == 1
    assert site.shelf.reports[0].why == "installation"


async def test_after_a_restart_what_was_proven_is_proven() -> None:
    site = Site()
    await site.proving().prove("by hand")
    again = site.proving()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(again.run())
        await until(lambda: not again.closed)
        task.cancel()
    assert site.battery.times == 1


async def test_a_changed_configuration_is_proven_anew_before_anything_starts() -> None:
    site = Site()
    proving = site.proving()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(proving.run())
        await until(lambda: not proving.closed)
        site.battery.finds = {"one": "closed", "two": "reached"}
        site.battery.made = CONFIGURATION.model_copy(update={"kernel": "another"})
        await until(lambda: "two" in proving.closed)
        task.cancel()
    assert site.shelf.reports[-1].why == "change"


async def test_back_to_a_configuration_that_was_proven_nothing_is_run() -> None:
    site = Site()
    await site.proving().prove("by hand")
    site.battery.made = CONFIGURATION.model_copy(update={"kernel": "another"})
    await site.proving().prove("by hand")
    site.battery.made = CONFIGURATION
    proving = site.proving()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(proving.run())
        await until(lambda: not proving.closed)
        task.cancel()
    assert site.battery.times == 2


async def test_it_is_run_again_when_it_is_time() -> None:
    site = Site()
    proving = site.proving()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(proving.run())
        await until(lambda: site.battery.times == 1)
        site.clock.advance(DAY.total_seconds())
        await until(lambda: len(site.shelf.reports) == 2)
        task.cancel()
    assert site.shelf.reports[-1].why == "schedule"


async def test_a_failure_closes_the_gate_and_says_what_to_do() -> None:
    site = Site(battery=FakeBattery({"one": "reached 10.0.0.1:22", "two": "closed"}))
    proving = site.proving()
    report = await proving.prove("by hand")
    assert [one.name for one in report.failures(now=site.clock.now())] == ["one"]
    assert "one (found: reached 10.0.0.1:22; promised: Nothing gets out.)" in proving.closed
    assert "sandgate posture accept one" in proving.closed
    assert "two" not in proving.closed
    with pytest.raises(Unavailable, match="one"):
        await proving.check()


async def test_after_a_failure_it_is_tried_again_at_the_next_start_and_every_few_minutes() -> None:
    site = Site(battery=FakeBattery({"one": "reached", "two": "closed"}))
    await site.proving().prove("by hand")
    again = site.proving()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(again.run())
        await until(lambda: site.battery.times == 2)
        assert "one" in again.closed
        site.battery.finds["one"] = "closed"
        await asyncio.sleep(0.02)
        assert site.battery.times == 2
        site.clock.advance(FAILED_AGAIN.total_seconds())
        await until(lambda: not again.closed)
        task.cancel()
    assert [report.why for report in site.shelf.reports[1:]] == ["failure", "failure"]


async def test_a_battery_that_cannot_run_keeps_the_gate_closed_until_it_can() -> None:
    site = Site(battery=FakeBattery(trouble=Unavailable("no engine answers")))
    proving = site.proving()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(proving.run())
        await until(lambda: "no engine answers" in proving.closed)
        assert not proving.pending
        site.battery.trouble = None
        await until(lambda: not proving.closed)
        task.cancel()


async def test_one_that_cannot_run_on_schedule_leaves_the_last_word_standing() -> None:
    site = Site()
    proving = site.proving()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(proving.run())
        await until(lambda: not proving.closed)
        site.battery.trouble = Unavailable("the engine is busy")
        site.clock.advance(DAY.total_seconds())
        await until(lambda: site.battery.times > 3)
        assert not proving.closed
        task.cancel()


class FullShelf(FakeShelf):
    """Keeps nothing any more once it is full."""

    full = False

    async def keep(self, report: Report) -> None:
        if self.full:
            raise Unavailable("no space left on the device")
        await super().keep(report)


async def test_a_failure_that_cannot_be_kept_closes_the_gate_all_the_same() -> None:
    shelf = FullShelf()
    site = Site(shelf=shelf)
    proving = site.proving()
    await proving.prove("by hand")
    shelf.full, site.battery.finds = True, {"one": "reached 10.0.0.1:22", "two": "closed"}
    with pytest.raises(Unavailable, match="no space"):
        await proving.prove("by hand")
    assert proving.closed


async def test_what_a_person_accepts_by_name_opens_the_gate_and_stays_on_record() -> None:
    site = Site(battery=FakeBattery({"one": "reached", "two": "closed"}))
    proving = site.proving()
    await proving.prove("by hand")
    made = await proving.accept(Waiver("one", "the old switch; gone by May", "lead"))
    made.verify(site.key.public)
    assert not proving.closed
    assert proving.told()["accepted"] == ["one (lead)"]
    assert "1 accepted" in await proving.check()
    later = await proving.prove("by hand")
    assert [one.why for one in later.accepted] == ["the old switch; gone by May"]
    later.verify(site.key.public)


async def test_an_accepted_probe_that_finds_something_else_closes_the_gate_again() -> None:
    site = Site(battery=FakeBattery({"one": "reached", "two": "closed"}))
    proving = site.proving()
    await proving.prove("by hand")
    await proving.accept(Waiver("one", "known", "lead"))
    site.battery.finds["one"] = "reached, and more"
    await proving.prove("by hand")
    assert "one" in proving.closed
    assert proving.told()["accepted"] == []


async def test_an_acceptance_ends_when_it_was_said_to() -> None:
    site = Site(battery=FakeBattery({"one": "reached", "two": "closed"}))
    proving = site.proving()
    await proving.prove("by hand")
    await proving.accept(Waiver("one", "known", "lead", until=site.clock.now() + DAY))
    assert not proving.closed
    site.clock.advance(DAY.total_seconds())
    assert "one" in proving.closed


async def test_a_later_acceptance_takes_the_place_of_the_one_before() -> None:
    """Else nobody could put an end to one that was given without a date."""
    site = Site(battery=FakeBattery({"one": "reached", "two": "closed"}))
    proving = site.proving()
    await proving.prove("by hand")
    await proving.accept(Waiver("one", "known", "lead"))
    await proving.prove("by hand")
    await proving.accept(Waiver("one", "until the new switch", "lead", site.clock.now() + DAY))
    assert not proving.closed
    site.clock.advance(DAY.total_seconds())
    assert proving.told()["accepted"] == []
    assert "one" in proving.closed


async def test_only_what_failed_now_can_be_accepted() -> None:
    site = Site(battery=FakeBattery({"one": "reached", "two": "closed"}))
    proving = site.proving()
    with pytest.raises(NotFound):
        await proving.accept(Waiver("one", "known", "lead"))
    await proving.prove("by hand")
    with pytest.raises(NotFound, match="no probe three"):
        await proving.accept(Waiver("three", "known", "lead"))
    with pytest.raises(Conflict, match="did not fail"):
        await proving.accept(Waiver("two", "known", "lead"))
    with pytest.raises(Conflict, match="over already"):
        await proving.accept(Waiver("one", "known", "lead", until=site.clock.now()))
    assert not site.shelf.accepted


async def test_a_battery_that_is_tidying_up_is_waited_for() -> None:
    site = Site()
    proving = site.proving()
    site.battery.tidying = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(proving.prove("by hand"))
        await until(lambda: site.battery.times == 1)
        task.cancel()
        leaving = group.create_task(proving.idle())
        await asyncio.sleep(0.01)
        assert not leaving.done()
        site.battery.tidying.set()
    await proving.idle()


async def test_two_proofs_take_turns() -> None:
    site = Site()
    proving = site.proving()
    reports = await asyncio.gather(proving.prove("by hand"), proving.prove("by hand"))
    assert len({report.id for report in reports}) == 2
