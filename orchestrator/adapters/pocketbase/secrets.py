"""Sealed secrets in PocketBase. Nothing here can open them."""

import base64
import hashlib
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import orjson
from pydantic import Base64Bytes, BaseModel, ValidationError

from entrance.errors import Malformed, NotFound
from entrance.vault.vault import COLLECTION, Sealed
from orchestrator.adapters.pocketbase.client import PocketBase
from orchestrator.adapters.pocketbase.ids import LENGTH
from orchestrator.adapters.pocketbase.rows import Row


class PocketBaseSecrets:
    """`entrance.vault.vault.SecretStore` over PocketBase. A row's id is made from the secret's name."""

    def __init__(self, store: PocketBase) -> None:
        self._store = store

    async def get(self, name: str) -> Sealed | None:
        try:
            row = _sealed(await self._store.get(COLLECTION, _id(name)))
        except NotFound:
            return None
        return row if row.name == name else None

    async def put(self, row: Sealed) -> None:
        blob = base64.b64encode(row.blob).decode()
        record = {
            "id": _id(row.name),
            "name": row.name,
            "kid": row.kid,
            "version": row.version,
            "blob": blob,
            "meta": dict(row.meta),
        }
        await self._store.put(COLLECTION, record)

    async def list(self) -> Sequence[Sealed]:
        return [_sealed(row) async for row in self._store.all(COLLECTION, sort="name")]

    async def names(self) -> Sequence[str]:
        rows = self._store.all(COLLECTION, sort="name", fields="name")
        return [str(row.get("name")) async for row in rows]

    async def delete(self, name: str) -> None:
        with suppress(NotFound):
            await self._store.delete(COLLECTION, _id(name))


class _Stored(BaseModel):
    name: str
    kid: str
    version: int
    blob: Base64Bytes
    meta: dict[str, Any]


def _id(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:LENGTH]


def _sealed(row: Row) -> Sealed:
    try:
        stored = _Stored.model_validate_json(orjson.dumps(row), strict=True)
    except ValidationError as error:
        # No details: they would quote the row.
        raise Malformed(f"the secret {row.get('name')!r} can't be read; set it again") from error
    return Sealed(stored.name, stored.kid, stored.version, stored.blob, stored.meta)
