"""A git host for the demo and for tests: `git http-backend` behind aiohttp, on loopback.

    python -m orchestrator.stack.githost --root DIR --port N [--credential-file FILE]

Serves every bare repository below the root at its path. With a credential (`user:password`, one
line) each request must carry it as Basic authorisation. `GET /healthz` answers 200 to anyone.
"""

import argparse
import asyncio
import base64
import hmac
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from aiohttp import hdrs, web

LOOPBACK = "127.0.0.1"
_CHUNK_BYTES = 1 << 18
_AT_ONCE = 16
_REQUEST_S = 900.0
_HEAD_BYTES = 1 << 16
_ENDS_WITHIN_S = 5.0


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
                return await _answer(request, self.root)

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


async def _answer(request: web.Request, root: Path) -> web.StreamResponse:
    process = await _start(_cgi_environment(request, root))
    try:
        async with asyncio.TaskGroup() as tasks:
            feeding = tasks.create_task(_feed(request, process))
            response = await _relay(request, process)
            feeding.cancel()
        return response
    finally:
        await _end(process)


async def _start(env: Mapping[str, str]) -> Process:
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *("git", "http-backend"),
            stdin=PIPE,
            stdout=PIPE,
            env=env,
            limit=_HEAD_BYTES,
            start_new_session=True,
        )
    )
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        # Cancelled in the middle, asyncio would lose the pipes that it had just made.
        await _end(await starting)
        raise


def _cgi_environment(request: web.Request, root: Path) -> dict[str, str]:
    """What CGI says of the request. Paths that leave the root are refused by http-backend itself."""
    headers = request.headers
    return {
        "PATH": os.defpath,
        "GIT_PROJECT_ROOT": str(root),
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        # The repositories may belong to another user than the one who serves them.
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
        "GIT_PROTOCOL": headers.get("Git-Protocol", ""),
        "HTTP_CONTENT_ENCODING": headers.get(hdrs.CONTENT_ENCODING, ""),
        "CONTENT_TYPE": headers.get(hdrs.CONTENT_TYPE, ""),
        "CONTENT_LENGTH": headers.get(hdrs.CONTENT_LENGTH, ""),
        "PATH_INFO": request.path,
        "QUERY_STRING": request.query_string,
        "REQUEST_METHOD": request.method,
        "REMOTE_USER": "git",
        "REMOTE_ADDR": LOOPBACK,
    }


async def _feed(request: web.Request, process: Process) -> None:
    stdin = process.stdin
    if stdin is None:  # never: it was asked for
        return
    with suppress(ConnectionError):  # git may answer before it has read everything
        async for chunk in request.content.iter_chunked(_CHUNK_BYTES):
            stdin.write(chunk)
            await stdin.drain()
    stdin.close()


async def _relay(request: web.Request, process: Process) -> web.StreamResponse:
    stdout = process.stdout
    if stdout is None:  # never: it was asked for
        return web.Response(status=500)
    response = web.StreamResponse()
    while line := (await stdout.readline()).strip():
        name, _, value = line.decode("latin-1").partition(": ")
        if name == "Status":
            response.set_status(int(value.split()[0]))
        else:
            response.headers[name] = value
    with suppress(ConnectionError):  # the client has had enough
        await response.prepare(request)
        while chunk := await stdout.read(_CHUNK_BYTES):
            await response.write(chunk)
        await response.write_eof()
    return response


async def _end(process: Process) -> None:
    """Leave no child and no pipe behind, not even when the client leaves in the middle."""
    stdin, stdout = process.stdin, process.stdout
    try:
        if stdout is not None and stdout.at_eof():
            with suppress(TimeoutError):
                async with asyncio.timeout(_ENDS_WITHIN_S):
                    await process.wait()
    finally:
        if process.returncode is None or not (stdout and stdout.at_eof()):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # its children hold the pipes as well
        if stdin is not None:
            stdin.close()
            with suppress(ConnectionError):
                await stdin.wait_closed()
        if stdout is not None:
            await stdout.read()  # what is left in the pipe would keep it open
        await process.wait()


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
