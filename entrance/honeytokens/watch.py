"""Looks for a sandbox's honeytokens in what it sends; a find is recorded, refused, and the alarm raised.

Whatever is written down of it names the canary and its file, never the value.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from entrance.decision import Deny
from entrance.honeytokens.canaries import Canary, canaries_of, place_of
from entrance.honeytokens.traps import Traps
from entrance.log.records import DOORS, Audit, Decided, Kind
from entrance.ports import Alarm, Touched
from entrance.session import RunId, Session

RULE = "honeytoken"
"""What a record names as the rule that decided."""
REMEMBERED = 256
"""So many sandboxes' traps stay ready; to make one takes some milliseconds."""
TO_THE_SANDBOX = "This is not let through."
"""It isn't told by what it was found out."""

InPrompts = Literal["note", "freeze", "off"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """The request that is looked at, as its record names it."""

    kind: Kind
    subject: str
    address: str = ""


class Watch:
    """`key` is what canaries are derived from. `in_prompts`: what one means in a model call."""

    def __init__(
        self, key: bytes, audit: Audit, alarm: Alarm, in_prompts: InPrompts = "note"
    ) -> None:
        self._key = key
        self._audit = audit
        self._alarm = alarm
        self.in_prompts = in_prompts
        self._ready: dict[tuple[RunId, ...], Traps] = {}

    def traps_of(self, session: Session) -> Traps:
        """What is looked for in everything that the session's sandbox sends."""
        runs = session.honeytokens
        traps = self._ready.get(runs)
        if traps is None:
            if len(self._ready) >= REMEMBERED:
                self._ready.pop(next(iter(self._ready)))
            traps = self._ready[runs] = Traps(self.canaries_of(session))
        return traps

    def canaries_of(self, session: Session) -> tuple[Canary, ...]:
        """The canaries of the session's sandbox."""
        return tuple(one for run in session.honeytokens for one in canaries_of(self._key, run))

    def look(self, session: Session, data: bytes) -> Canary | None:
        """The first canary in `data`, if there is one."""
        return self.traps_of(session).within(data) if session.honeytokens else None

    async def refuse(self, session: Session, found: Canary, where: str, attempt: Attempt) -> Deny:
        """Record that it was found, and raise the alarm, whether or not it could be recorded.

        Raises: Unavailable when it couldn't.
        """
        subject = attempt.subject
        if self.look(session, subject.encode("utf-8", "surrogateescape")):
            subject = "(withheld: the honeytoken is in it)"
        denied = Deny(f"the honeytoken {found.name} of the sandbox was in {where}")
        record = Decided(
            attempt.kind,
            subject,
            denied,
            session,
            address=attempt.address,
            detail=_told(found, where),
            rule=RULE,
        )
        door = DOORS[attempt.kind]
        touched = Touched(session.run, session.task, found.name, found.place, where, door, subject)
        try:
            await self._audit.decided(record)
        finally:
            self._alarm.raised(touched)
        return denied


def heard_at_the_proxy(record: Decided, alarm: Alarm) -> None:
    """Raise the alarm for a find of the egress proxy, which can only record what it refuses."""
    session = record.session
    refused = record.rule == RULE and isinstance(record.decision, Deny)
    if not refused or not isinstance(session, Session):
        return
    name = str(record.detail.get("honeytoken", ""))
    where = str(record.detail.get("where", "a request"))
    subject = record.request.host if record.request else ""
    door = record.decided_at
    alarm.raised(Touched(session.run, session.task, name, place_of(name), where, door, subject))


def noted(found: Canary | None) -> Mapping[str, str]:
    """What the record of a model call says of a canary in its prompt, where that is only noted."""
    return {"honeytoken": found.name} if found else {}


def _told(found: Canary, where: str) -> Mapping[str, str]:
    return {"honeytoken": found.name, "place": found.place, "where": where}
