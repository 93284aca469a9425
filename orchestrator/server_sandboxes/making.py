"""One server's sandbox: made, with the server started in it, and ended with all that was its own."""

import asyncio
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from entrance.errors import NotFound, SandgateError, Unavailable
from entrance.ports import McpServer, Place, Stdio
from entrance.session import RunId, Session, hash_token
from orchestrator.domain.egress import Policy, Unreadable
from orchestrator.domain.stdio_server import server_policy_of, told
from orchestrator.ports import Sandbox, Sandboxes, SandboxSpec
from orchestrator.ports.sandboxes import STDIO
from orchestrator.server_sandboxes.names import account_of, disk_of, new_box
from orchestrator.server_sandboxes.ports import ServerDisks, ServerEgress
from orchestrator.server_sandboxes.register import Register

log = structlog.get_logger()

BRIDGE, PORT = "/opt/stdio/run", 44773
READY_S = 15.0
LOOK_S = 0.05
SAID_CHARS = 256 << 10
"""So much of what a server said is kept of each of its sandboxes."""
_PAGES = 64


@dataclass
class Box:
    """A server's sandbox. `session`: whose it is, for the records; it opens its backend, if there is one."""

    id: RunId
    server: McpServer
    session: Session
    sandbox: Sandbox
    command: str
    place: Place
    used_at: float
    doubted: bool = False


@dataclass(frozen=True, slots=True)
class Means:
    """What sandboxes of servers are made with. `clock` counts seconds."""

    sandboxes: Sandboxes
    disks: ServerDisks
    execd_token: Callable[[RunId], str]
    clock: Callable[[], float]
    offered: bool
    """Whether there is an image for them here."""
    said: Path
    """The folder for what servers said."""
    backend_url: str
    """Where each server's backend is for it."""
    egress: ServerEgress | None = None
    """None: nothing of the internet can be reached."""
    register: Register = field(default_factory=Register)


@dataclass(frozen=True, slots=True)
class _Order:
    """What is to be made."""

    box: RunId
    session: Session
    server: McpServer
    stdio: Stdio
    policy: Policy


async def make(means: Means, session: Session, server: McpServer) -> Box:
    """Make the sandbox, and have the server's bridge listen in it.

    Nothing is left when it raises. Raises: Unavailable, in words for an agent.
    """
    order = _order(means, session, server)
    means.register.live.add(order.box)
    try:
        return await _made(means, order)
    except BaseException as error:
        # Also when nobody waits for it any more: nothing of it may stay.
        await asyncio.shield(_remove(means, order.box))
        if isinstance(error, SandgateError) and not isinstance(error, Unavailable):
            raise Unavailable(str(error)) from error
        raise


async def end(means: Means, box: Box) -> None:
    """End it: what its server said is kept, all else goes. Raises: Unavailable when something stays."""
    with suppress(SandgateError, OSError):
        await _keep(means, box)
    await _remove(means, box.id)
    if means.egress is not None:
        means.egress.forget(box.session.address)
    log.info("server_sandbox_ended", connection=box.server.name, run=box.session.run)


async def lives(means: Means, box: Box) -> bool:
    """Whether the sandbox is there and its bridge runs. Raises: Unavailable when that can't be told."""
    with suppress(NotFound):
        return (await means.sandboxes.progress(box.sandbox, box.command, -1)).running
    return False


def said_by(means: Means, run: RunId) -> list[Path]:
    """The files with what a run's servers said."""
    return sorted(means.said.glob(f"{run}.*.server.log"))


def _order(means: Means, session: Session, server: McpServer) -> _Order:
    if not means.offered or server.stdio is None:
        raise Unavailable(
            "there is no sandbox for MCP servers here (`sandgate up --stdio-servers` makes one)"
        )
    policy = server_policy_of(server.stdio.egress, server.name)
    if isinstance(policy, Unreadable):
        raise Unavailable(policy.reason)
    return _Order(new_box(server.name, session.run), session, server, server.stdio, policy)


async def _made(means: Means, order: _Order) -> Box:
    mounts = await means.disks.ensure(disk_of(order.box))
    env = means.egress.environment(order.policy) if means.egress else {}
    token = means.execd_token(order.box)
    spec = SandboxSpec(order.box, order.session.task, token, mounts, STDIO, env)
    sandbox = await means.sandboxes.create(spec)
    passport = secrets.token_urlsafe(32)
    own = _own(order, sandbox, passport)
    means.register.moved_in(order.box, own)
    given = told(order.stdio.env, means.backend_url, passport)
    env = {**given, **await _let_out(means, own, order.policy, passport)}
    argv = [BRIDGE, str(PORT), *order.stdio.command]
    command = await means.sandboxes.start(sandbox, argv, env=env, cwd="/workspace")
    await _ready(means, sandbox, command)
    way = means.sandboxes.way_in(sandbox, PORT)
    place = Place(f"{way.url}/mcp", way.headers, hidden=(passport,))
    log.info("server_sandbox_made", connection=own.server, run=own.run, sandbox=sandbox.id)
    return Box(order.box, order.server, own, sandbox, command, place, means.clock())


def _own(order: _Order, sandbox: Sandbox, passport: str) -> Session:
    """Whose attempts those of the sandbox are. Nothing is granted but its backend.

    `passport` is what it shows there and to the egress proxy; it opens nothing else.
    """
    session = order.session
    return Session(
        run=session.run,
        task=session.task,
        project=session.project,
        agent=session.agent,
        address=sandbox.address,
        token_sha256=hash_token(passport),
        honeytokens=session.honeytokens,
        sandbox=sandbox.id,
        server=order.server.name,
        backend=order.stdio.backend,
        image=str(sandbox.facts.get("image_id", "")),
    )


async def _let_out(means: Means, own: Session, policy: Policy, passport: str) -> Mapping[str, str]:
    """Nothing runs in the sandbox before the proxy has its policy."""
    if means.egress is None:
        return {}
    missing = await means.egress.admit(account_of(own.server, own.run), own, policy)
    if missing:
        log.warning("server_egress_left_out", connection=own.server, why="; ".join(missing))
    return means.egress.way_out(passport)


async def _ready(means: Means, sandbox: Sandbox, command: str) -> None:
    """Return once the bridge listens. Raises: Unavailable."""
    try:
        async with asyncio.timeout(READY_S):
            while True:
                progress = await means.sandboxes.progress(sandbox, command, -1)
                if "ready" in progress.lines:
                    return
                if not progress.running:
                    raise Unavailable(f"its bridge ended: {' '.join(progress.lines)[-300:]}")
                await asyncio.sleep(LOOK_S)
    except TimeoutError as error:
        raise Unavailable(f"its bridge did not listen within {READY_S:.0f} s") from error


async def _keep(means: Means, box: Box) -> None:
    """Keep what the server said: its beginning."""
    lines: list[str] = []
    cursor, size = -1, 0
    for _ in range(_PAGES):
        progress = await means.sandboxes.progress(box.sandbox, box.command, cursor)
        lines += progress.lines
        size += sum(len(line) + 1 for line in progress.lines)
        if not progress.lines or size > SAID_CHARS:
            break
        cursor = progress.cursor
    said = "\n".join(line for line in lines if line != "ready")[:SAID_CHARS]
    if said:
        await asyncio.to_thread(_write, means.said, box, said)


def _write(folder: Path, box: Box, said: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{box.session.run}.{box.id}.server.log").write_text(said, errors="replace")


async def _remove(means: Means, box: RunId) -> None:
    await means.sandboxes.kill(box)
    await means.disks.release(disk_of(box))
    await means.disks.purge(disk_of(box))
    means.register.moved_out(box)
