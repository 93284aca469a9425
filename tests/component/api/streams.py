"""A client of the API's server-sent events."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from tests.servers.api import TOKEN, Api


@asynccontextmanager
async def reading_along(
    api: Api,
    path: str,
    read: Callable[[aiohttp.ClientResponse], Coroutine[Any, Any, object]],
    headers: Mapping[str, str] | None = None,
) -> AsyncIterator[None]:
    """A watcher that has `read` read what comes; it leaves at the end of the block."""
    sent = {"Authorization": f"Bearer {TOKEN}", **(headers or {})}
    async with (
        aiohttp.ClientSession(read_bufsize=1 << 22) as http,
        http.get(f"{api.base}{path}", headers=sent) as answer,
    ):
        assert answer.headers["Content-Type"] == "text/event-stream"
        async with asyncio.TaskGroup() as tasks:
            reading = tasks.create_task(read(answer))
            yield
            reading.cancel()
