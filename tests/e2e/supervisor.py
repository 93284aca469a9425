"""A supervisor at work in Polarion: says something on a task, and decides."""

import asyncio
from typing import Protocol

import aiohttp

from orchestrator.adapters.polarion import PolarionClient, Text
from orchestrator.stack.installation import Installation
from orchestrator.stack.services import LOOPBACK, polarion_token


class Placed(Protocol):
    """Whatever has an installation."""

    @property
    def here(self) -> Installation: ...


def decide(house: Placed, task: str, action: str, comment: str = "") -> None:
    """Comment on the task, if there is anything to say, then do the workflow action."""

    async def act() -> None:
        async with aiohttp.ClientSession(trust_env=False) as http:
            client = polarion_of(house, http)
            if comment:
                await client.comments.add(task, Text(comment), title="From your supervisor")
            await client.items.update(task, workflow_action=action)

    asyncio.run(act())


def polarion_of(house: Placed, http: aiohttp.ClientSession) -> PolarionClient:
    """Its Polarion, as those see it who may do everything there."""
    token = polarion_token(house.here).read_text()
    url = f"http://{LOOPBACK}:{house.here.ports.polarion}/polarion/rest/v1"
    return PolarionClient(http, url, lambda _method, _url: {"Authorization": f"Bearer {token}"})
