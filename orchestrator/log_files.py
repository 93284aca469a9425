"""Keeps the log files of an installation's programs small, while the programs write on.

Each program appends to its file, whoever has cut it meanwhile. What a file held is in the older one
beside it, `NAME.log.1`; together they are never much more than twice the cap.
"""

import asyncio
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import structlog

CAP_BYTES = 8 * 1024 * 1024
EVERY_S = 60.0

log = structlog.get_logger()


def rotate(file: Path, *, cap_bytes: int = CAP_BYTES) -> bool:
    """Put what a log holds into the older one and empty it, once it is longer than `cap_bytes`.

    It must be written by appending only. Blocking. Raises: OSError.
    """
    if not file.exists() or file.stat().st_size <= cap_bytes:
        return False
    older = file.with_suffix(f"{file.suffix}.1")
    part = file.with_suffix(f"{file.suffix}.part")
    try:
        shutil.copyfile(file, part)
        part.replace(older)
    finally:
        part.unlink(missing_ok=True)
    os.truncate(file, 0)
    return True


@dataclass(frozen=True, slots=True)
class LogFiles:
    """The logs of one installation: `*.log` in a folder, which need not be there."""

    folder: Path
    cap_bytes: int = CAP_BYTES
    every_s: float = EVERY_S

    async def run(self) -> None:
        """Look after them until cancelled."""
        while True:
            await asyncio.to_thread(self.look)
            await asyncio.sleep(self.every_s)

    def look(self) -> None:
        """Rotate those that are too long. Blocking."""
        for file in sorted(self.folder.glob("*.log")):
            try:
                if rotate(file, cap_bytes=self.cap_bytes):
                    log.info("log_rotated", file=file.name)
            except OSError as error:
                log.warning("log_not_rotated", file=file.name, error=str(error))
