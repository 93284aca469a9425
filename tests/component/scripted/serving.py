"""The scripted model on a real socket."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from orchestrator.stack.scripted import make_app, parse


@asynccontextmanager
async def served(text: str, api_key: str | None = None) -> AsyncIterator[str]:
    """A scenario as a server; its base address."""
    runner = web.AppRunner(
        make_app(parse(text), api_key), handler_cancellation=True, shutdown_timeout=1.0
    )
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
