"""Registers sandbox addresses; every step first makes sure that the table stands whole."""

import asyncio
from collections.abc import Mapping
from ipaddress import IPv4Address
from typing import Any

from entrance.errors import Unavailable
from orchestrator.adapters.firewall.nft import nft
from orchestrator.adapters.firewall.table import (
    Bridge,
    element,
    flaws,
    names_of_tables,
    parse_listing,
    registered_in,
)


class Firewall:
    """Registers and unregisters sandbox addresses in the installation's nft table."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge

    async def flaws(self) -> list[str]:
        """What is wrong with the table; empty when it stands whole.

        Raises: Unavailable when that can't be told.
        """
        return (await self._look())[1]

    async def check(self) -> None:
        """Raises: Unavailable, naming what is wrong, unless the table stands whole."""
        await self._listing()

    async def register(self, address: str) -> None:
        """Let `address` reach the doors. Idempotent. Raises: Unavailable, Forbidden."""
        member = self._bridge.member(address)
        await self._listing()
        await self._nft(f"add element inet {self._bridge.name} bind {{ {self._one(member)} }}")

    async def unregister(self, address: str) -> None:
        """Close its way out, live connections included. Idempotent. Raises: Unavailable."""
        member = self._bridge.member(address)
        # Adding first makes the deletion idempotent, in one transaction: nothing can use it.
        text = f"element inet {self._bridge.name} bind {{ {self._one(member)} }}"
        await self._nft(f"add {text}\ndelete {text}")

    async def registered(self) -> frozenset[str]:
        """Every registered address of a sandbox (the probe's are its own). Raises: Unavailable."""
        registered = registered_in(await self._listing(), self._bridge)
        return frozenset(str(address) for address in registered - set(self._bridge.probes))

    def _one(self, address: IPv4Address) -> str:
        return element(self._bridge, address)

    async def _listing(self) -> Mapping[str, Any]:
        listing, wrong = await self._look()
        if wrong:
            raise Unavailable(
                f"firewall check failed, no sandbox may run: nft table {self._bridge.name}:"
                f" {'; '.join(wrong)}; run `sandgate up` to make it again"
            )
        return listing

    async def _look(self) -> tuple[Mapping[str, Any], list[str]]:
        name = self._bridge.name
        tables = parse_listing(await asyncio.to_thread(nft, "-j", "list", "tables"))
        if name not in names_of_tables(tables):
            return {}, ["it is missing"]
        text = await asyncio.to_thread(nft, "-j", "list", "table", "inet", name)
        listing = parse_listing(text)
        return listing, flaws(listing, self._bridge)

    async def _nft(self, commands: str) -> None:
        await asyncio.to_thread(nft, "-f", "-", stdin=commands)
