"""A push as git sends it, made from a clone, and kept as the door keeps it."""

import asyncio
from asyncio.subprocess import PIPE
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from entrance.git.held import BODY, OBJECTS, HeldPacks, HeldRecord
from entrance.git.pktline import FLUSH, encode
from entrance.ports import HeldPush, Moved
from entrance.session import RepoGrant, RunId, Session, TaskId
from orchestrator.domain.grants import door_name
from tests.servers.git import Git

CAPABILITIES = "report-status side-band-64k object-format=sha1 agent=git/2.0"
ZERO = "0" * 40
REF = "refs/heads/agent/DEMO-7/fix"
ID = "f" * 32


@dataclass(frozen=True, slots=True)
class Clone:
    """A clone of the host's repository, in which commits are made that nobody has pushed."""

    git: Git
    folder: Path

    async def commit(self, path: str, content: str) -> str:
        """A commit; its id."""
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(content)
        await self.git.ok("add", "--all", cwd=self.folder)
        await self.git.ok("commit", "--quiet", "--message", f"Change {path}", cwd=self.folder)
        return await self.git.ok("rev-parse", "HEAD", cwd=self.folder)

    async def body(self, moved: Moved, base: str) -> bytes:
        """The body of the push that makes this move, without what `base` leads to."""
        commands = encode(f"{moved.old} {moved.new} {moved.ref}\0 {CAPABILITIES}".encode()) + FLUSH
        process = await asyncio.create_subprocess_exec(
            *("git", "-C", str(self.folder), "pack-objects", "--quiet", "--revs", "--stdout"),
            stdin=PIPE,
            stdout=PIPE,
        )
        pack, _ = await process.communicate(f"{moved.new}\n^{base}\n".encode())
        assert process.returncode == 0
        return commands + pack


def keep(
    packs: HeldPacks,
    folder: Path,
    url: str,
    moved: Moved,
    body: bytes,
    *,
    run: str,
    mirror: str = "",
    onto: tuple[str, ...] = (),
) -> HeldPush:
    """Keep it, as the door does when it holds a push."""
    received = folder / "received"
    (received / OBJECTS).mkdir(parents=True)
    (received / BODY).write_bytes(body)
    push = HeldPush(
        id=ID,
        session=Session(RunId(run), TaskId("DEMO/DEMO-7"), "DEMO", "bot-rex", "10.0.0.2", "hash"),
        repository=RepoGrant(door_name(url), url, push=True, credential="host"),
        moved=(moved,),
        commits=(moved.new,),
        reasons=("a workflow file is changed: .github/workflows/ci.yml",),
        decision=1,
        sha256=sha256(body).hexdigest(),
        size_bytes=len(body),
        onto=onto,
    )
    head_bytes = body.index(FLUSH + b"PACK") + len(FLUSH)
    packs.keep(received, HeldRecord(push, tuple(CAPABILITIES.split()), head_bytes, mirror))
    return push
