"""Pushes for the tests of the rules: a good one, and what makes it a bad one."""

from dataclasses import replace
from typing import Any

from entrance.git.checks.facts import Brought, Change, Commit, Move, ObjectKind, PackObject, Person
from entrance.git.refs import RefUpdate
from entrance.push_policy import PushPolicy
from entrance.session import Authorship, RunId, Session, TaskId

NONE, OLD, NEW, MORE = "0" * 40, "1" * 40, "2" * 40, "3" * 40
BLOB, TREE = "b" * 40, "d" * 40
REF, OTHER = b"refs/heads/agent/TASK-7/fix", b"refs/heads/agent/TASK-7/more"
AGENT = Person("Ada (agent)", "ada@agents.example.org")
WHOSE = Authorship(
    AGENT.name, AGENT.mail, "anthropic:claude", frozenset({RunId("R1"), RunId("R0")})
)
SESSION = Session(
    run=RunId("R1"),
    task=TaskId("PROJ/TASK-7"),
    project="PROJ",
    agent="ada",
    address="10.0.0.2",
    token_sha256="0" * 64,
    authorship=WHOSE,
)
MESSAGE = (
    "Add it up\n\nAs it was asked for.\n\n"
    "Agent-Run: R1\nAgent-Task: PROJ/TASK-7\nAgent-Model: anthropic:claude\n"
)


def a_session(**policy: Any) -> Session:
    return replace(SESSION, push_policy=PushPolicy(**policy))


def a_commit(oid: str = NEW, parent: str = OLD, **changed: Any) -> Commit:
    return replace(Commit(oid, (parent,), AGENT, AGENT, MESSAGE), **changed)


def a_move(
    ref: bytes = REF,
    old: str = OLD,
    new: str = NEW,
    *,
    kind: ObjectKind | None = "commit",
    forward: bool = True,
) -> Move:
    return Move(RefUpdate(old, new, ref), kind, forward)


def a_change(path: bytes | str = b"src/add.py", **changed: Any) -> Change:
    name = path if isinstance(path, bytes) else path.encode()
    return replace(Change(NEW, name, 0o100644, 0o100644, "a" * 40, BLOB), **changed)


def a_push(*changes: Change, **changed: Any) -> Brought:
    """One commit of the agent's own, and whatever is said to be different about it."""
    brought = Brought(
        moves=(a_move(),),
        commits=(a_commit(),),
        changes=changes or (a_change(),),
        objects=(
            PackObject(NEW, "commit", 300),
            PackObject(TREE, "tree", 40),
            PackObject(BLOB, "blob", 20),
        ),
        pack_bytes=400,
    )
    return replace(brought, **changed)
