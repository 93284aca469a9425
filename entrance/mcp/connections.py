"""All connections by name: our own tools, and the servers of others that are configured now."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import aiohttp

from entrance.mcp.connection import Connection, Local
from entrance.mcp.detached import Detached
from entrance.mcp.upstream.endpoint import Endpoint, Secrets
from entrance.mcp.upstream.sandboxed import SandboxedConnection
from entrance.mcp.upstream.server import ServerConnection
from entrance.mcp.upstream.transports import reached
from entrance.ports import McpServer, ServerSandboxes, ToolProvider
from entrance.tool_policy import Mode

Foreign = ServerConnection | SandboxedConnection


class Connections(Mapping[str, Connection]):
    """Our own never give way to a server that is called like one of them."""

    def __init__(
        self,
        providers: Sequence[ToolProvider],
        http: aiohttp.ClientSession,
        secrets: Secrets,
        clock: Callable[[], float],
        servers: Sequence[McpServer] = (),
        *,
        sandboxes: ServerSandboxes | None = None,
    ) -> None:
        """Without `sandboxes` no server is run over stdio.

        Raises: ValueError when two of our own have the same name.
        """
        self._own: dict[str, Connection] = {each.connection: Local(each) for each in providers}
        self._http = http
        self._secrets = secrets
        self._clock = clock
        self._sandboxes = sandboxes
        self._servers: dict[str, tuple[McpServer, Foreign]] = {}
        self._put(servers)
        if len(self._own) != len(providers):
            raise ValueError("two tool providers have the same connection name")

    @property
    def providers(self) -> Mapping[str, ToolProvider]:
        """The same, for calls that are made outside of any request."""
        return _Providers(self)

    def said_of(self, connection: str, tool: str) -> Mode | None:
        """What a server's connection says of one of its tools, whoever uses it; None: nothing."""
        known = None if connection in self._own else self._servers.get(connection)
        return known[0].modes.get(tool) if known else None

    async def offer(self, servers: Sequence[McpServer]) -> None:
        """From now on there are these servers; one that stayed as it was keeps its sessions."""
        before = self._servers
        self._put(servers)
        for name, (_, connection) in before.items():
            if self._servers.get(name, (None, None))[1] is not connection:
                await connection.close()

    def _put(self, servers: Sequence[McpServer]) -> None:
        fresh = {}
        for server in servers:
            known = self._servers.get(server.name)
            connection = known[1] if known and known[0] == server else self._made(server)
            if connection is not None:
                fresh[server.name] = (server, connection)
        self._servers = fresh

    def _made(self, server: McpServer) -> Foreign | None:
        if server.stdio is None:
            return ServerConnection(reached(server, self._endpoint), self._clock, server.bounds)
        if self._sandboxes is None:  # nothing is ever run on the host
            return None
        return SandboxedConnection(self._http, server, self._sandboxes, self._clock)

    def _endpoint(self, server: McpServer) -> Endpoint:
        return Endpoint(self._http, server, self._secrets)

    async def closed(self, _: object = None) -> None:
        """Give up the sessions of all servers."""
        for _, connection in self._servers.values():
            await connection.close()

    def __getitem__(self, name: str) -> Connection:
        own = self._own.get(name)
        return own if own is not None else self._servers[name][1]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._own, **self._servers})

    def __len__(self) -> int:
        return len({**self._own, **self._servers})


class _Providers(Mapping[str, ToolProvider]):
    """Connections as they are used where there is no client."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def __getitem__(self, name: str) -> ToolProvider:
        connection = self._connections[name]
        return connection.provider or Detached(connection)

    def __iter__(self) -> Iterator[str]:
        return iter(self._connections)

    def __len__(self) -> int:
        return len(self._connections)
