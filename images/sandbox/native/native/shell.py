"""The bash tool: a fresh shell a call, a deadline for its process group, bounded output."""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from native.output import LONGEST_CHARS, Outcome, Spill, cut
from native.schema import parameters
from native.text import readable

DEFAULT_TIMEOUT_S = 120
LONGEST_TIMEOUT_S = 600
TOO_MUCH_BYTES = 64 << 20
"""A command that writes more is stopped: nobody reads that."""
_SPILL_BYTES = 8 << 20
_CHUNK_BYTES = 1 << 16
_DRAIN_S = 0.3
"""How long output of background processes is still read after the shell itself ended."""
_GRACE_S = 2.0
_SHORT_GRACE_S = 0.5
"""When the loop itself was told to end, and will be killed if it takes long."""

DESCRIPTION = f"""\
Run a command in bash and get its output (stdout and stderr together). Every call is a new shell in the \
working directory: a `cd` does not last. No terminal, no stdin. Stopped after timeout_s \
(default {DEFAULT_TIMEOUT_S}, at most {LONGEST_TIMEOUT_S}) with everything it started. To leave a process \
running, start it in the background with its output in a file: `server > /tmp/server.log 2>&1 &`."""

SCHEMA = parameters(
    ("command",),
    command={"type": "string"},
    timeout_s={"type": "integer", "minimum": 1, "description": f"at most {LONGEST_TIMEOUT_S}"},
)


class Captured:
    """Output as it comes: the head, the tail, and a file with (almost) all once it gets long."""

    def __init__(self, spill: Spill, name: str) -> None:
        self.size = 0
        self._head = bytearray()
        self._tail = bytearray()
        self._spill = spill
        self._name = name
        self._file: BinaryIO | None = None
        self._where = ""

    def add(self, data: bytes) -> None:
        """Take a chunk in."""
        self.size += len(data)
        room = 2 * LONGEST_CHARS - len(self._head)
        self._head += data[:room]
        rest = data[room:]
        if rest:
            if not self._where:
                self._open()
            self._write(rest)
            self._tail = (self._tail + rest)[-LONGEST_CHARS:]

    def text(self) -> str:
        """What the model sees."""
        if self._file is not None:
            self._file.close()
        head = readable(bytes(self._head))
        if self.size > len(self._head):
            text = head + readable(bytes(self._tail))
            return cut(text, f"of {self.size} bytes all but head and tail", self._where)
        return self._spill.bounded(head, self._name)

    def _open(self) -> None:
        try:
            path = self._spill.new(self._name)
            self._file = path.open("wb")
            self._where = f"{path} (the first {_SPILL_BYTES >> 20} MB)"
        except OSError as error:
            self._where = f"could not be kept: {error.strerror}"
        self._write(bytes(self._head))

    def _write(self, data: bytes) -> None:
        if self._file is not None and self._file.tell() < _SPILL_BYTES:
            with contextlib.suppress(OSError):  # the disk is full: the head and the tail must do
                self._file.write(data[: _SPILL_BYTES - self._file.tell()])


class Shell:
    """Runs commands in one working directory."""

    def __init__(self, workdir: Path, spill: Spill) -> None:
        self._workdir = workdir
        self._spill = spill
        self._running: set[subprocess.Popen[bytes]] = set()

    def close(self) -> None:
        """End the commands that still run: in other threads, when the loop was told to end."""
        for process in list(self._running):
            _stop(process, _SHORT_GRACE_S)

    def bash(self, given: dict[str, Any]) -> Outcome:
        """The tool."""
        timeout_s = min(given.get("timeout_s", DEFAULT_TIMEOUT_S), LONGEST_TIMEOUT_S)
        return self.run(["bash", "-c", given["command"]], timeout_s, name="bash.txt")

    def run(self, command: Sequence[str], timeout_s: float, *, name: str) -> Outcome:
        """Run a command to its end or its deadline. An exit code other than 0 is an error."""
        captured = Captured(self._spill, name)
        process = subprocess.Popen(
            command,
            cwd=self._workdir,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._running.add(process)
        try:
            stopped = _follow(process, captured, time.monotonic() + timeout_s, timeout_s)
        except BaseException:
            _stop(process, _SHORT_GRACE_S)
            raise
        finally:
            self._running.discard(process)
            if process.stdout is not None:
                process.stdout.close()
        return _outcome(captured.text(), process.returncode, stopped)


def _follow(
    process: subprocess.Popen[bytes], captured: Captured, deadline: float, timeout_s: float
) -> str | None:
    """Read until the end; say why it had to be stopped, if so."""
    assert process.stdout is not None  # noqa: S101 - told to be a pipe
    descriptor = process.stdout.fileno()
    os.set_blocking(descriptor, False)
    ended_at: float | None = None
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while True:
            now = time.monotonic()
            if ended_at is None and process.poll() is not None:
                ended_at = now
            if ended_at is not None and now > ended_at + _DRAIN_S:
                return None
            if ended_at is None and now > deadline:
                _stop(process)
                return f"stopped after {timeout_s:g} s"
            if selector.select(0.05) and not _take(descriptor, captured):
                return _wait(process, deadline, timeout_s)
            if captured.size > TOO_MUCH_BYTES:
                _stop(process)
                return (
                    f"stopped after {captured.size} bytes of output; send it to a file or filter it"
                )


def _take(descriptor: int, captured: Captured) -> bool:
    """Read what there is; False at the end of the output."""
    try:
        data = os.read(descriptor, _CHUNK_BYTES)
    except BlockingIOError:
        return True
    captured.add(data)
    return bool(data)


def _wait(process: subprocess.Popen[bytes], deadline: float, timeout_s: float) -> str | None:
    """The output ended before the process did: wait for that."""
    try:
        process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        _stop(process)
        return f"stopped after {timeout_s:g} s"
    return None


def _stop(process: subprocess.Popen[bytes], grace_s: float = _GRACE_S) -> None:
    """End the whole process group, gently first."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(grace_s)


def _outcome(text: str, code: int | None, stopped: str | None) -> Outcome:
    text = text.rstrip("\n")
    if stopped is not None:
        return Outcome(f"Command {stopped}.\n{text}".rstrip(), is_error=True)
    if code:
        return Outcome(f"Exit code {code}\n{text}".rstrip(), is_error=True)
    return Outcome(text or "(no output)")
