"""A door with our everything server behind it, open to programs that can't show a token."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from aiohttp import web

from entrance.ports import McpServer
from entrance.tool_policy import BeyondTools, ConnectionRules, Mode, ToolRule
from tests.conformance.programs import Programs, programs
from tests.servers.anthropic import model_server
from tests.servers.door import Door, open_door
from tests.servers.everything import PROMPTS, TOOL_NAMES, everything

ALL_OF_IT = ConnectionRules(
    dict.fromkeys(TOOL_NAMES, ToolRule()),
    Mode.FORBIDDEN,
    more=BeyondTools(PROMPTS, ("test://*",), frozenset({"sampling", "elicitation", "roots"})),
)


@pytest.fixture(scope="session")
def tools() -> Programs:
    return programs()


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with everything() as url:
        yield url


@pytest.fixture
async def door(tmp_path: Path, server: str) -> AsyncIterator[Door]:
    """The run may use everything that the server has, and the server may ask it everything."""
    token: list[str] = []

    @web.middleware
    async def shown(
        request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """The suite can't show a token: it is put on where it shows none."""
        headers = request.headers.copy()
        headers.setdefault("authorization", f"Bearer {token[0]}")
        return await handler(request.clone(headers=headers))

    servers = [McpServer("everything", server)]
    async with (
        model_server() as model,
        open_door(tmp_path, model, servers=servers, before=[shown]) as opened,
    ):
        token.append(opened.token)
        opened.reopen(tools={}, tool_rules={"everything": ALL_OF_IT})
        yield opened
