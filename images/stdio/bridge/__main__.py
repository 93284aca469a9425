"""`bridge PORT COMMAND [ARGUMENT ...]`: serves the MCP server that COMMAND is at 127.0.0.1:PORT/mcp.

Says `ready` on stdout once it listens; on stderr is what the server says. Exit code 64: wrong arguments.
"""

import asyncio
import sys

from bridge.service import Service
from bridge.wire import HEAD_BYTES

USAGE = 64


def main() -> int:
    """Serve until it is killed."""
    if len(sys.argv) < 3 or not sys.argv[1].isdigit():  # noqa: PLR2004
        print("usage: bridge PORT COMMAND [ARGUMENT ...]", file=sys.stderr)
        return USAGE
    asyncio.run(_serve(int(sys.argv[1]), sys.argv[2:]))
    return 0


async def _serve(port: int, argv: list[str]) -> None:
    service = Service(argv)
    server = await asyncio.start_server(service.serve, "127.0.0.1", port, limit=HEAD_BYTES)
    async with server:
        print("ready", flush=True)
        await service.start()
        await server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
