"""A disk that takes its time, and may fail then."""

import os

from entrance.disk import Done


class FakeDisk:
    """Implements `entrance.disk.Disk`: what is begun ends when it is told to."""

    def __init__(self) -> None:
        self.begun: list[tuple[int, Done]] = []
        self.syncs = 0
        self.prompt = False
        """Whether it no longer takes its time."""
        self.hurries = 0
        self.hurried = False
        """Whether what was begun ends when somebody is in a hurry."""

    def sync(self, handle: int, done: Done) -> None:
        self.syncs += 1
        self.begun.append((handle, done))
        if self.prompt:
            self.end()

    def hurry(self) -> None:
        self.hurries += 1
        if self.hurried:
            self.end()

    def end(self, error: OSError | None = None) -> None:
        """End what was begun first, in order or by an error; from now on it is prompt."""
        self.prompt = not self.hurried
        handle, done = self.begun.pop(0)
        if error is None:
            os.fdatasync(handle)
        done(error)
