"""`git http-backend`, one process a request: what CGI tells it, and its answer as it comes."""

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from aiohttp import hdrs, web

LOOPBACK = "127.0.0.1"
_CHUNK_BYTES = 1 << 18
_HEAD_BYTES = 1 << 16
_ENDS_WITHIN_S = 5.0
_SETTINGS = {
    # The repositories may belong to another user than the one who serves them.
    "safe.directory": "*",
    # What agents push starts nothing on this machine, and neither rewrites nor removes a branch.
    "core.hooksPath": os.devnull,
    "receive.denyNonFastForwards": "true",
    "receive.denyDeletes": "true",
    "receive.fsckObjects": "true",
    "receive.autogc": "false",
    "http.receivepack": "true",
}
"""Over each repository's own settings."""


async def answer(request: web.Request, root: Path) -> web.StreamResponse:
    """Let git answer the request for a repository below `root`; streamed both ways."""
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
        **_configured(_SETTINGS),
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


def _configured(settings: Mapping[str, str]) -> dict[str, str]:
    keys = {f"GIT_CONFIG_KEY_{number}": name for number, name in enumerate(settings)}
    values = {f"GIT_CONFIG_VALUE_{number}": value for number, value in enumerate(settings.values())}
    return {"GIT_CONFIG_COUNT": str(len(settings)), **keys, **values}


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
