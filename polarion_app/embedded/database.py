"""SQLite in WAL mode: one writer thread, a few reader threads, nothing on the event loop.

A write that was answered is on the disk (`synchronous=FULL`); one that fails leaves nothing.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Self

from polarion_app.embedded.query.functions import register

SCHEMA_VERSION = 1
READERS = 4
BUSY_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class Change:
    """One write: the open transaction, its revision number, and who writes when (`...Z`)."""

    db: sqlite3.Connection
    revision: int
    at: str
    author: str


class Database:
    """The store. `open()` it before use and `close()` it afterwards."""

    def __init__(self, folder: Path, now: Callable[[], datetime]) -> None:
        self.folder = folder
        self._now = now
        self._path = folder / "polarion.sqlite3"
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="polarion-writer")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="polarion-reader")
        self._thread = threading.local()
        self._connections: list[sqlite3.Connection] = []

    async def open(self) -> Self:
        """Create the database, or check its version. Raises: RuntimeError for a newer schema."""
        await self._on(self._writer, self._prepare)
        return self

    async def close(self) -> None:
        """Finish what was begun and close every connection."""
        for threads in (self._writer, self._readers):
            await asyncio.to_thread(threads.shutdown, wait=True)
        for connection in self._connections:
            connection.close()

    async def read[T](self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` on one consistent snapshot."""
        return await self._on(self._readers, lambda: self._reading(work))

    async def write[T](self, author: str, work: Callable[[Change], T]) -> T:
        """Run `work` as one transaction that becomes the next revision; all of it or nothing."""
        return await self._on(self._writer, lambda: self._writing(author, work))

    def now(self) -> str:
        """The time as the REST API writes it: UTC to the millisecond, ending in Z."""
        return self._now().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    async def _on[T](self, threads: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(threads, work)

    def _reading[T](self, work: Callable[[sqlite3.Connection], T]) -> T:
        db = self._connection()
        db.execute("BEGIN")
        try:
            return work(db)
        finally:
            db.rollback()

    def _writing[T](self, author: str, work: Callable[[Change], T]) -> T:
        db = self._connection()
        db.execute("BEGIN IMMEDIATE")
        try:
            at = self.now()
            row = db.execute("INSERT INTO revision (at, author) VALUES (?, ?)", (at, author))
            result = work(Change(db, row.lastrowid or 0, at, author))
            db.commit()
        except BaseException:
            db.rollback()
            raise
        return result

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._thread, "connection", None)
        if connection is None:
            connection = sqlite3.connect(
                self._path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
            )
            connection.row_factory = sqlite3.Row
            for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
                connection.execute(f"PRAGMA {pragma}")
            register(connection)
            self._thread.connection = connection
            self._connections.append(connection)
        return connection

    def _prepare(self) -> None:
        db = self._connection()
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version > SCHEMA_VERSION:
            raise RuntimeError(
                f"{self._path} was written by a newer version (schema {version}, this one knows"
                f" {SCHEMA_VERSION}): start that version, or use another --data folder"
            )
        if version == 0:
            schema = files("polarion_app.embedded").joinpath("schema.sql").read_text("utf-8")
            db.executescript(f"BEGIN; {schema} PRAGMA user_version={SCHEMA_VERSION}; COMMIT;")
