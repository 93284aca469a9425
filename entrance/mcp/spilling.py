"""Results that are too large to be told are put into the sandbox as files, and told with where they lie."""

import asyncio
from dataclasses import dataclass

import structlog

from entrance.errors import SandgateError
from entrance.mcp.messages import Json
from entrance.mcp.results import Kept, Overlong, Place, bounded, fits, overlong
from entrance.ports import ResultFiles
from entrance.session import Session

log = structlog.get_logger()

FILE_BYTES = 16 << 20
TIMEOUT_S = 8.0
"""With the longest call it is below the minute after which harnesses give a tool up."""
MOST_FILES = 20
"""Of one result; what comes then is left out."""


@dataclass(frozen=True, slots=True)
class Spilling:
    """Tells results. `files`: None where there is nowhere to put them."""

    files: ResultFiles | None
    chars: int
    file_bytes: int = FILE_BYTES
    timeout_s: float = TIMEOUT_S

    async def told(self, session: Session, call: int, result: Json) -> Json:
        """The result as its client gets it. `call`: its number in the log, which its files are named by."""
        if fits(result, self.chars):  # as nearly all do
            return result
        large = overlong(result, self.chars) if self.files else {}
        if not large:
            return bounded(result, self.chars)
        kept: dict[Place, Kept] = {}
        try:
            async with asyncio.timeout(self.timeout_s):
                for number, (place, file) in enumerate(list(large.items())[:MOST_FILES]):
                    name = f"{call}-{number + 1}.{file.extension}"
                    kept[place] = await self._kept(session, name, file)
        except TimeoutError:
            log.warning("result_not_kept", run=session.run, error="it took too long")
        late = Kept(why="it took too long, or there are too many")
        return bounded(result, self.chars, {**dict.fromkeys(large, late), **kept})

    async def _kept(self, session: Session, name: str, file: Overlong) -> Kept:
        if self.files is None:
            return Kept(why="there is nowhere to put it")
        cut = self.file_bytes if len(file.content) > self.file_bytes else 0
        try:
            path = await self.files.keep(session, name, file.content[: self.file_bytes])
        except SandgateError as error:
            log.warning("result_not_kept", run=session.run, error=str(error))
            return Kept(why=str(error))
        return Kept(path, cut=cut)
