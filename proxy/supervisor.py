"""Keeps the proxy running: starts it again when it dies, ends it when it is to end.

The supervisor reads no byte of anybody; what parses hostile bytes is its child.
"""

import ctypes
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence

import structlog

FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 5.0
STEADY_S = 30.0
"""One that ran for so long is started again without a pause."""
GRACE_S = 8.0
CANT_START = 2
"""The exit status of a child that needs a person: it isn't started again."""
_PR_SET_PDEATHSIG = 1
_log = structlog.get_logger(__name__)


def supervise(argv: Sequence[str]) -> int:
    """Run the child until SIGTERM or SIGINT; the exit status for our own end."""
    ending = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ending.set())
    pause_s = FIRST_PAUSE_S
    while not ending.is_set():
        began = time.monotonic()
        # A child that outlives us would keep the port.
        child = subprocess.Popen(argv, preexec_fn=_die_with_parent)  # noqa: PLW1509 - before any thread
        status = _wait(child, ending)
        if ending.is_set():
            return 0
        if status == CANT_START:
            return 1
        pause_s = FIRST_PAUSE_S if time.monotonic() - began > STEADY_S else pause_s * 2
        _log.error("proxy_died", status=status, again_in_s=min(pause_s, LONGEST_PAUSE_S))
        ending.wait(min(pause_s, LONGEST_PAUSE_S))
    return 0


def _wait(child: "subprocess.Popen[bytes]", ending: threading.Event) -> int:
    """Wait for its end, or ours: then it is ended too."""
    while True:
        try:
            return child.wait(timeout=0.1)
        except subprocess.TimeoutExpired:
            if not ending.is_set():
                continue
        child.terminate()
        try:
            return child.wait(timeout=GRACE_S)
        except subprocess.TimeoutExpired:
            child.kill()


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def child_command(arguments: Sequence[str]) -> list[str]:
    """How the proxy itself is started."""
    return [sys.executable, "-P", "-m", "proxy", "--unsupervised", *arguments]
