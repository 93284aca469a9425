"""The composition root: settings become adapters, adapters become the runner and its two listeners."""

import asyncio
import signal
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import docker
import structlog
from aiohttp import web

from entrance import app as door
from entrance.audit import AuditFile
from entrance.git.upstream import client_session as git_session
from entrance.model.prices import PriceList, read_prices, shipped_prices
from entrance.model.provider import Provider
from entrance.model.upstream import client_session as model_session
from entrance.registry import SessionRegistry
from entrance.session import RunId
from entrance.trail import trail
from entrance.vault.keyfile import load_or_make
from entrance.vault.vault import Vault
from orchestrator.adapters.disk import TaskDisks
from orchestrator.adapters.firewall.admission import Firewall
from orchestrator.adapters.firewall.table import Bridge
from orchestrator.adapters.opensandbox.blueprint import Blueprint
from orchestrator.adapters.opensandbox.engine import Engine
from orchestrator.adapters.opensandbox.http import Server
from orchestrator.adapters.opensandbox.lifecycle import Parts
from orchestrator.adapters.opensandbox.sandboxes import OpenSandboxes
from orchestrator.adapters.pocketbase.client import PocketBase
from orchestrator.adapters.pocketbase.ids import new_run_id
from orchestrator.adapters.pocketbase.meter import PocketBaseMeter
from orchestrator.adapters.pocketbase.runs import PocketBaseRuns
from orchestrator.adapters.pocketbase.secrets import PocketBaseSecrets
from orchestrator.adapters.polarion.client import PolarionClient
from orchestrator.adapters.polarion.hiring import PolarionHiring
from orchestrator.adapters.polarion.tools import TOOL_NAMES, PolarionTools
from orchestrator.adapters.polarion.tracker import PolarionTracker
from orchestrator.adapters.posture import Posture
from orchestrator.api.runs import RunRoutes
from orchestrator.api.server import Check, HealthRoutes, make_api
from orchestrator.api.team import TeamRoutes
from orchestrator.clock import WallClock
from orchestrator.harnesses import HARNESSES
from orchestrator.janitor import Janitor
from orchestrator.reconciler import Reconciler
from orchestrator.runner.desk import Desk
from orchestrator.runner.live import Live
from orchestrator.runner.world import Limits, World
from orchestrator.settings import Settings
from orchestrator.watcher import Watcher
from orchestrator.workqueue import Workqueue

log = structlog.get_logger()

HEARTBEATS_PER_TTL = 4


@dataclass(frozen=True, slots=True)
class Parts:
    """What is shared between the runner and the door."""

    http: aiohttp.ClientSession
    store: PocketBase
    vault: Vault
    registry: SessionRegistry
    audit: AuditFile
    world: World
    tracker: PolarionTracker
    firewall: Firewall
    sandboxes_server: Server


async def serve(settings: Settings) -> None:
    """Run until SIGTERM or SIGINT: sessions are restored before the door opens."""
    async with AsyncExitStack() as stack:
        parts = await _assemble(settings, stack)
        posture = Posture(settings)
        queue = Workqueue(lambda key: reconciler.handle(key), settings.runs.parallel + 1)
        reconciler = Reconciler(parts.world, new_run_id, lambda: posture.closed)
        janitor = Janitor(parts.world)
        await janitor.restore()
        await _listen(stack, await _door(settings, parts, stack), settings.entrance)
        api = _api(settings, parts, posture, queue)
        await _listen(stack, web.AppRunner(api, access_log=None, shutdown_timeout=2), settings.api)
        log.info("runner_ready", name=settings.name)
        watcher = Watcher(parts.tracker, parts.world.runs, queue.add, settings.runs.poll_s)
        async with asyncio.TaskGroup() as tasks:
            loops = [
                tasks.create_task(loop())
                for loop in (posture.run, janitor.run, queue.run, watcher.run)
            ]
            await _asked_to_stop()
            for task in loops:
                task.cancel()
