"""A git host for the demo and for tests: `git http-backend` behind aiohttp, on loopback.

    python -m orchestrator.stack.githost --root DIR --port N [--credential-file FILE]

Serves every bare repository below the root at its path. With a credential (`user:password`, one
line) each request must carry it as Basic authorisation. `GET /healthz` answers 200 to anyone.
"""

import argparse
import asyncio
import base64
import hmac
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from aiohttp import hdrs, web

from orchestrator.stack.git_cgi import LOOPBACK, answer

_AT_ONCE = 16
_REQUEST_S = 900.0


@dataclass(frozen=True, slots=True)
class GitHost:
    """The host's settings. `seen` is told of each request before it is answered."""

    root: Path
    credential: str | None = None
    """`user:password`, or None to serve anyone."""
    seen: Callable[[web.Request], None] = lambda _: None

    def application(self) -> web.Application:
        """To be run by `serving`, or by a runner with `auto_decompress=False`."""
        at_once = asyncio.Semaphore(_AT_ONCE)

        async def serve(request: web.Request) -> web.StreamResponse:
            self.seen(request)
            if not self._lets_in(request):
                ask = {hdrs.WWW_AUTHENTICATE: 'Basic realm="git host"'}
                return web.Response(status=401, text="a credential is wanted\n", headers=ask)
            async with at_once, asyncio.timeout(_REQUEST_S):
                return await answer(request, self.root)

        app = web.Application()
        app.router.add_get("/healthz", _healthy)
        app.router.add_route(hdrs.METH_ANY, "/{path:.*}", serve)
        return app

    def _lets_in(self, request: web.Request) -> bool:
        if self.credential is None:
            return True
        wanted = b"Basic " + base64.b64encode(self.credential.encode())
        shown = request.headers.get(hdrs.AUTHORIZATION, "")
        return hmac.compare_digest(shown.encode("utf-8", "surrogateescape"), wanted)


@asynccontextmanager
async def serving(host: GitHost, *, port: int = 0) -> AsyncIterator[str]:
    """Serve on loopback inside the block; gives the base address, `http://127.0.0.1:PORT`."""
    # git gzips request bodies and http-backend inflates them: aiohttp must not do it first.
    runner = web.AppRunner(
        host.application(), auto_decompress=False, handler_cancellation=True, access_log=None
    )
    await runner.setup()
    try:
        site = web.TCPSite(runner, LOOPBACK, port)
        await site.start()
        yield f"http://{LOOPBACK}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def _healthy(_: web.Request) -> web.Response:
    return web.Response(text="ok\n")


async def _serve_forever(host: GitHost, port: int) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with serving(host, port=port):
        await stopped.wait()


def main() -> None:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser(description="A git host on loopback.")
    parser.add_argument("--root", type=Path, required=True, help="folder of bare repositories")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--credential-file", type=Path, help="holds user:password")
    given = parser.parse_args()
    credential = given.credential_file.read_text().strip() if given.credential_file else None
    asyncio.run(_serve_forever(GitHost(given.root.resolve(), credential), given.port))


if __name__ == "__main__":
    main()
