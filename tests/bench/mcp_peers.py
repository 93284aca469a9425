"""What others offer in the MCP gateway's place: fastmcp's proxy, and ContextForge.

Each in an environment of its own, which uv makes the first time and which is kept in the
installation's cache. Nothing of theirs is tuned, but that ContextForge may reach this machine and
doesn't count its callers' requests: it would refuse all but a hundred a minute.
Each is waited for until it has answered a call in either era.
"""

import asyncio
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
from uv import find_uv_bin

from tests.bench.mcp_calls import TOOL, Unanswered, Way, ask
from tests.bench.processes import NotServing, program
from tests.servers.pocketbase import free_port

FASTMCP, CONTEXTFORGE = "fastmcp==4.2.3", "mcp-contextforge-gateway==1.1.0"
_TOO_NEW = (3, 14)
"""For ContextForge."""
_STAMP = "made-of"
_HEALTH_S = 10.0
_ADMIN = "admin@example.com"


def environment(requirement: str, cache: Path) -> Path:
    """The programs of an environment with just this, made if need be. Raises: CalledProcessError."""
    folder = cache / f"bench-{requirement.partition('=')[0]}"
    stamp = folder / _STAMP
    if not stamp.exists() or stamp.read_text() != requirement:
        shutil.rmtree(folder, ignore_errors=True)
        sys.stderr.write(f"making an environment with {requirement}\n")
        kept = f"--cache-dir={cache / 'uv'}"
        _run(find_uv_bin(), "venv", "--quiet", kept, f"--python={_python()}", str(folder))
        python = f"--python={folder / 'bin' / 'python'}"
        _run(find_uv_bin(), "pip", "install", "--quiet", kept, python, requirement)
        stamp.write_text(requirement)
    return folder / "bin"


def _python() -> str:
    """The bench's own, where it will do."""
    return sys.executable if sys.version_info < _TOO_NEW else "3.12"


def _run(*argv: str, env: Mapping[str, str] | None = None) -> str:
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True, env=env).stdout


@asynccontextmanager
async def fastmcp(url: str, cache: Path, home: Path, *, reused: bool) -> AsyncIterator[Way]:
    """Its proxy: with one session at the server that all clients share, or as it comes."""
    name = "fastmcp_reused" if reused else "fastmcp"
    python, port, folder = environment(FASTMCP, cache) / "python", free_port(), home / name
    folder.mkdir()
    served = Path(__file__).with_name("mcp_fastmcp.py")
    argv = (str(python), str(served), url, str(port), *(["reused"] if reused else []))
    env = {"PATH": os.defpath, "HOME": str(folder)}
    async with program(home / f"{name}.log", *argv, env=env, cwd=folder) as started:
        way = Way(name, f"http://127.0.0.1:{port}/mcp", started.pid)
        await started.answers(lambda: ask(way), Unanswered)
        yield way


@asynccontextmanager
async def contextforge(url: str, cache: Path, home: Path) -> AsyncIterator[Way]:
    """One worker, on SQLite, with the server registered and a virtual server that has its tool."""
    programs, port, folder = environment(CONTEXTFORGE, cache), free_port(), home / "contextforge"
    folder.mkdir()
    env = _contextforge_env(folder)
    base = f"http://127.0.0.1:{port}"
    served = (str(programs / "mcpgateway"), "mcpgateway.main:app", "--host", "127.0.0.1")
    argv = (*served, "--port", str(port))
    async with program(home / "contextforge.log", *argv, env=env, cwd=folder) as started:
        await started.answers(lambda: _healthy(base), aiohttp.ClientError, TimeoutError)
        token = await asyncio.to_thread(_token, programs / "python", env)
        headers = {"authorization": f"Bearer {token}"}
        async with aiohttp.ClientSession(base, headers=headers) as http:
            server, tool = await _registered(http, url)
        way = Way("contextforge", f"{base}/servers/{server}/mcp", started.pid, [token], tool)
        await started.answers(lambda: ask(way), Unanswered)
        yield way


def _contextforge_env(home: Path) -> Mapping[str, str]:
    """It doesn't start with the secrets and passwords that it comes with."""
    return {
        "PATH": os.defpath,
        "HOME": str(home),
        "DATABASE_URL": f"sqlite:///{home}/mcp.db",
        "CACHE_TYPE": "memory",
        "JWT_SECRET_KEY": secrets.token_hex(32),
        "AUTH_ENCRYPTION_SECRET": secrets.token_hex(32),
        "PLATFORM_ADMIN_EMAIL": _ADMIN,
        "PLATFORM_ADMIN_PASSWORD": _password(),
        "DEFAULT_USER_PASSWORD": _password(),
        "SSRF_ALLOW_LOCALHOST": "true",
        "SSRF_ALLOW_PRIVATE_NETWORKS": "true",
        "RATE_LIMITING_ENABLED": "false",
    }


def _password() -> str:
    return f"Aa1!{secrets.token_hex(16)}"


async def _healthy(base: str) -> None:
    """Raises: ClientError or TimeoutError when it isn't."""
    timeout = aiohttp.ClientTimeout(total=_HEALTH_S)
    async with aiohttp.ClientSession(base, timeout=timeout, raise_for_status=True) as http:
        await http.get("/health")


def _token(python: Path, env: Mapping[str, str]) -> str:
    """A caller's, made with the program that ContextForge brings for it."""
    asked = ("-m", "mcpgateway.utils.create_jwt_token", "--username", _ADMIN, "--exp", "600")
    said = _run(str(python), *asked, "--secret", env["JWT_SECRET_KEY"], env=env)
    return said.strip().splitlines()[-1]


async def _registered(http: aiohttp.ClientSession, url: str) -> tuple[str, str]:
    """The virtual server's id, and the name that it gives the tool."""
    gateway = {"name": TOOL, "url": url, "transport": "STREAMABLEHTTP"}
    await _said(http.post("/gateways", json=gateway))
    listed = await _said(http.get("/tools"))
    tool = (listed if isinstance(listed, list) else listed["data"])[0]
    server = {"name": "bench", "associated_tools": [tool["id"]]}
    made = await _said(http.post("/servers", json={"server": server}))
    return str(made["id"]), str(tool["name"])


async def _said(asked: AbstractAsyncContextManager[aiohttp.ClientResponse]) -> Any:
    async with asked as answer:
        if not answer.ok:
            text = (await answer.text())[:500]
            raise NotServing(f"ContextForge: {answer.url.path}: {answer.status} {text}")
        return await answer.json()
