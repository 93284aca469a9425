"""Watching a run: server-sent events, live, from wherever the watcher was."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import aiohttp
import orjson
import pytest
from structlog.testing import capture_logs

from orchestrator.domain.run import Outcome, Run, RunState, changed
from tests.component.api.streams import reading_along
from tests.fakes.run import a_run
from tests.servers.api import Api, api_server
from tests.waiting import until


@dataclass
class Heard:
    """What a watcher has heard so far."""

    status: int = 0
    events: list[Any] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    runs: list[Any] = field(default_factory=list)
    over: bool = False

    async def read(self, answer: aiohttp.ClientResponse) -> Self:
        kind = ""
        async for raw in answer.content:
            name, _, value = raw.decode().rstrip("\n").partition(": ")
            if name == "id":
                self.ids.append(int(value))
            elif name == "event":
                kind = value
            elif name == "data":
                (self.events if kind == "event" else self.runs).append(orjson.loads(value))
        self.over = True
        return self

    @property
    def seqs(self) -> list[int]:
        return [event["seq"] for event in self.events]


@asynccontextmanager
async def watching(
    api: Api, run: Run, query: str = "", headers: Mapping[str, str] | None = None
) -> AsyncIterator[Heard]:
    """A watcher that reads along; it leaves at the end of the block."""
    heard = Heard()
    async with reading_along(api, f"/api/runs/{run.id}/events{query}", heard.read, headers):
        yield heard


async def begun(api: Api, *texts: str) -> Run:
    run = a_run(state=RunState.RUNNING)
    await api.fakes.runs.create(run)
    await api.world.tell(run.id, [("text", {"text": text}) for text in texts])
    return run


async def end(api: Api, run: Run) -> None:
    await api.world.amend(
        run.id, lambda r: changed(r, state=RunState.ENDED, outcome=Outcome.SUBMITTED)
    )


async def test_what_happened_comes_first_and_then_what_happens(api: Api) -> None:
    run = await begun(api, "one", "two")
    async with watching(api, run) as heard:
        await until(lambda: heard.seqs == [0, 1])
        await api.world.note(run.id, "text", {"text": "three"})
        await until(lambda: heard.seqs == [0, 1, 2])
    assert heard.ids == heard.seqs
    assert [event["data"]["text"] for event in heard.events] == ["one", "two", "three"]


async def test_it_ends_with_the_run_as_it_ended(api: Api) -> None:
    run = await begun(api, "one")
    async with watching(api, run) as heard:
        await until(lambda: bool(heard.runs))
        assert heard.runs[-1]["state"] == "running"
        await api.world.note(run.id, "text", {"text": "the last word"})
        await end(api, run)
        await until(lambda: heard.over)
    assert heard.seqs == [0, 1]
    assert (heard.runs[-1]["state"], heard.runs[-1]["outcome"]) == ("ended", "submitted")
    assert [run["state"] for run in heard.runs].count("ended") == 1


async def test_a_run_that_has_ended_is_told_whole_at_once(api: Api) -> None:
    run = await begun(api, "one")
    await end(api, run)
    async with watching(api, run) as heard:
        await until(lambda: heard.over)
    assert heard.seqs == [0]
    assert [run["state"] for run in heard.runs] == ["ended"]


@pytest.mark.parametrize(
    ("query", "headers", "seqs"),
    [
        pytest.param("?after=0", {}, [1, 2], id="after a number"),
        pytest.param("?after=2", {}, [], id="after the last"),
        pytest.param("?after=99", {}, [], id="after what there isn't"),
        pytest.param("", {"Last-Event-ID": "1"}, [2], id="as a browser comes back"),
        pytest.param("?after=0", {"Last-Event-ID": "1"}, [2], id="a browser's number is newer"),
        pytest.param("?after=-1", {}, [0, 1, 2], id="from the start"),
    ],
)
async def test_it_goes_on_after_the_last_that_was_heard(
    api: Api, query: str, headers: dict[str, str], seqs: list[int]
) -> None:
    run = await begun(api, "one", "two", "three")
    await end(api, run)
    async with watching(api, run, query, headers) as heard:
        await until(lambda: heard.over)
    assert heard.seqs == seqs


async def test_two_watchers_hear_the_same(api: Api) -> None:
    run = await begun(api)
    async with watching(api, run) as first, watching(api, run) as second:
        for number in range(20):
            await api.world.note(run.id, "text", {"text": str(number)})
        await end(api, run)
        await until(lambda: first.over and second.over)
    assert first.seqs == second.seqs == list(range(20))


async def test_a_watcher_that_leaves_is_forgotten_and_disturbs_nobody(api: Api) -> None:
    run = await begun(api, "one")
    with capture_logs() as logged:
        async with watching(api, run) as stays:
            async with watching(api, run) as leaves:
                await until(lambda: bool(leaves.runs))
            await until(lambda: len(api.world.live._watchers[run.id]) == 1)
            await api.world.note(run.id, "text", {"text": "two"})
            await until(lambda: stays.seqs == [0, 1])
    await until(lambda: not api.world.live._watchers)
    assert logged == []


async def test_something_is_said_now_and_then_though_nothing_happens(tmp_path: Path) -> None:
    """CASE-92: whatever lies in between and gives up on a silent stream doesn't."""
    async with api_server(tmp_path, keepalive_s=0.02) as api:
        run = await begun(api)
        async with watching(api, run) as heard:
            await until(lambda: len(heard.runs) > 3)
        assert not heard.events


async def test_line_breaks_of_an_agent_make_no_events_of_their_own(api: Api) -> None:
    """CASE: what an agent writes is data, in the stream too."""
    evil = 'x\n\nevent: run\ndata: {"state":"ended"}\r\n\r\n'
    run = await begun(api, evil)
    async with watching(api, run) as heard:
        await until(lambda: bool(heard.runs))
    assert heard.events[0]["data"]["text"] == evil
    assert {run["state"] for run in heard.runs} == {"running"}


async def test_a_large_event_comes_whole(api: Api) -> None:
    run = await begun(api, "x" * 1_000_000)
    async with watching(api, run) as heard:
        await until(lambda: bool(heard.runs))
    assert len(heard.events[0]["data"]["text"]) == 1_000_000


async def test_an_outage_in_the_middle_ends_the_stream_and_not_with_a_lie(api: Api) -> None:
    run = await begun(api, "one")
    with capture_logs() as logged:
        async with watching(api, run) as heard:
            await until(lambda: bool(heard.runs))
            api.fakes.runs.down = True
            api.world.live.tell(run.id)
            await until(lambda: heard.over)
    assert {run["state"] for run in heard.runs} == {"running"}
    assert [line["event"] for line in logged] == ["watching_broke_off"]


async def test_watchers_do_not_hold_a_shutdown_up(api: Api) -> None:
    run = await begun(api, "one")
    async with watching(api, run) as heard:
        await until(lambda: bool(heard.runs))
        assert api.runner
        loop = asyncio.get_running_loop()
        began = loop.time()
        await api.runner.cleanup()
        assert loop.time() - began < 1.5, "the two seconds' patience was not used up"
        await until(lambda: heard.over)
    assert {run["state"] for run in heard.runs} == {"running"}
