"""Watching the inbox: server-sent events, live, from wherever the watcher was."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest
from structlog.testing import capture_logs

from orchestrator.approvals.handling import Decision
from orchestrator.domain.approval import Verb
from tests.component.api.streams import reading_along
from tests.fakes.approvals import ITEM
from tests.servers.api import TOKEN, Api, api_server
from tests.waiting import until

URL = "https://docs.example/"


@dataclass
class Heard:
    """What a watcher has heard so far: kinds and (id, state) of items, marks, comments."""

    items: list[tuple[str, str]] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    mark: str = ""
    comments: int = 0
    over: bool = False

    async def read(self, answer: aiohttp.ClientResponse) -> None:
        async for raw in answer.content:
            name, _, value = raw.decode().rstrip("\n").partition(": ")
            self.comments += raw.startswith(b":")
            if name == "id":
                self.mark = value
            elif name == "event":
                self.kinds.append(value)
            elif name == "data" and self.kinds[-1] == "item":
                data: dict[str, Any] = orjson.loads(value)
                self.items.append((data["id"], data["state"]))
        self.over = True


@asynccontextmanager
async def watching(api: Api, mark: str = "") -> AsyncIterator[Heard]:
    """A watcher that reads along; it leaves at the end of the block."""
    heard, headers = Heard(), {"Last-Event-ID": mark} if mark else None
    async with reading_along(api, "/api/approvals/events", heard.read, headers):
        yield heard


async def deny(api: Api, item: str) -> None:
    await api.inbox.deciding.decide(item, Decision(Verb.DENY))


async def test_what_is_open_comes_first_and_then_every_change(api: Api) -> None:
    first = await api.asked(f"{URL}1")
    gone = await api.inbox.asking.ask(first.run, f"{URL}2", "GET", "why")
    await deny(api, gone.id)
    async with watching(api) as heard:
        await until(lambda: "all" in heard.kinds)
        assert heard.kinds == ["reset", "item", "all"]
        assert heard.items == [(first.id, "waiting")]
        later = await api.inbox.asking.ask(first.run, f"{URL}3", "GET", "why")
        await deny(api, first.id)
        await until(lambda: len(heard.items) == 3)
    assert heard.items[1:] == [(later.id, "waiting"), (first.id, "denied")]


async def test_who_comes_back_hears_what_came_since_and_no_more(api: Api) -> None:
    item = await api.asked(URL)
    async with watching(api) as heard:
        await until(lambda: bool(heard.mark))
    await deny(api, item.id)
    async with watching(api, heard.mark) as again:
        await until(lambda: bool(again.items))
        assert (again.kinds, again.items) == (["item"], [(item.id, "denied")])
    async with watching(api, again.mark) as third:
        await until(lambda: third.comments > 0)
    assert third.items == []


async def test_who_was_away_over_a_restart_begins_anew(api: Api) -> None:
    item = await api.asked(URL)
    async with watching(api, "earlier-7") as heard:
        await until(lambda: "all" in heard.kinds)
    assert (heard.kinds[0], heard.items) == ("reset", [(item.id, "waiting")])


async def test_it_asks_for_the_token_as_listing_does(api: Api) -> None:
    for path in ("", "/events"):
        assert (await api.ask("GET", f"/api/approvals{path}", token=None)).status == 401


async def test_something_is_said_now_and_then_though_nothing_happens(tmp_path: Path) -> None:
    async with api_server(tmp_path, keepalive_s=0.02) as api, watching(api) as heard:
        await until(lambda: heard.comments > 3)
    assert heard.items == []


async def test_so_many_watch_and_no_more_and_who_leaves_makes_room(tmp_path: Path) -> None:
    async with api_server(tmp_path, most=1) as api:
        async with watching(api):
            refused = await api.ask("GET", "/api/approvals/events")
            assert refused.status == 503
            assert "watch the inbox already" in refused.error["message"]
        await until(lambda: api.inbox.feed.watchers == 0)
        async with watching(api) as heard:
            await until(lambda: "all" in heard.kinds)


async def test_a_watcher_that_takes_nothing_in_is_cut_off_and_disturbs_nobody(
    tmp_path: Path,
) -> None:
    """What is kept for it is where it is in the feed; what waits in its socket is dropped with it."""
    large = replace(ITEM, title="x" * 500_000)
    request = (
        f"GET /api/approvals/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
    )
    async with api_server(tmp_path, slow_s=1) as api, watching(api) as well:
        with socket.socket() as deaf, capture_logs() as logged:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.connect(("127.0.0.1", int(api.base.rpartition(":")[2])))
            deaf.sendall(request.encode())
            await until(lambda: api.inbox.feed.watchers == 2)
            for version in range(20):
                api.inbox.feed.tell(replace(large, version=version))
            await until(lambda: api.inbox.feed.watchers == 1)
            await until(lambda: len(well.items) == 20)
        assert [one["event"] for one in logged] == ["inbox_watcher_cut_off"]


async def test_watchers_do_not_hold_a_shutdown_up(api: Api) -> None:
    async with watching(api) as heard:
        await until(lambda: "all" in heard.kinds)
        assert api.runner
        async with asyncio.timeout(1.5):
            await api.runner.cleanup()
        await until(lambda: heard.over)


async def test_an_outage_ends_the_stream(api: Api) -> None:
    api.inbox.store.down = True
    with capture_logs() as logged:
        async with watching(api) as heard:
            await until(lambda: heard.over)
    assert heard.kinds == ["reset"]
    assert "inbox_watching_broke_off" in {one["event"] for one in logged}


@pytest.mark.parametrize("path", ["/api/approvals/events/", "/api/approvals/eventz"])
async def test_a_path_that_only_looks_like_it_is_none(api: Api, path: str) -> None:
    assert (await api.ask("GET", path)).status == 404
