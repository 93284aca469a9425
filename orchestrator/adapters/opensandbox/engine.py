"""The Docker engine beside the server: what was made, volumes, swap, and the end of a container.

The vendor's client blocks, so every call goes to a thread; its errors become ours.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import docker
import requests
from docker.errors import APIError, DockerException
from docker.errors import NotFound as DockerNotFound

from entrance.errors import Conflict, NotFound, Unavailable
from orchestrator.adapters.opensandbox.blueprint import INSTALLATION, RUN, TmpVolume
from orchestrator.adapters.opensandbox.inspection import address_of

ID_LABEL = "opensandbox.io/id"
CONFLICT = 409


@dataclass(frozen=True, slots=True)
class Found:
    """A container of ours: OpenSandbox's id for it, its run, its address (empty: it ended)."""

    sandbox: str
    run: str
    address: str
    running: bool
    created: int


class Engine:
    """One installation's view of the engine."""

    def __init__(self, client: docker.APIClient, installation: str, network: str) -> None:
        self._client = client
        self._installation = installation
        self._network = network

    async def inspect(self, sandbox: str) -> Mapping[str, Any]:
        """Everything that the engine says of the sandbox's container. Raises: NotFound, Unavailable."""
        name = container_name(sandbox)
        found: Mapping[str, Any] = await self._ask(lambda: self._client.inspect_container(name))
        return found

    async def containers(self, run: str | None = None) -> Sequence[Found]:
        """The installation's sandboxes, or the run's, newest first; dead ones too."""
        labels = [f"{INSTALLATION}={self._installation}", ID_LABEL]
        if run is not None:
            labels.append(f"{RUN}={run}")
        rows = await self._ask(lambda: self._client.containers(all=True, filters={"label": labels}))
        found = [
            Found(
                sandbox=row["Labels"][ID_LABEL],
                run=row["Labels"].get(RUN, ""),
                address=address_of(row, self._network),
                running=row["State"] == "running",
                created=row["Created"],
            )
            for row in rows
        ]
        return sorted(found, key=lambda container: -container.created)

    async def remove(self, sandbox: str) -> None:
        """Kill and remove the container without the server's help. Idempotent."""
        name = container_name(sandbox)
        try:
            await self._ask(lambda: self._client.remove_container(name, force=True, v=True))
        except (NotFound, Conflict):
            return  # gone, or the engine is removing it right now

    async def pause(self, sandbox: str) -> None:
        """Stop its processes without the server's help. Idempotent. Raises: NotFound, Unavailable."""
        name = container_name(sandbox)
        try:
            await self._ask(lambda: self._client.pause(name))
        except Conflict:
            return  # it is paused, or has ended

    async def limit_swap(self, sandbox: str, memory_bytes: int) -> None:
        """Take the swap away that the engine gives by default (as much again as memory)."""
        name = container_name(sandbox)
        await self._ask(
            lambda: self._client.update_container(
                name, mem_limit=memory_bytes, memswap_limit=memory_bytes
            )
        )

    async def make_volume(self, volume: TmpVolume, run: str) -> None:
        """Make a volume in memory. One of that name must not be there."""
        await self._ask(
            lambda: self._client.create_volume(
                volume.name,
                driver="local",
                driver_opts={"type": "tmpfs", "device": "tmpfs", "o": volume.options},
                labels={INSTALLATION: self._installation, RUN: run},
            )
        )

    async def remove_volume(self, name: str) -> None:
        """Remove a volume. Idempotent. Raises: Conflict while a container has it."""
        try:
            await self._ask(lambda: self._client.remove_volume(name))
        except NotFound:
            return

    async def volume_runs(self) -> frozenset[str]:
        """The runs that have a volume of this installation."""
        label = f"{INSTALLATION}={self._installation}"
        answer = await self._ask(lambda: self._client.volumes(filters={"label": label}))
        rows = answer.get("Volumes") or []
        return frozenset(row["Labels"][RUN] for row in rows if RUN in (row["Labels"] or {}))

    async def _ask[T](self, call: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(call)
        except DockerNotFound as error:
            raise NotFound(f"Docker: {error.explanation or error}") from error
        except APIError as error:
            said = error.explanation or str(error)
            if error.status_code == CONFLICT:
                raise Conflict(f"Docker: {said}") from error
            raise Unavailable(f"Docker: {said}") from error
        except (DockerException, requests.RequestException, OSError) as error:
            raise Unavailable(f"the Docker engine does not answer: {error}") from error


def container_name(sandbox: str) -> str:
    """The container's name, as the server makes it from the sandbox's id."""
    return f"sandbox-{sandbox}"
