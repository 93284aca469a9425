"""Kills what a run leaves behind: every process but execd and the entrypoint.

A harness's tools run in sessions of their own and outlive it, so a process group is not enough.
"""

import asyncio
import os
import signal
from dataclasses import dataclass
from pathlib import Path

from execd.children import Children

ROUNDS = 20
SETTLE_S = 0.005
DEADLINE_S = 5.0
SHOWN = 256


@dataclass(frozen=True, slots=True)
class Process:
    """A process as /proc shows it."""

    pid: int
    parent: int
    session: int
    state: str
    name: str


def parse_stat(text: str) -> Process:
    """Read /proc/<pid>/stat. The name may hold spaces and brackets: it ends at the last one."""
    pid, _, rest = text.partition(" (")
    name, _, fields = rest.rpartition(") ")
    state, parent, _, session = fields.split()[:4]
    return Process(int(pid), int(parent), int(session), state, name)


def processes(proc: Path = Path("/proc")) -> list[Process]:
    """List the processes of this pid namespace."""
    found = []
    for entry in os.listdir(proc):
        if entry.isdigit():
            try:
                found.append(parse_stat((proc / entry / "stat").read_text(errors="replace")))
            except (OSError, ValueError):
                continue  # gone meanwhile
    return found


def below(listed: list[Process], root: int) -> set[int]:
    """Return the pids descended from `root`."""
    children: dict[int, list[int]] = {}
    for process in listed:
        children.setdefault(process.parent, []).append(process.pid)
    found: set[int] = set()
    waiting = [root]
    while waiting:
        for pid in children.get(waiting.pop(), []):
            if pid not in found:
                found.add(pid)
                waiting.append(pid)
    return found


def leftovers(children: Children) -> tuple[list[Process], int]:
    """Return the live processes to kill, and how many ended ones of ours are still to be reaped.

    Only as PID 1 is everything in sight ours.
    """
    own, listed = os.getpid(), processes()
    ours = below(listed, own)
    ended = [process for process in listed if process.state in "ZX"]
    live = [
        process
        for process in listed
        if process.state not in "ZX"
        and process.pid not in {own, children.entrypoint}
        and (own == 1 or process.pid in ours)
    ]
    return live, sum(process.parent == own for process in ended)


async def sweep(children: Children) -> dict[str, object]:
    """Kill what is left; return `killed` (pid, session, name; the first 256), `count`, `remaining`.

    Returns when they are gone and reaped, or after 5 s with `remaining` > 0.
    """
    killed: dict[int, Process] = {}
    loop = asyncio.get_running_loop()
    deadline, turn = loop.time() + DEADLINE_S, 0
    live, ended = leftovers(children)
    while (live or ended) and loop.time() < deadline:
        killed.update({process.pid: process for process in live})
        _kill(live, everything=turn >= ROUNDS and os.getpid() == 1)
        turn += 1
        await asyncio.sleep(SETTLE_S)
        children.reap()
        live, ended = leftovers(children)
    return {
        "killed": [
            {"pid": process.pid, "session": process.session, "name": process.name}
            for process in list(killed.values())[:SHOWN]
        ],
        "count": len(killed),
        "remaining": len(live),
    }


def _kill(live: list[Process], *, everything: bool) -> None:
    """Kill one by one; or all at once, the entrypoint too, if they multiply faster than that."""
    if everything:
        os.kill(-1, signal.SIGKILL)
        return
    for process in live:
        try:
            os.kill(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue
