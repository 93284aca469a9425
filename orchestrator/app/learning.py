"""Keeps the vault's secrets known by value, so that none of them is written down."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from entrance.errors import SandgateError

log = structlog.get_logger()

EVERY_S = 10.0


@dataclass(frozen=True, slots=True)
class Learning:
    """Learns them now and then: a secret is set, or set anew, at any time."""

    learn: Callable[[], Awaitable[None]]

    async def run(self) -> None:
        """Go on until cancelled. While the store is away, those that are known stay so."""
        while True:
            try:
                await self.learn()
            except SandgateError as error:
                log.warning("secrets_not_learned", error=str(error))
            await asyncio.sleep(EVERY_S)
