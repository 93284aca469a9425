"""Results of tools that are too large to be told, as files in the sandbox of the run that called.

They lie on the task's disk beside the working copy, where git sees nothing of them, and go with it.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from entrance.errors import Conflict, NotFound
from entrance.session import RunId, Session
from orchestrator.ports import Sandboxes

FOLDER = "/workspace/.sandgate"
IGNORE = f"{FOLDER}/.gitignore"
"""For whoever makes a repository of all that is in /workspace."""
MOST_BYTES_A_RUN = 256 << 20
REMEMBERED = 1000
"""So many runs are counted; it is a bound for one that goes on, not a record."""


@dataclass(frozen=True, slots=True)
class SandboxFiles:
    """Implements `entrance.ports.ResultFiles`. `execd_token` opens a run's sandbox."""

    sandboxes: Sandboxes
    execd_token: Callable[[RunId], str] = field(repr=False)
    most_bytes: int = MOST_BYTES_A_RUN
    _written: OrderedDict[RunId, int] = field(
        init=False, repr=False, default_factory=OrderedDict[RunId, int]
    )

    async def keep(self, session: Session, name: str, content: bytes) -> str:
        run = session.run
        before = self._written.pop(run, 0)
        self._written[run] = before
        if before + len(content) > self.most_bytes:
            raise Conflict(f"this run has {before >> 20} MB of such files already")
        sandbox = await self.sandboxes.find(run, self.execd_token(run))
        if sandbox is None:
            raise NotFound("the sandbox is gone")
        if not before:
            await self.sandboxes.write(sandbox, IGNORE, b"*\n")
        path = f"{FOLDER}/results/{name}"
        self._written[run] += len(content)  # before it is written: calls of one run go on at once
        await self.sandboxes.write(sandbox, path, content)
        while len(self._written) > REMEMBERED:
            self._written.popitem(last=False)
        return path
