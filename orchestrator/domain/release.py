"""What is done next about something that is sent once: look, send, wait, or settle it [pure].

RULES: nothing is sent unless the far side has just said that it isn't there; and what may have been
sent is settled by what the far side says, never by what we remember.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from entrance.git.standing import Place, Stand
from orchestrator.domain.approval import ApprovalState, Verb

IN_FLIGHT = timedelta(seconds=30)
"""So long what was sent may still be on its way, or at work at the host, when nothing is heard of it."""
STALE = timedelta(days=1)
"""So long after it was allowed it is sent at the latest: whoever allowed it would not expect it any more."""
FIRST_PAUSE = timedelta(seconds=5)
LONGEST_PAUSE = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class Seen:
    """An item that is under way, and what was found out about it."""

    state: ApprovalState
    now: datetime
    allowed_at: datetime
    sent_at: datetime | None = None
    """When it was claimed to be sent, if it was."""
    refused: str = ""
    """Why it may not be sent any more, as a sentence without its end."""
    stand: Stand | None = None
    """None: it could not be asked."""
    trouble: str = ""
    """Why not."""


@dataclass(frozen=True, slots=True)
class Send:
    """Claim it, and send it."""


@dataclass(frozen=True, slots=True)
class Settle:
    """It is over."""

    verb: Verb
    words: str = ""


@dataclass(frozen=True, slots=True)
class Later:
    """Look again later. `lost`: it may have arrived, and nobody can say so now."""

    words: str
    lost: bool = False


type Step = Send | Settle | Later

HERE_ALREADY = "the host had it already"
AGE = "it could not be sent within a day after it was allowed"


def next_step(seen: Seen) -> Step:
    """The one next step."""
    if seen.state is ApprovalState.ALLOWED:
        return _unsent(seen)
    return _perhaps_sent(seen)


def _unsent(seen: Seen) -> Step:
    if why := _too_late(seen):
        return Settle(Verb.FAIL, why)
    if seen.stand is None:
        return Later(f"nothing was sent yet: {seen.trouble}")
    match seen.stand.place:
        case Place.AFTER:
            return Settle(Verb.ARRIVE, HERE_ALREADY)
        case Place.ELSEWHERE:
            return Settle(Verb.DIVERGE, seen.stand.words)
        case Place.BEFORE:
            return Send()


def _perhaps_sent(seen: Seen) -> Step:
    if seen.stand is None:
        return Later(
            f"it was sent, and whether it has arrived is not known: {seen.trouble}", lost=True
        )
    match seen.stand.place:
        case Place.AFTER:
            return Settle(Verb.ARRIVE)
        case Place.ELSEWHERE:
            words = f"{seen.stand.words}; whether it had arrived before can't be told"
            return Settle(Verb.DIVERGE, words)
        case Place.BEFORE:
            return _not_there(seen)


def _not_there(seen: Seen) -> Step:
    """It was claimed, and is not there: it has never been sent, was lost, or is on its way."""
    if seen.sent_at and seen.now - seen.sent_at < IN_FLIGHT:
        return Later("it may still be on its way")
    why = _too_late(seen)
    return Settle(Verb.FAIL, why) if why else Send()


def _too_late(seen: Seen) -> str:
    """Why it isn't sent any more; empty when it is."""
    return seen.refused or (AGE if seen.now - seen.allowed_at > STALE else "")


def pause_after(tries: int) -> timedelta:
    """How long to wait after so many looks that settled nothing."""
    return min(FIRST_PAUSE * (1 << min(tries, 20)), LONGEST_PAUSE)
