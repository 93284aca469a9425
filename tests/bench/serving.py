"""How a server of a bench, a process of its own, says where it is and serves until it is ended."""

import asyncio
import signal
import sys

from aiohttp import web


async def serve(runner: web.AppRunner, *told: str) -> None:
    """Say where, and go on until ended; then what was begun beside is ended, too."""
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    sys.stdout.write(" ".join([str(runner.addresses[0][1]), *told]) + "\n")
    sys.stdout.flush()
    await ended.wait()
    await runner.cleanup()
