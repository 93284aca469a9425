"""The life of a sandbox: made, checked, admitted, renewed, ended, and found when nobody wants it."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from entrance.errors import Forbidden, Malformed, NotFound, Unavailable
from entrance.session import RunId
from orchestrator.adapters.opensandbox import limits
from orchestrator.adapters.opensandbox.blueprint import (
    RUNSC,
    Blueprint,
    create_request,
    facts,
    tmp_volumes,
)
from orchestrator.adapters.opensandbox.ending import Admission, Ending, eventually
from orchestrator.adapters.opensandbox.engine import Engine
from orchestrator.adapters.opensandbox.execd import Execd
from orchestrator.adapters.opensandbox.http import Server, Unanswered
from orchestrator.adapters.opensandbox.inspection import address_of, differences
from orchestrator.guard import FirewallDown
from orchestrator.ports import Sandbox, SandboxSpec, Volumes, WallsFell

READY_S = 20.0
PING_EVERY_S = 0.02
LIVE_PINGS = 3
LIVE_PING_PAUSE_S = 0.2
KEPT_DAYS = 3650
"""A frozen sandbox waits for a person."""
LATE_S = 15.0
"""How long a create that we gave up may still bring a container forth."""


async def _nothing() -> None:
    return None


@dataclass(frozen=True, slots=True)
class Parts:
    """What the life of a sandbox depends on."""

    blueprint: Blueprint
    server: Server
    engine: Engine
    admission: Admission
    now: Callable[[], datetime]
    settle: Callable[[], Awaitable[None]] = _nothing
    """To be called before an address changes hands: what was dropped belongs to who had it until now."""


class Lifecycle:
    """Makes and ends the sandboxes of one installation. One at a time for each run is the caller's care."""

    def __init__(self, parts: Parts) -> None:
        self._blueprint = parts.blueprint
        self._server = parts.server
        self._engine = parts.engine
        self._admission = parts.admission
        self._now = parts.now
        self._settle = parts.settle
        self._ending = Ending(parts.server, parts.engine, parts.admission, parts.settle)

    async def create(self, spec: SandboxSpec) -> Sandbox:
        """See `ports.Sandboxes.create`."""
        request = create_request(self._blueprint, spec)
        # A new container gets a freed address: it mustn't be let through before it was inspected.
        await self._ending.forget_stale_addresses()
        _require_mounted(spec)
        await self.kill(spec.run)
        await self._settle()
        began = time.monotonic()
        asked = False
        try:
            for volume in tmp_volumes(self._blueprint, spec.run):
                await self._engine.make_volume(volume, spec.run)
            asked = True
            made = await self._server.create(request)
            asked = False
            sandbox, told = await self._admit(spec, made)
        except BaseException as error:
            # Also when we were cancelled: what was asked for must not live on.
            late = asked and isinstance(error, Unanswered | asyncio.CancelledError)
            await asyncio.shield(self._undo(spec.run, late=late))
            raise
        told["create_ms"] = round((time.monotonic() - began) * 1000)
        return Sandbox(sandbox.id, sandbox.address, spec.execd_token, told)

    async def find(self, run: RunId, execd_token: str) -> Sandbox | None:
        """See `ports.Sandboxes.find`."""
        for found in await self._engine.containers(run):
            if not found.running:
                continue
            sandbox = Sandbox(found.sandbox, found.address, execd_token)
            try:
                await self.require_alive(sandbox)
                container = await self._engine.inspect(found.sandbox)
            except NotFound:
                continue
            told = facts(self._blueprint, container)
            return Sandbox(sandbox.id, sandbox.address, execd_token, told)
        return None

    async def kill(self, run: RunId) -> None:
        """See `ports.Sandboxes.kill`."""
        containers = await self._engine.containers(run)
        for found in containers:
            await self._ending.end(found.sandbox, found.address)
        if not all(found.address for found in containers):
            await self._ending.close_stale_addresses()
        for volume in tmp_volumes(self._blueprint, run):
            await self._ending.remove_volume(volume.name)

    async def freeze(self, run: RunId) -> bool:
        """See `ports.Sandboxes.freeze`. It is stopped first: then nothing more comes out of it."""
        containers = await self._engine.containers(run)
        for found in containers:
            try:
                await self._ending.stop_as_it_is(found)
            finally:  # least of all does one that goes on keep its way out
                if found.address:
                    await self._ending.close(found.address)
            with suppress(NotFound):  # a server that knows nothing of it won't end it either
                await self._server.expire_at(found.sandbox, self._now() + timedelta(days=KEPT_DAYS))
        return bool(containers)

    async def renew(self, sandbox: Sandbox) -> None:
        """See `ports.Sandboxes.renew`. A sandbox whose firewall can't be kept up is ended at once.

        (Any restart of the host's own firewall may flush our table: the whole host is open then.)
        One whose address is missing from a whole table is let in again: the table was made anew.
        """
        try:
            await self._admission.mend()
        except FirewallDown as error:
            await self._ending.end(sandbox.id, sandbox.address)
            raise WallsFell(f"sandbox {sandbox.id} was ended: {error}") from error
        await self._ending.admit(sandbox.address)
        await self._expire(sandbox.id)

    async def orphans(self, live: Sequence[RunId]) -> Sequence[RunId]:
        """See `ports.Sandboxes.orphans`. It works without a firewall, too.

        Addresses that no container has any more are taken out of the firewall on the way.
        """
        await self._ending.close_stale_addresses()
        runs = {found.run for found in await self._engine.containers()}
        runs |= await self._engine.volume_runs()
        return [RunId(run) for run in sorted(runs - set(live))]

    async def require_alive(self, sandbox: Sandbox) -> None:
        """Raises: NotFound, saying how it was lost; Unavailable when that can't be told now."""
        container = await self._engine.inspect(sandbox.id)
        if not container["State"].get("Running"):
            raise NotFound(f"sandbox {sandbox.id} is lost: {_end_of(container['State'])}")
        execd = self.execd(sandbox)
        for _ in range(LIVE_PINGS):
            try:
                return await execd.ping()
            except Forbidden as error:
                raise NotFound(
                    f"sandbox {sandbox.id} is lost: its execd does not take our token"
                    " (it is made from the vault's key: was that changed?)"
                ) from error
            except (Unavailable, Malformed):
                await asyncio.sleep(LIVE_PING_PAUSE_S)
        await self.require_server()
        raise NotFound(f"sandbox {sandbox.id} is lost: its execd does not answer any more")

    async def require_server(self) -> None:
        """Raises: Unavailable unless the server answers."""
        if not await self._server.answers():
            raise Unavailable("the OpenSandbox server does not answer")

    def execd(self, sandbox: Sandbox) -> Execd:
        """The way into a sandbox."""
        return Execd(self._server, sandbox.id, sandbox.execd_token)

    async def _admit(self, spec: SandboxSpec, made: str) -> tuple[Sandbox, dict[str, Any]]:
        if self._blueprint.runtime != RUNSC:
            await self._engine.limit_swap(made, self._blueprint.memory_bytes)
        container = await self._engine.inspect(made)
        wrong = differences(container, self._blueprint, spec)
        address = address_of(container, self._blueprint.network)
        if wrong or not address:
            why = "; ".join(wrong) or _end_of(container["State"])
            raise Forbidden(f"the sandbox of run {spec.run} is not what was asked for: {why}")
        await self._ending.admit(address)
        await self._expire(made)
        sandbox = Sandbox(made, address, spec.execd_token)
        await self._wait_ready(sandbox)
        await self._require_held(container["State"]["Pid"], spec)
        return sandbox, facts(self._blueprint, container)

    async def _require_held(self, pid: int, spec: SandboxSpec) -> None:
        """Nothing but execd runs yet. Raises: Forbidden when the kernel holds it to other limits."""
        try:
            wrong = await asyncio.to_thread(self._hold, pid, spec)
        except OSError as error:
            raise Unavailable(f"the sandbox of run {spec.run} can't be limited: {error}") from error
        if wrong:
            why = "; ".join(wrong)
            raise Forbidden(f"the sandbox of run {spec.run} is not what was asked for: {why}")

    def _hold(self, pid: int, spec: SandboxSpec) -> list[str]:
        if self._blueprint.runtime == RUNSC:
            limits.take_swap(pid, self._blueprint)
        else:
            limits.hold(pid)
        return limits.wrong_with(pid, self._blueprint, spec)

    async def _wait_ready(self, sandbox: Sandbox) -> None:
        execd = self.execd(sandbox)

        async def answers() -> bool:
            try:
                await execd.ping()
            except Unavailable:
                return False
            return True

        if not await eventually(answers, READY_S, every_s=PING_EVERY_S):
            raise Unavailable(
                f"execd of sandbox {sandbox.id} did not answer within {READY_S:.0f} s"
            )

    async def _expire(self, sandbox: str) -> None:
        at = self._now() + timedelta(seconds=self._blueprint.ttl_s)
        await self._server.expire_at(sandbox, at)

    async def _undo(self, run: RunId, *, late: bool) -> None:
        """Remove what a failed create made; `late`: its container may still be on its way."""

        async def came() -> bool:
            return bool(await self._engine.containers(run))

        if late:
            await eventually(came, LATE_S)
        await self.kill(run)


def _require_mounted(spec: SandboxSpec) -> None:
    """The server makes folders that don't exist; on an unmounted disk they would be the host's own."""
    if isinstance(spec.mounts, Volumes):
        return  # the server refuses one that isn't there: it is asked not to make any
    for folder in (spec.mounts.workspace, spec.mounts.home):
        if not os.path.ismount(folder.parent) or not folder.is_dir():
            raise Unavailable(f"{folder} is not on a mounted disk of the task {spec.task}")


def _end_of(state: Mapping[str, Any]) -> str:
    memory = ", out of memory" if state.get("OOMKilled") else ""
    return f"it ended with exit code {state.get('ExitCode')}{memory}"
