"""What every `orchestrator.ports.Runs` promises: the fake, and PocketBase as it is installed."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from entrance.errors import Conflict, NotFound, Unavailable
from entrance.ports import Usage
from entrance.session import RepoGrant, RunId, Session, TaskId
from orchestrator.adapters.pocketbase.meter import PocketBaseMeter
from orchestrator.adapters.pocketbase.runs import PocketBaseRuns
from orchestrator.domain.run import (
    Cause,
    Ending,
    Exit,
    Outcome,
    Run,
    RunEvent,
    RunState,
    after,
    changed,
)
from orchestrator.ports import Event, Runs
from tests.fakes.run import a_run
from tests.fakes.runs import FakeRuns
from tests.servers.pocketbase import pocketbase_server

AT = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Kept:
    """A store under test, what puts usage into it, and what takes it down."""

    runs: Runs
    spend: Callable[[RunId, Usage], Awaitable[None]]
    take_down: Callable[[], None]


@pytest.fixture(params=["fake", "pocketbase"])
async def kept(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Kept]:
    if request.param == "fake":
        yield _fake()
        return
    with pocketbase_server(tmp_path) as server:
        async with server.client() as store:
            yield Kept(PocketBaseRuns(store), PocketBaseMeter(store).add, server.stop)


@pytest.fixture
def runs(kept: Kept) -> Runs:
    return kept.runs


def _fake() -> Kept:
    fake = FakeRuns()

    async def spend(run: RunId, usage: Usage) -> None:
        fake.spend(run, usage)

    return Kept(fake, spend, lambda: setattr(fake, "down", True))


def ended(run: Run) -> Run:
    """The run after a start that was cancelled at once."""
    return replace(changed(run), state=RunState.ENDED)


def full_run() -> Run:
    """A run with something in every field."""
    run = a_run()
    session = Session(
        run=run.id,
        task=run.task,
        project=run.project,
        agent=run.agent,
        address="10.1.2.3",
        token_sha256="ab" * 32,
        tools={"polarion": frozenset({"get_task", "ask_questions"})},
        repositories=(
            RepoGrant("git.example:8443/a/b", "https://git.example:8443/a/b.git", push=True),
            RepoGrant("git.example/c", "https://git.example/c", credential="git"),
        ),
        models=frozenset({"anthropic:claude-test"}),
        budget_usd=Decimal("0.10"),
    )
    return replace(
        run,
        state=RunState.SETTLING,
        since={"preparing": AT, "running": AT + timedelta(microseconds=1)},
        session=session,
        sandbox="sandbox-1",
        command="command-1",
        cursor=17,
        cancelled_by="ada",
        ending=Ending(Outcome.ASKED, "Which file? `a` or 'b'\n<c> \u2028 \U0001f40d", AT),
        exit=Exit(None, Cause.SANDBOX_LOST, "gone"),
        outcome=Outcome.FAILED,
        cause=Cause.SANDBOX_LOST,
        evidence={"oom_kill": 0, "disk": {"free": 2**52, "full": False}, "lines": ["a", None, 1.5]},
        facts={"image": "sandgate/x:1"},
        record="DEMO/DEMO-R1",
        usage=Usage(1, 2, 3, 4, Decimal("0.000000123456789012345678"), 5),
        version=41,
    )


def event(seq: int, **data: Any) -> Event:
    return Event(seq, AT + timedelta(microseconds=seq), "text", data)


async def stored(runs: Runs, run: RunId, after_seq: int = -1) -> list[Event]:
    return [each async for each in runs.events(run, after_seq)]


@pytest.mark.parametrize("run", [a_run(), full_run()], ids=["fresh", "full"])
async def test_a_run_comes_back_as_it_was_stored(runs: Runs, run: Run) -> None:
    await runs.create(run)
    assert await runs.get(run.id) == run


async def test_a_time_of_another_zone_means_the_same_instant(runs: Runs) -> None:
    run = a_run(created_at=AT.astimezone(timezone(timedelta(hours=5, minutes=30))))
    await runs.create(run)
    assert (await runs.get(run.id)).created_at == AT


@pytest.mark.parametrize("run_id", ["nosuchrun000000", "", "../runs", "a/b?c", "x" * 300])
async def test_a_run_that_is_not_there_is_not_found(runs: Runs, run_id: str) -> None:
    with pytest.raises(NotFound):
        await runs.get(RunId(run_id))
    with pytest.raises(NotFound):
        await runs.replace(a_run(id=RunId(run_id), version=1))


@pytest.mark.parametrize("same", ["id", "task", "agent"])
async def test_a_second_active_run_of_a_task_or_an_agent_conflicts(runs: Runs, same: str) -> None:
    first = a_run()
    await runs.create(first)
    with pytest.raises(Conflict):
        await runs.create(a_run(**{same: getattr(first, same)}))
    assert await runs.active() == [first]


async def test_a_task_and_its_agent_are_free_again_once_the_run_has_ended(runs: Runs) -> None:
    first = a_run()
    await runs.create(first)
    await runs.replace(ended(first))
    second = a_run(task=first.task, agent=first.agent)
    await runs.create(second)
    assert await runs.active() == [second]


async def test_an_ended_run_cannot_come_alive_beside_its_successor(runs: Runs) -> None:
    first = a_run()
    await runs.create(first)
    over = ended(first)
    await runs.replace(over)
    await runs.create(a_run(task=first.task))
    with pytest.raises(Conflict):
        await runs.replace(replace(changed(over), state=RunState.RUNNING))
    assert await runs.get(first.id) == over


async def test_a_replacement_is_what_is_read_afterwards(runs: Runs) -> None:
    run = a_run()
    await runs.create(run)
    moved = after(run, RunEvent.PREPARE, AT, sandbox="s-1")
    await runs.replace(moved)
    assert await runs.get(run.id) == moved


@pytest.mark.parametrize("version", [0, 2, 7])
async def test_a_replacement_from_another_version_conflicts(runs: Runs, version: int) -> None:
    run = a_run()
    await runs.create(run)
    with pytest.raises(Conflict):
        await runs.replace(replace(run, version=version, sandbox="wrong"))
    assert await runs.get(run.id) == run


async def test_of_two_racing_replacements_exactly_one_wins(runs: Runs) -> None:
    run = a_run()
    await runs.create(run)
    for _ in range(20):
        rivals = [changed(run, command=f"rival-{n}") for n in range(2)]
        results = await asyncio.gather(*map(runs.replace, rivals), return_exceptions=True)
        assert sorted(map(type, results), key=str) == sorted([type(None), Conflict], key=str)
        run = await runs.get(run.id)
        assert run == rivals[results.index(None)]


async def test_of_twenty_racing_runs_of_a_task_exactly_one_is_created(runs: Runs) -> None:
    task = TaskId("DEMO/DEMO-RACE")
    rivals = [a_run(task=task) for _ in range(20)]
    results = await asyncio.gather(*map(runs.create, rivals), return_exceptions=True)
    assert [type(each) for each in results].count(Conflict) == 19
    assert await runs.active() == [rivals[results.index(None)]]


async def test_the_latest_run_of_a_task_is_the_active_one_or_the_newest(runs: Runs) -> None:
    task = TaskId('DEMO/it\'s "quoted" \\ and && 1 = 1 || ü\\')
    assert await runs.latest(task) is None
    old, new = a_run(task=task, created_at=AT), a_run(task=task, created_at=AT + timedelta(days=1))
    await runs.create(new)
    await runs.replace(ended(new))
    await runs.create(old)
    await runs.create(a_run())
    assert await runs.latest(task) == old
    await runs.replace(ended(old))
    assert await runs.latest(task) == ended(new)


async def test_recent_runs_come_newest_first(runs: Runs) -> None:
    middle, newest, oldest = (
        a_run(created_at=AT + timedelta(microseconds=offset)) for offset in (1, 2, 0)
    )
    for run in (middle, newest, oldest):
        await runs.create(run)
    assert await runs.recent(10) == [newest, middle, oldest]
    assert await runs.recent(2) == [newest, middle]
    assert await runs.recent(1, oldest.task) == [oldest], "however many are newer"
    assert await runs.recent(9, TaskId("DEMO/DEMO-no-such")) == []


async def test_runs_of_the_same_instant_come_last_stored_first(runs: Runs) -> None:
    twins = [a_run(created_at=AT) for _ in range(3)]
    for run in twins:
        await runs.create(run)
    assert await runs.recent(3) == twins[::-1]


async def test_events_come_back_in_order_and_after_a_point(runs: Runs) -> None:
    run, other = a_run().id, a_run().id
    await runs.add_events(run, [event(2, a=1), event(0, text="zero"), event(1)])
    await runs.add_events(other, [event(0, other=True)])
    assert await stored(runs, run) == [event(0, text="zero"), event(1), event(2, a=1)]
    assert await stored(runs, run, 1) == [event(2, a=1)]
    assert await stored(runs, RunId("nosuchrun000000")) == []


async def test_events_that_are_there_already_are_left_alone(runs: Runs) -> None:
    run = a_run().id
    await runs.add_events(run, [event(0, first=True), event(1)])
    await runs.add_events(run, [event(1, again=True), event(2), event(0), event(2, twice=True)])
    assert await stored(runs, run) == [event(0, first=True), event(1), event(2)]
    await runs.add_events(run, [event(1), event(2)])
    await runs.add_events(run, [])
    assert len(await stored(runs, run)) == 3


async def test_writers_of_the_same_events_store_each_once(runs: Runs) -> None:
    run = a_run().id
    events = [event(seq) for seq in range(60)]
    await asyncio.gather(*(runs.add_events(run, events[n : n + 40]) for n in (0, 10, 20, 5)))
    assert await stored(runs, run) == events


async def test_more_events_than_a_page_all_come_back(runs: Runs) -> None:
    run = a_run().id
    events = [event(seq, n=seq) for seq in range(2001)]
    await runs.add_events(run, events)
    assert await stored(runs, run) == events


async def test_usage_adds_up_by_run_and_by_engagement_to_the_last_digit(kept: Kept) -> None:
    one, two, foreign = a_run(), a_run(), a_run(engagement="OTHER/E")
    for run in (one, two, foreign):
        await kept.runs.create(run)
    assert await kept.runs.usage(one.id) == Usage()
    tenth = Usage(1, 2, 3, 4, Decimal("0.1"), 1)
    for run in (one, one, one, two, foreign):
        await kept.spend(run.id, tenth)
    await kept.spend(two.id, Usage(cost_usd=Decimal("1E-7"), calls=1))
    assert await kept.runs.usage(one.id) == Usage(3, 6, 9, 12, Decimal("0.3"), 3)
    assert await kept.runs.engagement_usd(one.engagement) == Decimal("0.4000001")
    assert await kept.runs.engagement_usd("nobody's") == 0


async def test_a_store_that_is_down_is_unavailable(kept: Kept) -> None:
    run = a_run()
    await kept.runs.create(run)
    kept.take_down()
    calls: list[Awaitable[Any]] = [
        kept.runs.create(a_run()),
        kept.runs.replace(changed(run)),
        kept.runs.get(run.id),
        kept.runs.latest(run.task),
        kept.runs.active(),
        kept.runs.recent(1),
        kept.runs.add_events(run.id, [event(0)]),
        stored(kept.runs, run.id),
        kept.runs.usage(run.id),
        kept.runs.engagement_usd(run.engagement),
    ]
    for call in calls:
        with pytest.raises(Unavailable):
            await call
