"""What connections list, asked of all at once. Who takes long is not waited for: it comes later, as is noted.

A list that nobody waits for any more goes on being asked for, so that one server that hangs costs a run
its patience once, and not with each call.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import structlog

from entrance.errors import SandgateError
from entrance.mcp.connection import Caller, Connection, Kind, Starting
from entrance.mcp.messages import Era, Json

log = structlog.get_logger()

PATIENCE_S = 8.0
"""Less than half of what the least patient harness waits for its tools (Codex: 20 s, and it asks only once);
enough for a server over stdio to start, where its package is there."""
AGAIN_S = 30.0
"""So often a server that could not be reached is asked again for who listens."""
REMEMBERED = 1024
WHY_CHARS = 600
"""So much an agent is told of why a connection isn't there."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A connection has listed nothing. `comes`: it is told when it does, without being asked again."""

    why: str
    comes: bool = False


type Came = Sequence[Json] | Missing
type _Key = tuple[str, Era, Connection, Kind]


@dataclass
class _Asked:
    """A list that is under way. `late`: somebody has given up waiting for it."""

    task: asyncio.Task[Came]
    since: float
    late: bool = False


@dataclass
class _Run:
    """What a run's clients of one era had of each connection's tools, and how often that has changed."""

    had: dict[str, Came] = field(default_factory=dict)
    asked_at: dict[str, float] = field(default_factory=dict)
    turn: int = 0


class Lists:
    """Asks for them. `limit_s`: after which a list that hangs is given up."""

    def __init__(
        self, limit_s: float, patience_s: float = PATIENCE_S, again_s: float = AGAIN_S
    ) -> None:
        self.limit_s = limit_s
        self._patience_s = patience_s
        self._again_s = again_s
        self._under_way: dict[_Key, _Asked] = {}
        self._runs: dict[tuple[str, Era], _Run] = {}

    async def of(
        self,
        caller: Caller,
        connections: Sequence[Connection],
        kind: Kind,
        patience_s: float | None = None,
    ) -> list[Came]:
        """What each lists. What is at hand costs no turn of the loop."""
        patience_s = self._patience_s if patience_s is None else patience_s
        asked = [self._asked(caller, each, kind) for each in connections]
        now = asyncio.get_running_loop().time()
        waited = {
            each.task: each.since + patience_s - now
            for each in asked
            if not each.task.done() and each.since + patience_s > now
        }
        if waited:
            await asyncio.wait(waited, timeout=max(waited.values()))
        came = [
            self._came(each, connection.name)
            for each, connection in zip(asked, connections, strict=True)
        ]
        if kind == "tools":
            for each, connection in zip(came, connections, strict=True):
                self._note(caller, connection, each)
        return came

    def at_hand(self, caller: Caller, connection: Connection) -> Sequence[Json] | None:
        """The tools of one that stand as they were noted: there is nothing to ask, and nothing to note."""
        many, run = connection.at_hand(caller, "tools"), self._run_of(caller)
        return many if many is not None and run.had.get(connection.name) is many else None

    def turn(self, caller: Caller) -> int:
        """Another one whenever tools came, went or changed for the caller's run since it was last asked."""
        return self._run_of(caller).turn

    def again(self, caller: Caller, connections: Iterable[Connection]) -> None:
        """Ask those again that could not be reached, if that is long ago. Nobody waits for it."""
        run, now = self._run_of(caller), asyncio.get_running_loop().time()
        for each in connections:
            had = run.had.get(each.name)
            overdue = now - run.asked_at.get(each.name, now) >= self._again_s
            if isinstance(had, Missing) and not had.comes and overdue:
                asked = self._asked(caller, each, "tools")
                asked.late = True
                self._note(caller, each, asked.task.result() if asked.task.done() else had)

    def leave(self, token_sha256: str) -> None:
        """The run has no client any more: nothing is asked for it."""
        for key in [key for key in self._under_way if key[0] == token_sha256]:
            self._under_way.pop(key).task.cancel()
        for era in ("handshake", "modern"):
            self._runs.pop((token_sha256, era), None)

    async def close(self, _: object = None) -> None:
        """Give up what is under way."""
        for asked in self._under_way.values():
            asked.task.cancel()
        await asyncio.gather(
            *(each.task for each in self._under_way.values()), return_exceptions=True
        )

    def _asked(self, caller: Caller, connection: Connection, kind: Kind) -> _Asked:
        key = (caller.session.token_sha256, caller.back.era, connection, kind)
        known = self._under_way.get(key)
        if known is not None and not known.task.done():  # its end may not be noted yet
            return known
        loop = asyncio.get_running_loop()
        task = asyncio.Task(self._listed(caller, connection, kind), loop=loop, eager_start=True)
        asked = _Asked(task, loop.time())
        if not task.done():
            self._under_way[key] = asked
            task.add_done_callback(lambda _: self._over(key, asked, caller))
        return asked

    def _over(self, key: _Key, asked: _Asked, caller: Caller) -> None:
        if self._under_way.get(key) is asked:
            del self._under_way[key]
        _, _, connection, kind = key
        if asked.late and kind == "tools" and not asked.task.cancelled():
            self._note(caller, connection, asked.task.result())

    def _came(self, asked: _Asked, name: str) -> Came:
        if asked.task.done() and not asked.task.cancelled():
            return asked.task.result()
        asked.late = True
        return Missing(f"{name} has not answered yet; try again in a moment", comes=True)

    def _note(self, caller: Caller, connection: Connection, came: Came) -> None:
        run, name = self._run_of(caller), connection.name
        had = run.had.get(name, came)
        both_missing = isinstance(had, Missing) and isinstance(came, Missing)
        if had is not came and had != came and not both_missing:
            run.turn += 1
        run.had[name] = came
        run.asked_at[name] = asyncio.get_running_loop().time()

    def _run_of(self, caller: Caller) -> _Run:
        key = (caller.session.token_sha256, caller.back.era)
        run = self._runs.get(key)
        if run is None:
            if len(self._runs) >= REMEMBERED:
                self._runs.clear()
            run = self._runs[key] = _Run()
        return run

    async def _listed(self, caller: Caller, connection: Connection, kind: Kind) -> Came:
        try:
            async with asyncio.timeout(self.limit_s):
                return await connection.listed(caller, kind)
        except (SandgateError, TimeoutError) as error:
            log.warning("connection_unreachable", connection=connection.name, error=str(error))
            if isinstance(error, Starting):
                return Missing(str(error)[:WHY_CHARS], comes=True)
            return Missing(f"{connection.name} can't be reached")
