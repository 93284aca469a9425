"""What the kernel lets a process of the sandbox do. Every call is one that changes nothing."""

import ctypes
import errno
import os
import platform
import resource
import signal
import socket
import time
from collections.abc import Mapping

ALLOWED = "allowed"
Found = tuple[str, str]
"""A word, and what it rests on."""


def word_of(error: int | None) -> str:
    """An error as its name in errno.h."""
    return errno.errorcode.get(error or 0, "error")


def family(*kinds: tuple[int, int, int]) -> Found:
    """Make a socket of each (family, type, protocol): `allowed` if any can be had, else the refusals."""
    said = set()
    for kind in kinds:
        try:
            socket.socket(*kind).close()
        except OSError as error:
            said.add(word_of(error.errno))
        else:
            return ALLOWED, str(kind)
    return " ".join(sorted(said)), f"{len(kinds)} kinds tried"


def call(numbers: Mapping[str, int], *arguments: int) -> Found:
    """Make a system call by its number on this machine; `ENOSYS` where it has none."""
    number = numbers.get(platform.machine())
    if number is None:
        return "ENOSYS", "no such call on this machine"
    libc = ctypes.CDLL(None, use_errno=True)
    done = libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments))
    return (ALLOWED if done >= 0 else word_of(ctypes.get_errno())), f"call {number}"


def status(*keys: str) -> Found:
    """The values of these lines of /proc/self/status, as numbers, where they differ: all of them."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        lines = dict(line.split(":\t", 1) for line in file.read().splitlines() if ":\t" in line)
    values = {key: str(int(lines[key].strip(), 16)) for key in keys if key in lines}
    evidence = ", ".join(f"{key} {value}" for key, value in values.items())
    return " ".join(sorted(set(values.values()))) or "not said", evidence


def identity() -> str:
    """User and groups of this process: real, effective, saved, and whatever else it is in."""
    users, groups = set(os.getresuid()), set(os.getresgid()) | set(os.getgroups())
    return "{}:{}".format(*(",".join(map(str, sorted(ids))) for ids in (users, groups)))


def rlimit(name: str) -> str:
    """Both limits of a resource: what is in force, and how far it may be raised."""
    low, high = resource.getrlimit(getattr(resource, name))
    return f"{low} {high}"


def raise_rlimit(name: str) -> str:
    """Raise a hard limit by one."""
    number = getattr(resource, name)
    low, high = resource.getrlimit(number)
    try:
        resource.setrlimit(number, (low, high + 1))
    except (OSError, ValueError) as error:
        return word_of(getattr(error, "errno", None) or errno.EPERM)
    return ALLOWED


def core() -> str:
    """Whether a process that crashes leaves its memory behind."""
    child = os.fork()
    if child == 0:
        os.kill(os.getpid(), signal.SIGABRT)
        os._exit(0)
    _, how = os.waitpid(child, 0)
    return "dumped" if os.WCOREDUMP(how) else "none"


def set_clock() -> str:
    """Set the clock to what it shows."""
    try:
        time.clock_settime(time.CLOCK_REALTIME, time.time())
    except OSError as error:
        return word_of(error.errno)
    return ALLOWED


def signals(*names: str) -> str:
    """Send PID 1 each signal, and look whether it goes on."""
    for name in names:
        try:
            os.kill(1, getattr(signal, name))
        except OSError as error:
            return word_of(error.errno)
    time.sleep(0.05)
    with open("/proc/1/stat", encoding="ascii", errors="replace") as file:
        state = file.read().rpartition(")")[2].split()[0]
    return "lives" if state in "SRDI" else f"state {state}"


def limit_of_another(number: int) -> str:
    """Read a resource limit of PID 1."""
    try:
        resource.prlimit(1, number)
    except OSError as error:
        return word_of(error.errno)
    return ALLOWED
