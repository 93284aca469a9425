"""MCP servers of others, and the sandboxes of those that are run here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from entrance.session import Backend, Session
from entrance.tool_policy import Bounds, Mode

Transport = Literal["http", "sse"]
"""`http`: streamable HTTP. `sse`: what was before it, a stream of events and a place for messages."""


@dataclass(frozen=True, slots=True)
class Stdio:
    """How a server is run that speaks over its standard input and output: in a sandbox of its own."""

    command: tuple[str, ...]
    """Never through a shell."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Its own variables; no secret."""
    egress: str = ""
    """What it may reach of the internet, as its item says it; whoever runs it reads it."""
    backend: Backend | None = None
    """What it works with by a credential that it never sees."""


@dataclass(frozen=True, slots=True)
class McpServer:
    """A server of others that runs may be granted tools of, as a connection of this name."""

    name: str
    url: str = ""
    """Where it is; with `sse`, where its stream is. Empty where it is run over `stdio`."""
    secret: str = ""
    """The name of its credential in the vault; empty when it takes none."""
    modes: Mapping[str, Mode] = field(default_factory=dict)
    """What is said of its tools whoever uses them; what was granted can only be stricter."""
    bounds: Bounds = field(default_factory=Bounds)
    """What is said of the rest."""
    transport: Transport = "http"
    """How it is spoken to at its URL."""
    stdio: Stdio | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where the server in a sandbox is reached: streamable HTTP's URL, and headers that open the way."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    hidden: tuple[str, ...] = field(default=(), repr=False)
    """What else is nobody's business of what the server may say."""


class ServerSandboxes(Protocol):
    """Runs servers that speak over stdio: each in a sandbox of its own, one a run and connection."""

    async def reach(self, session: Session, server: McpServer, *, start: bool) -> Place:
        """Where it is reached; it is started if need be, and `start` allows it.

        Raises: Unavailable, which says why it can't be had; NotFound when it isn't there, and not to start.
        """
        ...

    def doubt(self, session: Session, server: McpServer) -> None:
        """It did not answer: the next who wants to reach it looks first whether it still lives."""
        ...

    async def end(self, session: Session, server: McpServer) -> None:
        """It isn't needed any more. Idempotent."""
        ...

    def find(self, token_sha256: str) -> Session | None:
        """The session of the sandbox whose programs show this token: to backends, and nowhere else."""
        ...
