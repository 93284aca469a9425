"""Starts processes and reaps them, adopted orphans included. No thread waits for a child.

Everything is on the event loop: a command can be started while the sandbox's process limit is
reached, or not; but execd never needs a process or a thread of its own to go on answering.
"""

import asyncio
import os
import pwd
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from execd.errors import Refused
from execd.hardening import OomScore

REAPED_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class Identity:
    """Whom a command runs as."""

    uid: int
    gid: int


def identity(uid: int | None, gid: int | None) -> Identity | None:
    """Return whom to run as; None for execd's own user.

    Raises: Refused 400 for a gid without uid, 403 when execd may not become that user.
    """
    if uid is None:
        if gid is not None:
            raise Refused(400, "INVALID_REQUEST", "gid needs uid")
        return None
    if gid is None:
        gid = _primary_group(uid)
    if os.geteuid() == 0:
        return Identity(uid, gid)
    if (uid, gid) == (os.geteuid(), os.getegid()):
        return None
    raise Refused(
        403,
        "IDENTITY_NOT_PERMITTED",
        f"execd runs as uid {os.geteuid()}, gid {os.getegid()} and can't become {uid}:{gid}",
    )


def _primary_group(uid: int) -> int:
    try:
        return pwd.getpwuid(uid).pw_gid
    except KeyError:
        return uid


class Children:
    """The processes execd has started and not yet reaped."""

    def __init__(self, oom: OomScore) -> None:
        self._oom = oom
        self._on_exit: dict[int, Callable[[int], None]] = {}
        self.entrypoint: int | None = None

    def watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Reap from now on."""
        self._loop = loop
        loop.add_signal_handler(signal.SIGCHLD, self.reap)

    def spawn(
        self,
        argv: Sequence[str],
        *,
        on_exit: Callable[[int], None],
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        stdout: int = subprocess.DEVNULL,
        stderr: int = subprocess.DEVNULL,
        run_as: Identity | None = None,
    ) -> int:
        """Start a process in a session of its own, reading /dev/null; return its pid.

        `on_exit` gets its exit code (128+n for signal n). Raises: OSError when it can't be started.
        """
        with self._oom:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                cwd=cwd,
                env=env,
                start_new_session=True,
                user=run_as.uid if run_as else None,
                group=run_as.gid if run_as else None,
                extra_groups=[] if run_as else None,
            )
        # Told as over, or subprocess would wait for it behind our back: reap() does that.
        process.returncode = 0
        self._on_exit[process.pid] = on_exit
        return process.pid

    def start_entrypoint(self, argv: Sequence[str]) -> None:
        """Start what the sandbox was created to run. Its end does not end execd."""

        def ended(_: int) -> None:
            self.entrypoint = None

        self.entrypoint = self.spawn(argv, on_exit=ended)

    def reap(self) -> None:
        """Collect what has ended, in batches so that a fork bomb's remains don't hold up the rest."""
        for _ in range(REAPED_AT_ONCE):
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            on_exit = self._on_exit.pop(pid, None)
            if on_exit is not None:
                code = os.waitstatus_to_exitcode(status)
                on_exit(code if code >= 0 else 128 - code)
        self._loop.call_soon(self.reap)


def signal_group(pid: int, number: signal.Signals) -> None:
    """Send a signal to the process group that `pid` (not yet reaped) leads."""
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return
