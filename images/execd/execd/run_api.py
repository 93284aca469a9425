"""Handlers for commands: run, interrupt, status, logs; and the sweep."""

import asyncio
from collections.abc import AsyncGenerator

from execd.answer import Answer, Request, of_json
from execd.children import Children
from execd.clock import now_ms, rfc3339
from execd.command import Command
from execd.commands import Commands
from execd.errors import Refused
from execd.events import PING_S, ended, event
from execd.log import Page, read
from execd.output import Outbox
from execd.routes import Route
from execd.sweep import sweep
from execd.text import LineText

BLOCK = 256 * 1024
SMALL = 1 << 20
CURSOR = "EXECD-COMMANDS-TAIL-CURSOR"
RUNNING = "EXECD-COMMAND-RUNNING"
"""Beside the contract: it spares who follows a command from asking for its status each time, too."""
STREAM_HEADERS = (("Cache-Control", "no-cache"), ("X-Accel-Buffering", "no"))


class RunApi:
    """What POST /command and its kin do."""

    def __init__(self, commands: Commands, children: Children) -> None:
        self._commands = commands
        self._children = children

    def routes(self) -> list[Route]:
        """Return the part of the contract that is served here."""
        return [
            ("POST", "/command", self.run),
            ("DELETE", "/command", self.interrupt),
            ("GET", "/command/status/([^/]+)", self.status),
            ("GET", "/command/([^/]+)/logs", self.logs),
            ("POST", "/sweep", self.sweep),
        ]

    async def run(self, request: Request) -> Answer:
        """Start a command; stream its events, or just say that it runs in the background."""
        order = self._commands.order(await request.body.json())
        if order.background:
            body = _told(self._commands.background(order))
        else:
            body = _followed(*self._commands.foreground(order))
        return Answer(body=body, content_type="text/event-stream", headers=STREAM_HEADERS)

    async def interrupt(self, request: Request) -> Answer:
        """Interrupt a command (SIGINT, SIGKILL 2 s later); one that has ended is left alone."""
        self._commands.get(request.one("id")).interrupt()
        return Answer()

    async def status(self, request: Request) -> Answer:
        """Say whether a command runs, and how it ended."""
        command = self._commands.get(request.args[0])
        told = {
            "id": command.id,
            "content": command.content,
            "running": command.running,
            "exit_code": command.exit_code,
            "error": command.error,
            "started_at": rfc3339(command.started_ms),
        }
        if command.finished_ms is not None:
            told["finished_at"] = rfc3339(command.finished_ms)
        return of_json(told)

    async def logs(self, request: Request) -> Answer:
        """Return the whole lines after `cursor`, at most about `limit` bytes (ours) of them.

        And whether it ran just before they were read: once it doesn't, all that it said can be read.
        """
        command = self._commands.get(request.args[0])
        if command.log is None:
            raise Refused(400, "NOT_IN_BACKGROUND", "only a background command has logs")
        cursor, limit = request.number("cursor", -1), request.number("limit", None)
        running = "true" if command.running else "false"
        page = command.log.page(-1 if cursor is None else cursor, limit)
        size = sum(map(len, page.pieces))
        return Answer(
            body=b"".join(_blocks(page)) if size <= SMALL else _streamed(page),
            content_type="text/plain; charset=utf-8",
            headers=((CURSOR, str(page.cursor)), (RUNNING, running)),
            length=size,
        )

    async def sweep(self, request: Request) -> Answer:  # noqa: ARG002  # nothing to ask
        """Kill whatever is left of former commands."""
        return of_json(await sweep(self._children))


async def _told(command: Command) -> AsyncGenerator[bytes, None]:
    yield event("init", text=command.id, at_ms=command.started_ms)
    if command.exit_code is None and not command.running:
        yield _last(command)
    else:
        yield event("execution_complete", execution_time=0, at_ms=now_ms())


async def _followed(command: Command, outbox: Outbox) -> AsyncGenerator[bytes, None]:
    """Yield a command's events until it has ended; kill it when nobody follows any longer."""
    texts = {"stdout": LineText(), "stderr": LineText()}
    try:
        yield event("init", text=command.id, at_ms=command.started_ms)
        while True:
            try:
                async with asyncio.timeout(PING_S):
                    output = await outbox.take()
            except TimeoutError:
                yield event("ping", text="pong", at_ms=now_ms())
                continue
            if output is None:
                break
            command.resume()
            stream, data = output
            if text := texts[stream].feed(data):
                yield event(stream, text=text, at_ms=now_ms())
    finally:
        command.kill()
    for stream, rest in texts.items():
        if text := rest.end():
            yield event(stream, text=text, at_ms=now_ms())
    yield _last(command)


def _last(command: Command) -> bytes:
    return ended(
        command.exit_code,
        error=command.error,
        started_ms=command.started_ms,
        finished_ms=command.finished_ms or now_ms(),
    )


def _blocks(page: Page) -> list[bytes]:
    return [read(piece, at, BLOCK) for piece in page.pieces for at in range(0, len(piece), BLOCK)]


async def _streamed(page: Page) -> AsyncGenerator[bytes, None]:
    for piece in page.pieces:
        for at in range(0, len(piece), BLOCK):
            yield read(piece, at, BLOCK)
