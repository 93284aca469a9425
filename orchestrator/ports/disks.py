"""Where a task's disk comes from."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from entrance.session import TaskId


@dataclass(frozen=True, slots=True)
class Mounts:
    """Host folders of a task's capped disk, for its sandbox."""

    workspace: Path
    home: Path


@dataclass(frozen=True, slots=True)
class Volumes:
    """Names of the engine's volumes that are a task's disk, where it is watched and not capped."""

    workspace: str
    home: str


class Disks(Protocol):
    """One disk a task, for /workspace and $HOME."""

    async def ensure(self, task: TaskId) -> Mounts | Volumes:
        """Make the task's disk if need be and mount it. Raises: Unavailable (host disk full, not root)."""
        ...

    async def release(self, task: TaskId) -> None:
        """Unmount it; the image and what is on it stay."""
        ...

    async def purge(self, task: TaskId) -> None:
        """Remove it with all that is on it. Idempotent. Raises: Conflict when somebody uses it."""
        ...
