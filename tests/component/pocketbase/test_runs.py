import asyncio
from decimal import Decimal
from itertools import count

import pytest

from entrance.errors import Malformed, Unavailable
from entrance.session import RunId
from orchestrator.adapters.pocketbase.client import PocketBase
from orchestrator.adapters.pocketbase.rows import EVENT_BYTES, bounded, run_row
from orchestrator.adapters.pocketbase.runs import PocketBaseRuns
from orchestrator.domain.run import changed
from orchestrator.ports import Event
from tests.fakes.clock import START
from tests.fakes.run import a_run
from tests.servers.pocketbase import PocketBaseServer

BATCH = 7


async def test_a_kill_in_the_middle_of_writing_loses_nothing_acknowledged(
    server: PocketBaseServer, store: PocketBase
) -> None:
    runs = PocketBaseRuns(store)
    acknowledged: dict[RunId, int] = {}
    enough = asyncio.Event()

    async def write(run: RunId) -> None:
        """Batch after batch, until the store is gone."""
        for first in count(0, BATCH):
            events = [Event(seq, START, "text", {}) for seq in range(first, first + BATCH)]
            try:
                await runs.add_events(run, events)
            except Unavailable:
                return
            acknowledged[run] = first + BATCH
            if sum(acknowledged.values()) > 100 * BATCH:
                enough.set()

    async with asyncio.timeout(60), asyncio.TaskGroup() as writers:
        for _ in range(4):
            writers.create_task(write(a_run().id))
        await enough.wait()
        await asyncio.to_thread(server.kill)
    await asyncio.to_thread(server.start)

    for run, stored_at_least in acknowledged.items():
        seqs = [event.seq async for event in runs.events(run)]
        assert seqs == list(range(len(seqs)))
        assert len(seqs) >= stored_at_least
        assert len(seqs) % BATCH == 0, "half a batch was stored"


async def test_an_engagement_of_many_calls_is_added_up_each_time_anew(store: PocketBase) -> None:
    runs = PocketBaseRuns(store)
    calls = [{"run": a_run().id, "engagement": "E", "cost_usd": "0.01"} for _ in range(499)]
    for hundredths in (499, 998, 1497, 1996, 2495):
        await store.batch("usage", calls)
        assert await runs.engagement_usd("E") == Decimal(hundredths) / 100
    assert await PocketBaseRuns(store).engagement_usd("E") == Decimal("24.95")


async def test_compare_and_set_goes_on_after_a_kill(
    server: PocketBaseServer, store: PocketBase
) -> None:
    runs = PocketBaseRuns(store)
    run = a_run()
    await runs.create(run)
    await runs.replace(changed(run, sandbox="s-1"))
    server.kill()
    server.start()
    assert (await runs.get(run.id)).sandbox == "s-1"
    await runs.replace(changed(await runs.get(run.id), sandbox="s-2"))


async def test_the_longest_event_fits_even_when_every_character_is_escaped(
    store: PocketBase,
) -> None:
    runs = PocketBaseRuns(store)
    run = a_run().id
    longest = {"text": "<" * (EVENT_BYTES - 100)}
    too_long = {"text": "x" * EVENT_BYTES}
    await runs.add_events(
        run, [Event(seq, START, "text", data) for seq, data in enumerate([longest, too_long])]
    )
    assert [event.data async for event in runs.events(run)] == [longest, bounded(too_long)]


async def test_a_run_with_fields_of_a_newer_version_is_still_read(store: PocketBase) -> None:
    run = a_run()
    row = run_row(run)
    row["body"] = {**row["body"], "from_the_future": {"a": 1}}
    await store.create("runs", row)
    assert await PocketBaseRuns(store).get(run.id) == run


async def test_a_run_that_cannot_be_read_is_malformed(store: PocketBase) -> None:
    run = a_run()
    await store.create("runs", {**run_row(run), "body": {"id": run.id}})
    with pytest.raises(Malformed, match=f"run {run.id} can't be read"):
        await PocketBaseRuns(store).get(run.id)
