"""The end of a sandbox: its way out closed first, then the container, then what belonged to it."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

import structlog

from entrance.errors import Conflict, NotFound, SandgateError, Unavailable
from orchestrator.adapters.opensandbox.engine import Engine, Found
from orchestrator.adapters.opensandbox.http import Server

GONE_S = 10.0
POLL_S, LONGEST_POLL_S = 0.05, 0.5
_LONGER = 1.5
"""Many sandboxes that begin at once are waited for by as many: who asks on and on keeps them from it."""

log = structlog.get_logger(__name__)


class Admission(Protocol):
    """The firewall: who may reach the doors. Everything raises Unavailable when it isn't whole."""

    async def check(self) -> None:
        """Return when it is whole."""
        ...

    async def mend(self) -> None:
        """Make it whole. Raises FirewallDown when it can't be made so."""
        ...

    async def register(self, address: str) -> None:
        """Let the address reach the doors."""
        ...

    async def unregister(self, address: str) -> None:
        """Close its way, live connections included."""
        ...

    async def registered(self) -> frozenset[str]:
        """Every address that may."""
        ...


class Ending:
    """Ends sandboxes, and keeps the firewall's list of addresses true."""

    def __init__(
        self,
        server: Server,
        engine: Engine,
        admission: Admission,
        settle: Callable[[], Awaitable[None]],
    ) -> None:
        self._server = server
        self._settle = settle
        self._engine = engine
        self._admission = admission
        # Held while an address is registered or found stale: a freed address is reused at once.
        self._addresses = asyncio.Lock()

    async def admit(self, address: str) -> None:
        """Let a sandbox's address reach the doors. Raises: Unavailable."""
        async with self._addresses:
            await self._admission.register(address)

    async def end(self, sandbox: str, address: str) -> None:
        """Close its way out and end it. Idempotent. Raises: Unavailable when it stays."""
        if address:
            await self.close(address)
        try:
            await self._server.delete(sandbox)
        except NotFound:
            pass
        except SandgateError as error:
            # A server that is down must not keep a sandbox alive.
            log.warning("sandbox_ended_without_server", sandbox=sandbox, error=str(error))
            await self._engine.remove(sandbox)

        async def gone() -> bool:
            try:
                await self._engine.inspect(sandbox)
            except NotFound:
                return True
            return False

        if not await eventually(gone, GONE_S):
            raise Unavailable(f"the container of sandbox {sandbox} does not go away")
        await self._settle()

    async def stop_as_it_is(self, found: Found) -> None:
        """Stop every process of a container where it stands; one that ended stays ended. Idempotent.

        Raises: Unavailable when they go on.
        """
        try:
            await self._server.pause(found.sandbox)
        except Conflict:
            pass  # it is paused, or has ended
        except SandgateError as error:
            log.warning("sandbox_paused_without_server", sandbox=found.sandbox, error=str(error))
            await self._engine.pause(found.sandbox)
        state = (await self._engine.inspect(found.sandbox))["State"]
        if state.get("Running") and not state.get("Paused"):
            raise Unavailable(f"the container of sandbox {found.sandbox} can't be paused")

    async def remove_volume(self, name: str) -> None:
        """Remove a volume, when its container has let go of it. Idempotent. Raises: Unavailable."""

        async def removed() -> bool:
            try:
                await self._engine.remove_volume(name)
            except Conflict:
                return False  # the engine has not let go of it yet
            return True

        if not await eventually(removed, GONE_S):
            raise Unavailable(f"the volume {name} stays in use")

    async def forget_stale_addresses(self) -> None:
        """Unregister addresses that no container has any more. Raises: Unavailable."""
        async with self._addresses:
            # The addresses first: whoever was registered then still runs, or has ended.
            registered = await self._admission.registered()
            used = {found.address for found in await self._engine.containers()}
            for address in sorted(registered - used):
                log.info("stale_address_unregistered", address=address)
                await self._admission.unregister(address)

    async def close_stale_addresses(self) -> None:
        """The same where nothing hangs on it: it is tried again with the next end, and by sweeps."""
        try:
            await self.forget_stale_addresses()
        except SandgateError as error:
            log.warning("stale_addresses_stay", error=str(error))

    async def close(self, address: str) -> None:
        """Close an address's way out, live connections included, as far as there is a firewall."""
        try:
            async with self._addresses:
                await self._admission.unregister(address)
        except SandgateError as error:
            # No table, no way in it to close; ending the sandbox is what is left.
            log.warning("address_not_unregistered", address=address, error=str(error))


async def eventually(
    true: Callable[[], Awaitable[bool]], timeout_s: float, *, every_s: float = POLL_S
) -> bool:
    """Ask until it is true, ever less often; say whether it became so within `timeout_s`."""
    deadline = time.monotonic() + timeout_s
    while not await true():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(every_s)
        every_s = min(every_s * _LONGER, LONGEST_POLL_S)
    return True
