"""MCP servers: the door's connections as the Agent Pool has them, and the sandboxes of those over stdio."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from time import monotonic

import structlog

from entrance.errors import SandgateError
from entrance.identity import BACKEND, OpenSessions
from entrance.ports import McpServer
from entrance.registry import SessionRegistry
from entrance.session import Ended, Session
from orchestrator.adapters.disk import TaskDisks
from orchestrator.adapters.watched_disks import WatchedDisks
from orchestrator.app.egress import Inbox
from orchestrator.app.keys import execd_key_of
from orchestrator.app.world import HEARTBEATS_PER_TTL
from orchestrator.egress_policy import ServerPolicies
from orchestrator.ports import Sandboxes
from orchestrator.ports.sandboxes import STDIO
from orchestrator.runner.world import execd_token
from orchestrator.server_sandboxes import Boxes, Means, Register
from orchestrator.settings import Settings

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class KeepingServers:
    """`active` says which there are, `offer` takes them; every `poll_s` seconds."""

    active: Callable[[], Awaitable[Sequence[McpServer]]]
    offer: Callable[[Sequence[McpServer]], Awaitable[None]]
    poll_s: float

    async def run(self) -> None:
        """Go on until cancelled. While the pool can't be read, those that are known stay."""
        while True:
            try:
                await self.offer(await self.active())
            except SandgateError as error:
                log.warning("connections_not_read", error=str(error))
            await asyncio.sleep(self.poll_s)


@dataclass(frozen=True, slots=True)
class Everybody:
    """Whose a sandbox is, at whichever address; a token is only that of a run's agent."""

    sessions: OpenSessions
    servers: Register

    def find(self, token_sha256: str) -> Session | Ended | None:
        return self.sessions.find(token_sha256)

    def at(self, address: str) -> Session | None:
        return self.sessions.at(address) or self.servers.at(address)


def make_boxes(
    settings: Settings,
    registry: SessionRegistry,
    *,
    register: Register,
    sandboxes: Sandboxes,
    disks: TaskDisks | WatchedDisks,
    inbox: Inbox,
) -> Boxes:
    """The sandboxes of MCP servers."""
    key = execd_key_of(settings)
    means = Means(
        sandboxes=sandboxes,
        disks=disks,
        execd_token=lambda box: execd_token(key, box),
        clock=monotonic,
        offered=STDIO in settings.sandboxes.images,
        said=settings.transcripts,
        backend_url=f"http://{settings.entrance.host}:{settings.entrance.port}{BACKEND}",
        register=register,
        egress=ServerPolicies(inbox.policy) if inbox.policy else None,
    )
    heartbeat_s = settings.sandboxes.ttl_s / HEARTBEATS_PER_TTL
    return Boxes(means, registry.open_runs, heartbeat_s)
