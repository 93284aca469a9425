"""The bytes of held pushes, in the door's folders: `orchestrator.approvals.ports.KeptPushes`."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from entrance.errors import Unavailable
from entrance.git.held import HeldPacks
from entrance.git.preview import Preview, preview
from entrance.ports import HeldPush
from orchestrator.ports import Clock

GRACE = timedelta(hours=1)
"""So long a push may be kept before its item is there: the one is written before the other."""


@dataclass(frozen=True, slots=True)
class HeldPushFiles:
    """They are there as long as somebody may still allow them."""

    packs: HeldPacks
    clock: Clock

    async def push(self, name: str) -> HeldPush:
        return (await asyncio.to_thread(self.packs.get, name)).record.push

    async def preview(self, name: str) -> Preview:
        return await preview(await asyncio.to_thread(self.packs.get, name))

    async def drop(self, name: str) -> None:
        try:
            await asyncio.to_thread(self.packs.drop, name)
        except OSError as error:
            raise Unavailable(f"a held push can't be removed: {error.strerror}") from error

    async def left_over(self) -> Sequence[str]:
        return await asyncio.to_thread(self._left_over, self.clock.now() - GRACE)

    def _left_over(self, before: datetime) -> list[str]:
        return [
            each.folder.name
            for each in self.packs.list()
            if datetime.fromtimestamp(each.folder.stat().st_mtime, UTC) < before
        ]
