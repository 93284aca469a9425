"""What the runner and the door share, made from the settings."""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from time import monotonic
from typing import Any

import aiohttp

from entrance.audit import AuditFile
from entrance.registry import SessionRegistry
from entrance.session import RunId
from entrance.trail import trail
from entrance.vault.keyfile import open_keyring
from entrance.vault.remembered import RememberedSecrets
from entrance.vault.vault import Vault
from orchestrator.adapters.disk import TaskDisks
from orchestrator.adapters.firewall.admission import Firewall
from orchestrator.adapters.pocketbase.client import PocketBase
from orchestrator.adapters.pocketbase.runs import PocketBaseRuns
from orchestrator.adapters.pocketbase.secrets import PocketBaseSecrets
from orchestrator.adapters.polarion import KeyedLocks
from orchestrator.adapters.polarion.tracker import PolarionTracker
from orchestrator.app.polarion import Polarion
from orchestrator.app.sandboxes import MIB, bridge_of, open_sandboxes
from orchestrator.clock import WallClock
from orchestrator.harnesses import HARNESSES
from orchestrator.runner.live import Live
from orchestrator.runner.outputs import Outputs
from orchestrator.runner.world import Limits, World
from orchestrator.settings import Settings

HEARTBEATS_PER_TTL = 4


@dataclass(frozen=True, slots=True)
class Parts:
    """What the runner and the door share."""

    store: PocketBase
    vault: Vault
    registry: SessionRegistry
    audit: AuditFile
    polarion: Polarion
    tracker: PolarionTracker
    firewall: Firewall
    disks: TaskDisks
    world: World


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
    given = settings.sandboxes
    disks = TaskDisks(given.tasks, size_bytes=given.disk_mib * MIB)
    tracker = PolarionTracker(polarion.as_service(), settings.polarion.pool)
    world = World(
        clock=clock,
        tracker=tracker,
        runs=PocketBaseRuns(store),
        disks=disks,
        sandboxes=open_sandboxes(settings, http, clock, firewall, stack),
        door=registry,
        harnesses=HARNESSES,
        offered=frozenset(HARNESSES) & frozenset(settings.sandboxes.images),
        live=Live(),
        trail=lambda run: _trail(settings, run),
        limits=_limits(settings),
        entrance=f"http://{settings.entrance.host}:{settings.entrance.port}",
        transcripts=settings.transcripts,
        outputs=Outputs(settings.transcripts),
        execd_key=_execd_key(settings),
        dialects={
            name: provider.dialect
            for name, provider in settings.models.providers.items()
            if provider.dialect
        },
    )
    audit = AuditFile(settings.audit_file, clock.now)
    return Parts(store, vault, registry, audit, polarion, tracker, firewall, disks, world)


def _limits(settings: Settings) -> Limits:
    return Limits(
        deadline_s=settings.runs.deadline_s,
        silence_s=settings.runs.silence_s,
        limit_usd=settings.runs.limit_usd,
        heartbeat_s=settings.sandboxes.ttl_s / HEARTBEATS_PER_TTL,
    )


def _execd_key(settings: Settings) -> bytes:
    """A key of its own for execd tokens, made from the vault's key file; it opens nothing else."""
    return hashlib.sha256(b"execd tokens" + settings.vault_key_file.read_bytes()).digest()


async def _trail(settings: Settings, run: RunId) -> Sequence[Mapping[str, Any]]:
    return await asyncio.to_thread(trail, settings.audit_file, run)
