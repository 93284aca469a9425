"""Tasks' disks where nobody may mount an image: two volumes of the engine a task, which are measured.

The kernel caps nothing here: whoever watches (`disks.DiskWatch`) ends a run whose volumes grow too
large, a second later at best. No path of the host's is ever a sandbox's: the engine's volumes are
mounts, and are made only here.
"""

import asyncio
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import docker
import requests
from docker.errors import APIError, DockerException, NotFound

from entrance.errors import Conflict, Forbidden, Unavailable
from entrance.session import TaskId
from orchestrator.adapters import disk_shelf
from orchestrator.adapters.disk_names import slug
from orchestrator.disks import KeptDisk
from orchestrator.ports import Volumes

OWNED_BY, TASK = "sandgate.disks", "sandgate.task"
"""The labels of a volume: whose installation's, and which task's."""
ENTRY_BYTES = 4096
"""What a file takes at least: else a million empty ones would take nothing."""
SANDBOX_USER = 10001
CALL_S = 30
IN_USE = 409


class WatchedDisks:
    """Makes, measures and removes them. `root` keeps what else is known of each task's."""

    def __init__(
        self,
        root: Path,
        *,
        docker_host: str,
        installation: str,
        size_bytes: int,
        headroom_bytes: int,
    ) -> None:
        self._root = root.resolve()
        self._docker_host = docker_host
        self._installation = installation
        self._size_bytes = size_bytes
        self._headroom_bytes = headroom_bytes

    async def ensure(self, task: TaskId) -> Volumes:
        """Make the task's volumes if need be, and return their names. Idempotent.

        Raises: Unavailable (host's disk full, engine away), Forbidden (it has grown too large).
        """
        return await self._ask(lambda engine: self._ensure(engine, task))

    async def release(self, task: TaskId) -> None:
        """Nothing: the engine has let go of them with the container."""

    async def used(self, task: TaskId) -> int:
        """Bytes that the task's volumes hold; more than the cap is not counted any further."""
        return await self._ask(lambda engine: self._used(engine, task))

    async def kept(self) -> Sequence[KeptDisk]:
        """Every task's disk."""
        return await self._ask(lambda engine: list(self._kept(engine)))

    async def mark(self, task: TaskId, over_since: datetime | None) -> None:
        """Note since when the task is over; None: it isn't."""
        await asyncio.to_thread(disk_shelf.mark, self._folder(task), over_since)

    async def purge(self, task: TaskId) -> None:
        """Remove the task's volumes with all that is on them. Idempotent.

        Raises: Conflict when a container has them.
        """
        await self._ask(lambda engine: self._purge(engine, task))

    async def check(self) -> str:
        """What they take, for a person. Raises: Unavailable when there is no room for another."""
        kept = await self.kept()
        free = shutil.disk_usage(self._root).free
        taken = sum(disk.used_bytes for disk in kept)
        says = f"{len(kept)} take {taken >> 20} MiB, watched; {free >> 20} MiB are free"
        if free < self._headroom_bytes:
            raise Unavailable(f"no room for another one: {says} (`sandgate task purge`)")
        return says

    def _folder(self, task: TaskId) -> Path:
        return self._root / slug(task)

    def _names(self, task: TaskId) -> tuple[str, str]:
        key = hashlib.sha256(task.encode()).hexdigest()[:16]
        return f"{self._installation}-{key}-workspace", f"{self._installation}-{key}-home"

    def _ensure(self, engine: docker.APIClient, task: TaskId) -> Volumes:
        self._folder(task).mkdir(parents=True, exist_ok=True, mode=0o700)
        if shutil.disk_usage(self._root).free < self._headroom_bytes:
            raise Unavailable(f"the host's disk at {self._root} is full: free some space")
        for name in self._names(task):
            labels = {OWNED_BY: self._installation, TASK: task}
            engine.create_volume(name, driver="local", labels=labels)
            found: Mapping[str, Any] = engine.inspect_volume(name)
            if (found.get("Labels"), found.get("Options") or None) != (labels, None):
                raise Forbidden(f"the volume {name} is there, and is not ours")
            os.chown(found["Mountpoint"], SANDBOX_USER, SANDBOX_USER)
            # An empty one would be made by the engine to look like the image's folder, root's own.
            (Path(found["Mountpoint"]) / "lost+found").mkdir(mode=0o700, exist_ok=True)
        if self._used(engine, task) > self._size_bytes:
            raise Forbidden(
                f"the disk of task {task} holds more than its {self._size_bytes >> 20} MiB:"
                " `sandgate task purge` removes it"
            )
        workspace, home = self._names(task)
        return Volumes(workspace, home)

    def _used(self, engine: docker.APIClient, task: TaskId) -> int:
        used = 0
        for name in self._names(task):
            try:
                place = engine.inspect_volume(name)["Mountpoint"]
            except NotFound:
                continue
            used += measured(Path(place), self._size_bytes)
        return used

    def _kept(self, engine: docker.APIClient) -> Iterator[KeptDisk]:
        found = engine.volumes(filters={"label": f"{OWNED_BY}={self._installation}"})
        for task in sorted({row["Labels"][TASK] for row in found.get("Volumes") or ()}):
            known = TaskId(task)
            over = disk_shelf.over_since(self._folder(known))
            yield KeptDisk(known, self._used(engine, known), over)

    def _purge(self, engine: docker.APIClient, task: TaskId) -> None:
        for name in self._names(task):
            try:
                engine.remove_volume(name)
            except NotFound:
                continue
            except APIError as error:
                if error.status_code != IN_USE:
                    raise
                raise Conflict(
                    f"the disk of task {task} is in use: does its sandbox live?"
                ) from error
        disk_shelf.empty(self._folder(task))

    async def _ask[T](self, work: Callable[[docker.APIClient], T]) -> T:
        def asked() -> T:
            client = docker.APIClient(base_url=self._docker_host or None, timeout=CALL_S)
            with closing(client):
                return work(client)

        try:
            return await asyncio.to_thread(asked)
        except (DockerException, requests.RequestException, OSError) as error:
            raise Unavailable(f"the disks of tasks can't be used: {error}") from error


def measured(place: Path, enough: int) -> int:
    """What a folder holds, in bytes; beyond `enough` it isn't counted on.

    No link in it is followed, whatever is renamed meanwhile: it is an agent's.
    """
    held, seen = 0, set[int]()
    for _, folders, files, here in os.fwalk(place, follow_symlinks=False):
        for name in (*folders, *files):
            try:
                found = os.stat(name, dir_fd=here, follow_symlinks=False)
            except OSError:
                continue  # gone meanwhile
            if found.st_ino not in seen:
                seen.add(found.st_ino)
                held += max(found.st_blocks * 512, ENTRY_BYTES)
        if held > enough:
            return held
    return held
