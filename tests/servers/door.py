"""The entrance on loopback, whole: real sockets, real log, everything around it a fake."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from time import monotonic
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Middleware

from entrance.app import CONNECTIONS, Outbound, make_app, make_runner
from entrance.disk import Disk
from entrance.git.proxy import Keeping
from entrance.git.upstream import client_session as git_session
from entrance.honeytokens.watch import InPrompts, Watch
from entrance.mcp.connections import Connections
from entrance.mcp.gateway import Limits
from entrance.mcp.judging import Judge
from entrance.mcp.released import Released
from entrance.mcp.upstream.endpoint import client_session as mcp_session
from entrance.model.prices import shipped_prices
from entrance.model.provider import Provider, dialect_of
from entrance.model.upstream import client_session as model_session
from entrance.ports import McpServer, ResultFiles, ServerSandboxes, ToolProvider
from entrance.registry import SessionRegistry
from entrance.session import RunId, Session, TaskId, hash_token, new_run_token
from entrance.vault.seal import Keyring
from entrance.vault.vault import Vault
from orchestrator.app.calls import OpenedSessions
from orchestrator.approvals.call_rules import CallRules
from orchestrator.clock import WallClock
from tests.fakes.alarm import HONEY, FakeAlarm
from tests.fakes.meter import FakeMeter
from tests.fakes.secrets import FakeSecretStore
from tests.fakes.tools import FakeTools
from tests.servers import google, openai
from tests.servers.anthropic import KEY, MODEL, ModelServer
from tests.servers.log import lines_in, open_log

RUN = RunId("run-1")
SECRETS = {"anthropic": "model-key", "openai": "openai-key", "google": "google-key"}
"""The name of each provider's secret; its kind is called like the provider."""


@dataclass
class Clock:
    """Counts seconds, and may be put forward."""

    ahead_s: float = 0.0

    def __call__(self) -> float:
        return monotonic() + self.ahead_s


@dataclass
class Door:
    """A running entrance with one open session, and all that a test may look at or turn."""

    url: str
    token: str
    session: Session
    registry: SessionRegistry
    log: Path
    """Its folder."""
    meter: FakeMeter
    secrets: FakeSecretStore
    vault: Vault
    tools: FakeTools
    alarm: FakeAlarm
    connections: Connections
    clock: Clock

    @property
    def bearer(self) -> dict[str, str]:
        """The header that shows the session's token."""
        return {"authorization": f"Bearer {self.token}"}

    def reopen(self, **changes: Any) -> None:
        """Open the session again, with these fields changed."""
        self.session = replace(self.session, **changes)
        self.registry.open(self.session)

    def lines(self, kind: str = "") -> list[dict[str, Any]]:
        """The log's decisions and outcomes; of one kind, or outcomes, if that is given."""
        lines = [line for line in lines_in(self.log) if line["type"] != "opened"]
        return [line for line in lines if not kind or kind in {line["type"], line.get("kind")}]


@asynccontextmanager
async def open_door(
    folder: Path,
    model: ModelServer,
    tools: FakeTools | None = None,
    more: Sequence[ToolProvider] = (),
    *,
    silence_s: float = 20,
    disk: Disk | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    in_prompts: InPrompts = "note",
    servers: Sequence[McpServer] = (),
    sandboxes: ServerSandboxes | None = None,
    before: Sequence[Middleware] = (),
    judge: Judge | None = None,
    released: Released | None = None,
    rules: CallRules | None = None,
    files: ResultFiles | None = None,
    limits: Limits | None = None,
) -> AsyncIterator[Door]:
    """Serves until the block ends. `rules`: what people have opened to sessions besides."""
    tools, meter, alarm = tools or FakeTools(), FakeMeter(), FakeAlarm()
    secrets, vault = await _sealed(model)
    registry, token, clock = SessionRegistry(), new_run_token(), Clock()
    session = _session(token)
    registry.open(session)
    log = open_log(folder / "egress", disk=disk)
    async with _outbound(silence_s) as outbound:
        app = make_app(
            sessions=OpenedSessions(registry, rules) if rules else registry,
            audit=log,
            watch=Watch(HONEY, log, alarm, in_prompts),
            vault=vault,
            meter=meter,
            providers=_providers(model),
            prices=shipped_prices(),
            tool_providers=[tools, *more],
            outbound=outbound,
            servers=servers,
            sandboxes=sandboxes,
            pushes=Keeping(folder / "git"),
            judge=judge,
            files=files,
            released=released,
            limits=limits,
            clock=clock,
        )
        for middleware in before:
            app.middlewares.insert(0, middleware)
        try:
            async with _serving(app, host, port) as url:
                yield Door(
                    url=url,
                    token=token,
                    session=session,
                    registry=registry,
                    log=folder / "egress",
                    meter=meter,
                    secrets=secrets,
                    vault=vault,
                    tools=tools,
                    alarm=alarm,
                    connections=app[CONNECTIONS],
                    clock=clock,
                )
        finally:
            await log.close()


@asynccontextmanager
async def _outbound(silence_s: float) -> AsyncIterator[Outbound]:
    async with (
        git_session() as git,
        model_session(silence_s) as models,
        mcp_session() as mcp,
    ):
        yield Outbound(git, models, mcp)


def _providers(model: ModelServer) -> list[Provider]:
    return [Provider(kind, model.url, name, dialect_of(kind)) for kind, name in SECRETS.items()]


async def _sealed(model: ModelServer) -> tuple[FakeSecretStore, Vault]:
    """A vault with a key for each provider, good for this model only."""
    secrets = FakeSecretStore()
    vault = Vault(secrets, Keyring("k1", {"k1": b"k" * 32}), WallClock().now)
    for kind, name in SECRETS.items():
        await vault.put(name, KEY, [model.url.removeprefix("http://")], kind)
    return secrets, vault


def _session(token: str) -> Session:
    return Session(
        run=RUN,
        task=TaskId("PROJ/T-1"),
        project="PROJ",
        agent="bot",
        address="127.0.0.1",
        token_sha256=hash_token(token),
        tools={"tracker": frozenset({"get_item"})},
        models=frozenset(
            {f"anthropic:{MODEL}", f"openai:{openai.MODEL}", f"google:{google.MODEL}"}
        ),
        budget_usd=Decimal(1),
        honeytokens=(RUN,),
    )


@asynccontextmanager
async def _serving(app: web.Application, host: str, port: int) -> AsyncIterator[str]:
    """Its URL."""
    runner = make_runner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        yield f"http://{host}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
