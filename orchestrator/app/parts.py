"""What the runner and the door share, made from the settings."""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from time import monotonic
from typing import Any

import aiohttp

from entrance.log.egress_log import EgressLog
from entrance.log.retention import Keep
from entrance.log.segments import Rules
from entrance.log.shelf import Shelf
from entrance.log.signing import signer_from
from entrance.log.trail import trail
from entrance.ports import Causes
from entrance.registry import SessionRegistry
from entrance.vault.keyfile import open_keyring
from entrance.vault.remembered import RememberedSecrets
from entrance.vault.vault import Vault
from orchestrator.adapters.disk import HEADROOM_BYTES, TaskDisks
from orchestrator.adapters.fence_log import FenceLog
from orchestrator.adapters.firewall.admission import Firewall
from orchestrator.adapters.frozen_files import FrozenFiles
from orchestrator.adapters.pocketbase.approvals import PocketBaseApprovals
from orchestrator.adapters.pocketbase.client import PocketBase
from orchestrator.adapters.pocketbase.runs import PocketBaseRuns
from orchestrator.adapters.pocketbase.secrets import PocketBaseSecrets
from orchestrator.adapters.polarion import KeyedLocks
from orchestrator.adapters.polarion.tracker import PolarionTracker
from orchestrator.adapters.watched_disks import WatchedDisks
from orchestrator.app.egress import AnnouncingDoor, Inbox, make_inbox
from orchestrator.app.polarion import Polarion
from orchestrator.app.sandboxes import MIB, bridge_of, open_engine, open_sandboxes, owners_of
from orchestrator.clock import WallClock
from orchestrator.domain.run import Run
from orchestrator.drops import Drops
from orchestrator.harnesses import HARNESSES
from orchestrator.ports import Clock
from orchestrator.runner.doings import Doings
from orchestrator.runner.freezes import Freezes
from orchestrator.runner.live import Live
from orchestrator.runner.outputs import Outputs
from orchestrator.runner.world import Limits, NoEgress, World
from orchestrator.settings import Settings

HEARTBEATS_PER_TTL = 4


@dataclass(frozen=True, slots=True)
class Parts:
    """What the runner and the door share."""

    store: PocketBase
    vault: Vault
    registry: SessionRegistry
    log: EgressLog
    inbox: Inbox
    polarion: Polarion
    tracker: PolarionTracker
    firewall: Firewall
    disks: TaskDisks | WatchedDisks
    drops: Drops
    world: World
    http: aiohttp.ClientSession


async def make_parts(settings: Settings, stack: AsyncExitStack) -> Parts:
    """Make them; `stack` closes what was opened."""
    http = await stack.enter_async_context(aiohttp.ClientSession(trust_env=False))
    store = PocketBase(
        http,
        url=settings.pocketbase.url,
        user=settings.pocketbase.user,
        password=settings.pocketbase.password_file.read_text().strip(),
    )
    clock, registry = WallClock(), SessionRegistry()
    secrets = RememberedSecrets(PocketBaseSecrets(store), monotonic)
    vault = Vault(secrets, await open_keyring(settings.vault_key_file, secrets))
    polarion = Polarion(http, settings.polarion, vault, KeyedLocks())
    firewall = Firewall(bridge_of(settings))
    disks = _disks(settings)
    honey_key = _own_key(settings, b"honeytokens") if settings.honeytokens.enabled else b""
    tracker = PolarionTracker(polarion.as_service(), settings.polarion.pool)
    runs, doings = PocketBaseRuns(store), Doings()
    inbox = make_inbox(
        settings,
        registry,
        store=PocketBaseApprovals(store),
        runs=runs,
        tracker=tracker,
        clock=clock,
        causes=doings,
        honey_key=honey_key,
    )
    policy = inbox.policy
    egress_log = _open_log(settings, clock, doings)
    stack.push_async_callback(egress_log.close)
    engine = open_engine(settings, stack)
    drops = Drops(firewall, _fence_log(settings, egress_log), owners_of(engine, runs))
    world = World(
        clock=clock,
        tracker=tracker,
        runs=runs,
        disks=disks,
        sandboxes=open_sandboxes(
            settings, http, engine, admission=firewall, clock=clock, settle=drops.settle
        ),
        door=AnnouncingDoor(registry, policy.changed) if policy else registry,
        egress=policy or NoEgress(),
        doings=doings,
        harnesses=HARNESSES,
        offered=frozenset(HARNESSES) & frozenset(settings.sandboxes.images),
        live=Live(),
        freezes=Freezes(FrozenFiles(settings.home / "frozen")),
        trail=partial(_trail, Shelf(settings.log.folder)),
        limits=_limits(settings),
        entrance=f"http://{settings.entrance.host}:{settings.entrance.port}",
        transcripts=settings.transcripts,
        outputs=Outputs(settings.transcripts),
        execd_key=_own_key(settings, b"execd tokens"),
        honey_key=honey_key,
        dialects={
            name: provider.dialect
            for name, provider in settings.models.providers.items()
            if provider.dialect
        },
    )
    return Parts(
        store=store,
        vault=vault,
        registry=registry,
        log=egress_log,
        inbox=inbox,
        polarion=polarion,
        tracker=tracker,
        firewall=firewall,
        disks=disks,
        drops=drops,
        world=world,
        http=http,
    )


def _open_log(settings: Settings, clock: Clock, causes: Causes) -> EgressLog:
    given = settings.log
    age = None if given.keep_days is None else timedelta(days=given.keep_days)
    most = None if given.keep_mib is None else given.keep_mib * MIB
    rules = Rules(given.segment_mib * MIB, timedelta(hours=given.segment_hours), Keep(age, most))
    return EgressLog(
        given.folder,
        signer_from(given.key_file),
        clock.now,
        installation=settings.name,
        rules=rules,
        causes=causes,
    )


def _fence_log(settings: Settings, egress_log: EgressLog) -> FenceLog:
    folder = settings.log.folder
    return FenceLog(egress_log, Shelf(folder), settings.home / "data" / "fence.json")


def _disks(settings: Settings) -> TaskDisks | WatchedDisks:
    given = settings.sandboxes
    size_bytes = given.disk_mib * MIB
    if given.disk == "capped":
        return TaskDisks(given.tasks, size_bytes=size_bytes)
    return WatchedDisks(
        given.tasks,
        docker_host=given.docker,
        installation=settings.name,
        size_bytes=size_bytes,
        headroom_bytes=HEADROOM_BYTES,
    )


def _limits(settings: Settings) -> Limits:
    return Limits(
        deadline_s=settings.runs.deadline_s,
        silence_s=settings.runs.silence_s,
        limit_usd=settings.runs.limit_usd,
        heartbeat_s=settings.sandboxes.ttl_s / HEARTBEATS_PER_TTL,
    )


def _own_key(settings: Settings, purpose: bytes) -> bytes:
    """A key for one purpose alone, made from the vault's key file."""
    return hashlib.sha256(purpose + settings.vault_key_file.read_bytes()).digest()


async def _trail(shelf: Shelf, run: Run) -> Sequence[Mapping[str, Any]]:
    return await asyncio.to_thread(trail, shelf, run.id, run.created_at)
