"""The process that looks through what is pushed: `python -m entrance.git.quarantine.looker`.

It parses hostile bytes, so that the door doesn't. Jobs come on standard input, results go to standard
output (see `frames`); several are worked on in turns, so that a large push doesn't keep a small
one waiting. It ends when its input does.
"""

import resource
import select
import sys
from collections import deque
from collections.abc import Generator
from typing import BinaryIO

from entrance.git.quarantine.frames import Frames, Job, Result, pack
from entrance.git.quarantine.look import Look
from entrance.git.quarantine.news import News
from entrance.git.quarantine.objects import TroubleError

MEMORY_BYTES = 1 << 30
REMEMBERED = 64
_READ_BYTES = 1 << 16


class Looker:
    """Works on jobs in turns."""

    def __init__(self, came: BinaryIO, goes: BinaryIO) -> None:
        self._came = came
        self._goes = goes
        self._frames = Frames()
        self._jobs: deque[tuple[int, Generator[None, None, Result]]] = deque()

    def work(self) -> None:
        """Until there is no more input."""
        while self._take():
            if self._jobs:
                self._step(*self._jobs.popleft())

    def _take(self) -> bool:
        """New jobs; waits for one when there is nothing to do. False at the end."""
        wait = None if not self._jobs else 0
        ready, _, _ = select.select([self._came], [], [], wait)
        if not ready:
            return True
        data = self._came.read(_READ_BYTES)
        for said in self._frames.feed(data):
            if "cancel" in said:
                self._cancel(said["cancel"])
            else:
                job = Job.of(said)
                work = News(job) if job.beside else Look(job)
                self._jobs.append((job.id, work.steps()))
        return bool(data)

    def _cancel(self, number: int) -> None:
        for one in [job for job in self._jobs if job[0] == number]:
            one[1].close()
            self._jobs.remove(one)

    def _step(self, number: int, job: Generator[None, None, Result]) -> None:
        try:
            next(job)
        except StopIteration as done:
            self._tell(done.value)
        except TroubleError as trouble:
            self._tell(Result(number, trouble=str(trouble)))
        else:
            self._jobs.append((number, job))

    def _tell(self, result: Result) -> None:
        self._goes.write(pack(result))
        self._goes.flush()


def main() -> None:
    """Work until told no more."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    came = open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)  # noqa: SIM115
    Looker(came, sys.stdout.buffer).work()


if __name__ == "__main__":
    main()
