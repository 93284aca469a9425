"""A meter in memory; while `down`, nothing can be read or added."""

from entrance.errors import Unavailable
from entrance.ports import Usage
from entrance.session import RunId


class FakeMeter:
    """`entrance.ports.Meter` for tests."""

    def __init__(self) -> None:
        self.usage: dict[RunId, Usage] = {}
        self.down = False

    async def spent(self, run: RunId) -> Usage:
        self._reach()
        return self.usage.get(run, Usage())

    async def add(self, run: RunId, usage: Usage) -> None:
        self._reach()
        self.usage[run] = self.usage.get(run, Usage()) + usage

    def _reach(self) -> None:
        if self.down:
            raise Unavailable("the meter can't be reached")
