"""What the runner and the door share, made from the settings."""

from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import version
from time import monotonic

import aiohttp

from entrance.attestation.attestor import Attestor
from entrance.attestation.store import Attestations
from entrance.log.egress_log import EgressLog
from entrance.log.retention import Keep
from entrance.log.segments import Rules
from entrance.log.shelf import Shelf
from entrance.log.signing import signer_from
from entrance.ports import Causes, Witness
from entrance.registry import SessionRegistry
from entrance.vault.installation import InstallationTokens
from entrance.vault.keyfile import open_keyring
from entrance.vault.remembered import RememberedSecrets
from entrance.vault.repositories import VaultRepositories
from entrance.vault.vault import Vault
from orchestrator.adapters.disk import HEADROOM_BYTES, TaskDisks
from orchestrator.adapters.fence_log import FenceLog
from orchestrator.adapters.firewall.admission import Firewall
from orchestrator.adapters.githosts.hosts import RestGitHosts
from orchestrator.adapters.pocketbase.approvals import PocketBaseApprovals
from orchestrator.adapters.pocketbase.client import PocketBase
from orchestrator.adapters.pocketbase.runs import PocketBaseRuns
from orchestrator.adapters.pocketbase.secrets import PocketBaseSecrets
from orchestrator.adapters.polarion import KeyedLocks
from orchestrator.adapters.polarion.tracker import PolarionTracker
from orchestrator.adapters.watched_disks import WatchedDisks
from orchestrator.app.egress import Inbox, make_inbox
from orchestrator.app.polarion import Polarion
from orchestrator.app.sandboxes import MIB, bridge_of, open_engine, open_sandboxes, owners_of
from orchestrator.app.servers import make_boxes
from orchestrator.app.world import make_world
from orchestrator.clock import WallClock
from orchestrator.drops import Drops
from orchestrator.ports import Clock
from orchestrator.runner.attaching import AttachingWitness
from orchestrator.runner.doings import Doings
from orchestrator.runner.world import World
from orchestrator.server_sandboxes import Boxes, Register
from orchestrator.settings import Settings


@dataclass(frozen=True, slots=True)
class Parts:
    """What the runner and the door share."""

    store: PocketBase
    vault: Vault
    tokens: InstallationTokens
    registry: SessionRegistry
    log: EgressLog
    inbox: Inbox
    polarion: Polarion
    tracker: PolarionTracker
    firewall: Firewall
    disks: TaskDisks | WatchedDisks
    drops: Drops
    world: World
    servers: Register
    boxes: Boxes
    witness: Witness
    http: aiohttp.ClientSession


def http_client() -> aiohttp.ClientSession:
    """The client for all that asks in several users' names: it goes on with nobody's session."""
    return aiohttp.ClientSession(trust_env=False, cookie_jar=aiohttp.DummyCookieJar())


async def make_parts(settings: Settings, stack: AsyncExitStack) -> Parts:
    """Make them; `stack` closes what was opened."""
    http = await stack.enter_async_context(http_client())
    store = _open_store(settings, http)
    clock, registry, doings = WallClock(), SessionRegistry(), Doings()
    secrets = RememberedSecrets(PocketBaseSecrets(store), monotonic)
    vault = Vault(secrets, await open_keyring(settings.vault_key_file, secrets), clock.now)
    tokens = InstallationTokens(vault, http)
    polarion = Polarion(http, settings.polarion, vault, KeyedLocks())
    tracker = PolarionTracker(polarion.as_service(), settings.polarion.pool)
    runs, disks, firewall = PocketBaseRuns(store), _disks(settings), Firewall(bridge_of(settings))
    inbox = make_inbox(
        settings,
        registry,
        store=PocketBaseApprovals(store),
        runs=runs,
        tracker=tracker,
        clock=clock,
        causes=doings,
    )
    egress_log = _open_log(settings, clock, doings)
    stack.push_async_callback(egress_log.close)
    engine = open_engine(settings, stack)
    attestations = Attestations(settings.home / "data" / "attestations")
    servers = Register()
    fence_log = _fence_log(settings, egress_log)
    drops = Drops(firewall, fence_log, owners_of(engine, runs, servers.at))
    sandboxes = open_sandboxes(
        settings, http, engine, admission=firewall, clock=clock, settle=drops.settle
    )
    boxes = make_boxes(
        settings, registry, register=servers, sandboxes=sandboxes, disks=disks, inbox=inbox
    )
    world = make_world(
        settings,
        registry,
        inbox=inbox,
        tracker=tracker,
        runs=runs,
        disks=disks,
        githosts=RestGitHosts(http, VaultRepositories(vault, tokens)),
        sandboxes=sandboxes,
        servers=boxes,
        clock=clock,
        doings=doings,
        attestations=attestations,
    )
    return Parts(
        store=store,
        vault=vault,
        tokens=tokens,
        registry=registry,
        log=egress_log,
        inbox=inbox,
        polarion=polarion,
        tracker=tracker,
        firewall=firewall,
        disks=disks,
        drops=drops,
        world=world,
        servers=servers,
        boxes=boxes,
        witness=AttachingWitness(
            _attestor(settings, attestations, egress_log, clock), world, registry.open_runs
        ),
        http=http,
    )


def _open_store(settings: Settings, http: aiohttp.ClientSession) -> PocketBase:
    return PocketBase(
        http,
        url=settings.pocketbase.url,
        user=settings.pocketbase.user,
        password=settings.pocketbase.password_file.read_text().strip(),
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


def _attestor(
    settings: Settings, store: Attestations, egress_log: EgressLog, clock: Clock
) -> Attestor:
    signer = signer_from(settings.log.key_file)
    return Attestor(
        store, signer, egress_log, lambda: egress_log.newest, clock.now, version("sandgate")
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
