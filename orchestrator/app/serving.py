"""The order in which the runner starts and ends."""

import asyncio
import signal
from collections.abc import Sequence
from contextlib import AsyncExitStack, closing
from datetime import timedelta
from functools import partial
from subprocess import SubprocessError
from typing import Protocol

import structlog
from docker.errors import DockerException

from entrance.errors import SandgateError, Unavailable
from orchestrator.adapters.egress_state import check_proxy
from orchestrator.adapters.engine import connect
from orchestrator.adapters.firewall.probe import probe
from orchestrator.adapters.pocketbase.ids import new_run_id
from orchestrator.adapters.watched_disks import WatchedDisks
from orchestrator.adapters.webhook import Webhook
from orchestrator.api.metrics import MetricsRoutes
from orchestrator.api.posture import PostureRoutes
from orchestrator.api.server import Check, HealthRoutes
from orchestrator.app.calls import make_calls, recording_of
from orchestrator.app.learning import Learning
from orchestrator.app.listeners import board_of, open_api, open_door, open_recorder, servers_of
from orchestrator.app.parts import Parts, make_parts
from orchestrator.app.posture import proving_of
from orchestrator.app.pushes import make_pushes
from orchestrator.app.sandboxes import ENGINE_S, MIB, bridge_of, harnesses_there, seccomp_of
from orchestrator.app.watching import make_watching
from orchestrator.approvals.rule_record import Recording
from orchestrator.disks import DiskWatch, Retention
from orchestrator.domain.kinds import CALL
from orchestrator.guard import Guard
from orchestrator.janitor import Janitor
from orchestrator.log_files import LogFiles
from orchestrator.posture import Finding, Posture
from orchestrator.posture.proving import Proving
from orchestrator.reconciler import Reconciler
from orchestrator.runner.freezing import Freezing
from orchestrator.settings import Settings
from orchestrator.watcher import Watcher
from orchestrator.workqueue import Workqueue

log = structlog.get_logger()


class Loop(Protocol):
    """Something that goes on until it is cancelled."""

    async def run(self) -> None:
        """Go on."""
        ...


async def serve(settings: Settings) -> None:
    """Run until SIGTERM or SIGINT. Runs that were going on are taken up before the door opens.

    At the end nobody is let in any more, and then the work is dropped wherever it is: its runs stay
    as they are stored, and are taken up by the next start. A shutdown decides nothing about a run.
    """
    stop = _asked_to_stop()
    async with AsyncExitStack() as stack:
        parts = await make_parts(settings, stack)
        proving = proving_of(settings, parts)
        posture = _posture(settings, proving)
        reconciler = _reconciler(parts, posture, proving)
        queue = Workqueue(reconciler.handle, settings.runs.parallel)
        janitor = Janitor(parts.world, others=lambda: [*proving.battery.live, *parts.servers.live])
        freezing = Freezing(parts.world, queue.add, _alerts(settings, parts))
        guard = Guard(parts.firewall, posture, janitor.end_all, parts.world.clock.now)
        watcher = Watcher(parts.tracker, parts.world.runs, queue.add, settings.runs.poll_s)
        checks = {**_checks(settings, parts, posture), "sandbox walls": proving.check}
        health = HealthRoutes(checks, lambda: posture.closed, lambda: posture.proving)
        watching = make_watching(settings, parts, stack, lambda: posture.closed)
        await janitor.restore()
        recorder = await open_recorder(settings, parts, stack, freezing)
        board = board_of(settings, parts, reconciler.waits, queue.add)
        recording = recording_of(parts)
        await _put_back(recording)
        calls = await make_calls(parts)
        waking, sendings = parts.inbox.waking(board), {CALL: calls.sending}
        pushes = await make_pushes(settings, parts, stack, waking, sendings)
        door = await open_door(settings, parts, stack, freezing, pushes=pushes, calls=calls)
        api = await open_api(
            settings,
            parts,
            stack,
            health=health,
            metrics=MetricsRoutes(watching.render),
            posture=PostureRoutes(proving),
            board=board,
            pushes=pushes,
            calls=calls,
            wake=queue.add,
        )
        log.info("runner_ready", name=settings.name)
        async with asyncio.TaskGroup() as tasks:
            of_runs: list[Loop] = [guard, posture, proving, janitor, queue, watcher, freezing]
            others = [*_of_the_machine(settings, parts, janitor), watching.following]
            others += [
                Learning(parts.vault.learn),
                pushes.releasing,
                calls.rules,
                recording,
                servers_of(settings, parts, door),
                parts.boxes,
            ]
            loops = [tasks.create_task(loop.run()) for loop in (*of_runs, *others)]
            await stop.wait()
            log.info("runner_stops", name=settings.name)
            await asyncio.gather(api.cleanup(), door.cleanup(), recorder.close())
            for task in loops:
                task.cancel()
            await proving.idle()
    log.info("runner_stopped", name=settings.name)


async def _put_back(recording: Recording) -> None:
    """Standing rules that were lost with the operational state. What can't be now is done by a later look."""
    try:
        await recording.look()
    except SandgateError as error:
        log.warning("standing_rules_not_recorded", error=str(error))


def _asked_to_stop() -> asyncio.Event:
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, asked.set)
    return asked


def _reconciler(parts: Parts, posture: Posture, proving: Proving) -> Reconciler:
    policy = parts.inbox.policy
    return Reconciler(
        parts.world,
        new_run_id,
        lambda: posture.closed or (policy.closed if policy else ""),
        proving.told,
    )


def _of_the_machine(settings: Settings, parts: Parts, janitor: Janitor) -> list[Loop]:
    """What goes on whether or not there are runs: disks, logs, the inbox and its policy."""
    inbox = parts.inbox
    loops: list[Loop] = [
        parts.drops,
        _retention(settings, parts),
        LogFiles(settings.home / "log"),
        inbox.holds,
        inbox.keeping,
    ]
    if isinstance(parts.disks, WatchedDisks):  # else the kernel does it
        cap = settings.sandboxes.disk_mib * MIB
        loops.append(DiskWatch(parts.disks, parts.world.runs, janitor.end, cap))
    if inbox.policy:
        loops.append(inbox.policy)
    return loops


def _retention(settings: Settings, parts: Parts) -> Retention:
    keep = timedelta(days=settings.sandboxes.keep_disks_days)
    world = parts.world
    frozen = world.freezes.of_task
    return Retention(
        parts.disks, parts.tracker, world.runs, world.clock, keep, lambda task: bool(frozen(task))
    )


def _alerts(settings: Settings, parts: Parts) -> Webhook | None:
    file = settings.alerts.url_file
    return Webhook(parts.http, file.read_text().strip(), settings.name) if file else None


def _posture(settings: Settings, walls: Proving) -> Posture:
    bridge, seccomp = bridge_of(settings), seccomp_of(settings)
    given = settings.sandboxes

    def look() -> Sequence[Finding]:
        try:
            client = connect(given.docker, timeout_s=ENGINE_S)
            with closing(client):
                return probe(
                    client, bridge, image=next(iter(given.images.values())), seccomp=seccomp
                )
        except (DockerException, OSError, SubprocessError) as error:
            raise Unavailable(f"the posture probe could not run: {error}") from error

    return Posture(look, walls=walls)


def _checks(settings: Settings, parts: Parts, posture: Posture) -> dict[str, Check]:
    async def store() -> str:
        await parts.store.ping()
        return "it answers"

    async def polarion() -> str:
        return f"{len(await parts.tracker.engagements())} active engagements"

    async def opensandbox() -> str:
        await parts.world.sandboxes.ping()
        return "it answers"

    async def harnesses() -> str:
        return await asyncio.to_thread(harnesses_there, settings)

    async def secrets() -> str:
        return f"{await parts.vault.check()} secrets sealed, each opens"

    checks: dict[str, Check] = {
        "sandbox network": posture.check,
        "PocketBase": store,
        "Polarion": polarion,
        "OpenSandbox": opensandbox,
        "task disks": parts.disks.check,
        "harnesses": harnesses,
        "vault": secrets,
        "egress log": parts.log.check,
    }
    policy = parts.inbox.policy
    if policy is not None:
        host, port = policy.door
        checks["egress policy"] = policy.check
        checks["egress proxy"] = partial(check_proxy, f"http://{host}:{port}")
    return checks
