"""Held pushes: kept by the door, asked of people, and sent when they say so."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import aiohttp

from entrance.git.held import HeldPacks
from entrance.git.proxy import HELD
from entrance.git.release import Release
from entrance.git.upstream import GitHost, client_session
from entrance.vault.repositories import VaultRepositories
from orchestrator.adapters.held_pushes import HeldPushFiles
from orchestrator.app.parts import Parts
from orchestrator.approvals.ports import Sending
from orchestrator.approvals.push_sending import PushSending
from orchestrator.approvals.pushes import HeldPushes, PushHandling
from orchestrator.approvals.releasing import Releasing
from orchestrator.approvals.settling import Settling
from orchestrator.approvals.waking import Waking
from orchestrator.domain.kinds import PUSH
from orchestrator.runner.settle import push_arrived
from orchestrator.settings import Settings


@dataclass(frozen=True, slots=True)
class Pushes:
    """What of it the listeners need, and what goes on beside them."""

    http: aiohttp.ClientSession
    """The client of the git hosts."""
    kept: HeldPushFiles
    inbox: HeldPushes
    releasing: Releasing

    @property
    def handling(self) -> PushHandling:
        """What is done when one is decided."""
        return PushHandling(self.releasing)


def folder_of(settings: Settings) -> Path:
    """Where the door keeps pushes, and mirrors what they build on."""
    return settings.home.absolute() / "data" / "git"


async def make_pushes(
    settings: Settings,
    parts: Parts,
    stack: AsyncExitStack,
    waking: Waking,
    others: Mapping[str, Sending],
) -> Pushes:
    """Put it together; `stack` closes what was opened. `others` are sent by the same releases."""
    http = await stack.enter_async_context(client_session())
    inbox, clock = parts.inbox, parts.world.clock
    packs = HeldPacks(folder_of(settings) / HELD)
    kept = HeldPushFiles(packs, clock)
    credentials = VaultRepositories(parts.vault, parts.tokens)
    sending = PushSending(
        hosts=Release(GitHost(http, credentials), packs),
        kept=kept,
        store=inbox.store,
        runs=parts.world.runs,
        tracker=parts.tracker,
        audit=parts.log,
        witness=parts.witness,
        forget=credentials.forget,
        arrived=partial(push_arrived, parts.world),
    )
    sendings: dict[str, Sending] = {PUSH: sending, **others}
    settling = Settling(inbox.store, parts.tracker, waking, sendings)
    releasing = Releasing(inbox.store, clock, parts.log, sendings, settling)
    return Pushes(http, kept, HeldPushes(inbox.asking.items, kept), releasing)
