"""The bridge between HTTP and a server over stdio: the real program, over a real socket."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import ClientResponse, ClientSession

from tests.servers.bridge import bridge_running
from tests.waiting import until

ODD = str(Path(__file__).with_name("odd_server.py"))


@dataclass
class Bridge:
    """A bridge that runs, and who talks with it. `log`: what it says on stderr."""

    url: str
    http: ClientSession
    log: Path
    session: str = ""

    @asynccontextmanager
    async def asked(
        self, method: str, rpc_id: object = 1, **params: Any
    ) -> AsyncIterator[ClientResponse]:
        message = {"jsonrpc": "2.0", "id": rpc_id, "method": method, "params": params}
        async with self.http.post(self.url, json=message, headers=self.headers) as answer:
            yield answer

    async def ask(self, method: str, rpc_id: object = 1, **params: Any) -> list[dict[str, Any]]:
        """All that comes of a request."""
        async with self.asked(method, rpc_id, **params) as answer:
            assert answer.status == 200, await answer.text()
            return [message async for message in messages(answer)]

    async def tell(self, **message: Any) -> None:
        async with self.http.post(self.url, json=message, headers=self.headers) as answer:
            assert answer.status == 202

    async def begin(self) -> None:
        """Begin a session, and go on in it."""
        self.session = ""
        async with self.asked("initialize") as answer:
            self.session = answer.headers["Mcp-Session-Id"]
            (message,) = [message async for message in messages(answer)]
            assert "result" in message

    @property
    def headers(self) -> dict[str, str]:
        return {"Mcp-Session-Id": self.session} if self.session else {}


async def messages(answer: ClientResponse) -> AsyncIterator[dict[str, Any]]:
    while line := await answer.content.readline():
        if line.startswith(b"data: "):
            yield orjson.loads(line[6:])


@asynccontextmanager
async def running(folder: Path, *command: str) -> AsyncIterator[Bridge]:
    async with (
        bridge_running(folder / "stderr", *command) as url,
        ClientSession(read_bufsize=1 << 20) as http,
    ):
        yield Bridge(url, http, folder / "stderr")


@pytest.fixture
async def bridge(tmp_path: Path) -> AsyncIterator[Bridge]:
    async with running(tmp_path, sys.executable, ODD) as opened:
        yield opened


async def test_the_process_that_was_asked_for_another_version_becomes_the_sessions(
    bridge: Bridge,
) -> None:
    await bridge.tell(jsonrpc="2.0", method="notifications/early")
    (refused,) = await bridge.ask("server/discover")
    assert refused["error"]["code"] == -32601
    async with bridge.asked("initialize") as answer:
        (message,) = [each async for each in messages(answer)]
    assert message["result"]["heard"] == 1, "it had heard the early one"


async def test_requests_with_the_same_id_get_each_its_own(bridge: Bridge) -> None:
    await bridge.begin()
    (told, done), (other, _) = await asyncio.gather(
        bridge.ask("progress", "a", _meta={"progressToken": "one"}),
        bridge.ask("progress", "a", _meta={"progressToken": "two"}),
    )
    assert (done["id"], "result" in done) == ("a", True)
    assert told["params"]["progressToken"] == "one"
    assert other["params"]["progressToken"] == "two"


async def test_the_server_asks_and_is_answered(bridge: Bridge) -> None:
    await bridge.begin()
    async with bridge.asked("ask") as answer:
        stream = messages(answer)
        question = await anext(stream)
        assert (question["id"], question["method"]) == ("q-1", "roots/list")
        await bridge.tell(jsonrpc="2.0", id="q-1", result={"roots": []})
        assert (await anext(stream))["result"] == {"answered": {"roots": []}}


async def test_what_it_tells_reaches_who_listens_or_who_asks_next(bridge: Bridge) -> None:
    await bridge.begin()
    async with bridge.http.get(bridge.url, headers=bridge.headers) as answer:
        assert answer.status == 200
        told, done = await bridge.ask("tell")
        assert told["method"] == "notifications/tools/list_changed"
        assert "result" in done


async def test_a_cancelled_request_is_cancelled_under_the_id_that_the_server_knows(
    bridge: Bridge,
) -> None:
    await bridge.begin()
    async with bridge.asked("hang", "h"):
        await bridge.tell(method="notifications/cancelled", params={"requestId": "h"})
        await bridge.tell(method="notifications/cancelled", params={"requestId": "another"})
        (answer,) = await bridge.ask("heard")
    (notice,) = answer["result"]["heard"]
    assert notice["params"]["requestId"] == 2


async def test_who_leaves_a_request_without_a_session_has_it_cancelled(bridge: Bridge) -> None:
    async with bridge.asked("hang"):
        pass
    notices: list[Any] = []
    async with asyncio.timeout(10):
        while not notices:
            (answer,) = await bridge.ask("heard")
            notices = answer["result"]["heard"]
    assert notices[0]["method"] == "notifications/cancelled"


async def test_a_server_that_dies_in_mid_call_leaves_the_answer_without_an_end(
    bridge: Bridge,
) -> None:
    await bridge.begin()
    assert await bridge.ask("die") == []
    async with bridge.asked("heard") as answer:
        assert answer.status == 404, "the session is gone with it"
    await bridge.begin()
    (answered,) = await bridge.ask("heard")
    assert answered["result"]["heard"] == []


async def test_one_that_leaves_a_child_behind_has_died_all_the_same(bridge: Bridge) -> None:
    await bridge.begin()
    async with asyncio.timeout(10):
        assert await bridge.ask("leave") == []


async def test_garbage_on_its_output_is_survived(bridge: Bridge) -> None:
    await bridge.begin()
    (message,) = await bridge.ask("garbage")
    assert message["result"]["survived"] is True
    said = bridge.log.read_text()
    assert "this is no JSON" in said
    assert "a message is too long" in said
    assert len(said) < 20_000


async def test_what_it_says_on_stderr_is_kept_up_to_a_bound(bridge: Bridge) -> None:
    await bridge.begin()
    await bridge.ask("words")
    await until(lambda: "[more was said, and is left out]" in bridge.log.read_text())
    assert bridge.log.stat().st_size < (1 << 20) + 200


async def test_one_that_stays_when_its_session_ends_is_killed(bridge: Bridge) -> None:
    await bridge.begin()
    await bridge.ask("stay")
    async with (
        asyncio.timeout(15),
        bridge.http.delete(bridge.url, headers=bridge.headers) as answer,
    ):
        assert answer.status == 200
    async with bridge.asked("heard") as after:
        assert after.status == 404


@pytest.mark.parametrize(
    ("command", "why"),
    [
        pytest.param(("/nowhere/at-all",), "it can't be started", id="no such program"),
        pytest.param(
            ("sh", "-c", "echo no such package >&2; exit 7"),
            "exit code 7: no such package",
            id="one that ends at once",
        ),
    ],
)
async def test_a_session_that_can_not_begin_says_why(
    tmp_path: Path, command: tuple[str, ...], why: str
) -> None:
    async with running(tmp_path, *command) as bridge:
        (message,) = await bridge.ask("initialize")
    assert why in message["error"]["message"]


async def test_what_is_no_request_is_refused(bridge: Bridge) -> None:
    for body, status in ((b"{", 400), (b"[]", 400), (b"x" * 10, 400)):
        async with bridge.http.post(bridge.url, data=body) as answer:
            assert answer.status == status
    async with bridge.http.put(bridge.url) as answer:
        assert answer.status == 405
    async with bridge.http.get(bridge.url.replace("/mcp", "/else")) as answer:
        assert answer.status == 404
