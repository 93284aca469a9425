"""Tells whoever watches a run that something new is stored; what it is, they read from the store."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from entrance.session import RunId


class Live:
    """One wake-up flag a watcher. Nothing is lost when a watcher is slow: it reads the store."""

    def __init__(self) -> None:
        self._watchers: dict[RunId, set[asyncio.Event]] = defaultdict(set)

    def tell(self, run: RunId) -> None:
        """Wake everybody who watches the run."""
        for flag in self._watchers.get(run, ()):
            flag.set()

    def tell_all(self) -> None:
        """Wake everybody who watches anything."""
        for run in tuple(self._watchers):
            self.tell(run)

    @contextmanager
    def watch(self, run: RunId) -> Iterator[asyncio.Event]:
        """A flag that is set whenever the run has something new; the watcher clears it."""
        flag = asyncio.Event()
        self._watchers[run].add(flag)
        try:
            yield flag
        finally:
            self._watchers[run].discard(flag)
            if not self._watchers[run]:
                del self._watchers[run]
