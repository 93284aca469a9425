"""Programs that outlive us: started detached, known by pid, start time and mark, stopped with a grace."""

import http.client
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.log_files import rotate
from orchestrator.stack.pids import mark, record_pid, recorded_pid, stop_recorded
from orchestrator.stack.steps import StepFailed

POLL_S = 0.02


class _Detached(subprocess.Popen[bytes]):
    """A child that is meant to outlive us: no warning when its handle goes."""

    def __del__(self) -> None:
        """Leave the child alone."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program of the installation, and where its log and its pid are kept."""

    name: str
    argv: tuple[str, ...]
    log: Path
    pid_file: Path
    env: Mapping[str, str] | None = field(default_factory=dict)
    """The environment of the program, but for its mark: nothing is inherited, unless it is None."""
    cwd: Path | None = None

    def start(self) -> int:
        """Start it in a session of its own, log to `log`; return its pid. A running one stays.

        Raises: StepFailed when it can't be started at all.
        """
        running = self.pid()
        if running is not None:
            return running
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.pid_file.parent.mkdir(parents=True, exist_ok=True)
        rotate(self.log)
        self._since.write_text(str(self.log.stat().st_size if self.log.exists() else 0))
        try:
            with self.log.open("ab") as log:
                child = _Detached(
                    self.argv,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    cwd=self.cwd,
                    env=None if self.env is None else {**self.env, **mark(self.pid_file)},
                    start_new_session=True,
                )
        except OSError as error:
            raise StepFailed(f"{self.name} did not start", why=str(error)) from error
        record_pid(self.pid_file, child.pid)
        return child.pid

    def pid(self) -> int | None:
        """The pid of the program when it runs, else None. A reused pid isn't taken for it."""
        return recorded_pid(self.pid_file)

    def alive(self) -> bool:
        """Say whether the program runs (a zombie doesn't)."""
        return self.pid() is not None

    def stop(self, *, grace_s: float = 10.0) -> bool:
        """TERM whatever runs of it, KILL after `grace_s`; say whether there was anything to stop."""
        stopped = stop_recorded(self.pid_file, grace_s=grace_s)
        self.pid_file.unlink(missing_ok=True)
        return stopped

    def log_tail(self, lines: int = 15) -> str:
        """The last lines that it has logged since its start, for a person."""
        with suppress(OSError, ValueError), self.log.open("rb") as log:
            since = int(self._since.read_text())
            log.seek(since if since <= self.log.stat().st_size else 0)  # it was rotated since
            return "\n".join(log.read().decode(errors="replace").splitlines()[-lines:])
        return ""

    @property
    def _since(self) -> Path:
        """Where in its log what it says since its last start begins."""
        return self.pid_file.with_suffix(".since")

    def wait_ready(self, probe: Callable[[], bool], *, timeout_s: float) -> None:
        """Wait until `probe` says yes.

        Raises: StepFailed, with the last lines of the log, when the program ends or time runs out.
        """
        deadline = time.monotonic() + timeout_s
        while not probe():
            if not self.alive():
                raise StepFailed(
                    f"{self.name} ended while it started",
                    why=self.log_tail() or "it said nothing",
                    what_to_do=f"Its log: {self.log}",
                )
            if time.monotonic() > deadline:
                raise StepFailed(
                    f"{self.name} is not ready after {timeout_s:.0f} s",
                    why=self.log_tail() or "it said nothing",
                    what_to_do=f"Its log: {self.log}",
                )
            time.sleep(POLL_S)


def answers_tcp(host: str, port: int, *, timeout_s: float = 1.0) -> bool:
    """Say whether something accepts a connection there."""
    try:
        with socket.create_connection((host, port), timeout=timeout_s):
            return True
    except OSError:
        return False


def answers_http(host: str, port: int, path: str, *, timeout_s: float = 1.0) -> bool:
    """Say whether a GET of `path` there is answered with a 2xx."""
    connection = http.client.HTTPConnection(host, port, timeout=timeout_s)
    try:
        connection.request("GET", path)
        return 200 <= connection.getresponse().status < 300  # noqa: PLR2004 - the 2xx range
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
