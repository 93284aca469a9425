"""The real git client, and the git proxy in front of a real git host, for component tests."""

import asyncio
import os
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import aiohttp
from aiohttp import web

from entrance.git.proxy import GitProxy, Keeping, Limits
from entrance.git.upstream import client_session
from entrance.honeytokens.watch import Watch
from entrance.identity import identity
from entrance.log.records import Audit
from entrance.ports import PushInbox, Witness
from entrance.push_policy import Mode, PushPolicy
from entrance.registry import SessionRegistry
from entrance.session import Authorship, RepoGrant, RunId, Session, TaskId, hash_token
from orchestrator.stack.bare_repository import create_bare_repository
from orchestrator.stack.githost import GitHost, serving
from tests.fakes.alarm import HONEY, FakeAlarm
from tests.fakes.audit import FakeAudit

RUN_TOKEN = "sgr_a-run-token-of-the-tests"
REAL_CREDENTIAL = "door:the-real-secret"
ITEM = "TASK-7"
KEPT = "kept"


@dataclass(frozen=True, slots=True)
class Said:
    """What a git command printed (both streams), and its exit code."""

    code: int
    text: str


@dataclass(frozen=True, slots=True)
class Git:
    """The git client, with a home of its own and nothing of this machine's configuration."""

    home: Path

    async def __call__(self, *arguments: str | Path, cwd: Path | None = None) -> Said:
        env = {
            "PATH": os.defpath,
            "HOME": str(self.home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            **{f"GIT_{who}_NAME": "agent" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "agent@localhost" for who in ("AUTHOR", "COMMITTER")},
        }
        process = await asyncio.create_subprocess_exec(
            "git", *map(str, arguments), cwd=cwd or self.home, env=env, stdout=PIPE, stderr=STDOUT
        )
        async with asyncio.timeout(60):
            out, _ = await process.communicate()
        return Said(process.returncode or 0, out.decode("utf-8", "replace"))

    async def ok(self, *arguments: str | Path, cwd: Path | None = None) -> str:
        """Its output. Fails the test when the command fails."""
        said = await self(*arguments, cwd=cwd)
        assert said.code == 0, f"git {arguments}: {said.text}"
        return said.text.strip()


class FakeCredentials:
    """Knows one secret, under the name `host`; a grant that names another gets a wrong one."""

    async def headers_for(self, grant: RepoGrant, method: str) -> Mapping[str, str]:
        assert method in {"GET", "POST"}
        if grant.credential is None:
            return {}
        secret = REAL_CREDENTIAL if grant.credential == "host" else "door:wrong"
        return {"Authorization": aiohttp.encode_basic_auth(*secret.split(":"))}

    def refused(self, grant: RepoGrant) -> bool:
        return False


@dataclass(slots=True)
class Door:
    """The running proxy before its running host, and everything that a test looks at."""

    git: Git
    root: Path
    """The host's repositories."""
    host: str
    address: str
    """The proxy's base address, without credentials."""
    audit: FakeAudit
    session: Session
    registry: SessionRegistry
    host_saw: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)
    """Path and headers of each request that reached the host."""
    alarm: FakeAlarm = field(default_factory=FakeAlarm)

    @property
    def kept(self) -> Path:
        """The folder of pushes that the door keeps."""
        return self.root.parent / KEPT

    def url(self, name: str) -> str:
        """The repository at the proxy, with the run's token as the password."""
        return f"{self.address.replace('://', f'://run:{RUN_TOKEN}@')}/git/{name}"

    async def refs(self, repository: str = "small.git") -> dict[str, str]:
        """What the host's repository has: ref to object."""
        form = "--format=%(refname) %(objectname)"
        lines = await self.git.ok("-C", self.root / repository, "for-each-ref", form)
        return dict(line.split(" ", 1) for line in lines.splitlines())

    async def clone(self, name: str = "host/small.git", folder: str = "clone") -> Path:
        """A clone through the proxy."""
        target = self.git.home / folder
        await self.git.ok("clone", "--quiet", self.url(name), target)
        return target

    async def commit(self, clone: Path, path: str = "new.txt", content: bytes = b"new\n") -> str:
        """A new commit in the clone; its id."""
        (clone / path).write_bytes(content)
        await self.git.ok("add", "--all", cwd=clone)
        await self.git.ok("commit", "--quiet", "--message", f"Change {path}", cwd=clone)
        return await self.git.ok("rev-parse", "HEAD", cwd=clone)

    async def get(self, path: str) -> tuple[int, bytes]:
        """A GET by hand below `/git/`; status and body."""
        sent = {"Authorization": aiohttp.encode_basic_auth("run", RUN_TOKEN)}
        timeout = aiohttp.ClientTimeout(total=30)
        async with (
            aiohttp.ClientSession(timeout=timeout) as http,
            http.get(f"{self.address}/git/{path}", headers=sent) as answer,
        ):
            return answer.status, await answer.read()

    async def post(
        self,
        service: str,
        body: bytes,
        headers: Mapping[str, str] | None = None,
        name: str = "host/small.git",
    ) -> tuple[int, bytes]:
        """A request by hand; status and body."""
        sent = {
            "Authorization": aiohttp.encode_basic_auth("run", RUN_TOKEN),
            "Content-Type": f"application/x-{service}-request",
            **(headers or {}),
        }
        timeout = aiohttp.ClientTimeout(total=30)
        async with aiohttp.ClientSession(auto_decompress=False, timeout=timeout) as http:
            url = f"{self.address}/git/{name}/{service}"
            async with http.post(url, data=body, headers=sent) as answer:
                return answer.status, await answer.read()


def grants(host: str) -> tuple[RepoGrant, ...]:
    """What the tests' run was granted."""
    return (
        RepoGrant("host/small.git", f"{host}/small.git", push=True, credential="host"),
        RepoGrant("host/read.git", f"{host}/read.git", push=False, credential="host"),
        RepoGrant("host/wrong.git", f"{host}/small.git", push=True, credential="wrong"),
        RepoGrant("host/gone.git", f"{host}/gone.git", push=True, credential="host"),
        RepoGrant("host/parse.git", f"{host}/demo/parse.git", push=True, credential="host"),
        RepoGrant("down/small.git", "http://127.0.0.1:9/small.git", push=True),
    )


def put_small_repository(at: Path) -> None:
    """A bare repository with one commit, in which `readme.txt` says hello."""
    for name, content in _small_repository().items():
        (at / name).parent.mkdir(parents=True, exist_ok=True)
        (at / name).write_bytes(content)


@cache
def _small_repository() -> Mapping[Path, bytes]:
    """Its files. It is made once: git needs ten processes for it, and hundreds of tests want one."""
    with TemporaryDirectory() as scratch:
        files, bare = Path(scratch) / "files", Path(scratch) / "bare"
        files.mkdir()
        (files / "readme.txt").write_text("hello\n")
        create_bare_repository(files, bare, message="First")
        found = [path for path in bare.rglob("*") if path.is_file()]
        return {path.relative_to(bare): path.read_bytes() for path in found}


@asynccontextmanager
async def door(
    folder: Path,
    inbox: PushInbox | None = None,
    witness: Witness | None = None,
    **limits: Any,
) -> AsyncIterator[Door]:
    """A git host with `small.git` and `read.git`, and the proxy that a run reaches it through."""
    root, home = folder / "host", folder / "home"
    for each in (root, home):
        each.mkdir()
    for name in ("small.git", "read.git", "secret.git"):
        put_small_repository(root / name)
    saw: list[tuple[str, Mapping[str, str]]] = []
    host = GitHost(
        root, REAL_CREDENTIAL, seen=lambda request: saw.append((request.path_qs, request.headers))
    )
    async with AsyncExitStack() as stack:
        host_address = await stack.enter_async_context(serving(host))
        session = Session(
            run=RunId("run-1"),
            task=TaskId(f"DEMO/{ITEM}"),
            project="DEMO",
            agent="bot",
            address="127.0.0.1",
            token_sha256=hash_token(RUN_TOKEN),
            repositories=grants(host_address),
            honeytokens=(RunId("run-1"),),
            authorship=Authorship(
                "agent", "agent@localhost", "a:model", frozenset({RunId("run-1")})
            ),
            push_policy=PushPolicy({"trailers": Mode.NOTE}),
        )
        audit, registry, alarm = FakeAudit(), SessionRegistry(), FakeAlarm()
        watch = Watch(HONEY, audit, alarm)
        registry.open(session)
        http = await stack.enter_async_context(client_session())
        keeping = Keeping(folder / KEPT, inbox, witness, ask_again_s=(0.05,))
        proxy = GitProxy(
            http,
            audit,
            FakeCredentials(),
            watch,
            keeping,
            sessions=registry,
            limits=replace(Limits(), **limits),
        )
        address = await stack.enter_async_context(running(proxy, registry, audit))
        yield Door(Git(home), root, host_address, address, audit, session, registry, saw, alarm)


@asynccontextmanager
async def running(proxy: GitProxy, registry: SessionRegistry, audit: Audit) -> AsyncIterator[str]:
    """The proxy behind the identity middleware; its address."""
    app = web.Application(middlewares=[identity(registry, audit)])
    app.add_routes(proxy.routes())
    app.cleanup_ctx.append(proxy.lifespan)
    runner = web.AppRunner(app, auto_decompress=False, handler_cancellation=True, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
