"""A server made with the SDK that takes an authorization server's tokens only."""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from pydantic import AnyHttpUrl

from tests.servers.asgi import served
from tests.servers.issuer import CLIENT, Issuer


@dataclass
class Protected:
    """What it did."""

    url: str
    issuer: Issuer
    counted: int = 0
    shown: list[str] = field(default_factory=list)
    """The tokens that it was shown, good or not."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    async def verify_token(self, token: str) -> AccessToken | None:
        """Whether a token is good."""
        self.shown.append(token)
        granted = self.issuer.tokens.get(token)
        if granted is None:
            return None
        return AccessToken(
            token=token,
            client_id=CLIENT,
            scopes=list(granted.scopes),
            resource=granted.resource,
        )

    def count(self) -> str:
        """Count, and say how often it was."""
        with self.lock:
            self.counted += 1
            return str(self.counted)

    def leak(self) -> str:
        """Say what it was shown."""
        shown = get_access_token()
        return f"you showed {shown.token if shown else 'nothing'}"


@contextmanager
def protected(issuer: Issuer, scopes: Sequence[str] = ("wiki.read",)) -> Iterator[Protected]:
    """Serves until the block ends. `scopes`: those that a token must have."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        behind = Protected(url, issuer)
        settings = AuthSettings(
            issuer_url=AnyHttpUrl(issuer.url),
            resource_server_url=AnyHttpUrl(url),
            required_scopes=list(scopes),
            validate_token_resource=True,
        )
        server = MCPServer("protected", token_verifier=behind, auth=settings)
        server.add_tool(behind.count)
        server.add_tool(behind.leak)
        with served(server.streamable_http_app(streamable_http_path="/mcp"), "/mcp", listening):
            yield behind
