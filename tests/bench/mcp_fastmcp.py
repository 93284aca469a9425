"""fastmcp's proxy, in fastmcp's own environment: `python mcp_fastmcp.py URL PORT [reused]`.

*reused*: one session with the server for all clients; else, as it comes, a new one for each request.
"""

import asyncio
import sys

from fastmcp import Client  # type: ignore[import-not-found]
from fastmcp.server import create_proxy  # type: ignore[import-not-found]


async def serve(url: str, port: int, *, reused: bool) -> None:
    """Until it is ended."""
    options = {"transport": "http", "host": "127.0.0.1", "port": port, "path": "/mcp"}
    options |= {"stateless_http": True, "json_response": True, "show_banner": False}
    if not reused:
        await create_proxy(url).run_async(**options)
        return
    async with Client(url) as client:
        await create_proxy(client).run_async(**options)


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], int(sys.argv[2]), reused="reused" in sys.argv[3:]))
