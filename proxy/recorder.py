"""Tells the one log of the installation: newline JSON over a Unix socket, answered per record.

A decision is on the disk there before anything of it leaves; without its acknowledgement nothing
does. What was not acknowledged as the log went away is told again when it is back: a decision as long
as somebody waits for it, an outcome until it is acknowledged. The log records each once: it knows a
decision by the key that we give it.
"""

import asyncio
import secrets
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import structlog

PATIENCE_S = 10.0
"""The recorder may be restarting for so long."""
RETRY_S = 0.1
GATHER_S = 0.01
"""So long outcomes are gathered: nobody waits for them, and many are told as fast as one."""
AGAIN_S = 1.0
"""After so long what the log didn't take is told again."""
KEPT_OUTCOMES = 100_000
TRIES = 900
"""So often an outcome is told to a log that is there and doesn't take it: its disk may be full."""
_LINE = 1 << 20
_log = structlog.get_logger(__name__)

Record = Mapping[str, Any]
Later = tuple[str, Record, int]
"""What nobody waits for: its kind, what is told, and how often it was refused."""


class Unrecorded(Exception):
    """The log has not acknowledged the record: what it is about may not happen."""


class Lost(Unrecorded):
    """The log went away before it said anything: the record may be there, or not."""


class Refused(Unrecorded):
    """The log is there, and has not taken the record."""


class Recorder:
    """Appends to the log. `run` must be running in a task of its own."""

    def __init__(self, socket: Path, *, patience_s: float = PATIENCE_S) -> None:
        self._socket = socket
        self._patience_s = patience_s
        self._writer: asyncio.StreamWriter | None = None
        self._lines: list[bytes] = []
        """What is told in this turn of the loop: it goes out in one piece."""
        self._connected = asyncio.Event()
        self._last_id = self._last_key = 0
        self._own = secrets.token_hex(8)
        self._waiting: dict[int, asyncio.Future[int]] = {}
        self._outcomes: deque[Later] = deque(maxlen=KEPT_OUTCOMES)
        self._on_the_way = 0
        self._untold = asyncio.Event()
        self._all_told = asyncio.Event()
        self._all_told.set()

    @property
    def connected(self) -> bool:
        """Whether the recorder is there."""
        return self._connected.is_set()

    @property
    def outcomes_waiting(self) -> int:
        """How many outcomes have yet to be told."""
        return len(self._outcomes) + self._on_the_way

    async def decided(self, record: Record) -> int:
        """The record's number in the log, once it is on the disk. Raises: Unrecorded."""
        keyed = self._keyed(record)
        try:
            async with asyncio.timeout(self._patience_s):
                while True:
                    await self._connected.wait()
                    with suppress(Lost):
                        return await self._ask("decided", keyed)
        except TimeoutError as error:
            raise Unrecorded("the log did not acknowledge the request in time") from error

    def outcome(self, record: Record) -> None:
        """Have the outcome told, now or when the recorder is there again."""
        self._later("outcome", record)

    def broken_off(self, record: Record) -> None:
        """Have a refusal told of something that had been allowed, and is broken off: as an outcome is."""
        self._later("decided", self._keyed(record))

    def _keyed(self, record: Record) -> Record:
        """A decision with a key of its own, by which the log knows it however often it is told."""
        self._last_key += 1
        return {**record, "key": f"{self._own}-{self._last_key}"}

    def _later(self, kind: str, record: Record) -> None:
        self._outcomes.append((kind, record, 0))
        self._all_told.clear()
        self._untold.set()

    async def run(self) -> None:
        """Keep the connection, and tell outcomes. Ends when cancelled, the last outcomes told or lost."""
        async with asyncio.TaskGroup() as group:
            telling = group.create_task(self._tell_outcomes())
            try:
                while True:
                    with suppress(OSError):
                        await self._one_connection()
                    await asyncio.sleep(RETRY_S)
            finally:
                telling.cancel()

    async def flush(self, *, timeout_s: float) -> None:
        """Wait until all outcomes are told, at most so long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._all_told.wait()

    async def _one_connection(self) -> None:
        reader, writer = await asyncio.open_unix_connection(self._socket, limit=_LINE)
        self._writer = writer
        self._connected.set()
        try:
            async for line in reader:
                self._answered(line)
        except ValueError:
            pass  # an answer longer than any of ours: not the recorder
        finally:
            self._connected.clear()
            self._writer = None
            writer.close()
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(Lost("the log went away"))
            self._waiting.clear()

    def _answered(self, line: bytes) -> None:
        try:
            answer = orjson.loads(line)
            waiting = self._waiting.pop(answer["id"], None)
        except (ValueError, KeyError, TypeError):
            return  # whoever waits for it will run out of patience
        if waiting is None or waiting.done():
            return
        if isinstance(answer.get("seq"), int):
            waiting.set_result(answer["seq"])
        else:
            waiting.set_exception(Refused(f"the log can't be written: {answer.get('error')}"))

    async def _ask(self, kind: str, record: Record) -> int:
        """Raises: Unrecorded."""
        number, waiting = self._told(kind, record)
        try:
            return await waiting
        finally:
            self._waiting.pop(number, None)

    def _told(self, kind: str, record: Record) -> tuple[int, asyncio.Future[int]]:
        """Tell it; its number here, and what will be its number in the log. Raises: Lost."""
        if self._writer is None:
            raise Lost("the log is not there")
        loop = asyncio.get_running_loop()
        if not self._lines:
            loop.call_soon(self._send)
        self._last_id = number = self._last_id + 1
        self._lines.append(orjson.dumps({"id": number, kind: record}))
        waiting = self._waiting[number] = loop.create_future()
        return number, waiting

    def _send(self) -> None:
        lines, self._lines = self._lines, []
        if self._writer is not None:  # else those who wait have been told
            self._writer.write(b"\n".join(lines) + b"\n")

    async def _tell_outcomes(self) -> None:
        while True:
            await self._untold.wait()
            await self._connected.wait()
            await asyncio.sleep(GATHER_S)
            batch = list(self._outcomes)
            self._outcomes.clear()
            self._on_the_way = len(batch)
            again = await self._untaken(batch)
            kept = [one for one in again if one[2] < TRIES]
            if len(kept) < len(again):
                _log.error("outcomes_not_recorded", number=len(again) - len(kept))
            self._outcomes.extendleft(reversed(kept))
            self._on_the_way = 0
            if not self._outcomes:
                self._untold.clear()
                self._all_told.set()
            elif kept:
                await asyncio.sleep(AGAIN_S if any(tries for _, _, tries in kept) else RETRY_S)

    async def _untaken(self, batch: list[Later]) -> list[Later]:
        """Tell all of it; those that the log has not acknowledged, each with how often it was refused."""
        try:
            told = [self._told(kind, record) for kind, record, _ in batch]
        except Lost:  # it went away meanwhile: of one turn, it takes all or none
            return batch
        waiting = [each for _, each in told]
        await asyncio.wait(waiting, timeout=self._patience_s)
        for number, _ in told:
            self._waiting.pop(number, None)
        return [
            (kind, record, tries + (not isinstance(why, Lost)))
            for (kind, record, tries), each in zip(batch, waiting, strict=True)
            if (why := _trouble(each)) is not None
        ]


def _trouble(told: asyncio.Future[int]) -> BaseException | None:
    """Why it is not in the log, as far as is known."""
    return told.exception() if told.done() else TimeoutError()
