"""The tasks' disks in memory."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from entrance.errors import Conflict
from entrance.session import TaskId
from orchestrator.disks import KeptDisk


@dataclass
class FakeKeptDisks:
    """`orchestrator.disks.KeptDisks` for tests."""

    there: dict[TaskId, KeptDisk] = field(default_factory=dict)
    mounted: set[TaskId] = field(default_factory=set)

    def add(self, task: str, used_bytes: int = 4096) -> TaskId:
        self.there[TaskId(task)] = KeptDisk(TaskId(task), used_bytes)
        return TaskId(task)

    async def kept(self) -> Sequence[KeptDisk]:
        return list(self.there.values())

    async def mark(self, task: TaskId, over_since: datetime | None) -> None:
        if task in self.there:
            self.there[task] = replace(self.there[task], over_since=over_since)

    async def purge(self, task: TaskId) -> None:
        if task in self.mounted:
            raise Conflict("it is mounted")
        self.there.pop(task, None)
