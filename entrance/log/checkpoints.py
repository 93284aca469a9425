"""Vouches for the newest lines, every few seconds while there are any, beside the thread that writes."""

import threading
import weakref

import structlog

from entrance.log.segments import Segments

log = structlog.get_logger()

EVERY_S = 3.0


class Checkpoints:
    """Signs where the open segment ends, and lets retention do its work."""

    def __init__(self, segments: Segments, every_s: float = EVERY_S) -> None:
        self._new, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(
            target=_work,
            args=(segments, self._new, self._over, every_s),
            name="log-checkpoints",
            daemon=True,
        )
        self._thread.start()
        weakref.finalize(self, _end, self._new, self._over)

    def due(self) -> None:
        """There are new lines."""
        self._new.set()

    def close(self) -> None:
        """There are no more. Blocking."""
        _end(self._new, self._over)
        self._thread.join()


def _work(segments: Segments, new: threading.Event, over: threading.Event, every_s: float) -> None:
    dropped_at = 0
    while True:
        new.wait()
        new.clear()
        try:
            segments.vouch()
            if segments.kept.segment != dropped_at:
                dropped_at = segments.kept.segment
                segments.drop()
        except OSError as error:  # whoever writes is told of a full disk; this is tried again
            log.warning("log_not_vouched_for", error=str(error))
            new.set()
        if over.wait(every_s):
            return


def _end(new: threading.Event, over: threading.Event) -> None:
    over.set()
    new.set()
