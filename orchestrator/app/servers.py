"""Keeps the door's connections to MCP servers as the Agent Pool has them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import structlog

from entrance.errors import SandgateError
from entrance.ports import McpServer

log = structlog.get_logger()

EVERY_S = 30.0


@dataclass(frozen=True, slots=True)
class KeepingServers:
    """`active` says which there are, `offer` takes them."""

    active: Callable[[], Awaitable[Sequence[McpServer]]]
    offer: Callable[[Sequence[McpServer]], Awaitable[None]]

    async def run(self) -> None:
        """Go on until cancelled. While the pool can't be read, those that are known stay."""
        while True:
            try:
                await self.offer(await self.active())
            except SandgateError as error:
                log.warning("connections_not_read", error=str(error))
            await asyncio.sleep(EVERY_S)
