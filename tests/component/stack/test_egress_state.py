"""What `doctor` says of the egress proxy."""

from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from entrance.errors import Unavailable
from orchestrator.adapters.egress_state import PATH, check_proxy

WELL: dict[str, Any] = {
    "generation": 7,
    "sandboxes": 2,
    "trouble": "",
    "recorder": True,
    "outcomes_waiting": 0,
    "connections": 1,
}


async def told(**changes: Any) -> str:
    async def status(_: web.Request) -> web.Response:
        return web.json_response(WELL | changes)

    app = web.Application()
    app.router.add_get(PATH, status)
    async with TestServer(app) as server:
        return await check_proxy(str(server.make_url("")).rstrip("/"))


async def test_a_sound_one_tells_its_policy() -> None:
    assert await told() == "policy 7 in force, for 2 sandboxes"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"trouble": "no such file"}, "no such file"),
        ({"recorder": False}, "the egress log"),
        ({"generation": "?"}, "doesn't answer"),
    ],
)
async def test_one_that_lets_nothing_out_says_why(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(Unavailable, match=why):
        await told(**changes)


async def test_one_that_isnt_there_is_told_how_to_start() -> None:
    with pytest.raises(Unavailable, match="sandgate up"):
        await check_proxy("http://127.0.0.1:9")
