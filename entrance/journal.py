"""Appends chained lines to a file: on the disk before they count, many at once when many come."""

import asyncio
import os
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from entrance.chain import end_of, private, verify
from entrance.errors import Unavailable

BATCH = 512
"""So many lines wait for the disk together at most."""
LENT_S = 0.001
"""So long the loop stands still at most, to let a line get to the disk beside what it does next."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A line to be written, and who waits for its number."""

    fields: Mapping[str, Any]
    number: "asyncio.Future[int]"


class Journal:
    """The lines of one file, written by one process, in one thread.

    A file that another has changed is not written to again.
    Raises, when opened: Malformed when its last whole line can't be read.
    """

    def __init__(self, path: Path, now: Callable[[], datetime]) -> None:
        self._file = _File(path, now)
        self._desk = _Desk()
        self._begun = False

    def append(self, fields: Mapping[str, Any]) -> "asyncio.Future[int]":
        """Begin to write a line. Its number is known once it is on the disk.

        The line is written even if nobody waits for it any more. The future fails with Unavailable,
        and then the line is not in the file.
        """
        if not self._begun:
            self._begin()
        number: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._desk.queue.put(_Wanted(fields, number))
        return number

    def append_beside(self, fields: Mapping[str, Any]) -> "asyncio.Future[int]":
        """The same for who has more to do meanwhile, and not to wait at once.

        The thread could not begin before the loop next waits, as only one of them may run Python.
        So it is let run until it waits for the disk: some 100 microseconds to overlap several hundred.
        """
        idle = self._desk.idle
        self._desk.syncing.acquire(blocking=False)  # what is left of a line that took too long
        number = self.append(fields)
        if idle:
            self._desk.syncing.acquire(timeout=LENT_S)
        return number

    def check(self) -> int:
        """How many lines there are; it can be written, and its chain is whole. Blocking.

        Raises: OSError, ValueError.
        """
        return self._file.check()

    def _begin(self) -> None:
        # A daemon: what is not on the disk when the process ends was never answered.
        arguments = self._desk, self._file
        threading.Thread(target=_work, args=arguments, name="journal", daemon=True).start()
        weakref.finalize(self, self._desk.queue.put, None)
        self._begun = True


class _Desk:
    """Between the loop and the thread. None in the queue: it is over."""

    def __init__(self) -> None:
        self.queue: SimpleQueue[_Wanted | None] = SimpleQueue()
        self.idle = True
        """Whether the thread waits for work. Only it sets this."""
        self.syncing = threading.Lock()
        """Released when the thread begins to wait for the disk. Only it does that."""

    def begin_to_sync(self) -> None:
        if self.syncing.locked():
            self.syncing.release()


def _work(desk: _Desk, file: "_File") -> None:
    while batch := _batch(desk):
        _told(batch, file, desk.begin_to_sync)


def _batch(desk: _Desk) -> Sequence[_Wanted]:
    """Whatever is wanted now; waits until there is something. Nothing: it is over."""
    desk.idle = True
    wanted, batch = desk.queue.get(), list[_Wanted]()
    desk.idle = False
    with suppress(Empty):
        while wanted is not None:
            batch.append(wanted)
            if len(batch) == BATCH:
                return batch
            wanted = desk.queue.get_nowait()
        desk.queue.put(None)  # for the next time
    return batch


def _told(batch: Sequence[_Wanted], file: "_File", syncing: Callable[[], None]) -> None:
    """Write a batch and tell who waits."""
    try:
        came = file.append([wanted.fields for wanted in batch], syncing)
    except Exception as error:  # noqa: BLE001 - whatever it is, whoever waits must not wait for ever
        came = [error] * len(batch)
    for loop in {wanted.number.get_loop() for wanted in batch}:
        told = [
            (wanted.number, each)
            for wanted, each in zip(batch, came, strict=True)
            if wanted.number.get_loop() is loop
        ]
        with suppress(RuntimeError):  # closed: nobody waits there any more
            loop.call_soon_threadsafe(_tell, told, file.path)


def _tell(told: Sequence[tuple["asyncio.Future[int]", int | Exception]], path: Path) -> None:
    for number, came in told:
        if number.done():  # its caller was cancelled
            continue
        if isinstance(came, Exception):
            failure = Unavailable(f"the audit log {path} can't be written: {came}")
            failure.__cause__ = came
            number.set_exception(failure)
        else:
            number.set_result(came)


class _File:
    """The file itself, and the end of its chain."""

    def __init__(self, path: Path, now: Callable[[], datetime]) -> None:
        self.path = path
        self._now = now
        self._lock = threading.Lock()
        self._torn = False
        self._end = end_of(path)

    def append(
        self, lines: Sequence[Mapping[str, Any]], syncing: Callable[[], None]
    ) -> Sequence[int | Exception]:
        """Write lines in one go, and say their numbers; `syncing` when only the disk is waited for.

        What can't be written as JSON gets its error, and the others are written all the same.
        Raises: OSError; then none counts.
        """
        with self._lock:
            at, end, parts = self._now().isoformat(), self._end, list[bytes]()
            came: list[int | Exception] = []
            for fields in lines:
                try:
                    raw, end = end.line(at, fields)
                except (TypeError, ValueError) as error:
                    came.append(error)
                else:
                    parts.append(raw)
                    came.append(end.seq)
            if parts:
                self._write(b"".join(parts), syncing)
            self._end = end
            return came

    def check(self) -> int:
        with self._lock:
            handle = self._open()
            os.close(handle)
            size = self._end.size_bytes
        # Its end moves on meanwhile; what is checked ends with a whole line.
        return verify(self.path, size)

    def _write(self, raw: bytes, syncing: Callable[[], None]) -> None:
        handle = self._open()
        try:
            self._torn = True
            while raw:
                raw = raw[os.write(handle, raw) :]
            syncing()
            os.fdatasync(handle)
            self._torn = False
        finally:
            os.close(handle)

    def _open(self) -> int:
        """The file, as we left it. Raises: OSError when it isn't."""
        handle = private(str(self.path), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC)
        try:
            self._look_at(handle)
        except OSError:
            os.close(handle)
            raise
        return handle

    def _look_at(self, handle: int) -> None:
        ours = self._end.size_bytes
        if self._torn:  # half a line would break the chain for good
            os.ftruncate(handle, ours)
            self._torn = False
        size = os.fstat(handle).st_size
        if size != ours:
            raise OSError(f"it has {size} bytes where we left {ours}: somebody changed it")
