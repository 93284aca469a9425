"""Sealed rows remembered for a moment: each model call and each push asks for one."""

from collections.abc import Callable, Sequence

from entrance.vault.vault import Sealed, SecretStore

REMEMBERED_S = 10.0
"""What is changed past this process, in the store itself, counts after so long."""


class RememberedSecrets:
    """A `SecretStore` before another one. What it remembers is as sealed as in the store.

    Changes through it count at once. `clock` counts seconds. Raises what the other store raises.
    """

    def __init__(
        self, store: SecretStore, clock: Callable[[], float], remembered_s: float = REMEMBERED_S
    ) -> None:
        self._store = store
        self._clock = clock
        self._remembered_s = remembered_s
        self._rows: dict[str, tuple[float, Sealed]] = {}
        self._changes = 0

    async def get(self, name: str) -> Sealed | None:
        until, row = self._rows.get(name, (0.0, None))
        if row is not None and self._clock() < until:
            return row
        changes = self._changes
        found = await self._store.get(name)
        self._rows.pop(name, None)
        if found is not None and changes == self._changes:  # else it may be the row of before
            self._rows[name] = self._clock() + self._remembered_s, found
        return found

    async def put(self, row: Sealed) -> None:
        self._forget(row.name)
        try:
            await self._store.put(row)
        finally:
            self._forget(row.name)

    async def list(self) -> Sequence[Sealed]:
        return await self._store.list()

    async def names(self) -> Sequence[str]:
        return await self._store.names()

    async def delete(self, name: str) -> None:
        self._forget(name)
        try:
            await self._store.delete(name)
        finally:
            self._forget(name)

    def _forget(self, name: str) -> None:
        self._changes += 1
        self._rows.pop(name, None)
