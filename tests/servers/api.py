"""The runner's API on loopback, whole: real sockets, everything behind it a fake."""

import asyncio
import io
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import orjson
from aiohttp import web

from entrance.model.prices import shipped_prices
from entrance.model.provider import Provider
from entrance.session import TaskId
from entrance.vault.seal import Keyring
from entrance.vault.vault import Vault
from orchestrator.api.approvals import ApprovalRoutes
from orchestrator.api.frozen import FrozenRoutes
from orchestrator.api.inbox_events import InboxEvents
from orchestrator.api.metrics import MetricsRoutes
from orchestrator.api.models import ModelRoutes
from orchestrator.api.posture import PostureRoutes
from orchestrator.api.push_rules import PushRuleRoutes
from orchestrator.api.pushes import PushRoutes
from orchestrator.api.runs import RunRoutes
from orchestrator.api.server import Check, HealthRoutes, make_api
from orchestrator.api.tasks import TaskRoutes
from orchestrator.api.team import TeamRoutes
from orchestrator.approvals.rule_record import standing_for
from orchestrator.approvals.unsettled import Unsettled
from orchestrator.domain.approval import Approval
from orchestrator.domain.egress_compile import Compiled
from orchestrator.domain.run import RunState
from orchestrator.runner.world import World
from tests.fakes.approvals import Inbox
from tests.fakes.board import FakePeople, board_of
from tests.fakes.calls import CallHouse
from tests.fakes.disks import FakeKeptDisks
from tests.fakes.hiring import FakeHiring
from tests.fakes.pins import PinHouse
from tests.fakes.posture import FakeBattery, proving_of
from tests.fakes.pushes import FakePushLog, PushHouse, a_push
from tests.fakes.run import a_run
from tests.fakes.secrets import FakeSecretStore
from tests.fakes.world import AGENT, ENGAGEMENT, TASK, FakeWorld

TOKEN = "the-token-of-the-api"
METRICS_TOKEN = "the-token-of-the-metrics"
PROVIDERS = {"anthropic": Provider("anthropic", "https://api.anthropic.com", "anthropic")}
TOOLS = frozenset({"get_task", "submit_for_approval"})


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)

    @property
    def error(self) -> Any:
        """`{code, message}` of a refusal."""
        return self.json["error"]


@dataclass
class FakeReaches:
    """What runs may reach, as `EgressPolicy` tells it."""

    runs: dict[str, Compiled] = field(default_factory=dict)

    generation: int = 17

    def compiled(self, run: str) -> Compiled | None:
        return self.runs.get(run)

    def generations(self) -> tuple[int, int]:
        return 17, self.generation


@dataclass
class Api:
    """A running API, and all that a test may look at or turn."""

    fakes: FakeWorld
    world: World
    hiring: FakeHiring = field(default_factory=FakeHiring)
    secrets: FakeSecretStore = field(default_factory=FakeSecretStore)
    disks: FakeKeptDisks = field(default_factory=FakeKeptDisks)
    battery: FakeBattery = field(default_factory=FakeBattery)
    checks: dict[str, Check] = field(default_factory=dict)
    woken: list[str] = field(default_factory=list)
    waits: dict[TaskId, str] = field(default_factory=dict)
    reaches: FakeReaches = field(default_factory=FakeReaches)
    pushed: FakePushLog = field(default_factory=FakePushLog)
    watching: dict[str, Any] = field(default_factory=dict)
    """How long, and by how many, the inbox is watched."""
    base: str = ""
    runner: web.AppRunner | None = None

    def application(self, keepalive_s: float) -> web.Application:
        vault = Vault(self.secrets, Keyring("k", {"k": b"k" * 32}))
        team = TeamRoutes(
            hiring=self.hiring,
            tracker=self.fakes.tracker,
            vault=vault,
            tools=TOOLS,
            harnesses=frozenset(self.world.harnesses),
            unspoken=self.world.unspoken,
            wake=self.woken.append,
            standing=partial(standing_for, self.inbox.store),
        )
        health = HealthRoutes(self.checks, lambda: self.fakes.closed)
        board = replace(
            board_of(self.fakes, self.people, self.waits, self.woken),
            unsettled=Unsettled(self.inbox.store).why_not,
        )
        tasks = TaskRoutes(board, self.disks)
        models = ModelRoutes(self.fakes.tracker, vault, shipped_prices(), PROVIDERS)
        runs = RunRoutes(self.world, keepalive_s)
        policy: Any = self.reaches
        live = InboxEvents(self.inbox.store, self.inbox.feed, keepalive_s, **self.watching)
        events = self.fakes.runs.events
        approvals = ApprovalRoutes(self.inbox.store, self.inbox.deciding, policy, live, events)
        posture = PostureRoutes(proving_of(self.battery))
        metrics = MetricsRoutes(self.render)
        frozen = FrozenRoutes(self.world, self.woken.append)
        return make_api(
            TOKEN,
            health,
            posture,
            runs,
            team,
            tasks,
            models,
            approvals,
            PushRoutes(self.pushed, self.inbox.store, self.pushes.kept),
            frozen,
            PushRuleRoutes(self.world),
            metrics,
            metrics_token=METRICS_TOKEN,
        )

    async def asked(self, url: str, why: str = "for the docs") -> Approval:
        """What a run that goes on asks for waits in the inbox."""
        run = a_run(task=TASK.id, engagement=ENGAGEMENT.id, agent=AGENT.bot, state=RunState.RUNNING)
        await self.fakes.runs.create(run)
        return await self.inbox.asking.ask(run.id, url, "GET", why)

    async def held(self, **changes: Any) -> Approval:
        """A push that waits in the inbox."""
        run = await self.pushes.running()
        return self.inbox.store.items[await self.pushes.held(a_push(run, **changes))]

    async def render(self) -> bytes:
        return b"# metrics\n"

    def __post_init__(self) -> None:
        self.people = FakePeople(self.fakes.tracker)
        self.inbox = Inbox(self.fakes)
        self.pushes = PushHouse(self.inbox)
        self.calls = CallHouse(self.inbox)
        self.pins = PinHouse(self.inbox)

    async def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        raw: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        token: str | None = TOKEN,
        chunked: bool | None = None,
    ) -> Answer:
        """One request with the token; `raw` is sent as it is, any other body as JSON."""
        shown = {"Authorization": f"Bearer {token}"} if token is not None else {}
        content = raw if raw is not None else orjson.dumps(body) if body is not None else b""
        data = io.BytesIO(content) if content else None
        async with aiohttp.ClientSession() as http:
            sent = {**shown, **(headers or {})}
            async with http.request(
                method, self.base + path, data=data, headers=sent, chunked=chunked
            ) as answer:
                return Answer(answer.status, answer.headers, await answer.read())


@asynccontextmanager
async def api_server(
    folder: Path, *, keepalive_s: float = 10, port: int = 0, **watching: Any
) -> AsyncIterator[Api]:
    """Serve on loopback inside the block."""
    fakes = FakeWorld(folder)
    api = Api(fakes, fakes.world(), watching=watching)
    # As the composition root runs it.
    api.runner = web.AppRunner(
        api.application(keepalive_s), access_log=None, handler_cancellation=True, shutdown_timeout=2
    )
    await api.runner.setup()
    await web.TCPSite(api.runner, "127.0.0.1", port).start()
    api.base = f"http://127.0.0.1:{api.runner.addresses[0][1]}"
    try:
        async with asyncio.TaskGroup() as tasks:
            loop = tasks.create_task(api.pushes.releasing.run())
            try:
                yield api
            finally:
                loop.cancel()
    finally:
        await api.runner.cleanup()
