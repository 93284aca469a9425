"""The log's end of the recorder's wire: keeps what it is told, and can be made to fail."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from entrance.log.wire import LINE_BYTES, read


@dataclass
class RecorderServer:
    """What was told, in order; `answering` decides what becomes of the next records."""

    path: Path
    decided: list[dict[str, Any]] = field(default_factory=list)
    outcomes: list[dict[str, Any]] = field(default_factory=list)
    answering: str = "yes"
    """`yes`, `no` (an error is answered), `silence`, or `kept`: recorded, and not answered."""
    _server: asyncio.Server | None = None
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)
    _seq: int = 0

    async def start(self) -> None:
        """Listen, anew if it was stopped."""
        self.path.unlink(missing_ok=True)
        self._server = await asyncio.start_unix_server(self._serve, self.path, limit=LINE_BYTES)

    async def stop(self) -> None:
        """Go away, with all connections."""
        if self._server is not None:
            self._server.close()
            for writer in list(self._writers):
                writer.transport.abort()
            await self._server.wait_closed()
            self._server = None
        self.path.unlink(missing_ok=True)

    def outcome_of(self, seq: int) -> list[dict[str, Any]]:
        """What was told of the record with that number."""
        return [one for one in self.outcomes if one["of"] == seq]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            async for line in reader:
                asked = json.loads(line)
                read(line)  # the real one takes nothing else
                if self.answering == "silence":
                    continue
                answer: dict[str, Any] = {"id": asked["id"], "error": "the disk is full"}
                if self.answering in {"yes", "kept"}:
                    self._seq += 1
                    answer = {"id": asked["id"], "seq": self._seq}
                    if "decided" in asked:
                        self.decided.append({"seq": self._seq, **asked["decided"]})
                    else:
                        self.outcomes.append(asked["outcome"])
                if self.answering != "kept":
                    writer.write(json.dumps(answer).encode() + b"\n")
        except ConnectionError:
            pass
        finally:
            self._writers.discard(writer)
            writer.close()


@asynccontextmanager
async def recorder_server(path: Path) -> AsyncIterator[RecorderServer]:
    """One that answers."""
    server = RecorderServer(path)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
