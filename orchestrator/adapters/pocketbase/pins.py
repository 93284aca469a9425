"""Tools as they were first granted, in PocketBase. A row is written once, and never changed."""

import hashlib
from collections.abc import Sequence
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from entrance.errors import Malformed
from orchestrator.adapters.pocketbase.client import PocketBase
from orchestrator.adapters.pocketbase.filters import where
from orchestrator.adapters.pocketbase.ids import LENGTH
from orchestrator.adapters.pocketbase.rows import Row
from orchestrator.domain.pins import Pin

COLLECTION = "pins"
AT_ONCE = 100
_PIN: TypeAdapter[Pin] = TypeAdapter(Pin)


class PocketBasePins:
    """`orchestrator.approvals.ports.PinStore` over PocketBase."""

    def __init__(self, store: PocketBase) -> None:
        self._store = store

    async def create(self, pins: Sequence[Pin]) -> None:
        rows = [_row(pin) for pin in pins]
        for start in range(0, len(rows), AT_ONCE):
            await self._store.batch(COLLECTION, rows[start : start + AT_ONCE])

    async def of_connection(self, connection: str) -> Sequence[Pin]:
        rows = self._store.all(COLLECTION, where(("connection", "=", connection)), sort="@rowid")
        return [_pin(row) async for row in rows]


def _row(pin: Pin) -> dict[str, Any]:
    """Its id is made from the connection and the tool, so that it is there once."""
    named = hashlib.sha256(f"{pin.connection}\n{pin.tool}".encode()).hexdigest()
    body = _PIN.dump_python(pin, mode="json")
    return {"id": named[:LENGTH], "connection": pin.connection, "body": body}


def _pin(row: Row) -> Pin:
    """Raises: Malformed; then the connection's tools can't be used."""
    try:
        return _PIN.validate_json(orjson.dumps(row.get("body")), strict=True)
    except ValidationError as error:
        places = ", ".join(".".join(map(str, one["loc"])) for one in error.errors()[:3])
        raise Malformed(f"PocketBase's pin {row.get('id')} can't be read: {places}") from error
