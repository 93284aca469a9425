"""Waiting for what happens in its own time."""

import asyncio
from collections.abc import Callable


async def until(condition: Callable[[], bool], seconds: float = 10) -> None:
    """Return once it holds. Raises: TimeoutError when it does not in time."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - what is waited for is not ours to set an event
            await asyncio.sleep(0.01)
