"""What makes PID 1 untouchable for the agent, which has the same uid.

Not dumpable: /proc/1/{environ,mem,fd,...} belong to root then, so the token and the logs can't be
read or changed. Default signal actions: from inside its pid namespace, PID 1 gets no signal whose
action is the default one, SIGKILL and SIGSTOP included.
"""

import ctypes
import os
import signal

TOKEN_VARIABLE = "EXECD_ACCESS_TOKEN"  # noqa: S105  # the variable's name
PR_GET_DUMPABLE = 3
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
CHILDREN_OOM_SCORE = 500


class OomScore:
    """This process's own oom_score_adj, raised while children are started, so that they inherit it.

    Under memory pressure the kernel then takes a command and not execd. Open it before `harden`:
    afterwards the file is root's.
    """

    def __init__(self, path: str = "/proc/self/oom_score_adj") -> None:
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            self._own = int(os.pread(self._fd, 16, 0))
        except (OSError, ValueError):
            self._fd, self._own = -1, 0

    def __enter__(self) -> None:
        self._set(max(self._own, CHILDREN_OOM_SCORE))

    def __exit__(self, *_: object) -> None:
        self._set(self._own)

    def _set(self, score: int) -> None:
        if self._fd < 0:
            return
        try:
            os.pwrite(self._fd, b"%d" % score, 0)
        except OSError:  # not permitted here: the sandbox works without it
            os.close(self._fd)
            self._fd = -1


def harden() -> None:
    """Make this process not dumpable, and its signals' actions the default ones.

    Raises: OSError when the kernel doesn't do it: then the agent could read the token.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 or libc.prctl(PR_GET_DUMPABLE, 0, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "the kernel refused PR_SET_DUMPABLE=0")
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


def adopt_orphans() -> None:
    """Become the parent of this process's orphaned descendants, as PID 1 is by nature."""
    if os.getpid() != 1:
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def take_token() -> str:
    """Return the access token and take it out of the environment that children inherit."""
    return os.environ.pop(TOKEN_VARIABLE, "")
