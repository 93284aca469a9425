"""One command's life: started, read, interrupted or timed out, ended.

It has ended when its own process has; what its children write later is discarded (they keep a
reader, so that a server left behind by `npm run dev &` doesn't die of a broken pipe).
"""

import asyncio
import fcntl
import os
import signal
import struct
import subprocess
import termios
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from execd.children import Children, Identity, signal_group
from execd.clock import now_ms
from execd.log import CommandLog
from execd.output import Sink

READ_BYTES = 65536
INTERRUPT_GRACE_S = 2.0
"""After SIGINT, and again after SIGTERM, so long is waited."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to run. `content` is how it was written, for people."""

    argv: Sequence[str]
    content: str
    env: Mapping[str, str]
    cwd: str | None
    timeout_s: float | None
    run_as: Identity | None
    background: bool


class Pipe:
    """The reading end of a command's output; reading can pause, and end in discarding."""

    def __init__(self, stream: str, feed: Callable[[str, bytes], None]) -> None:
        self._stream = stream
        self._feed: Callable[[str, bytes], None] | None = feed
        self._fd, self.write_end = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._fd, False)
        self._reading = False

    def read(self, *, on: bool) -> None:
        """Read whenever there is something, or stop doing so."""
        if self._fd < 0 or on == self._reading:
            return
        self._reading = on
        loop = asyncio.get_running_loop()
        if on:
            loop.add_reader(self._fd, self._some)
        else:
            loop.remove_reader(self._fd)

    def rest(self) -> None:
        """Read what is in the pipe now, which is all that an ended process wrote; then discard."""
        if self._fd < 0:
            return
        waiting = fcntl.ioctl(self._fd, termios.FIONREAD, struct.pack("i", 0))
        left = struct.unpack("i", waiting)[0]
        while left > 0 and self._fd >= 0:
            left -= self._some(left)
        self._feed = None
        self.read(on=True)

    def close(self) -> None:
        """Let go of the reading end."""
        if self._fd >= 0:
            self.read(on=False)
            os.close(self._fd)
            self._fd = -1

    def _some(self, limit: int = READ_BYTES) -> int:
        try:
            data = os.read(self._fd, min(limit, READ_BYTES))
        except BlockingIOError:
            return limit
        if not data:
            self.close()
        elif self._feed is not None:
            self._feed(self._stream, data)
        return len(data) or limit


class Command:
    """A command and what became of it. Times are Unix milliseconds."""

    def __init__(self, order: Order, sink: Sink, log: CommandLog | None) -> None:
        self.id = os.urandom(16).hex()
        self.content = order.content
        self.log = log
        self.started_ms = now_ms()
        self.finished_ms: int | None = None
        self.exit_code: int | None = None
        self.error = ""
        self._order = order
        self._sink = sink
        self._pid = 0
        self._pipes: list[Pipe] = []
        self._timers: list[asyncio.TimerHandle] = []

    @property
    def running(self) -> bool:
        """Say whether it has not ended."""
        return self.finished_ms is None

    def start(self, children: Children) -> None:
        """Start it. When it can't be started it has ended, with no exit code and an `error`."""
        try:
            out = Pipe("stdout", self._fed)
            self._pipes.append(out)
            err = out
            if not self._order.background:
                err = Pipe("stderr", self._fed)
                self._pipes.append(err)
            self._pid = children.spawn(
                self._order.argv,
                on_exit=self._exited,
                env=self._order.env,
                cwd=self._order.cwd,
                stdout=out.write_end,
                stderr=err.write_end,
                run_as=self._order.run_as,
            )
        except (OSError, ValueError, subprocess.SubprocessError) as problem:
            for pipe in self._pipes:
                pipe.close()
            self._end(None, str(problem))
        finally:
            for pipe in self._pipes:
                os.close(pipe.write_end)
        if self.running:
            self.resume()
            self._later(self._order.timeout_s, self._time_out)

    def resume(self) -> None:
        """Go on reading, when the sink has room again."""
        if self.running and not self._sink.full:
            for pipe in self._pipes:
                pipe.read(on=True)

    def interrupt(self) -> None:
        """Send SIGINT to its process group, SIGTERM after a grace, SIGKILL after another."""
        if self.running:
            signal_group(self._pid, signal.SIGINT)
            self._later(INTERRUPT_GRACE_S, self.terminate)
            self._later(2 * INTERRUPT_GRACE_S, self.kill)

    def terminate(self) -> None:
        """Ask its process group to end."""
        if self.running:
            signal_group(self._pid, signal.SIGTERM)

    def kill(self) -> None:
        """Kill its process group."""
        if self.running:
            signal_group(self._pid, signal.SIGKILL)

    def _time_out(self) -> None:
        self.error = f"timed out after {self._order.timeout_s} s and was killed"
        self.kill()

    def _later(self, delay_s: float | None, action: Callable[[], None]) -> None:
        if delay_s:
            self._timers.append(asyncio.get_running_loop().call_later(delay_s, action))

    def _fed(self, stream: str, data: bytes) -> None:
        self._sink.feed(stream, data)
        if self._sink.full:
            for pipe in self._pipes:
                pipe.read(on=False)

    def _exited(self, code: int) -> None:
        for pipe in self._pipes:
            pipe.rest()
        self._end(code, self.error or (f"exit status {code}" if code else ""))

    def _end(self, code: int | None, error: str) -> None:
        for timer in self._timers:
            timer.cancel()
        self.exit_code, self.error, self.finished_ms = code, error, now_ms()
        self._sink.end()
