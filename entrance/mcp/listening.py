"""What clients that listen are told: what servers tell by themselves, and that their own grants changed."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import structlog

from entrance.errors import SandgateError
from entrance.mcp.beyond_policy import Wish, is_open
from entrance.mcp.connection import Caller, Connection, Tell
from entrance.mcp.messages import Json
from entrance.mcp.offering import Offering
from entrance.ports import Sessions
from entrance.session import Session

log = structlog.get_logger()

LOOK_S = 1.0
"""So often it is looked what a run may use: people decide elsewhere, and some grants end by themselves."""
UPDATED = "notifications/resources/updated"
TOOLS_CHANGED = "notifications/tools/list_changed"
FLAGS: Mapping[str, str] = {
    TOOLS_CHANGED: "toolsListChanged",
    "notifications/prompts/list_changed": "promptsListChanged",
    "notifications/resources/list_changed": "resourcesListChanged",
}
"""A notification, and what a client that wants it says in its filter."""
ALL: Json = dict.fromkeys(FLAGS.values(), True)
_MOST_URIS = 1000


def agreed(session: Session, connections: list[Connection], wanted: Json) -> dict[str, Any]:
    """What of a filter is honoured: what there is somebody to tell of, and what is granted."""
    theirs = [each for each in connections if each.foreign]
    found: dict[str, Any] = {
        flag: True
        for told, flag in FLAGS.items()
        if wanted.get(flag) is True and (theirs or told == TOOLS_CHANGED)
    }
    uris = wanted.get("resourceSubscriptions")
    if isinstance(uris, list):
        found["resourceSubscriptions"] = [
            uri
            for uri in uris[:_MOST_URIS]
            if isinstance(uri, str)
            if any(_granted(session, each, uri) for each in theirs)
        ]
    return found


class Listening:
    """Listens to the servers behind a session's connections, and for what people decide about it."""

    def __init__(self, offering: Offering, sessions: Sessions) -> None:
        self._offering = offering
        self._sessions = sessions

    def agreed(self, session: Session, wanted: Json) -> dict[str, Any]:
        """What of a filter is honoured."""
        return agreed(session, self._offering.of(session), wanted)

    async def listen(self, caller: Caller, wanted: Json, tell: Tell) -> None:
        """Pass on what is wanted, until cancelled or the run is over."""
        client = _Client(self._offering, caller, wanted, tell)
        async with asyncio.TaskGroup() as tasks:
            while isinstance(now := self._sessions.find(caller.session.token_sha256), Session):
                await client.look(now, tasks)
                await asyncio.sleep(LOOK_S)
            client.leave()


@dataclass
class _Client:
    """One that listens, and what it was told. A server that can't be listened to is left out."""

    offering: Offering
    caller: Caller
    wanted: Json
    tell: Tell
    _heard: dict[Connection, asyncio.Task[None]] = field(default_factory=dict)
    _seen: object = None

    async def look(self, now: Session, tasks: asyncio.TaskGroup) -> None:
        """Take the run's session up as it is now, and say so where it is shown something else by it."""
        self.caller = replace(self.caller, session=now)
        mine = {each for each in self.offering.of(now) if each.foreign}
        self.offering.lists.again(self.caller, mine)
        seen = self.offering.seen(self.caller)
        before = self._seen or self.offering.shown(self.caller) or seen
        self._seen = seen
        if seen != before and self.wanted.get(FLAGS[TOOLS_CHANGED]) is True:
            await self.tell(TOOLS_CHANGED, {})
        for gone in self._heard.keys() - mine:
            self._heard.pop(gone).cancel()
        for each in mine - self._heard.keys():
            self._heard[each] = tasks.create_task(self._to(each))

    def leave(self) -> None:
        """Nothing is passed on any more."""
        for task in self._heard.values():
            task.cancel()

    async def _to(self, connection: Connection) -> None:
        async def passed_on(method: str, params: Json) -> None:
            if _wanted(self.caller.session, connection, self.wanted, (method, params)):
                await self.tell(method, params)

        try:
            await connection.listen(self.caller, self.wanted, passed_on)
        except SandgateError as error:
            log.warning("not_listening", connection=connection.name, error=str(error))


def _wanted(session: Session, connection: Connection, wanted: Json, told: tuple[str, Json]) -> bool:
    method, params = told
    if method in FLAGS:
        return wanted.get(FLAGS[method]) is True
    if method == UPDATED:
        uri = params.get("uri")
        uris = wanted.get("resourceSubscriptions")
        asked = uris is None or uri in uris
        return isinstance(uri, str) and asked and _granted(session, connection, uri)
    return False


def _granted(session: Session, connection: Connection, uri: str) -> bool:
    return is_open(session, Wish("resource", connection.name, uri, connection.bounds))
