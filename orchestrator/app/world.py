"""What the steps of runs work with, from the settings."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from entrance.attestation.store import Attestations
from entrance.log.shelf import Shelf
from entrance.log.trail import trail
from entrance.registry import SessionRegistry
from orchestrator.adapters.frozen_files import FrozenFiles
from orchestrator.app.egress import AnnouncingDoor, Inbox
from orchestrator.app.keys import execd_key_of, honey_key_of
from orchestrator.domain.run import Run
from orchestrator.harnesses import HARNESSES
from orchestrator.ports import Clock, Disks, GitHosts, Runs, Sandboxes, Tracker
from orchestrator.runner.doings import Doings
from orchestrator.runner.freezes import Freezes
from orchestrator.runner.live import Live
from orchestrator.runner.outputs import Outputs
from orchestrator.runner.ports import NoEgress, Servers
from orchestrator.runner.world import Limits, World
from orchestrator.settings import Settings

HEARTBEATS_PER_TTL = 4


def make_world(
    settings: Settings,
    registry: SessionRegistry,
    *,
    inbox: Inbox,
    tracker: Tracker,
    runs: Runs,
    disks: Disks,
    sandboxes: Sandboxes,
    githosts: GitHosts,
    clock: Clock,
    doings: Doings,
    attestations: Attestations,
    servers: Servers,
) -> World:
    """Put it together."""
    policy = inbox.policy
    return World(
        clock=clock,
        tracker=tracker,
        runs=runs,
        disks=disks,
        sandboxes=sandboxes,
        githosts=githosts,
        door=AnnouncingDoor(registry, policy.changed) if policy else registry,
        egress=policy or ClaimingOnly(inbox.keeping.claim),
        servers=servers,
        pushes=settings.pushes.policy(),
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
        execd_key=execd_key_of(settings),
        honey_key=honey_key_of(settings),
        attested=attestations.of_run,
        dialects={
            name: provider.dialect
            for name, provider in settings.models.providers.items()
            if provider.dialect
        },
    )


@dataclass(frozen=True, slots=True)
class ClaimingOnly(NoEgress):
    """Where nothing of the internet is open, a run is still given what was allowed to its task."""

    claim: Callable[[Run], Awaitable[None]]

    async def admit(self, run: Run) -> Sequence[str]:
        await self.claim(run)
        return ()


def _limits(settings: Settings) -> Limits:
    return Limits(
        deadline_s=settings.runs.deadline_s,
        silence_s=settings.runs.silence_s,
        limit_usd=settings.runs.limit_usd,
        heartbeat_s=settings.sandboxes.ttl_s / HEARTBEATS_PER_TTL,
    )


async def _trail(shelf: Shelf, run: Run) -> Sequence[Mapping[str, Any]]:
    return await asyncio.to_thread(trail, shelf, run.id, run.created_at)
