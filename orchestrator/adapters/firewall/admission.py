"""Registers sandbox addresses, and keeps the table whole in which they stand."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from ipaddress import IPv4Address
from typing import Any

from entrance.errors import Unavailable
from orchestrator.adapters.firewall.changes import changes
from orchestrator.adapters.firewall.counting import counted_in
from orchestrator.adapters.firewall.nft import nft
from orchestrator.adapters.firewall.standing import counted_on, listed, wrong_with
from orchestrator.adapters.firewall.table import Bridge, element, registered_in, table_text
from orchestrator.domain.dropped import Counted
from orchestrator.guard import FirewallDown


class Firewall:
    """The installation's nft table. What is registered is remembered: it survives the table's loss."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self._known: frozenset[IPv4Address] | None = None
        """What was registered by us, or was found when the table was first seen whole."""
        self._mended: list[str] = []
        """What was wrong with the table and isn't any more, and nobody was told of yet."""
        # One change at a time: a table that is made again must not forget what comes in meanwhile.
        self._one_at_a_time = asyncio.Lock()

    def changes(self) -> AsyncGenerator[None]:
        """One value as soon as it listens, then one whenever somebody changed the table.

        Raises: Unavailable when it can't be listened to.
        """
        return changes(self._bridge.name)

    async def flaws(self) -> Sequence[str]:
        """What is wrong with the table; empty when it stands whole.

        Raises: Unavailable when that can't be told.
        """
        return (await self._look())[1]

    async def mend(self) -> None:
        """Make the table again, whole and at once, if anything is wrong with it.

        Who was registered is registered again. Raises: FirewallDown, saying what is wrong with
        it, when it can't be made; Unavailable when it can't even be looked at.
        """
        async with self._one_at_a_time:
            found, wrong = await self._look()
            if wrong:
                await self._make_again(found or {}, wrong)
                self._mended += wrong

    async def restored(self) -> Sequence[str]:
        """The same; what was wrong with it since this was last asked, whoever had it mended."""
        await self.mend()
        mended, self._mended = self._mended, []
        return mended

    async def check(self) -> None:
        """Raises: Unavailable, naming what is wrong, unless the table stands whole."""
        await self._whole()

    async def register(self, address: str) -> None:
        """Let `address` reach the doors. Idempotent. Raises: Unavailable, Forbidden."""
        member = self._bridge.member(address)
        async with self._one_at_a_time:
            await self._whole()
            await self._nft(f"add {self._element_of(member)}")
            self._known = (self._known or frozenset()) | {member}

    async def unregister(self, address: str) -> None:
        """Close its way out, live connections included. Idempotent. Raises: Unavailable."""
        member = self._bridge.member(address)
        async with self._one_at_a_time:
            self._known = (self._known or frozenset()) - {member}
            # Adding first makes the deletion idempotent, in one transaction: nothing can use it.
            text = self._element_of(member)
            await self._nft(f"add {text}\ndelete {text}")

    async def registered(self) -> frozenset[str]:
        """Every registered address of a sandbox (the probe's are its own). Raises: Unavailable."""
        registered = registered_in(await self._whole(), self._bridge)
        return frozenset(str(address) for address in registered - set(self._bridge.probes))

    async def dropped(self) -> Counted:
        """What the table has dropped so far. Raises: Unavailable when it doesn't stand."""
        found = await asyncio.to_thread(listed, self._bridge)
        counted = found and counted_in(found)
        if not counted:
            raise Unavailable(f"nft table {self._bridge.name} counts nothing: it is not ours")
        return counted

    def _element_of(self, address: IPv4Address) -> str:
        return f"element inet {self._bridge.name} bind {{ {element(self._bridge, address)} }}"

    async def _whole(self) -> Mapping[str, Any]:
        found, wrong = await self._look()
        if wrong:
            raise Unavailable(
                f"firewall check failed, no sandbox may run: nft table {self._bridge.name}:"
                f" {'; '.join(wrong)}; run `sandgate up` to make it again"
            )
        return found or {}

    async def _look(self) -> tuple[Mapping[str, Any] | None, list[str]]:
        found = await asyncio.to_thread(listed, self._bridge)
        wrong = await asyncio.to_thread(wrong_with, found, self._bridge)
        if self._known is None and found and not wrong:
            self._known = registered_in(found, self._bridge) - set(self._bridge.probes)
        return found, wrong

    async def _make_again(self, found: Mapping[str, Any], wrong: Sequence[str]) -> None:
        # A probe that is under way has let itself in; nothing else that we don't know stays in.
        probing = registered_in(found, self._bridge) & set(self._bridge.probes)
        known = (self._known or frozenset()) | probing
        text = table_text(self._bridge, known, counted_on(found))
        try:
            await self._nft(text)
        except Unavailable as error:
            raise FirewallDown(
                f"nft table {self._bridge.name}: {'; '.join(wrong)}; it can't be made again: {error}"
            ) from error

    async def _nft(self, commands: str) -> None:
        await asyncio.to_thread(nft, "-f", "-", stdin=commands)
