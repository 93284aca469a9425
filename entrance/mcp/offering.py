"""What a session's connections offer, as the session may see it.

Of a tool whose words or schema have changed since a person looked, an agent sees how it was: what a server
says of its tools is read by models as if it were told them by us.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import structlog

from entrance.errors import SandgateError
from entrance.mcp.catalogue import Entry, Granted, catalogue, named, names_of
from entrance.mcp.connection import Caller, Connection, Kind
from entrance.mcp.lists import Lists, Missing
from entrance.mcp.messages import Era, Json
from entrance.mcp.policy import granted, rule_for
from entrance.ports import Pinned, Pins
from entrance.session import Session
from entrance.tool_policy import Change, Mode

log = structlog.get_logger()

REMEMBERED = 256
"""So many catalogues are kept as they were made; making one takes longer than a call."""
type _Offered = Mapping[str, Sequence[Json]]
type _Grants = tuple[tuple[str, Granted], ...]
type Seen = tuple[object, ...]
"""What a session's tools are made of: as long as it is equal, so are they."""


@dataclass(frozen=True, slots=True)
class _Latest:
    """What was made last of what connections offer."""

    turn: int
    offered: _Offered
    entries: dict[str, Entry]
    down: Sequence[str]

    def has(self, turn: int, offered: _Offered) -> bool:
        """Whether what would be made of this is in it."""
        same = all(self.offered.get(name) is many for name, many in offered.items())
        return same and self.turn == turn and not self.down


@dataclass(frozen=True, slots=True)
class _Known:
    """What a session was granted, and whose each name is that is made of it."""

    session: Session
    grants: _Grants
    whose: Mapping[str, str]


class Offering:
    """All connections, as sessions see them. `pins`: None where nothing is remembered of tools."""

    def __init__(
        self, connections: Mapping[str, Connection], lists: Lists, pins: Pins | None
    ) -> None:
        self.lists = lists
        self._connections = connections
        self._pins = pins
        self._latest: dict[tuple[_Grants, str], _Latest] = {}
        """By what was granted, as runs with the same grants share it: of one connection, or of all."""
        self._known: dict[str, _Known] = {}
        """What each session was granted, by its token."""
        self._shown: dict[tuple[str, Era], Seen] = {}
        """What a session's tools were made of when they were last listed, by its token."""

    def of(self, session: Session) -> list[Connection]:
        """The connections that the session has tools of."""
        names = sorted(
            (session.tools.keys() | session.tool_rules.keys()) & self._connections.keys()
        )
        return [self._connections[name] for name in names]

    def named(self, connection: str) -> Connection:
        """The connection of a name that `of` told."""
        return self._connections[connection]

    def seen(self, caller: Caller) -> Seen:
        """What the session's tools would be made of now. No I/O."""
        return self._seen(caller, self._turn)

    def shown(self, caller: Caller) -> Seen | None:
        """What they were made of when they were last listed to such a client, if that is known."""
        return self._shown.get((caller.session.token_sha256, caller.back.era))

    async def of_kind(self, caller: Caller, kind: Kind) -> tuple[_Offered, list[str]]:
        """What the session's connections offer of a kind, and of the others why they can't be reached."""
        return await self._offered(caller, self.of(caller.session), kind)

    async def tools(self, caller: Caller) -> tuple[dict[str, Entry], list[str]]:
        """Every tool by the name that it is shown under, and why there are none of other connections."""
        turn = self._turn
        offered, down = await self.of_kind(caller, "tools")
        seen = self._seen(caller, turn)
        latest = await self._catalogue(caller.session, offered)
        if len(self._shown) >= REMEMBERED:
            self._shown.clear()
        self._shown[caller.session.token_sha256, caller.back.era] = seen
        return latest.entries, [*down, *latest.down]

    async def tool(self, caller: Caller, name: str) -> tuple[Entry | None, list[str]]:
        """The tool that is shown under a name, and, where there is none, what could not be reached.

        Whose a name is that was granted is known: nobody else is asked for it, or waited for. One that
        nobody lists may have been added since they were asked.
        """
        entry, down = await self._found(caller, name)
        if entry is None:
            doubted = [each.doubt(caller.session, "tools") for each in self.of(caller.session)]
            if any(doubted):
                return await self._found(caller, name)
        return entry, down

    async def _found(self, caller: Caller, name: str) -> tuple[Entry | None, list[str]]:
        whose = self._known_of(caller.session).whose.get(name, "")
        mine = self._named(whose) if whose else self.of(caller.session)
        offered, down = self._at_hand(caller, mine) or await self._offered(
            caller, mine, "tools", self.lists.limit_s if whose else None
        )
        latest = await self._catalogue(caller.session, offered, whose)
        return latest.entries.get(name), [*down, *latest.down]

    def _named(self, connection: str) -> list[Connection]:
        try:
            return [self._connections[connection]]
        except KeyError:  # it was granted, and there is none any more
            return []

    def _at_hand(
        self, caller: Caller, connections: Sequence[Connection]
    ) -> tuple[_Offered, list[str]] | None:
        """What they offer, where that is known of all, as it nearly always is in mid-run."""
        offered = {each.name: self.lists.at_hand(caller, each) for each in connections}
        known = {name: many for name, many in offered.items() if many is not None}
        return (known, []) if len(known) == len(offered) else None

    async def _offered(
        self,
        caller: Caller,
        connections: Sequence[Connection],
        kind: Kind,
        patience_s: float | None = None,
    ) -> tuple[_Offered, list[str]]:
        came = await self.lists.of(caller, connections, kind, patience_s)
        pairs = list(zip((each.name for each in connections), came, strict=True))
        offered = {name: many for name, many in pairs if not isinstance(many, Missing)}
        return offered, [many.why for _, many in pairs if isinstance(many, Missing)]

    async def _catalogue(self, session: Session, offered: _Offered, whose: str = "") -> _Latest:
        """A catalogue that has what is offered; `whose`: it is one connection's alone."""
        turn, grants = self._turn, self._known_of(session).grants
        whole = self._latest.get((grants, ""))
        if whole and whole.has(turn, offered) and (whose or len(whole.offered) == len(offered)):
            return whole
        latest = self._latest.get((grants, whose)) if whose else None
        if latest is None or not latest.has(turn, offered):
            latest = await self._made(session, turn, offered)
            if len(self._latest) >= REMEMBERED:
                self._latest.clear()
            self._latest[grants, whose] = latest
        return latest

    @property
    def _turn(self) -> int:
        return self._pins.turn if self._pins else 0

    def _seen(self, caller: Caller, turn: int) -> Seen:
        session = caller.session
        came = self.lists.turn(caller)
        return session.tools, session.tool_rules, turn, came, *self.of(session)

    def _known_of(self, session: Session) -> _Known:
        known = self._known.get(session.token_sha256)
        if known is None or known.session is not session:
            mine = granted(session)
            grants = tuple(sorted(mine.items(), key=lambda pair: pair[0]))
            shown = names_of({connection: each.names for connection, each in mine.items()})
            whose = {name: connection for (connection, _), name in shown.items()}
            known = _Known(session, grants, whose)
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            self._known[session.token_sha256] = known
        return known

    async def _made(self, session: Session, turn: int, offered: _Offered) -> _Latest:
        """A catalogue of what is offered now, each tool as the session may see it."""
        pins: dict[tuple[str, str], Pinned] = {}
        down: dict[str, str] = {}
        for connection, many in offered.items():
            try:
                found = await self._compared(session, connection, many)
            except SandgateError as error:  # what can't be compared can't be used
                log.warning("tools_not_compared", connection=connection, error=str(error))
                down[connection] = f"the tools of {connection} can't be compared with those before"
                continue
            pins |= {(connection, tool): pinned for tool, pinned in found.items()}
        seen = {
            connection: [_as_pinned(pins.get((connection, each["name"])), each) for each in named(many)]
            for connection, many in offered.items()
            if connection not in down
        }  # fmt: skip
        entries = catalogue(seen, granted(session))
        for shown, entry in entries.items():
            if pinned := pins.get((entry.connection, entry.name)):
                hidden = pinned.listed is None or pinned.change is Change.DENIED
                entries[shown] = replace(entry, change=pinned.change, hidden=hidden)
        return _Latest(turn, offered, entries, list(down.values()))

    async def _compared(
        self, session: Session, connection: str, many: Sequence[Json]
    ) -> Mapping[str, Pinned]:
        """Those of a server of others that are granted, against what is known of them."""
        if self._pins is None or not self._connections[connection].foreign:
            return {}
        mine = [each for each in named(many) if _is_granted(session, connection, each["name"])]
        return await self._pins.compared(session, connection, mine) if mine else {}


def _as_pinned(pinned: Pinned | None, each: Json) -> Json:
    """A tool as it may be seen; where it may not at all, its name is all that is left."""
    if pinned is None:
        return each
    return pinned.listed if pinned.listed is not None else {"name": each["name"]}


def _is_granted(session: Session, connection: str, tool: str) -> bool:
    rule = rule_for(session, connection, tool)
    return rule is not None and rule.mode is not Mode.FORBIDDEN
