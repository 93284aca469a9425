"""What the disk takes to keep one line: the record of each call waits for that."""

import asyncio
import os
from pathlib import Path
from statistics import median
from time import perf_counter

_LINE = b"x" * 600
_TIMES = 40
_PAUSE_S = 0.02


async def disk_s(home: Path) -> float:
    """Seconds, the median of some lines with pauses between them."""
    took: list[float] = []
    with (home / "line").open("ab") as file:
        for _ in range(_TIMES):
            await asyncio.sleep(_PAUSE_S)
            file.write(_LINE)
            file.flush()
            begun = perf_counter()
            os.fdatasync(file.fileno())
            took.append(perf_counter() - begun)
    return median(took)
