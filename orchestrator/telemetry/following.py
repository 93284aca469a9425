"""Follows the egress log from now on, and hands its lines to whoever wants them."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog

from entrance.errors import SandgateError
from orchestrator.egress.reader import Reader, end

log = structlog.get_logger()

POLL_S = 1.0

type Hears = Callable[[Mapping[str, Any]], None]
"""Is told every line, once and in order; it must not raise."""


@dataclass
class Following:
    """Reads on about once a second; what was there before is not told again."""

    folder: Path
    hears: Sequence[Hears]
    poll_s: float = POLL_S
    _reader: Reader | None = field(init=False, default=None)

    async def run(self) -> None:
        """Follow until cancelled."""
        trouble = False
        while True:
            try:
                await self.look()
                trouble = False
            except SandgateError as error:
                if not trouble:
                    log.warning("log_not_followed", error=str(error))
                trouble = True
            await asyncio.sleep(self.poll_s)

    async def look(self) -> None:
        """Read what has come; the first look only finds the end. Raises: NotFound, Unavailable."""
        if self._reader is None:
            self._reader = Reader(self.folder, await asyncio.to_thread(end, self.folder))
        while lines := await asyncio.to_thread(self._reader.read):
            for line in lines:
                for hear in self.hears:
                    hear(line.fields)
            await asyncio.sleep(0)
