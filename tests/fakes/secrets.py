"""Sealed rows in memory; while `down`, the store can't be reached."""

from collections.abc import Sequence

from entrance.errors import Unavailable
from entrance.vault.vault import Sealed


class FakeSecretStore:
    """`entrance.vault.vault.SecretStore` for tests."""

    def __init__(self) -> None:
        self.rows: dict[str, Sealed] = {}
        self.down = False

    async def get(self, name: str) -> Sealed | None:
        self._reach()
        return self.rows.get(name)

    async def put(self, row: Sealed) -> None:
        self._reach()
        self.rows[row.name] = row

    async def list(self) -> Sequence[Sealed]:
        self._reach()
        return list(self.rows.values())

    async def names(self) -> Sequence[str]:
        self._reach()
        return list(self.rows)

    async def delete(self, name: str) -> None:
        self._reach()
        self.rows.pop(name, None)

    def _reach(self) -> None:
        if self.down:
            raise Unavailable("the store of secrets can't be reached")
