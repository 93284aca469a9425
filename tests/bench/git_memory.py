"""The memory of a process and of what it has begun, looked at again and again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_EVERY_S = 0.1


@dataclass(slots=True)
class Memory:
    """`children_mib`: the most that all of them had together whenever it was looked at."""

    pid: int
    children_mib: float = 0

    def peak_mib(self) -> float:
        """The most that the process itself ever had, by the kernel's own count."""
        return _of(self.pid, "VmHWM")

    def look(self) -> None:
        own = sum(_of(pid, "VmRSS") for pid in _below(self.pid))
        self.children_mib = max(self.children_mib, own)


@asynccontextmanager
async def watched(pid: int) -> AsyncIterator[Memory]:
    """Looks until the block ends."""
    memory = Memory(pid)

    async def look() -> None:
        while True:
            memory.look()
            await asyncio.sleep(_EVERY_S)

    task = asyncio.ensure_future(look())
    try:
        yield memory
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def _of(pid: int, what: str) -> float:
    """MiB; 0 when it is no more."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(f"{what}:"):
                return int(line.split()[1]) / 1024
    return 0


def _below(pid: int) -> list[int]:
    """Its children, and theirs."""
    found: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            children = [int(child) for child in (task / "children").read_text().split()]
            found += [*children, *(each for child in children for each in _below(child))]
    return found
