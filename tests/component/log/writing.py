"""A process that writes a log, for tests that end it: `python -m tests.component.log.writing FOLDER`.

Each number that it prints is of a record that it was told is on the disk. With `--room BYTES`, no
file may become larger than that, as on a disk that is full: it prints "full" when that is seen, has
room again, and writes on to the end.
"""

import argparse
import asyncio
import os
import resource
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from entrance.decision import Deny
from entrance.errors import Unavailable
from entrance.log.egress_log import EgressLog
from entrance.log.records import Decided
from entrance.log.segments import Rules
from tests.servers.log import open_log

WRITERS = 40
RECORD = Decided("request", "GET /" + "x" * 200, Deny("no"), address="10.0.0.2")


def say(word: object) -> None:
    os.write(1, f"{word}\n".encode())


def ticking() -> Callable[[], datetime]:
    """A clock that goes on by a second with every look at it."""
    seconds = count()
    return lambda: datetime(2026, 1, 5, tzinfo=UTC) + timedelta(seconds=next(seconds))


async def write_for_ever(log: EgressLog) -> None:
    async def one() -> None:
        while True:
            say(await log.decided(RECORD))

    async with asyncio.TaskGroup() as tasks:
        for _ in range(WRITERS):
            tasks.create_task(one())


async def write_until_full(log: EgressLog, room: int) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, most))
    try:
        while True:
            say(await log.decided(RECORD))
    except Unavailable:
        say("full")
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    for _ in range(3):
        say(await log.decided(RECORD))
    await log.close()


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--segment-bytes", type=int, default=64 << 20)
    parser.add_argument("--room", type=int, default=0)
    given = parser.parse_args()
    log = open_log(given.folder, Rules(given.segment_bytes), now=ticking())
    await (write_until_full(log, given.room) if given.room else write_for_ever(log))


if __name__ == "__main__":
    asyncio.run(main())
