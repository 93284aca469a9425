"""What the sandboxes and disks of MCP servers are called [pure].

A sandbox is found by its run's id, and a disk by its task's: a server's have ids that no run and no
task has. Each sandbox is another: one that a crash has left is never taken for the one that is made now.
"""

import secrets

from entrance.session import RunId, TaskId

_PROJECT = "mcp-servers"
_NONCE_BYTES = 3


def new_box(connection: str, run: RunId) -> RunId:
    """The id of a new sandbox for the connection's server and a run."""
    return RunId(f"{connection}.{run}.{secrets.token_hex(_NONCE_BYTES)}")


def account_of(connection: str, run: RunId) -> RunId:
    """Under which name the egress proxy counts what they use: all that a run has had of one connection."""
    return RunId(f"{connection}.{run}")


def disk_of(box: RunId) -> TaskId:
    """The disk of a sandbox."""
    return TaskId(f"{_PROJECT}/{box}")


def box_on(disk: TaskId) -> RunId | None:
    """The sandbox that a disk is of; None when it is a task's."""
    project, _, box = disk.partition("/")
    return RunId(box) if project == _PROJECT else None
