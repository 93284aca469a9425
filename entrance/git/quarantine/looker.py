"""The process that looks through what is pushed: `python -m entrance.git.quarantine.looker MEMORY`.

It parses hostile bytes, so that the door doesn't. Jobs come on standard input, results go to standard
output (see `frames`); several are worked on in turns, so that a large push doesn't keep a small
one waiting. It ends when its input does. MEMORY is a file descriptor (see `compiled`).
"""

import resource
import select
import sys
import traceback
from collections.abc import Generator
from dataclasses import dataclass
from typing import BinaryIO

from entrance.git.checks.scanners.engine import engine
from entrance.git.quarantine.children import TroubleError
from entrance.git.quarantine.compiled import keep, kept_in
from entrance.git.quarantine.frames import Frames, Job, Result, pack
from entrance.git.quarantine.reading import read

MEMORY_BYTES = 2 << 30
"""Of address space, for it and for each git that it starts."""
_READ_BYTES = 1 << 16
_FAILED = "what is pushed can't be looked through; push in smaller steps"


@dataclass(slots=True)
class _Working:
    """A job, and what it waits for: a file descriptor, or nothing."""

    steps: Generator[int | None, None, Result]
    waits: int | None = None


class Looker:
    """Works on jobs in turns."""

    def __init__(self, came: BinaryIO, goes: BinaryIO) -> None:
        self._came = came
        self._goes = goes
        self._frames = Frames()
        self._jobs: dict[int, _Working] = {}

    def work(self) -> None:
        """Until there is no more input."""
        while self._wait():
            for number, job in tuple(self._jobs.items()):
                if job.waits is None:
                    self._step(number, job)

    def _wait(self) -> bool:
        """For new jobs, or for what a job waits for, unless one may go on. False at the end."""
        waiting = {job.waits: job for job in self._jobs.values() if job.waits is not None}
        idle = len(waiting) == len(self._jobs)
        came = self._came.fileno()
        ready, _, _ = select.select([came, *waiting], [], [], None if idle else 0)
        for one in ready:
            if one in waiting:
                waiting[one].waits = None
        return self._take() if came in ready else True

    def _take(self) -> bool:
        data = self._came.read(_READ_BYTES)
        for said in self._frames.feed(data):
            if "cancel" in said:
                if working := self._jobs.pop(said["cancel"], None):
                    working.steps.close()
            else:
                job = Job.of(said)
                self._jobs[job.id] = _Working(read(job))
        return bool(data)

    def _step(self, number: int, job: _Working) -> None:
        try:
            job.waits = next(job.steps)
        except StopIteration as done:
            self._tell(number, done.value)
        except TroubleError as trouble:
            self._tell(number, Result(number, trouble=str(trouble), broken=trouble.broken))
        except Exception as error:  # noqa: BLE001 - the others' pushes are not to fail with it
            traceback.print_exception(error)
            self._tell(number, Result(number, trouble=_FAILED))

    def _tell(self, number: int, result: Result) -> None:
        del self._jobs[number]
        self._goes.write(pack(result.said()))
        self._goes.flush()


def main() -> None:
    """Work until told no more."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    memory = int(sys.argv[1])
    made = engine(kept_in(memory))  # before the first push waits for it
    keep(memory, made.compiled)
    came = open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)  # noqa: SIM115
    Looker(came, sys.stdout.buffer).work()


if __name__ == "__main__":
    main()
