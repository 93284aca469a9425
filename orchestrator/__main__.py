"""`python -m orchestrator`: the runner, with the entrance as its second listener."""

import asyncio

from orchestrator import logs
from orchestrator.app import serve
from orchestrator.settings import Settings


def main() -> None:
    """Serve until SIGTERM or SIGINT. Settings come from the environment (docs/reference/settings.md)."""
    logs.configure()
    asyncio.run(serve(Settings()))


if __name__ == "__main__":
    main()
