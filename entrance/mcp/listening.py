"""What servers tell of their own accord, passed on to clients that listen: where granted, and asked for."""

import asyncio
from collections.abc import Mapping
from typing import Any

import structlog

from entrance.decision import Allow
from entrance.errors import SandgateError
from entrance.mcp.beyond_policy import decide_resource
from entrance.mcp.connection import Caller, Connection, Tell
from entrance.mcp.gateway import Gateway
from entrance.mcp.messages import Json
from entrance.session import Session

log = structlog.get_logger()

UPDATED = "notifications/resources/updated"
FLAGS: Mapping[str, str] = {
    "notifications/tools/list_changed": "toolsListChanged",
    "notifications/prompts/list_changed": "promptsListChanged",
    "notifications/resources/list_changed": "resourcesListChanged",
}
"""A notification, and what a client that wants it says in its filter."""
ALL: Json = dict.fromkeys(FLAGS.values(), True)
_MOST_URIS = 1000


def agreed(session: Session, connections: list[Connection], wanted: Json) -> dict[str, Any]:
    """What of a filter is honoured: what there is somebody to tell of, and what is granted."""
    theirs = [each.name for each in connections if each.foreign]
    found: dict[str, Any] = {
        flag: True for flag in FLAGS.values() if wanted.get(flag) is True and theirs
    }
    uris = wanted.get("resourceSubscriptions")
    if isinstance(uris, list):
        found["resourceSubscriptions"] = [
            uri
            for uri in uris[:_MOST_URIS]
            if isinstance(uri, str)
            if any(_granted(session, name, uri) for name in theirs)
        ]
    return found


class Listening:
    """Listens to the servers behind a session's connections."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def agreed(self, session: Session, wanted: Json) -> dict[str, Any]:
        """What of a filter is honoured."""
        return agreed(session, self._gateway.of(session), wanted)

    async def listen(self, caller: Caller, wanted: Json, tell: Tell) -> None:
        """Pass on what is wanted, until cancelled. A server that can't be listened to is left out."""
        async with asyncio.TaskGroup() as tasks:
            for each in self._gateway.of(caller.session):
                if each.foreign:
                    tasks.create_task(self._to(caller, each, wanted, tell))
            await asyncio.Event().wait()

    async def _to(self, caller: Caller, connection: Connection, wanted: Json, tell: Tell) -> None:
        async def passed_on(method: str, params: Json) -> None:
            if _wanted(caller.session, connection.name, wanted, (method, params)):
                await tell(method, params)

        try:
            await connection.listen(caller, wanted, passed_on)
        except SandgateError as error:
            log.warning("not_listening", connection=connection.name, error=str(error))


def _wanted(session: Session, connection: str, wanted: Json, told: tuple[str, Json]) -> bool:
    method, params = told
    if method in FLAGS:
        return wanted.get(FLAGS[method]) is True
    if method == UPDATED:
        uri = params.get("uri")
        uris = wanted.get("resourceSubscriptions")
        asked = uris is None or uri in uris
        return isinstance(uri, str) and asked and _granted(session, connection, uri)
    return False


def _granted(session: Session, connection: str, uri: str) -> bool:
    return isinstance(decide_resource(session, connection, uri), Allow)
