"""The listeners: the door for sandboxes, the recorder for the egress proxy, the API for people."""

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

from aiohttp import web

from entrance import app as door
from entrance.errors import Malformed
from entrance.git.proxy import Keeping
from entrance.honeytokens.watch import Watch, heard_at_the_proxy
from entrance.log.recorder import Recorder
from entrance.log.records import Decided
from entrance.mcp.gateway import Limits
from entrance.mcp.upstream.endpoint import client_session as mcp_session
from entrance.model.prices import PriceList, read_prices, shipped_prices
from entrance.model.provider import Provider, dialect_of
from entrance.model.upstream import client_session as model_session
from entrance.ports import Alarm
from entrance.session import TaskId
from orchestrator.adapters.pocketbase.meter import PocketBaseMeter
from orchestrator.adapters.polarion.hiring import PolarionHiring
from orchestrator.adapters.polarion.servers import PolarionServers
from orchestrator.adapters.polarion.supervising import PolarionTasks
from orchestrator.adapters.polarion.toolbox import TOOL_NAMES
from orchestrator.adapters.polarion.tools import PolarionTools
from orchestrator.adapters.push_record import RecordedPushes
from orchestrator.api.approvals import ApprovalRoutes
from orchestrator.api.frozen import FrozenRoutes
from orchestrator.api.inbox_events import InboxEvents
from orchestrator.api.metrics import MetricsRoutes
from orchestrator.api.models import ModelRoutes
from orchestrator.api.posture import PostureRoutes
from orchestrator.api.push_rules import PushRuleRoutes
from orchestrator.api.pushes import PushRoutes
from orchestrator.api.runs import RunRoutes
from orchestrator.api.server import HealthRoutes, make_api
from orchestrator.api.tasks import TaskRoutes
from orchestrator.api.team import TeamRoutes
from orchestrator.app.calls import Calls
from orchestrator.app.parts import Parts
from orchestrator.app.polarion import BotTokens, PolarionPeople, PolarionRights, host_of
from orchestrator.app.pushes import Pushes, folder_of
from orchestrator.app.servers import Everybody, KeepingServers
from orchestrator.approvals.rule_record import standing_for
from orchestrator.approvals.unsettled import Unsettled
from orchestrator.board import Board
from orchestrator.domain.kinds import PUSH
from orchestrator.harnesses import HARNESSES
from orchestrator.runner.desk import Desk
from orchestrator.runner.result_files import SandboxFiles
from orchestrator.settings import Settings

STOP_S = 2.0


async def open_door(
    settings: Settings,
    parts: Parts,
    stack: AsyncExitStack,
    alarm: Alarm,
    *,
    pushes: Pushes,
    calls: Calls,
) -> web.AppRunner:
    """Let sandboxes in, with the tokens of runs that are going on. `stack` closes it at the latest."""
    tools = PolarionTools(
        client_for=parts.polarion.as_user,
        engagements=parts.tracker.engagements,
        desk=Desk(parts.world),
        now=parts.world.clock.now,
        access=parts.inbox.asking if parts.inbox.policy else None,
        held=Unsettled(parts.inbox.store),
        open_items=parts.inbox.asking.items,
        tool_access=calls.asking,
    )
    outbound = door.Outbound(
        git=pushes.http,
        model=await stack.enter_async_context(model_session(settings.models.silence_s)),
        mcp=await stack.enter_async_context(mcp_session()),
    )
    app = door.make_app(
        sessions=Everybody(calls.sessions(parts.registry), parts.servers),
        sandboxes=parts.boxes,
        audit=parts.log,
        watch=Watch(parts.world.honey_key, parts.log, alarm, settings.honeytokens.in_prompts),
        vault=parts.vault,
        meter=PocketBaseMeter(parts.store),
        providers=providers_of(settings),
        prices=prices_of(settings.models.prices),
        tool_providers=[tools],
        outbound=outbound,
        pushes=Keeping(folder_of(settings), pushes.inbox, parts.witness),
        tokens=parts.tokens,
        judge=calls.judge,
        files=SandboxFiles(parts.world.sandboxes, parts.world.execd_token),
        released=calls.released,
        limits=Limits(call_timeout_s=settings.entrance.call_timeout_s),
    )
    return await _listen(
        stack, door.make_runner(app), settings.entrance.host, settings.entrance.port
    )


def servers_of(settings: Settings, parts: Parts, opened: web.AppRunner) -> KeepingServers:
    """What keeps the connections of an open door."""
    pool = PolarionServers(parts.polarion.as_service(), settings.polarion.pool)
    offer = opened.app[door.CONNECTIONS].offer
    return KeepingServers(pool.active, offer, settings.runs.poll_s)


async def open_recorder(
    settings: Settings, parts: Parts, stack: AsyncExitStack, alarm: Alarm
) -> Recorder:
    """Take in what the egress proxy decides. `stack` closes it at the latest. Raises: Unavailable."""

    def told(record: Decided) -> None:
        parts.inbox.held(record)
        heard_at_the_proxy(record, alarm)

    recorder = Recorder(parts.log, Everybody(parts.registry, parts.servers), told)
    stack.push_async_callback(recorder.close)
    await recorder.open(settings.log.socket)
    return recorder


async def open_api(
    settings: Settings,
    parts: Parts,
    stack: AsyncExitStack,
    *,
    health: HealthRoutes,
    metrics: MetricsRoutes,
    posture: PostureRoutes,
    board: Board,
    pushes: Pushes,
    calls: Calls,
    wake: Callable[[str], None],
) -> web.AppRunner:
    """Let people in. `stack` closes it at the latest."""
    pool = settings.polarion.pool
    team = TeamRoutes(
        hiring=PolarionHiring(parts.polarion.as_service(), pool, bot_tokens(settings, parts)),
        tracker=parts.tracker,
        vault=parts.vault,
        tools=TOOL_NAMES,
        harnesses=frozenset(HARNESSES),
        unspoken=parts.world.unspoken,
        wake=wake,
        standing=partial(standing_for, parts.inbox.store),
    )
    tasks = TaskRoutes(board, parts.disks)
    token = settings.api.token_file.read_text().strip()
    providers = {one.name: one for one in providers_of(settings)}
    prices = prices_of(settings.models.prices)
    models = ModelRoutes(parts.tracker, parts.vault, prices, providers)
    inbox = parts.inbox
    handlings = {PUSH: pushes.handling, **calls.handlings(pushes.releasing)}
    deciding = inbox.deciding(
        settings,
        parts.tracker,
        inbox.waking(board),
        handlings,
        rights=PolarionRights(parts.polarion),
    )
    live = InboxEvents(inbox.store, inbox.feed)
    approvals = ApprovalRoutes(inbox.store, deciding, inbox.policy, live, parts.world.runs.events)
    own = settings.api.metrics_token_file
    app = make_api(
        token,
        health,
        posture,
        RunRoutes(parts.world),
        team,
        tasks,
        models,
        approvals,
        PushRoutes(RecordedPushes(settings.log.folder), inbox.store, pushes.kept),
        FrozenRoutes(parts.world, wake),
        PushRuleRoutes(parts.world),
        metrics,
        metrics_token=own.read_text().strip() if own else "",
    )
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=STOP_S)
    return await _listen(stack, runner, settings.api.host, settings.api.port)


def board_of(
    settings: Settings,
    parts: Parts,
    waits: Mapping[TaskId, str],
    wake: Callable[[str], None],
) -> Board:
    """The board, over Polarion."""
    return Board(
        tracker=parts.tracker,
        tasks=PolarionTasks(parts.polarion.as_service()),
        runs=parts.world.runs,
        people=PolarionPeople(parts.polarion, parts.vault, bot_tokens(settings, parts)),
        waits=waits,
        frozen=parts.world.freezes.said_of,
        wake=wake,
        unsettled=Unsettled(parts.inbox.store).why_not,
    )


def bot_tokens(settings: Settings, parts: Parts) -> BotTokens | None:
    """The tokens of agents' users, where Polarion makes any for us."""
    polarion = settings.polarion
    return BotTokens(parts.vault, host_of(polarion.url)) if polarion.embedded else None


def providers_of(settings: Settings) -> list[Provider]:
    """The model providers that the settings name."""
    return [
        Provider(name, given.base_url, given.secret, given.dialect or dialect_of(name))
        for name, given in settings.models.providers.items()
    ]


def prices_of(more: Path | None) -> PriceList:
    """The shipped price list, with the rows of the user's own file added or in their place.

    Raises: Malformed when that file is no price list.
    """
    shipped = shipped_prices()
    try:
        return shipped if more is None else shipped.with_own(read_prices(more.read_text()))
    except ValueError as error:
        raise Malformed(f"the prices in {more} can't be read: {error}") from error


async def _listen(
    stack: AsyncExitStack, runner: web.AppRunner, host: str, port: int
) -> web.AppRunner:
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    await web.TCPSite(runner, host, port, reuse_address=True).start()
    return runner
