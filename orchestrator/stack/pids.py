"""Which processes are an installation's: by pid and start time, and by a mark in their environment.

The mark finds them when their pid file is gone. Never a name: another installation's programs, or a
user's own, are called the same.
"""

import os
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

MARK = "SANDGATE_PID_FILE"
POLL_S = 0.02
KILLED_WITHIN_S = 5.0


def start_time(pid: int) -> str | None:
    """When the live process `pid` started, in the kernel's ticks; None for none or a zombie."""
    with suppress(ChildProcessError, OSError):
        os.waitpid(pid, os.WNOHANG)  # only does something when it is our own dead child
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (OSError, ValueError):
        return None
    # The program's name may hold blanks and brackets: the fields begin after the last one.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZXx" else fields[19]


def record_pid(pid_file: Path, pid: int) -> None:
    """Write the pid and its start time, so that a reused pid is never taken for it."""
    part = pid_file.with_suffix(".part")
    part.write_text(f"{pid} {start_time(pid) or ''}\n")
    part.replace(pid_file)


def recorded_pid(pid_file: Path) -> int | None:
    """The pid in the file if that very process still runs."""
    try:
        pid_text, began = pid_file.read_text().split()
        pid = int(pid_text)
    except (OSError, ValueError):
        return None
    return pid if start_time(pid) == began else None


def stop_recorded(pid_file: Path, *, grace_s: float) -> bool:
    """End the recorded process, and all that carry its mark; say whether any ran.

    The pid file may be gone, or name one that has ended: the mark finds the rest.
    """
    began = _of(pid_file)
    for number, patience_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, KILLED_WITHIN_S)):
        deadline = time.monotonic() + patience_s
        for pid in _left(began):
            _signal(pid, number)
        while _left(began) and time.monotonic() < deadline:
            time.sleep(POLL_S)
    return bool(began)


def _of(pid_file: Path) -> dict[int, str]:
    """The processes of a program, each with its start time."""
    recorded = recorded_pid(pid_file)
    pids = {*marked().get(pid_file.absolute(), ()), *([recorded] if recorded else [])}
    return {pid: began for pid in pids if (began := start_time(pid)) is not None}


def _left(began: Mapping[int, str]) -> list[int]:
    return [pid for pid, at in began.items() if start_time(pid) == at]


def _signal(pid: int, number: signal.Signals) -> None:
    """To its whole process group, where it leads one."""
    with suppress(ProcessLookupError):
        if os.getpgid(pid) == pid:
            os.killpg(pid, number)
        else:
            os.kill(pid, number)


def mark(pid_file: Path) -> dict[str, str]:
    """What a program's environment is given; what it starts itself inherits it."""
    return {MARK: str(pid_file.absolute())}


def marked(processes: Path = Path("/proc")) -> Mapping[Path, list[int]]:
    """The running processes that carry a mark, by the pid file that it names.

    None of a container: what runs in a sandbox may write into its environment what it likes.
    """
    ours = (processes / "self" / "ns" / "pid").readlink()
    found: dict[Path, list[int]] = {}
    for environ in processes.glob("[0-9]*/environ"):
        try:
            if (environ.parent / "ns" / "pid").readlink() != ours:
                continue
            variables = environ.read_bytes().split(b"\0")
        except OSError:  # gone meanwhile, or another user's
            continue
        for variable in variables:
            name, _, value = variable.partition(b"=")
            if name == MARK.encode():
                file = Path(value.decode(errors="surrogateescape"))
                found.setdefault(file, []).append(int(environ.parent.name))
    return found
