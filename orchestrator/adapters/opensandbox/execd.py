"""The commands and files of one sandbox: execd, through the server's proxy.

What comes from it was written by an agent, or by whoever took its place: every read has a bound,
and an end without an exit code is never taken for success.
"""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import aiohttp

from entrance.errors import Malformed
from orchestrator.adapters.opensandbox.events import Stream
from orchestrator.adapters.opensandbox.http import (
    CALL_S,
    Server,
    read_bytes,
    read_json,
    read_some,
)
from orchestrator.ports import Completed, WayIn

PORT = 44772
PING_S = 2.0
MARGIN_S = 5.0
"""How long after a command's own time execd may take to say that it is over."""
PAGE_BYTES = 2 << 20
"""How much of a log is asked for at once; lines longer than the bound are cut short."""
BOUND_BYTES = 12 << 20
CURSOR = "EXECD-COMMANDS-TAIL-CURSOR"
RUNNING = "EXECD-COMMAND-RUNNING"
"""Our own execd's: older ones don't say it, nor does the official one."""


@dataclass(frozen=True, slots=True)
class Status:
    """Where a command is. `exit_code` is None while it runs, and when it never started."""

    running: bool
    exit_code: int | None
    error: str


@dataclass(frozen=True, slots=True)
class Page:
    """Whole lines of a command's output, and the cursor to go on from."""

    lines: Sequence[str]
    cursor: int
    running: bool = False
    """Whether the command is known to have run when they were read."""


class Execd:
    """One sandbox's execd. Every call raises NotFound, Unavailable or Malformed as `Server` does."""

    def __init__(self, server: Server, sandbox: str, token: str) -> None:
        self._server = server
        self._path = f"/v1/sandboxes/{sandbox}/proxy/{PORT}"
        self._headers = {"X-EXECD-ACCESS-TOKEN": token}

    def way_in(self, port: int) -> WayIn:
        """The way to whoever listens on a port inside: through execd, which hands requests on."""
        url, headers = self._server.reached(f"{self._path}/proxy/{port}")
        return WayIn(url, {**headers, **self._headers})

    async def ping(self) -> None:
        """Return when it answers."""
        async with self._server.call(
            "GET", f"{self._path}/ping", headers=self._headers, timeout_s=PING_S
        ):
            pass

    async def run(
        self, argv: Sequence[str], *, env: Mapping[str, str], cwd: str, timeout_s: float
    ) -> Completed:
        """Run a command to its end; execd kills it after `timeout_s`."""
        order = {**_order(argv, env, cwd), "timeout": int(timeout_s * 1000)}
        stream = await self._stream(order, timeout_s + MARGIN_S)
        return Completed(stream.exit_code, stream.output)

    async def start(self, argv: Sequence[str], *, env: Mapping[str, str], cwd: str) -> str:
        """Start a command in the background; return its id. Raises: Malformed when it can't start."""
        stream = await self._stream({**_order(argv, env, cwd), "background": True}, CALL_S)
        if stream.exit_code != 0 or not stream.command:
            why = stream.output.strip()[-300:] or "execd did not say why"
            raise Malformed(f"{argv[0]} could not be started in the sandbox: {why}")
        return stream.command

    async def status(self, command: str) -> Status:
        """Where a background command is."""
        path = f"{self._path}/command/status/{command}"
        async with self._server.call("GET", path, headers=self._headers) as answer:
            body = await read_json(answer)
        running, code = body.get("running"), body.get("exit_code")
        if not isinstance(running, bool) or not (code is None or isinstance(code, int)):
            raise Malformed("execd described a command in a way that can't be read")
        return Status(running, None if running else code, str(body.get("error") or ""))

    async def logs(self, command: str, cursor: int) -> Page:
        """Whole lines of its output after line `cursor` (-1: from the start)."""
        path = f"{self._path}/command/{command}/logs"
        query = {"cursor": str(cursor), "limit": str(PAGE_BYTES)}
        async with self._server.call("GET", path, query=query, headers=self._headers) as answer:
            raw, cut = await read_some(answer, BOUND_BYTES)
            said = answer.headers.get(CURSOR, "")
            running = answer.headers.get(RUNNING) == "true"
        lines = raw.decode(errors="replace").split("\n")
        if len(lines) > 1 and (cut or lines[-1] == ""):
            lines.pop()  # nothing, or the piece of a line that comes whole the next time
        if lines == [""]:
            lines = []
        if cut or not said.lstrip("-").isdigit():
            return Page(lines, cursor + len(lines), running)
        return Page(lines, int(said), running)

    async def interrupt(self, command: str) -> None:
        """SIGINT to the command's process group; our execd sends SIGTERM and SIGKILL after it."""
        async with self._server.call(
            "DELETE", f"{self._path}/command", query={"id": command}, headers=self._headers
        ):
            pass

    async def sweep(self) -> None:
        """Kill every process but execd's own."""
        async with self._server.call("POST", f"{self._path}/sweep", headers=self._headers):
            pass

    async def write(self, path: str, content: bytes, mode: int) -> None:
        """Write a file; folders are made. `mode` as in chmod, e.g. 0o600."""
        # execd wants the octal digits as a decimal number: 0o600 goes as 600.
        about = json.dumps({"path": path, "mode": int(f"{mode:o}")})
        form = aiohttp.FormData()
        form.add_field("metadata", about, filename="metadata", content_type="application/json")
        # As a file, which is sent in pieces: large bytes in one would hold the loop.
        file = io.BytesIO(content)
        form.add_field("file", file, filename="file", content_type="application/octet-stream")
        async with self._server.call(
            "POST", f"{self._path}/files/upload", data=form, headers=self._headers
        ):
            pass

    async def read(self, path: str, limit: int) -> bytes:
        """The file's content. Raises: NotFound, TooLong beyond `limit` bytes."""
        async with self._server.call(
            "GET", f"{self._path}/files/download", query={"path": path}, headers=self._headers
        ) as answer:
            return await read_bytes(answer, limit)

    async def _stream(self, order: Mapping[str, object], timeout_s: float) -> Stream:
        stream = Stream()
        async with self._server.call(
            "POST",
            f"{self._path}/command",
            json_body=order,
            headers=self._headers,
            timeout_s=timeout_s,
        ) as answer:
            async for part in answer.content.iter_any():
                stream.feed(part)
        return stream


def _order(argv: Sequence[str], env: Mapping[str, str], cwd: str) -> dict[str, object]:
    return {"argv": list(argv), "envs": dict(env), "cwd": cwd}
